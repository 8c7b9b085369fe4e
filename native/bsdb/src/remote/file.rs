//! A file elsewhere, whose pages are fetched when they are wanted.

use std::path::Path;
use std::sync::OnceLock;

use bytes::Bytes;
use futures_util::stream::{StreamExt, TryStreamExt};

use super::options::Counters;
use super::page_layout;
use super::transport::{Got, Reason, Tag};
use super::{changed, Live, Object, Place};
use crate::error::{Error, RemoteKind, Result};
use crate::file::paged::{require_frame, PagedFile};
use crate::format::facts::FileLine;
use crate::format::frame::Id;
use crate::format::page::{self, SIZE};
use crate::memory;

/// Pages between two that are wanted that are rather fetched than left out: a request costs more.
const GAP: u64 = 16;

/// The most pages of a request for pages of several lookups.
const MOST: u64 = 1024;

/// The most pages of a fetch that are kept in memory: longer values are not wanted often enough.
const KEPT: u64 = 64;

/// Runs of pages on disk that one thread reads, and groups of them that are read at once.
const DISK_RUNS: usize = 32;
const DISK_GROUPS: usize = 8;

/// A file of a database elsewhere. Thread-safe.
pub(crate) struct RemoteFile {
    place: Place,
    object: Object,
    line: FileLine,
    id: Id,
    /// Among the files of the place.
    number: u32,
    /// Among the files of all databases.
    identity: u64,
    verify: bool,
    /// What the first answer said of the object. A checksum binds a page to its place, not to its database, so that
    /// every answer must come from the same content.
    pinned: OnceLock<Option<Tag>>,
}

impl RemoteFile {
    pub(crate) fn new(place: &Place, line: &FileLine, id: &Id, verify: bool) -> RemoteFile {
        RemoteFile {
            object: place.object(&line.name(id)),
            line: line.clone(),
            id: *id,
            number: place.next_file(),
            identity: page_layout::identity(id, (line.kind as u64) << 8 | u64::from(line.number)),
            verify,
            pinned: OnceLock::new(),
            place: place.clone(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.object.path
    }

    /// The number of pages, header and footer included.
    pub(crate) fn pages_in_all(&self) -> u64 {
        self.line.pages
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Consecutive pages, verified; waits for them.
    pub(crate) fn read(&self, first: u64, count: u64) -> Result<Bytes> {
        let live = self.place.live()?;
        match self.cached(live, first, count)? {
            Some(bytes) => Ok(bytes),
            None => self.place.wait(self.pages(live, first, count)),
        }
    }

    /// Consecutive pages, verified.
    pub(crate) async fn pages(&self, live: &Live, first: u64, count: u64) -> Result<Bytes> {
        if let Some(bytes) = self.cached(live, first, count)? {
            return Ok(bytes);
        }
        if let Some(Some(bytes)) = self.on_disk(live, vec![(first, count)]).await.pop() {
            return Ok(bytes);
        }
        self.fetch(live, first, count, &[(first, count)]).await
    }

    /// Consecutive pages, if all are in memory.
    pub(crate) fn cached(&self, live: &Live, first: u64, count: u64) -> Result<Option<Bytes>> {
        if count > KEPT {
            return Ok(None);
        }
        let mut first_page = [0; SIZE];
        if !live.cache.copy((self.number, first), &mut first_page) {
            return Ok(None);
        }
        let mut bytes = memory::with_capacity(count as usize * SIZE, self.path())?;
        bytes.extend_from_slice(&first_page);
        bytes.resize(count as usize * SIZE, 0);
        for (number, page) in (first + 1..).zip(bytes[SIZE..].chunks_exact_mut(SIZE)) {
            if !live.cache.copy((self.number, number), page) {
                return Ok(None);
            }
        }
        Counters::add(&self.place.counters().cached, count);
        Ok(Some(bytes.into()))
    }

    /// Each of several runs of consecutive pages, if all of its pages are on disk and sound.
    async fn on_disk(&self, live: &Live, runs: Vec<(u64, u64)>) -> Vec<Option<Bytes>> {
        let Some(disk) = live.disk.clone() else { return Vec::new() };
        let identity = self.identity;
        let wanted = runs.clone();
        let read = live.handle.spawn_blocking(move || {
            let run = |(first, count)| {
                let mut bytes = memory::with_capacity(count as usize * SIZE, Path::new("")).ok()?;
                bytes.resize(count as usize * SIZE, 0);
                let mut pages = (first..).zip(bytes.chunks_exact_mut(SIZE));
                pages.all(|(number, page)| disk.read(identity, number, page)).then_some(bytes)
            };
            wanted.into_iter().map(|(first, count)| if count <= KEPT { run((first, count)) } else { None }).collect()
        });
        let found: Vec<Option<Vec<u8>>> = read.await.unwrap_or_default();
        let sound = |((first, _), bytes): ((u64, u64), Option<Vec<u8>>)| {
            let bytes = bytes?;
            let pages = || (first..).zip(bytes.chunks_exact(SIZE));
            if pages().any(|(number, page)| self.check(number, page).is_err()) {
                return None; // of no consequence: they come again from where the file is
            }
            pages().for_each(|(number, page)| live.cache.keep((self.number, number), page, false));
            Counters::add(&self.place.counters().on_disk, (bytes.len() / SIZE) as u64);
            Some(Bytes::from(bytes))
        };
        runs.into_iter().zip(found).map(sound).collect()
    }

    /// Fetches consecutive pages by one request, and verifies and keeps those that are wanted.
    pub(crate) async fn fetch(&self, live: &Live, first: u64, count: u64, wanted: &[(u64, u64)]) -> Result<Bytes> {
        let mut again = true;
        loop {
            let bytes = self.raw(live, first, count).await?;
            Counters::add(&self.place.counters().received, count);
            let slices = || {
                wanted.iter().flat_map(|&(from, pages)| {
                    let slice = &bytes[(from - first) as usize * SIZE..][..pages as usize * SIZE];
                    (from..).zip(slice.chunks_exact(SIZE))
                })
            };
            match slices().try_for_each(|(number, page)| self.verify(number, page)) {
                Ok(()) => {}
                // Perhaps it was damaged on its way.
                Err(_) if std::mem::take(&mut again) => continue,
                Err(error) => return Err(error),
            }
            let ahead = self.place.keeps_pieces();
            let short = wanted.iter().all(|&(_, pages)| pages <= KEPT);
            if ahead || short {
                slices().for_each(|(number, page)| live.cache.keep((self.number, number), page, ahead));
            }
            if let Some(disk) = live.disk.as_ref().filter(|_| short) {
                let sound = slices().filter(|&(number, page)| self.verify || self.check(number, page).is_ok());
                sound.for_each(|(number, page)| disk.write(self.identity, number, page));
            }
            return Ok(bytes);
        }
    }

    /// Fetches consecutive pages, which are not verified.
    pub(crate) async fn raw(&self, live: &Live, first: u64, count: u64) -> Result<Bytes> {
        let range = first * SIZE as u64..(first + count) * SIZE as u64;
        let tag = self.pinned.get().and_then(Option::as_ref);
        match self.place.range(live, &self.object, range, tag).await {
            Ok(got) => self.admit(live, got).await,
            Err(lost) if lost.reason() == Reason::Short => Err(match self.pinned.get() {
                Some(_) => self.replaced("it is shorter now".into()),
                None => self.wrong_size("fewer bytes"),
            }),
            Err(lost) => Err(self.place.error(&self.object, lost)),
        }
    }

    /// Checks that an answer comes from the same content as the ones before.
    async fn admit(&self, live: &Live, got: Got) -> Result<Bytes> {
        let known = self.pinned.get();
        if got.size != self.line.pages * SIZE as u64 {
            return Err(match known {
                Some(_) => self.replaced(format!("{} bytes instead of {}", got.size, self.line.pages * SIZE as u64)),
                None => self.wrong_size(format!("{} bytes", got.size)),
            });
        }
        if known.is_none() && got.tag.is_none() {
            // Nothing tells this content from another of the same size: at least the header must be the right one.
            let header = self.place.range(live, &self.object, 0..SIZE as u64, None).await;
            let header = header.map_err(|lost| self.place.error(&self.object, lost))?;
            require_frame(self.path(), &header.bytes, 0, &self.line, &self.id)?;
        }
        let pinned = self.pinned.get_or_init(|| got.tag.clone());
        if *pinned != got.tag {
            let shown = |tag: &Option<Tag>| tag.as_ref().map_or("none".to_owned(), Tag::to_string);
            return Err(self.replaced(format!("its ETag was {} and is {}", shown(pinned), shown(&got.tag))));
        }
        Ok(got.bytes)
    }

    fn wrong_size(&self, found: impl Into<String>) -> Error {
        let expected = self.line.pages * SIZE as u64;
        Error::damaged(self.path(), expected, format!("{expected} bytes, as the manifest says"), found)
    }

    fn replaced(&self, how: String) -> Error {
        let location = self.path().display().to_string();
        Error::Remote { kind: RemoteKind::Changed, location, message: changed(&how) }
    }

    fn verify(&self, number: u64, bytes: &[u8]) -> Result<()> {
        if self.verify {
            self.check(number, bytes)?;
        }
        Ok(())
    }

    fn check(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let computed = page::checksum(bytes, self.line.kind as u16, self.line.number, number);
        let stored = page::stored(bytes);
        if computed != stored {
            let expected = format!("a page with checksum {computed:08x}");
            return Err(Error::damaged(self.path(), number * SIZE as u64, expected, format!("{stored:08x}")));
        }
        Ok(())
    }

    /// Checks the header and the footer.
    pub(crate) fn require_frames(&self) -> Result<()> {
        let live = self.place.live()?;
        for number in [0, self.line.pages - 1] {
            let mut again = true;
            loop {
                let bytes = self.place.wait(self.raw(live, number, 1))?;
                match require_frame(self.path(), &bytes, number, &self.line, &self.id) {
                    Ok(()) => break,
                    Err(_) if std::mem::take(&mut again) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// Pages that a lookup wants.
#[derive(Clone, Copy)]
pub(crate) struct Want<'db> {
    pub(crate) file: &'db PagedFile,
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// Pages of one request: those of several lookups if they are near each other.
struct Joined<'db> {
    file: &'db RemoteFile,
    first: u64,
    end: u64,
    /// Numbers of the lookups.
    wants: Vec<usize>,
}

/// The pages that a lookup misses in memory: those of the file from a page on, so many, and the number of the lookup.
type Missing<'db> = (&'db RemoteFile, u64, u64, usize);

/// Finds pages on disk, several runs at once.
async fn find_on_disk(live: &Live, missing: &[Missing<'_>], found: &mut [Option<Bytes>]) {
    let groups = missing.chunk_by(|one, next| one.0.number == next.0.number).flat_map(|group| group.chunks(DISK_RUNS));
    let read = groups.map(|group| async move {
        let runs = group.iter().map(|&(_, first, count, _)| (first, count)).collect();
        (group, group[0].0.on_disk(live, runs).await)
    });
    let read: Vec<_> = read.collect();
    let mut read = futures_util::stream::iter(read).buffer_unordered(DISK_GROUPS);
    while let Some((group, runs)) = read.next().await {
        for (&(_, _, _, i), bytes) in group.iter().zip(runs) {
            found[i] = bytes;
        }
    }
}

/// The pages that lookups want, verified. All requests are under way at once, as far as they may be.
pub(crate) async fn fetch_all(place: &Place, wants: &[Option<Want<'_>>]) -> Result<Vec<Option<Bytes>>> {
    let live = place.live()?;
    let mut found = vec![None; wants.len()];
    let mut missing: Vec<Missing<'_>> = Vec::new();
    for (i, want) in wants.iter().enumerate() {
        let Some(Want { file, first, count }) = *want else { continue };
        file.require(first, count)?;
        match file.remote() {
            Some(remote) => match remote.cached(live, first, count)? {
                Some(bytes) => found[i] = Some(bytes),
                None => missing.push((&**remote, first, count, i)),
            },
            None => {
                let bytes = file.load(first, count, &mut Default::default())?.bytes().to_vec();
                found[i] = Some(bytes.into());
            }
        }
    }
    missing.sort_by_key(|&(file, first, count, _)| (file.number, first, count));
    if live.disk.is_some() {
        find_on_disk(live, &missing, &mut found).await;
        missing.retain(|&(_, _, _, i)| found[i].is_none());
    }
    let mut joined: Vec<Joined<'_>> = Vec::new();
    for (file, first, count, i) in missing {
        match joined.last_mut() {
            Some(last)
                if last.file.number == file.number
                    && first <= last.end + GAP
                    && last.end.max(first + count) - last.first <= MOST =>
            {
                last.end = last.end.max(first + count);
                last.wants.push(i);
            }
            _ => joined.push(Joined { file, first, end: first + count, wants: vec![i] }),
        }
    }
    let requests = place.remote().requests;
    // Collected: with the closure in it, the future would not be known to be `Send`.
    let asked = joined.into_iter().map(|joined| async move {
        let parts: Vec<(u64, u64)> = joined.wants.iter().flat_map(|&i| wants[i]).map(|w| (w.first, w.count)).collect();
        let bytes = joined.file.fetch(live, joined.first, joined.end - joined.first, &parts).await?;
        Ok::<_, Error>((joined, parts, bytes))
    });
    let asked: Vec<_> = asked.collect();
    let mut answers = futures_util::stream::iter(asked).buffer_unordered(requests);
    while let Some((joined, parts, bytes)) = answers.try_next().await? {
        for (i, (first, count)) in joined.wants.into_iter().zip(parts) {
            let from = (first - joined.first) as usize * SIZE;
            found[i] = Some(bytes.slice(from..from + count as usize * SIZE));
        }
    }
    Ok(found)
}
