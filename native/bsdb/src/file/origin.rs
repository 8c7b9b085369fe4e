//! Where the files of a database are: in a directory, or elsewhere.

use std::path::{Path, PathBuf};

use super::current;
use super::directory::Manifest;
use crate::error::Result;
use crate::options::Options;
#[cfg(feature = "remote")]
use crate::remote::Place;

/// A directory, or a place that is like one.
#[derive(Clone)]
pub(crate) struct Origin {
    path: PathBuf,
    #[cfg(feature = "remote")]
    place: Option<Place>,
}

impl Origin {
    /// What a path or a URL leads to.
    pub(crate) fn of(path: &Path, options: &Options) -> Result<Origin> {
        #[cfg(feature = "remote")]
        if let Some(place) = Place::of(path, &options.remote)? {
            return Ok(Origin { path: place.path().to_owned(), place: Some(place) });
        }
        let _ = options;
        Ok(Origin::local(path))
    }

    /// A directory.
    pub(crate) fn local(path: &Path) -> Origin {
        Origin {
            path: path.to_owned(),
            #[cfg(feature = "remote")]
            place: None,
        }
    }

    /// A directory in this one.
    pub(crate) fn join(&self, name: &str) -> Origin {
        Origin {
            path: self.path.join(name),
            #[cfg(feature = "remote")]
            place: self.place.as_ref().map(|place| place.join(name)),
        }
    }

    /// The directory, or the URL.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The place, if it is not a directory.
    #[cfg(feature = "remote")]
    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The name of the current version of a store, or None if this is none.
    pub(crate) fn version(&self) -> Result<Option<String>> {
        #[cfg(feature = "remote")]
        if let Some(place) = &self.place {
            return place.version();
        }
        current::version(&self.path)
    }

    /// Reads and checks the manifest.
    pub(crate) fn manifest(&self) -> Result<Manifest> {
        #[cfg(feature = "remote")]
        if let Some(place) = &self.place {
            return place.manifest();
        }
        Manifest::read(&self.path)
    }

    /// Where the manifest of this database, set or store's current version is; with the manifest, if it was read.
    pub(crate) fn begin(&self) -> Result<(Origin, Option<Manifest>)> {
        #[cfg(feature = "remote")]
        if let Some(place) = &self.place {
            return Ok(match place.begin()? {
                crate::remote::Begun::Version(version) => (self.join(&version), None),
                crate::remote::Begun::Manifest(manifest) => (self.clone(), Some(manifest)),
            });
        }
        Ok(match current::version(&self.path)? {
            Some(version) => (self.join(&version), None),
            None => (self.clone(), None),
        })
    }
}
