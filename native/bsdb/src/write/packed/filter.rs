//! The filter of absent keys (FORMAT.md §12, Filter).

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::format::facts::FilterFacts;
use crate::format::frame::Kind;
use crate::format::scaled;
use crate::hash::signature::Signature;
use crate::memory;
use crate::write::assembly::Context;
use crate::write::output::{Finished, OutputFile};

/// Quotients of a group.
const GROUP: usize = 128;

/// The most quotients.
const MOST_QUOTIENTS: u64 = 1 << 37;

/// What the filter stores of a signature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    quotient: u64,
    remainder: u16,
}

impl Part {
    #[inline]
    pub(super) fn of(facts: &FilterFacts, signature: &Signature) -> Part {
        let mask = ((1u32 << facts.bits) - 1) as u16;
        let remainder = (signature.low >> 16) as u16 & mask;
        Part { quotient: scaled(signature.high, facts.quotients), remainder }
    }
}

/// The facts of the filter for so many records, including duplicates.
pub(super) fn facts(bits: u32, records: u64) -> FilterFacts {
    FilterFacts { bits, quotients: records.clamp(1, MOST_QUOTIENTS) }
}

/// Writes the filter from front to back. Keeps 4 bytes for each group in memory, and the records of the current one.
pub(super) struct FilterWriter {
    facts: FilterFacts,
    path: PathBuf,
    file: OutputFile,
    /// The bits that do not fill a word yet.
    word: u64,
    bits: u32,
    /// The number of records before each group, of which 32 bits are stored.
    starts: Vec<u32>,
    before: u64,
    counts: [u64; GROUP],
    remainders: Vec<u16>,
}

impl FilterWriter {
    pub(super) fn new(context: &Context, facts: FilterFacts) -> Result<FilterWriter> {
        let groups = facts.quotients.div_ceil(GROUP as u64);
        Ok(FilterWriter {
            facts,
            path: context.directory.clone(),
            file: OutputFile::create(&context.directory, Kind::Filter, 0)?.with_threads(context.options.threads),
            word: 0,
            bits: 0,
            starts: memory::with_capacity(groups as usize + 1, &context.directory)?,
            before: 0,
            counts: [0; GROUP],
            remainders: Vec::new(),
        })
    }

    /// Adds a record. They come in the order of their signatures.
    #[inline]
    pub(super) fn add(&mut self, part: Part) -> Result<()> {
        while (self.starts.len() as u64) < part.quotient / GROUP as u64 {
            self.end_group()?;
        }
        memory::reserve(&mut self.remainders, 1, &self.path)?;
        self.remainders.push(part.remainder);
        self.counts[part.quotient as usize % GROUP] += 1;
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if u32::try_from(self.remainders.len()).is_err() {
            let path = self.path.display();
            return Err(Error::Argument(format!(
                "{path}: 2^32 records have nearly the same signature; use another seed, or no filter"
            )));
        }
        self.starts.push(self.before as u32);
        for quotient in 0..GROUP {
            let mut ones = std::mem::take(&mut self.counts[quotient]);
            while ones >= 32 {
                self.put(0xffff_ffff, 32)?;
                ones -= 32;
            }
            self.put((1 << ones) - 1, ones as u32 + 1)?;
        }
        for i in 0..self.remainders.len() {
            self.put(u64::from(self.remainders[i]), self.facts.bits)?;
        }
        self.before += self.remainders.len() as u64;
        self.remainders.clear();
        Ok(())
    }

    /// Appends bits, fewer than 64. Those of the value above them are 0.
    #[inline]
    fn put(&mut self, value: u64, count: u32) -> Result<()> {
        self.word |= value << self.bits;
        self.bits += count;
        if self.bits >= 64 {
            self.put_word()?;
            self.bits -= 64;
            // What did not fit are the highest bits of the value.
            self.word = if self.bits == 0 { 0 } else { value >> (count - self.bits) };
        }
        Ok(())
    }

    fn put_word(&mut self) -> Result<()> {
        put_entry(&mut self.file, &self.word.to_le_bytes())
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<Finished> {
        while (self.starts.len() as u64) < self.facts.quotients.div_ceil(GROUP as u64) {
            self.end_group()?;
        }
        self.starts.push(self.before as u32);
        if self.bits > 0 {
            self.put_word()?;
        }
        self.file.pad()?;
        for start in &self.starts {
            put_entry(&mut self.file, &start.to_le_bytes())?;
        }
        self.file.finish(None)
    }
}

/// Appends an entry of a table. Entries do not straddle pages.
#[inline]
fn put_entry(file: &mut OutputFile, entry: &[u8]) -> Result<()> {
    if file.room() < entry.len() {
        file.pad()?;
    }
    file.put(entry)
}
