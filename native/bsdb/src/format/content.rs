//! Content hashes of files (FORMAT.md §8).

use sha2::{Digest, Sha256};

use super::page::SIZE;

/// Pages of a piece.
const PIECE: u64 = 256;

/// The content hash of a file.
pub(crate) type ContentHash = [u8; 32];

/// The hash of a piece, or of what there is of it: all its pages.
pub(crate) fn piece(pages: &[u8]) -> [u8; 32] {
    Sha256::digest(pages).into()
}

/// Computes a content hash from the content pages of a file, in order.
#[derive(Clone, Debug)]
pub(crate) struct ContentHasher {
    pieces: Sha256,
    piece: Sha256,
    /// The number of the next page.
    page: u64,
}

impl Default for ContentHasher {
    fn default() -> Self {
        ContentHasher { pieces: Sha256::new(), piece: Sha256::new(), page: 1 }
    }
}

impl ContentHasher {
    /// Adds the next pages, which must be whole.
    pub(crate) fn add(&mut self, mut pages: &[u8]) {
        debug_assert_eq!(pages.len() % SIZE, 0);
        while !pages.is_empty() {
            let room = (PIECE - self.page % PIECE) as usize * SIZE;
            let (now, rest) = pages.split_at(room.min(pages.len()));
            self.piece.update(now);
            self.page += (now.len() / SIZE) as u64;
            if self.page % PIECE == 0 {
                self.end_piece();
            }
            pages = rest;
        }
    }

    /// Adds the next piece, of which this is the hash. The pages before must be whole pieces.
    pub(crate) fn add_piece(&mut self, hash: &[u8; 32]) {
        debug_assert!(self.page == 1 || self.page % PIECE == 0);
        self.pieces.update(hash);
        self.page = (self.page / PIECE + 1) * PIECE;
    }

    fn end_piece(&mut self) {
        self.pieces.update(self.piece.finalize_reset());
    }

    /// The content hash of a file that has all pages that were added, and no others.
    pub(crate) fn finish(mut self) -> ContentHash {
        if self.page > 1 && self.page % PIECE > 0 {
            self.end_piece();
        }
        self.pieces.finalize().into()
    }
}

/// Parses the value of a line `file.sha256=`: 64 hexadecimal digits in lower case.
pub(crate) fn parse(text: &str) -> Option<ContentHash> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut hash = ContentHash::default();
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::frame::hex;

    /// Pages that differ from each other.
    fn pages(count: usize) -> Vec<u8> {
        (0..count * SIZE).map(|at| (at / SIZE * 31 + at % 251) as u8).collect()
    }

    /// The content hash by its definition: from a whole file, whose bytes are cut at each MiB.
    fn defined(content: &[u8]) -> ContentHash {
        let file = [&[0xee; SIZE], content].concat();
        let mut hashes = Vec::new();
        for (i, piece) in file.chunks(1 << 20).enumerate() {
            let piece = if i == 0 { &piece[SIZE..] } else { piece };
            if !piece.is_empty() {
                hashes.extend_from_slice(&Sha256::digest(piece));
            }
        }
        Sha256::digest(hashes).into()
    }

    #[test]
    fn hashes_are_those_of_the_definition() {
        for count in [0, 1, 2, 254, 255, 256, 257, 510, 511, 512, 767, 768] {
            let content = pages(count);
            for at_once in [1, 3, 255, 256, 1000] {
                let mut hasher = ContentHasher::default();
                content.chunks(at_once * SIZE).for_each(|pages| hasher.add(pages));
                assert_eq!(hasher.finish(), defined(&content), "{count} pages, {at_once} at once");
            }
            let mut hasher = ContentHasher::default();
            let (first, others) = content.split_at(content.len().min(255 * SIZE));
            let pieces = [first].into_iter().chain(others.chunks(256 * SIZE)).filter(|pages| !pages.is_empty());
            pieces.for_each(|pages| hasher.add_piece(&piece(pages)));
            assert_eq!(hasher.finish(), defined(&content), "{count} pages");
        }
    }

    #[test]
    fn a_file_without_content_has_the_hash_of_no_bytes() {
        let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex(&ContentHasher::default().finish()), none);
        assert_eq!(parse(none), Some(ContentHasher::default().finish()));
    }

    #[test]
    fn other_texts_are_not_parsed() {
        let right = "0123456789abcdef".repeat(4);
        assert_eq!(parse(&right).map(|hash| hex(&hash)), Some(right.clone()));
        let wrong = [
            String::new(),
            right[1..].to_owned(),
            format!("{right}0"),
            right.to_uppercase(),
            right.replacen('0', "g", 1),
            right.replacen('0', "+", 1),
            right.replacen("01", "\u{e9}", 1),
            format!(" {}", &right[1..]),
        ];
        for text in wrong {
            assert_eq!(parse(&text), None, "{text:?}");
        }
    }
}
