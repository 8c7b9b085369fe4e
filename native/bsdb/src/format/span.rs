//! The stream of payload bytes in consecutive pages.

use std::borrow::Cow;
use std::path::Path;

use super::page::{PAYLOAD, SIZE};
use crate::error::Result;
use crate::memory;

/// The payloads of whole pages, seen as one stream without the checksums between them.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pages: &'a [u8],
}

impl<'a> Span<'a> {
    /// A view of whole pages.
    pub(crate) fn new(pages: &'a [u8]) -> Self {
        Span { pages }
    }

    /// Bytes of payload.
    pub(crate) fn len(&self) -> usize {
        self.pages.len() / SIZE * PAYLOAD
    }

    /// Where a position lies in the pages.
    pub(crate) fn at(position: usize) -> usize {
        position / PAYLOAD * SIZE + position % PAYLOAD
    }

    /// The bytes at a position to the end of its page, at most `length`; empty beyond the end.
    fn piece(&self, position: usize, length: usize) -> &'a [u8] {
        let at = Self::at(position);
        let end = at + length.min(PAYLOAD - position % PAYLOAD);
        self.pages.get(at..end).unwrap_or(&[])
    }

    /// Where the bytes lie in the pages, if they are all in one.
    pub(crate) fn contiguous(&self, position: usize, length: usize) -> Option<std::ops::Range<usize>> {
        let within = position % PAYLOAD;
        let at = Self::at(position);
        (within + length <= PAYLOAD && at + length <= self.pages.len()).then_some(at..at + length)
    }

    /// The bytes at a position of a file at `path`, or None if they are not all there.
    pub(crate) fn bytes(&self, position: usize, length: usize, path: &Path) -> Result<Option<Cow<'a, [u8]>>> {
        if let Some(range) = self.contiguous(position, length) {
            return Ok(Some(Cow::Borrowed(&self.pages[range])));
        }
        let mut bytes = Vec::new();
        Ok(self.copy(position, length, &mut bytes, path)?.then_some(Cow::Owned(bytes)))
    }

    /// Replaces what a buffer holds by the bytes at a position of a file at `path`; false if they are not all there.
    pub(crate) fn copy(&self, position: usize, length: usize, to: &mut Vec<u8>, path: &Path) -> Result<bool> {
        to.clear();
        if position.checked_add(length).is_none_or(|end| end > self.len()) {
            return Ok(false);
        }
        memory::reserve(to, length, path)?;
        let mut position = position;
        let mut left = length;
        while left > 0 {
            let piece = self.piece(position, left);
            to.extend_from_slice(piece);
            position += piece.len();
            left -= piece.len();
        }
        Ok(true)
    }

    /// Whether the bytes at a position are `wanted`.
    pub(crate) fn equals(&self, position: usize, wanted: &[u8]) -> bool {
        if position.checked_add(wanted.len()).is_none_or(|end| end > self.len()) {
            return false;
        }
        let mut position = position;
        let mut wanted = wanted;
        while !wanted.is_empty() {
            let piece = self.piece(position, wanted.len());
            if piece != &wanted[..piece.len()] {
                return false;
            }
            position += piece.len();
            wanted = &wanted[piece.len()..];
        }
        true
    }

    /// Up to N bytes at a position, in an array; and how many there are.
    pub(crate) fn head<const N: usize>(&self, position: usize) -> ([u8; N], usize) {
        let mut head = [0; N];
        let mut length = 0;
        while length < head.len() {
            let piece = self.piece(position + length, head.len() - length);
            if piece.is_empty() {
                break;
            }
            head[length..length + piece.len()].copy_from_slice(piece);
            length += piece.len();
        }
        (head, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_the_checksums() {
        let mut pages = vec![0u8; 3 * SIZE];
        for (i, byte) in pages.iter_mut().enumerate() {
            *byte = if i % SIZE < PAYLOAD { (i % SIZE) as u8 } else { 0xee };
        }
        let span = Span::new(&pages);
        assert_eq!(span.len(), 3 * PAYLOAD);
        let here = Path::new("");
        let bytes = span.bytes(PAYLOAD - 2, PAYLOAD + 4, here).unwrap().unwrap();
        assert_eq!(bytes.len(), PAYLOAD + 4);
        assert_eq!(bytes[0], (PAYLOAD - 2) as u8);
        assert_eq!(bytes[2], 0);
        assert!(span.equals(PAYLOAD - 2, &bytes));
        assert!(!span.equals(PAYLOAD - 3, &bytes));
        assert!(span.bytes(3 * PAYLOAD - 1, 2, here).unwrap().is_none());
        assert_eq!(span.head::<9>(3 * PAYLOAD - 2).1, 2);
        assert_eq!(span.head::<9>(PAYLOAD - 2).1, 9);
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_a_plain_copy(count in 1usize..5, position in 0usize..20_000, length in 0usize..20_000) {
            let pages: Vec<u8> = (0..count * SIZE).map(|i| (i * 31 / 8) as u8).collect();
            let plain: Vec<u8> = pages.chunks(SIZE).flat_map(|page| page[..PAYLOAD].to_vec()).collect();
            let span = Span::new(&pages);
            let expected = plain.get(position..position + length);
            let found = span.bytes(position, length, Path::new("")).unwrap();
            proptest::prop_assert_eq!(found.as_deref(), expected);
            if let Some(expected) = expected {
                proptest::prop_assert!(span.equals(position, expected));
                let range = span.contiguous(position, length);
                proptest::prop_assert!(range.is_none_or(|range| &pages[range] == expected));
                if let [first, ..] = expected {
                    let mut other = expected.to_vec();
                    other[0] = first ^ 1;
                    proptest::prop_assert!(!span.equals(position, &other));
                }
            }
        }
    }
}
