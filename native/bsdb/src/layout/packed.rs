//! The layouts packed and packed-compressed: a bin leads to a few records (FORMAT.md §12).

use zstd_safe::DDict;

use super::{compressed, Outcome, Place, Work};
use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::page::{PAYLOAD, SIZE};
use crate::format::record::SHORT;
use crate::format::{block, record, u16_at, u32_at};
use crate::hash::signature::Signature;
use crate::index::bins::BinPlace;
use crate::memory;
use crate::os::map::{self, LINE};

/// The most bins that start in a page.
pub(crate) const MOST_BINS: usize = 256;

/// Lines of long records that are prefetched; the processor itself goes on from there.
const PREFETCHED: usize = 8;

/// The directory of a page.
pub(crate) struct Directory<'a> {
    page: &'a [u8],
    /// Bins that start in the page.
    pub(crate) bins: usize,
    /// Whether the records at the page's end continue in the next page.
    pub(crate) continues: bool,
}

impl<'a> Directory<'a> {
    /// Reads the directory of a page, or returns None if there is none.
    #[inline(always)]
    pub(crate) fn of(page: &'a [u8]) -> Option<Self> {
        let head = u16_at(page, 0)?;
        let bins = usize::from(head & 0x1ff);
        if bins > MOST_BINS || head & 0x7e00 != 0 {
            return None;
        }
        Some(Directory { page, bins, continues: head >> 15 == 1 })
    }

    /// Where the records may begin.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        4 + 2 * self.bins
    }

    /// The offset at which a bin starts; that of number `bins` is where the records end.
    #[inline(always)]
    pub(crate) fn start(&self, slot: usize) -> usize {
        usize::from(self.entry(slot) & 0xfff)
    }

    /// The filter of a bin.
    #[inline(always)]
    pub(crate) fn filter(&self, slot: usize) -> u16 {
        self.entry(slot) >> 12
    }

    #[inline(always)]
    fn entry(&self, slot: usize) -> u16 {
        u16_at(self.page, 2 + 2 * slot).unwrap_or(0)
    }

    /// The bytes of a bin in this page, or None if the directory is wrong.
    #[inline(always)]
    pub(crate) fn bin(&self, slot: usize) -> Option<std::ops::Range<usize>> {
        if slot >= self.bins {
            return None;
        }
        let range = self.start(slot)..self.start(slot + 1);
        (range.start >= self.size() && range.start <= range.end && range.end <= PAYLOAD).then_some(range)
    }

    /// The bytes at the page's beginning that belong to a bin which started before, if the directory is right.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Option<std::ops::Range<usize>> {
        let range = self.size()..self.start(0);
        (range.start <= range.end && range.end <= PAYLOAD).then_some(range)
    }
}

/// The data files of a database, whose content pages are numbered from 0.
pub(crate) struct PackedFiles {
    pub(crate) files: Vec<PagedFile>,
    /// For each file the number of its first page; then the number of all pages.
    starts: Vec<u64>,
}

impl PackedFiles {
    pub(crate) fn new(files: Vec<PagedFile>) -> Self {
        let mut starts = vec![0];
        let mut sum = 0;
        for file in &files {
            sum += file.pages() - 2;
            starts.push(sum);
        }
        PackedFiles { files, starts }
    }

    /// All content pages.
    pub(crate) fn pages(&self) -> u64 {
        *self.starts.last().unwrap_or(&0)
    }

    /// The place of a bin in its file.
    #[inline(always)]
    pub(crate) fn place(&self, bin: &BinPlace) -> Place {
        let mut file = 0;
        while file + 1 < self.files.len() && bin.page >= self.starts[file + 1] {
            file += 1;
        }
        let left = self.starts[file + 1].saturating_sub(bin.page);
        Place {
            file,
            first: bin.page - self.starts[file] + 1,
            count: bin.count.min(left).max(1),
            at: bin.slot,
            detail: bin.starting,
        }
    }

    /// The file and number of a content page.
    #[inline(always)]
    pub(crate) fn locate(&self, page: u64) -> (&PagedFile, u64) {
        if let [file] = &self.files[..] {
            return (file, page + 1);
        }
        let mut file = 0;
        while file + 1 < self.files.len() && page >= self.starts[file + 1] {
            file += 1;
        }
        (&self.files[file], page - self.starts[file] + 1)
    }

    /// Prefetches the directory's entry of a bin and where its records probably are: pages are full, and
    /// bins of short records about equally long.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: &Place) {
        let bytes = self.files[place.file].mapped();
        let start = place.first as usize * SIZE;
        map::prefetch(bytes, start + 2 + 2 * place.at);
        if place.detail >= 24 {
            let directory = 4 + 2 * place.detail;
            let guess = directory + place.at * (PAYLOAD - directory) / place.detail;
            let from = start + guess.saturating_sub(96);
            for line in 0..4 {
                map::prefetch(bytes, from + line * LINE);
            }
        }
    }

    /// Prefetches the start of a bin, whose directory entry is in memory.
    #[inline(always)]
    pub(crate) fn prefetch_bin(&self, place: &Place) {
        let bytes = self.files[place.file].mapped();
        let start = place.first as usize * SIZE;
        let entry = u16_at(bytes, start + 2 + 2 * place.at).unwrap_or(0);
        let at = start + usize::from(entry & 0xfff);
        map::prefetch(bytes, at);
        map::prefetch(bytes, at + LINE);
        if place.count > 1 {
            // The rest of the bin is where the next page begins.
            for line in 2..PREFETCHED {
                map::prefetch(bytes, at + line * LINE);
            }
            for line in 0..PREFETCHED {
                map::prefetch(bytes, start + SIZE + line * LINE);
            }
        }
    }
}

/// A bin that lies in one mapped page, which was verified before.
#[derive(Clone, Copy)]
pub(crate) struct Sighted<'a> {
    page: &'a [u8; SIZE],
    slot: u8,
    /// Bins that start in the page; the bin is not the last.
    starting: usize,
    /// The bit of the key in the filter of its bin.
    bit: u32,
}

impl<'a> Sighted<'a> {
    #[inline(always)]
    pub(crate) fn of(page: &'a [u8; SIZE], bin: &BinPlace, signature: Signature) -> Self {
        Sighted { page, slot: bin.slot as u8, starting: bin.starting, bit: 0x1000 << (signature.low % 4) }
    }

    /// Prefetches the bin's entry in the directory.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        map::prefetch(self.page, self.entry());
    }

    /// Prefetches where the records of the bin probably are: pages are full, and bins of short records about
    /// equally long.
    #[inline(always)]
    pub(crate) fn prefetch_guess(&self) {
        const LINES: usize = 8;
        if self.starting >= 24 {
            let starting = self.starting as u32;
            let directory = 4 + 2 * starting;
            let guess = directory + u32::from(self.slot) * (PAYLOAD as u32 - directory) / starting;
            let from = (guess as usize).saturating_sub(LINE * LINES / 2 - LINE / 2).min(SIZE - LINE * LINES);
            for line in 0..LINES {
                map::prefetch(self.page, from + line * LINE);
            }
        }
    }

    /// Prefetches the records of the bin, whose entry is in memory.
    #[inline(always)]
    pub(crate) fn prefetch_records(&self) {
        let (start, end) = self.range();
        map::prefetch(self.page, start);
        map::prefetch(self.page, start + LINE);
        for line in 2..PREFETCHED.min((end.saturating_sub(start)).div_ceil(LINE)) {
            map::prefetch(self.page, start + line * LINE);
        }
        map::prefetch(self.page, end);
    }

    /// Finds a key in the bin. None if the bin is unusual or damaged.
    #[inline(always)]
    pub(crate) fn find(&self, key: &[u8]) -> Option<Option<&'a [u8]>> {
        let page = self.page;
        let (start, end) = self.range();
        if start < 4 + 2 * self.starting || start > end || end > PAYLOAD {
            return None;
        }
        let filter = self.entries() & 0xf000;
        if filter != 0 && filter & self.bit == 0 {
            return Some(None);
        }
        let mut at = start;
        while at < end {
            let size = usize::from(page[at]);
            let length = usize::from(page[at + 1]) | usize::from(page[at + 2]) << 8;
            let value = at + SHORT + size;
            if size == 0 || value + length > end {
                // A wide header or none.
                return None;
            }
            if size == key.len() && equal(&page[at + SHORT..value], key) {
                return Some(Some(&page[value..value + length]));
            }
            at = value + length;
        }
        Some(None)
    }

    #[inline(always)]
    fn entry(&self) -> usize {
        2 + 2 * usize::from(self.slot)
    }

    /// The bin's entry of the directory and the one after it.
    #[inline(always)]
    fn entries(&self) -> u32 {
        u32_at(self.page, self.entry()).unwrap_or(0)
    }

    /// Where the bin starts and ends.
    #[inline(always)]
    fn range(&self) -> (usize, usize) {
        let entries = self.entries() as usize;
        (entries & 0xfff, entries >> 16 & 0xfff)
    }
}

/// Whether two strings of the same length are equal; without a call if they are of 8 to 16 bytes.
#[inline(always)]
fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() <= 16 {
        if let (Some(a0), Some(a1), Some(b0), Some(b1)) =
            (a.first_chunk::<8>(), a.last_chunk::<8>(), b.first_chunk::<8>(), b.last_chunk::<8>())
        {
            return a0 == b0 && a1 == b1;
        }
    }
    a == b
}

/// What a search in a bin needs to know.
pub(crate) struct Wanted<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) signature: Signature,
    pub(crate) bins: u64,
    pub(crate) compressed: bool,
    pub(crate) dictionary: Option<&'a DDict<'static>>,
}

/// The part of its bin in which a signature lies, 0 to 255, given its first half.
pub(crate) fn part(high: u64, bins: u64) -> u8 {
    // floor((product mod 2^63) * 256 / 2^63)
    ((high >> 1).wrapping_mul(bins).wrapping_mul(2) >> 56) as u8
}

/// Finds a key in the bin at a place.
#[inline(always)]
pub(crate) fn search(
    file: &PagedFile,
    place: &Place,
    pages: &[u8],
    wanted: &Wanted<'_>,
    work: &mut Work,
) -> Result<Outcome> {
    let page = &pages[..SIZE];
    let (Some(directory), slot) = (Directory::of(page), place.at) else {
        return Err(no_directory(file, place.first));
    };
    let Some(range) = directory.bin(slot) else {
        return Err(no_bin(file, place, directory.bins));
    };
    let filter = directory.filter(slot);
    if filter != 0 && filter >> (wanted.signature.low % 4) & 1 == 0 {
        return Ok(Outcome::Absent);
    }
    let continued = slot + 1 == directory.bins && directory.continues;
    if !continued && !wanted.compressed {
        let start = range.start;
        return match record::find(&page[..range.end], start, wanted.key) {
            Ok(Some(value)) => Ok(Outcome::Pages(value)),
            Ok(None) => Ok(Outcome::Absent),
            Err(at) => Err(no_record(file, place.first * SIZE as u64 + at as u64)),
        };
    }
    let at = place.first * SIZE as u64 + range.start as u64;
    if !continued {
        return search_blocks(file, at, &page[range], wanted, work);
    }
    search_continued(file, place, pages, range, wanted, work)
}

/// Finds a key in a bin of several pages.
#[cold]
fn search_continued(
    file: &PagedFile,
    place: &Place,
    pages: &[u8],
    range: std::ops::Range<usize>,
    wanted: &Wanted<'_>,
    work: &mut Work,
) -> Result<Outcome> {
    let at = place.first * SIZE as u64 + range.start as u64;
    if !wanted.compressed {
        // A record before a long one does without it.
        if let Ok(Some(value)) = record::find(&pages[..range.end], range.start, wanted.key) {
            return Ok(Outcome::Pages(value));
        }
    }
    let mut bin = std::mem::take(if wanted.compressed { &mut work.frame } else { &mut work.raw });
    bin.clear();
    let gathered = gather(file, place.first, pages, range, &mut bin);
    let result = match gathered {
        Err(error) => Err(error),
        Ok(false) => Ok(Outcome::More(2 * place.count)),
        Ok(true) if wanted.compressed => search_blocks(file, at, &bin, wanted, work),
        Ok(true) => match record::find(&bin, 0, wanted.key) {
            Ok(Some(value)) => Ok(Outcome::Raw(value)),
            Ok(None) => Ok(Outcome::Absent),
            Err(_) => Err(no_record(file, at)),
        },
    };
    *(if wanted.compressed { &mut work.frame } else { &mut work.raw }) = bin;
    result
}

/// Appends the pieces of a bin that continues in the next pages; false if some of them are not in `pages`.
pub(crate) fn gather(
    file: &PagedFile,
    first: u64,
    pages: &[u8],
    range: std::ops::Range<usize>,
    to: &mut Vec<u8>,
) -> Result<bool> {
    let append = |bytes: &[u8], to: &mut Vec<u8>| {
        memory::reserve(to, bytes.len(), file.path())?;
        to.extend_from_slice(bytes);
        Result::Ok(())
    };
    append(&pages[range], to)?;
    for (number, page) in (first + 1..).zip(pages.chunks_exact(SIZE).skip(1)) {
        let directory = Directory::of(page).ok_or_else(|| no_directory(file, number))?;
        let rest = directory.rest().ok_or_else(|| no_directory(file, number))?;
        append(&page[rest], to)?;
        if directory.bins > 0 || !directory.continues {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds a key in the blocks of a bin.
fn search_blocks(file: &PagedFile, at: u64, bin: &[u8], wanted: &Wanted<'_>, work: &mut Work) -> Result<Outcome> {
    let own = part(wanted.signature.high, wanted.bins);
    let mut from = 0;
    while from < bin.len() {
        let part = bin[from];
        let (block, content) = block_at(file, at, bin, from)?;
        from = content.end;
        if part < own {
            continue;
        }
        if block.plain {
            work.raw.clear();
            memory::reserve(&mut work.raw, content.len(), file.path())?;
            work.raw.extend_from_slice(&bin[content]);
        } else {
            compressed::expand(file, at, &block, &bin[content], wanted.dictionary, work)?;
        }
        match record::find(&work.raw, 0, wanted.key) {
            Ok(Some(value)) => return Ok(Outcome::Raw(value)),
            Ok(None) if part > own => return Ok(Outcome::Absent),
            Ok(None) => {}
            Err(_) => return Err(no_record(file, at)),
        }
    }
    Ok(Outcome::Absent)
}

/// The block after the byte of its part, and where its content lies in the bin.
pub(crate) fn block_at(
    file: &PagedFile,
    at: u64,
    bin: &[u8],
    from: usize,
) -> Result<(block::Block, std::ops::Range<usize>)> {
    let wrong = |found: &str| file.damaged(at, format!("a block at byte {from} of the bin"), found);
    let header = &bin[from + 1..];
    let block = match block::parse(&header[..header.len().min(block::MAX)]) {
        Ok(Some(block)) => block,
        Ok(None) => return Err(wrong("the end of the bin")),
        Err(found) => return Err(wrong(found)),
    };
    let start = from + 1 + block.size;
    if block.stored > (bin.len() - start) as u64 {
        return Err(wrong("the end of the bin"));
    }
    Ok((block, start..start + block.stored as usize))
}

#[cold]
pub(crate) fn no_directory(file: &PagedFile, page: u64) -> crate::error::Error {
    file.damaged(page * SIZE as u64, "a directory of bins", "none")
}

#[cold]
fn no_bin(file: &PagedFile, place: &Place, bins: usize) -> crate::error::Error {
    file.damaged(
        place.first * SIZE as u64,
        format!("a directory with bin {}", place.at),
        format!("{bins} bins, or offsets in disorder"),
    )
}

#[cold]
pub(crate) fn no_record(file: &PagedFile, at: u64) -> crate::error::Error {
    file.damaged(at, "a record that ends in its bin", "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_divide_a_bin_equally() {
        // bins = 1: the part is the top byte of high.
        assert_eq!(part(0, 1), 0);
        assert_eq!(part(0x80 << 56, 1), 128);
        assert_eq!(part(u64::MAX, 1), 255);
        let (high, bins) = (0x9000_0000_0000_0000u64, 1000u64);
        let product = u128::from(high >> 1) * u128::from(bins);
        assert_eq!(u128::from(part(high, bins)), ((product % (1 << 63)) * 256) >> 63);
    }
}
