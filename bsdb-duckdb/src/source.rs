//! Databases that queries read. Each is opened once, and shared by all queries and threads.
//!
//! A query sees one version of a store. What it uses is *pinned* when it is planned. A statement that was prepared earlier
//! pins again when it is executed again.

use std::collections::hash_map::Entry;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use bsdb::{Database, Error, Store};

use crate::ffi::Context;
use crate::row::RowType;

/// How long a version may be used without asking for a newer one: by queries whose beginning DuckDB does not tell, by threads
/// that begin late, and by statements that were prepared earlier.
const FRESH: Duration = Duration::from_secs(1);

/// The same for databases elsewhere, where asking takes requests.
const FRESH_ELSEWHERE: Duration = Duration::from_secs(10);

/// Databases that stay open, besides those that queries use.
const KEPT: usize = 64;

/// An open database.
pub struct Opened {
    pub database: Arc<Database>,
    /// What the query named.
    pub location: String,
    rows: OnceLock<Result<RowType, String>>,
    parts: OnceLock<Result<Vec<Arc<Database>>, String>>,
}

impl Opened {
    /// The type of the rows, if values are typed rows.
    pub fn row_type(&self) -> Result<Option<&RowType>, String> {
        let Some(schema) = self.database.schema() else { return Ok(None) };
        match self.rows.get_or_init(|| RowType::parse(schema)) {
            Ok(rows) => Ok(Some(rows)),
            Err(reason) => Err(format!(
                "{}: the rows cannot be columns of DuckDB: {reason}; read their bytes with raw := true",
                self.location
            )),
        }
    }

    /// Databases that can be scanned at once: the shards of a set, each opened by itself, or the one database.
    pub fn parts(&self) -> Result<&[Arc<Database>], String> {
        match self.parts.get_or_init(|| self.open_parts().map_err(|error| self.explain(&error))) {
            Ok(parts) => Ok(parts),
            Err(reason) => Err(reason.clone()),
        }
    }

    fn open_parts(&self) -> Result<Vec<Arc<Database>>, Error> {
        let whole = || Ok(vec![self.database.clone()]);
        let held = self.database.statistics().shards_held as usize;
        if held < 2 || self.database.is_remote() {
            return whole();
        }
        let Ok(entries) = fs::read_dir(self.database.path()) else { return whole() };
        let names = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("shard-"));
        let mut shards: Vec<PathBuf> = names.map(|entry| entry.path()).collect();
        // While a set is replaced, its directory also has shards of another one. The order of those is then not known.
        if shards.len() != held {
            return whole();
        }
        shards.sort();
        shards.into_iter().map(|shard| Database::open(shard).map(Arc::new)).collect()
    }

    /// Adds the path to an error that lacks it, and says what to do.
    pub fn explain(&self, error: &Error) -> String {
        explain(&self.location, error)
    }

    /// An error about the value of a key.
    pub fn wrong_value(&self, key: &[u8], reason: &str) -> String {
        format!("{}: the value of the key {} {reason}", self.location, show(key))
    }

    /// An error about a value that is not a row.
    pub fn wrong_row(&self, key: &[u8], reason: &str) -> String {
        let path = &self.location;
        let reason =
            format!("is not a row of the stored schema: {reason}; check the database with: bsdb verify -d {path}");
        self.wrong_value(key, &reason)
    }
}

/// A key for messages: quoted text if it is printable, otherwise hexadecimal digits. Long keys are cut.
pub fn show(key: &[u8]) -> String {
    const MOST: usize = 64;
    let tail = if key.len() > MOST { format!("... ({} bytes)", key.len()) } else { String::new() };
    let head = match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) => {
            return format!("{:?}{tail}", text.chars().take(MOST).collect::<String>());
        }
        _ => &key[..key.len().min(MOST)],
    };
    let digits: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}{tail}")
}

fn explain(location: &str, error: &Error) -> String {
    let text = error.to_string();
    let text = if error.path().is_some() || text.starts_with(location) { text } else { format!("{location}: {text}") };
    match error {
        Error::NotADatabase { .. } => format!("{text}; give the directory or the URL of a database, a set or a store"),
        Error::Damaged { .. } => {
            format!("{text}; copy or build the database again, and check it with: bsdb verify -d {location}")
        }
        Error::Unsupported { .. } => format!("{text}; use a newer version of the extension"),
        _ => text,
    }
}

/// A path or URL, and what is open there.
struct Source {
    location: String,
    /// The same, and absolute if it is a path, because the working directory may change.
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    current: Option<Current>,
    checked: Instant,
    used: Instant,
}

struct Current {
    opened: Arc<Opened>,
    kind: Kind,
}

/// How to notice that there is something new.
enum Kind {
    Store(Box<Store>),
    /// A database that a build may replace: the state of its manifest.
    Local(Option<Stamp>),
    Elsewhere,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    file: u64,
}

impl Stamp {
    fn of(directory: &Path) -> Option<Self> {
        let meta = fs::metadata(directory.join("manifest.bsdb")).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&meta);
        #[cfg(not(unix))]
        let file = 0;
        Some(Stamp { length: meta.len(), modified: meta.modified().ok(), file })
    }
}

static SOURCES: LazyLock<Mutex<HashMap<PathBuf, Arc<Source>>>> = LazyLock::new(Mutex::default);

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_url(location: &str) -> bool {
    location.contains("://")
}

/// What is current at a path or URL. What was checked so recently is not checked again.
fn current(location: &str, fresh: Duration) -> Result<Arc<Opened>, String> {
    if location.is_empty() {
        return Err("the path of a database is empty".into());
    }
    let name = if is_url(location) {
        PathBuf::from(location)
    } else {
        std::path::absolute(location).map_err(|e| format!("{location}: {e}"))?
    };
    let source = {
        let mut sources = held(&SOURCES);
        if !sources.contains_key(&name) && sources.len() >= KEPT {
            // One that is being opened at this moment is in use.
            let used = |source: &Arc<Source>| source.state.try_lock().map(|state| state.used).ok();
            let oldest = sources.iter().filter_map(|(name, source)| Some((used(source)?, name.clone()))).min();
            if let Some((_, oldest)) = oldest {
                sources.remove(&oldest);
            }
        }
        let now = Instant::now();
        let state = || Mutex::new(State { current: None, checked: now, used: now });
        sources
            .entry(name.clone())
            .or_insert_with(|| Arc::new(Source { location: location.to_owned(), path: name, state: state() }))
            .clone()
    };
    let result = source.current(fresh);
    if result.is_err() {
        let mut sources = held(&SOURCES);
        let is_closed = |source: &mut Arc<Source>| source.state.try_lock().is_ok_and(|state| state.current.is_none());
        sources.retain(|_, other| !Arc::ptr_eq(other, &source) || !is_closed(other));
    }
    result
}

impl Source {
    fn current(&self, fresh: Duration) -> Result<Arc<Opened>, String> {
        let state = &mut *held(&self.state);
        let now = Instant::now();
        state.used = now;
        if let Some(current) = &mut state.current {
            let elsewhere = is_url(&self.location);
            let fresh = if elsewhere { fresh.max(FRESH_ELSEWHERE) } else { fresh };
            if now.duration_since(state.checked) < fresh {
                return Ok(current.opened.clone());
            }
            if self.renew(current)? {
                let opened = current.opened.clone();
                state.checked = now;
                return Ok(opened);
            }
        }
        let current = self.open()?;
        let opened = current.opened.clone();
        state.current = Some(current);
        state.checked = now;
        Ok(opened)
    }

    /// Makes what is open what is there. False if it must be opened again.
    fn renew(&self, current: &mut Current) -> Result<bool, String> {
        match &current.kind {
            Kind::Store(store) => {
                if store.refresh().map_err(|error| explain(&self.location, &error))? {
                    current.opened = self.opened(store.database());
                }
                Ok(true)
            }
            Kind::Local(stamp) => Ok(*stamp == Stamp::of(&self.path) && !is_store(&self.path)),
            Kind::Elsewhere => {
                let database = Database::open(&self.location).map_err(|error| explain(&self.location, &error))?;
                if database.id() != current.opened.database.id() {
                    current.opened = self.opened(Arc::new(database));
                }
                Ok(true)
            }
        }
    }

    fn open(&self) -> Result<Current, String> {
        let explain = |error: Error| explain(&self.location, &error);
        let path = &self.path;
        if is_url(&self.location) || is_store(path) {
            match Store::open(path) {
                Ok(store) => {
                    return Ok(Current { opened: self.opened(store.database()), kind: Kind::Store(Box::new(store)) })
                }
                Err(Error::NotADatabase { reason, .. }) if reason.starts_with("no store") => {}
                Err(error) => return Err(explain(error)),
            }
        }
        let stamp = Stamp::of(path);
        let database = Database::open(path).map_err(explain)?;
        let kind = if is_url(&self.location) { Kind::Elsewhere } else { Kind::Local(stamp) };
        Ok(Current { opened: self.opened(Arc::new(database)), kind })
    }

    fn opened(&self, database: Arc<Database>) -> Arc<Opened> {
        Arc::new(Opened { database, location: self.location.clone(), rows: OnceLock::new(), parts: OnceLock::new() })
    }
}

fn is_store(path: &Path) -> bool {
    path.join("CURRENT").symlink_metadata().is_ok()
}

/// What a call in a planned statement reads. Its executions lease it.
pub struct Pin {
    location: String,
    state: Mutex<Pinned>,
}

struct Pinned {
    opened: Arc<Opened>,
    /// The execution that is under way.
    lease: Weak<Lease>,
    used: Instant,
}

/// What an execution reads. Its threads share it.
pub struct Lease {
    pub opened: Arc<Opened>,
    pin: Arc<Pin>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        held(&self.pin.state).used = Instant::now();
    }
}

/// Pins of each connection that are not older than [`FRESH`], so that all calls of a query share one.
static RECENT: LazyLock<Mutex<RecentPins>> = LazyLock::new(Mutex::default);

/// By the connection and the path.
type RecentPins = HashMap<(u64, String), (Instant, Weak<Pin>)>;

impl Pin {
    /// Pins what is current. All calls in a query that read the same database get the same version.
    pub fn new(location: &str, context: Option<&Context>) -> Result<Arc<Pin>, String> {
        let Some(context) = context else { return Pin::of(location) };
        context.require_files()?;
        let now = Instant::now();
        let mine = (context.connection(), location.to_owned());
        {
            let mut recent = held(&RECENT);
            recent.retain(|_, (at, pin)| now.duration_since(*at) < FRESH && pin.strong_count() > 0);
            if let Some(pin) = recent.get(&mine).and_then(|(_, pin)| pin.upgrade()) {
                return Ok(pin);
            }
        }
        let pin = Pin::of(location)?;
        held(&RECENT).insert(mine, (now, Arc::downgrade(&pin)));
        Ok(pin)
    }

    fn of(location: &str) -> Result<Arc<Pin>, String> {
        let opened = current(location, Duration::ZERO)?;
        let state = Mutex::new(Pinned { opened, lease: Weak::new(), used: Instant::now() });
        Ok(Arc::new(Pin { location: location.to_owned(), state }))
    }

    /// What was current when this was pinned.
    pub fn opened(&self) -> Arc<Opened> {
        held(&self.state).opened.clone()
    }

    /// Begins to read in one thread, with the version that the others read. If there are none and a while has passed, a
    /// prepared statement is executed again, and reads what is current now.
    pub fn lease(self: &Arc<Self>) -> Result<Arc<Lease>, String> {
        let mut state = held(&self.state);
        if let Some(lease) = state.lease.upgrade() {
            return Ok(lease);
        }
        if state.used.elapsed() > FRESH {
            state.opened = current(&self.location, FRESH)?;
            state.used = Instant::now();
        }
        let lease = Arc::new(Lease { opened: state.opened.clone(), pin: self.clone() });
        state.lease = Arc::downgrade(&lease);
        Ok(lease)
    }
}

/// Pins by their paths, for paths that are only known when a query is executed.
#[derive(Default)]
pub struct Pins(Mutex<HashMap<String, Arc<Pin>>>);

impl Pins {
    pub fn lease(&self, location: &str) -> Result<Arc<Lease>, String> {
        let pin = match held(&self.0).entry(location.to_owned()) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => entry.insert(Pin::of(location)?).clone(),
        };
        pin.lease()
    }
}

/// What is current now, for calls of which DuckDB does not tell the query.
pub fn latest(location: &str) -> Result<Arc<Opened>, String> {
    current(location, FRESH)
}
