//! The nodes of the tree of keys (FORMAT.md §16).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use crate::format::block;
use crate::format::record::MAX_KEY;
use crate::format::{u16_at, u32_at, u64_at};

/// Bytes before the starts of the blocks.
const HEADER: usize = 16;

/// Entries of a block.
pub(crate) const IN_BLOCK: usize = 64;

/// Bits of the value of an entry above the leaves.
pub(crate) const CHILD: usize = 40;

/// A length that does not fit in four bits has this instead, and what is more follows.
const LONG: usize = 15;

/// A node, decoded where it lies. Nothing that its bytes say leads out of them: functions return None if the
/// bytes are not those of a node.
pub(crate) struct Node<'a> {
    bytes: Cow<'a, [u8]>,
    width: usize,
    count: usize,
}

/// An entry whose key is not decoded.
struct Entry {
    /// Bytes that the key shares with another one.
    shared: usize,
    /// Where the rest of the key lies.
    rest: Range<usize>,
}

/// The number of pages of a node, given the first.
pub(crate) fn pages(first: &[u8]) -> u64 {
    u64::from(first[3]) + 1
}

impl<'a> Node<'a> {
    /// A node of a level. `bytes` is the payload of its pages, and `width` the bits of the value of an entry, 63 at most.
    pub(crate) fn of(bytes: Cow<'a, [u8]>, level: usize, width: usize) -> Option<Self> {
        let count = usize::from(u16_at(&bytes, 0)?);
        let node = Node { bytes, width, count };
        let right = count > 0
            && usize::from(node.bytes[2]) == level
            && node.values_at() + (width * count).div_ceil(8) <= node.len();
        right.then_some(node)
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The number of entries, at least 1.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn pages(&self) -> u64 {
        pages(&self.bytes)
    }

    /// The number of pages of the node before it in its level, if there is one.
    pub(crate) fn pages_before(&self) -> u64 {
        u64::from(self.bytes[4]) + 1
    }

    /// The number of records before the first one of the node or below it.
    pub(crate) fn before(&self) -> u64 {
        u64_at(&self.bytes, 8).unwrap_or(0)
    }

    fn blocks(&self) -> usize {
        self.count.div_ceil(IN_BLOCK)
    }

    fn values_at(&self) -> usize {
        HEADER + 4 * self.blocks()
    }

    /// The value of an entry: a shortened address, or the page of a child.
    pub(crate) fn value(&self, number: usize) -> u64 {
        let bit = self.width * number;
        let at = self.values_at() + bit / 8;
        let end = self.values_at() + (bit + self.width).div_ceil(8);
        let bytes = self.bytes.get(at..end).unwrap_or(&[]);
        let all = bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte));
        (all >> (bit % 8)) as u64 & ((1 << self.width) - 1)
    }

    /// The first entry of a block.
    fn first_of(&self, block: usize) -> Option<Entry> {
        self.entry(u32_at(&self.bytes, HEADER + 4 * block)? as usize)
    }

    #[inline]
    fn entry(&self, at: usize) -> Option<Entry> {
        let lengths = usize::from(*self.bytes.get(at)?);
        let (shared, shared_end) = self.more(lengths >> 4, at + 1)?;
        let (rest, start) = self.more(lengths & LONG, shared_end)?;
        let end = start + rest;
        (end <= self.len()).then_some(Entry { shared, rest: start..end })
    }

    /// A length and where it ends, given its four bits.
    #[inline]
    fn more(&self, bits: usize, at: usize) -> Option<(usize, usize)> {
        if bits != LONG {
            return Some((bits, at));
        }
        let (more, end) = block::leb128(&self.bytes, at).ok()??;
        (more <= MAX_KEY as u64).then_some((LONG + more as usize, end))
    }

    fn rest(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.rest.clone()]
    }

    /// The number of the entry with a key, or how many entries are less.
    ///
    /// No key is decoded. What an entry shares with the one before it, or the first of a block with the first of
    /// the node, compared with what that one shares with the wanted key, tells which is less, unless both share
    /// the same.
    pub(crate) fn search(&self, key: &[u8]) -> Option<Result<usize, usize>> {
        let first = self.first_of(0)?;
        let (mut common, order) = compare(self.rest(&first), key);
        match order {
            Ordering::Equal => return Some(Ok(0)),
            Ordering::Greater => return Some(Err(0)),
            Ordering::Less => {}
        }
        let of_first = common;
        let (mut low, mut high) = (0, self.blocks() - 1);
        let mut entry = first;
        while low < high {
            let middle = (low + high).div_ceil(2);
            let candidate = self.first_of(middle)?;
            let (shared, order) = match candidate.shared.cmp(&of_first) {
                Ordering::Less => (0, Ordering::Greater),
                Ordering::Greater => (of_first, Ordering::Less),
                Ordering::Equal => {
                    let (more, order) = compare(self.rest(&candidate), key.get(of_first..)?);
                    (of_first + more, order)
                }
            };
            match order {
                Ordering::Equal => return Some(Ok(middle * IN_BLOCK)),
                Ordering::Greater => high = middle - 1,
                Ordering::Less => {
                    low = middle;
                    common = shared;
                    entry = candidate;
                }
            }
        }
        let end = self.count.min((low + 1) * IN_BLOCK);
        for number in low * IN_BLOCK + 1..end {
            entry = self.entry(entry.rest.end)?;
            match entry.shared.cmp(&common) {
                Ordering::Less => return Some(Err(number)),
                Ordering::Greater => {}
                Ordering::Equal => {
                    let (more, order) = compare(self.rest(&entry), key.get(common..)?);
                    match order {
                        Ordering::Equal => return Some(Ok(number)),
                        Ordering::Greater => return Some(Err(number)),
                        Ordering::Less => common += more,
                    }
                }
            }
        }
        Some(Err(end))
    }

    /// Decodes the keys of a block.
    pub(crate) fn decode(&self, block: usize, keys: &mut KeyBlock) -> Option<()> {
        keys.clear();
        let first = self.first_of(0)?;
        let mut entry = self.first_of(block)?;
        if first.shared != 0 {
            return None;
        }
        keys.bytes.extend_from_slice(self.rest(&first).get(..entry.shared)?);
        keys.end(self.rest(&entry))?;
        for _ in block * IN_BLOCK + 1..self.count.min((block + 1) * IN_BLOCK) {
            entry = self.entry(entry.rest.end)?;
            let last = keys.range(keys.len() - 1);
            if entry.shared > last.len() {
                return None;
            }
            keys.bytes.extend_from_within(last.start..last.start + entry.shared);
            keys.end(self.rest(&entry))?;
        }
        Some(())
    }
}

/// How many bytes two strings have in common at their beginnings, and how the first compares with the second.
#[inline]
fn compare(one: &[u8], other: &[u8]) -> (usize, Ordering) {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    (common, one.get(common).cmp(&other.get(common)))
}

/// The keys of a block.
#[derive(Default)]
pub(crate) struct KeyBlock {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyBlock {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    /// Ends a key, whose shared bytes were added, with its rest.
    fn end(&mut self, rest: &[u8]) -> Option<()> {
        self.bytes.extend_from_slice(rest);
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.push(self.bytes.len());
        (self.bytes.len() - start <= MAX_KEY).then_some(())
    }

    /// A key of the block.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        &self.bytes[self.range(number)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a node as the format says.
    fn encode(keys: &[Vec<u8>], level: usize, width: usize) -> Vec<u8> {
        let mut entries = Vec::new();
        let mut starts = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let other: &[u8] = match i {
                0 => b"",
                i if i % IN_BLOCK == 0 => &keys[0],
                i => &keys[i - 1],
            };
            let (shared, _) = compare(other, key);
            let rest = key.len() - shared;
            if i % IN_BLOCK == 0 {
                starts.push(entries.len());
            }
            entries.push((shared.min(LONG) << 4 | rest.min(LONG)) as u8);
            for length in [shared, rest] {
                if length >= LONG {
                    let mut more = length - LONG;
                    while more >= 0x80 {
                        entries.push(more as u8 | 0x80);
                        more >>= 7;
                    }
                    entries.push(more as u8);
                }
            }
            entries.extend_from_slice(&key[shared..]);
        }
        let at = HEADER + 4 * starts.len() + (width * keys.len()).div_ceil(8);
        let mut bytes = vec![0; HEADER];
        bytes[..2].copy_from_slice(&(keys.len() as u16).to_le_bytes());
        bytes[2] = level as u8;
        for start in starts {
            bytes.extend_from_slice(&((at + start) as u32).to_le_bytes());
        }
        let values = bytes.len();
        bytes.resize(at, 0);
        for i in 0..keys.len() {
            for bit in (0..width).filter(|bit| (i + 7) >> bit & 1 == 1) {
                bytes[values + (width * i + bit) / 8] |= 1 << ((width * i + bit) % 8);
            }
        }
        bytes.extend_from_slice(&entries);
        bytes.extend_from_slice(&[0; 9]);
        bytes
    }

    #[test]
    fn encodes_the_example_of_the_format() {
        let keys = [b"ab".to_vec(), b"abc".to_vec(), b"b".to_vec()];
        let bytes = encode(&keys, 0, 0);
        assert_eq!(bytes[..8], [3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[16..28], [0x14, 0, 0, 0, 0x02, 0x61, 0x62, 0x21, 0x63, 0x01, 0x62, 0]);
    }

    fn check(mut keys: Vec<Vec<u8>>, wanted: &[Vec<u8>]) {
        keys.sort();
        keys.dedup();
        for width in [13, 29, CHILD, 63] {
            check_width(&keys, wanted, width);
        }
    }

    fn check_width(keys: &[Vec<u8>], wanted: &[Vec<u8>], width: usize) {
        let bytes = encode(keys, 1, width);
        let node = Node::of(Cow::Borrowed(&bytes), 1, width).unwrap();
        let mut decoded = KeyBlock::default();
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(node.search(key), Some(Ok(i)));
            node.decode(i / IN_BLOCK, &mut decoded).unwrap();
            assert_eq!(decoded.get(i % IN_BLOCK), key);
            assert_eq!(node.value(i), i as u64 + 7);
            let longer = [key, &b"\0"[..]].concat();
            assert_eq!(node.search(&longer), Some(keys.binary_search(&longer)));
            if let Some((_, shorter)) = key.split_last() {
                assert_eq!(node.search(shorter), Some(keys.binary_search_by(|key| key[..].cmp(shorter))));
            }
        }
        for key in wanted {
            assert_eq!(node.search(key), Some(keys.binary_search(key)));
        }
    }

    #[test]
    fn finds_keys_that_share_many_bytes() {
        let long = |last: u8| [vec![b'x'; 40_000], vec![last; 3]].concat();
        check((0..=255).map(long).collect(), &[long(7)[..40_000].to_vec(), vec![b'x'; 40_001]]);
    }

    proptest::proptest! {
        #[test]
        fn finds_keys(
            keys in proptest::collection::vec(proptest::collection::vec(0u8..4, 0..24), 1..200),
            wanted in proptest::collection::vec(proptest::collection::vec(0u8..4, 0..24), 0..50),
        ) {
            check(keys, &wanted);
        }

        #[test]
        fn never_leaves_its_bytes(
            mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 60..400),
            count in 1u16..70,
            start in 16u8..200,
        ) {
            bytes[..2].copy_from_slice(&count.to_le_bytes());
            bytes[2] = 0;
            for at in (16..60).step_by(4) {
                bytes[at..at + 4].copy_from_slice(&[start.wrapping_add(at as u8), 0, 0, 0]);
            }
            if let Some(node) = Node::of(Cow::Borrowed(&bytes), 0, 21) {
                let mut keys = KeyBlock::default();
                for number in 0..node.count() {
                    node.value(number);
                    if node.decode(number / IN_BLOCK, &mut keys).is_some() {
                        let key = keys.get(number % IN_BLOCK).to_vec();
                        node.search(&key);
                    }
                }
                node.search(b"");
                node.search(&bytes);
            }
        }
    }
}
