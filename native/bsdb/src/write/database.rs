//! Writes one database, or one shard: trains the dictionary (FORMAT.md §4), passes the records to the assembly of the
//! layout, and seals the files (§8).

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::addressed::AddressedAssembly;
use super::assembly::{Assembled, Assembly, Context};
use super::blocks::Trainer;
use super::control::Stage;
use super::manifest::{self, Totals};
use super::order::KeySorter;
use super::output::{self, Finished};
use super::packed::PackedAssembly;
use super::passes::Passes;
use super::record::Record;
use crate::error::{Error, Result};
use crate::format::frame::Id;
use crate::format::record::{parse, Parsed};
use crate::hash::mum::Mum;
use crate::memory;

/// Bytes of records that are held at most until the dictionary is trained.
const MOST_HELD: u64 = 32 << 20;

/// What was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) id: Id,
    /// Records that lookups find.
    pub(crate) records: u64,
    pub(crate) totals: Totals,
    /// Bytes of all files.
    pub(crate) bytes: u64,
    /// Bytes of the dictionary.
    pub(crate) dictionary: usize,
}

/// Takes all records and writes what is published.
pub(crate) trait Output: Send {
    /// Takes a record for training the dictionary, before the first record.
    fn sample(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Takes a record.
    fn add(&mut self, record: &Record<'_>) -> Result<()>;

    /// Writes all files into the directory of the context.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// Writes one database.
pub(crate) struct DatabaseWriter {
    context: Context,
    shard: u32,
    totals: Totals,
    /// The dictionary that is to be trained, if there is one.
    learning: Option<Learning>,
    /// Begun once the dictionary is known.
    assembling: Option<Assembling>,
}

/// Samples for the dictionary. Unless they are given, they are the first records, which are held.
struct Learning {
    trainer: Trainer,
    /// Whether samples were given.
    sampled: bool,
    /// Records back to back: header, key, value.
    held: Vec<u8>,
    learned: u64,
    bytes: u64,
}

/// The assembly of the layout. If records are to be stored in the order of their keys, they are sorted before.
struct Assembling {
    sorter: Option<KeySorter>,
    assembly: Box<dyn Assembly>,
}

impl DatabaseWriter {
    /// Starts the database, or the shard with this number.
    pub(crate) fn new(context: Context, shard: u32) -> Result<DatabaseWriter> {
        let options = &context.options;
        let learning = (options.layout.is_compressed() && options.trains()).then(|| Learning {
            trainer: Trainer::new(options.block, options.dictionary),
            sampled: false,
            held: Vec::new(),
            learned: 0,
            bytes: 0,
        });
        let assembling = if learning.is_none() { Some(Assembling::new(&context, None)?) } else { None };
        Ok(DatabaseWriter { context, shard, totals: Totals::default(), learning, assembling })
    }

    /// The distance of the records of a shard to sample, evenly spaced from the first on; none if no dictionary is
    /// trained. `bytes` counts what the trainer takes of all records.
    pub(crate) fn sample_step(&self, records: u64, bytes: u64) -> Option<u64> {
        let learning = self.learning.as_ref().filter(|_| records > 0)?;
        let by_records = records.div_ceil(self.context.options.samples);
        Some(by_records.max(bytes.div_ceil(learning.trainer.enough())))
    }

    /// Takes the assembly out. The first call trains the dictionary, and passes on the records that were held.
    fn assembling(&mut self) -> Result<Assembling> {
        if let Some(assembling) = self.assembling.take() {
            return Ok(assembling);
        }
        let (dictionary, held) = match self.learning.take() {
            Some(learning) => (learning.trainer.train(), learning.held),
            None => (None, Vec::new()),
        };
        let mut assembling = Assembling::new(&self.context, dictionary)?;
        let signatures = Mum::new(self.context.options.seed);
        let mut at = 0;
        while at < held.len() {
            let (key, value, end) = record_at(&held, at, &self.context.directory)?;
            assembling.add(&Record { signature: signatures.sign(key), key, value })?;
            at = end;
        }
        Ok(assembling)
    }
}

impl Output for DatabaseWriter {
    fn sample(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(learning) = &mut self.learning {
            learning.learn(key, value)?;
            learning.sampled = true;
        }
        Ok(())
    }

    fn add(&mut self, record: &Record<'_>) -> Result<()> {
        self.totals.add(record.key.len(), record.value.len());
        if let Some(assembling) = &mut self.assembling {
            return assembling.add(record);
        }
        if let Some(learning) = self.learning.as_mut().filter(|learning| !learning.sampled) {
            learning.learn(record.key, record.value)?;
            learning.learned += 1;
            learning.bytes += record.header().record();
            let enough = learning.learned >= self.context.options.samples
                || learning.bytes >= MOST_HELD
                || learning.trainer.is_full();
            if !enough {
                return hold(&mut learning.held, record, &self.context.directory);
            }
        }
        let mut assembling = self.assembling()?;
        assembling.add(record)?;
        self.assembling = Some(assembling);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        let made = self.assembling()?.complete(&self.totals)?;
        seal(&self.context, self.shard, self.totals, made)
    }
}

impl Learning {
    fn learn(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.trainer.is_full() {
            return Ok(());
        }
        self.trainer.add(key, value)
    }
}

impl Assembling {
    fn new(context: &Context, dictionary: Option<Vec<u8>>) -> Result<Assembling> {
        if context.options.layout.is_packed() {
            return Ok(Assembling { sorter: None, assembly: Box::new(PackedAssembly::new(context, dictionary)?) });
        }
        let sorter = context.options.ordered.then(|| KeySorter::new(context));
        Ok(Assembling { sorter, assembly: Box::new(AddressedAssembly::new(context, dictionary)?) })
    }

    #[inline]
    fn add(&mut self, record: &Record<'_>) -> Result<()> {
        match &mut self.sorter {
            Some(sorter) => sorter.add(record),
            None => self.assembly.add(record),
        }
    }

    /// Writes the content of all files. `totals` are those of all records.
    fn complete(mut self, totals: &Totals) -> Result<Assembled> {
        if let Some(sorter) = self.sorter {
            self.assembly.expect(totals)?;
            sorter.finish(&mut |record| self.assembly.add(record))?;
        }
        self.assembly.complete()
    }
}

/// Appends a record.
fn hold(to: &mut Vec<u8>, record: &Record<'_>, path: &Path) -> Result<()> {
    let header = record.header();
    memory::reserve(to, header.size + header.key + header.value, path)?;
    to.extend_from_slice(&header.encode()[..header.size]);
    to.extend_from_slice(record.key);
    to.extend_from_slice(record.value);
    Ok(())
}

/// The key and the value of the record at a place among records that lie back to back, and where it ends.
pub(super) fn record_at<'a>(bytes: &'a [u8], at: usize, path: &Path) -> Result<(&'a [u8], &'a [u8], usize)> {
    if let Parsed::Header(header) = parse(&bytes[at..]) {
        let value = at + header.size + header.key;
        if let Some(record) = bytes.get(at + header.size..value + header.value) {
            let (key, value) = record.split_at(header.key);
            return Ok((key, value, at + header.size + record.len()));
        }
    }
    Err(Error::damaged(path, at as u64, "a record of the build", "other bytes"))
}

/// Gives the files their ids and names, forces them to the device, and writes the manifest.
fn seal(context: &Context, shard: u32, totals: Totals, made: Assembled) -> Result<Written> {
    let text = manifest::text(&context.options, shard, &totals, &made);
    let id = manifest::id(&text);
    let files: Vec<Mutex<Option<Finished>>> = made.files.into_iter().map(|file| Mutex::new(Some(file))).collect();
    let all = files.len() as u64 + 1;
    let mut bytes = 0;
    // The device forces several files at once in the time of one.
    let passes = Passes { control: &context.control, threads: context.options.threads, memory: 0 };
    passes.run(
        files.len(),
        |_| 0,
        |i| match files[i].lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(file) => file.seal(&id),
            None => Ok(0),
        },
        |i, length| {
            bytes += length;
            context.control.report(Stage::Publish, i as u64 + 1, Some(all))
        },
    )?;
    bytes += output::write_manifest(&context.directory, text.as_bytes(), &id, context.options.sign_key.as_ref())?;
    Ok(Written { id, records: made.records, totals, bytes, dictionary: made.dictionary })
}
