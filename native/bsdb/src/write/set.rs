//! Writes a set of shards (FORMAT.md §14): divides the records among them, then writes one shard after the other.
//!
//! The bytes of a shard depend only on its own records and the options.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::assembly::Context;
use super::control::{Control, Progress, Stage};
use super::database::{record_at, DatabaseWriter, Output, Written};
use super::manifest::{self, Totals};
use super::output;
use super::record::Record;
use super::spill::{Spill, Spilled};
use crate::error::{Error, Result};
use crate::format::frame::hex;
use crate::format::routing;
use crate::format::set::ShardLine;
use crate::hash::mum::Mum;

/// Bytes of a record that a dictionary is trained on, at most.
const MOST_OF_RECORD: u64 = 1 << 17;

/// The longest number of a record in the spill.
const MOST_NUMBER: usize = 10;

/// Divides the records among shards, and writes each of them.
pub(crate) struct SetWriter {
    context: Context,
    /// Each entry is a record's number, as the difference to that of the entry before it in its shard, in LEB128,
    /// and the record: header, key, value.
    spill: Spill,
    shards: Vec<Routed>,
    records: u64,
}

/// What is known of a shard's records before they are written.
#[derive(Clone, Copy, Default)]
struct Routed {
    /// The number of the last record among all.
    last: u64,
    /// Bytes that a dictionary would be trained on.
    sample_bytes: u64,
}

impl SetWriter {
    pub(crate) fn new(mut context: Context) -> Result<SetWriter> {
        let shards = context.options.shards as usize;
        // What stays in memory of the records stays there while shards are written, which have the rest.
        let held = context.options.memory / 4;
        context.options.memory -= held;
        let spill = Spill::new(&context.temporary, "routed", shards, held);
        Ok(SetWriter { context, spill, shards: vec![Routed::default(); shards], records: 0 })
    }
}

impl Output for SetWriter {
    /// Does nothing: each shard samples its own records.
    fn sample(&mut self, _key: &[u8], _value: &[u8]) -> Result<()> {
        Ok(())
    }

    fn add(&mut self, record: &Record<'_>) -> Result<()> {
        let number = routing::shard(routing::slot(record.key), self.context.options.shards) as usize;
        let shard = &mut self.shards[number];
        let header = record.header();
        let mut difference = [0; MOST_NUMBER];
        let length = put_number(&mut difference, self.records - shard.last);
        let parts = [&difference[..length], &header.encode()[..header.size], record.key, record.value];
        self.spill.add(number, &parts)?;
        shard.last = self.records;
        shard.sample_bytes += header.record().min(MOST_OF_RECORD);
        self.records += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let SetWriter { context, spill, shards, records } = *self;
        let spilled = spill.finish()?;
        let mut lines = Vec::with_capacity(shards.len());
        let mut all = Written { id: [0; 16], records: 0, totals: Totals::default(), bytes: 0, dictionary: 0 };
        for (number, routed) in shards.iter().enumerate() {
            let begun = all.totals.records;
            let shard = Shard { number: number as u32, routed, records: &spilled, context: &context };
            let (line, written) = shard.write(begun, records)?;
            spilled.free(number);
            lines.push(line);
            all.records += written.records;
            all.totals.records += written.totals.records;
            all.totals.key_bytes += written.totals.key_bytes;
            all.totals.value_bytes += written.totals.value_bytes;
            all.bytes += written.bytes;
            all.dictionary += written.dictionary;
            context.control.report(Stage::Index, all.totals.records, Some(records))?;
        }
        let text = text(all.records, &lines);
        all.id = manifest::id(&text);
        let key = context.options.sign_key.as_ref();
        all.bytes += output::write_manifest(&context.directory, text.as_bytes(), &all.id, key)?;
        Ok(all)
    }
}

/// The text of the manifest of a whole set.
fn text(records: u64, shards: &[ShardLine]) -> String {
    let mut text =
        format!("format=1\nrecords={records}\nlayout=sharded\nshard.count={}\nshard.hash=crc16-slots\n", shards.len());
    for shard in shards {
        let id = hex(&shard.id);
        let _ = writeln!(text, "shard={} {id} {}", shard.number, shard.records);
        // writing to a string does not fail
    }
    text
}

/// A shard whose records are all known.
struct Shard<'a> {
    number: u32,
    routed: &'a Routed,
    records: &'a Spilled,
    context: &'a Context,
}

impl Shard<'_> {
    /// Writes the shard. `begun` of all `records` are in the shards before.
    fn write(&self, begun: u64, records: u64) -> Result<(ShardLine, Written)> {
        let control = self.context.control.clone();
        let mut most = begun;
        let listener = move |progress: Progress| {
            if progress.stage == Stage::Index {
                most = most.max(begun + progress.done);
            }
            control.report(Stage::Index, most, Some(records)).is_ok()
        };
        let directory = self.context.directory.join(format!("shard-{:05}.part", self.number));
        fs::create_dir(&directory).map_err(|e| Error::io(&directory, e))?;
        let context = Context {
            directory: directory.clone(),
            control: Control::new(Some(Box::new(listener))),
            ..self.context.clone()
        };
        let written = self.write_records(context).map_err(|error| self.among_all(error))?;
        let line = ShardLine { number: self.number, id: written.id, records: written.records };
        force(&directory)?;
        let named = self.context.directory.join(line.directory());
        fs::rename(&directory, &named).map_err(|e| Error::io(&directory, e))?;
        Ok((line, written))
    }

    fn write_records(&self, context: Context) -> Result<Written> {
        let signatures = Mum::new(context.options.seed);
        let mut writer = Box::new(DatabaseWriter::new(context, self.number)?);
        let records = self.records.entries(self.number as usize);
        if let Some(step) = writer.sample_step(records, self.routed.sample_bytes) {
            let mut place = 0;
            self.each(|_, key, value| {
                if place % step == 0 {
                    writer.sample(key, value)?;
                }
                place += 1;
                Ok(())
            })?;
        }
        self.each(|_, key, value| writer.add(&Record { signature: signatures.sign(key), key, value }))?;
        writer.finish()
    }

    /// Passes on the number among all, the key and the value of each record, in the order in which they were added.
    fn each(&self, mut take: impl FnMut(u64, &[u8], &[u8]) -> Result<()>) -> Result<()> {
        let path = &self.context.temporary;
        let mut number = 0;
        self.records.pieces(self.number as usize, &mut Vec::new(), |bytes| {
            self.context.control.check()?;
            let mut at = 0;
            while at < bytes.len() {
                let (difference, start) = number_at(bytes, at)
                    .ok_or_else(|| Error::damaged(path, at as u64, "the number of a record", "other bytes"))?;
                number += difference;
                let (key, value, end) = record_at(bytes, start, path)?;
                take(number, key, value)?;
                at = end;
            }
            Ok(())
        })
    }

    /// The error with the numbers that records have among all.
    fn among_all(&self, error: Error) -> Error {
        let Error::Duplicate { key, first, second } = error else {
            return error;
        };
        let (mut place, mut found) = (0, [first, second]);
        let read = self.each(|number, _, _| {
            for (wanted, found) in [first, second].into_iter().zip(&mut found) {
                if place == wanted {
                    *found = number;
                }
            }
            place += 1;
            Ok(())
        });
        match read {
            Ok(()) => Error::Duplicate { key, first: found[0], second: found[1] },
            Err(error) => error,
        }
    }
}

/// Forces the names of a directory's files to the device.
pub(super) fn force(directory: &Path) -> Result<()> {
    #[cfg(unix)]
    fs::File::open(directory).and_then(|opened| opened.sync_all()).map_err(|e| Error::io(directory, e))?;
    let _ = directory;
    Ok(())
}

/// Writes a number in LEB128, and returns its length.
fn put_number(to: &mut [u8; MOST_NUMBER], mut number: u64) -> usize {
    let mut length = 0;
    while number >= 0x80 {
        to[length] = number as u8 | 0x80;
        number >>= 7;
        length += 1;
    }
    to[length] = number as u8;
    length + 1
}

/// A number in LEB128, and where it ends.
fn number_at(bytes: &[u8], from: usize) -> Option<(u64, usize)> {
    let mut number = 0;
    for (i, &byte) in bytes[from..].iter().take(MOST_NUMBER).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((number, from + i + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX] {
            let mut bytes = [0xff; MOST_NUMBER];
            let length = put_number(&mut bytes, number);
            assert_eq!(number_at(&bytes, 0), Some((number, length)));
        }
        assert_eq!(number_at(&[0x80, 0x80], 0), None);
    }

    #[test]
    fn the_text_of_a_set_is_that_of_the_format() {
        let shards = [(0, 1, 5), (1, 0xab, 0)].map(|(number, id, records)| ShardLine {
            number,
            id: u128::to_be_bytes(id),
            records,
        });
        assert_eq!(
            text(5, &shards),
            "format=1\nrecords=5\nlayout=sharded\nshard.count=2\nshard.hash=crc16-slots\n\
             shard=0 00000000000000000000000000000001 5\nshard=1 000000000000000000000000000000ab 0\n"
        );
    }
}
