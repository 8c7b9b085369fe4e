//! The directory in which a database is written until it is published, and what replaces another one.

use std::path::{Path, PathBuf};

use super::control::Control;
use super::options::BuildOptions;
use crate::error::Result;

/// The directories of a build. They are removed when this is dropped, unless the database was published.
#[derive(Debug)]
pub(crate) struct Workspace {
    target: PathBuf,
}

impl Workspace {
    /// Creates the directories of a build of `target`.
    pub(crate) fn create(_target: &Path, _options: &BuildOptions) -> Result<Workspace> {
        todo!()
    }

    /// The target: an absolute path.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where the files of the database are written.
    pub(crate) fn directory(&self) -> &Path {
        todo!()
    }

    /// Where temporary files are written.
    pub(crate) fn temporary(&self) -> &Path {
        todo!()
    }

    /// Publishes the database, which is complete in the directory and forced to the device; shards are in directories of
    /// their own. Returns warnings about what failed after the database was published.
    pub(crate) fn publish(self, _control: &Control) -> Result<Vec<String>> {
        todo!()
    }
}
