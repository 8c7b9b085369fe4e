//! Databases that are not on this machine, read where they lie: by requests for ranges of objects.

pub(crate) mod ahead;
mod attempt;
mod cache_directory;
pub(crate) mod file;
mod hedge;
pub(crate) mod lookup;
mod memory;
pub(crate) mod once;
pub(crate) mod options;
mod page_file;
mod page_layout;
mod profile;
pub(crate) mod runtime;
mod store;
mod transport;
mod url;
pub(crate) mod whole;
mod window;

use std::future::Future;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::path::Path as ObjectPath;
use object_store::ObjectStore;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::error::{Error, RemoteKind, Result};
use crate::file::current::{self, CURRENT};
use crate::file::directory::{Manifest, MAX_PAGES};
use crate::format::facts::MANIFEST;
use crate::format::page::SIZE;
use attempt::Lost;
use hedge::Hedges;
use memory::PageCache;
use options::{Counters, Remote, Traffic};
use page_file::PageFile;
use runtime::{Entered, PerProcess};
use transport::{Got, Reason, Tag};
use url::{Scheme, Url};

/// What to do without credentials for Amazon.
const NO_AWS_CREDENTIALS: &str = "no credentials for Amazon S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for \
    example by: eval \"$(aws configure export-credentials --format env)\"; or AWS_PROFILE to a profile that has such \
    keys; or AWS_SKIP_SIGNATURE=true for public data";

/// A directory elsewhere. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Place {
    shared: Arc<Shared>,
    /// The names that precede those of the files.
    prefix: String,
    path: PathBuf,
}

/// What the directories of a database have in common.
struct Shared {
    url: Url,
    remote: Remote,
    counters: Counters,
    /// The number of the next file.
    files: AtomicU32,
    /// Whether long pieces are kept in memory: while each record that is passed is looked up, too.
    keeps_pieces: AtomicBool,
    lives: PerProcess<Live>,
}

/// What a process has: connections, and pages in memory and on disk.
pub(crate) struct Live {
    store: Arc<dyn ObjectStore>,
    handle: &'static Handle,
    permits: Semaphore,
    hedges: Hedges,
    pub(crate) cache: PageCache,
    disk: Option<Arc<PageFile>>,
}

/// An object, and how messages call it.
pub(crate) struct Object {
    name: ObjectPath,
    pub(crate) path: PathBuf,
}

/// What is at a place.
pub(crate) enum Begun {
    /// A store with this version.
    Version(String),
    /// A database or a set.
    Manifest(Manifest),
}

impl Place {
    /// The place of a URL; None if this is a path.
    pub(crate) fn of(path: &Path, remote: &Remote) -> Result<Option<Place>> {
        let Some(url) = Url::parse(path)? else { return Ok(None) };
        let (prefix, path) = (url.prefix.clone(), PathBuf::from(&url.shown));
        let shared = Shared {
            url,
            remote: remote.clone(),
            counters: Counters::default(),
            files: AtomicU32::new(0),
            keeps_pieces: AtomicBool::new(false),
            lives: PerProcess::new(),
        };
        let place = Place { shared: Arc::new(shared), prefix, path };
        place.live()?;
        Ok(Some(place))
    }

    /// A directory in this one.
    pub(crate) fn join(&self, name: &str) -> Place {
        let prefix = if self.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) };
        Place { shared: self.shared.clone(), prefix, path: self.path.join(name) }
    }

    /// The URL, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.shared.counters.traffic()
    }

    pub(crate) fn remote(&self) -> &Remote {
        &self.shared.remote
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// What this process has; another one if it was forked.
    pub(crate) fn live(&self) -> Result<&Live> {
        let Shared { url, remote, lives, .. } = &*self.shared;
        lives.get(|| {
            let handle = runtime::handle().map_err(|e| Error::io(&self.path, e))?;
            let _entered = handle.enter();
            Ok(Live {
                store: store::build(url, remote)?,
                handle,
                permits: Semaphore::new(remote.requests),
                hedges: Hedges::default(),
                cache: PageCache::new(remote.memory),
                disk: remote.page_file()?.map(Arc::new),
            })
        })
    }

    /// A future for any executor.
    pub(crate) fn entered<F: Future>(&self, future: F) -> Result<Entered<F>> {
        Ok(Entered::new(future, self.live()?.handle))
    }

    /// Waits for a future. Each request has a deadline of its own; should they fail to end, this does.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        let limit = self.shared.remote.deadline + Duration::from_secs(10);
        let mut last = (self.traffic(), Instant::now());
        let waited = runtime::wait(future, self.live()?.handle, || {
            let now = self.traffic();
            if now != last.0 {
                last = (now, Instant::now());
            }
            last.1.elapsed() < limit
        });
        waited.unwrap_or_else(|| {
            Err(Error::Remote {
                kind: RemoteKind::Late,
                location: self.path.display().to_string(),
                message: format!("nothing happened for {} s; try again", limit.as_secs()),
            })
        })
    }

    /// An object at this place.
    pub(crate) fn object(&self, name: &str) -> Object {
        let full = self.join(name);
        // Names of files hold no control characters, and prefixes were checked: nothing is encoded twice.
        let name = ObjectPath::parse(&full.prefix).unwrap_or_else(|_| ObjectPath::from(full.prefix.as_str()));
        Object { name, path: full.path }
    }

    /// The number of a file among those of the place.
    pub(crate) fn next_file(&self) -> u32 {
        self.shared.files.fetch_add(1, Relaxed)
    }

    /// Says whether long pieces are kept in memory.
    pub(crate) fn keep_pieces(&self, keep: bool) {
        self.shared.keeps_pieces.store(keep, Relaxed);
    }

    pub(crate) fn keeps_pieces(&self) -> bool {
        self.shared.keeps_pieces.load(Relaxed)
    }

    /// A range of an object; asks again as long as that may help.
    pub(crate) async fn range(
        &self,
        live: &Live,
        object: &Object,
        range: Range<u64>,
        tag: Option<&Tag>,
    ) -> std::result::Result<Got, Lost> {
        attempt::request(live, &self.shared.remote, &self.shared.counters, object, Some(range), tag, 0).await
    }

    /// The bytes of a small object.
    async fn small(&self, live: &Live, object: &Object, most: u64) -> std::result::Result<Got, Lost> {
        attempt::request(live, &self.shared.remote, &self.shared.counters, object, None, None, most).await
    }

    /// The version that the file `CURRENT` names, if there is one.
    pub(crate) fn version(&self) -> Result<Option<String>> {
        self.wait(self.read_version())
    }

    async fn read_version(&self) -> Result<Option<String>> {
        let object = self.object(CURRENT);
        match self.small(self.live()?, &object, current::MAX_BYTES).await {
            Ok(got) => current::named(&object.path, &String::from_utf8_lossy(&got.bytes)).map(Some),
            Err(lost) if lost.reason() == Reason::Missing => Ok(None),
            Err(lost) => Err(self.error(&object, lost)),
        }
    }

    /// Reads and checks the manifest.
    pub(crate) fn manifest(&self) -> Result<Manifest> {
        let object = self.object(MANIFEST);
        let live = self.live()?;
        let read = || {
            let got = self.wait(async {
                self.small(live, &object, MAX_PAGES * SIZE as u64).await.map_err(|lost| match lost.reason() {
                    Reason::Missing => self.nothing_here(),
                    _ => self.error(&object, lost),
                })
            })?;
            Manifest::of(object.path.clone(), &got.bytes)
        };
        match read() {
            // Perhaps it was damaged on its way, or replaced meanwhile.
            Err(Error::Damaged { .. }) => read(),
            read => read,
        }
    }

    /// Finds out what is here. Asks for both files at once; without the permission to list a bucket, a missing file
    /// may not be told from a forbidden one.
    pub(crate) fn begin(&self) -> Result<Begun> {
        let (current, manifest) = (self.object(CURRENT), self.object(MANIFEST));
        let live = self.live()?;
        let (named, read) = self.wait(async {
            Ok(futures_util::future::join(
                self.small(live, &current, current::MAX_BYTES),
                self.small(live, &manifest, MAX_PAGES * SIZE as u64),
            )
            .await)
        })?;
        let lacks = |lost: &Lost| matches!(lost.reason(), Reason::Missing | Reason::Denied);
        match (named, read) {
            (Ok(got), _) => current::named(&current.path, &String::from_utf8_lossy(&got.bytes)).map(Begun::Version),
            (Err(lost), Ok(got)) if lacks(&lost) => match Manifest::of(manifest.path, &got.bytes) {
                Err(Error::Damaged { .. }) => self.manifest(),
                checked => checked,
            }
            .map(Begun::Manifest),
            (Err(lost), Ok(_)) => Err(self.error(&current, lost)),
            (Err(named), Err(read)) => Err(match (named.reason(), read.reason()) {
                (Reason::Missing, Reason::Missing) => self.nothing_here(),
                (_, Reason::Missing) => self.error(&current, named),
                _ => self.error(&manifest, read),
            }),
        }
    }

    fn nothing_here(&self) -> Error {
        let reason = "no manifest.bsdb here, and no file CURRENT of a store; check the URL";
        Error::NotADatabase { path: self.path.clone(), reason: reason.into() }
    }

    /// An error about an object, which says what to do.
    pub(crate) fn error(&self, object: &Object, lost: Lost) -> Error {
        let text = &lost.failure.text;
        let tried = || format!("{} attempts in {:.1} s", lost.attempts, lost.time.as_secs_f64());
        let (kind, message) = match lost.reason() {
            Reason::Missing => (RemoteKind::Missing, "no such object; the database was replaced or removed: open it again".into()),
            Reason::Denied => (RemoteKind::Denied, format!("{}: {text}", self.permission())),
            Reason::Changed => (RemoteKind::Changed, changed("its ETag is another one")),
            Reason::Busy => (RemoteKind::Busy, format!("{text}: {}; try again, or with fewer requests at once", tried())),
            Reason::Late => {
                (RemoteKind::Late, format!("no answer: {}; try again, or with a later deadline", tried()))
            }
            Reason::Wrong | Reason::Broken if text.contains("certificate") => (
                RemoteKind::Server,
                format!("{text}; install the certificates of your system (ca-certificates), or set SSL_CERT_FILE"),
            ),
            Reason::Broken => {
                (RemoteKind::Unreachable, format!("{text}: {}; check the URL and the network", tried()))
            }
            Reason::Wrong if text.contains("AWS_REGION") => (RemoteKind::Server, text.clone()),
            Reason::Wrong | Reason::Short => (
                RemoteKind::Server,
                format!("{text}; the server must send ranges of objects as they are (status 206, Content-Range, Content-Length)"),
            ),
        };
        Error::Remote { kind, location: object.path.display().to_string(), message }
    }

    /// What is needed to read.
    fn permission(&self) -> &'static str {
        match self.shared.url.scheme {
            Scheme::S3 => {
                "access denied; the credentials (AWS_ACCESS_KEY_ID and others, those of a profile, or those of the machine) \
                 need s3:GetObject there"
            }
            Scheme::Google => "access denied; the credentials (GOOGLE_APPLICATION_CREDENTIALS) need storage.objects.get there",
            Scheme::Azure => "access denied; the credentials (AZURE_STORAGE_ACCOUNT_KEY and others) need to read blobs there",
            Scheme::Http => "access denied by the web server",
        }
    }
}

/// A message about an object that is another one now.
pub(crate) fn changed(how: &str) -> String {
    format!(
        "was replaced while the database was open ({how}); open it again, and publish new versions under new names: bsdb \
         publish"
    )
}
