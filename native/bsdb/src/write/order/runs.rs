//! Sorted runs in a temporary file. Checksums, which stay in memory, tell if the file was changed.

use std::ops::Range;
use std::path::PathBuf;

use super::sort::entry_length;
use crate::error::{Error, Result};
use crate::memory;
use crate::write::temporary::Temporary;

/// Bytes with a checksum of their own.
pub(super) const CHUNK: usize = 1 << 16;

/// The runs of a file, which is removed when this is dropped.
pub(super) struct Runs {
    file: Temporary,
    /// The bytes of the chunk that is being filled.
    chunk: Vec<u8>,
    /// Bytes of the file.
    length: u64,
    runs: Vec<Run>,
    /// Where the next run begins.
    start: u64,
    checksums: Vec<u32>,
}

struct Run {
    bytes: Range<u64>,
    /// Those of its chunks.
    checksums: Vec<u32>,
}

impl Runs {
    pub(super) fn create(path: PathBuf) -> Result<Runs> {
        let file = Temporary::create(&path)?;
        let chunk = memory::with_capacity(CHUNK, &path)?;
        Ok(Runs { file, chunk, length: 0, runs: Vec::new(), start: 0, checksums: Vec::new() })
    }

    /// The number of runs.
    pub(super) fn count(&self) -> usize {
        self.runs.len()
    }

    /// Adds an entry to the run that is being written.
    #[inline]
    pub(super) fn put(&mut self, entry: &[u8]) -> Result<()> {
        let mut left = entry;
        while self.chunk.len() + left.len() > CHUNK {
            let (now, rest) = left.split_at(CHUNK - self.chunk.len());
            self.chunk.extend_from_slice(now);
            self.write()?;
            left = rest;
        }
        self.chunk.extend_from_slice(left);
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        memory::reserve(&mut self.checksums, 1, self.file.path())?;
        self.checksums.push(crc32c::crc32c(&self.chunk));
        self.file.write(&self.chunk)?;
        self.length += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// Ends the run. It has entries.
    pub(super) fn end(&mut self) -> Result<()> {
        if !self.chunk.is_empty() {
            self.write()?;
        }
        let checksums = std::mem::take(&mut self.checksums);
        self.runs.push(Run { bytes: self.start..self.length, checksums });
        self.start = self.length;
        Ok(())
    }

    /// Reads a run, so many chunks at once. This frees them in the file, so it is done once.
    pub(super) fn read(&self, run: usize, chunks: usize) -> Reader<'_> {
        let run = &self.runs[run];
        Reader {
            file: &self.file,
            next: run.bytes.start,
            end: run.bytes.end,
            checksums: run.checksums.iter(),
            chunks,
            buffer: Vec::new(),
            entry: 0..0,
        }
    }
}

/// Goes through the entries of a run.
pub(super) struct Reader<'a> {
    file: &'a Temporary,
    /// What is not read yet.
    next: u64,
    end: u64,
    checksums: std::slice::Iter<'a, u32>,
    chunks: usize,
    buffer: Vec<u8>,
    entry: Range<usize>,
}

impl Reader<'_> {
    /// The entry: none before the first call of `next`.
    #[inline]
    pub(super) fn entry(&self) -> &[u8] {
        &self.buffer[self.entry.clone()]
    }

    /// Moves to the next entry; returns whether there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Result<bool> {
        let start = self.entry.end;
        if let Some(length) = entry_length(&self.buffer[start..]) {
            if length <= self.buffer.len() - start {
                self.entry = start..start + length;
                return Ok(true);
            }
        }
        self.load()
    }

    /// Moves to the next entry, of which some bytes are not in memory.
    #[cold]
    fn load(&mut self) -> Result<bool> {
        self.buffer.drain(..self.entry.end);
        self.entry = 0..0;
        loop {
            if let Some(length) = entry_length(&self.buffer) {
                if length <= self.buffer.len() {
                    self.entry = 0..length;
                    return Ok(true);
                }
            }
            if self.next == self.end {
                return Ok(false);
            }
            let start = self.buffer.len();
            let length = (self.end - self.next).min((self.chunks * CHUNK) as u64) as usize;
            memory::reserve(&mut self.buffer, length, self.file.path())?;
            self.buffer.resize(start + length, 0);
            let read = &mut self.buffer[start..];
            self.file.read(read, self.next)?;
            for (chunk, &wanted) in read.chunks(CHUNK).zip(&mut self.checksums) {
                let found = crc32c::crc32c(chunk);
                if found != wanted {
                    return Err(self.changed(wanted, found));
                }
            }
            self.file.free(self.next, length as u64);
            self.next += length as u64;
        }
    }

    #[cold]
    fn changed(&self, wanted: u32, found: u32) -> Error {
        let expected = format!("checksum {wanted:08x} of a temporary file");
        let found =
            format!("bytes of this build that another process or the device changed, with checksum {found:08x}");
        Error::damaged(self.file.path(), self.next, expected, found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn entry(length: usize) -> Vec<u8> {
        let mut entry = vec![2, 0, 0, 0, 0, 0, 7, 7];
        entry[2..6].copy_from_slice(&(length as u32).to_le_bytes());
        entry.resize(8 + length, length as u8);
        entry
    }

    #[test]
    fn runs_are_read_and_changes_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.part");
        let mut runs = Runs::create(path.clone()).unwrap();
        let lengths = [&[7][..], &[5, 0, 200_000, 65_528, 1], &[3 * CHUNK - 8], &[9, 8]];
        for run in lengths {
            run.iter().for_each(|&length| runs.put(&entry(length)).unwrap());
            runs.end().unwrap();
        }
        assert_eq!(runs.count(), 4);
        for (number, run) in lengths.iter().enumerate().skip(1) {
            let mut reader = runs.read(number, 2);
            for &length in *run {
                assert!(reader.next().unwrap() && reader.entry() == entry(length));
            }
            assert!(!reader.next().unwrap());
        }
        File::options().write(true).open(&path).unwrap().write_all(&[1; 20]).unwrap();
        assert!(matches!(runs.read(0, 1).next(), Err(Error::Damaged { .. })));
        drop(runs);
        assert!(!path.exists());
    }
}
