//! The records of a range of bins in memory, sorted by signature (FORMAT.md §12).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use super::shape::Range;
use crate::error::Result;
use crate::format::record::{self, Header, Parsed};
use crate::format::scaled;
use crate::hash::signature::Signature;
use crate::memory;
use crate::write::options::Duplicates;
use crate::write::spill::Place;

/// Values of more bytes lie aside.
pub(super) const LONG_VALUE: usize = 1 << 14;

/// More records that counting leaves together, or with one signature, take a general algorithm.
const FEW: usize = 24;

/// Records of a part on average, at least: parts are what counting leaves together.
const PER_PART: u64 = 2;

/// A record without its number: header, key, and value or the place of a long value.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) header: Header,
}

impl<'a> Frame<'a> {
    /// The record at the start of `bytes`, which are those of a record and maybe more.
    #[inline]
    pub(super) fn first(bytes: &'a [u8]) -> Frame<'a> {
        let Parsed::Header(header) = record::parse(bytes) else {
            unreachable!("records in memory are as they were added; those in files have checksums");
        };
        let value = if header.value > LONG_VALUE { Place::SIZE } else { header.value };
        Frame { bytes: &bytes[..header.size + header.key + value], header }
    }

    #[inline]
    pub(super) fn key(&self) -> &'a [u8] {
        &self.bytes[self.header.size..self.header.size + self.header.key]
    }

    /// What is here of the record, and the place of a value that is not.
    #[inline]
    pub(super) fn parts(&self) -> (&'a [u8], Option<Place>) {
        if self.header.value > LONG_VALUE {
            let here = self.bytes.len() - Place::SIZE;
            return (&self.bytes[..here], Some(Place::parse(self.bytes)));
        }
        (self.bytes, None)
    }
}

/// A signature, and where its record starts.
#[derive(Clone, Copy, Debug, Default)]
struct Item {
    high: u64,
    low: u64,
    at: usize,
}

impl Item {
    #[inline]
    fn compare(&self, other: &Item) -> Ordering {
        (self.high, self.low).cmp(&(other.high, other.low))
    }
}

/// The records of a range of bins. Those with the same signature are in the order in which they were added; of
/// duplicates one is kept.
pub(super) struct Run<'a> {
    /// The number of all bins.
    bins: u64,
    range: Range,
    keep: Duplicates,
    /// What errors name.
    path: &'a Path,
    bytes: Vec<u8>,
    items: Vec<Item>,
    sorted: Vec<Item>,
    /// What makes room for more: dropping duplicates, of which there may be more than fit into memory.
    most_items: usize,
    most_bytes: usize,
    /// The signature and the key of duplicates that are refused: no others have a lower signature, as far as is known.
    refused: Option<(Item, Vec<u8>)>,
}

impl<'a> Run<'a> {
    /// Creates a run for a range of bins. Its partitions have so many entries with so many bytes.
    pub(super) fn new(
        bins: u64,
        range: &Range,
        keep: Duplicates,
        entries: u64,
        bytes: u64,
        path: &'a Path,
    ) -> Result<Run<'a>> {
        // The passes over the same partitions divide them about equally.
        let share = |all: u64, least: u64| {
            let part = if range.parts > 1 { all / range.parts + all / range.parts / 8 + least } else { all };
            usize::try_from(part.min(all)).unwrap_or(usize::MAX)
        };
        let (most_items, most_bytes) = (share(entries, 1 << 10), share(bytes, 1 << 16));
        Ok(Run {
            bins,
            range: *range,
            keep,
            path,
            bytes: memory::with_capacity(most_bytes, path)?,
            items: memory::with_capacity(most_items, path)?,
            sorted: Vec::new(),
            most_items,
            most_bytes,
            refused: None,
        })
    }

    /// Adds a record if its bin is in the range.
    #[inline]
    pub(super) fn add(&mut self, signature: Signature, record: &[u8]) -> Result<()> {
        let Signature { high, low } = signature;
        if scaled(high, self.bins).wrapping_sub(self.range.first) >= self.range.bins as u64 {
            return Ok(());
        }
        if self.items.len() == self.most_items || self.bytes.len() + record.len() > self.most_bytes {
            self.make_room(record.len())?;
        }
        let item = Item { high, low, at: self.bytes.len() };
        if self.refused.as_ref().is_some_and(|(refused, _)| refused.compare(&item).is_le()) {
            return Ok(());
        }
        self.items.push(item);
        self.bytes.extend_from_slice(record);
        Ok(())
    }

    /// Makes room for a record. Which duplicates are named must not depend on the memory, so refused ones do not end
    /// the pass. But what has no lower signature than these need not be kept.
    #[cold]
    fn make_room(&mut self, length: usize) -> Result<()> {
        self.sort()?;
        if self.sorted.len() < self.items.len() {
            let mut bytes = memory::with_capacity(self.most_bytes, self.path)?;
            for item in &mut self.sorted {
                let record = Frame::first(&self.bytes[item.at..]).bytes;
                item.at = bytes.len();
                bytes.extend_from_slice(record);
            }
            self.bytes = bytes;
            self.items.clear();
            self.items.extend_from_slice(&self.sorted);
        }
        if self.items.len() >= self.most_items / 2 {
            self.most_items = 2 * self.items.len() + (1 << 10);
            let more = self.most_items - self.items.len();
            memory::reserve(&mut self.items, more, self.path)?;
        }
        if self.bytes.len() + length > self.most_bytes / 2 {
            self.most_bytes = 2 * (self.bytes.len() + length);
            let more = self.most_bytes - self.bytes.len();
            memory::reserve(&mut self.bytes, more, self.path)?;
        }
        Ok(())
    }

    /// Sorts the records, and keeps one of several duplicates.
    pub(super) fn sort(&mut self) -> Result<()> {
        // Bins of many records are divided into parts of a few. A part is a scaled signature, like a bin, so parts are
        // in the order of the signatures. Counting brings records into the order of their parts.
        let count = self.items.len();
        let per_bin = 1u64 << (count as u64 / self.range.bins as u64 / PER_PART).max(1).ilog2();
        let parts = self.range.bins * per_bin as usize;
        let (all, first) = (self.bins * per_bin, self.range.first * per_bin);
        let part_of = |item: &Item| (scaled(item.high, all) - first) as usize;
        let mut ends: Vec<usize> = memory::with_capacity(parts + 1, self.path)?;
        ends.resize(parts + 1, 0);
        for item in &self.items {
            ends[part_of(item) + 1] += 1;
        }
        let (mut end, mut most) = (0, 0);
        for part in &mut ends {
            most = most.max(*part);
            end += *part;
            *part = end;
        }
        self.sorted.clear();
        memory::reserve(&mut self.sorted, count, self.path)?;
        self.sorted.resize(count, Item::default());
        for item in &self.items {
            let end = &mut ends[part_of(item)];
            self.sorted[*end] = *item;
            *end += 1;
        }
        if most > FEW {
            let mut from = 0;
            for &end in &ends[..parts] {
                if end - from > FEW {
                    self.sorted[from..end].sort_by(Item::compare);
                }
                from = end;
            }
        }
        // Insertion takes a record no further than to the beginning of its part.
        let mut equal = false;
        for i in 1..count {
            let moving = self.sorted[i];
            let mut at = i;
            while at > 0 {
                let order = self.sorted[at - 1].compare(&moving);
                if order.is_le() {
                    equal |= order.is_eq();
                    break;
                }
                self.sorted[at] = self.sorted[at - 1];
                at -= 1;
            }
            self.sorted[at] = moving;
        }
        if equal {
            self.drop_duplicates();
        }
        Ok(())
    }

    /// Keeps one of several duplicates, in the place of the first.
    fn drop_duplicates(&mut self) {
        let key = |item: &Item| Frame::first(&self.bytes[item.at..]).key();
        let mut many: HashMap<&[u8], usize> = HashMap::new();
        let mut first = 0; // the first of those kept with the signature of the current one
        let mut kept = 0;
        for i in 0..self.sorted.len() {
            let item = self.sorted[i];
            if kept == 0 || self.sorted[first].compare(&item).is_ne() {
                first = kept;
                many.clear();
            }
            let others = kept - first;
            let same = if others < FEW {
                (first..kept).find(|&other| key(&self.sorted[other]) == key(&item))
            } else {
                // Keys that were made to have one signature.
                if many.is_empty() {
                    many.extend((first..kept).map(|other| (key(&self.sorted[other]), other)));
                }
                many.get(key(&item)).copied()
            };
            match (same, self.keep) {
                (None, _) => {
                    if !many.is_empty() {
                        many.insert(key(&item), kept);
                    }
                    self.sorted[kept] = item;
                    kept += 1;
                }
                (Some(same), Duplicates::Last) => self.sorted[same] = item,
                (Some(_), Duplicates::First) => {}
                (Some(_), Duplicates::Refuse) => {
                    if self.refused.as_ref().is_none_or(|(refused, _)| item.compare(refused).is_lt()) {
                        self.refused = Some((item, key(&item).to_vec()));
                    }
                    kept = first;
                    break;
                }
            }
        }
        self.sorted.truncate(kept);
    }

    /// The key of the duplicates with the lowest signature, if they are refused.
    pub(super) fn refused(&self) -> Option<&[u8]> {
        self.refused.as_ref().map(|(_, key)| key.as_slice())
    }

    /// Bytes of the records.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The number of sorted records.
    pub(super) fn records(&self) -> usize {
        self.sorted.len()
    }

    /// The sorted records with their signatures.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Signature, Frame<'_>)> {
        self.sorted.iter().map(|item| {
            let signature = Signature { high: item.high, low: item.low };
            (signature, Frame::first(&self.bytes[item.at..]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::record::Record;

    fn run(keep: Duplicates, most: usize, records: &[(u64, u64, &str, &str)]) -> (Vec<String>, Option<Vec<u8>>) {
        let range = Range { partition: 0, partitions: 1, first: 0, bins: 4, parts: 1, last: true, need: 0 };
        let mut run = Run::new(4, &range, keep, most as u64, 1 << 10, "x".as_ref()).unwrap();
        for &(high, low, key, value) in records {
            let signature = Signature { high, low };
            let record = Record { signature, key: key.as_bytes(), value: value.as_bytes() };
            let header = record.header();
            let frame = [&header.encode()[..header.size], record.key, record.value].concat();
            run.add(signature, &frame).unwrap();
        }
        run.sort().unwrap();
        let found = run.iter().map(|(_, frame)| String::from_utf8_lossy(&frame.bytes[3..]).into_owned()).collect();
        (found, run.refused().map(<[u8]>::to_vec))
    }

    #[test]
    fn duplicates_are_kept_as_asked_with_any_memory() {
        let records = [
            (9 << 60, 0, "c", "1"),
            (5, 5, "a", "1"),
            (5, 5, "b", "1"),
            (5, 4, "d", "1"),
            (5, 5, "b", "2"),
            (5, 5, "a", "2"),
            (9 << 60, 0, "c", "2"),
        ];
        for most in [1, 2, 3, 100] {
            assert_eq!(run(Duplicates::First, most, &records).0, ["d1", "a1", "b1", "c1"]);
            assert_eq!(run(Duplicates::Last, most, &records).0, ["d1", "a2", "b2", "c2"]);
            assert_eq!(run(Duplicates::Refuse, most, &records).1, Some(b"b".to_vec()));
            let (found, refused) = run(Duplicates::Refuse, most, &records[..4]);
            assert_eq!((found, refused), (["d1", "a1", "b1", "c1"].map(String::from).to_vec(), None));
        }
    }

    #[test]
    fn many_keys_may_have_one_signature() {
        let keys: Vec<String> = (0..300).map(|i| format!("k{:03}", i * 7 % 300)).collect();
        let mut records: Vec<(u64, u64, &str, &str)> = keys.iter().map(|key| (1, 1, key.as_str(), "1")).collect();
        records.extend(keys.iter().take(200).map(|key| (1, 1, key.as_str(), "2")));
        let last = run(Duplicates::Last, 1000, &records).0;
        assert_eq!(last, run(Duplicates::Last, 310, &records).0);
        let wanted: Vec<String> =
            keys.iter().enumerate().map(|(i, key)| format!("{key}{}", if i < 200 { 2 } else { 1 })).collect();
        assert_eq!(last, wanted);
        assert_eq!(run(Duplicates::Refuse, 1000, &records).1, Some(b"k000".to_vec()));
    }
}
