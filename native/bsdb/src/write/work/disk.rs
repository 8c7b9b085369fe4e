//! Changes of directories and small files (FORMAT.md §17). Everything that the publication changes goes through here.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Whether there is something at a path, be it a link that leads nowhere.
pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether a path is a directory and not a link to one.
pub(crate) fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// Whether a path is a regular file and not a link to one.
pub(crate) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(directory).and_then(|all| all.map(|entry| entry.map(|e| e.file_name())).collect());
    let mut names: Vec<OsString> = entries.map_err(|e| Error::io(directory, e))?;
    names.sort_unstable();
    Ok(names)
}

/// Creates a directory. Returns false if there is something already.
pub(crate) fn make(directory: &Path) -> Result<bool> {
    change(Change::Make, directory)?;
    match fs::create_dir(directory) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(Error::io(directory, e)),
    }
}

/// Renames a file or a directory. What has the new name is replaced if it is a file, or an empty directory.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    change(Change::Rename, to)?;
    fs::rename(from, to).map_err(|e| Error::io(to, e))
}

/// Writes a file, new or anew, and forces it to the device. Its entry in the directory is not forced.
pub(crate) fn write(path: &Path, parts: &[&[u8]]) -> Result<()> {
    change(Change::Write, path)?;
    let write = || {
        let mut file = File::create(path)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()
    };
    write().map_err(|e| Error::io(path, e))
}

/// Removes a file or a link, if there is one.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    change(Change::Remove, path)?;
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}

/// Removes a directory, unless it is gone or holds something.
pub(crate) fn remove_directory(path: &Path) -> Result<()> {
    use ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotFound};
    change(Change::Remove, path)?;
    match fs::remove_dir(path) {
        Err(e) if !matches!(e.kind(), AlreadyExists | DirectoryNotEmpty | NotFound) => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}

/// Forces the entries of a directory to the device.
pub(crate) fn force(directory: &Path) -> Result<()> {
    change(Change::Force, directory)?;
    File::open(directory).and_then(|open| open.sync_all()).map_err(|e| Error::io(directory, e))
}

/// Forces the entries of the directory that holds a path to the device.
pub(crate) fn force_parent(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), force)
}

/// Directories that a build made for others. They are removed when this is dropped, unless they hold something.
#[derive(Debug, Default)]
pub(crate) struct Made(Vec<PathBuf>);

impl Made {
    /// Creates a directory and its missing parents, unless others create them meanwhile.
    pub(crate) fn make(&mut self, directory: &Path) -> Result<()> {
        let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.exists()).collect();
        for path in missing.into_iter().rev() {
            if make(path)? {
                self.0.push(path.to_owned());
            } else if path.is_symlink() {
                return Err(Error::Exists {
                    path: path.to_owned(),
                    reason: "is a symbolic link that leads nowhere; remove it".into(),
                });
            }
        }
        if !directory.is_dir() {
            let kind = if exists(directory) { ErrorKind::NotADirectory } else { ErrorKind::NotFound };
            return Err(Error::io(directory, kind.into()));
        }
        Ok(())
    }

    /// The directories, from the top down.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// Leaves the directories where they are.
    pub(crate) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            if remove_directory(path).is_err() || exists(path) {
                return; // it is in use
            }
        }
    }
}

/// The kinds of changes, for tests that make some of them fail, or end the process before one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Make,
    Rename,
    Write,
    Remove,
    Force,
}

#[cfg(not(test))]
#[inline]
fn change(_kind: Change, _path: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
use hook::change;

/// Faults that tests inject.
#[cfg(test)]
pub(crate) mod hook {
    use super::*;
    use std::cell::RefCell;
    use std::io;

    type Hook = Box<dyn FnMut(Change, &Path) -> io::Result<()>>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Calls a function before each change that this thread makes during `run`.
    pub(in super::super) fn during<T>(
        hook: impl FnMut(Change, &Path) -> io::Result<()> + 'static,
        run: impl FnOnce() -> T,
    ) -> T {
        HOOK.with_borrow_mut(|set| *set = Some(Box::new(hook)));
        let result = run();
        HOOK.with_borrow_mut(|set| *set = None);
        result
    }

    pub(crate) fn change(kind: Change, path: &Path) -> Result<()> {
        HOOK.with_borrow_mut(|hook| hook.as_mut().map_or(Ok(()), |hook| hook(kind, path)))
            .map_err(|e| Error::io(path, e))
    }
}
