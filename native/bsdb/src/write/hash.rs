//! The file of the hash function (FORMAT.md §13): blocks of parts, their table, and the checksums of its pages.

use std::path::Path;

use super::output::{Finished, OutputFile};
use super::pilots::{self, Pilots};
use crate::error::Result;
use crate::format::frame::Kind;
use crate::format::page::SIZE;
use crate::hash::signature::Signature;
use crate::memory;

/// Keys of a part on average, at most: 74 standard deviations less than it may have.
const AVERAGE_KEYS: u64 = 49_152;

/// The most parts.
const MAX_PARTS: u64 = 1 << 27;

/// How often a build may try to construct a function. Each attempt has twice the parts of the one before.
pub(crate) const ATTEMPTS: u32 = 6;

/// The number of parts for so many records, duplicates included: a power of two.
pub(crate) fn parts(records: u64, attempt: u32) -> u64 {
    let least = records.div_ceil(AVERAGE_KEYS).clamp(1, MAX_PARTS);
    (least.next_power_of_two() << attempt).min(MAX_PARTS)
}

/// The part of the function that some keys have.
#[derive(Debug)]
pub(crate) struct Part {
    seed: u32,
    block: Vec<u8>,
    /// The slot of each key, in the order of the signatures: each number below that of the keys once.
    pub(crate) slots: Vec<u32>,
}

/// Solves a part whose signatures are distinct and ascending. The error tells why that is not possible with this
/// number of parts.
pub(crate) fn solve<'a>(
    signatures: impl ExactSizeIterator<Item = &'a Signature> + Clone,
    parts: u64,
    checksum_bits: u32,
) -> std::result::Result<Part, String> {
    let keys = signatures.len();
    if keys > pilots::MAX_KEYS {
        return Err(format!("a bucket of {keys} keys, where at most {} fit", pilots::MAX_KEYS));
    }
    let found = Pilots::find(signatures.clone(), parts)
        .ok_or_else(|| format!("a bucket of {keys} keys, which no seed solves"))?;
    let replacements = found.replacements();
    let slots = found.assign(&replacements);
    let bits = checksum_bits as usize;
    let length = pilots::buckets(keys).next_multiple_of(2) + 2 * replacements.len() + (keys * bits).div_ceil(8);
    let mut block = Vec::with_capacity(length.next_multiple_of(8));
    block.extend_from_slice(found.pilots());
    block.resize(block.len().next_multiple_of(2), 0);
    for &slot in &replacements {
        block.extend_from_slice(&(slot + 1).to_le_bytes());
    }
    let start = block.len();
    block.resize(length.next_multiple_of(8), 0);
    let checksums = &mut block[start..];
    for (&slot, signature) in slots.iter().zip(signatures) {
        let bit = slot as usize * bits;
        let mut left = (signature.low & ((1 << bits) - 1)) << (bit % 8);
        let mut at = bit / 8;
        while left != 0 {
            checksums[at] |= left as u8;
            left >>= 8;
            at += 1;
        }
    }
    Ok(Part { seed: found.seed(), block, slots })
}

/// Writes the file, part by part.
#[derive(Debug)]
pub(crate) struct HashFile {
    file: OutputFile,
    /// The bytes of the current page.
    page: Box<[u8; SIZE]>,
    used: usize,
    keys: u64,
    /// What follows the blocks.
    table: Vec<u8>,
    /// The checksums of the pages so far.
    checksums: Vec<u8>,
}

impl HashFile {
    /// Creates the file in a directory, for a build of so many threads.
    pub(crate) fn create(directory: &Path, threads: usize) -> Result<HashFile> {
        Ok(HashFile {
            file: OutputFile::create(directory, Kind::Hash, 0)?.with_threads(threads),
            page: Box::new([0; SIZE]),
            used: 0,
            keys: 0,
            table: Vec::new(),
            checksums: Vec::new(),
        })
    }

    /// Appends the next part.
    pub(crate) fn add(&mut self, part: &Part) -> Result<()> {
        let word = self.keys | u64::from(part.seed) << 56;
        memory::reserve(&mut self.table, 8, self.file.path())?;
        self.table.extend_from_slice(&word.to_le_bytes());
        self.keys += part.slots.len() as u64;
        self.put(&part.block)
    }

    /// The number of keys of all parts.
    pub(crate) fn keys(&self) -> u64 {
        self.keys
    }

    /// Writes the tables.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        self.pad()?;
        let table = std::mem::take(&mut self.table);
        self.put(&table)?;
        self.pad()?;
        self.file.put(&self.checksums)?;
        self.file.finish(None)
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(SIZE - self.used));
            self.page[self.used..][..now.len()].copy_from_slice(now);
            self.used += now.len();
            bytes = rest;
            if self.used == SIZE {
                self.end_page()?;
            }
        }
        Ok(())
    }

    /// Fills the current page with zeros, if it has begun.
    fn pad(&mut self) -> Result<()> {
        if self.used == 0 {
            return Ok(());
        }
        self.page[self.used..].fill(0);
        self.end_page()
    }

    fn end_page(&mut self) -> Result<()> {
        let checksum = self.file.put_page(&self.page)?;
        memory::reserve(&mut self.checksums, 4, self.file.path())?;
        self.checksums.extend_from_slice(&checksum.to_le_bytes());
        self.used = 0;
        Ok(())
    }
}
