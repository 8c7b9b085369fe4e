//! The bytes of bins: records back to back, or in compressed blocks (FORMAT.md §12).

use std::path::Path;

use super::filter::Part;
use super::packer::Packer;
use super::run::{Frame, Run};
use super::shape::Range;
use crate::error::Result;
use crate::format::block::MAX_COMPRESSED;
use crate::format::facts::FilterFacts;
use crate::format::scaled;
use crate::hash::signature::Signature;
use crate::memory;
use crate::write::blocks::{self, Compressor};
use crate::write::control::Control;
use crate::write::spill::{Aside, Place};

/// Bytes of a long value that are read at once.
const AT_ONCE: usize = 1 << 20;

/// Bytes of a buffer that is kept for further blocks.
const KEPT: usize = 1 << 20;

/// A value that lies aside: where it belongs among the bytes of the bins.
struct Missing {
    at: usize,
    place: Place,
    length: usize,
}

/// The bins of a pass.
pub(super) struct Bins {
    bytes: Vec<u8>,
    /// Where each bin ends, and its filter.
    ends: Vec<(usize, u8)>,
    missing: Vec<Missing>,
    /// What the filter of absent keys stores of each record, if there is one.
    pub(super) parts: Vec<Part>,
    pub(super) records: u64,
}

/// What bins are made with.
pub(super) struct Maker<'a> {
    /// The number of all bins.
    pub(super) bins: u64,
    pub(super) filter: Option<FilterFacts>,
    /// How blocks are compressed, and their most raw bytes.
    pub(super) compressor: Option<(Compressor, u64)>,
    pub(super) aside: &'a Aside,
    pub(super) control: &'a Control,
    /// What errors name.
    pub(super) path: &'a Path,
}

impl Maker<'_> {
    /// Makes the bins of a range from its sorted records.
    pub(super) fn make(&self, run: &Run<'_>, range: &Range) -> Result<Bins> {
        let mut made = Bins {
            bytes: memory::with_capacity(run.bytes(), self.path)?,
            ends: memory::with_capacity(range.bins, self.path)?,
            missing: Vec::new(),
            parts: Vec::new(),
            records: run.records() as u64,
        };
        if let Some(facts) = &self.filter {
            made.parts = memory::with_capacity(run.records(), self.path)?;
            made.parts.extend(run.iter().map(|(signature, _)| Part::of(facts, &signature)));
        }
        match &self.compressor {
            None => self.plain(run, range, &mut made)?,
            Some((compressor, block)) => {
                let mut blocks = Blocks { maker: self, compressor, block: *block, raw: Vec::new(), part: 0 };
                blocks.make(run, range, &mut made)?;
            }
        }
        Ok(made)
    }

    /// The number of a record's bin in a range.
    #[inline]
    fn bin(&self, range: &Range, signature: &Signature) -> usize {
        (scaled(signature.high, self.bins) - range.first) as usize
    }

    fn plain(&self, run: &Run<'_>, range: &Range, made: &mut Bins) -> Result<()> {
        let mut filter = 0;
        for (signature, record) in run.iter() {
            let bin = self.bin(range, &signature);
            while made.ends.len() < bin {
                self.control.check()?;
                made.ends.push((made.bytes.len(), filter));
                filter = 0;
            }
            filter |= 1 << (signature.low & 3);
            made.add(&record, self.path)?;
        }
        while made.ends.len() < range.bins {
            made.ends.push((made.bytes.len(), filter));
            filter = 0;
        }
        Ok(())
    }
}

impl Bins {
    /// Appends a record.
    #[inline]
    fn add(&mut self, record: &Frame<'_>, path: &Path) -> Result<()> {
        let (here, aside) = record.parts();
        memory::reserve(&mut self.bytes, here.len(), path)?;
        self.bytes.extend_from_slice(here);
        if let Some(place) = aside {
            memory::reserve(&mut self.missing, 1, path)?;
            self.missing.push(Missing { at: self.bytes.len(), place, length: record.header.value });
        }
        Ok(())
    }

    /// Puts all bins into pages.
    pub(super) fn put(&self, packer: &mut Packer, aside: &Aside, control: &Control) -> Result<()> {
        let mut missing = self.missing.iter().peekable();
        let mut buffer = if self.missing.is_empty() { Vec::new() } else { vec![0; AT_ONCE] };
        let mut start = 0;
        for &(end, filter) in &self.ends {
            control.check()?;
            let mut length = (end - start) as u64;
            for value in missing.clone().take_while(|value| value.at <= end) {
                length += value.length as u64;
            }
            packer.start(length, filter)?;
            while let Some(value) = missing.next_if(|value| value.at <= end) {
                packer.put(&self.bytes[start..value.at])?;
                start = value.at;
                aside.read(value.place, value.length, &mut buffer, |part| {
                    control.check()?;
                    packer.put(part)
                })?;
            }
            packer.put(&self.bytes[start..end])?;
            start = end;
        }
        Ok(())
    }
}

/// Collects records in compressed blocks.
struct Blocks<'a> {
    maker: &'a Maker<'a>,
    compressor: &'a Compressor,
    block: u64,
    /// The records of the current block.
    raw: Vec<u8>,
    /// The part of the bin in which the last record lies.
    part: u8,
}

impl Blocks<'_> {
    fn make(&mut self, run: &Run<'_>, range: &Range, made: &mut Bins) -> Result<()> {
        for (signature, record) in run.iter() {
            let bin = self.maker.bin(range, &signature);
            if made.ends.len() < bin {
                self.end_bins(bin, made)?;
            }
            let length = record.header.record();
            if self.raw.len() as u64 + length > self.block {
                self.end_block(made)?;
            }
            self.part = part(signature.high, self.maker.bins);
            if length > MAX_COMPRESSED {
                let (header, size) = blocks::encode(length, None);
                made.bytes.push(self.part);
                made.bytes.extend_from_slice(&header[..size]);
                made.add(&record, self.maker.path)?;
            } else {
                self.append(&record)?;
            }
        }
        self.end_bins(range.bins, made)
    }

    fn append(&mut self, record: &Frame<'_>) -> Result<()> {
        let (here, aside) = record.parts();
        memory::reserve(&mut self.raw, record.header.record() as usize, self.maker.path)?;
        self.raw.extend_from_slice(here);
        if let Some(place) = aside {
            let length = record.header.value;
            let mut buffer = vec![0; AT_ONCE.min(length)];
            self.maker.aside.read(place, length, &mut buffer, |part| {
                self.raw.extend_from_slice(part);
                self.maker.control.check()
            })?;
        }
        Ok(())
    }

    fn end_block(&mut self, made: &mut Bins) -> Result<()> {
        if self.raw.is_empty() {
            return Ok(());
        }
        memory::reserve(&mut made.bytes, 1, self.maker.path)?;
        made.bytes.push(self.part);
        self.compressor.block(&self.raw, &mut made.bytes)?;
        self.raw.clear();
        self.raw.shrink_to(KEPT);
        Ok(())
    }

    /// Ends bins, up to the one with this number.
    fn end_bins(&mut self, to: usize, made: &mut Bins) -> Result<()> {
        self.maker.control.check()?;
        self.end_block(made)?;
        made.ends.resize(to, (made.bytes.len(), 0));
        Ok(())
    }
}

/// The part of its bin in which a signature lies.
fn part(high: u64, bins: u64) -> u8 {
    ((high >> 1).wrapping_mul(bins << 1) >> 56) as u8
}
