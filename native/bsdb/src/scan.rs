//! All records of a database, in order.

use std::collections::VecDeque;

use crate::error::Result;
use crate::file::paged::Run;
use crate::format::address::Address;
use crate::format::block;
use crate::format::facts::Layout;
use crate::format::page::{self, PAYLOAD, SIZE};
use crate::format::record::{self, Parsed};
use crate::format::span::Span;
use crate::layout::{compressed, packed, Work};
use crate::memory;
use crate::os::direct::Pages;
use crate::single::{Engine, Packed, Single, Slots};

/// Bytes of a stripe, in which data files are filled in turn (FORMAT.md §4).
const STRIPE: u64 = 4 << 20;

/// An iterator over the records of a database: pairs of key and value. Ends after the first error.
pub struct Scan<'db> {
    singles: VecDeque<&'db Single>,
    cursor: Option<Cursor<'db>>,
    buffer: Vec<Record>,
    ended: bool,
}

/// A key and its value.
pub(crate) type Record = (Vec<u8>, Vec<u8>);

impl<'db> Scan<'db> {
    pub(crate) fn new(singles: Vec<&'db Single>) -> Self {
        Scan { singles: singles.into(), cursor: None, buffer: Vec::new(), ended: false }
    }

    fn advance(&mut self) -> Result<Option<Record>> {
        loop {
            // The buffer is in reverse order.
            if let Some(record) = self.buffer.pop() {
                return Ok(Some(record));
            }
            if self.cursor.is_none() {
                let Some(single) = self.singles.pop_front() else {
                    return Ok(None);
                };
                self.cursor = Some(Cursor::new(single));
            }
            let Some(cursor) = &mut self.cursor else { continue };
            let (buffer, single) = (&mut self.buffer, cursor.single);
            let more = cursor.next(&mut |located: Located<'_>| {
                if located.current {
                    let path = single.path.as_path();
                    buffer.push((memory::copy(located.key, path)?, memory::copy(located.value, path)?));
                }
                Ok(())
            })?;
            self.buffer.reverse();
            if !more {
                self.cursor = None;
            }
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// A record and where it was found.
pub(crate) struct Located<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
    /// Whether lookups find this record: false for one that was dropped as a duplicate.
    pub(crate) current: bool,
    /// Number of the data file and the byte in it at which the record, its block or its bin begins.
    pub(crate) file: usize,
    pub(crate) offset: u64,
    /// Number of its bin in the packed layouts.
    pub(crate) bin: u64,
    /// Part of the bin that its block states, in the layout packed-compressed.
    pub(crate) part: Option<u8>,
}

/// Goes through the records of one database, some at a time.
pub(crate) struct Cursor<'db> {
    single: &'db Single,
    /// Whether records that were dropped must be told from others.
    duplicates: bool,
    kind: CursorKind<'db>,
    work: Work,
    index: Pages,
}

enum CursorKind<'db> {
    Plain { slots: &'db Slots, files: Vec<(Run<'db>, u64)>, file: usize, stripe: u64 },
    Packed { packed: &'db Packed, file: usize, page: u64, bin: u64, run: Option<Run<'db>> },
}

impl<'db> Cursor<'db> {
    /// Goes through all records and says of each whether lookups find it.
    pub(crate) fn telling_duplicates(single: &'db Single) -> Self {
        Cursor { duplicates: true, ..Cursor::new(single) }
    }

    pub(crate) fn new(single: &'db Single) -> Self {
        let kind = match &single.engine {
            Engine::Packed(packed) => CursorKind::Packed { packed, file: 0, page: 1, bin: 0, run: None },
            Engine::Slots(slots) => CursorKind::Plain {
                slots,
                files: slots.data.iter().map(|file| (Run::new(file), SIZE as u64)).collect(),
                file: 0,
                stripe: SIZE as u64 / STRIPE,
            },
            Engine::Approximate(..) => unreachable!("an approximate database has no records to scan"),
        };
        Cursor { single, duplicates: single.facts.dropped > 0, kind, work: Work::default(), index: Pages::default() }
    }

    /// Passes on the next record, block or page of records; false at the end.
    pub(crate) fn next(&mut self, each: &mut dyn FnMut(Located<'_>) -> Result<()>) -> Result<bool> {
        let more = match self.kind {
            CursorKind::Plain { .. } => self.next_plain(each),
            CursorKind::Packed { .. } => self.next_page(each),
        };
        self.work.trim();
        more
    }

    fn next_plain(&mut self, each: &mut dyn FnMut(Located<'_>) -> Result<()>) -> Result<bool> {
        let CursorKind::Plain { slots, files, file, stripe } = &mut self.kind else {
            return Ok(false);
        };
        loop {
            let ends: Vec<u64> = self.single.facts.data().map(|line| line.end).collect();
            if files.iter().zip(&ends).all(|((_, at), end)| *at >= *end) {
                return Ok(false);
            }
            let (run, at) = &mut files[*file];
            if *at >= ends[*file] || *at / STRIPE > *stripe {
                *file += 1;
                if *file == files.len() {
                    *file = 0;
                    *stripe += 1;
                }
                continue;
            }
            let number = *file;
            let end = ends[number];
            let context = Context {
                single: self.single,
                slots,
                duplicates: self.duplicates,
                number,
                index: &mut self.index,
                work: &mut self.work,
            };
            let next = match self.single.facts.layout {
                Layout::Compressed => context.block(run, *at, end, each)?,
                layout => context.record(run, *at, end, layout == Layout::Blocked, each)?,
            };
            *at = next;
            return Ok(true);
        }
    }

    /// The bins that start in the next page.
    fn next_page(&mut self, each: &mut dyn FnMut(Located<'_>) -> Result<()>) -> Result<bool> {
        let CursorKind::Packed { packed, file, page, bin, run } = &mut self.kind else {
            return Ok(false);
        };
        let Some(open) = packed.files.files.get(*file) else {
            if *bin != packed.bins.bins() && packed.files.pages() > 0 {
                let last = packed.files.files.len() - 1;
                let at = packed.files.files[last].pages() * SIZE as u64;
                return Err(packed.files.files[last].damaged(
                    at,
                    format!("{} bins in all pages", packed.bins.bins()),
                    bin.to_string(),
                ));
            }
            return Ok(false);
        };
        if *page >= open.pages() - 1 {
            *file += 1;
            *page = 1;
            *run = None;
            return Ok(true);
        }
        let run = run.get_or_insert_with(|| Run::new(open));
        let mut walk = PageWalk { packed, single: self.single, file: *file, page: *page, bin: *bin };
        let mut count = 1;
        loop {
            let pages = run.pages(*page, count)?;
            match walk.bins(pages, &mut self.work, each)? {
                Walked::Bins(bins) => {
                    *bin += bins;
                    *page += 1;
                    return Ok(true);
                }
                Walked::More => {
                    let left = open.pages() - 1 - *page;
                    if count == left {
                        let at = *page * SIZE as u64;
                        return Err(open.damaged(at, "a bin that ends in its file", format!("{left} pages of it")));
                    }
                    count = (2 * count).min(left);
                }
            }
        }
    }
}

/// What reading records needs to know.
struct Context<'a, 'db> {
    single: &'db Single,
    slots: &'db Slots,
    duplicates: bool,
    number: usize,
    index: &'a mut Pages,
    work: &'a mut Work,
}

impl Context<'_, '_> {
    /// Whether lookups lead to the record at an offset, or at an offset in a block.
    fn is_current(&mut self, key: &[u8], offset: u64, within: u64) -> Result<bool> {
        if !self.duplicates {
            return Ok(true);
        }
        let compressed = self.single.facts.layout == Layout::Compressed;
        let word = self.single.indexed_address(self.single.signature(key), self.index)?;
        let address = word.and_then(|word| Address::decode(word, self.single.facts.detail_bits()));
        Ok(address.is_some_and(|address| {
            usize::from(address.file) == self.number
                && address.offset == offset
                && (!compressed || address.detail == within)
        }))
    }

    /// Passes on the record at a byte offset and returns the offset of the next one.
    fn record(
        mut self,
        run: &mut Run<'_>,
        at: u64,
        end: u64,
        blocked: bool,
        each: &mut dyn FnMut(Located<'_>) -> Result<()>,
    ) -> Result<u64> {
        let file = &self.slots.data[self.number];
        let first = at / SIZE as u64;
        let within = (at % SIZE as u64) as usize;
        let next_page = (first + 1) * SIZE as u64;
        if within >= PAYLOAD || blocked && within + record::SHORT > PAYLOAD {
            return Ok(next_page);
        }
        let left = file.pages() - 1 - first;
        let mut count = 1;
        loop {
            let span = Span::new(run.pages(first, count)?);
            let (head, length) = span.head::<{ record::WIDE }>(within);
            let header = match record::parse(&head[..length]) {
                Parsed::Header(header) => header,
                Parsed::Padding if blocked && within > 0 => return Ok(next_page),
                Parsed::Short if count < left => {
                    count += 1;
                    continue;
                }
                _ => return Err(file.damaged(at, "a record", format!("{:02x?}", &head[..length.min(3)]))),
            };
            let needed = (within as u64 + header.record()).div_ceil(PAYLOAD as u64);
            if needed > left {
                return Err(file.damaged(at, "a record that ends in its file", format!("{} bytes", header.record())));
            }
            if needed > count {
                count = needed;
                continue;
            }
            let key_at = within + header.size;
            let bytes = |at, length| span.bytes(at, length, file.path());
            let (Some(key), Some(value)) = (bytes(key_at, header.key)?, bytes(key_at + header.key, header.value)?)
            else {
                return Err(file.damaged(at, "a record that ends in its file", "its beginning"));
            };
            let current = self.is_current(&key, at, 0)?;
            each(Located { key: &key, value: &value, current, file: self.number, offset: at, bin: 0, part: None })?;
            let after = within as u64 + header.record();
            let next = (first + after / PAYLOAD as u64) * SIZE as u64 + after % PAYLOAD as u64;
            if page::position_of(next) > page::position_of(end) || next <= at {
                return Err(file.damaged(at, format!("a record that ends at byte {end} or before"), next.to_string()));
            }
            return Ok(if blocked && needed > 1 { (first + needed) * SIZE as u64 } else { next });
        }
    }

    /// Passes on the records of the block at a byte offset and returns the offset of the next one.
    fn block(
        mut self,
        run: &mut Run<'_>,
        at: u64,
        end: u64,
        each: &mut dyn FnMut(Located<'_>) -> Result<()>,
    ) -> Result<u64> {
        let file = &self.slots.data[self.number];
        let first = at / SIZE as u64;
        let within = (at % SIZE as u64) as usize;
        if within >= PAYLOAD {
            return Ok((first + 1) * SIZE as u64);
        }
        let left = file.pages() - 1 - first;
        let mut count = 2.min(left);
        let (block, next) = loop {
            let span = Span::new(run.pages(first, count)?);
            let (head, length) = span.head::<{ block::MAX }>(within);
            let block = match block::parse(&head[..length]) {
                Ok(Some(block)) => block,
                Ok(None) => return Err(file.damaged(at, "a block", "the end of the file")),
                Err(found) => return Err(file.damaged(at, "a block", found)),
            };
            let after = within as u64 + block.size as u64 + block.stored;
            let needed = after.div_ceil(PAYLOAD as u64);
            if needed > left {
                return Err(file.damaged(at, "a block that ends in its file", format!("{} bytes", block.stored)));
            }
            if needed > count {
                count = needed;
                continue;
            }
            let mut content = std::mem::take(&mut self.work.frame);
            span.copy(within + block.size, block.stored as usize, &mut content, file.path())?;
            if block.plain {
                std::mem::swap(&mut self.work.raw, &mut content);
                self.work.frame = content;
            } else {
                let dictionary = self.single.dictionary.as_ref();
                let expanded = compressed::expand(file, at, &block, &content, dictionary, self.work);
                self.work.frame = content;
                expanded?;
            }
            break (block, (first + after / PAYLOAD as u64) * SIZE as u64 + after % PAYLOAD as u64);
        };
        if page::position_of(next) > page::position_of(end) {
            return Err(file.damaged(at, format!("a block that ends at byte {end} or before"), next.to_string()));
        }
        let raw = std::mem::take(&mut self.work.raw);
        let mut from = 0;
        while from < raw.len() {
            let Some((key, value, after)) = whole(&raw, from) else {
                return Err(file.damaged(
                    at,
                    format!("a block of {} bytes of whole records", block.raw),
                    format!("none at byte {from}"),
                ));
            };
            let current = self.is_current(key, at, from as u64)?;
            each(Located { key, value, current, file: self.number, offset: at, bin: 0, part: None })?;
            from = after;
        }
        self.work.raw = raw;
        Ok(next)
    }
}

/// The whole record at an offset: key, value and the offset after it.
fn whole(records: &[u8], from: usize) -> Option<(&[u8], &[u8], usize)> {
    let Parsed::Header(header) = record::parse(&records[from..]) else {
        return None;
    };
    let key_at = from + header.size;
    let value_at = key_at + header.key;
    let end = value_at + header.value;
    Some((records.get(key_at..value_at)?, records.get(value_at..end)?, end))
}

/// Goes through the bins that start in a page.
struct PageWalk<'a> {
    packed: &'a Packed,
    single: &'a Single,
    file: usize,
    page: u64,
    bin: u64,
}

enum Walked {
    /// So many bins started in the page.
    Bins(u64),
    /// The last bin continues beyond the pages at hand.
    More,
}

impl PageWalk<'_> {
    fn bins(
        &mut self,
        pages: &[u8],
        work: &mut Work,
        each: &mut dyn FnMut(Located<'_>) -> Result<()>,
    ) -> Result<Walked> {
        let file = &self.packed.files.files[self.file];
        let wrong = || packed::no_directory(file, self.page);
        let directory = packed::Directory::of(&pages[..SIZE]).ok_or_else(wrong)?;
        directory.rest().ok_or_else(wrong)?;
        let bins = directory.bins;
        if bins > 0 && directory.continues {
            // Make sure that the last bin is whole before any record is passed on.
            let mut whole = false;
            for (number, page) in (self.page + 1..).zip(pages.chunks_exact(SIZE).skip(1)) {
                let next = packed::Directory::of(page).ok_or_else(|| packed::no_directory(file, number))?;
                whole = next.bins > 0 || !next.continues;
                if whole {
                    break;
                }
            }
            if !whole {
                return Ok(Walked::More);
            }
        }
        for slot in 0..bins {
            let range = directory.bin(slot).ok_or_else(wrong)?;
            let offset = self.page * SIZE as u64 + range.start as u64;
            if slot + 1 == bins && directory.continues {
                let mut content = Vec::new();
                packed::gather(file, self.page, pages, range, &mut content)?;
                self.records(&content, offset, work, each)?;
            } else {
                self.records(&pages[range], offset, work, each)?;
            }
            self.bin += 1;
        }
        Ok(Walked::Bins(bins as u64))
    }

    /// Passes on the records of a bin.
    fn records(
        &self,
        content: &[u8],
        offset: u64,
        work: &mut Work,
        each: &mut dyn FnMut(Located<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.packed.compressed {
            return self.back_to_back(content, offset, None, each);
        }
        let file = &self.packed.files.files[self.file];
        let mut from = 0;
        while from < content.len() {
            let part = content[from];
            let (block, range) = packed::block_at(file, offset, content, from)?;
            from = range.end;
            if block.plain {
                self.back_to_back(&content[range], offset, Some(part), each)?;
            } else {
                compressed::expand(file, offset, &block, &content[range], self.single.dictionary.as_ref(), work)?;
                self.back_to_back(&work.raw, offset, Some(part), each)?;
            }
        }
        Ok(())
    }

    fn back_to_back(
        &self,
        records: &[u8],
        offset: u64,
        part: Option<u8>,
        each: &mut dyn FnMut(Located<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut from = 0;
        while from < records.len() {
            let Some((key, value, after)) = whole(records, from) else {
                return Err(packed::no_record(&self.packed.files.files[self.file], offset));
            };
            each(Located { key, value, current: true, file: self.file, offset, bin: self.bin, part })?;
            from = after;
        }
        Ok(())
    }
}
