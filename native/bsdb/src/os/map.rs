//! Mapped files.

use std::fs::File;
use std::io;

use memmap2::{Advice, Mmap, MmapOptions};

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
        if random {
            // Advice may fail on file systems that do not know it; nothing depends on it.
            let _ = map.advise(Advice::Random);
        }
        Ok(Mapping(map))
    }

    /// The bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Asks the processor to load the cache line of a byte. Does nothing if there is no such byte.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    if at >= bytes.len() {
        return;
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch reads no memory as far as the program can tell; the address is in the slice.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().add(at).cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) bytes.as_ptr().add(at), options(nostack, readonly, preserves_flags));
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
    }
}
