//! Mapped files.

use std::fs::File;
use std::io;

#[cfg(unix)]
use memmap2::Advice;
use memmap2::{Mmap, MmapOptions};

use crate::format::page::SIZE;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// A file in memory, read-only.
pub(crate) struct Mapping(Mmap);

impl Mapping {
    /// Maps the first `length` bytes of a file, which must have as many.
    pub(crate) fn of(file: &File, length: u64, random: bool) -> io::Result<Mapping> {
        let length = usize::try_from(length)
            .map_err(|_| io::Error::other("the file is too large for this machine's addresses"))?;
        // SAFETY: the bytes are only read, as numbers without invalid values. A database's files never
        // change (FORMAT.md §8), and the crate's documentation makes that the caller's promise. If another
        // process breaks it, no reference to structured data depends on the bytes; every offset that comes
        // from them is checked before use.
        let map = unsafe { MmapOptions::new().len(length).map(file) }?;
        #[cfg(not(unix))]
        let _ = random;
        #[cfg(unix)]
        if random {
            // Advice may fail on file systems that do not know it; nothing depends on it.
            let _ = map.advise(Advice::Random);
        }
        Ok(Mapping(map))
    }

    /// Copies bytes to a mapping without a file.
    #[cfg(feature = "remote")]
    pub(crate) fn of_bytes(bytes: &[u8]) -> io::Result<Mapping> {
        let mut map = memmap2::MmapMut::map_anon(bytes.len())?;
        map.copy_from_slice(bytes);
        Ok(Mapping(map.make_read_only()?))
    }

    /// The whole pages.
    #[inline(always)]
    pub(crate) fn pages(&self) -> &[[u8; SIZE]] {
        let bytes = self.bytes();
        // SAFETY: arrays of bytes need no alignment, and as many fit in the slice, whose lifetime the result has.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / SIZE) }
    }

    /// The bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Prefetches an item of a slice, if there is one.
#[inline(always)]
pub(crate) fn prefetch_item(items: &[u32], at: usize) {
    if let Some(item) = items.get(at) {
        prefetch_line(std::ptr::from_ref(item).cast());
    }
}

/// Asks the processor to load the cache line of a byte. Does nothing if there is no such byte.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        prefetch_line(byte);
    }
}

#[inline(always)]
fn prefetch_line(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch reads no memory as far as the program can tell, at any address.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) at, options(nostack, readonly, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetches_only_what_is_there() {
        let bytes = [1u8; 100];
        prefetch(&bytes, 0);
        prefetch(&bytes, 99);
        prefetch(&bytes, 100);
        prefetch(&bytes, usize::MAX);
        prefetch(&[], 0);
    }

    #[test]
    #[cfg_attr(miri, ignore)] // Miri maps no files
    fn maps_a_file() {
        use std::io::Write;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 8192]).unwrap();
        let map = Mapping::of(&file, 8192, true).unwrap();
        assert_eq!(map.bytes(), [7; 8192]);
        assert_eq!(map.pages(), [[7; SIZE]; 2]);
    }
}
