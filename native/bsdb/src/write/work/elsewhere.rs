//! Where nothing can be built, because the protocol of FORMAT.md §17 needs the file systems of Unix.

use std::path::Path;

use super::control::Control;
use super::options::BuildOptions;
use crate::error::{Error, Result};

/// The directories of a build. There are none.
#[derive(Debug)]
pub(crate) enum Workspace {}

impl Workspace {
    pub(crate) fn create(target: &Path, _options: &BuildOptions) -> Result<Workspace> {
        Err(Error::Impossible(format!(
            "{}: this version of bsdb builds databases on Linux and macOS only; build it there, and read it here",
            target.display()
        )))
    }

    pub(crate) fn target(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn directory(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn temporary(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn publish(self, _control: &Control) -> Result<Vec<String>> {
        match self {}
    }
}
