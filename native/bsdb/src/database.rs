//! An open database: one directory, or the shards of a set.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;

use crate::batch;
use crate::error::{Error, Result};
use crate::file::directory::Manifest;
use crate::file::origin::Origin;
use crate::file::paged::Access;
use crate::format::elements::ValueElements;
use crate::format::facts::{Facts, HashKind, Layout};
use crate::format::frame::hex;
use crate::format::page::SIZE;
use crate::layout::{Scratch, KEEP};
use crate::memory;
use crate::options::Options;
use crate::order::cursor::OrderCursor;
use crate::order::key_range::KeyRange;
use crate::order::walk::Range;
#[cfg(feature = "remote")]
use crate::remote::{lookup, options::Traffic};
use crate::scan::Scan;
use crate::shards::Shards;
use crate::single::Found;
#[cfg(feature = "remote")]
use crate::single::Single;
use crate::verify::{self, GoOn, Verified};

/// An open database, set of shards or part of a set. Immutable; any number of threads can use it at once.
pub struct Database {
    shards: Shards,
}

/// Facts about a database, from its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Records that lookups can find; of a set that is held in part, those of the shards that are held.
    pub records: u64,
    /// Records that were dropped in favor of another one with the same key.
    pub duplicates_dropped: u64,
    /// Bytes of all keys given to the build.
    pub key_bytes: u64,
    /// Bytes of all values given to the build, before compression or truncation.
    pub value_bytes: u64,
    /// Length of the longest key.
    pub longest_key: u64,
    /// Length of the longest value.
    pub longest_value: u64,
    /// The elements of every value, if all values are vectors of one length.
    pub elements: Option<ValueElements>,
    /// How records are stored.
    pub layout: Layout,
    /// The kind of the minimal perfect hash function: `gov3-bucketed`, `ptr` or `none`.
    pub hash_kind: &'static str,
    /// Checksum bits of the hash function for each record.
    pub checksum_bits: u32,
    /// Whether values are kept in the index, without keys.
    pub approximate: bool,
    /// Bytes kept of a value in approximate mode, otherwise 0.
    pub kept_bytes: usize,
    /// Whether there is a filter of absent keys.
    pub filter: bool,
    /// Whether the order of the keys was stored.
    pub ordered: bool,
    /// Whether blocks are compressed with a dictionary.
    pub dictionary: bool,
    /// Shards of the whole set; 1 without shards.
    pub shards: u32,
    /// Shards that are held.
    pub shards_held: u32,
    /// Number of files, manifests included.
    pub files: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
}

impl Database {
    /// Opens a database, a set of shards, or the current version of a store. Takes the same time for every
    /// size of a database: it reads the manifest, and the header and footer of each file.
    pub fn open(path: impl AsRef<Path>) -> Result<Database> {
        Database::open_with(path, Options::default())
    }

    /// Opens a database with options.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Database> {
        let (origin, manifest) = Origin::of(path.as_ref(), &options)?.begin()?;
        Database::open_at(&origin, manifest, options)
    }

    pub(crate) fn shards(&self) -> &Shards {
        &self.shards
    }

    /// Opens a directory with a manifest.
    pub(crate) fn open_directory(path: &Path, options: Options) -> Result<Database> {
        Database::open_at(&Origin::local(path), None, options)
    }

    /// Opens what has a manifest, which may have been read already.
    pub(crate) fn open_at(origin: &Origin, manifest: Option<Manifest>, options: Options) -> Result<Database> {
        Ok(Database { shards: Shards::open(origin, manifest, options)? })
    }

    /// The directory of the database; of a store, that of the version.
    pub fn path(&self) -> &Path {
        &self.shards.path
    }

    /// The id of the database or set: 32 hexadecimal digits that depend on every byte of it.
    pub fn id(&self) -> String {
        hex(&self.shards.id)
    }

    /// The number of records that lookups can find.
    pub fn len(&self) -> u64 {
        self.shards.held().map(|single| single.facts.records).sum()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How records are stored.
    pub fn layout(&self) -> Layout {
        self.shards.facts().layout
    }

    /// Whether values are kept in the index, without keys: a lookup of an absent key may then return
    /// another key's value, and values may be cut short.
    pub fn is_approximate(&self) -> bool {
        self.layout() == Layout::None
    }

    /// The schema of typed rows as JSON, if values are rows in Avro's binary encoding.
    pub fn schema(&self) -> Option<&str> {
        self.shards.facts().schema.as_deref()
    }

    /// The elements of every value, if all values are vectors of one length.
    pub fn elements(&self) -> Option<ValueElements> {
        self.shards.facts().elements
    }

    /// What the manifest says.
    pub fn statistics(&self) -> Statistics {
        let facts = self.shards.facts();
        let sum = |of: fn(&Facts) -> u64| {
            self.shards.held().fold(0, |sum: u64, single| sum.saturating_add(of(&single.facts)))
        };
        let most = |of: fn(&Facts) -> u64| self.shards.held().map(|single| of(&single.facts)).max().unwrap_or(0);
        let manifests: u64 = self.shards.held().map(|single| single.manifest_bytes).sum();
        let set = u64::from(self.shards.set.is_some());
        Statistics {
            records: self.len(),
            duplicates_dropped: sum(|facts| facts.dropped),
            key_bytes: sum(|facts| facts.key_bytes),
            value_bytes: sum(|facts| facts.value_bytes),
            longest_key: most(|facts| facts.longest_key),
            longest_value: most(|facts| facts.longest_value),
            elements: facts.elements,
            layout: facts.layout,
            hash_kind: match facts.hash {
                HashKind::Gov => "gov3-bucketed",
                HashKind::Ptr => "ptr",
                HashKind::None => "none",
            },
            checksum_bits: facts.checksum_bits,
            approximate: self.is_approximate(),
            kept_bytes: facts.width,
            filter: facts.filter.is_some(),
            ordered: self.is_ordered(),
            dictionary: self.shards.held().any(|single| single.dictionary.is_some()),
            shards: facts.shards,
            shards_held: self.shards.held().count() as u32,
            files: set + self.shards.held().map(|single| 1 + single.facts.files.len() as u64).sum::<u64>(),
            file_bytes: self.shards.set_bytes
                + manifests
                + sum(|facts| facts.files.iter().map(|file| file.pages * SIZE as u64).sum()),
        }
    }

    /// The value of a key, or None if there is no such key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.get_ref(key)? {
            Some(Cow::Borrowed(found)) => memory::copy(found, self.path()).map(Some),
            found => Ok(found.map(Cow::into_owned)),
        }
    }

    /// Replaces the content of a buffer by the value of a key and returns true, or returns false if there is
    /// no such key. The buffer is then empty.
    pub fn get_into(&self, key: &[u8], buffer: &mut Vec<u8>) -> Result<bool> {
        buffer.clear();
        let found = self.find(key, |found| {
            memory::reserve(buffer, found.len(), self.path())?;
            buffer.extend_from_slice(found);
            Ok(())
        })?;
        Ok(found.transpose()?.is_some())
    }

    /// The value of a key where it lies in the mapped file, or a copy if it does not lie there in one piece:
    /// values that are compressed or longer than a page, and values of databases that are not mapped.
    #[inline]
    pub fn get_ref(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        let single = self.shards.single_of(key)?;
        if let Some(found) = single.glance(key) {
            return Ok(found.map(Cow::Borrowed));
        }
        with_scratch(|scratch| match single.find(key, scratch)? {
            // A long value is not copied again: its buffer would be freed.
            Some(Found::Raw(range)) if range.len() > KEEP && range == (0..scratch.work.raw.len()) => {
                Ok(Some(Cow::Owned(std::mem::take(&mut scratch.work.raw))))
            }
            found => found.map(|found| cow(found, scratch, self.path())).transpose(),
        })
    }

    /// Whether there is a key. In approximate mode the answer may be true for an absent key.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        Ok(self.find(key, |_| ())?.is_some())
    }

    /// Passes the value of a key to a function, without a copy if possible.
    #[inline]
    pub fn find<R>(&self, key: &[u8], value: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let single = self.shards.single_of(key)?;
        if let Some(found) = single.glance(key) {
            return Ok(found.map(value));
        }
        with_scratch(|scratch| Ok(single.find(key, scratch)?.map(|found| value(found.bytes(scratch)))))
    }

    /// Like [`find`](Database::find), if the answer is at hand: mapped, read before, and not long. Otherwise the outer
    /// `None`: a lookup may have to wait for the device, or takes its time. For callers that hold a lock.
    #[inline]
    pub fn find_at_hand<R>(&self, key: &[u8], value: impl FnOnce(&[u8]) -> R) -> Result<Option<Option<R>>> {
        if self.shards.options.access != Access::Mapped {
            return Ok(None);
        }
        #[cfg(feature = "remote")]
        if self.shards.place().is_some() {
            let found = lookup::at_hand(&self.shards, key)?;
            return Ok(found.map(|found| found.map(|found| value(&found))));
        }
        let single = self.shards.single_of(key)?;
        if let Some(found) = single.glance(key) {
            return Ok(Some(found.map(value)));
        }
        with_scratch(|scratch| {
            let found = single.find_at_hand(key, scratch)?;
            Ok(found.map(|found| found.map(|found| value(found.bytes(scratch)))))
        })
    }

    /// The values of many keys, in order. Much quicker than one lookup after the other: the steps of all keys
    /// interleave, so that their waits for memory overlap; with [`Access::Direct`] the device has all reads
    /// before it at once.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        let mut values = memory::with_capacity(keys.len(), self.path())?;
        with_scratch(|scratch| {
            batch::each(&self.shards, keys, scratch, |_, found, scratch| {
                values.push(found.map(|found| cow(found, scratch, self.path())).transpose()?);
                Ok(())
            })
        })?;
        Ok(values)
    }

    /// Passes the values of many keys to a function, in order: the number of the key, and its value or None.
    pub fn find_many<K, F>(&self, keys: &[K], mut value: F) -> Result<()>
    where
        K: AsRef<[u8]>,
        F: FnMut(usize, Option<&[u8]>),
    {
        with_scratch(|scratch| {
            batch::each(&self.shards, keys, scratch, |i, found, scratch| {
                value(i, found.as_ref().map(|found| found.bytes(scratch)));
                Ok(())
            })
        })
    }

    /// Like [`get`](Database::get), for callers that must not block: the future works under any executor. Lookups in
    /// local databases are answered at once. A lookup ends when the future is dropped.
    #[cfg(feature = "remote")]
    pub async fn aget(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.shards.place() {
            Some(place) => place.entered(lookup::one(&self.shards, key))?.await,
            None => self.get(key),
        }
    }

    /// Like [`get_many`](Database::get_many), for callers that must not block: see [`aget`](Database::aget).
    #[cfg(feature = "remote")]
    pub async fn aget_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>> {
        match self.shards.place() {
            Some(place) => place.entered(lookup::all(&self.shards, place, keys))?.await,
            None => Ok(self.get_many(keys)?.into_iter().map(|value| value.map(Cow::into_owned)).collect()),
        }
    }

    /// What reading this database took so far, from the time it was opened.
    #[cfg(feature = "remote")]
    pub fn traffic(&self) -> Traffic {
        self.shards.place().map(|place| place.traffic()).unwrap_or_default()
    }

    /// Whether the database is not on this machine.
    pub fn is_remote(&self) -> bool {
        #[cfg(feature = "remote")]
        return self.shards.place().is_some();
        #[cfg(not(feature = "remote"))]
        false
    }

    /// All records, as an iterator: in the order of the build's input, or in that of signatures in the packed
    /// layouts. Shards follow each other.
    ///
    /// Fails in approximate mode, which keeps no keys.
    pub fn scan(&self) -> Result<Scan<'_>> {
        if self.is_approximate() {
            return Err(Error::Impossible(format!(
                "{}: an approximate database keeps no keys, so its records cannot be listed",
                self.shards.path.display()
            )));
        }
        Ok(Scan::new(self.shards.held().collect()))
    }

    /// Whether the order of the keys was stored, which [`range`](Database::range) and the other questions about
    /// the order need.
    pub fn is_ordered(&self) -> bool {
        self.shards.held().all(|single| single.order.is_some())
    }

    /// The records of a range, as an iterator in the order of keys; in a set, those of all shards that are held,
    /// merged.
    ///
    /// It reads in batches, which grow up to 128 records. Fails unless the database [is
    /// ordered](Database::is_ordered).
    ///
    /// ```no_run
    /// # let db = bsdb::Database::open("rdb")?;
    /// use bsdb::KeyRange;
    /// for record in db.range(KeyRange::all().from("2026-11").to("2026-12"))?.descending() {
    ///     let (key, value) = record?;
    /// }
    /// for key in db.prefix("user:42:")?.keys() {
    ///     let key = key?; // no record was read
    /// }
    /// # Ok::<(), bsdb::Error>(())
    /// ```
    pub fn range(&self, range: KeyRange) -> Result<Range<'_>> {
        Range::new(&self.shards, range)
    }

    /// The records whose keys begin with some bytes, in the order of keys.
    pub fn prefix(&self, prefix: impl AsRef<[u8]>) -> Result<Range<'_>> {
        self.range(KeyRange::prefix(prefix))
    }

    /// The number of keys in a range. Reads two leaves of the order at most, in a set of each shard.
    pub fn count(&self, range: &KeyRange) -> Result<u64> {
        let mut count = 0;
        for (_, tree) in self.shards.orders()? {
            if range.is_empty() {
                continue;
            }
            let mut cursor = OrderCursor::new(tree);
            let end = match range.end() {
                Some(end) => cursor.rank(end)?,
                None => tree.records(),
            };
            count += end.saturating_sub(cursor.rank(range.start())?);
        }
        Ok(count)
    }

    /// The first key, or None if there are no records.
    pub fn first_key(&self) -> Result<Option<Vec<u8>>> {
        self.least(|cursor| cursor.first())
    }

    /// The last key, or None if there are no records.
    pub fn last_key(&self) -> Result<Option<Vec<u8>>> {
        self.greatest(|cursor| cursor.last())
    }

    /// The greatest key that is not greater than the given one.
    pub fn floor_key(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.greatest(|cursor| cursor.floor(key))
    }

    /// The least key that is not less than the given one.
    pub fn ceiling_key(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.least(|cursor| cursor.ceiling(key))
    }

    fn least(&self, seek: impl Fn(&mut OrderCursor<'_>) -> Result<bool>) -> Result<Option<Vec<u8>>> {
        Ok(self.sought(seek)?.into_iter().min())
    }

    fn greatest(&self, seek: impl Fn(&mut OrderCursor<'_>) -> Result<bool>) -> Result<Option<Vec<u8>>> {
        Ok(self.sought(seek)?.into_iter().max())
    }

    /// The keys that a move of the cursor leads to in each database.
    fn sought(&self, seek: impl Fn(&mut OrderCursor<'_>) -> Result<bool>) -> Result<Vec<Vec<u8>>> {
        let mut keys = Vec::new();
        for (_, tree) in self.shards.orders()? {
            let mut cursor = OrderCursor::new(tree);
            if seek(&mut cursor)? {
                keys.push(cursor.key()?.to_vec());
            }
        }
        Ok(keys)
    }

    /// Checks every byte of every file and that each record is found by its key.
    pub fn verify(&self) -> Result<Verified> {
        self.verify_while(|| true)
    }

    /// Like [`verify`](Database::verify), but asks a function again and again whether to go on. If it says no, fails
    /// with [`Error::Stopped`].
    pub fn verify_while(&self, mut go_on: impl FnMut() -> bool) -> Result<Verified> {
        self.verify_asking(&mut || if go_on() { Ok(()) } else { Err(Error::Stopped) })
    }

    /// Checks the bytes alone: that all files have the content hashes of the manifest, so that the database is the one
    /// whose [id](Database::id) it has. Reads each file once, and looks up no key.
    ///
    /// Fails with [`Error::Impossible`] if there are no content hashes, because an older version wrote the database.
    pub fn verify_content(&self) -> Result<Verified> {
        self.verify_content_while(|| true)
    }

    /// Like [`verify_content`](Database::verify_content), but asks a function again and again whether to go on. If it says
    /// no, fails with [`Error::Stopped`].
    pub fn verify_content_while(&self, mut go_on: impl FnMut() -> bool) -> Result<Verified> {
        if !self.has_hashes() {
            return Err(Error::Impossible(format!(
                "{} has no content hashes, because an older version wrote it; verify it whole, or build it anew",
                self.shards.path.display()
            )));
        }
        self.require_frames()?;
        let mut verified = Verified { content_checked: true, ..Verified::default() };
        for single in self.shards.held() {
            verify::content(single, &mut verified, &mut || if go_on() { Ok(()) } else { Err(Error::Stopped) })?;
        }
        Ok(verified)
    }

    /// Whether the manifest states the content hash of each file.
    fn has_hashes(&self) -> bool {
        self.shards.held().all(verify::has_hashes)
    }

    fn verify_asking(&self, go_on: GoOn<'_>) -> Result<Verified> {
        if self.shards.reads_directly() {
            // One read from the device for each record would take days; the page cache is good enough here.
            let cached = Database::open_directory(&self.shards.path, self.shards.options.clone().access(Access::Read))?;
            if cached.shards.id == self.shards.id {
                return cached.verify_asking(go_on);
            }
        }
        #[cfg(feature = "remote")]
        if let Some(place) = self.shards.place() {
            self.require_verifiable(place.remote().memory)?;
        }
        self.require_frames()?;
        let mut verified = Verified { content_checked: self.has_hashes(), ..Verified::default() };
        for single in self.shards.held() {
            verify::single(single, &mut verified, go_on)?;
        }
        Ok(verified)
    }

    /// Fails if a database elsewhere would be verified by one request for each record.
    #[cfg(feature = "remote")]
    fn require_verifiable(&self, memory: u64) -> Result<()> {
        let bytes = self.statistics().file_bytes;
        let streamed = self.layout().is_packed() && !self.is_ordered() && memory >= 32 << 20;
        if !streamed && bytes > memory / 2 {
            return Err(Error::Impossible(format!(
                "{}: to verify these {bytes} bytes would take a request for each record; copy the database first: bsdb \
                 pull {0} DIR, then verify DIR; or open it with more memory",
                self.shards.path.display()
            )));
        }
        Ok(())
    }

    /// Checks headers and footers of a database elsewhere, which were not looked at when it was opened.
    fn require_frames(&self) -> Result<()> {
        #[cfg(feature = "remote")]
        for file in self.shards.held().flat_map(Single::files) {
            if let Some(remote) = file.remote() {
                remote.require_frames()?;
            }
        }
        Ok(())
    }

    /// Whether a directory still holds this database.
    pub(crate) fn is_still_at(&self, directory: &Origin) -> Result<bool> {
        Ok(directory.manifest()?.id == self.shards.id)
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({}, {} records, {})", self.shards.path.display(), self.len(), self.layout())
    }
}

#[inline(always)]
fn cow<'db>(found: Found<'db>, scratch: &Scratch, path: &Path) -> Result<Cow<'db, [u8]>> {
    Ok(match found {
        Found::Mapped(bytes) => Cow::Borrowed(bytes),
        found => Cow::Owned(memory::copy(found.bytes(scratch), path)?),
    })
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Lends the buffers of the thread; new ones to a function that is called by another lookup's function, or while
/// the thread ends.
#[inline(always)]
fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut work = Some(work);
    let lent = SCRATCH.try_with(|scratch| {
        let mut scratch = scratch.try_borrow_mut().ok()?;
        let result = work.take()?(&mut scratch);
        scratch.trim();
        Some(result)
    });
    match (lent, work) {
        (Ok(Some(result)), _) => result,
        (_, Some(work)) => work(&mut Scratch::default()),
        (_, None) => unreachable!("the work was done"),
    }
}
