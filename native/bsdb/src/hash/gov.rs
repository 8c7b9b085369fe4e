//! The bucketed function of three hypergraph vertices (FORMAT.md §5).

use super::signature::{mix, Signature, A};
use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::facts::Facts;
use crate::format::page::SIZE;
use crate::format::{scaled, u64_at};

/// Vertices of a bucket.
const VERTICES: u64 = 640;

/// Words of a block before the checksum bits.
const HEAD_WORDS: usize = 22;

/// Words of checksum bits for each bit of a checksum.
const CHECKSUM_WORDS: usize = 9;

/// The most keys of a bucket.
const MAX_KEYS: u64 = 575;

/// The function. Thread-safe.
pub(crate) struct Gov {
    file: PagedFile,
    buckets: u64,
    records: u64,
    bits: u32,
    block: usize,
    table: u64,
}

impl Gov {
    pub(crate) fn open(file: PagedFile, facts: &Facts) -> Result<Gov> {
        let block = 8 * (HEAD_WORDS + CHECKSUM_WORDS * facts.checksum_bits as usize);
        let body = facts.buckets.saturating_mul(block as u64).div_ceil(SIZE as u64);
        let pages = body.saturating_add(body.div_ceil(1023)).saturating_add(2);
        if file.pages() != pages {
            return Err(file.damaged(
                0,
                format!("{pages} pages for {} buckets", facts.buckets),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(Gov {
            file,
            buckets: facts.buckets,
            records: facts.records,
            bits: facts.checksum_bits,
            block,
            table: body + 1,
        })
    }

    pub(crate) fn file(&self) -> &PagedFile {
        &self.file
    }

    /// The first page of the table of checksums.
    pub(crate) fn table(&self) -> u64 {
        self.table
    }

    #[inline(always)]
    fn block_at(&self, signature: Signature) -> u64 {
        SIZE as u64 + scaled(signature.high, self.buckets) * self.block as u64
    }

    /// Where the block of a signature begins, and its bytes.
    #[inline]
    pub(crate) fn block(&self, signature: Signature) -> (u64, u64) {
        (self.block_at(signature), self.block as u64)
    }

    #[inline]
    pub(crate) fn prefetch(&self, signature: Signature) {
        let at = self.block_at(signature);
        for line in 0..3 {
            self.file.prefetch(at + 64 * line);
        }
        if self.bits > 0 {
            self.file.prefetch(at + (8 * HEAD_WORDS + 24 * self.bits as usize) as u64);
        }
    }

    #[inline]
    pub(crate) fn slot(&self, signature: Signature) -> Result<Option<u64>> {
        let at = self.block_at(signature);
        let block = self.file.body(at, self.block, self.table)?;
        let word = |i: usize| u64_at(block, 8 * i).unwrap_or(0);
        let head = word(0);
        let ranks = word(1);

        let mut h = [head & !((1 << 56) - 1), A.wrapping_add(signature.high), A.wrapping_add(signature.low), A];
        mix(&mut h);
        let vertex = |h: u64| (((h & ((1 << 54) - 1)) * VERTICES) >> 54) as usize;
        let v = [vertex(h[0]), vertex(h[1]), vertex(h[2])];
        let value = |v: usize| word(2 + v / 32) >> (2 * (v % 32)) & 3;
        let own = v[((value(v[0]) + value(v[1]) + value(v[2])) % 3) as usize];

        let group = own / 128;
        let mut rank = if group == 0 { 0 } else { ranks >> (10 * (group - 1)) & 0x3ff };
        for i in group * 4..own / 32 {
            rank += used(word(2 + i));
        }
        rank += used(word(2 + own / 32) & ((1 << (2 * (own % 32))) - 1));

        let decisive;
        let mut absent = false;
        if self.bits > 0 {
            let bit = rank as usize * self.bits as usize;
            let first = HEAD_WORDS + bit / 64;
            let shift = bit % 64;
            decisive = word(first);
            let mut checksum = decisive >> shift;
            if shift + self.bits as usize > 64 {
                checksum |= word(first + 1) << (64 - shift);
            }
            absent = (checksum ^ signature.low) & ((1 << self.bits) - 1) != 0;
        } else {
            decisive = word(2 + own / 32);
        }
        if decisive == 0 || head == 0 && ranks == 0 {
            self.verify_again(at)?;
        }
        if rank > MAX_KEYS {
            return Err(self.file.damaged(at, format!("at most {MAX_KEYS} keys in a bucket"), rank.to_string()));
        }
        let slot = (head & ((1 << 56) - 1)) + rank;
        Ok((!absent && slot < self.records).then_some(slot))
    }

    /// Verifies the pages of a block that may have been zeroed since they were verified (§8).
    #[cold]
    fn verify_again(&self, at: u64) -> Result<()> {
        let last = (at + self.block as u64 - 1) / SIZE as u64;
        (at / SIZE as u64..=last).try_for_each(|number| self.file.verify_body(number, self.table))
    }
}

/// The vertices of a word whose value is not 0.
#[inline(always)]
fn used(word: u64) -> u64 {
    u64::from(((word | word >> 1) & 0x5555_5555_5555_5555).count_ones())
}
