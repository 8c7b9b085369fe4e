//! The order of keys (FORMAT.md §16): keys or records are sorted by key, and the tree is written.

mod node;
mod runs;
mod sort;
mod tree;

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use super::assembly::Context;
use super::control::{Control, Stage};
use super::manifest::Totals;
use super::options::{BuildOptions, Duplicates};
use super::output::Finished;
use super::record::Record;
use crate::error::{Error, Result};
use crate::format::address::{detail_bits, Address};
use crate::format::block;
use crate::format::facts::{Layout, OrderFacts};
use crate::format::page::{PAYLOAD, SIZE};
use crate::format::record::Header;
use crate::format::{u32_at, u64_at};
use crate::hash::mum::Mum;
use crate::memory;
use crate::os::direct::read_exact;
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
            aside: Aside { path: context.temporary.join("values.part"), file: None, end: 0 },
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
        self.sorter.add(record.key, &[&number.to_le_bytes(), &place])
    }

    /// Passes all records on in the order of their keys: whoever takes them chooses among those with the same key. Fails
    /// if the options refuse duplicates and there are some; the error names the least such key and its first two records.
    pub(crate) fn finish(self, to: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
        let KeySorter { sorter, mut aside, records, rejects, signatures, control } = self;
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
                aside.read(value, &mut long)?;
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

/// Long values in a temporary file, which is removed when this is dropped.
struct Aside {
    path: PathBuf,
    file: Option<File>,
    end: u64,
}

impl Aside {
    /// Bytes that say where a value is: offset, length, CRC32C.
    const PLACE: usize = 16;

    fn put(&mut self, value: &[u8]) -> Result<[u8; Aside::PLACE]> {
        let failed = |e| Error::io(&self.path, e);
        if self.file.is_none() {
            self.file = Some(File::options().read(true).write(true).create_new(true).open(&self.path).map_err(failed)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(value).map_err(failed)?;
        }
        let mut place = [0; Aside::PLACE];
        place[..8].copy_from_slice(&self.end.to_le_bytes());
        place[8..12].copy_from_slice(&(value.len() as u32).to_le_bytes());
        place[12..].copy_from_slice(&crc32c::crc32c(value).to_le_bytes());
        self.end += value.len() as u64;
        Ok(place)
    }

    fn read(&mut self, place: &[u8], to: &mut Vec<u8>) -> Result<()> {
        let at = u64_at(place, 0).unwrap_or(0);
        let length = u32_at(place, 8).unwrap_or(0) as usize;
        let wanted = u32_at(place, 12).unwrap_or(0);
        to.clear();
        memory::reserve(to, length, &self.path)?;
        to.resize(length, 0);
        if let Some(file) = &self.file {
            read_exact(file, to, at).map_err(|e| Error::io(&self.path, e))?;
        }
        let found = crc32c::crc32c(to);
        if found != wanted {
            let expected = format!("checksum {wanted:08x} of a temporary file");
            let found =
                format!("bytes of this build that another process or the device changed, with checksum {found:08x}");
            return Err(Error::damaged(&self.path, at, expected, found));
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path); // its directory is removed as well
        }
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

    /// The number of different keys.
    pub(crate) fn keys(&self) -> u64 {
        self.tree.keys()
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
