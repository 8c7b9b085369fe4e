//! The filter of absent keys (FORMAT.md §12).

use std::sync::OnceLock;

use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::facts::{Facts, FilterFacts};
use crate::format::page::SIZE;
use crate::format::{scaled, u32_at, u64_at};
use crate::hash::signature::Signature;

/// Quotients of a group.
pub(crate) const GROUP: u64 = 128;

/// Words of bits in a page.
pub(crate) const WORDS: u64 = 511;

/// Starts of groups in a page.
pub(crate) const STARTS: u64 = 1023;

/// The filter. Thread-safe.
pub(crate) struct SignatureFilter {
    file: PagedFile,
    facts: FilterFacts,
    records: u64,
    /// The first page of the starts.
    starts: u64,
    /// For each 2^32 records the first group that has as many before it, if there are so many.
    wraps: OnceLock<Vec<u64>>,
}

/// The pages of the two parts of a filter.
pub(crate) fn pages(facts: FilterFacts, records: u64) -> (u64, u64) {
    let groups = facts.quotients.div_ceil(GROUP);
    let bits = u128::from(GROUP * groups) + u128::from(1 + facts.bits) * u128::from(records);
    let words = bits.div_ceil(64) as u64;
    (words.div_ceil(WORDS), (groups + 1).div_ceil(STARTS))
}

impl SignatureFilter {
    pub(crate) fn open(file: PagedFile, facts: &Facts, filter: FilterFacts) -> Result<SignatureFilter> {
        let (bits, starts) = pages(filter, facts.records);
        if file.pages() != bits + starts + 2 {
            return Err(file.damaged(
                0,
                format!("{} pages for {} records", bits + starts + 2, facts.records),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(SignatureFilter { file, facts: filter, records: facts.records, starts: bits + 1, wraps: OnceLock::new() })
    }

    /// The groups after 2^32, 2 · 2^32, ... records, which the first lookup finds if there are so many.
    fn wraps(&self) -> Result<&[u64]> {
        if self.records >> 32 == 0 {
            return Ok(&[]);
        }
        if let Some(wraps) = self.wraps.get() {
            return Ok(wraps);
        }
        let mut wraps = Vec::new();
        let groups = self.facts.quotients.div_ceil(GROUP);
        let mut before = self.start_word(0)?;
        for group in 1..=groups {
            let start = self.start_word(group)?;
            if start < before {
                wraps.push(group);
            }
            before = start;
        }
        Ok(self.wraps.get_or_init(|| wraps))
    }

    pub(crate) fn file(&self) -> &PagedFile {
        &self.file
    }

    /// The first page of the starts.
    pub(crate) fn first_start(&self) -> u64 {
        self.starts
    }

    pub(crate) fn facts(&self) -> FilterFacts {
        self.facts
    }

    /// The quotient of a signature.
    #[inline(always)]
    pub(crate) fn quotient(&self, signature: Signature) -> u64 {
        scaled(signature.high, self.facts.quotients)
    }

    /// The remainder of a signature.
    #[inline(always)]
    pub(crate) fn remainder(&self, signature: Signature) -> u64 {
        signature.low >> 16 & ((1 << self.facts.bits) - 1)
    }

    /// Prefetches what `may_hold` reads first.
    #[inline]
    pub(crate) fn prefetch(&self, signature: Signature) {
        let group = self.quotient(signature) / GROUP;
        self.file.prefetch((self.starts + group / STARTS) * SIZE as u64 + group % STARTS * 4);
    }

    /// Whether a record may have the signature; if not, none has.
    pub(crate) fn may_hold(&self, signature: Signature) -> Result<bool> {
        let quotient = self.quotient(signature);
        let group = quotient / GROUP;
        let before = self.start(group)?;
        let end = self.start(group + 1)?;
        if before > end || end > self.records {
            return Err(self.file.damaged(
                (self.starts + group / STARTS) * SIZE as u64 + group % STARTS * 4,
                format!("starts in ascending order up to {}", self.records),
                format!("{before}, then {end}"),
            ));
        }
        let width = u64::from(self.facts.bits);
        let first = GROUP * group + (1 + width) * before;
        let remainders = first + GROUP + (end - before);
        // Pass over the zeros of the quotients before this one; the ones on the way are their records.
        let mut zeros = quotient % GROUP;
        let mut bit = first;
        let mut ones = 0u64;
        let mut run = 0;
        while bit < remainders {
            let word = self.bits(bit)?;
            let length = (64 - bit % 64).min(remainders - bit);
            let word = word >> (bit % 64);
            for i in 0..length {
                let one = word >> i & 1 == 1;
                if one {
                    if zeros == 0 {
                        run += 1;
                    } else {
                        ones += 1;
                    }
                } else if zeros == 0 {
                    return self.any(remainders + ones * width, run, self.remainder(signature));
                } else {
                    zeros -= 1;
                }
            }
            bit += length;
        }
        Err(self.file.damaged(self.byte_of(first), "a zero for each of 128 quotients", "fewer"))
    }

    /// Whether one of `count` remainders from a bit on is the wanted one.
    fn any(&self, at: u64, count: u64, wanted: u64) -> Result<bool> {
        let width = u64::from(self.facts.bits);
        for i in 0..count {
            let bit = at + i * width;
            let mut value = self.bits(bit)? >> (bit % 64);
            if bit % 64 + width > 64 {
                value |= self.bits(bit + 64 - bit % 64)? << (64 - bit % 64);
            }
            if value & ((1 << width) - 1) == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn byte_of(&self, bit: u64) -> u64 {
        let word = bit / 64;
        (1 + word / WORDS) * SIZE as u64 + word % WORDS * 8
    }

    /// The word that holds a bit.
    #[inline]
    fn bits(&self, bit: u64) -> Result<u64> {
        let word = bit / 64;
        let number = 1 + word / WORDS;
        if number >= self.starts {
            return Err(self.file.damaged(self.byte_of(bit), "bits within the first part", format!("bit {bit}")));
        }
        let page = self.file.mapped_page(number)?;
        let found = u64_at(page, (word % WORDS) as usize * 8).unwrap_or(0);
        if found == 0 {
            self.file.require_nonzero(number, page)?;
        }
        Ok(found)
    }

    #[inline]
    fn start_word(&self, group: u64) -> Result<u64> {
        let page = self.file.mapped_page(self.starts + group / STARTS)?;
        let found = u32_at(page, (group % STARTS) as usize * 4).unwrap_or(0);
        if found == 0 {
            self.file.require_nonzero(self.starts + group / STARTS, page)?;
        }
        Ok(u64::from(found))
    }

    /// The number of records before a group.
    #[inline]
    fn start(&self, group: u64) -> Result<u64> {
        let wraps = self.wraps()?.partition_point(|&wrap| wrap <= group) as u64;
        Ok(self.start_word(group)? + (wraps << 32))
    }
}
