//! Bytes in partitions: in memory while there is room for them, otherwise in a temporary file.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::os::direct::read_exact;

/// Bytes of a piece of a partition.
const PIECE: usize = 1 << 16;

/// Bytes that wait to be written to the file at once.
const WRITTEN_AT_ONCE: usize = 1 << 20;

/// Takes entries, each for a partition. Entries of a partition stay in their order.
#[derive(Debug)]
pub(crate) struct Spill {
    path: PathBuf,
    file: Option<File>,
    partitions: Vec<Partition>,
    piece: usize,
    /// Bytes of all pieces in memory, and how many there may be.
    held: usize,
    most: usize,
    /// Full pieces, back to back, that are not in the file yet.
    waiting: Vec<u8>,
    /// Where the waiting bytes will be in the file.
    end: u64,
}

/// A partition: pieces in the file, then those in memory.
#[derive(Debug, Default)]
struct Partition {
    entries: u64,
    bytes: u64,
    /// Where its pieces are in the file.
    written: Vec<(u64, u32)>,
    full: Vec<Vec<u8>>,
    open: Vec<u8>,
}

impl Spill {
    /// Creates a spill whose file, if it needs one, is in a directory. `memory` is what its pieces may take.
    pub(crate) fn new(directory: &Path, name: &str, partitions: usize, memory: u64) -> Spill {
        let most = usize::try_from(memory).unwrap_or(usize::MAX);
        Spill {
            path: directory.join(format!("{name}.part")),
            file: None,
            partitions: (0..partitions).map(|_| Partition::default()).collect(),
            piece: (most / 2 / partitions.max(1)).clamp(1 << 12, PIECE),
            held: 0,
            most,
            waiting: Vec::new(),
            end: 0,
        }
    }

    /// Adds an entry that consists of these parts.
    #[inline]
    pub(crate) fn add(&mut self, partition: usize, parts: &[&[u8]]) -> Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let to = &mut self.partitions[partition];
        if to.open.capacity() - to.open.len() < length {
            self.make_room(partition, length)?;
        }
        let to = &mut self.partitions[partition];
        for part in parts {
            to.open.extend_from_slice(part);
        }
        to.entries += 1;
        to.bytes += length as u64;
        Ok(())
    }

    /// Begins another piece of a partition.
    #[cold]
    fn make_room(&mut self, partition: usize, length: usize) -> Result<()> {
        // Small partitions begin with small pieces, so that few records take little memory.
        let grown = (2 * self.partitions[partition].open.capacity()).clamp(1 << 8, self.piece);
        let wanted = grown.max(length);
        let to = &mut self.partitions[partition];
        let ended = std::mem::take(&mut to.open);
        if !ended.is_empty() {
            to.full.push(ended);
        }
        to.open.try_reserve_exact(wanted).map_err(|_| self.lacking(wanted))?;
        self.held += wanted;
        if self.held > self.most {
            self.write_full()?;
        }
        Ok(())
    }

    fn lacking(&self, bytes: usize) -> Error {
        Error::NoMemory { path: self.path.clone(), bytes }
    }

    /// Moves the full pieces of all partitions to the file; open ones as well if that does not free half of the memory.
    fn write_full(&mut self) -> Result<()> {
        for partition in 0..self.partitions.len() {
            for piece in std::mem::take(&mut self.partitions[partition].full) {
                self.write(partition, piece)?;
            }
        }
        if self.held > self.most / 2 {
            for partition in 0..self.partitions.len() {
                let open = &mut self.partitions[partition].open;
                if open.len() >= open.capacity() / 2 && !open.is_empty() {
                    let open = std::mem::take(open);
                    self.write(partition, open)?;
                }
            }
        }
        self.flush()
    }

    fn write(&mut self, partition: usize, piece: Vec<u8>) -> Result<()> {
        let at = self.end + self.waiting.len() as u64;
        let written = &mut self.partitions[partition].written;
        match written.last_mut() {
            Some((start, length)) if *start + u64::from(*length) == at && (*length as usize) < WRITTEN_AT_ONCE => {
                *length += piece.len() as u32;
            }
            _ => written.push((at, piece.len() as u32)),
        }
        self.held -= piece.capacity();
        self.waiting.extend_from_slice(&piece);
        if self.waiting.len() >= WRITTEN_AT_ONCE {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let failed = |e| Error::io(&self.path, e);
        if self.file.is_none() {
            self.file = Some(File::options().read(true).write(true).create_new(true).open(&self.path).map_err(failed)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.waiting).map_err(failed)?;
        }
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Ends adding; what is in memory stays there.
    pub(crate) fn finish(mut self) -> Result<Spilled> {
        self.flush()?;
        self.waiting = Vec::new();
        Ok(Spilled(self))
    }

    /// Bytes of all partitions in memory.
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path); // its directory is removed as well
        }
    }
}

/// The entries of a spill, for reading by any number of threads.
#[derive(Debug)]
pub(crate) struct Spilled(Spill);

impl Spilled {
    /// The number of partitions.
    pub(crate) fn partitions(&self) -> usize {
        self.0.partitions.len()
    }

    /// Entries of a partition.
    pub(crate) fn entries(&self, partition: usize) -> u64 {
        self.0.partitions[partition].entries
    }

    /// Bytes of a partition.
    pub(crate) fn bytes(&self, partition: usize) -> u64 {
        self.0.partitions[partition].bytes
    }

    /// Appends all entries of a partition, in their order.
    pub(crate) fn read(&self, partition: usize, to: &mut Vec<u8>) -> Result<()> {
        let from = &self.0.partitions[partition];
        let bytes = usize::try_from(from.bytes).map_err(|_| self.0.lacking(usize::MAX))?;
        to.try_reserve(bytes).map_err(|_| self.0.lacking(bytes))?;
        if let Some(file) = &self.0.file {
            for &(at, length) in &from.written {
                let start = to.len();
                to.resize(start + length as usize, 0);
                read_exact(file, &mut to[start..], at).map_err(|e| Error::io(&self.0.path, e))?;
            }
        }
        for piece in &from.full {
            to.extend_from_slice(piece);
        }
        to.extend_from_slice(&from.open);
        Ok(())
    }

    /// Frees the memory of a partition that is no longer needed.
    pub(crate) fn free(&mut self, partition: usize) {
        let from = &mut self.0.partitions[partition];
        from.full = Vec::new();
        from.open = Vec::new();
    }
}
