//! The order of keys (FORMAT.md §16): keys or records are sorted by key, and the tree is written.

mod node;
mod runs;
mod sort;
mod tree;

use super::assembly::Context;
use super::control::{Control, Stage};
use super::manifest::Totals;
use super::options::{BuildOptions, Duplicates};
use super::output::Finished;
use super::record::Record;
use super::spill::{Aside, Place};
use crate::error::{Error, Result};
use crate::format::address::{detail_bits, Address};
use crate::format::block;
use crate::format::facts::{Layout, OrderFacts};
use crate::format::page::{PAYLOAD, SIZE};
use crate::format::record::Header;
use crate::format::{u32_at, u64_at};
use crate::hash::mum::Mum;
use sort::Sorter;
use tree::TreeWriter;

/// Values that are longer lie aside in a temporary file while their records are sorted.
const LONG_VALUE: usize = 1 << 16;

/// Keys between two reports of progress.
const REPORTED: u64 = 1 << 16;

/// Puts records in the order of their keys; those with the same key stay in the order in which they were added.
///
/// Of a record it keeps the key, the number, and the value or where that lies.
pub(crate) struct KeySorter {
    sorter: Sorter,
    aside: Aside,
    records: u64,
    rejects: bool,
    signatures: Mum,
    control: Control,
}

impl KeySorter {
    pub(crate) fn new(context: &Context) -> KeySorter {
        KeySorter {
            sorter: Sorter::new(context, "records", context.options.memory / 2),
            aside: Aside::new(&context.temporary, "values"),
            records: 0,
            rejects: context.options.duplicates == Duplicates::Refuse,
            signatures: Mum::new(context.options.seed),
            control: context.control.clone(),
        }
    }

    /// Takes a record.
    #[inline]
    pub(crate) fn add(&mut self, record: &Record<'_>) -> Result<()> {
        let mut number = self.records << 1;
        self.records += 1;
        if record.value.len() <= LONG_VALUE {
            return self.sorter.add(record.key, &[&number.to_le_bytes(), record.value]);
        }
        number |= 1;
        let place = self.aside.put(record.value)?;
        let length = record.value.len() as u32;
        self.sorter.add(record.key, &[&number.to_le_bytes(), &length.to_le_bytes(), &place.encode()])
    }

    /// Passes all records on in the order of their keys: whoever takes them chooses among those with the same key.
    /// Fails if the options refuse duplicates and there are some; the error names the least such key and its first two
    /// records.
    pub(crate) fn finish(self, to: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
        let KeySorter { sorter, mut aside, records, rejects, signatures, control } = self;
        aside.flush()?;
        let mut last = Vec::new();
        let mut last_number = None;
        let mut done = 0;
        let mut long = Vec::new();
        sorter.finish(|key, with| {
            let (number, value) = with.split_at(8);
            let number = u64_at(number, 0).unwrap_or(0);
            if rejects {
                if let Some(first) = last_number.filter(|_| last == key) {
                    return Err(Error::Duplicate { key: key.to_vec(), first, second: number >> 1 });
                }
                last.clear();
                last.extend_from_slice(key);
                last_number = Some(number >> 1);
            }
            let signature = signatures.sign(key);
            if number & 1 == 0 {
                to(&Record { signature, key, value })?;
            } else {
                aside.read_whole(Place::parse(value), u32_at(value, 0).unwrap_or(0) as usize, &mut long)?;
                to(&Record { signature, key, value: &long })?;
                control.check()?;
                long.clear();
                long.shrink_to(1 << 20);
            }
            done += 1;
            if done % REPORTED == 0 {
                control.report(Stage::Order, done, Some(records))?;
            }
            Ok(())
        })?;
        control.report(Stage::Order, records, Some(records))
    }
}

/// Collects the keys of a packed database in any order, and writes their order.
pub(crate) struct CollectedKeys {
    sorter: Sorter,
    keys: u64,
    context: Context,
}

impl CollectedKeys {
    pub(crate) fn new(context: &Context) -> CollectedKeys {
        let sorter = Sorter::new(context, "keys", context.options.memory / 4);
        CollectedKeys { sorter, keys: 0, context: context.clone() }
    }

    /// Takes the key of a record that the database keeps.
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8]) -> Result<()> {
        self.keys += 1;
        self.sorter.add(key, &[])
    }

    /// Sorts the keys and writes the file.
    pub(crate) fn finish(self) -> Result<(OrderFacts, Finished)> {
        let CollectedKeys { sorter, keys, context } = self;
        let mut tree = TreeWriter::create(&context, [0; 3])?;
        sorter.finish(|key, _| {
            tree.add(key, 0)?;
            if tree.keys() % REPORTED == 0 {
                context.control.report(Stage::Order, tree.keys(), Some(keys))?;
            }
            Ok(())
        })?;
        context.control.report(Stage::Order, keys, Some(keys))?;
        tree.finish()
    }
}

/// Takes the keys of a database with addresses, in ascending order, and writes their order.
pub(crate) struct AddressedKeys {
    tree: TreeWriter,
    place: [u32; 3],
    /// Bits of the detail of an address that is not shortened.
    detail: u32,
    keeps_last: bool,
}

impl AddressedKeys {
    /// Creates the file. `totals` are those of all records that will be added, also of those with the same key.
    pub(crate) fn new(context: &Context, totals: &Totals) -> Result<AddressedKeys> {
        let options = &context.options;
        let place = place(options, totals);
        Ok(AddressedKeys {
            tree: TreeWriter::create(context, place)?,
            place,
            detail: address_bits(options),
            keeps_last: options.duplicates == Duplicates::Last,
        })
    }

    /// Takes a key that is not less than those before, and the address of its record. Of records with the same key, the
    /// one that the options keep counts.
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8], address: u64) -> Result<()> {
        let [_, offset_bits, detail_bits] = self.place;
        let value = Address::decode(address, self.detail).map_or(0, |of| {
            debug_assert!(of.offset >> offset_bits == 0 && of.detail >> detail_bits == 0);
            (u64::from(of.file) << offset_bits | of.offset) << detail_bits | of.detail
        });
        if !self.tree.add(key, value)? && self.keeps_last {
            self.tree.replace_last(value);
        }
        Ok(())
    }

    /// Writes the file.
    pub(crate) fn finish(self) -> Result<(OrderFacts, Finished)> {
        self.tree.finish()
    }
}

/// Bits of the detail of an address (FORMAT.md §3).
fn address_bits(options: &BuildOptions) -> u32 {
    if options.layout == Layout::Compressed {
        detail_bits(options.block)
    } else {
        8
    }
}

/// `order.place`: the bits of the largest file number, offset and detail that records with these totals can have
/// (FORMAT.md §17). The leaves are written together with the records, so what these really need is not known.
fn place(options: &BuildOptions, totals: &Totals) -> [u32; 3] {
    const STRIPE: u64 = 4 << 20;
    let payload = PAYLOAD as u64;
    let files = u64::from(options.data_files);
    let bytes = totals.record_bytes;
    let longest = Header::of(totals.longest_key, totals.longest_value).record();
    let (pages, detail) = match options.layout {
        Layout::Compressed => {
            // Two neighbors exceed a block.
            let blocks = totals.records.min(2 * bytes / options.block + 1);
            ((bytes + blocks * block::MAX as u64) / payload + 1, options.block - 1)
        }
        Layout::Compact => (bytes.div_ceil(payload) + 1, 255.min((longest + payload - 2) / payload)),
        // A page ends before a record that it has no room for. If that is longer than half a page, it makes up for the
        // page before it, and a record of several pages for that and for its last page.
        _ => {
            let filled = (payload / 3).max((payload + 1).saturating_sub(longest));
            (bytes.div_ceil(filled) + 1, 255.min((longest - 1) / payload))
        }
    };
    // A file is behind the others by no more than a stripe, and by what exceeds it at its end.
    let longest_pages = longest.max(options.block) / payload + 2;
    let ahead = if files == 1 { 0 } else { STRIPE + (longest_pages + 1) * SIZE as u64 };
    let offset = ((1 + pages / files) * SIZE as u64 + ahead).min((1 << (56 - address_bits(options))) - 1);
    [files - 1, offset, detail].map(|largest| 64 - largest.leading_zeros())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::database::Database;
    use crate::order::cursor::OrderCursor;
    use crate::order::tree::OrderTree;
    use crate::single::Single;

    fn context(directory: &tempfile::TempDir, options: BuildOptions) -> Context {
        Context {
            options,
            directory: directory.path().into(),
            temporary: directory.path().into(),
            control: Control::new(None),
        }
    }

    /// Numbers below `count` in a pseudorandom order.
    fn shuffled(count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        numbers.sort_by_key(|&n| (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        numbers
    }

    #[test]
    fn records_with_the_same_key_stay_in_their_order() {
        let long = vec![5; LONG_VALUE + 1];
        for memory in [1 << 30, 0] {
            let directory = tempfile::tempdir().unwrap();
            let options = BuildOptions { memory, duplicates: Duplicates::Last, ..BuildOptions::default() };
            let mut sorter = KeySorter::new(&context(&directory, options));
            let signatures = Mum::new(0);
            let keys: Vec<_> = shuffled(40_000).iter().map(|n| format!("{:05}", n / 2)).collect();
            for (i, key) in keys.iter().enumerate() {
                let short = format!("{i:060}");
                let value = if i % 4000 == 1 { &long } else { short.as_bytes() };
                let signature = signatures.sign(key.as_bytes());
                sorter.add(&Record { signature, key: key.as_bytes(), value }).unwrap();
            }
            let mut wanted: Vec<_> = (0..keys.len()).collect();
            wanted.sort_by_key(|&i| &keys[i]);
            let mut wanted = wanted.iter();
            let mut take = |record: &Record<'_>| {
                let i = *wanted.next().unwrap();
                assert_eq!(record.key, keys[i].as_bytes());
                assert_eq!(record.signature, signatures.sign(record.key));
                assert!(record.value == if i % 4000 == 1 { long.clone() } else { format!("{i:060}").into_bytes() });
                Ok(())
            };
            sorter.finish(&mut take).unwrap();
            assert!(wanted.next().is_none());
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn the_least_duplicate_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let mut sorter = KeySorter::new(&context(&directory, BuildOptions::default()));
        for key in [b"d", b"c", b"b", b"d", b"a", b"b", b"b"] {
            sorter.add(&Record { signature: Mum::new(0).sign(key), key, value: b"" }).unwrap();
        }
        let refused = sorter.finish(&mut |_| Ok(()));
        assert!(matches!(refused, Err(Error::Duplicate { key, first: 2, second: 5 }) if key == b"b"));
    }

    #[test]
    fn places_have_room_for_the_largest_address() {
        let mut totals = Totals::default();
        let of = |layout, files, totals: &Totals| {
            place(&BuildOptions { layout, data_files: files, ..BuildOptions::default() }, totals)
        };
        assert_eq!(of(Layout::Blocked, 1, &totals), [0, 14, 0]);
        (0..1000).for_each(|_| totals.add(10, 87));
        assert_eq!(of(Layout::Blocked, 1, &totals), [0, 17, 0]);
        assert_eq!(of(Layout::Compact, 1, &totals), [0, 17, 1]);
        assert_eq!(of(Layout::Compressed, 3, &totals), [2, 23, 10]);
        totals.add(10, 5_000_000);
        assert_eq!(of(Layout::Compact, 2, &totals)[2], 8);
    }

    /// Checks the file against that of a database that Java built.
    fn compare(path: &std::path::Path) {
        let database = Database::open(path).unwrap();
        let orders = database.shards().orders().unwrap();
        let &[(single, tree)] = &orders[..] else { panic!("a database without shards") };
        let directory = tempfile::tempdir().unwrap();
        for memory in [1 << 30, 0] {
            let facts = &single.facts;
            let data_files = facts.files.iter().filter(|file| file.kind == crate::format::frame::Kind::Data).count();
            let options = BuildOptions {
                memory,
                layout: facts.layout,
                data_files: data_files as u16,
                block: if facts.block == 0 { 1024 } else { facts.block },
                ..BuildOptions::default()
            };
            let context = context(&directory, options);
            let (order, file) = if facts.layout.is_packed() {
                collected(&context, tree)
            } else {
                addressed(&context, &database, single, tree)
            };
            let wanted = facts.order.as_ref().unwrap();
            assert_eq!((order.levels, order.place), (wanted.levels.clone(), wanted.place));
            let wanted = facts.files.iter().find(|file| file.kind == crate::format::frame::Kind::Order).unwrap();
            assert_eq!(file.line.end, wanted.end);
            assert_eq!(file.line.pages, wanted.pages);
            let name = wanted.name(&database.shards().id);
            file.seal(&database.shards().id).unwrap();
            let [made, wanted] = [directory.path(), path].map(|directory| fs::read(directory.join(&name)).unwrap());
            assert!(made == wanted, "{name}");
            fs::remove_file(directory.path().join(&name)).unwrap();
        }
    }

    fn collected(context: &Context, tree: &OrderTree) -> (OrderFacts, Finished) {
        let mut cursor = OrderCursor::new(tree);
        let mut keys = Vec::new();
        let mut more = cursor.first().unwrap();
        while more {
            keys.push(cursor.key().unwrap().to_vec());
            more = cursor.next().unwrap();
        }
        let mut collected = CollectedKeys::new(context);
        shuffled(keys.len()).iter().for_each(|&i| collected.add(&keys[i]).unwrap());
        collected.finish().unwrap()
    }

    fn addressed(context: &Context, database: &Database, single: &Single, tree: &OrderTree) -> (OrderFacts, Finished) {
        let mut totals = Totals::default();
        for record in database.scan().unwrap() {
            let (key, value) = record.unwrap();
            totals.add(key.len(), value.len());
        }
        assert_eq!(totals.records, single.facts.records);
        let mut addressed = AddressedKeys::new(context, &totals).unwrap();
        let mut cursor = OrderCursor::new(tree);
        let mut more = cursor.first().unwrap();
        while more {
            let Address { file, offset, detail } = tree.address(cursor.value());
            let address = u64::from(file) << 56 | offset << address_bits(&context.options) | detail;
            addressed.add(cursor.key().unwrap(), address).unwrap();
            more = cursor.next().unwrap();
        }
        addressed.finish().unwrap()
    }

    /// `BSDB_ORDERED` has the directories of ordered databases without duplicates, separated by colons.
    #[test]
    fn files_are_those_of_java() {
        for path in std::env::var("BSDB_ORDERED").unwrap_or_default().split(':').filter(|path| !path.is_empty()) {
            println!("{path}");
            compare(path.as_ref());
        }
    }
}
