//! The layouts blocked, compact and compressed (FORMAT.md §3, §4, §7, §13): data files, hash function and index.
//!
//! Records go to the data files at once. Their signatures and addresses are spilled until all are known. Then each part
//! of the hash function is solved on its own, which also gives the slots of its keys, and parts are written in order.

use std::hash::BuildHasher;
use std::path::Path;

use super::assembly::{Assembled, Assembly, Context};
use super::control::Stage;
use super::data::DataWriter;
use super::hash::{self, HashFile, Part};
use super::manifest::Totals;
use super::options::Duplicates;
use super::order::AddressedKeys;
use super::output::{write_dictionary, Finished, OutputFile};
use super::passes::Passes;
use super::record::Record;
use super::reread::{Reader, Unsealed};
use super::spill::{Spill, Spilled};
use crate::error::{show, Error, Result};
use crate::format::frame::Kind;
use crate::format::u64_at;
use crate::hash::mum::Mum;
use crate::hash::signature::Signature;
use crate::memory;

/// log2 of the number of partitions of the signatures.
const PARTITION_BITS: u32 = 10;

/// Bytes of an entry of the spill: signature and address.
const ENTRY: usize = 24;

/// Memory that a pass takes for each of its entries: the spilled bytes, the sorted entries, the pilots and the slots.
const WORKING: u64 = 96;

/// Bytes of an entry of the index, and entries of a page (FORMAT.md §7).
const SLOT: usize = 8;
const SLOTS: usize = 511;

/// Entries that a pass sorts at once, at least: about those of a part.
const LEAST_PASS: usize = 1 << 16;

/// More entries than this, which share the leading bits of their signatures, are sorted by a general algorithm.
const FEW: usize = 24;

/// What the errors about signatures advise.
const OTHER_SEED: &str = "build with another seed: set the option seed to a random number";
const PACKED: &str =
    "another seed does not help: build the layout packed, which holds both, or leave one of the keys out";

/// Assembles a database whose records have addresses.
pub(crate) struct AddressedAssembly {
    context: Context,
    dictionary: Option<Vec<u8>>,
    data: DataWriter,
    located: Located,
}

/// Where the records are.
struct Located {
    spill: Spill,
    records: u64,
    order: Option<AddressedKeys>,
}

impl Located {
    #[inline]
    fn add(&mut self, signature: Signature, key: &[u8], address: u64) -> Result<()> {
        let mut entry = [0; ENTRY];
        entry[..8].copy_from_slice(&signature.high.to_le_bytes());
        entry[8..16].copy_from_slice(&signature.low.to_le_bytes());
        entry[16..].copy_from_slice(&address.to_le_bytes());
        let partition = (signature.high >> (64 - PARTITION_BITS)) as usize;
        self.spill.add(partition, &[&entry])?;
        self.records += 1;
        match &mut self.order {
            Some(order) => order.add(key, address),
            None => Ok(()),
        }
    }
}

impl AddressedAssembly {
    /// Starts a database whose blocks are compressed with this dictionary.
    pub(crate) fn new(context: &Context, dictionary: Option<Vec<u8>>) -> Result<AddressedAssembly> {
        let memory = context.options.memory / 2;
        Ok(AddressedAssembly {
            data: DataWriter::new(context, dictionary.as_deref())?,
            located: Located {
                spill: Spill::new(&context.temporary, "signatures", 1 << PARTITION_BITS, memory),
                records: 0,
                order: None,
            },
            dictionary,
            context: context.clone(),
        })
    }

    /// Writes all files but the data, which are written already; `index` makes two of them.
    fn complete_with(self, index: impl FnOnce(&IndexStage) -> Result<Indexed>) -> Result<Assembled> {
        let AddressedAssembly { context, dictionary, data, mut located } = self;
        let placed = &mut |signature, key: &[u8], address| located.add(signature, key, address);
        let (mut files, longest_block) = data.finish(placed)?;
        let Located { spill, records, order, .. } = located;
        let order = order.map(AddressedKeys::finish).transpose()?;
        let spilled = spill.finish()?;
        let indexed = index(&IndexStage {
            data: Unsealed::open(&files, &context.options, dictionary.as_deref())?,
            memory: context.options.memory.saturating_sub(spilled.held()),
            spilled,
            records,
            context: context.clone(),
        })?;
        if let Some(dictionary) = &dictionary {
            files.push(write_dictionary(&context.directory, dictionary)?);
        }
        files.extend([indexed.hash, indexed.index]);
        let order = order.map(|(facts, file)| {
            files.push(file);
            facts
        });
        Ok(Assembled {
            records: indexed.keys,
            buckets: indexed.parts,
            longest_block,
            bins: None,
            sample: None,
            filter: None,
            order,
            dictionary: dictionary.map_or(0, |bytes| bytes.len()),
            files,
        })
    }
}

impl Assembly for AddressedAssembly {
    fn expect(&mut self, totals: &Totals) -> Result<()> {
        if self.context.options.ordered {
            self.located.order = Some(AddressedKeys::new(&self.context, totals)?);
        }
        Ok(())
    }

    fn add(&mut self, record: &Record<'_>) -> Result<()> {
        let located = &mut self.located;
        self.data.add(record, &mut |signature, key, address| located.add(signature, key, address))
    }

    fn complete(self: Box<Self>) -> Result<Assembled> {
        self.complete_with(IndexStage::run)
    }
}

/// The hash function and the index.
struct Indexed {
    parts: u64,
    keys: u64,
    hash: Finished,
    index: Finished,
}

/// Why there is no hash function.
enum Failure {
    /// A part cannot be solved: why.
    Uneven(String),
    /// The records at these addresses have the same signature.
    Refused(u64, u64),
}

/// A record in the index stage.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    signature: Signature,
    address: u64,
}

impl Entry {
    fn decode(bytes: &[u8]) -> Entry {
        let word = |at| u64_at(bytes, at).unwrap_or(0);
        Entry { signature: Signature { high: word(0), low: word(8) }, address: word(16) }
    }
}

/// A part, and the entries of the index for its slots.
struct Solved {
    part: Part,
    slots: Vec<u8>,
}

/// Makes the hash function and the index from the spilled entries.
struct IndexStage {
    context: Context,
    /// What passes may take.
    memory: u64,
    spilled: Spilled,
    records: u64,
    data: Unsealed,
}

impl IndexStage {
    fn run(&self) -> Result<Indexed> {
        let mut attempt = 0;
        loop {
            match self.attempt(hash::parts(self.records, attempt))? {
                Ok(indexed) => return Ok(indexed),
                Err(Failure::Refused(first, second)) => return Err(self.duplicate(first, second)?),
                Err(Failure::Uneven(cause)) if attempt + 1 == hash::ATTEMPTS => {
                    return Err(Error::Argument(format!(
                        "the keys' signatures are not evenly distributed: {cause}; {OTHER_SEED}"
                    )));
                }
                Err(Failure::Uneven(_)) => attempt += 1,
            }
        }
    }

    /// Tries to make a function of `parts` parts.
    fn attempt(&self, parts: u64) -> Result<std::result::Result<Indexed, Failure>> {
        let Context { options, directory, control, .. } = &self.context;
        // A pass has one part, or those of one partition.
        let units = parts.min(1 << PARTITION_BITS);
        let partitions = (1 << PARTITION_BITS) / units as usize;
        let of = |unit: usize| unit * partitions..(unit + 1) * partitions;
        let entries = |unit| of(unit).map(|partition| self.spilled.bytes(partition)).sum::<u64>() / ENTRY as u64;
        let passes = Passes { control, threads: options.threads, memory: self.memory };
        let work = |unit| match self.entries(of(unit), units.ilog2())? {
            Ok(entries) => self.solve(&entries, units, parts),
            Err(refused) => Ok(Err(refused)),
        };
        let mut hash = HashFile::create(directory, options.threads)?;
        let index = OutputFile::create(directory, Kind::Index, 0)?.with_threads(options.threads);
        let mut index = Index { file: index, used: 0 };
        let mut failure = None;
        let mut done = 0;
        let run = passes.run(
            units as usize,
            |unit| WORKING * entries(unit),
            work,
            |unit, solved| {
                let solved = match solved {
                    Ok(solved) => solved,
                    Err(cause) => {
                        failure = Some(cause);
                        return Err(Error::Stopped); // ends the passes
                    }
                };
                for Solved { part, slots } in &solved {
                    hash.add(part)?;
                    index.add(slots)?;
                }
                done += entries(unit);
                control.report(Stage::Index, done, Some(self.records))
            },
        );
        if let Some(failure) = failure {
            return Ok(Err(failure));
        }
        run?;
        Ok(Ok(Indexed { parts, keys: hash.keys(), hash: hash.finish()?, index: index.file.finish(None)? }))
    }

    /// The entries of some partitions, which have the same leading `bits` bits, in the order of their signatures, one of
    /// those with the same one.
    fn entries(
        &self,
        partitions: std::ops::Range<usize>,
        bits: u32,
    ) -> Result<std::result::Result<Vec<Entry>, Failure>> {
        let Context { options, temporary, control, .. } = &self.context;
        let all = partitions.clone().map(|partition| self.spilled.bytes(partition)).sum::<u64>() as usize / ENTRY;
        // Where there are more, most of them have few keys: so many signatures are not close to each other by chance.
        let mut most = usize::try_from(self.memory / WORKING).unwrap_or(usize::MAX).max(LEAST_PASS);
        let mut distinct = Distinct { of: self, keep: options.duplicates, reader: None, refused: None };
        let mut entries: Vec<Entry> = memory::with_capacity(all.min(most), temporary)?;
        let mut buffer = Vec::new();
        for partition in partitions {
            self.spilled.pieces(partition, &mut buffer, |piece| {
                control.check()?;
                for entry in piece.chunks_exact(ENTRY).map(Entry::decode) {
                    if entries.len() == most {
                        sort_groups(&mut entries, bits, temporary)?;
                        distinct.keep_one(&mut entries)?;
                        if entries.len() > most / 2 {
                            most *= 2;
                        }
                    }
                    memory::reserve(&mut entries, 1, temporary)?;
                    entries.push(entry);
                }
                Ok(())
            })?;
        }
        sort_groups(&mut entries, bits, temporary)?;
        distinct.keep_one(&mut entries)?;
        Ok(match distinct.refused {
            Some((_, [first, second])) => Err(Failure::Refused(first, second)),
            None => Ok(entries),
        })
    }

    /// Solves the parts of a pass.
    fn solve(&self, sorted: &[Entry], units: u64, parts: u64) -> Result<std::result::Result<Vec<Solved>, Failure>> {
        let Context { options, control, temporary, .. } = &self.context;
        let mut solved = Vec::new();
        let mut rest = sorted;
        for part in 0..parts / units {
            control.check()?;
            let bits = parts.ilog2();
            let number = |entry: &Entry| (entry.signature.high >> 1 >> (63 - bits)) % (parts / units);
            let (own, others) = rest.split_at(rest.partition_point(|entry| number(entry) <= part));
            rest = others;
            let part = match hash::solve(own.iter().map(|entry| &entry.signature), parts, options.checksum_bits) {
                Ok(part) => part,
                Err(cause) => return Ok(Err(Failure::Uneven(cause))),
            };
            let mut slots = memory::with_capacity(own.len() * SLOT, temporary)?;
            slots.resize(own.len() * SLOT, 0);
            for (entry, &slot) in own.iter().zip(&part.slots) {
                slots[slot as usize * SLOT..][..SLOT].copy_from_slice(&entry.address.to_le_bytes());
            }
            solved.push(Solved { part, slots });
        }
        Ok(Ok(solved))
    }

    /// The error for two records with the same signature. It has their key and the numbers of the first two records
    /// with that key, or their two keys.
    fn duplicate(&self, first: u64, second: u64) -> Result<Error> {
        let mut reader = self.data.reader();
        let key = reader.key(first)?;
        let other = reader.key(second)?;
        if key != other {
            return Ok(self.collision(&key, &other));
        }
        let mut numbers = Vec::new();
        let mut number = 0;
        reader.scan(|found| {
            if number % 1024 == 0 {
                self.context.control.check()?;
            }
            if found == key {
                numbers.push(number);
            }
            number += 1;
            Ok(numbers.len() < 2)
        })?;
        match numbers[..] {
            [first, second] => Ok(Error::Duplicate { key, first, second }),
            _ => Ok(Error::Impossible(format!(
                "two records have the same signature, but rereading the records did not find them: records at \
                 addresses {first} and {second} have the same signature"
            ))),
        }
    }

    /// The error for two different keys with the same signature.
    fn collision(&self, key: &[u8], other: &[u8]) -> Error {
        // With a seed that nobody knew before, other keys do not collide.
        let unknown = Mum::new(std::collections::hash_map::RandomState::new().hash_one(key) as i64);
        let always = unknown.sign(key) == unknown.sign(other);
        Error::Argument(format!(
            "the keys {} and {} have the same 128-bit signature{}",
            show(key),
            show(other),
            if always { format!(" with every seed; {PACKED}") } else { format!("; {OTHER_SEED}") }
        ))
    }
}

/// Keeps one of several entries with the same signature.
struct Distinct<'a> {
    of: &'a IndexStage,
    keep: Duplicates,
    reader: Option<Reader<'a>>,
    /// The lowest signature, as far as is known, that several entries have although this is refused, and the addresses of
    /// the first two. Which it is does not depend on the memory.
    refused: Option<(Signature, [u64; 2])>,
}

impl Distinct<'_> {
    /// Takes sorted entries, and drops others that follow one with the same signature. If these are refused, it drops all
    /// that cannot be the first ones.
    fn keep_one(&mut self, sorted: &mut Vec<Entry>) -> Result<()> {
        let mut key: Option<(Signature, Vec<u8>)> = None;
        let mut kept = 0;
        for i in 0..sorted.len() {
            let entry = sorted[i];
            if self.refused.is_some_and(|(refused, _)| refused <= entry.signature) {
                break;
            }
            if kept == 0 || sorted[kept - 1].signature != entry.signature {
                sorted[kept] = entry;
                kept += 1;
                continue;
            }
            let same = &mut sorted[kept - 1];
            if self.keep == Duplicates::Refuse {
                self.refused = Some((entry.signature, [same.address, entry.address]));
                break;
            }
            self.of.context.control.check()?;
            let reader = self.reader.get_or_insert_with(|| self.of.data.reader());
            let known = match key.take().filter(|(signature, _)| *signature == entry.signature) {
                Some((_, known)) => known,
                None => reader.key(same.address)?,
            };
            let other = reader.key(entry.address)?;
            if known != other {
                return Err(match self.keep {
                    Duplicates::Last => self.of.collision(&known, &other),
                    _ => self.of.collision(&other, &known),
                });
            }
            key = Some((entry.signature, known));
            if self.keep == Duplicates::Last {
                same.address = entry.address;
            }
        }
        sorted.truncate(kept);
        Ok(())
    }
}

/// Sorts entries with the same leading `bits` bits by signature. Equal ones stay in their order.
fn sort_groups(entries: &mut Vec<Entry>, bits: u32, path: &Path) -> Result<()> {
    let count = entries.len();
    // Entries are divided into groups of about two by further bits, and then sorted within these.
    let group_bits = (count / 2).max(1).ilog2();
    let group = |entry: &Entry| ((entry.signature.high << bits) >> 1 >> (63 - group_bits)) as usize;
    let mut ends: Vec<usize> = memory::with_capacity((1 << group_bits) + 1, path)?;
    ends.resize((1 << group_bits) + 1, 0);
    for entry in &*entries {
        ends[group(entry) + 1] += 1;
    }
    for i in 1..ends.len() {
        ends[i] += ends[i - 1];
    }
    let mut sorted = memory::with_capacity(entries.capacity(), path)?;
    sorted.resize(count, Entry::default());
    for entry in &*entries {
        let at = &mut ends[group(entry)];
        sorted[*at] = *entry;
        *at += 1;
    }
    let mut start = 0;
    for &end in &ends[..1 << group_bits] {
        sort(&mut sorted[start..end]);
        start = end;
    }
    *entries = sorted;
    Ok(())
}

/// Sorts entries by signature. Equal ones stay in their order.
fn sort(entries: &mut [Entry]) {
    if entries.len() > FEW {
        entries.sort_by_key(|entry| entry.signature);
        return;
    }
    for i in 1..entries.len() {
        let moving = entries[i];
        let mut at = i;
        while at > 0 && entries[at - 1].signature > moving.signature {
            entries[at] = entries[at - 1];
            at -= 1;
        }
        entries[at] = moving;
    }
}

/// Writes the index in the order of the slots.
struct Index {
    file: OutputFile,
    /// Entries in the current page.
    used: usize,
}

impl Index {
    fn add(&mut self, mut entries: &[u8]) -> Result<()> {
        while !entries.is_empty() {
            let (now, rest) = entries.split_at(entries.len().min((SLOTS - self.used) * SLOT));
            self.file.put(now)?;
            self.used += now.len() / SLOT;
            entries = rest;
            if self.used == SLOTS {
                self.file.pad()?;
                self.used = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::facts::Layout;
    use crate::format::frame::hex;
    use crate::format::page::PAYLOAD;
    use crate::format::record::SHORT;
    use crate::write::control::Control;
    use crate::write::manifest::{self, Totals};
    use crate::write::options::BuildOptions;
    use crate::write::output::write_manifest;

    fn context(options: BuildOptions, directory: &Path) -> Context {
        let control = Control::new(None);
        Context { options, directory: directory.to_owned(), temporary: directory.to_owned(), control }
    }

    /// Bytes that do not repeat soon.
    fn pattern(seed: u64, length: usize) -> Vec<u8> {
        (0..length).map(|j| (j as u64 * 31 + seed) as u8 ^ (j >> 8) as u8).collect()
    }

    fn record(kind: &str, i: u64, n: u64) -> (Vec<u8>, Vec<u8>) {
        let number = match kind {
            "dups" => i % (n / 2),
            "few" => i % 3,
            _ => i,
        };
        let key = format!("key-{number}").into_bytes();
        let value = (i * i).to_string().repeat((i % 7) as usize).into_bytes();
        match (kind, i) {
            ("mixed", 0) => (Vec::new(), b"empty".to_vec()),
            ("mixed", 1) => (vec![b'k'; 65_535], pattern(i, 70_000)),
            ("mixed", 2) => (b"big".to_vec(), pattern(i, 5_000_000)),
            ("mixed", 100) => (key, pattern(i, 32_510)),
            ("mixed", 101) => (key, pattern(i, 32_511)),
            ("long", _) => (key, pattern(i, 1000 + (i % 3000) as usize)),
            ("fill", _) => {
                let value = pattern(i, PAYLOAD - SHORT - key.len());
                (key, value)
            }
            _ => (key, value),
        }
    }

    /// Builds a database with options and records such as `n=1000 layout=blocked cb=4 files=2 dup=last kind=mixed`, and
    /// returns its id.
    fn build(case: &str, resources: &str, directory: &Path) -> Result<String> {
        build_with(case, resources, directory, IndexStage::run)
    }

    fn build_with(
        case: &str,
        resources: &str,
        directory: &Path,
        index: impl FnOnce(&IndexStage) -> Result<Indexed>,
    ) -> Result<String> {
        let spec = format!("{case} {resources}");
        let option = |name: &str, default: &str| {
            let found = spec.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            found.unwrap_or(default).to_owned()
        };
        let number = |name, default| option(name, default).parse::<u64>().unwrap();
        let options = BuildOptions {
            layout: match option("layout", "").as_str() {
                "blocked" => Layout::Blocked,
                "compact" => Layout::Compact,
                _ => Layout::Compressed,
            },
            checksum_bits: number("cb", "4") as u32,
            data_files: number("files", "1") as u16,
            duplicates: match option("dup", "").as_str() {
                "first" => Duplicates::First,
                "last" => Duplicates::Last,
                _ => Duplicates::Refuse,
            },
            seed: option("seed", "0").parse().unwrap(),
            block: number("block", "1024"),
            level: number("level", "6") as i32,
            memory: number("memory", "1024") << 20,
            threads: number("threads", "2") as usize,
            ..BuildOptions::default()
        };
        let context = context(options, directory);
        let mut assembly = AddressedAssembly::new(&context, None)?;
        let mut totals = Totals::default();
        let signatures = Mum::new(context.options.seed);
        let n = number("n", "");
        for i in 0..n {
            let (key, value) = record(&option("kind", ""), i, n);
            totals.add(key.len(), value.len());
            assembly.add(&Record { signature: signatures.sign(&key), key: &key, value: &value })?;
        }
        let mut made = assembly.complete_with(index)?;
        let text = manifest::text(&context.options, 0, &totals, &made);
        let id = manifest::id(&text);
        for file in std::mem::take(&mut made.files) {
            file.seal(&id)?;
        }
        write_manifest(directory, text.as_bytes(), &id, None)?;
        let database = crate::Database::open(directory)?;
        assert_eq!(database.verify()?.records, made.records);
        Ok(hex(&id))
    }

    /// Builds with many resources and with few.
    fn check(cases: &[(&str, &str)]) {
        for (case, expected) in cases {
            for resources in ["threads=2", "threads=1 memory=1", "threads=5 memory=1"] {
                let directory = tempfile::tempdir().unwrap();
                let found = build(case, resources, directory.path()).unwrap_or_else(|error| error.to_string());
                assert_eq!(found, *expected, "{case} {resources}");
            }
        }
    }

    /// The expected ids, which cover all bytes of all files, are those of the Java builder.
    #[test]
    fn databases_are_those_of_java() {
        check(&[
            ("n=0 layout=blocked", "b2eb878c8c4d6a71e75c9083eee9ecff"),
            ("n=1 layout=blocked", "943bd903c5a44b49ab78db53288c13e0"),
            ("n=2 layout=blocked cb=0", "022fba46a49a4bad998cc64fc12dee55"),
            ("n=3 layout=blocked cb=32", "ed034d6b212e481b8a357f9ae8ba71fe"),
            ("n=1000 layout=blocked", "273a138b1898587a03889e1fe2acc3c6"),
            ("n=1000 layout=blocked seed=-7 cb=13", "0435a0ada49c1d8eb738eecdf9f1c5c1"),
            ("n=100000 layout=blocked", "eefc7cc645025c60a17f726f9c682007"),
            ("n=100000 layout=blocked cb=13", "dcf1cbde5f67dad9dfcd8ab368b55d58"),
            ("n=100000 layout=compact cb=0", "79818c546417e4f475b4bdb3962d3674"),
            ("n=0 layout=compact files=3", "b6c0f8a87a0c74a91d4527e35d8c5cfc"),
            ("n=1000 layout=compact files=3 cb=32", "6b16f51779c16b925c0ad38349164e4e"),
            ("n=1000 layout=blocked kind=mixed", "dd26eeed0638b2d8b1fe6565ac614c3d"),
            ("n=1000 layout=compact kind=mixed files=2", "07cdc0f8c09862ffe4ac67471d9a7310"),
            ("n=8000 layout=blocked kind=long files=2", "07f8e0524269f2f21418035075fe06aa"),
            ("n=8000 layout=compact kind=long files=3", "77b62afff07dc234c0e78f07503379c4"),
            ("n=3 layout=blocked kind=fill", "e0addcfcbc97ddd965570525c987466b"),
            ("n=2100 layout=compact kind=fill files=2", "b8697008e1d52af895d7ed8f9f19555b"),
            ("n=2100 layout=blocked kind=fill files=3 dup=last", "f3562919fea01840106a89fe70782624"),
            ("n=1000 layout=blocked kind=dups dup=first", "4e51ee838be87701d344e79cb89bda58"),
            ("n=1000 layout=compact kind=dups dup=last", "9202adb1cdaef283d403d92592cfc816"),
            ("n=200000 layout=blocked kind=dups dup=last cb=0", "5d09e7d0d06a93ed84f645b0561d629d"),
        ]);
    }

    #[test]
    fn duplicates_are_refused_by_number() {
        check(&[
            ("n=1000 layout=blocked kind=dups", "duplicate key \"key-304\" in records 304 and 804"),
            ("n=1000 layout=compact kind=dups", "duplicate key \"key-304\" in records 304 and 804"),
            ("n=8000 layout=compact kind=dups files=2", "duplicate key \"key-1586\" in records 1586 and 5586"),
        ]);
    }

    #[test]
    fn compressed_databases_are_those_of_java() {
        check(&[
            ("n=0 layout=compressed", "cfdd6065ed3984cc218b630b6bd4cefc"),
            ("n=1 layout=compressed", "6efe5a72a9b069e58b703757475601d2"),
            ("n=1000 layout=compressed", "b3a2e23b08b5a63eeefff7249da7c8f1"),
            ("n=100000 layout=compressed", "8311cf38304d478e6033f7fc16011367"),
            ("n=1000 layout=compressed kind=mixed files=2", "f319616372f315bc9ffbb10144a44a1a"),
            ("n=8000 layout=compressed kind=long files=3 block=4096 level=1", "f8f775eca9f9a0a682091f35fc4375f5"),
            ("n=1000 layout=compressed kind=dups dup=last level=19", "7197861798e188e493d38e00ef2a2067"),
            ("n=1000 layout=compressed kind=dups", "duplicate key \"key-304\" in records 304 and 804"),
        ]);
    }

    #[test]
    fn duplicates_are_dropped_before_they_fill_the_memory() {
        for keep in ["dup=first", "dup=last", "dup=error"] {
            let results = ["memory=1", "memory=1024"].map(|memory| {
                let directory = tempfile::tempdir().unwrap();
                let index = |stage: &IndexStage| {
                    let most = if memory == "memory=1" { 2 * LEAST_PASS } else { usize::MAX };
                    match stage.entries(0..1 << PARTITION_BITS, 0)? {
                        Ok(entries) => assert!(entries.len() == 3 && entries.capacity() <= most),
                        Err(_) => assert_eq!(keep, "dup=error"),
                    }
                    stage.run()
                };
                let case = format!("n=200000 layout=compact kind=few {keep}");
                build_with(&case, memory, directory.path(), index).unwrap_or_else(|error| error.to_string())
            });
            assert_eq!(results[0], results[1]);
            assert_eq!(results[0] == "duplicate key \"key-1\" in records 1 and 4", keep == "dup=error", "{results:?}");
        }
    }

    /// More parts than partitions take 50 million records.
    #[test]
    fn a_partition_can_have_several_parts() {
        let directory = tempfile::tempdir().unwrap();
        let index = |stage: &IndexStage| match stage.attempt(4096)? {
            Ok(indexed) => Ok(indexed),
            Err(_) => panic!("parts that cannot be solved"),
        };
        build_with("n=10000 layout=compact kind=dups dup=last", "threads=2", directory.path(), index).unwrap();
    }

    /// The error of a build of records with these signatures and keys.
    fn failure(layout: Layout, duplicates: Duplicates, records: &[(u64, u64, &str)]) -> String {
        let directory = tempfile::tempdir().unwrap();
        let options = BuildOptions { layout, duplicates, ..BuildOptions::default() };
        let mut assembly = AddressedAssembly::new(&context(options, directory.path()), None).unwrap();
        for (high, low, key) in records {
            let signature = Signature { high: *high, low: *low };
            assembly.add(&Record { signature, key: key.as_bytes(), value: b"value" }).unwrap();
        }
        let error = assembly.complete_with(IndexStage::run).unwrap_err();
        assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none());
        error.to_string()
    }

    #[test]
    fn different_keys_with_one_signature_are_an_error() {
        let records = [(1, 2, "a"), (1, 3, "b"), (1, 2, "a"), (1, 2, "c")];
        let advice = format!("have the same 128-bit signature; {OTHER_SEED}");
        for layout in [Layout::Blocked, Layout::Compact] {
            let refused = failure(layout, Duplicates::Refuse, &records);
            assert_eq!(refused, "duplicate key \"a\" in records 0 and 2");
            let refused = failure(layout, Duplicates::Refuse, &[records[0], records[3]]);
            assert_eq!(refused, format!("the keys \"a\" and \"c\" {advice}"));
            assert_eq!(failure(layout, Duplicates::First, &records), format!("the keys \"c\" and \"a\" {advice}"));
            assert_eq!(failure(layout, Duplicates::Last, &records), format!("the keys \"a\" and \"c\" {advice}"));
        }
    }

    #[test]
    fn signatures_that_crowd_one_bucket_are_an_error() {
        let keys: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        let records: Vec<_> = keys.iter().zip(0..).map(|(key, i)| (7, i, key.as_str())).collect();
        let error = failure(Layout::Blocked, Duplicates::Refuse, &records);
        let cause = "a bucket of 100 keys, which no seed solves";
        assert!(error.starts_with(&format!("the keys' signatures are not evenly distributed: {cause}; ")), "{error}");
    }

    /// Anyone who knows the seed can make up such keys.
    #[test]
    fn signatures_that_fill_one_bucket_are_an_error_soon() {
        let signatures: Vec<_> =
            (0..60_000).map(|i: u64| Signature { high: 7, low: i.wrapping_mul(0x9e37_79b9_7f4a_7c15) }).collect();
        let refused = hash::solve(signatures.iter(), 1, 4).unwrap_err();
        assert_eq!(refused, "a bucket of 60000 keys, which no seed solves");
    }

    #[test]
    fn a_stopped_build_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let options = BuildOptions { layout: Layout::Blocked, ..BuildOptions::default() };
        let context = context(options, directory.path());
        let mut assembly = AddressedAssembly::new(&context, None).unwrap();
        let record = Record { signature: Signature::default(), key: b"key", value: b"value" };
        assembly.add(&record).unwrap();
        context.control.stop();
        assert!(matches!(assembly.add(&record), Err(Error::Stopped)));
        assert!(matches!(assembly.complete_with(IndexStage::run), Err(Error::Stopped)));
        assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none());
    }
}
