//! Encodes the nodes of the tree of keys (FORMAT.md §16).

use crate::format::page::PAYLOAD;

/// Bytes before the starts of the blocks.
const HEADER: usize = 16;

/// Entries of a block.
const IN_BLOCK: usize = 64;

/// A length that does not fit in four bits has this instead, and what is more follows.
const LONG: usize = 15;

/// The entries of a node, which takes one page unless its first entries need more.
#[derive(Debug)]
pub(super) struct Node {
    level: u8,
    /// Bits of the value of an entry, 63 at most.
    width: usize,
    /// The entries that a node has at least, unless it is the last one of its level.
    least: usize,
    first: Vec<u8>,
    last: Vec<u8>,
    /// The entries without their values, and where each block starts in them.
    entries: Vec<u8>,
    starts: Vec<u32>,
    values: Vec<u64>,
    pages: usize,
}

impl Node {
    pub(super) fn new(level: u8, width: usize, least: usize) -> Node {
        Node {
            level,
            width,
            least,
            first: Vec::new(),
            last: Vec::new(),
            entries: Vec::with_capacity(PAYLOAD),
            starts: Vec::new(),
            values: Vec::new(),
            pages: 0,
        }
    }

    /// The number of entries.
    pub(super) fn count(&self) -> usize {
        self.values.len()
    }

    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// The last key, also if it is in the node before.
    pub(super) fn last(&self) -> &[u8] {
        &self.last
    }

    /// Replaces the value of the last entry.
    pub(super) fn replace_last(&mut self, value: u64) {
        if let Some(last) = self.values.last_mut() {
            *last = value;
        }
    }

    /// Adds an entry, or returns false if it has no room. `shared` is what the key has in common with the last one. An
    /// empty node has room.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], shared: usize, value: u64) -> bool {
        let count = self.count();
        let starts_block = count % IN_BLOCK == 0;
        let with_other = match count {
            0 => 0,
            _ if starts_block => common(&self.first, key),
            _ => shared,
        };
        let rest = key.len() - with_other;
        let entry = 1 + more_bytes(with_other) + more_bytes(rest) + rest;
        let pages = node_bytes(count + 1, self.width, self.entries.len() + entry).div_ceil(PAYLOAD);
        if pages > self.pages {
            if count >= self.least {
                return false;
            }
            self.pages = pages;
        }
        if starts_block {
            self.starts.push(self.entries.len() as u32);
        }
        self.entries.push((with_other.min(LONG) << 4 | rest.min(LONG)) as u8);
        put_more(&mut self.entries, with_other);
        put_more(&mut self.entries, rest);
        self.entries.extend_from_slice(&key[with_other..]);
        self.values.push(value);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        if count == 0 {
            self.first.clear();
            self.first.extend_from_slice(key);
        }
        true
    }

    /// Encodes the payload of the node's pages, and removes the entries. `pages_before` are those of the node before it
    /// in its level, 0 without one; `before` is the number of keys before it.
    pub(super) fn encode(&mut self, pages_before: usize, before: u64, to: &mut Vec<u8>) {
        let count = self.count();
        to.clear();
        to.extend_from_slice(&(count as u16).to_le_bytes());
        to.extend_from_slice(&[self.level, (self.pages - 1) as u8, pages_before.saturating_sub(1) as u8, 0, 0, 0]);
        to.extend_from_slice(&before.to_le_bytes());
        let at = node_bytes(count, self.width, 0) as u32;
        for start in &self.starts {
            to.extend_from_slice(&(at + start).to_le_bytes());
        }
        // Bits that are not yet a whole byte.
        let (mut bits, mut held) = (0u128, 0);
        for &value in &self.values {
            bits |= u128::from(value) << held;
            held += self.width;
            while held >= 8 {
                to.push(bits as u8);
                bits >>= 8;
                held -= 8;
            }
        }
        if held > 0 {
            to.push(bits as u8);
        }
        to.extend_from_slice(&self.entries);
        to.resize(self.pages * PAYLOAD, 0);
        self.entries.clear();
        self.starts.clear();
        self.values.clear();
        self.pages = 0;
    }
}

/// Bytes of a node of so many entries, which take `entries` bytes besides their values.
fn node_bytes(count: usize, width: usize, entries: usize) -> usize {
    HEADER + 4 * count.div_ceil(IN_BLOCK) + (width * count).div_ceil(8) + entries
}

/// Bytes of a length beyond its four bits.
fn more_bytes(length: usize) -> usize {
    match length {
        0..LONG => 0,
        length if length - LONG < 1 << 7 => 1,
        length if length - LONG < 1 << 14 => 2,
        _ => 3,
    }
}

/// Puts a length beyond its four bits.
#[inline]
fn put_more(to: &mut Vec<u8>, length: usize) {
    if length >= LONG {
        let mut more = length - LONG;
        while more >= 0x80 {
            to.push(more as u8 | 0x80);
            more >>= 7;
        }
        to.push(more as u8);
    }
}

/// How many bytes two keys have in common at their beginnings.
#[inline]
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    let mut same = 0;
    for (a, b) in one.chunks_exact(8).zip(other.chunks_exact(8)) {
        let (Ok(a), Ok(b)) = (a.try_into(), b.try_into()) else { break };
        let differing = u64::from_le_bytes(a) ^ u64::from_le_bytes(b);
        if differing != 0 {
            return same + differing.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    same + one[same..].iter().zip(&other[same..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::order::node::{KeyBlock, Node as Read};

    /// Encodes as many of the keys as fit in a node, and returns them as they are read, with their values.
    fn written(keys: &[Vec<u8>], level: u8, width: usize, least: usize) -> Vec<(Vec<u8>, u64)> {
        let mut node = Node::new(level, width, least);
        let value = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1 << width) - 1);
        for (i, key) in keys.iter().enumerate() {
            let shared = common(node.last(), key);
            if !node.add(key, shared, value(i)) {
                break;
            }
        }
        let count = node.count();
        let mut bytes = Vec::new();
        node.encode(3, 77, &mut bytes);
        assert_eq!(bytes.len() % PAYLOAD, 0);
        let read = Read::of(Cow::Owned(bytes), usize::from(level), width).unwrap();
        assert_eq!((read.count(), read.pages_before(), read.before()), (count, 3, 77));
        let mut block = KeyBlock::default();
        let mut all = Vec::new();
        for (i, key) in keys.iter().enumerate().take(count) {
            read.decode(i / IN_BLOCK, &mut block).unwrap();
            assert_eq!(read.value(i), value(i));
            assert_eq!(read.search(key), Some(Ok(i)));
            all.push((block.get(i % IN_BLOCK).to_vec(), value(i)));
        }
        all
    }

    #[test]
    fn encodes_the_example_of_the_format() {
        let mut node = Node::new(0, 0, 1);
        assert!(node.add(b"ab", 0, 0) && node.add(b"abc", 2, 0) && node.add(b"b", 0, 0));
        let mut bytes = Vec::new();
        node.encode(0, 0, &mut bytes);
        let content = [2, b'a', b'b', 0x21, b'c', 1, b'b'];
        assert_eq!(bytes[..27], [&[3, 0, 0, 0, 0, 0, 0, 0], &[0; 8][..], &[20, 0, 0, 0], &content].concat());
        assert_eq!((bytes.len(), &bytes[27..]), (PAYLOAD, &[0; PAYLOAD - 27][..]));
    }

    #[test]
    fn first_entries_have_room_for_themselves() {
        let long = |last: u8| [vec![b'x'; 65_000], vec![last; 535]].concat();
        let keys: Vec<_> = (0..5).map(long).collect();
        assert_eq!(written(&keys, 0, 63, 1).len(), 5);
        let keys: Vec<_> = (b'a'..b'e').map(|first| vec![first; 65_535]).collect();
        assert_eq!(written(&keys, 0, 40, 1).len(), 1);
        assert_eq!(written(&keys, 1, 40, 2).len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn nodes_hold_what_was_added(
            keys in proptest::collection::btree_set(proptest::collection::vec(0u8..3, 0..40), 1..400),
            width in 0usize..64,
        ) {
            let keys: Vec<_> = keys.into_iter().collect();
            let read = written(&keys, 0, width, 1);
            for (i, (key, _)) in read.iter().enumerate() {
                assert_eq!(key, &keys[i]);
            }
        }

        #[test]
        fn common_bytes_are_counted(
            one in proptest::collection::vec(0u8..2, 0..30),
            other in proptest::collection::vec(0u8..2, 0..30),
            same in 0usize..20,
        ) {
            let (one, other) = ([vec![9; same], one].concat(), [vec![9; same], other].concat());
            let wanted = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            assert_eq!(common(&one, &other), wanted);
        }
    }
}
