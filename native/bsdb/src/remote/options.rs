//! How a database elsewhere is read, and what that took.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::cache_directory;
use super::page_file::PageFile;
use crate::error::Result;

/// How to read a database that is not on this machine. Local databases ignore it.
#[derive(Clone, PartialEq, Eq)]
pub struct Remote {
    pub(crate) memory: u64,
    page_bytes: u64,
    cache_dir: Option<PathBuf>,
    pub(crate) deadline: Duration,
    pub(crate) requests: usize,
    pub(crate) hedged: bool,
    pub(crate) settings: BTreeMap<String, String>,
}

impl Default for Remote {
    fn default() -> Self {
        Remote {
            memory: 64 << 20,
            page_bytes: 0,
            cache_dir: None,
            deadline: Duration::from_secs(30),
            requests: 256,
            hedged: false,
            settings: BTreeMap::new(),
        }
    }
}

impl Remote {
    /// The most bytes of verified pages that are kept in memory; 64 MiB unless set. Beside them, the whole index of the
    /// packed layouts, the hash function of the others, and the filter are kept.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The most bytes of a file that keeps pages on disk, which all databases and processes share, those of Java, too: 1
    /// MiB to 256 GiB, or 0, the default, for none. Every page that comes from it is verified. If the disk is full, no more
    /// pages are kept, which a line on standard error says once. See [`cache_dir`](Remote::cache_dir).
    pub fn page_bytes(mut self, bytes: u64) -> Self {
        self.page_bytes = bytes;
        self
    }

    /// The directory of the file for [`page_bytes`](Remote::page_bytes): unless set, what the variable `BSDB_CACHE` names,
    /// or `bsdb` in `XDG_CACHE_HOME` or in `~/.cache`. It is made for its owner alone, and refused if others may write to
    /// it.
    pub fn cache_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(directory.into());
        self
    }

    /// The pages on disk.
    pub(crate) fn page_file(&self) -> Result<Option<PageFile>> {
        if self.page_bytes == 0 {
            return Ok(None);
        }
        let directory = cache_directory::open(self.cache_dir.as_deref())?;
        PageFile::open(&directory.join("pages"), self.page_bytes)
    }

    /// How long one request is repeated while the server does not answer or is busy; 30 seconds unless set.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline.clamp(Duration::from_millis(10), Duration::from_secs(24 * 3600));
        self
    }

    /// The most requests under way at once; 256 unless set.
    pub fn requests(mut self, requests: usize) -> Self {
        self.requests = requests.clamp(1, 4096);
        self
    }

    /// Whether a read that takes longer than 95 of 100 is asked for a second time; not unless set. The quicker answer
    /// counts. At most 5 of 100 reads are, and never more than [`requests`](Remote::requests) are under way.
    pub fn hedged(mut self, hedged: bool) -> Self {
        self.hedged = hedged;
        self
    }

    /// A setting of the store, such as `aws_region`, `aws_access_key_id`, `aws_endpoint`, `aws_skip_signature`,
    /// `google_service_account`, `azure_storage_account_name` or `proxy_url`: the names of the crate `object_store`;
    /// or `aws_profile`, the profile of `~/.aws` to use. Settings of the environment, such as `AWS_REGION`, hold for what
    /// is not set here, and those of the profile for what is not set there.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.insert(name.into().to_ascii_lowercase(), value.into());
        self
    }
}

/// The values of settings may be secrets.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("memory", &self.memory)
            .field("page_bytes", &self.page_bytes)
            .field("cache_dir", &self.cache_dir)
            .field("deadline", &self.deadline)
            .field("requests", &self.requests)
            .field("hedged", &self.hedged)
            .field("settings", &self.settings.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// What reading a database took so far; zeros for a local one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Requests that were sent, those of credentials aside.
    pub requests: u64,
    /// Requests that were sent again, because the one before failed.
    pub retries: u64,
    /// Requests that were sent because others took unusually long.
    pub hedges: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Pages that were found in memory.
    pub pages_cached: u64,
    /// Pages that were found on disk.
    pub pages_on_disk: u64,
    /// Pages that were received.
    pub pages_received: u64,
}

/// Counts of a place.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) retries: AtomicU64,
    hedges: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) cached: AtomicU64,
    pub(crate) on_disk: AtomicU64,
    pub(crate) received: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Relaxed);
    }

    /// Counts a second request.
    pub(crate) fn hedged(&self) {
        Self::add(&self.requests, 1);
        Self::add(&self.hedges, 1);
    }

    pub(crate) fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Relaxed),
            retries: self.retries.load(Relaxed),
            hedges: self.hedges.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            pages_cached: self.cached.load(Relaxed),
            pages_on_disk: self.on_disk.load(Relaxed),
            pages_received: self.received.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_no_secrets() {
        let text = format!("{:?}", Remote::default().set("AWS_Secret_Access_Key", "hidden"));
        assert!(text.contains("aws_secret_access_key") && !text.contains("hidden"), "{text}");
    }
}
