//! The locks of a store: locked files, exclusive among all processes. The Java code has the same.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::write::work::directory::try_lock;

/// Held for the whole of a publication.
pub(super) const PUBLISH: &str = ".lock";

/// Held briefly while the pointer changes or versions are removed.
pub(super) const SWITCH: &str = ".switch.lock";

/// How long a lock is waited for that is only held briefly.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process loses its lock on a file when it closes any descriptor of that file, so one that it holds is never opened
/// again.
static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn held() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A lock that is held. It is released when this is dropped, and when the process ends.
#[derive(Debug)]
pub(super) struct StoreLock {
    path: PathBuf,
    /// None once it was released.
    file: Option<File>,
}

impl StoreLock {
    /// Takes a lock, or returns None if it is held.
    pub(super) fn try_take(store: &Path, name: &str) -> Result<Option<StoreLock>> {
        let path = store.canonicalize().map_err(|e| Error::io(store, e))?.join(name);
        if !held().insert(path.clone()) {
            return Ok(None);
        }
        let mut lock = StoreLock { path, file: None };
        Ok(if lock.take()? { Some(lock) } else { None })
    }

    fn take(&mut self) -> Result<bool> {
        let io = |e| Error::io(&self.path, e);
        match File::options().write(true).create_new(true).open(&self.path) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(io(e)),
            _ => {} // closed again, or that of another holder, or a former one
        }
        // A publication that failed to create a store removes its locks, and a lock on a removed file is void: the
        // file must still be the one in place once it is locked.
        let Some(before) = key(&self.path) else { return Ok(false) };
        let file = match File::options().write(true).open(&self.path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            file => file.map_err(io)?,
        };
        let taken = try_lock(&file).map_err(io)? && key(&self.path) == Some(before);
        self.file = taken.then_some(file);
        Ok(taken)
    }

    /// Takes the lock for the pointer.
    pub(super) fn switching(store: &Path) -> Result<StoreLock> {
        let start = Instant::now();
        loop {
            if let Some(lock) = StoreLock::try_take(store, SWITCH)? {
                return Ok(lock);
            }
            if start.elapsed() > PATIENCE {
                let reason = format!(
                    "another process has held this lock for {} s; stop that process and try again",
                    PATIENCE.as_secs()
                );
                return Err(Error::io(&store.join(SWITCH), io::Error::new(ErrorKind::TimedOut, reason)));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Removes the file while it is locked.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path); // harmless if it stays
    }
}

impl Drop for StoreLock {
    fn drop(&mut self) {
        self.file = None;
        held().remove(&self.path);
    }
}

/// The device and the number of a file.
fn key(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}
