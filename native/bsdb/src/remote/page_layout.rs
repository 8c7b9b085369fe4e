//! The bytes of the page file (docs/REMOTE.md, "The page file"): where its entries and pages are, and which slot a page
//! takes.

use crate::format::page::SIZE;
use crate::format::{u32_at, u64_at};

const PAGE: u64 = SIZE as u64;
pub(crate) const WAYS: u64 = 8;
pub(crate) const ENTRY: u64 = 16;

/// `BSDBPGS` and the version, 1.
const MAGIC: u64 = 0x5347_5042_4453_4201;
const CHECKSUMMED: usize = 16;

/// Where everything is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    sets: u64,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The hash of its page; 0 if the slot is empty.
    pub(crate) hash: u64,
    /// The last 4 bytes of its page, combined with the hash.
    pub(crate) bound: u32,
    /// When it was last read.
    pub(crate) used: i32,
}

impl Places {
    /// The places of a file of at most so many bytes.
    pub(crate) fn of(bytes: u64) -> Places {
        Places { sets: (bytes - PAGE) / (WAYS * (PAGE + ENTRY)) }
    }

    pub(crate) fn header(self) -> [u8; SIZE] {
        let mut header = [0; SIZE];
        header[..8].copy_from_slice(&MAGIC.to_le_bytes());
        header[16..24].copy_from_slice(&self.sets.to_le_bytes());
        let checksum = crc32c::crc32c(&header[CHECKSUMMED..]);
        header[8..12].copy_from_slice(&checksum.to_le_bytes());
        header
    }

    /// The first slot of the set of a page.
    pub(crate) fn first(self, hash: u64) -> u64 {
        (((hash >> 32) * self.sets) >> 32) * WAYS
    }

    pub(crate) fn entry(slot: u64) -> u64 {
        PAGE + slot * ENTRY
    }

    pub(crate) fn page(self, slot: u64) -> u64 {
        PAGE + (self.sets * WAYS * ENTRY).next_multiple_of(PAGE) + slot * PAGE
    }

    /// Bytes of the file.
    pub(crate) fn length(self) -> u64 {
        self.page(self.sets * WAYS)
    }
}

impl Entry {
    pub(crate) fn of(bytes: &[u8]) -> Entry {
        Entry {
            hash: u64_at(bytes, 0).unwrap_or(0),
            bound: u32_at(bytes, 8).unwrap_or(0),
            used: u32_at(bytes, 12).unwrap_or(0) as i32,
        }
    }
}

/// The number that stands for a file of a database: 256 times the kind of the file, plus its number.
pub(crate) fn identity(id: &[u8; 16], file: u64) -> u64 {
    let (high, low) = (u64_at(id, 0).unwrap_or(0), u64_at(id, 8).unwrap_or(0));
    mix(mix(mix(high) ^ low) ^ file)
}

/// The finalizer of SplitMix64.
pub(crate) fn mix(bits: u64) -> u64 {
    let mixed = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The hash of a page, never 0.
pub(crate) fn hash(identity: u64, number: u64) -> u64 {
    mix(identity ^ number.wrapping_add(0x9e37_79b9_7f4a_7c15)).max(1)
}

/// The way that a page takes: the one that it has, one that is empty, or the one that was read least recently. Of several
/// it is the first from `any` on.
pub(crate) fn choose(entries: &[Entry], hash: u64, any: usize) -> usize {
    let rank = |entry: &Entry| match entry.hash {
        own if own == hash => (0, 0),
        0 => (1, 0),
        _ => (2, entry.used),
    };
    let ways = (0..entries.len()).map(|way| (way + any) % entries.len());
    ways.min_by_key(|&way| rank(&entries[way])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_document() {
        // The least file: 31 sets, so 248 entries in one page, and 248 pages.
        let places = Places::of(1 << 20);
        assert_eq!((places.sets, places.page(0), places.length()), (31, 2 * 4096, (2 + 248) * 4096));
        let places = Places::of(10 << 30);
        assert!(places.length() <= 10 << 30 && places.length() > (10 << 30) - (1 << 20));
        assert_eq!(places.page(0) % PAGE, 0);
        assert!(places.page(0) >= Places::entry(places.sets * WAYS));
        for hash in [1, u64::MAX, 1 << 63] {
            assert!(places.first(hash) + WAYS <= places.sets * WAYS);
        }
    }

    #[test]
    fn the_header_begins_as_in_the_document() {
        let header = Places::of(1 << 20).header();
        assert_eq!(header[..8], [1, 0x42, 0x53, 0x44, 0x42, 0x50, 0x47, 0x53]);
        assert_eq!(u32_at(&header, 8), Some(crc32c::crc32c(&header[16..])));
        assert_eq!((u32_at(&header, 12), u64_at(&header, 16)), (Some(0), Some(31)));
    }

    #[test]
    fn a_page_has_a_hash_of_its_own() {
        let mut id = [0; 16];
        (id[0], id[15]) = (1, 2);
        let one = identity(&id, 4 << 8);
        assert_eq!(one, mix(mix(mix(1) ^ 2 << 56) ^ 1024));
        assert_eq!(hash(one, 7), mix(one ^ 0x9e37_79b9_7f4a_7c1c));
        assert_ne!(hash(one, 7), hash(identity(&id, 4 << 8 | 1), 7));
        // What would be 0 is 1.
        assert_eq!(hash(0x9e37_79b9_7f4a_7c15, 0), 1);
        assert_eq!(mix(1), 0x5692_161d_100b_05e5);
    }

    #[test]
    fn the_page_that_was_not_read_for_longest_goes() {
        let entry = |hash, used| Entry { hash, bound: 0, used };
        let full: Vec<Entry> = (0..8).map(|i| entry(100 + i, 50 - i as i32)).collect();
        assert_eq!(choose(&full, 1, 3), 7);
        assert_eq!(choose(&full, 102, 3), 2);
        let mut entries = full.clone();
        entries[4] = entry(0, 99);
        assert_eq!(choose(&entries, 1, 6), 4);
        assert_eq!(choose(&entries, 107, 6), 7);
        let same: Vec<Entry> = (0..8).map(|i| entry(100 + i, 5)).collect();
        assert_eq!((choose(&same, 1, 3), choose(&same, 1, 9)), (3, 1));
    }
}
