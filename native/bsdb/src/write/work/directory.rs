//! The directory of one build: marked as such, and locked while the build runs (FORMAT.md §17).

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{fcntl_lock, FlockOperation, OFlags};
use rustix::io::Errno;

use super::names::{self, JOURNAL, LOCK, REPLACING};
use super::{disk, replacement};
use crate::error::{Error, Result};

/// How a lock file begins.
const MARK: &[u8] = b"bsdb-workspace ";

/// The most bytes of a lock file that count.
const MAX_MARK: u64 = 1 << 14;

/// How long a directory without a mark may belong to a build that begins.
const STARTUP: Duration = Duration::from_secs(60);

/// The directories of the builds of this process.
///
/// A process loses its lock on a file when it closes any descriptor of it, so it must never open the locks of its own
/// builds a second time. Renaming keeps the key of a directory. The guard also keeps a directory from being renamed
/// while another thread looks into it.
static LIVE: Mutex<BTreeSet<Key>> = Mutex::new(BTreeSet::new());

/// What identifies a file or directory: device and inode.
type Key = (u64, u64);

fn live() -> MutexGuard<'static, BTreeSet<Key>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(path: &Path) -> Result<Key> {
    let meta = path.symlink_metadata().map_err(|e| Error::io(path, e))?;
    Ok((meta.dev(), meta.ino()))
}

/// A directory of a build. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct WorkDirectory {
    path: PathBuf,
    key: Key,
    token: String,
    /// Holds the lock; none once the directory was given up.
    lock: Option<File>,
    /// The process that made it. A fork of it must not remove the directory.
    process: u32,
}

impl WorkDirectory {
    /// Creates a directory in `parent`, after removing those of killed builds whose names have the same prefix.
    /// `owner` is the token of the build's other directory. `replaced` is the database in which it is created.
    pub(super) fn create(
        parent: &Path,
        prefix: &OsStr,
        owner: Option<&str>,
        replaced: Option<&Path>,
    ) -> Result<WorkDirectory> {
        let parent = parent.canonicalize().map_err(|e| Error::io(parent, e))?;
        remove_all_stale(&parent, prefix, replaced)?;
        loop {
            let token = base36(random());
            let mut name = OsString::from(prefix);
            name.push(&token);
            let path = parent.join(name);
            // While the guard is held, no other thread takes the directory for one that a killed build left.
            let mut live = live();
            if disk::make(&path)? {
                return WorkDirectory::begin(path, token, owner, &mut live);
            }
        }
    }

    /// Locks and marks a directory that was just created.
    fn begin(path: PathBuf, token: String, owner: Option<&str>, live: &mut BTreeSet<Key>) -> Result<WorkDirectory> {
        let file = path.join(LOCK);
        let owner = owner.map(|owner| format!(" {owner}")).unwrap_or_default();
        let mark = [MARK, token.as_bytes(), owner.as_bytes(), b"\n"].concat();
        let made = key(&path).and_then(|key| {
            live.insert(key);
            let lock = lock_new(&file, &mark);
            if lock.is_err() {
                live.remove(&key);
            }
            Ok((key, lock?))
        });
        match made {
            Ok((key, lock)) => Ok(WorkDirectory { path, key, token, lock: Some(lock), process: process::id() }),
            Err(e) => {
                let _ = fs::remove_file(&file);
                let _ = fs::remove_dir(&path);
                Err(e)
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What identifies the build, wherever its directory is.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Records the path of the build's other directory, which is removed with this one if the build is killed. Its mark
    /// must name the token of this one.
    pub(super) fn note(&mut self, other: &WorkDirectory) -> Result<()> {
        let line = [other.path.as_os_str().as_bytes(), b"\n"].concat();
        let file = self.path.join(LOCK);
        self.lock.as_mut().map_or(Ok(()), |lock| lock.write_all(&line)).map_err(|e| Error::io(&file, e))
    }

    /// Renames the directory to a name that only one build can have. Returns false if another build has it.
    pub(super) fn rename(&mut self, to: &Path) -> Result<bool> {
        let _live = live();
        let taken = || -> Result<bool> { Ok(disk::exists(to) && !is_empty(to)?) };
        if taken()? {
            return Ok(false);
        }
        if let Err(e) = disk::rename(&self.path, to) {
            return if taken()? { Ok(false) } else { Err(e) }; // another process may have been faster
        }
        self.path = to.to_owned();
        Ok(true)
    }

    /// Gives the directory up: it became the database, or the next build removes it.
    pub(super) fn release(mut self) {
        self.give_up(&mut live());
    }

    /// Removes the directory.
    pub(super) fn remove(mut self) -> Result<()> {
        self.clear()
    }

    fn give_up(&mut self, live: &mut BTreeSet<Key>) {
        self.lock = None;
        live.remove(&self.key);
    }

    /// Removes the directory. The lock is held to the end, so that no other build takes the name of the directory while
    /// files in it are deleted.
    fn clear(&mut self) -> Result<()> {
        let mut deleted = self.delete_content();
        let mut live = live();
        if deleted.is_err() {
            self.lock = None; // descriptors may be scarce, and deleting needs one
            deleted = self.delete_content();
        }
        let deleted = deleted.and_then(|there| if there { disk::remove_file(&self.path.join(LOCK)) } else { Ok(()) });
        // The key is forgotten before the directory is gone: a new one could have the same.
        self.give_up(&mut live);
        deleted?;
        disk::remove_directory(&self.path)
    }

    /// Deletes all but the lock. Returns false if the directory is no longer where it was.
    fn delete_content(&self) -> Result<bool> {
        if !disk::exists(&self.path) || key(&self.path)? != self.key {
            return Ok(false);
        }
        delete_content(&self.path)?;
        Ok(true)
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        if self.lock.is_some() && self.process == process::id() {
            let _ = self.clear(); // the next build removes what stays
        }
    }
}

/// Deletes all that a build wrote into its directory but the lock: a directory that is partly deleted still is marked.
fn delete_content(directory: &Path) -> Result<()> {
    let journal = disk::exists(&directory.join(JOURNAL));
    if journal {
        disk::force_parent(directory)?; // what the journal names must be gone for good before it is
    }
    names::delete_ours(directory)?;
    if journal {
        disk::force(directory)?; // the name blocks other builds, so a power cut must not lose the mark first
    }
    Ok(())
}

/// Removes the directories of killed builds with this prefix. Those that may be something else stay, as do those that
/// cannot be removed; they do no harm.
fn remove_all_stale(parent: &Path, prefix: &OsStr, replaced: Option<&Path>) -> Result<()> {
    let names = match disk::names(parent) {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => return Ok(()),
        names => names?,
    };
    for name in names {
        if names::is_build(&name, prefix) {
            remove_if_stale(&parent.join(name), replaced);
        }
    }
    Ok(())
}

/// Removes a directory that a killed build left, and what that build left elsewhere. `replaced` is the database in
/// which the directory is.
pub(super) fn remove_if_stale(directory: &Path, replaced: Option<&Path>) {
    let _ = try_remove(directory, replaced, None, &live()); // not ours, or not removable
}

fn try_remove(directory: &Path, replaced: Option<&Path>, owner: Option<&[u8]>, live: &BTreeSet<Key>) -> Result<()> {
    if !disk::is_directory(directory) || live.contains(&key(directory)?) || is_starting(directory)? {
        return Ok(());
    }
    if is_empty(directory)? {
        return disk::remove_directory(directory);
    }
    let path = directory.join(LOCK);
    if !disk::is_file(&path) {
        return Ok(());
    }
    let before = key(&path)?;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let opened = File::options().read(true).write(true).custom_flags(flags).open(&path);
    let file = opened.map_err(|e| Error::io(&path, e))?;
    // The directory may have been removed meanwhile and its name taken by another one. So the file that was locked must
    // be the one that has the name.
    if !try_lock(&file).map_err(|e| Error::io(&path, e))? || key(&path)? != before {
        return Ok(());
    }
    let mut mark = Vec::new();
    (&file).take(MAX_MARK).read_to_end(&mut mark).map_err(|e| Error::io(&path, e))?;
    if is_mark(&mark, owner) && names::all_ours(directory)? {
        if let Some((token, other)) = noted(&mark) {
            let _ = try_remove(other, None, Some(token), live);
        }
        if let Some(target) = replaced {
            replacement::recover(directory, target)?;
        }
        delete_content(directory)?;
        disk::remove_file(&path)?;
        disk::remove_directory(directory)?;
    }
    Ok(())
}

/// Whether a directory is empty, or was removed meanwhile. Fails if it is something else.
fn is_empty(directory: &Path) -> Result<bool> {
    match directory.symlink_metadata() {
        Ok(meta) if !meta.is_dir() => {
            let reason = "is in the way of the build; move it away".to_owned();
            return Err(Error::Exists { path: directory.to_owned(), reason });
        }
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(true),
        Err(e) => return Err(Error::io(directory, e)),
    }
    match fs::read_dir(directory).and_then(|mut entries| entries.next().transpose()) {
        Ok(first) => Ok(first.is_none()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        Err(e) => Err(Error::io(directory, e)),
    }
}

/// Whether a build may be beginning in a directory, which then is young, and empty or holds nothing but an empty lock.
fn is_starting(directory: &Path) -> Result<bool> {
    if directory.file_name() == Some(OsStr::new(REPLACING)) {
        return Ok(false); // it began with another name
    }
    let meta = |path: &Path| path.symlink_metadata().map_err(|e| Error::io(path, e));
    for name in disk::names(directory)? {
        if name != LOCK || meta(&directory.join(name))?.len() > 0 {
            return Ok(false);
        }
    }
    let modified = meta(directory)?.modified().map_err(|e| Error::io(directory, e))?;
    Ok(SystemTime::now().duration_since(modified).map_or(true, |age| age < STARTUP))
}

/// Whether the content of a lock file is a mark, be it cut off. That of a build's other directory names its owner.
fn is_mark(content: &[u8], owner: Option<&[u8]>) -> bool {
    match owner {
        None => content.starts_with(MARK) || MARK.starts_with(content),
        Some(owner) => {
            let first = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
            first.starts_with(MARK) && first.strip_suffix(owner).is_some_and(|start| start.ends_with(b" "))
        }
    }
}

/// The token of a build and the path of its other directory, if its mark has both.
fn noted(mark: &[u8]) -> Option<(&[u8], &Path)> {
    let mut lines = mark.strip_suffix(b"\n").unwrap_or(mark).split(|&byte| byte == b'\n');
    let token = lines.next()?.strip_prefix(MARK)?;
    let path = Path::new(OsStr::from_bytes(lines.next()?));
    (lines.next().is_none() && names::is_token(token) && path.is_absolute()).then_some((token, path))
}

/// Whether a file in a database is the lock of a build that was killed after it published the database.
pub(super) fn is_left_lock(path: &Path) -> Result<bool> {
    if !disk::is_file(path) {
        return Ok(false);
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_MARK + 1).read_to_end(&mut start));
    read.map_err(|e| Error::io(path, e))?;
    Ok(start.len() as u64 <= MAX_MARK && start.starts_with(MARK))
}

/// Creates a lock file with this content, and locks it.
fn lock_new(path: &Path, mark: &[u8]) -> Result<File> {
    let lock = || {
        let mut file = File::options().write(true).create_new(true).open(path)?;
        if !try_lock(&file)? {
            return Err(io::Error::new(ErrorKind::ResourceBusy, "another process locked it; build again"));
        }
        file.write_all(mark)?;
        Ok(file)
    };
    lock().map_err(|e| Error::io(path, e))
}

/// Locks a whole file for this process. Returns false if another process holds the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// A number that no other build has.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(process::id());
    hasher.write_u128(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()));
    hasher.finish()
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_numbers_in_base_36() {
        assert_eq!([base36(0), base36(35), base36(36), base36(u64::MAX)], ["0", "z", "10", "3w5e11264sgsf"]);
        assert!(names::is_token(base36(random()).as_bytes()));
    }

    #[test]
    fn marks_may_be_cut_off() {
        for mark in ["", "bsdb-work", "bsdb-workspace ", "bsdb-workspace 1", "bsdb-workspace 1 2\n"] {
            assert!(is_mark(mark.as_bytes(), None), "{mark}");
        }
        assert!(!is_mark(b"precious", None));
        assert!(is_mark(b"bsdb-workspace 1 2\n", Some(b"2")));
        for mark in ["bsdb-workspace 2\n2", "bsdb-workspace 1 12\n", "bsdb-workspace 1", "x 1 2", ""] {
            assert_eq!(is_mark(mark.as_bytes(), Some(b"2")), mark == "bsdb-workspace 2\n2", "{mark}");
        }
        assert_eq!(noted(b"bsdb-workspace 1\n/t\n"), Some((&b"1"[..], Path::new("/t"))));
        for mark in
            ["bsdb-workspace 1\n", "bsdb-workspace 1 2\n/t\n", "bsdb-workspace 1\nt\n", "bsdb-workspace 1\n/t\n\n"]
        {
            assert_eq!(noted(mark.as_bytes()), None, "{mark}");
        }
    }
}
