//! The layouts packed and packed-compressed (FORMAT.md §12): records are sorted by signature and packed into bins.
//!
//! Records are spilled in partitions of their signatures. Once all are known, so are the bins, and passes over the
//! partitions sort their records and make the bins, several at once. These are put into pages in their order.

mod bins;
mod filter;
mod packer;
mod run;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops;
use std::sync::{Mutex, PoisonError};

use bins::Maker;
use filter::FilterWriter;
use packer::Packer;
use run::{Frame, Run, LONG_VALUE};
use shape::{Range, Shape, PARTITIONS, PARTITION_BITS};

use super::assembly::{Assembled, Assembly, Context};
use super::blocks::Compressor;
use super::control::Stage;
use super::order::CollectedKeys;
use super::output::write_dictionary;
use super::passes::Passes;
use super::record::Record;
use super::spill::{Aside, Spill, Spilled};
use crate::error::{Error, Result};
use crate::format::record::{Header, SHORT};
use crate::hash::mum::Mum;

/// Memory that a pass needs for each record besides the record: its signature and place twice, its bin, its part of the
/// filter.
const WORKING: u64 = 88;

/// A partition that would take more passes is looked through for duplicates before.
const WORTH_A_LOOK: u64 = 8;

/// Assembles a packed database.
pub(crate) struct PackedAssembly {
    context: Context,
    dictionary: Option<Vec<u8>>,
    /// For each record how many numbers after the one before it in its partition it comes (LEB128), header, key, and
    /// value or its place.
    spill: Spill,
    aside: Aside,
    /// The number of the last record of each partition.
    last: Vec<u64>,
    /// Bytes of the values of each partition that lie aside.
    long: Vec<u64>,
    records: u64,
    /// Bytes of all records with their headers.
    bytes: u64,
}

impl PackedAssembly {
    /// Starts a database whose blocks are compressed with this dictionary.
    pub(crate) fn new(context: &Context, dictionary: Option<Vec<u8>>) -> Result<PackedAssembly> {
        let memory = context.options.memory / if context.options.ordered { 4 } else { 2 };
        Ok(PackedAssembly {
            context: context.clone(),
            dictionary,
            spill: Spill::new(&context.temporary, "records", PARTITIONS, memory),
            aside: Aside::new(&context.temporary, "values"),
            last: vec![0; PARTITIONS],
            long: vec![0; PARTITIONS],
            records: 0,
            bytes: 0,
        })
    }
}

impl Assembly for PackedAssembly {
    fn add(&mut self, record: &Record<'_>) -> Result<()> {
        let partition = (record.signature.high >> (u64::BITS - PARTITION_BITS)) as usize;
        let header = record.header();
        let more = self.records - std::mem::replace(&mut self.last[partition], self.records);
        let (head, size) = head(more, &header);
        let head = &head.to_le_bytes()[..size];
        if record.value.len() > LONG_VALUE {
            let place = self.aside.put(record.value)?;
            self.long[partition] += record.value.len() as u64;
            self.spill.add(partition, &[head, record.key, &place.encode()])?;
        } else {
            self.spill.add(partition, &[head, record.key, record.value])?;
        }
        self.records += 1;
        self.bytes += header.record();
        Ok(())
    }

    fn complete(self: Box<Self>) -> Result<Assembled> {
        let PackedAssembly { context, dictionary, spill, mut aside, long, records, bytes, .. } = *self;
        let Context { options, control, .. } = &context;
        aside.flush()?;
        let spilled = spill.finish()?;
        let compressed = options.layout.is_compressed();
        let shape =
            if compressed { Shape::compressed(records, bytes, options.block) } else { Shape::plain(records, bytes) };
        let compressor = if compressed {
            Some((Compressor::new(options.level, dictionary.as_deref())?, options.block))
        } else {
            None
        };
        let mut packer = Packer::new(&context, shape.bins, shape.spanning)?;
        let facts = (options.filter_bits > 0).then(|| filter::facts(options.filter_bits, records));
        let mut filter = match facts {
            Some(facts) => Some(FilterWriter::new(&context, facts)?),
            None => None,
        };
        let keys = options.ordered.then(|| Mutex::new(CollectedKeys::new(&context)));
        let maker =
            Maker { bins: shape.bins, filter: facts, compressor, aside: &aside, control, path: &context.temporary };

        let others = spilled.held() + if options.ordered { options.memory / 4 } else { 0 };
        let memory = options.memory.saturating_sub(others).max(options.memory / 4);
        let mut source =
            Source { context: &context, spilled: &spilled, signatures: Mum::new(options.seed), sizes: Vec::new() };
        let most = memory / 4;
        for (partition, long) in long.into_iter().enumerate() {
            let mut size = Size { records: spilled.entries(partition), bytes: spilled.bytes(partition), long };
            if size.need(compressed) > WORTH_A_LOOK * most {
                let different = source.different(partition, |size| size.need(compressed) > most)?;
                size = different.map_or(size, |different| different.with_room(most));
            }
            source.sizes.push(size);
        }
        let ranges = shape::ranges(&shape, most, |partition| source.sizes[partition].need(compressed))?;
        let work = |pass: usize| {
            let run = source.sorted(shape.bins, &ranges[pass])?;
            if let Some(keys) = &keys {
                let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                run.iter().try_for_each(|(_, record)| keys.add(record.key()))?;
            }
            maker.make(&run, &ranges[pass])
        };
        let mut kept = 0;
        let take = |pass: usize, bins: bins::Bins| {
            let range = &ranges[pass];
            packer.enter(range.partition, PARTITIONS)?;
            bins.put(&mut packer, &aside, control)?;
            if let Some(filter) = &mut filter {
                bins.parts.iter().try_for_each(|&part| filter.add(part))?;
            }
            if range.last {
                range.partitions().for_each(|partition| spilled.free(partition));
            }
            kept += bins.records;
            control.report(Stage::Index, kept, Some(records))
        };
        Passes { control, threads: options.threads, memory }.run(ranges.len(), |pass| ranges[pass].need, work, take)?;

        let (mut files, index, sample) = packer.finish(&context)?;
        if let Some(dictionary) = &dictionary {
            files.push(write_dictionary(&context.directory, dictionary)?);
        }
        files.push(index);
        if let Some(filter) = filter {
            files.push(filter.finish()?);
        }
        drop(spilled);
        let order = match keys {
            Some(keys) => {
                let (facts, file) = keys.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
                files.push(file);
                Some(facts)
            }
            None => None,
        };
        Ok(Assembled {
            records: kept,
            buckets: 0,
            longest_block: 0,
            bins: Some((shape.bins, shape.spanning)),
            sample: sample.filter(|_| !compressed),
            filter: facts,
            order,
            dictionary: dictionary.map_or(0, |dictionary| dictionary.len()),
            files,
        })
    }
}

/// The bytes before the key in an entry, as a number, and how many they are: a number below 2^49 in LEB128, and a
/// header. They stay in registers: where they were written one by one and then copied, the processor would wait for
/// all writes before, which miss its caches.
#[inline]
fn head(number: u64, header: &Header) -> (u128, usize) {
    let (key, value) = (header.key as u128, header.value as u128);
    let mut head = if header.size == SHORT { key | value << 8 } else { 0xffff << 8 | key << 24 | value << 40 };
    let (mut left, mut size, mut digits) = (number, 0, 0);
    while left > 0x7f {
        digits |= u128::from(left & 0x7f | 0x80) << (8 * size);
        left >>= 7;
        size += 1;
    }
    digits |= u128::from(left) << (8 * size);
    size += 1;
    head = head << (8 * size) | digits;
    (head, size + header.size)
}

/// What the records of a partition take.
#[derive(Clone, Copy, Default)]
struct Size {
    records: u64,
    bytes: u64,
    /// Bytes of values that lie aside.
    long: u64,
}

impl Size {
    /// The memory that a pass needs for them, about.
    fn need(&self, compressed: bool) -> u64 {
        let frames = if compressed { self.bytes + 2 * self.long } else { 0 };
        2 * self.bytes + frames + WORKING * self.records
    }

    /// The size of these records and of some of their duplicates, which are dropped together. That takes half of the
    /// memory, if these are few.
    fn with_room(self, memory: u64) -> Size {
        let (records, bytes) = (memory / 4 / WORKING, memory / 8);
        Size { records: self.records + records.max(self.records), bytes: self.bytes + bytes.max(self.bytes), ..self }
    }
}

/// Where passes get their records.
struct Source<'a> {
    context: &'a Context,
    spilled: &'a Spilled,
    signatures: Mum,
    /// For each partition the size of its records. Where these would take many passes only for their duplicates, most of
    /// those do not count.
    sizes: Vec<Size>,
}

impl<'a> Source<'a> {
    /// The sorted records of a range of bins. Fails if they have duplicates that are refused.
    fn sorted(&self, bins: u64, range: &Range) -> Result<Run<'a>> {
        let partitions = range.partitions();
        let entries = self.sizes[partitions.clone()].iter().map(|size| size.records).sum();
        let bytes = self.sizes[partitions].iter().map(|size| size.bytes).sum();
        let keep = self.context.options.duplicates;
        let mut run = Run::new(bins, range, keep, entries, bytes, &self.context.temporary)?;
        self.each(range.partitions(), |_, record| run.add(self.signatures.sign(record.key()), record.bytes))?;
        run.sort()?;
        match run.refused() {
            Some(key) => Err(self.duplicate(range, key)?),
            None => Ok(run),
        }
    }

    /// The error for a key with several records, which names the first two.
    fn duplicate(&self, range: &Range, key: &[u8]) -> Result<Error> {
        let mut numbers = [0; 2];
        let mut found = 0;
        self.each(range.partitions(), |number, record| {
            if found < 2 && record.key() == key {
                numbers[found] = number;
                found += 1;
            }
            Ok(())
        })?;
        Ok(Error::Duplicate { key: key.to_vec(), first: numbers[0], second: numbers[1] })
    }

    /// The size of the longest record of each signature in a partition. None if that is too much.
    fn different(&self, partition: usize, too_much: impl Fn(&Size) -> bool) -> Result<Option<Size>> {
        let mut seen = HashMap::new();
        let mut size = Size::default();
        let read = self.each(partition..partition + 1, |_, record| {
            let signature = self.signatures.sign(record.key());
            let long = if record.header.value > LONG_VALUE { record.header.value } else { 0 };
            let (bytes, long) = (record.bytes.len() as u64, long as u64);
            let (most_bytes, most_long) = seen.entry((signature.high, signature.low)).or_insert((0, 0));
            // Any of the duplicates may be the one that is kept.
            size.records += u64::from(*most_bytes == 0);
            size.bytes += bytes.saturating_sub(*most_bytes);
            size.long += long.saturating_sub(*most_long);
            *most_bytes = bytes.max(*most_bytes);
            *most_long = long.max(*most_long);
            if too_much(&size) {
                Err(Error::Stopped)
            } else {
                Ok(())
            }
        });
        match read {
            Err(Error::Stopped) if too_much(&size) => Ok(None),
            read => read.map(|()| Some(size)),
        }
    }

    /// Passes on the records of partitions with their numbers.
    fn each(&self, partitions: ops::Range<usize>, mut take: impl FnMut(u64, Frame<'_>) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        for partition in partitions {
            let mut number = 0;
            self.spilled.pieces(partition, &mut buffer, |mut left| {
                self.context.control.check()?;
                while !left.is_empty() {
                    let size = left.iter().take_while(|&&byte| byte > 0x7f).count() + 1;
                    let (more, record) = left.split_at(size);
                    number += more.iter().rev().fold(0, |more, byte| more << 7 | u64::from(byte & 0x7f));
                    let record = Frame::first(record);
                    take(number, record)?;
                    left = &left[size + record.bytes.len()..];
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
