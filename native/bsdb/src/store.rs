//! Stores: directories of versions, one of them current (FORMAT.md §15).

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::database::{Database, Options};
use crate::error::{Error, Result};

/// The file that names the current version.
const CURRENT: &str = "CURRENT";

/// The most bytes of that file that count.
const MAX_BYTES: u64 = 1 << 16;

/// The name of the current version of a store, or None if the directory has no file `CURRENT`.
pub(crate) fn current(store: &Path) -> Result<Option<String>> {
    let file = store.join(CURRENT);
    let meta = match fs::symlink_metadata(&file) {
        Ok(meta) => meta,
        // What is wrong with the path is found again when its manifest is read.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput) => {
            return Ok(None)
        }
        Err(e) => return Err(Error::io(&file, e)),
    };
    let io = |e| Error::io(&file, e);
    let text = if meta.is_symlink() && file.is_dir() {
        let target = fs::read_link(&file).map_err(io)?;
        target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    } else if meta.is_dir() {
        return Err(Error::NotADatabase { path: file, reason: "a directory, not a file that names a version".into() });
    } else {
        let mut bytes = Vec::new();
        fs::File::open(&file).and_then(|open| open.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(io)?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let name = text.split('\n').next().unwrap_or_default().trim();
    if !is_version(name) {
        return Err(Error::NotADatabase {
            path: file,
            reason: format!("names no version: {name:?}; publish one, or write a version's name to it"),
        });
    }
    Ok(Some(name.to_owned()))
}

/// Whether a text can be the name of a version.
fn is_version(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=100).contains(&name.len()) && !name.starts_with(['.', '-']) && name.bytes().all(allowed)
}

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
    path: PathBuf,
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
        let path = path.as_ref();
        let Some(version) = current(path)? else {
            return Err(Error::NotADatabase {
                path: path.to_owned(),
                reason: "no store: it has no file CURRENT; create one with: bsdb publish DB STORE".into(),
            });
        };
        let database = Database::open_directory(&path.join(&version), options)?;
        Ok(Store { path: path.to_owned(), options, current: RwLock::new((version, Arc::new(database))) })
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
        let Some(version) = current(&self.path)? else {
            return Err(Error::NotADatabase { path: self.path.clone(), reason: "the file CURRENT is gone".into() });
        };
        let directory = self.path.join(&version);
        {
            let held = self.current.read().unwrap_or_else(PoisonError::into_inner);
            if held.0 == version && held.1.is_still_at(&directory)? {
                return Ok(false);
            }
        }
        let database = Arc::new(Database::open_directory(&directory, self.options)?);
        let mut held = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if held.0 == version && held.1.id() == database.id() {
            return Ok(false);
        }
        *held = (version, database);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_versions() {
        for name in ["v1", "20261121T151400Z", "a.b_c-d", &"x".repeat(100)] {
            assert!(is_version(name), "{name}");
        }
        for name in ["", ".v1", "-v1", "a/b", "..", "a b", "ä", &"x".repeat(101)] {
            assert!(!is_version(name), "{name}");
        }
    }
}
