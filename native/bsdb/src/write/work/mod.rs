//! The directory in which a database is written until it is published, and what replaces another one (FORMAT.md §17).
//!
//! A new database is built beside its target, then renamed to it. A replacement is built inside the target; its
//! files, whose names are unique to it, are moved in, and the rename of the manifest makes readers see the new
//! database ([`replacement`]). A build that is killed before leaves the old database in place. A set of shards is
//! published like a database, with the files of each shard in a directory of its own.
//!
//! Only one build at a time replaces a database: meanwhile its directory has a name that no second build can take.
//! The lock on a file in the directory tells a live build from a killed one, whose stale files the next build of the
//! same target removes ([`directory`]). The Java builder does the same, so builds of both kinds get along.

pub(crate) mod directory;
pub(crate) mod disk;
pub(crate) mod names;
mod replacement;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use self::directory::WorkDirectory;
use self::disk::Made;
use self::names::{LOCK, REPLACING};
use self::replacement::New;
use super::control::{Control, Stage};
use super::options::BuildOptions;
use crate::error::{Error, Result};
use crate::format::facts::MANIFEST;
use crate::format::frame::hex;

/// What the names of the directories of builds have before their token.
const PREFIX: &str = "bsdb-build-";

/// The most bytes of a target's name in the name of its build.
const MAX_NAME: usize = 200;

/// How often a build that waits for another one looks again.
const POLL: Duration = Duration::from_millis(20);

/// How often a build makes the directories above its own, which builds that fail may remove meanwhile.
const ATTEMPTS: usize = 100;

/// Replacing is brief, and a build that took hours should not give up soon.
const PATIENCE: Duration = Duration::from_secs(300);

/// The directories of a build. They are removed when this is dropped, unless the database was published.
#[derive(Debug)]
pub(crate) struct Workspace {
    target: PathBuf,
    overwrite: bool,
    replaces: bool,
    // Removed in this order.
    temporary: Option<WorkDirectory>,
    made_for_temporary: Made,
    work: WorkDirectory,
    made_parents: Made,
}

impl Workspace {
    /// Creates the directories of a build of `target`.
    pub(crate) fn create(target: &Path, options: &BuildOptions) -> Result<Workspace> {
        for _ in 1..ATTEMPTS {
            match Workspace::try_create(target, options) {
                // Another build may have made a parent, failed, and removed it before there was anything in it.
                Err(e) if e.is_missing_file() => {}
                made => return made,
            }
        }
        Workspace::try_create(target, options)
    }

    fn try_create(target: &Path, options: &BuildOptions) -> Result<Workspace> {
        let mut target = absolute(target)?;
        let replaces = disk::exists(&target);
        if replaces {
            require_replaceable(&target, options.overwrite)?;
            target = target.canonicalize().map_err(|e| Error::io(&target, e))?;
        }
        let (Some(name), Some(parent)) = (target.file_name(), target.parent()) else {
            return Err(refused(&target, "is the root of a file system; choose a directory in it"));
        };
        refuse_in_database("the target", &target, parent)?;
        if let Some(temporary) = &options.temporary {
            let path = absolute(temporary)?;
            if path.starts_with(&target) {
                return Err(Error::Argument(format!(
                    "the temporary directory {} lies inside the target {}; choose another",
                    temporary.display(),
                    target.display()
                )));
            }
            refuse_in_database("the temporary directory", &path, &path)?;
        }
        let mut made_parents = Made::default();
        let mut work = if replaces {
            work_in(&target)?
        } else {
            made_parents.make(parent)?;
            let mut prefix = OsString::from(".");
            prefix.push(shortened(name));
            prefix.push(".");
            prefix.push(PREFIX);
            WorkDirectory::create(parent, &prefix, None, None)?
        };
        let mut made_for_temporary = Made::default();
        let mut temporary = None;
        if let Some(directory) = &options.temporary {
            made_for_temporary.make(&current().map(|current| current.join(directory))?)?;
            let of = hex(&Sha256::digest(target.as_os_str().as_bytes())[..4]);
            let prefix = format!("{PREFIX}{of}-");
            let made = WorkDirectory::create(directory, OsStr::new(&prefix), Some(work.token()), None)?;
            work.note(temporary.insert(made))?;
        }
        let overwrite = options.overwrite;
        Ok(Workspace { target, overwrite, replaces, temporary, made_for_temporary, work, made_parents })
    }

    /// The target: an absolute path.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where the files of the database are written.
    pub(crate) fn directory(&self) -> &Path {
        self.work.path()
    }

    /// Where temporary files are written.
    pub(crate) fn temporary(&self) -> &Path {
        self.temporary.as_ref().unwrap_or(&self.work).path()
    }

    /// Publishes the database, which is complete in the directory and forced to the device; shards are in directories
    /// of their own. Returns warnings about what failed after the database was published.
    pub(crate) fn publish(self, control: &Control) -> Result<Vec<String>> {
        self.publish_within(control, PATIENCE)
    }

    fn publish_within(mut self, control: &Control, patience: Duration) -> Result<Vec<String>> {
        control.check()?;
        // Temporary files are not needed any more. While the mark of the other directory is there, a kill leaves none.
        let removed = self.temporary.take().map_or(Ok(()), WorkDirectory::remove);
        drop(std::mem::take(&mut self.made_for_temporary));
        let directory = self.work.path();
        for name in disk::names(directory)? {
            let path = directory.join(&name);
            if names::is_shard(name.as_bytes()) && disk::is_directory(&path) {
                control.check()?;
                disk::force(&path)?;
            }
        }
        disk::force(directory)?;
        let published = if !self.replaces && self.rename()? {
            let mut later = Later::new(&self.target);
            later.step(disk::remove_file(&self.target.join(LOCK)));
            later.step(disk::force(&self.target));
            later.step(disk::force_parent(&self.target));
            for path in self.made_parents.iter() {
                later.step(disk::force_parent(path));
            }
            Published { warnings: later.warnings, work: After::Released }
        } else {
            self.replace(control, patience)?
        };
        let mut later = Later { warnings: published.warnings, ..Later::new(&self.target) };
        later.step(removed);
        match published.work {
            After::Released => self.work.release(),
            After::Removed => {
                later.step(self.work.remove());
            }
        }
        self.made_parents.keep();
        Ok(later.warnings)
    }

    /// Renames the directory to the target. Returns false if a database has appeared there that is to be replaced.
    fn rename(&mut self) -> Result<bool> {
        let Err(error) = disk::rename(self.work.path(), &self.target) else {
            return Ok(true);
        };
        if !disk::exists(&self.target) {
            return Err(error);
        }
        if !self.overwrite {
            return Err(refused(&self.target, "was created during the build and was left unchanged"));
        }
        require_replaceable(&self.target, true)?;
        self.target = self.target.canonicalize().map_err(|e| Error::io(&self.target, e))?;
        Ok(false)
    }

    /// Replaces the database at the target.
    fn replace(&mut self, control: &Control, patience: Duration) -> Result<Published> {
        let new = New::read(self.work.path(), control)?;
        let files = new.files();
        take_turn(&mut self.work, &self.target, patience, || control.report(Stage::Publish, files, Some(files)))?;
        let mut warnings = Vec::new();
        let replacement = new.replacing(self.work.path(), &self.target, &mut warnings)?;
        replacement.write_journal()?;
        replacement.switch(control)?;
        let mut later = Later { warnings, ..Later::new(&self.target) };
        if !later.step(disk::force(&self.target)) {
            // A power cut may bring the old database back, so its files stay, and the journal for the next build.
            return Ok(Published { warnings: later.warnings, work: After::Released });
        }
        replacement.delete_old(|result| {
            later.step(result);
        });
        let lock = self.target.join(LOCK);
        later
            .step(directory::is_left_lock(&lock).and_then(|left| if left { disk::remove_file(&lock) } else { Ok(()) }));
        Ok(Published { warnings: later.warnings, work: After::Removed })
    }
}

/// Waits until no other build replaces the database, and takes the name of the build that does.
fn take_turn(
    work: &mut WorkDirectory,
    target: &Path,
    patience: Duration,
    mut waiting: impl FnMut() -> Result<()>,
) -> Result<()> {
    let turn = target.join(REPLACING);
    let start = Instant::now();
    while !work.rename(&turn)? {
        directory::remove_if_stale(&turn, Some(target));
        waiting()?;
        if start.elapsed() > patience {
            let text = format!(
                "another build has been replacing this database for {} s (its directory is {}); end that build, then \
                 build again",
                patience.as_secs(),
                turn.display()
            );
            return Err(Error::io(target, io::Error::new(ErrorKind::TimedOut, text)));
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// Does something with a database while no build replaces it. The action gets the real path of the database, and a
/// directory in it for what it writes.
pub(crate) fn in_turn<T>(database: &Path, action: impl FnOnce(&Path, &Path) -> Result<T>) -> Result<T> {
    let target = database.canonicalize().map_err(|e| Error::io(database, e))?;
    let mut work = work_in(&target)?;
    take_turn(&mut work, &target, PATIENCE, || Ok(()))?;
    let done = action(&target, work.path())?;
    work.remove()?;
    Ok(done)
}

/// Makes a directory within a database, to change its files.
fn work_in(target: &Path) -> Result<WorkDirectory> {
    let prefix = [".", PREFIX].concat();
    WorkDirectory::create(target, OsStr::new(&prefix), None, Some(target))
}

/// What is left to do after the database was published.
struct Published {
    warnings: Vec<String>,
    work: After,
}

/// What becomes of the directory of the build.
enum After {
    /// It is the database, or the next build needs it.
    Released,
    Removed,
}

/// The steps after the database was published. They do not fail: what goes wrong becomes a warning.
struct Later<'a> {
    target: &'a Path,
    warnings: Vec<String>,
}

impl Later<'_> {
    fn new(target: &Path) -> Later<'_> {
        Later { target, warnings: Vec::new() }
    }

    /// Takes the result of a step. Returns whether it succeeded.
    fn step(&mut self, result: Result<()>) -> bool {
        if let Err(e) = &result {
            self.warnings.push(format!("the database is at {}, but a later step failed: {e}", self.target.display()));
        }
        result.is_ok()
    }
}

fn refused(path: &Path, reason: &str) -> Error {
    Error::Exists { path: path.to_owned(), reason: reason.to_owned() }
}

fn current() -> Result<PathBuf> {
    std::env::current_dir().map_err(|e| Error::io(Path::new("."), e))
}

/// The absolute path without `.` and `..`, by its text alone.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    let mut made = if path.is_absolute() { PathBuf::new() } else { current()? };
    for component in path.components() {
        match component {
            Component::ParentDir => {
                made.pop();
            }
            Component::CurDir => {}
            other => made.push(other),
        }
    }
    Ok(made)
}

/// The name of a target for that of its build, short enough for the rest of a file name of 255 bytes.
fn shortened(name: &OsStr) -> OsString {
    if name.len() <= MAX_NAME {
        return name.to_owned();
    }
    format!("long-{}", hex(&Sha256::digest(name.as_bytes())[..16])).into()
}

/// Fails if a path is in a database, with which it would be deleted. What exists of it is at `from` or above.
fn refuse_in_database(what: &str, path: &Path, from: &Path) -> Result<()> {
    let there = from.ancestors().find(|path| path.exists()).unwrap_or(from);
    let real = there.canonicalize().map_err(|e| Error::io(there, e))?;
    for above in real.ancestors() {
        if begins_like_manifest(&above.join(MANIFEST))? {
            return Err(Error::Argument(format!(
                "{what} {} lies inside the database {}; choose another directory",
                path.display(),
                above.display()
            )));
        }
    }
    Ok(())
}

/// Fails unless what is at a path may be replaced.
fn require_replaceable(target: &Path, overwrite: bool) -> Result<()> {
    if !target.is_dir() {
        return Err(refused(target, "is not a directory, so it cannot be a database; choose another target"));
    }
    if !overwrite {
        return Err(refused(
            target,
            "already exists; set the option overwrite to replace it, or choose another target",
        ));
    }
    if !is_database(target)? && !entries(target)?.is_empty() {
        return Err(refused(target, "is not a bsdb database, so it is not overwritten; choose another target"));
    }
    Ok(())
}

/// Whether a directory has a manifest that begins like one or, if that is damaged, only files and shards with names
/// that those of databases have.
fn is_database(target: &Path) -> Result<bool> {
    let manifest = target.join(MANIFEST);
    if !manifest.is_file() {
        return Ok(false);
    }
    if begins_like_manifest(&manifest)? {
        return Ok(true);
    }
    let entries = entries(target)?;
    for name in &entries {
        if !names::is_database_file(name.as_bytes()) && !names::is_only_shard(&target.join(name))? {
            return Ok(false);
        }
    }
    Ok(entries.len() > 1)
}

/// What a target holds besides the directories of builds.
fn entries(target: &Path) -> Result<Vec<OsString>> {
    let prefix = [".", PREFIX].concat();
    let mut names = disk::names(target)?;
    names.retain(|name| !names::is_build(name, OsStr::new(&prefix)));
    Ok(names)
}

fn begins_like_manifest(path: &Path) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
    read.map_err(|e| Error::io(path, e))?;
    Ok(start == b"BSDBFILE")
}
