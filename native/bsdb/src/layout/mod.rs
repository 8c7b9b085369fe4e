//! From a place in the data files to a record (FORMAT.md §4, §12).

pub(crate) mod compressed;
pub(crate) mod packed;
pub(crate) mod plain;
pub(crate) mod zstd;

use std::ops::Range;

use crate::os::direct::Pages;

/// Pages of a data file that a lookup reads, and what to look for in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Number of the data file.
    pub(crate) file: usize,
    /// The first page, counted from the header.
    pub(crate) first: u64,
    /// How many pages.
    pub(crate) count: u64,
    /// What the layout needs to know: a position in the first page, or the number of a bin there.
    pub(crate) at: usize,
    /// The rest: an offset in a block, or how many bins start in the page.
    pub(crate) detail: usize,
}

/// The result of a search in loaded pages.
pub(crate) enum Outcome {
    /// There is no such record.
    Absent,
    /// The value, within the pages.
    Pages(Range<usize>),
    /// The value, within `Scratch::raw`.
    Raw(Range<usize>),
    /// So many pages are needed.
    More(u64),
}

/// Buffers of a thread.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Pages of an index.
    pub(crate) index: Pages,
    /// Pages of data.
    pub(crate) data: Pages,
    pub(crate) work: Work,
}

/// Buffers for what does not lie in one piece.
#[derive(Default)]
pub(crate) struct Work {
    /// Decompressed or assembled records, or a value.
    pub(crate) raw: Vec<u8>,
    /// Compressed bytes that were assembled.
    pub(crate) frame: Vec<u8>,
    pub(crate) zstd: zstd::Decompressor,
}

/// Buffers longer than this are given back after use.
pub(crate) const KEEP: usize = 4 << 20;

impl Work {
    /// Frees what an unusually long record has taken.
    pub(crate) fn trim(&mut self) {
        for buffer in [&mut self.raw, &mut self.frame] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
    }
}

impl Scratch {
    /// Frees what an unusually long record has taken.
    pub(crate) fn trim(&mut self) {
        self.work.trim();
        for pages in [&mut self.index, &mut self.data] {
            if pages.capacity() > KEEP {
                *pages = Pages::default();
            }
        }
    }
}
