//! The index of slots (FORMAT.md §7).

use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::page::{PAYLOAD, SIZE};
use crate::format::u64_at;

/// An array of entries of equal width. Thread-safe.
pub(crate) struct SlotIndex {
    file: PagedFile,
    width: usize,
    per_page: u64,
}

impl SlotIndex {
    /// `width` is 8, or one more than the bytes kept of a value.
    pub(crate) fn open(file: PagedFile, width: usize, records: u64) -> Result<SlotIndex> {
        let per_page = (PAYLOAD / width) as u64;
        let pages = records.div_ceil(per_page) + 2;
        if file.pages() != pages {
            return Err(file.damaged(
                0,
                format!("{pages} pages for {records} records"),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(SlotIndex { file, width, per_page })
    }

    pub(crate) fn file(&self) -> &PagedFile {
        &self.file
    }

    /// The page of a slot's entry.
    #[inline(always)]
    pub(crate) fn page(&self, slot: u64) -> u64 {
        1 + slot / self.per_page
    }

    /// Where a slot's entry begins in its page.
    #[inline(always)]
    pub(crate) fn within(&self, slot: u64) -> usize {
        (slot % self.per_page) as usize * self.width
    }

    #[inline]
    pub(crate) fn prefetch(&self, slot: u64) {
        self.file.prefetch(self.page(slot) * SIZE as u64 + self.within(slot) as u64);
    }

    /// The address in a slot's entry, given its page.
    #[inline]
    pub(crate) fn word(&self, slot: u64, page: &[u8]) -> u64 {
        u64_at(page, self.within(slot)).unwrap_or(0)
    }

    /// Where in its page the value of a slot's entry lies (approximate mode).
    pub(crate) fn value(&self, slot: u64, page: &[u8]) -> Result<std::ops::Range<usize>> {
        let number = self.page(slot);
        self.file.require_nonzero(number, page)?;
        let at = self.within(slot);
        let length = usize::from(page[at]);
        if length >= self.width {
            return Err(self.file.damaged(
                number * SIZE as u64 + at as u64,
                format!("a value of at most {} bytes", self.width - 1),
                format!("{length} bytes"),
            ));
        }
        Ok(at + 1..at + 1 + length)
    }
}
