//! Bytes in partitions: in memory while there is room for them, otherwise in a temporary file.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::temporary::Temporary;
use crate::error::{Error, Result};
#[cfg(target_os = "linux")]
use crate::format::{u32_at, u64_at};
use crate::memory;

/// Bytes of a piece of a partition.
const PIECE: usize = 1 << 16;

/// Bytes of a partition that are moved to its piece together.
const STAGED: usize = 240;

/// Bytes that wait to be written to the file at once.
const WRITTEN_AT_ONCE: usize = 1 << 20;

/// Pieces of a partition that follow each other in the file.
#[derive(Clone, Copy, Debug)]
struct Written {
    at: u64,
    length: u32,
    /// CRC32C of the bytes.
    checksum: u32,
}

/// Takes entries, each for a partition. Entries of a partition stay in their order.
#[derive(Debug)]
pub(crate) struct Spill {
    path: PathBuf,
    file: Option<Temporary>,
    partitions: Vec<Partition>,
    /// The last entries of each partition. The processor's cache holds all of them, but not the ends of all pieces.
    staged: Vec<Staged>,
    piece: usize,
    /// Bytes of all pieces in memory, and how many there may be.
    held: usize,
    most: usize,
    /// Full pieces, back to back, that are not in the file yet.
    waiting: Vec<u8>,
    /// Where the waiting bytes will be in the file.
    end: u64,
    /// The partition whose pieces are the next to be written.
    turn: usize,
}

/// The entries of a partition that are not in its pieces yet.
#[derive(Clone, Copy, Debug)]
struct Staged {
    used: usize,
    /// The number of all entries of the partition.
    entries: u64,
    bytes: [u8; STAGED],
}

/// A partition: pieces in the file, then those in memory.
#[derive(Debug, Default)]
struct Partition {
    entries: u64,
    bytes: u64,
    written: Vec<Written>,
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
            staged: vec![Staged { used: 0, entries: 0, bytes: [0; STAGED] }; partitions],
            piece: (most / 2 / partitions.max(1)).clamp(1 << 12, PIECE),
            held: 0,
            most,
            waiting: Vec::new(),
            end: 0,
            turn: 0,
        }
    }

    /// Adds an entry that consists of these parts.
    #[inline]
    pub(crate) fn add(&mut self, partition: usize, parts: &[&[u8]]) -> Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if self.staged[partition].used + length > STAGED {
            self.unstage(partition)?;
        }
        let staged = &mut self.staged[partition];
        staged.entries += 1;
        if length > STAGED {
            return self.append(partition, parts, length);
        }
        for part in parts {
            staged.bytes[staged.used..][..part.len()].copy_from_slice(part);
            staged.used += part.len();
        }
        Ok(())
    }

    /// Moves the staged entries of a partition to its piece.
    fn unstage(&mut self, partition: usize) -> Result<()> {
        let Staged { used, bytes, .. } = self.staged[partition];
        self.append(partition, &[&bytes[..used]], used)?;
        self.staged[partition].used = 0;
        Ok(())
    }

    /// Appends parts of this length in total to the piece of a partition.
    fn append(&mut self, partition: usize, parts: &[&[u8]], length: usize) -> Result<()> {
        let to = &mut self.partitions[partition];
        if to.open.capacity() - to.open.len() < length {
            self.make_room(partition, length)?;
        }
        let to = &mut self.partitions[partition];
        for part in parts {
            to.open.extend_from_slice(part);
        }
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
        self.held += self.partitions[partition].open.capacity();
        if self.held > self.most {
            self.write_full()?;
        }
        Ok(())
    }

    fn lacking(&self, bytes: usize) -> Error {
        Error::NoMemory { path: self.path.clone(), bytes }
    }

    /// Moves full pieces to the file, one partition after another, until there is room for as much again as a third of
    /// what stays. If full pieces do not free that, open ones follow.
    fn write_full(&mut self) -> Result<()> {
        let wanted = self.most - self.most / 4;
        for _ in 0..self.partitions.len() {
            if self.held <= wanted {
                break;
            }
            let partition = self.turn;
            self.turn = (partition + 1) % self.partitions.len();
            for piece in std::mem::take(&mut self.partitions[partition].full) {
                self.write(partition, piece)?;
            }
        }
        if self.held > wanted {
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
            Some(last) if last.at + u64::from(last.length) == at && (last.length as usize) < WRITTEN_AT_ONCE => {
                last.length += piece.len() as u32;
                last.checksum = crc32c::crc32c_append(last.checksum, &piece);
            }
            _ => written.push(Written { at, length: piece.len() as u32, checksum: crc32c::crc32c(&piece) }),
        }
        self.held -= piece.capacity();
        if self.waiting.len() + piece.len() > WRITTEN_AT_ONCE {
            self.flush()?;
        }
        if piece.len() > WRITTEN_AT_ONCE {
            self.end += piece.len() as u64;
            return append(&mut self.file, &self.path, &piece);
        }
        memory::reserve(&mut self.waiting, piece.len(), &self.path)?;
        self.waiting.extend_from_slice(&piece);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        append(&mut self.file, &self.path, &self.waiting)?;
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Ends adding; what is in memory stays there.
    pub(crate) fn finish(mut self) -> Result<Spilled> {
        for partition in 0..self.partitions.len() {
            self.unstage(partition)?;
            self.partitions[partition].entries = self.staged[partition].entries;
        }
        self.staged = Vec::new();
        self.flush()?;
        self.waiting = Vec::new();
        let partitions = std::mem::take(&mut self.partitions).into_iter().map(RwLock::new).collect();
        Ok(Spilled { spill: self, partitions })
    }
}

/// Appends bytes to a file, which the first ones create.
fn append(file: &mut Option<Temporary>, path: &Path, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let file = match file {
        Some(file) => file,
        None => file.insert(Temporary::create(path)?),
    };
    file.write(bytes)
}

/// The entries of a spill, for reading by any number of threads.
#[derive(Debug)]
pub(crate) struct Spilled {
    /// Without partitions; deletes the file at the end.
    spill: Spill,
    partitions: Vec<RwLock<Partition>>,
}

impl Spilled {
    fn partition(&self, partition: usize) -> RwLockReadGuard<'_, Partition> {
        self.partitions[partition].read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of memory that all partitions take before one is freed.
    pub(crate) fn held(&self) -> u64 {
        self.spill.held as u64
    }

    /// Entries of a partition.
    pub(crate) fn entries(&self, partition: usize) -> u64 {
        self.partition(partition).entries
    }

    /// Bytes of a partition.
    pub(crate) fn bytes(&self, partition: usize) -> u64 {
        self.partition(partition).bytes
    }

    /// Passes on all entries of a partition in their order, many whole ones at once: those in the file through a
    /// buffer.
    pub(crate) fn pieces(
        &self,
        partition: usize,
        buffer: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Spill { path, file, .. } = &self.spill;
        let from = self.partition(partition);
        if let Some(file) = file {
            for written in &from.written {
                let length = written.length as usize;
                if buffer.len() < length {
                    memory::reserve(buffer, length - buffer.len(), path)?;
                    buffer.resize(length, 0);
                }
                file.read(&mut buffer[..length], written.at)?;
                check(path, written.at, written.checksum, crc32c::crc32c(&buffer[..length]))?;
                take(&buffer[..length])?;
            }
        }
        for piece in from.full.iter().chain([&from.open]).filter(|piece| !piece.is_empty()) {
            take(piece)?;
        }
        Ok(())
    }

    /// Frees the memory of a partition, which is not read again, and its room in the file.
    pub(crate) fn free(&self, partition: usize) {
        let freed = std::mem::take(&mut *self.partitions[partition].write().unwrap_or_else(PoisonError::into_inner));
        if let Some(file) = &self.spill.file {
            freed.written.iter().for_each(|written| file.free(written.at, written.length.into()));
        }
    }
}

/// Fails if bytes of a temporary file do not have the checksum that they had when they were written.
fn check(path: &Path, at: u64, expected: u32, found: u32) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let what = "bytes of this build that another process or the device changed, with checksum";
    Err(Error::damaged(path, at, format!("checksum {expected:08x} of a temporary file"), format!("{what} {found:08x}")))
}

/// Long values, which lie aside in a temporary file of their own.
#[derive(Debug)]
pub(crate) struct Aside {
    path: PathBuf,
    file: Option<Temporary>,
    /// Bytes that are not in the file yet.
    waiting: Vec<u8>,
    end: u64,
}

/// Where a long value lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    at: u64,
    checksum: u32,
}

impl Place {
    /// Bytes of a place in an entry.
    pub(crate) const SIZE: usize = 12;

    pub(crate) fn encode(&self) -> [u8; Place::SIZE] {
        let mut bytes = [0; Place::SIZE];
        bytes[..8].copy_from_slice(&self.at.to_le_bytes());
        bytes[8..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// The place in the last bytes of an entry.
    pub(crate) fn parse(entry: &[u8]) -> Place {
        let place = &entry[entry.len() - Place::SIZE..];
        Place { at: u64_at(place, 0).unwrap_or(0), checksum: u32_at(place, 8).unwrap_or(0) }
    }
}

impl Aside {
    /// The file is created once there is a value.
    pub(crate) fn new(directory: &Path, name: &str) -> Aside {
        Aside { path: directory.join(format!("{name}.part")), file: None, waiting: Vec::new(), end: 0 }
    }

    /// Puts a value aside.
    pub(crate) fn put(&mut self, value: &[u8]) -> Result<Place> {
        let place = Place { at: self.end, checksum: crc32c::crc32c(value) };
        if self.waiting.len() + value.len() > WRITTEN_AT_ONCE {
            self.flush()?;
        }
        if value.len() > WRITTEN_AT_ONCE {
            append(&mut self.file, &self.path, value)?;
        } else {
            memory::reserve(&mut self.waiting, value.len(), &self.path)?;
            self.waiting.extend_from_slice(value);
        }
        self.end += value.len() as u64;
        Ok(place)
    }

    /// Hands all values to the system. They can be read then.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        append(&mut self.file, &self.path, &waiting)
    }

    /// Reads a value, instead of what the buffer holds.
    pub(crate) fn read_whole(&self, place: Place, length: usize, to: &mut Vec<u8>) -> Result<()> {
        to.clear();
        memory::reserve(to, length, &self.path)?;
        to.resize(length, 0);
        self.read(place, length, to, |_| Ok(()))
    }

    /// Passes on a value in parts of at most the length of the buffer.
    pub(crate) fn read(
        &self,
        place: Place,
        length: usize,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut found = 0;
        let mut done = 0;
        while let (Some(file), true) = (&self.file, done < length) {
            let most = buffer.len();
            let part = &mut buffer[..most.min(length - done)];
            file.read(part, place.at + done as u64)?;
            found = crc32c::crc32c_append(found, part);
            done += part.len();
            take(part)?;
        }
        check(&self.path, place.at, place.checksum, found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use super::*;

    /// Entries that tell their partition and their number in it, of different lengths.
    fn entry(partition: usize, number: usize) -> Vec<u8> {
        let mut bytes = vec![partition as u8, number as u8, (number >> 8) as u8];
        let more = match number {
            1234 => WRITTEN_AT_ONCE + 1,
            _ => number % 90 * if number % 500 == 7 { 700 } else { 1 },
        };
        bytes.resize(3 + more, 0xab);
        bytes
    }

    #[test]
    fn partitions_keep_their_order_with_any_memory() {
        for memory in [0, 50_000, 300_000, 1 << 30] {
            let directory = tempfile::tempdir().unwrap();
            let mut spill = Spill::new(directory.path(), "test", 7, memory);
            for number in 0..3000 {
                for partition in 0..7 {
                    let entry = entry(partition, number);
                    spill.add(partition, &[&entry[..2], &entry[2..]]).unwrap();
                }
            }
            assert!(memory < 1 << 20 || spill.file.is_none());
            let spilled = spill.finish().unwrap();
            for partition in 0..7 {
                let wanted: Vec<u8> = (0..3000).flat_map(|number| entry(partition, number)).collect();
                let mut found = Vec::new();
                let take = |entries: &[u8]| {
                    found.extend_from_slice(entries);
                    Ok(())
                };
                spilled.pieces(partition, &mut Vec::new(), take).unwrap();
                assert!(found == wanted, "partition {partition} with memory {memory}");
                assert_eq!((spilled.entries(partition), spilled.bytes(partition)), (3000, wanted.len() as u64));
                spilled.free(partition); // and nothing of others
            }
            drop(spilled);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn changed_temporary_files_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(directory.path(), "test", 1, 0);
        (0..100).for_each(|_| spill.add(0, &[&[7; 100]]).unwrap());
        let spilled = spill.finish().unwrap();
        let mut aside = Aside::new(directory.path(), "aside");
        let value = vec![9; 3 << 20];
        let places = [aside.put(&value[..10]).unwrap(), aside.put(&value).unwrap()];
        aside.flush().unwrap();
        let read = |aside: &Aside, place| {
            let mut length = 0;
            aside.read(place, value.len(), &mut [0; 1000], |part| {
                length += part.len();
                Ok(())
            })?;
            Ok::<_, Error>(length)
        };
        assert_eq!(read(&aside, Place::parse(&places[1].encode())).unwrap(), value.len());
        for name in ["test.part", "aside.part"] {
            let mut file = File::options().write(true).open(directory.path().join(name)).unwrap();
            file.write_all(&[1; 20]).unwrap();
        }
        assert!(matches!(spilled.pieces(0, &mut Vec::new(), |_| Ok(())), Err(Error::Damaged { .. })));
        assert!(matches!(read(&aside, places[1]), Err(Error::Damaged { .. })));
    }
}
