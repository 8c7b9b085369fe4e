//! Stores (FORMAT.md §15): publishes databases, lists versions and rolls back. The Java code does the same, so all of
//! them can work on a store at the same time.
//!
//! A publication copies the database into a hidden directory of the store, verifies the copy, renames it to its name,
//! and replaces the pointer. A version that was renamed but never became current has a file that says so. The next
//! publication removes what a killed one left.

mod lock;
mod pointer;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use self::lock::StoreLock;
use self::pointer::{is_version, Pointer, CURRENT};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::format::facts::MANIFEST;
use crate::keys::PublicKey;
use crate::options::Options;
use crate::verify::GoOn;
use crate::write::work::disk::{self, Made};
use crate::write::work::{absolute, names::is_shard};

/// What the names of hidden directories begin with: copies, and versions that are being removed.
const INCOMING: &str = ".incoming-";
const REMOVED: &str = ".removed-";

/// The file in a version that is not current yet.
const UNFINISHED: &str = ".publishing";

/// How often a publication that waits for another one looks again.
const POLL: Duration = Duration::from_millis(50);

/// Bytes that are copied at a time.
const CHUNK: usize = 2 << 20;

/// How a database is published.
#[derive(Clone, Debug, Default)]
pub struct PublishOptions {
    version: Option<String>,
    keep: Option<usize>,
    link: bool,
    trusted: Vec<PublicKey>,
}

impl PublishOptions {
    /// The name of the version, 1 to 100 of the characters `A-Z a-z 0-9 . _ -`; by default the time, such as
    /// `20261121T151400Z`.
    pub fn version(mut self, name: impl Into<String>) -> Self {
        self.version = Some(name.into());
        self
    }

    /// How many versions to keep besides the current one; by default all. The one that a rollback returns to is always
    /// kept.
    pub fn keep(mut self, others: usize) -> Self {
        self.keep = Some(others);
        self
    }

    /// Whether files are hard-linked instead of copied, which needs the same file system.
    pub fn link(mut self, link: bool) -> Self {
        self.link = link;
        self
    }

    /// Keys of which one must have signed the database, as for [`Options::trust`]; by default none. The version has the
    /// signature of the database.
    pub fn trust(mut self, keys: impl IntoIterator<Item = PublicKey>) -> Self {
        self.trusted = keys.into_iter().collect();
        self
    }
}

/// What was published.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Published {
    /// The name of the version, which is current now.
    pub version: String,
    /// Its directory.
    pub path: PathBuf,
    /// The names of the versions that were removed.
    pub removed: Vec<String>,
    /// What failed after the version became current.
    pub warnings: Vec<String>,
}

/// A version of a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Version {
    /// The name.
    pub name: String,
    /// The directory.
    pub path: PathBuf,
    /// Whether it is the current one.
    pub current: bool,
    /// When its directory was last modified.
    pub modified: SystemTime,
    /// Its records; None if it cannot be opened.
    pub records: Option<u64>,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Copies a database into a local store as its new version, verifies the copy and makes it current. Creates the store
/// if it is missing. If that fails, the current version stays current, and nothing is left behind.
///
/// It waits for other publications to the store.
pub fn publish(database: impl AsRef<Path>, store: impl AsRef<Path>, options: PublishOptions) -> Result<Published> {
    publish_while(database, store, options, || true)
}

/// Like [`publish`], but asks a function again and again whether to go on. If it says no, fails with
/// [`Error::Stopped`].
pub fn publish_while(
    database: impl AsRef<Path>,
    store: impl AsRef<Path>,
    options: PublishOptions,
    mut go_on: impl FnMut() -> bool,
) -> Result<Published> {
    let mut go_on = || if go_on() { Ok(()) } else { Err(Error::Stopped) };
    if let Some(name) = &options.version {
        checked(name)?;
    }
    let store = absolute(store.as_ref())?;
    let how = Options::default().trust(options.trusted.iter().copied());
    let source = source(database.as_ref(), &store, how.clone())?;
    require_store(&store)?;
    let mut publication = Publication::begin(&store, &options, &mut go_on)?;
    publication.copy(&source, options.link, &mut go_on)?;
    let copy = Database::open_directory(&publication.incoming, how)?;
    if copy.id() != source.id() {
        let reason = format!("{}: is not the database that was copied; publish again", copy.path().display());
        return Err(Error::Impossible(reason));
    }
    copy.verify_while(|| go_on().is_ok())?;
    drop(copy);
    publication.go_live()?;
    let removed = match options.keep {
        Some(others) => publication.keep(others),
        None => Vec::new(),
    };
    let path = store.join(&publication.version);
    Ok(Published {
        version: std::mem::take(&mut publication.version),
        path,
        removed,
        warnings: std::mem::take(&mut publication.warnings),
    })
}

/// The versions of a local store, v9 before v10.
pub fn versions(store: impl AsRef<Path>) -> Result<Vec<Version>> {
    let store = store.as_ref();
    require_opened(store)?;
    let current = Pointer::read(store)?.map(|pointer| pointer.current);
    let mut versions = Vec::new();
    for name in version_names(store)? {
        let path = store.join(&name);
        let Ok(modified) = fs::metadata(&path).and_then(|meta| meta.modified()) else {
            continue; // removed since it was listed
        };
        let facts = Database::open_directory(&path, Options::default()).map(|database| database.statistics());
        let (records, bytes) = match facts {
            Ok(facts) => (Some(facts.records), facts.file_bytes),
            Err(_) if !path.exists() => continue,
            Err(_) => (None, file_bytes(&path)),
        };
        let current = current.as_ref() == Some(&name);
        versions.push(Version { name, path, current, modified, records, bytes });
    }
    Ok(versions)
}

/// Makes another version of a local store current: that with a name, or the one that was current before. Returns its
/// name. Its files are opened before, but not verified; if that fails, the current version stays.
pub fn rollback(store: impl AsRef<Path>, version: Option<&str>) -> Result<String> {
    let store = store.as_ref();
    if let Some(name) = version {
        checked(name)?;
    }
    require_opened(store)?;
    let _lock = StoreLock::switching(store)?;
    let names = version_names(store)?;
    let now = Pointer::read(store)?;
    let target = match (version, &now) {
        (Some(name), _) => name.to_owned(),
        (None, Some(now)) => now.before(&names).cloned().ok_or_else(|| {
            Error::io(store, io::Error::new(ErrorKind::NotFound, format!("there is no version before {}", now.current)))
        })?,
        (None, None) => {
            let reason = "names no version, so there is nothing to roll back to; choose a version";
            return Err(Error::io(&store.join(CURRENT), io::Error::new(ErrorKind::NotFound, reason)));
        }
    };
    let directory = store.join(&target);
    if !directory.is_dir() {
        let reason = format!("no such version; to list them: bsdb versions {}", store.display());
        return Err(Error::io(&directory, io::Error::new(ErrorKind::NotFound, reason)));
    }
    Database::open_directory(&directory, Options::default())?;
    remove_mark(&directory)?; // in use now
    let next = match now {
        Some(now) if now.current == target => return Ok(target),
        Some(now) if version.is_some() || now.chain.contains(&target) => now.back_to(&target),
        _ => Pointer::to(&target),
    };
    next.write(store)?.map_err(|error| {
        Error::Impossible(format!("{}: {target} is current, but a power cut may undo that: {error}", store.display()))
    })?;
    Ok(target)
}

/// A publication that has its turn. When this is dropped, what was written is removed, unless the version is current.
struct Publication {
    store: PathBuf,
    /// The name of the version.
    version: String,
    /// The copy.
    incoming: PathBuf,
    live: bool,
    warnings: Vec<String>,
    // Dropped after the copy was removed.
    lock: Option<StoreLock>,
    made: Made,
}

impl Publication {
    /// Waits for other publications, creates the store, removes what killed publications left, and takes a name.
    fn begin(store: &Path, options: &PublishOptions, go_on: GoOn<'_>) -> Result<Publication> {
        let mut made = Made::default();
        let lock = loop {
            go_on()?;
            made.make(store)?;
            match StoreLock::try_take(store, lock::PUBLISH) {
                Ok(Some(lock)) => break lock,
                // Removed by another publication, which created the store and failed.
                Err(error) if error.is_missing_file() => {}
                Err(error) => return Err(error),
                Ok(None) => thread::sleep(POLL),
            }
        };
        let mut publication = Publication {
            store: store.to_owned(),
            version: String::new(),
            incoming: PathBuf::new(),
            live: false,
            warnings: Vec::new(),
            lock: Some(lock),
            made,
        };
        require_store(store)?;
        publication.remove_stale()?;
        let version = match &options.version {
            Some(name) if disk::exists(&store.join(name)) => {
                let reason = "a version with this name already exists; choose another name".to_owned();
                return Err(Error::Exists { path: store.join(name), reason });
            }
            Some(name) => name.clone(),
            None => free(store, &pointer::of_now()),
        };
        let incoming = store.join([INCOMING, &version].concat());
        if !disk::make(&incoming)? {
            let reason = "is in the way but was not left by a publication; move it away".to_owned();
            return Err(Error::Exists { path: incoming, reason });
        }
        publication.version = version;
        publication.incoming = incoming;
        Ok(publication)
    }

    /// Removes hidden directories of killed publications, and versions that never became current. Those with files of
    /// others stay, as do those that cannot be removed; they do no harm.
    fn remove_stale(&self) -> Result<()> {
        let mut unfinished = false;
        let mut stale = Vec::new();
        for name in disk::names(&self.store)? {
            let path = self.store.join(&name);
            let name = name.to_string_lossy();
            let hidden = name.strip_prefix(INCOMING).or_else(|| name.strip_prefix(REMOVED));
            if hidden.is_some_and(is_version) {
                stale.push(path);
            } else {
                unfinished |= is_unfinished(&path);
            }
        }
        if unfinished {
            let _lock = StoreLock::switching(&self.store)?;
            let pointer = Pointer::read(&self.store)?;
            // A pointer that was written in part may name any of them.
            if pointer.is_some() || !is_store(&self.store) {
                for name in version_names(&self.store)? {
                    let path = self.store.join(&name);
                    if !is_unfinished(&path) {
                    } else if pointer.as_ref().is_some_and(|pointer| pointer.names(&name)) {
                        remove_mark(&path)?;
                    } else if holds_only_ours(&path) {
                        stale.push(self.hide(&name)?);
                    }
                }
            }
        }
        for path in stale.iter().filter(|path| holds_only_ours(path)) {
            let _ = delete(path); // another user's, for example
        }
        Ok(())
    }

    /// Renames a version to a hidden name, under which nobody opens it.
    fn hide(&self, version: &str) -> Result<PathBuf> {
        let hidden = self.store.join(free(&self.store, &[REMOVED, version].concat()));
        disk::rename(&self.store.join(version), &hidden)?;
        Ok(hidden)
    }

    /// Copies or links all files of the database, forced to the device.
    fn copy(&self, source: &Database, link: bool, go_on: GoOn<'_>) -> Result<()> {
        let shards = source.shards();
        let mut chunk = vec![0; CHUNK];
        let mut place = |from: &Path, to: &Path| {
            if link {
                go_on()?;
                return hard_link(from, to);
            }
            copy_file(from, to, &mut chunk, go_on)
        };
        for single in shards.held() {
            let mut into = self.incoming.clone();
            if let (Some(_), Some(name)) = (&shards.set, single.path.file_name()) {
                into.push(name);
                disk::make(&into)?;
            }
            let id = shards.set.as_ref().map_or(shards.id, |set| set.shards[single.facts.shard as usize].id);
            for name in single.facts.files.iter().map(|line| line.name(&id)).chain([MANIFEST.to_owned()]) {
                place(&single.path.join(&name), &into.join(&name))?;
            }
            disk::force(&into)?;
        }
        if shards.set.is_some() {
            place(&source.path().join(MANIFEST), &self.incoming.join(MANIFEST))?;
        }
        disk::write(&self.incoming.join(UNFINISHED), &[])?;
        disk::force(&self.incoming)
    }

    /// Turns the copy into a version and makes it current.
    fn go_live(&mut self) -> Result<()> {
        let _lock = StoreLock::switching(&self.store)?;
        let target = self.store.join(&self.version);
        let pointer = Pointer::read(&self.store)?;
        if disk::exists(&target) {
            let reason = "was created while this version was copied; publish again".to_owned();
            return Err(Error::Exists { path: target, reason });
        }
        disk::rename(&self.incoming, &target)?;
        let next = match pointer {
            Some(pointer) => pointer.pushed(&self.version),
            None => Pointer::to(&self.version),
        };
        match disk::force(&self.store).and_then(|()| next.write(&self.store)) {
            Ok(forced) => {
                self.live = true;
                self.later(forced);
            }
            Err(error) => {
                let is_current = Pointer::read(&self.store)?.is_some_and(|pointer| pointer.current == self.version);
                if !is_current {
                    disk::rename(&target, &self.incoming)?;
                }
                return Err(error);
            }
        }
        self.later(remove_mark(&target));
        let parents: Vec<PathBuf> = self.made.iter().map(Path::to_owned).collect();
        for path in parents {
            self.later(disk::force_parent(&path));
        }
        Ok(())
    }

    /// Takes the result of a step after the version became current, which does not fail any more.
    fn later(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.warnings.push(format!("version {} is current, but a later step failed: {error}", self.version));
        }
    }

    /// Removes the oldest versions but so many, and returns their names.
    fn keep(&mut self, others: usize) -> Vec<String> {
        let mut removed = Vec::new();
        match self.hide_oldest(others) {
            Ok(hidden) => {
                for (name, path) in hidden {
                    self.later(delete(&path));
                    removed.push(name);
                }
            }
            Err(error) => self.later(Err(error)),
        }
        removed
    }

    /// Hides the oldest versions; returns their names, and where each is now.
    fn hide_oldest(&mut self, others: usize) -> Result<Vec<(String, PathBuf)>> {
        let _lock = StoreLock::switching(&self.store)?;
        let mut hidden = Vec::new();
        let Some(pointer) = Pointer::read(&self.store)? else { return Ok(hidden) };
        let names = version_names(&self.store)?;
        let back = pointer.before(&names);
        let mut oldest: Vec<(Option<SystemTime>, &String)> = names
            .iter()
            .filter(|name| **name != pointer.current && Some(*name) != back)
            .filter(|name| is_database(&self.store.join(name)))
            .map(|name| (fs::metadata(self.store.join(name)).and_then(|meta| meta.modified()).ok(), name))
            .collect();
        // Versions of unknown age are the youngest; those of the same age are in the order of their names.
        oldest.sort_by_key(|(modified, _)| (modified.is_none(), *modified));
        let most = if back.is_some() { others.saturating_sub(1) } else { others };
        for (_, name) in &oldest[..oldest.len().saturating_sub(most)] {
            let path = self.store.join(name);
            if path.is_symlink() || holds_only_ours(&path) {
                hidden.push(((*name).clone(), self.hide(name)?));
            } else {
                let path = path.display();
                self.warnings.push(format!(
                    "{path} contains files that are not the database's, so it was kept; remove it by hand"
                ));
            }
        }
        Ok(hidden)
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        if self.live {
            std::mem::take(&mut self.made).keep();
            return;
        }
        if !self.incoming.as_os_str().is_empty() {
            let _ = delete(&self.incoming); // the next publication removes what stays
        }
        // A store that this made, and that holds nothing but locks, is removed with them.
        let made = self.made.iter().any(|path| path == self.store);
        let locks = |name: &OsStr| name == lock::PUBLISH || name == lock::SWITCH;
        if made && disk::names(&self.store).is_ok_and(|names| names.iter().all(|name| locks(name))) {
            if disk::exists(&self.store.join(lock::SWITCH)) {
                match StoreLock::try_take(&self.store, lock::SWITCH) {
                    Ok(Some(switch)) => switch.remove(),
                    _ => return,
                }
            }
            if let Some(lock) = self.lock.take() {
                lock.remove();
            }
        }
    }
}

fn checked(name: &str) -> Result<()> {
    if is_version(name) {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "version is {name:?}; use 1 to 100 of the characters A-Z a-z 0-9 . _ -, not starting with . or -, and not \
         {CURRENT}"
    )))
}

/// Opens the database to publish, and fails if store and database are nested.
fn source(database: &Path, store: &Path, how: Options) -> Result<Database> {
    if is_store(database) {
        return Err(Error::NotADatabase {
            path: database.to_owned(),
            reason: "a store of databases; name one of its versions".into(),
        });
    }
    let real = database.canonicalize().map_err(|e| Error::io(database, e))?;
    let source = Database::open_directory(&real, how)?;
    let there = store.ancestors().find(|path| path.exists()).unwrap_or(store);
    let place = there.canonicalize().map_err(|e| Error::io(there, e))?;
    let place = store.strip_prefix(there).map_or(place.clone(), |rest| place.join(rest));
    let above = place.ancestors().skip(1).find(|above| is_database(above));
    if let Some(above) = above.or(place.starts_with(&real).then_some(real.as_path())) {
        return Err(Error::Argument(format!(
            "the store {} lies inside the database {}; choose another directory",
            store.display(),
            above.display()
        )));
    }
    if let Some(above) = place.parent().filter(|above| is_store(above)) {
        if Pointer::read(above)?.is_some() {
            return Err(Error::Argument(format!(
                "the store {} lies inside the store {}; publish to that one, with a version of this name",
                store.display(),
                above.display()
            )));
        }
    }
    if real.strip_prefix(&place).is_ok_and(|below| below.to_string_lossy().starts_with('.')) {
        return Err(Error::Argument(format!(
            "the database {} is a hidden directory of the store; publish another one",
            database.display()
        )));
    }
    Ok(source)
}

/// Fails unless a directory is a store, or can become one.
fn require_store(store: &Path) -> Result<()> {
    let refused = |reason: &str| Err(Error::Exists { path: store.to_owned(), reason: reason.to_owned() });
    if !store.exists() && !store.is_symlink() || is_store(store) {
        return Ok(());
    }
    if !store.is_dir() {
        return refused("is not a directory; choose another directory for the store");
    }
    if is_database(store) {
        return refused("is a single database, not a store; choose another directory");
    }
    match holds_others(store) {
        Err(error) if error.is_missing_file() => Ok(()), // removed by another publication that created it and failed
        Ok(true) if !is_store(store) => {
            refused("is not a store: it has no CURRENT and contains other files; choose another directory")
        }
        result => result.map(|_| ()),
    }
}

/// Whether a directory without a pointer holds something else than versions and what publications leave.
fn holds_others(store: &Path) -> Result<bool> {
    let (mut versions, mut others) = (false, false);
    for name in disk::names(store)? {
        let path = store.join(&name);
        let name = name.to_string_lossy();
        if name == CURRENT {
            return Ok(false);
        }
        if name.starts_with('.') {
            let known = [lock::PUBLISH, lock::SWITCH, pointer::NEXT, ".pulling", ".pulled"];
            others |= !known.contains(&&*name) && !name.starts_with(INCOMING) && !name.starts_with(REMOVED);
        } else if is_shard(name.as_bytes()) && disk::is_directory(&path) {
            return Ok(true); // of a set that was not copied whole
        } else if is_database(&path) {
            versions |= is_version(&name);
            others |= !is_version(&name);
        } else if name != "lost+found" && disk::exists(&path) {
            return Ok(true);
        }
    }
    Ok(others && !versions)
}

/// Fails unless a directory is a store, with a current version or without.
fn require_opened(store: &Path) -> Result<()> {
    if is_store(store) {
        return Ok(());
    }
    let names = disk::names(store)?; // fails if there is none
    let reason = if is_database(store) {
        "a single database and no store"
    } else if !version_names(store)?.iter().any(|name| is_database(&store.join(name)))
        || names.iter().any(|name| {
            let hidden = name.to_string_lossy().starts_with('.') || name == "lost+found";
            !hidden && !is_database(&store.join(name))
        })
    {
        "no store: it has no file CURRENT; create one with: bsdb publish DB STORE"
    } else {
        return Ok(());
    };
    Err(Error::NotADatabase { path: store.to_owned(), reason: reason.into() })
}

/// Whether a directory has a file that names the current version.
fn is_store(directory: &Path) -> bool {
    let pointer = directory.join(CURRENT);
    pointer.is_file() || pointer.is_symlink()
}

fn is_database(directory: &Path) -> bool {
    directory.join(MANIFEST).is_file()
}

/// The names of the versions in natural order.
fn version_names(store: &Path) -> Result<Vec<String>> {
    let names = disk::names(store)?.into_iter().filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| is_version(name) && name != "lost+found" && store.join(name).is_dir()).collect();
    names.sort_by(|a, b| pointer::compare(a, b));
    Ok(names)
}

/// A name, or if that is taken, the first that is not of it with `-2` and so on.
fn free(store: &Path, name: &str) -> String {
    let mut free = name.to_owned();
    for i in 2.. {
        if !disk::exists(&store.join(&free)) {
            break;
        }
        free = format!("{name}-{i}");
    }
    free
}

fn is_unfinished(version: &Path) -> bool {
    let named = version.file_name().and_then(OsStr::to_str).is_some_and(is_version);
    named && disk::is_directory(version) && disk::is_file(&version.join(UNFINISHED))
}

fn remove_mark(version: &Path) -> Result<()> {
    let mark = version.join(UNFINISHED);
    if disk::exists(&mark) {
        disk::remove_file(&mark)?;
    }
    Ok(())
}

fn is_ours(name: &OsStr) -> bool {
    name == UNFINISHED || name.to_string_lossy().ends_with(".bsdb")
}

/// Whether a directory holds only what a publication writes. Links are somebody else's.
fn holds_only_ours(directory: &Path) -> bool {
    let all = |directory: &Path, ours: &dyn Fn(&Path, &OsStr) -> bool| {
        disk::names(directory).is_ok_and(|names| names.iter().all(|name| ours(&directory.join(name), name)))
    };
    let file = |path: &Path, name: &OsStr| is_ours(name) && disk::is_file(path);
    disk::is_directory(directory)
        && all(directory, &|path, name| {
            let shard = is_shard(name.as_encoded_bytes()) && disk::is_directory(path);
            if shard {
                all(path, &file)
            } else {
                file(path, name)
            }
        })
}

/// Deletes a version. Other files in it, and the directories that hold them, stay. Of a link, only the link is deleted.
fn delete(directory: &Path) -> Result<()> {
    if directory.is_symlink() {
        return disk::remove_file(directory);
    }
    for name in disk::names(directory)? {
        let path = directory.join(&name);
        if is_shard(name.as_encoded_bytes()) && disk::is_directory(&path) {
            delete(&path)?;
        } else if is_ours(&name) && disk::is_file(&path) {
            disk::remove_file(&path)?;
        }
    }
    if disk::names(directory)?.is_empty() {
        disk::remove_directory(directory)?;
    }
    Ok(())
}

/// The bytes of the files of a database that cannot be opened.
fn file_bytes(directory: &Path) -> u64 {
    let mut bytes = 0;
    for name in disk::names(directory).unwrap_or_default() {
        let path = directory.join(&name);
        if is_shard(name.as_encoded_bytes()) && disk::is_directory(&path) {
            bytes += file_bytes(&path);
        } else if disk::is_file(&path) {
            bytes += fs::metadata(&path).map_or(0, |meta| meta.len());
        }
    }
    bytes
}

fn copy_file(from: &Path, to: &Path, chunk: &mut [u8], go_on: GoOn<'_>) -> Result<()> {
    let mut source = File::open(from).map_err(|e| Error::io(from, e))?;
    let mut copy = File::options().write(true).create_new(true).open(to).map_err(|e| Error::io(to, e))?;
    loop {
        go_on()?;
        match source.read(chunk) {
            Ok(0) => return copy.sync_all().map_err(|e| Error::io(to, e)),
            Ok(count) => copy.write_all(&chunk[..count]).map_err(|e| Error::io(to, e))?,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io(from, e)),
        }
    }
}

fn hard_link(from: &Path, to: &Path) -> Result<()> {
    let linked = fs::hard_link(from, to).and_then(|()| File::open(to)?.sync_all());
    linked.map_err(|e| {
        let reason = format!("cannot be hard-linked into the store ({e}); publish a copy instead");
        Error::io(from, io::Error::new(e.kind(), reason))
    })
}
