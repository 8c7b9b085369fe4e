//! The function of parts, pilots and replacements (FORMAT.md §13).

use super::signature::Signature;
use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::facts::Facts;
use crate::format::page::SIZE;
use crate::format::{scaled, u16_at, u64_at};
use crate::memory;

const M: u64 = 0xd134_2543_de82_ef95;

/// The most keys of a part.
const MAX_KEYS: u64 = 65_535;

/// What a part's entry in the table says, and where its block begins.
#[derive(Clone, Copy)]
struct Part {
    first_slot: u64,
    seed: u64,
    keys: u64,
    at: u64,
}

/// The function, with its table of parts in memory. Thread-safe.
pub(crate) struct Ptr {
    file: PagedFile,
    parts: Vec<Part>,
    records: u64,
    bits: u32,
    table: u64,
}

/// How the pages of the file are divided.
struct Pages {
    parts: u64,
    table: u64,
}

impl Part {
    #[inline(always)]
    fn slots(&self) -> u64 {
        self.keys + self.keys / 200 + 8
    }

    #[inline(always)]
    fn buckets(&self) -> u64 {
        (3 * self.keys).div_ceil(10) + 32
    }

    /// Bytes of the block.
    fn block(&self, bits: u32) -> u64 {
        let pilots = self.buckets().next_multiple_of(2);
        let replacements = 2 * (self.slots() - self.keys);
        (pilots + replacements + (self.keys * u64::from(bits)).div_ceil(8)).next_multiple_of(8)
    }
}

impl Ptr {
    pub(crate) fn open(file: PagedFile, facts: &Facts) -> Result<Ptr> {
        let pages = Pages::of(&file, facts.buckets)?;
        let mut parts = memory::with_capacity(facts.buckets as usize, file.path())?;
        let mut at = SIZE as u64;
        let entry = |i: u64| -> Result<u64> {
            let bytes = file.body(pages.parts * SIZE as u64 + 8 * i, 8, pages.table)?;
            Ok(u64_at(bytes, 0).unwrap_or(0))
        };
        const SLOT: u64 = (1 << 56) - 1;
        let mut word = entry(0)?;
        for i in 0..facts.buckets {
            let next = if i + 1 < facts.buckets { entry(i + 1)? } else { facts.records };
            let first_slot = word & SLOT;
            let keys = (next & SLOT).wrapping_sub(first_slot);
            if keys > MAX_KEYS || i == 0 && first_slot != 0 {
                return Err(file.damaged(
                    pages.parts * SIZE as u64 + 8 * i,
                    format!("first slots that increase by 0 to {MAX_KEYS}"),
                    format!("{first_slot}, then {}", next & SLOT),
                ));
            }
            let part = Part { first_slot, seed: word >> 56, keys, at };
            at += part.block(facts.checksum_bits);
            parts.push(part);
            word = next;
        }
        if at.div_ceil(SIZE as u64) != pages.parts {
            return Err(file.damaged(
                pages.parts * SIZE as u64,
                format!("blocks up to page {}", pages.parts),
                format!("blocks that end at byte {at}"),
            ));
        }
        Ok(Ptr { file, parts, records: facts.records, bits: facts.checksum_bits, table: pages.table })
    }

    pub(crate) fn file(&self) -> &PagedFile {
        &self.file
    }

    /// The first page of the table of checksums.
    pub(crate) fn table(&self) -> u64 {
        self.table
    }

    #[inline(always)]
    fn part(&self, signature: Signature) -> &Part {
        &self.parts[scaled(signature.high, self.parts.len() as u64) as usize]
    }

    #[inline(always)]
    fn bucket(&self, part: &Part, signature: Signature) -> u64 {
        let fraction = (signature.high >> 1).wrapping_mul(2).wrapping_mul(self.parts.len() as u64);
        let x = fraction >> 32;
        let square = x.wrapping_mul(x) >> 32;
        let cubic = (square >> 1).wrapping_mul((1 << 32) + x) >> 32;
        (cubic - (cubic >> 8) + (x >> 8)).wrapping_mul(part.buckets()) >> 32
    }

    /// Where the block of a signature begins, and its bytes.
    #[inline]
    pub(crate) fn block(&self, signature: Signature) -> (u64, u64) {
        let part = self.part(signature);
        (part.at, part.block(self.bits))
    }

    #[inline]
    pub(crate) fn prefetch(&self, signature: Signature) {
        let part = self.part(signature);
        self.file.prefetch(part.at + self.bucket(part, signature));
    }

    #[inline]
    pub(crate) fn slot(&self, signature: Signature) -> Result<Option<u64>> {
        let part = self.part(signature);
        let bucket = self.bucket(part, signature);
        let pilot_at = part.at + bucket;
        let pilot = u64::from(self.file.body(pilot_at, 1, self.table)?[0]);
        if pilot == 0 {
            return Err(self.file.damaged(pilot_at, "a pilot from 1 to 255", "0"));
        }
        let hash = signature.low.wrapping_add(signature.high.wrapping_mul(M.wrapping_add(2 * part.seed)));
        let mixed = (hash ^ pilot.wrapping_mul(M)).wrapping_mul(super::signature::A.wrapping_add(2));
        let mut s = (mixed >> 32).wrapping_mul(part.slots()) >> 32;
        let replacements = part.at + part.buckets().next_multiple_of(2);
        if s >= part.keys {
            let at = replacements + 2 * (s - part.keys);
            let replacement = u64::from(u16_at(self.file.body(at, 2, self.table)?, 0).unwrap_or(0));
            if replacement == 0 || replacement > part.keys.max(1) {
                return Err(self.file.damaged(
                    at,
                    format!("a replacement from 1 to {}", part.keys),
                    replacement.to_string(),
                ));
            }
            s = replacement - 1;
        }
        if self.bits > 0 && part.keys > 0 {
            let bit = s * u64::from(self.bits);
            let at = replacements + 2 * (part.slots() - part.keys) + bit / 8;
            let bytes = (bit % 8 + u64::from(self.bits)).div_ceil(8) as usize;
            let found = self.file.body(at, bytes, self.table)?;
            let word = found.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
            if word == 0 {
                for number in [at / SIZE as u64, (at + bytes as u64 - 1) / SIZE as u64] {
                    self.file.verify_body(number, self.table)?;
                }
            }
            if (word >> (bit % 8) ^ signature.low) & ((1 << self.bits) - 1) != 0 {
                return Ok(None);
            }
        }
        let slot = part.first_slot + s;
        Ok((slot < self.records).then_some(slot))
    }
}

impl Pages {
    /// Divides the file: b pages of blocks, p of parts, t of checksums; b follows from the other two.
    fn of(file: &PagedFile, parts: u64) -> Result<Pages> {
        let p = parts.saturating_mul(8).div_ceil(SIZE as u64);
        let content = file.pages() - 2;
        let t = content.div_ceil(1024);
        let body = content - t;
        if parts > 1 << 38 || body <= p || body.div_ceil(1023) != t {
            return Err(file.damaged(
                0,
                format!("pages for the blocks of {parts} parts"),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(Pages { parts: body - p + 1, table: body + 1 })
    }
}
