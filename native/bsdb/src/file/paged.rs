//! A file of a database, whose pages are verified when they are first read.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(feature = "remote")]
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::format::content::ContentHash;
use crate::format::facts::FileLine;
use crate::format::frame::{self, hex, Id, Kind};
use crate::format::page::{self, SIZE};
use crate::layout::KEEP;
use crate::memory;
use crate::os::direct::{self, Pages};
use crate::os::map::{self, Mapping};
#[cfg(feature = "remote")]
use crate::remote::{ahead::Ahead, file::RemoteFile};

/// How the bytes of a file are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// From a mapping. The quickest by far if the data is in memory. A process that reads a mapped file
    /// that somebody shortens is killed by SIGBUS.
    #[default]
    Mapped,
    /// By system calls, through the page cache. Shortened data files are an error. The hash function, the
    /// index of the packed layouts and the filter are mapped in any case.
    Read,
    /// By system calls that bypass the page cache; batches through io_uring. For data much larger than
    /// memory. The same as `Read` on systems without direct reads.
    Direct,
}

enum Source {
    Mapped(Mapping),
    File(File),
    #[cfg(feature = "remote")]
    Remote(Arc<RemoteFile>),
}

/// A file whose header and footer were checked. Thread-safe.
pub(crate) struct PagedFile {
    path: PathBuf,
    kind: Kind,
    number: u16,
    pages: u64,
    digest: u64,
    content_hash: Option<ContentHash>,
    source: Source,
    checks: Checks,
}

/// Which pages were verified: one bit each. Only mapped files remember, since others are read each time.
struct Checks {
    done: Vec<AtomicU64>,
    enabled: bool,
}

impl Checks {
    #[inline(always)]
    fn is_done(&self, number: u64) -> bool {
        self.done.get((number / 64) as usize).is_some_and(|word| word.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }

    fn set_done(&self, number: u64) {
        if let Some(word) = self.done.get((number / 64) as usize) {
            word.fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
    }
}

/// Pages of a file: in its mapping, or in a buffer.
pub(crate) enum Loaded<'db, 'b> {
    Mapped(&'db [u8]),
    Buffer(&'b [u8]),
}

impl Loaded<'_, '_> {
    /// The bytes of the pages.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Loaded::Mapped(bytes) => bytes,
            Loaded::Buffer(bytes) => bytes,
        }
    }
}

impl PagedFile {
    /// Opens a file and checks its length, header and footer (FORMAT.md §8).
    pub(crate) fn open(directory: &Path, line: &FileLine, id: &Id, access: Access, verify: bool) -> Result<PagedFile> {
        let path = directory.join(line.name(id));
        let io = |e| Error::io(&path, e);
        let file = File::open(&path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        let expected = line.pages * SIZE as u64;
        if !meta.is_file() || meta.len() != expected {
            return Err(Error::damaged(
                &path,
                meta.len().min(expected),
                format!("{expected} bytes"),
                format!("{} bytes", meta.len()),
            ));
        }
        for number in [0, line.pages - 1] {
            let mut bytes = vec![0; SIZE];
            direct::read_exact(&file, &mut bytes, number * SIZE as u64).map_err(io)?;
            require_frame(&path, &bytes, number, line, id)?;
        }
        let source = match access {
            Access::Mapped => {
                let random = matches!(line.kind, Kind::Data | Kind::Index | Kind::Hash | Kind::Filter | Kind::Order);
                Source::Mapped(Mapping::of(&file, expected, random).map_err(io)?)
            }
            Access::Read => Source::File(file),
            Access::Direct => Source::File(direct::open(&path).map_err(io)?.unwrap_or(file)),
        };
        PagedFile::of(path, line, source, verify)
    }

    fn of(path: PathBuf, line: &FileLine, source: Source, verify: bool) -> Result<PagedFile> {
        let words = if let Source::Mapped(_) = source { line.pages.div_ceil(64) as usize } else { 0 };
        let mut done = memory::with_capacity(words, &path)?;
        done.resize_with(words, AtomicU64::default);
        Ok(PagedFile {
            path,
            kind: line.kind,
            number: line.number,
            pages: line.pages,
            digest: line.digest,
            content_hash: line.content_hash,
            source,
            checks: Checks { done, enabled: verify },
        })
    }

    /// A file elsewhere, whose pages are fetched.
    #[cfg(feature = "remote")]
    pub(crate) fn elsewhere(file: RemoteFile, line: &FileLine, verify: bool) -> Result<PagedFile> {
        PagedFile::of(file.path().to_owned(), line, Source::Remote(Arc::new(file)), verify)
    }

    /// A file elsewhere that was fetched whole. Checks its header and footer.
    #[cfg(feature = "remote")]
    pub(crate) fn fetched(path: PathBuf, line: &FileLine, id: &Id, bytes: &[u8], verify: bool) -> Result<PagedFile> {
        let map = Mapping::of_bytes(bytes).map_err(|_| memory::lacking(&path, bytes.len()))?;
        for number in [0, line.pages - 1] {
            require_frame(&path, &bytes[number as usize * SIZE..][..SIZE], number, line, id)?;
        }
        PagedFile::of(path, line, Source::Mapped(map), verify)
    }

    /// The file elsewhere, if it is not in memory.
    #[cfg(feature = "remote")]
    pub(crate) fn remote(&self) -> Option<&Arc<RemoteFile>> {
        match &self.source {
            Source::Remote(file) => Some(file),
            _ => None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of pages, header and footer included.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// The digest that the footer and the manifest state.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// Fails if the manifest states another content hash than this one, which all content pages gave.
    pub(crate) fn require_content_hash(&self, found: &ContentHash) -> Result<()> {
        match &self.content_hash {
            Some(stated) if stated != found => Err(self.damaged(
                SIZE as u64,
                format!("pages with SHA-256 {}, as the manifest says", hex(stated)),
                hex(found),
            )),
            _ => Ok(()),
        }
    }

    /// An error about this file.
    #[cold]
    pub(crate) fn damaged(&self, offset: u64, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::damaged(&self.path, offset, expected, found)
    }

    /// The whole mapped file; empty if it is not mapped. For prefetching.
    #[inline(always)]
    pub(crate) fn mapped(&self) -> &[u8] {
        match &self.source {
            Source::Mapped(map) => map.bytes(),
            _ => &[],
        }
    }

    /// Prefetches the cache line of a byte.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: u64) {
        map::prefetch(self.mapped(), at as usize);
    }

    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.source, Source::Mapped(_))
    }

    /// The file, if it is read by system calls.
    pub(crate) fn unmapped(&self) -> Option<&File> {
        match &self.source {
            Source::File(file) => Some(file),
            _ => None,
        }
    }

    /// Fails unless the file has these content pages.
    #[inline(always)]
    pub(crate) fn require(&self, first: u64, count: u64) -> Result<()> {
        let end = first.wrapping_add(count);
        if first == 0 || end < first || end >= self.pages {
            return Err(self.beyond(first, count));
        }
        Ok(())
    }

    /// Consecutive content pages, verified. `first` counts from the header, which is page 0.
    #[inline(always)]
    pub(crate) fn load<'db, 'b>(&'db self, first: u64, count: u64, buffer: &'b mut Pages) -> Result<Loaded<'db, 'b>> {
        self.require(first, count)?;
        let end = first + count;
        match &self.source {
            Source::Mapped(map) => {
                let bytes = &map.bytes()[first as usize * SIZE..end as usize * SIZE];
                for number in first..end {
                    if !self.checks.is_done(number) {
                        self.verify_first(number, &bytes[(number - first) as usize * SIZE..][..SIZE])?;
                    }
                }
                Ok(Loaded::Mapped(bytes))
            }
            Source::File(file) => {
                buffer.resize(count as usize * SIZE, &self.path)?;
                direct::read_exact(file, buffer.bytes_mut(), first * SIZE as u64)
                    .map_err(|e| Error::io(&self.path, e))?;
                self.verify_read(first, buffer.bytes())?;
                Ok(Loaded::Buffer(buffer.bytes()))
            }
            #[cfg(feature = "remote")]
            Source::Remote(file) => {
                let bytes = file.read(first, count)?;
                buffer.resize(bytes.len(), &self.path)?;
                buffer.bytes_mut().copy_from_slice(&bytes);
                Ok(Loaded::Buffer(buffer.bytes()))
            }
        }
    }

    /// Verifies pages that were read from the file, from page `first` on.
    pub(crate) fn verify_read(&self, first: u64, bytes: &[u8]) -> Result<()> {
        if self.checks.enabled {
            for (i, bytes) in bytes.chunks_exact(SIZE).enumerate() {
                self.verify(first + i as u64, bytes)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn verify_first(&self, number: u64, bytes: &[u8]) -> Result<()> {
        if self.checks.enabled {
            self.verify(number, bytes)?;
        }
        self.checks.set_done(number);
        Ok(())
    }

    /// Verifies a page with its own checksum.
    pub(crate) fn verify(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let computed = page::checksum(bytes, self.kind as u16, self.number, number);
        let stored = page::stored(bytes);
        if computed != stored {
            let at = number * SIZE as u64;
            return Err(self.damaged(at, format!("a page with checksum {computed:08x}"), format!("{stored:08x}")));
        }
        Ok(())
    }

    /// Whether pages are mapped and were verified before, so that they are probably in memory.
    #[inline]
    pub(crate) fn is_known(&self, first: u64, count: u64) -> bool {
        (first..first.saturating_add(count)).all(|number| self.checks.is_done(number))
    }

    /// A page of a mapped file that was verified before; None if it was not, or if there is none.
    #[inline(always)]
    pub(crate) fn known_page(&self, number: u64) -> Option<&[u8; SIZE]> {
        match &self.source {
            Source::Mapped(map) if self.checks.is_done(number) => map.pages().get(number as usize),
            _ => None,
        }
    }

    /// A content page of a mapped file, verified.
    #[inline(always)]
    pub(crate) fn mapped_page(&self, number: u64) -> Result<&[u8]> {
        if number == 0 || number >= self.pages - 1 {
            return Err(self.beyond(number, 1));
        }
        let at = number as usize * SIZE;
        let bytes = &self.mapped()[at..at + SIZE];
        if !self.checks.is_done(number) {
            self.verify_first(number, bytes)?;
        }
        Ok(bytes)
    }

    /// Body pages of the hash file, which have no checksums of their own: raw bytes of a mapped file from
    /// `at` on, after their pages were verified with the table, which begins in page `table`.
    #[inline(always)]
    pub(crate) fn body(&self, at: u64, length: usize, table: u64) -> Result<&[u8]> {
        let end = at.wrapping_add(length as u64);
        if at < SIZE as u64 || end < at || end > table * SIZE as u64 {
            return Err(self.beyond(at / SIZE as u64, length.div_ceil(SIZE) as u64));
        }
        let mut number = at / SIZE as u64;
        while number * (SIZE as u64) < end {
            if !self.checks.is_done(number) {
                self.verify_body(number, table)?;
                self.checks.set_done(number);
            }
            number += 1;
        }
        Ok(&self.mapped()[at as usize..end as usize])
    }

    /// Verifies a body page again, because it reads as if it had been zeroed (FORMAT.md §8).
    #[cold]
    pub(crate) fn verify_body(&self, number: u64, table: u64) -> Result<()> {
        if !self.checks.enabled {
            return Ok(());
        }
        let at = number as usize * SIZE;
        let bytes = &self.mapped()[at..at + SIZE];
        let computed = page::table_checksum(bytes, self.kind as u16, number);
        let stored = self.table_entry(number, table)?;
        if computed != stored {
            return Err(self.damaged(
                at as u64,
                format!("a page with checksum {stored:08x}, as the table says"),
                format!("{computed:08x}"),
            ));
        }
        Ok(())
    }

    /// The checksum of a body page in the table.
    pub(crate) fn table_entry(&self, number: u64, table: u64) -> Result<u32> {
        const ENTRIES: u64 = 1023;
        let entry = number - 1;
        let mut unused = Pages::default();
        let page = self.load(table + entry / ENTRIES, 1, &mut unused)?;
        Ok(crate::format::u32_at(page.bytes(), (entry % ENTRIES) as usize * 4).unwrap_or(0))
    }

    /// Whether a page, verified before, now reads as zeros (FORMAT.md §8).
    #[cold]
    pub(crate) fn require_nonzero(&self, number: u64, bytes: &[u8]) -> Result<()> {
        if self.checks.enabled && page::stored(bytes) == 0 {
            self.verify(number, bytes)?;
        }
        Ok(())
    }

    #[cold]
    fn beyond(&self, first: u64, count: u64) -> Error {
        self.damaged(
            self.pages.saturating_mul(SIZE as u64),
            format!("{count} content pages from page {first} on"),
            format!("a file of {} pages", self.pages),
        )
    }
}

/// Checks the header or the footer of a file (FORMAT.md §8).
pub(crate) fn require_frame(path: &Path, bytes: &[u8], number: u64, line: &FileLine, id: &Id) -> Result<()> {
    let found = if number == 0 {
        frame::header(path, bytes, line.kind, line.number)?
    } else {
        frame::footer(path, bytes, number, line.kind, line.number)?
    };
    let at = number * SIZE as u64;
    if found.id != *id {
        return Err(Error::damaged(path, at + 16, format!("database id {}", hex(id)), hex(&found.id)));
    }
    if number > 0 && (found.pages, found.digest) != (line.pages, line.digest) {
        return Err(Error::damaged(
            path,
            at + 32,
            format!("{} pages with digest {:x}, as the manifest says", line.pages, line.digest),
            format!("{} pages with digest {:x}", found.pages, found.digest),
        ));
    }
    Ok(())
}

/// Reads a file's pages in order, many at a time.
pub(crate) struct Run<'db> {
    file: &'db PagedFile,
    first: u64,
    buffer: Pages,
    /// Where the pages are: in the mapping, or from `first` on in the buffer.
    held: u64,
    #[cfg(feature = "remote")]
    ahead: Ahead,
}

/// Pages that a run reads at once.
const RUN: u64 = 256;

impl<'db> Run<'db> {
    /// Starts at the file's beginning.
    pub(crate) fn new(file: &'db PagedFile) -> Self {
        Run {
            file,
            first: 0,
            buffer: Pages::default(),
            held: 0,
            #[cfg(feature = "remote")]
            ahead: Ahead::default(),
        }
    }

    /// Consecutive pages, verified.
    pub(crate) fn pages(&mut self, first: u64, count: u64) -> Result<&[u8]> {
        if self.file.is_mapped() {
            return match self.file.load(first, count, &mut self.buffer)? {
                Loaded::Mapped(bytes) => Ok(bytes),
                Loaded::Buffer(_) => unreachable!("the file is mapped"),
            };
        }
        if first < self.first || first + count > self.first + self.held {
            let left = (self.file.pages() - 1).saturating_sub(first);
            let wanted = count.max(RUN.min(left));
            #[cfg(feature = "remote")]
            let before = self.first..self.first + self.held;
            self.held = 0;
            #[cfg(feature = "remote")]
            if let Some(file) = self.file.remote() {
                self.file.require(first, count)?;
                // What is there of them already is the end of the piece before.
                let mut bytes = Vec::new();
                if before.contains(&first) {
                    let held = &self.buffer.bytes()[(first - before.start) as usize * SIZE..];
                    bytes = memory::copy(held, self.file.path())?;
                }
                while bytes.len() < count as usize * SIZE {
                    let piece = self.ahead.read(file, first + (bytes.len() / SIZE) as u64)?;
                    memory::reserve(&mut bytes, piece.len(), self.file.path())?;
                    bytes.extend_from_slice(&piece);
                }
                self.buffer.resize(bytes.len(), self.file.path())?;
                self.buffer.bytes_mut().copy_from_slice(&bytes);
                self.first = first;
                self.held = (bytes.len() / SIZE) as u64;
                return Ok(&self.buffer.bytes()[..count as usize * SIZE]);
            }
            if self.buffer.capacity() > KEEP {
                self.buffer = Pages::default();
            }
            self.file.load(first, wanted, &mut self.buffer)?;
            self.first = first;
            self.held = wanted;
        }
        let at = (first - self.first) as usize * SIZE;
        Ok(&self.buffer.bytes()[at..at + count as usize * SIZE])
    }
}
