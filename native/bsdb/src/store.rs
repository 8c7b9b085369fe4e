//! Stores: directories of versions, one of them current (FORMAT.md §15).

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use crate::database::Database;
use crate::error::{Error, Result};
use crate::file::origin::Origin;
use crate::options::Options;

/// A store whose current version is followed. Thread-safe.
///
/// Lookups go to a version that the caller holds; [`refresh`](Store::refresh) switches later callers to a new
/// one. A version is closed when its last holder lets go of it.
///
/// ```no_run
/// let store = bsdb::Store::open("/data/users")?;
/// let users = store.database(); // one version for all lookups of a request
/// users.get(b"key")?;
/// store.refresh()?; // from time to time; true if there is a new version
/// # Ok::<(), bsdb::Error>(())
/// ```
pub struct Store {
    origin: Origin,
    options: Options,
    current: RwLock<(String, Arc<Database>)>,
}

impl Store {
    /// Opens the current version of a store.
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        Store::open_with(path, Options::default())
    }

    /// Opens the current version of a store with options, which also hold for later versions.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Store> {
        let origin = Origin::of(path.as_ref(), &options)?;
        let Some(version) = origin.version()? else {
            return Err(Error::NotADatabase {
                path: origin.path().to_owned(),
                reason: "no store: it has no file CURRENT; create one with: bsdb publish DB STORE".into(),
            });
        };
        let database = Database::open_at(&origin.join(&version), None, options.clone())?;
        Ok(Store { origin, options, current: RwLock::new((version, Arc::new(database))) })
    }

    /// The version that was current when the store was opened or last refreshed.
    pub fn database(&self) -> Arc<Database> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// The name of that version.
    pub fn version(&self) -> String {
        self.current.read().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Switches to the current version if it is another one, or another database under the same name. Returns
    /// whether it did. On an error, the version before stays.
    pub fn refresh(&self) -> Result<bool> {
        let Some(version) = self.origin.version()? else {
            let path = self.origin.path().to_owned();
            return Err(Error::NotADatabase { path, reason: "the file CURRENT is gone".into() });
        };
        let directory = self.origin.join(&version);
        {
            let held = self.current.read().unwrap_or_else(PoisonError::into_inner);
            if held.0 == version && held.1.is_still_at(&directory)? {
                return Ok(false);
            }
        }
        let database = Arc::new(Database::open_at(&directory, None, self.options.clone())?);
        let mut held = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if held.0 == version && held.1.id() == database.id() {
            return Ok(false);
        }
        *held = (version, database);
        Ok(true)
    }
}
