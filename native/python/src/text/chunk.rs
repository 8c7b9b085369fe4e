//! Cuts files into chunks of whole records.

use std::io::{self, Read};
use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::csv::{self, Header};
use super::defect::LONGEST_LINE;
use super::options::Format;
use super::source::read_some;

/// The size of a chunk. One whose first record is longer is larger.
pub(super) const SIZE: usize = 1 << 20;

/// Bytes kept of a record that is too long.
const KEPT: usize = 1 << 16;

const PIECE: usize = 1 << 16;

/// A piece of a file that begins and ends with records.
#[derive(Default)]
pub(super) struct Chunk {
    /// The number of its file.
    pub(super) file: usize,
    /// Holds the records from `from` to `to`.
    pub(super) bytes: Vec<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Lines before `from`, of a header; all lines, if the record is too long.
    pub(super) lines: u64,
    /// Whether it is the beginning of a record that is too long.
    pub(super) too_long: bool,
    pub(super) header: Option<Arc<Header>>,
    /// Bytes read of all files up to here.
    pub(super) bytes_read: u64,
}

impl Chunk {
    /// The records.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }
}

/// Finds the ends of records, piece by piece.
pub(super) enum Ends {
    Lines,
    Csv(csv::Ends),
}

impl Ends {
    pub(super) fn new(format: &Format) -> Ends {
        match format {
            Format::Csv(csv) => Ends::Csv(csv::Ends::new(csv.delimiter)),
            _ => Ends::Lines,
        }
    }

    /// The end of the last record that ends in the next piece.
    fn last(&mut self, piece: &[u8]) -> Option<usize> {
        match self {
            Ends::Lines => memrchr(b'\n', piece).map(|feed| feed + 1),
            Ends::Csv(ends) => {
                let (mut last, mut at) = (None, 0);
                while let Some(end) = ends.first(&piece[at..]) {
                    at += end;
                    last = Some(at);
                }
                last
            }
        }
    }

    /// The end of the first record that ends in the next piece, which is seen up to there.
    fn first(&mut self, piece: &[u8]) -> Option<usize> {
        match self {
            Ends::Lines => memchr(b'\n', piece).map(|feed| feed + 1),
            Ends::Csv(ends) => ends.first(piece),
        }
    }
}

/// Reads chunks of a file.
pub(super) struct Chunks {
    from: Box<dyn Read + Send>,
    ends: Ends,
    size: usize,
    longest: usize,
    /// What follows the last chunk. The first `seen` bytes were searched for ends.
    carried: Vec<u8>,
    seen: usize,
    ended: bool,
}

impl Chunks {
    pub(super) fn new(from: Box<dyn Read + Send>, ends: Ends) -> Chunks {
        Chunks { from, ends, size: SIZE, longest: LONGEST_LINE, carried: Vec::new(), seen: 0, ended: false }
    }

    /// Fills a chunk; false if there is no more.
    pub(super) fn fill(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        (chunk.from, chunk.to, chunk.lines, chunk.too_long) = (0, 0, 0, false);
        if chunk.bytes.len() < self.size.max(self.carried.len()) {
            grow(&mut chunk.bytes, self.size.max(self.carried.len()))?;
        }
        let mut length = self.carried.len();
        chunk.bytes[..length].copy_from_slice(&self.carried);
        let seen = self.seen;
        let mut end = self.ends.last(&chunk.bytes[seen..length]).map(|end| seen + end);
        while !self.ended && (length < self.size || end.is_none()) {
            if length == chunk.bytes.len() {
                let more = (self.longest + 1).min(length.saturating_mul(2));
                if more <= length {
                    return self.skip(chunk, length).map(|()| true);
                }
                grow(&mut chunk.bytes, more)?;
            }
            let most = (length + PIECE).min(chunk.bytes.len());
            let count = read_some(&mut self.from, &mut chunk.bytes[length..most])?;
            self.ended = count == 0;
            end = self.ends.last(&chunk.bytes[length..length + count]).map(|end| length + end).or(end);
            length += count;
        }
        chunk.to = if self.ended { length } else { end.unwrap_or(length) };
        self.carry(&chunk.bytes[chunk.to..length])?;
        self.seen = self.carried.len();
        Ok(length > 0)
    }

    fn carry(&mut self, rest: &[u8]) -> io::Result<()> {
        self.carried.clear();
        self.carried.try_reserve(rest.len()).map_err(|_| no_memory(rest.len()))?;
        self.carried.extend_from_slice(rest);
        Ok(())
    }

    /// Skips to the end of a chunk's record and keeps only the beginning.
    fn skip(&mut self, chunk: &mut Chunk, held: usize) -> io::Result<()> {
        let mut last = chunk.bytes[held - 1];
        chunk.lines = feeds(&chunk.bytes[..held]);
        chunk.to = held.min(KEPT);
        chunk.too_long = true;
        let mut piece = vec![0; PIECE];
        loop {
            let count = read_some(&mut self.from, &mut piece)?;
            if count == 0 {
                self.ended = true;
                chunk.lines += u64::from(last != b'\n');
                self.carried.clear();
                break;
            }
            last = piece[count - 1];
            let end = self.ends.first(&piece[..count]);
            chunk.lines += feeds(&piece[..end.unwrap_or(count)]);
            if let Some(end) = end {
                self.carry(&piece[end..count])?;
                break;
            }
        }
        self.seen = 0;
        Ok(())
    }
}

fn feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn grow(bytes: &mut Vec<u8>, length: usize) -> io::Result<()> {
    bytes.try_reserve_exact(length - bytes.len()).map_err(|_| no_memory(length))?;
    bytes.resize(length, 0);
    Ok(())
}

fn no_memory(bytes: usize) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("no memory for a line of more than {} bytes", bytes / 2))
}
