//! The index of bins (FORMAT.md §12).

use std::sync::OnceLock;

use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::facts::Facts;
use crate::format::page::{self, PAYLOAD};
use crate::format::{scaled, u32_at};
use crate::memory;
use crate::os::map;

/// Bins of a group.
const GROUP: u64 = 256;

/// Where a bin lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BinPlace {
    /// The content page in which it starts, counted from 0 across the data files.
    pub(crate) page: u64,
    /// Pages to read.
    pub(crate) count: u64,
    /// Its number among the bins that start in that page.
    pub(crate) slot: usize,
    /// How many bins start in that page, 1 to 256, as far as the index knows.
    pub(crate) starting: usize,
}

/// The index. Its content is read by the first lookup. Thread-safe.
pub(crate) struct BinIndex {
    file: PagedFile,
    bins: u64,
    pages: u64,
    spanning: bool,
    content: OnceLock<Content>,
}

/// What the file holds, in memory: a lookup reads it at several places, and without the checksums between them
/// takes a third of the instructions. Then the processor reaches the next lookup while it waits for this one's
/// record, which halves the time of a lookup.
struct Content {
    /// For each group the page in which its first bin starts; then the number of pages minus one.
    groups: Box<[u32]>,
    /// For each page the number of bins that start before it, minus one, modulo 256; then that of all bins, and
    /// as many bytes as a window may reach beyond.
    edges: Box<[u8]>,
}

/// Pages that a glance looks at.
const WINDOW: u64 = 8;

impl BinIndex {
    /// `pages` is the number of content pages of all data files.
    pub(crate) fn open(file: PagedFile, facts: &Facts, pages: u64) -> Result<BinIndex> {
        let expected = (4 * groups(facts.bins) + pages).div_ceil(PAYLOAD as u64) + 2;
        if file.pages() != expected {
            return Err(file.damaged(
                0,
                format!("{expected} pages for {} bins in {pages} pages", facts.bins),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(BinIndex { file, bins: facts.bins, pages, spanning: facts.spanning, content: OnceLock::new() })
    }

    pub(crate) fn file(&self) -> &PagedFile {
        &self.file
    }

    pub(crate) fn bins(&self) -> u64 {
        self.bins
    }

    /// The bin of a signature, given its first half.
    #[inline(always)]
    pub(crate) fn bin(&self, high: u64) -> u64 {
        scaled(high, self.bins)
    }

    /// Prefetches what `place` reads: the entry of the group, and the byte of the page where the bin would
    /// be if all pages had equally many.
    #[inline(always)]
    pub(crate) fn prefetch(&self, high: u64) {
        if let Some(content) = self.content.get() {
            map::prefetch_item(&content.groups, (self.bin(high) / GROUP) as usize);
            map::prefetch(&content.edges, scaled(high, self.pages) as usize);
        }
    }

    /// Whether the content was read.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.content.get().is_some()
    }

    /// Reads the content now.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.content().map(|_| ())
    }

    /// The place of a bin that ends in the page where it starts, which most bins do. None for the others, or if
    /// this takes a closer look.
    #[inline(always)]
    pub(crate) fn glance(&self, bin: u64) -> Option<BinPlace> {
        let content = self.content.get()?;
        let (first, last) = content.group(bin / GROUP)?;
        let more = last.wrapping_sub(first);
        if more > WINDOW - 2 {
            return None;
        }
        let window = u64::from_le_bytes(*content.edges.get(first as usize..)?.first_chunk()?);
        let after = below(window, more, bin as u8);
        let place = self.place_at(bin, first + after, (window >> (8 * after)) as u16);
        (place.slot + 1 < place.starting).then_some(place)
    }

    /// The place of a bin.
    #[inline(always)]
    pub(crate) fn place(&self, bin: u64) -> Result<BinPlace> {
        match self.glance(bin) {
            Some(place) => Ok(place),
            None => self.look(bin),
        }
    }

    /// The place of any bin.
    fn look(&self, bin: u64) -> Result<BinPlace> {
        let content = self.content()?;
        let page = self.first_page(content, bin)?;
        let edges = &content.edges[page as usize..];
        let mut place = self.place_at(bin, page, u16::from_le_bytes([edges[0], edges[1]]));
        if place.slot + 1 >= place.starting {
            place.count = self.run(content, bin, page)?;
        }
        Ok(place)
    }

    /// The place of a bin in its page, given the page's byte and the one after it.
    #[inline(always)]
    fn place_at(&self, bin: u64, page: u64, edges: u16) -> BinPlace {
        let [own, next] = edges.to_le_bytes();
        let slot = (bin as u8).wrapping_sub(1).wrapping_sub(own);
        let last = next.wrapping_sub(own).wrapping_sub(1);
        BinPlace { page, count: 1, slot: usize::from(slot), starting: usize::from(last) + 1 }
    }

    /// Pages of a bin that is the last to start in its page.
    fn run(&self, content: &Content, bin: u64, page: u64) -> Result<u64> {
        let end = if bin + 1 < self.bins {
            let next = self.first_page(content, bin + 1)?;
            if self.spanning || next == page {
                next + 1
            } else {
                next
            }
        } else {
            self.pages
        };
        Ok(end.saturating_sub(page).max(1))
    }

    /// The page in which a bin starts.
    fn first_page(&self, content: &Content, bin: u64) -> Result<u64> {
        let group = bin / GROUP;
        let (first, last) = content.group(group).unwrap_or((0, self.pages));
        if first > last || last >= self.pages {
            return Err(self.file.damaged(
                page::offset_of(group * 4),
                format!("pages in ascending order, below {}", self.pages),
                format!("{first}, then {last}"),
            ));
        }
        // The bytes ascend within a group.
        let bytes = &content.edges[first as usize + 1..last as usize + 1];
        Ok(first + bytes.partition_point(|&byte| byte < bin as u8) as u64)
    }

    /// The content, which the first call reads and verifies.
    fn content(&self) -> Result<&Content> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let path = self.file.path();
        let mut bytes = memory::with_capacity(self.file.pages() as usize * PAYLOAD, path)?;
        for number in 1..self.file.pages() - 1 {
            bytes.extend_from_slice(&self.file.mapped_page(number)?[..PAYLOAD]);
        }
        let (words, rest) = bytes.split_at(4 * groups(self.bins) as usize);
        let mut groups = memory::with_capacity(words.len() / 4, path)?;
        groups.extend(words.chunks_exact(4).map(|word| u32_at(word, 0).unwrap_or(0)));
        let mut edges = memory::with_capacity(self.pages as usize + 1 + WINDOW as usize, path)?;
        edges.extend_from_slice(&rest[..self.pages as usize]);
        edges.push((self.bins.wrapping_sub(1)) as u8);
        edges.extend([0; WINDOW as usize]);
        Ok(self.content.get_or_init(|| Content { groups: groups.into(), edges: edges.into() }))
    }
}

/// Entries for groups of so many bins.
fn groups(bins: u64) -> u64 {
    bins.div_ceil(GROUP) + 1
}

impl Content {
    /// The entries of a group and of the one after it.
    #[inline(always)]
    fn group(&self, group: u64) -> Option<(u64, u64)> {
        let [first, last] = self.groups.get(group as usize..)?.first_chunk()?;
        Some((u64::from(*first), u64::from(*last)))
    }
}

/// How many of the `more` bytes after the lowest one are less than `wanted`; `more` is at most WINDOW - 2.
#[inline(always)]
fn below(bytes: u64, more: u64, wanted: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The highest bit of each byte says whether the byte is less (Warren, Hacker's Delight, 2-18).
    let wanted = ONES * u64::from(wanted);
    let difference = ((bytes | HIGH) - (wanted & !HIGH)) ^ ((bytes ^ !wanted) & HIGH);
    let less = ((!bytes & wanted) | (!(bytes ^ wanted) & difference)) & HIGH;
    let counted = ((1 << (8 * more)) - 1) << 8;
    ((less & counted) >> 7).wrapping_mul(ONES) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn counts_the_bytes_below(bytes: u64, more in 0..WINDOW - 1, wanted: u8) {
            let counted = &bytes.to_le_bytes()[1..][..more as usize];
            let count = counted.iter().filter(|&&byte| byte < wanted).count();
            proptest::prop_assert_eq!(below(bytes, more, wanted), count as u64);
        }
    }
}
