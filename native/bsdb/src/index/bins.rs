//! The index of bins (FORMAT.md §12).

use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::facts::Facts;
use crate::format::page::{self, PAYLOAD};
use crate::format::{scaled, u32_at};

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

/// The index. It stays in its mapped file. Thread-safe.
pub(crate) struct BinIndex {
    file: PagedFile,
    bins: u64,
    pages: u64,
    spanning: bool,
    /// Where the bytes of the pages begin in the stream.
    bytes: u64,
}

impl BinIndex {
    /// `pages` is the number of content pages of all data files.
    pub(crate) fn open(file: PagedFile, facts: &Facts, pages: u64) -> Result<BinIndex> {
        let bytes = 4 * (facts.bins.div_ceil(GROUP) + 1);
        let expected = (bytes + pages).div_ceil(PAYLOAD as u64) + 2;
        if file.pages() != expected {
            return Err(file.damaged(
                0,
                format!("{expected} pages for {} bins in {pages} pages", facts.bins),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(BinIndex { file, bins: facts.bins, pages, spanning: facts.spanning, bytes })
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
        self.file.prefetch(page::offset_of(self.bin(high) / GROUP * 4));
        self.file.prefetch(page::offset_of(self.bytes + scaled(high, self.pages)));
    }

    /// The place of a bin.
    #[inline(always)]
    pub(crate) fn place(&self, bin: u64) -> Result<BinPlace> {
        let group = bin / GROUP;
        let wanted = (bin % GROUP) as u8;
        let (first, last) = self.groups(group)?;
        if first > last || last >= self.pages {
            return Err(self.file.damaged(
                page::offset_of(group * 4),
                format!("pages in ascending order, below {}", self.pages),
                format!("{first}, then {last}"),
            ));
        }
        let page = first + self.below(first + 1, last + 1, wanted)?;
        // The byte of the page and that of the next one; after the last page, that of the last bin.
        let own = self.byte(page)?;
        let next = if page + 1 < self.pages { self.byte(page + 1)? } else { (self.bins - 1) as u8 };
        let slot = wanted.wrapping_sub(1).wrapping_sub(own);
        let starting = usize::from(next.wrapping_sub(own).wrapping_sub(1)) + 1;
        let mut count = 1;
        if usize::from(slot) + 1 >= starting {
            count = self.run(bin, page)?;
        }
        Ok(BinPlace { page, count, slot: usize::from(slot), starting })
    }

    /// Pages of a bin that is the last to start in its page.
    fn run(&self, bin: u64, page: u64) -> Result<u64> {
        let end = if bin + 1 < self.bins {
            let next = self.first_page(bin + 1)?;
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
    fn first_page(&self, bin: u64) -> Result<u64> {
        let (first, last) = self.groups(bin / GROUP)?;
        Ok(first + self.below(first + 1, last + 1, (bin % GROUP) as u8)?)
    }

    /// The entries of a group and of the one after it.
    #[inline(always)]
    fn groups(&self, group: u64) -> Result<(u64, u64)> {
        Ok((self.group(group)?, self.group(group + 1)?))
    }

    #[inline(always)]
    fn group(&self, group: u64) -> Result<u64> {
        let position = group * 4;
        let bytes = self.stream_page(position / PAYLOAD as u64)?;
        Ok(u64::from(u32_at(bytes, (position % PAYLOAD as u64) as usize).unwrap_or(0)))
    }

    #[inline(always)]
    fn byte(&self, page: u64) -> Result<u8> {
        let position = self.bytes + page;
        let bytes = self.stream_page(position / PAYLOAD as u64)?;
        Ok(bytes[(position % PAYLOAD as u64) as usize])
    }

    /// A page of the stream, verified.
    #[inline(always)]
    fn stream_page(&self, number: u64) -> Result<&[u8]> {
        self.file.mapped_page(number + 1)
    }

    /// How many of the pages from `first` to before `end` have a byte less than `wanted`.
    #[inline(always)]
    fn below(&self, first: u64, end: u64, wanted: u8) -> Result<u64> {
        let mut position = self.bytes + first;
        let end = self.bytes + end;
        let mut count = 0;
        while position < end {
            let within = (position % PAYLOAD as u64) as usize;
            let piece = ((end - position) as usize).min(PAYLOAD - within);
            let bytes = &self.stream_page(position / PAYLOAD as u64)?[within..within + piece];
            if piece > 64 {
                // Many pages: the bytes ascend within a group, so those below are at the front.
                let here = bytes.partition_point(|&byte| byte < wanted);
                count += here as u64;
                if here < piece {
                    break;
                }
            } else {
                count += bytes.iter().map(|&byte| u64::from(byte < wanted)).sum::<u64>();
            }
            position += piece as u64;
        }
        Ok(count)
    }
}
