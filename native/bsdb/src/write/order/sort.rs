//! Sorts keys, with what goes with them, in bounded memory: in memory while there is room, otherwise sorted runs in a
//! temporary file are merged (FORMAT.md §16 needs keys in ascending order).

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use super::node::common;
use super::runs::{Reader, Runs, CHUNK};
use crate::error::Result;
use crate::format::{u16_at, u32_at};
use crate::memory;
use crate::write::assembly::Context;
use crate::write::control::Control;
use crate::write::passes;

/// Bytes of an entry before its key: the lengths of the key and of what goes with it.
const HEAD: usize = 6;

/// The least memory.
const LEAST: u64 = 1 << 20;

/// So many runs are merged at once, at least and at most.
const LEAST_MERGED: usize = 16;
const MOST_MERGED: usize = 1024;

/// Chunks of a run that are read at once, at most.
const MOST_READ: usize = 16;

/// So few keys are sorted by comparison.
const FEW: usize = 16;

/// So many keys are sorted by several threads.
const MANY: usize = 1 << 16;

/// Entries in memory that are fetched at once.
const TOUCHED: usize = 64;

/// Entries between two looks at whether the build was stopped.
const UNCHECKED: u64 = 1 << 12;

/// Takes keys, and passes them on in ascending order; those that are equal in the order in which they were added.
pub(super) struct Sorter {
    directory: PathBuf,
    name: &'static str,
    control: Control,
    threads: usize,
    memory: u64,
    held: Held,
    runs: Option<Runs>,
    /// Numbers the temporary files.
    files: usize,
}

/// Entries in memory.
#[derive(Default)]
struct Held {
    /// Back to back: lengths, key, what goes with it.
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// The first key of all, also if it is in a run, and the bytes that all keys have in common with it.
    first: Option<Vec<u8>>,
    common: usize,
}

/// Where an entry is, and the next eight bytes of its key as a number, followed by zeros if the key ends before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    word: u64,
    at: u64,
}

/// The key and the rest of the entry at the start of some bytes, which hold all of it.
#[inline]
fn parts(entry: &[u8]) -> (&[u8], &[u8]) {
    let key = HEAD + usize::from(u16_at(entry, 0).unwrap_or(0));
    (&entry[HEAD..key], &entry[key..key + u32_at(entry, 2).unwrap_or(0) as usize])
}

/// The length of an entry, if the bytes hold as much of it as tells.
#[inline]
pub(super) fn entry_length(bytes: &[u8]) -> Option<usize> {
    Some(HEAD + usize::from(u16_at(bytes, 0)?) + u32_at(bytes, 2)? as usize)
}

/// Eight bytes of a key from a place on.
#[inline]
fn word(key: &[u8], from: usize) -> u64 {
    let rest = key.get(from..).unwrap_or(&[]);
    match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, &byte| word >> 8 | u64::from(byte) << 56),
    }
}

impl Sorter {
    /// A sorter without keys. `name` is that of its temporary files; `memory` is what keys may take.
    pub(super) fn new(context: &Context, name: &'static str, memory: u64) -> Sorter {
        Sorter {
            directory: context.temporary.clone(),
            name,
            control: context.control.clone(),
            threads: context.options.threads,
            memory: memory.max(LEAST),
            held: Held::default(),
            runs: None,
            files: 0,
        }
    }

    /// Adds a key and what goes with it, in parts of less than 4 GiB.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], with: &[&[u8]]) -> Result<()> {
        let length: usize = with.iter().map(|part| part.len()).sum();
        let all = HEAD + key.len() + length;
        if self.held.bytes.capacity() - self.held.bytes.len() < all || self.held.is_full(self.memory) {
            self.make_room(all)?;
        }
        self.held.add(key, length as u32, with, &self.directory)
    }

    #[cold]
    fn make_room(&mut self, length: usize) -> Result<()> {
        let held = &mut self.held;
        let used = held.memory() + length as u64;
        if used > self.memory && !held.places.is_empty() {
            self.write_run()?;
        }
        memory::reserve(&mut self.held.bytes, length, &self.directory)
    }

    /// Sorts what is in memory, and moves it to the file.
    fn write_run(&mut self) -> Result<()> {
        self.control.check()?;
        self.held.sort(self.threads, &self.control)?;
        let mut runs = match self.runs.take() {
            Some(runs) => runs,
            None => self.new_runs()?,
        };
        self.held.each(&self.control, |entry| runs.put(&entry[..entry_length(entry).unwrap_or(0)]))?;
        runs.end()?;
        self.runs = Some(runs);
        self.held.bytes.clear();
        self.held.places.clear();
        Ok(())
    }

    fn new_runs(&mut self) -> Result<Runs> {
        self.files += 1;
        Runs::create(self.directory.join(format!("{}-{}.part", self.name, self.files)))
    }

    /// Passes on all keys, each with what goes with it.
    pub(super) fn finish(mut self, mut take: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        if self.runs.is_none() {
            self.held.sort(self.threads, &self.control)?;
            return self.held.each(&self.control, |entry| {
                let (key, with) = parts(entry);
                take(key, with)
            });
        }
        if !self.held.places.is_empty() {
            self.write_run()?;
        }
        self.held.bytes = Vec::new();
        self.held.places = Vec::new();
        let most = (self.memory as usize / CHUNK).clamp(LEAST_MERGED, MOST_MERGED);
        while let Some(runs) = self.runs.take() {
            if runs.count() <= most {
                return self.merge(&runs, 0, runs.count(), |entry| {
                    let (key, with) = parts(entry);
                    take(key, with)
                });
            }
            // Runs that follow each other are merged, so that equal keys keep their order.
            let mut fewer = self.new_runs()?;
            for from in (0..runs.count()).step_by(most) {
                self.merge(&runs, from, runs.count().min(from + most), |entry| fewer.put(entry))?;
                fewer.end()?;
            }
            self.runs = Some(fewer);
        }
        Ok(())
    }

    /// Merges some of the runs.
    fn merge(&self, runs: &Runs, from: usize, to: usize, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let chunks = (self.memory as usize / 2 / CHUNK / (to - from).max(1)).clamp(1, MOST_READ);
        let mut readers = Vec::new();
        for run in from..to {
            readers.push(Head::new(runs.read(run, chunks), self.held.common)?);
        }
        // A heap of the numbers of runs that have entries, the one with the least key at its top.
        let mut heap: Vec<usize> = (0..readers.len()).collect();
        for top in (0..heap.len() / 2).rev() {
            sift_down(&mut heap, top, &readers);
        }
        let mut taken = 0u64;
        while let Some(&run) = heap.first() {
            let head = &mut readers[run];
            take(head.reader.entry())?;
            if !head.advance()? {
                heap.swap_remove(0);
            }
            sift_down(&mut heap, 0, &readers);
            taken += 1;
            if taken % UNCHECKED == 0 {
                self.control.check()?;
            }
        }
        Ok(())
    }
}

impl Held {
    /// Bytes that the entries take.
    #[inline]
    fn memory(&self) -> u64 {
        (self.bytes.len() + self.places.len() * size_of::<Place>()) as u64
    }

    #[inline]
    fn is_full(&self, memory: u64) -> bool {
        self.memory() >= memory
    }

    #[inline]
    fn add(&mut self, key: &[u8], length: u32, with: &[&[u8]], path: &Path) -> Result<()> {
        if self.places.len() == self.places.capacity() {
            memory::reserve(&mut self.places, 1, path)?;
        }
        let first = self.first.get_or_insert_with(|| {
            self.common = key.len();
            key.to_vec()
        });
        if key.get(..self.common) != Some(&first[..self.common]) {
            self.common = common(first, key);
        }
        self.places.push(Place { word: 0, at: self.bytes.len() as u64 });
        self.bytes.extend_from_slice(&(key.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(key);
        for part in with {
            self.bytes.extend_from_slice(part);
        }
        Ok(())
    }

    /// Passes on the bytes from each entry on, in the order of the places.
    fn each(&self, control: &Control, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for places in self.places.chunks(TOUCHED) {
            control.check()?;
            // The processor fetches these bytes all at once, not each when it is needed.
            let touched = places.iter().fold(0, |touched, place| touched ^ self.bytes[place.at as usize]);
            std::hint::black_box(touched);
            for place in places {
                take(&self.bytes[place.at as usize..])?;
            }
        }
        Ok(())
    }

    fn sort(&mut self, threads: usize, control: &Control) -> Result<()> {
        let Held { bytes, places, common: depth, .. } = self;
        let depth = *depth;
        let key = &|place: &Place| parts(&bytes[place.at as usize..]).0;
        for place in places.iter_mut() {
            place.word = word(key(place), depth);
        }
        sort_words(places, threads, control)?;
        // Keys with the same word stay together in a part.
        let mut rest = &mut places[..];
        let each = rest.len().div_ceil(if rest.len() < MANY { 1 } else { threads.max(1) });
        let mut parts = Vec::new();
        while rest.len() > each {
            let word = rest[each - 1].word;
            let end = each + rest[each..].partition_point(|place| place.word == word);
            let (part, after) = rest.split_at_mut(end);
            rest = after;
            parts.push(part);
        }
        parts.push(rest);
        passes::share(threads, parts, |part| sort_equal(part, depth, key, control))
    }
}

/// Sorts by words, and keys with the same word by their place.
fn sort_words(places: &mut [Place], threads: usize, control: &Control) -> Result<()> {
    control.check()?;
    if threads <= 1 || places.len() < MANY {
        places.sort_unstable();
        return Ok(());
    }
    let middle = places.len() / 2;
    places.select_nth_unstable(middle);
    let (low, high) = places.split_at_mut(middle);
    let halves = vec![(low, threads / 2), (high, threads - threads / 2)];
    passes::share(2, halves, |(half, threads)| sort_words(half, threads, control))
}

/// Sorts keys that have `depth` bytes in common, and were sorted by the words behind these: those with the same word by
/// what follows. Each round takes eight bytes of the keys that are still equal, so the work is in proportion to the
/// bytes of all keys, whatever these are.
fn sort_equal<'a>(
    places: &mut [Place],
    depth: usize,
    key: &impl Fn(&Place) -> &'a [u8],
    control: &Control,
) -> Result<()> {
    let mut work = vec![(0, places.len(), depth)];
    while let Some((start, end, depth)) = work.pop() {
        control.check()?;
        let next = depth + 8;
        let mut from = start;
        while from < end {
            let word = places[from].word;
            let mut to = from + 1;
            while to < end && places[to].word == word {
                to += 1;
            }
            let equal = &mut places[from..to];
            let first = from;
            from = to;
            if equal.len() <= FEW {
                if equal.len() > 1 {
                    let behind = |place: &Place| key(place).get(depth..).unwrap_or(&[]);
                    equal.sort_unstable_by(|a, b| behind(a).cmp(behind(b)).then(a.at.cmp(&b.at)));
                }
                continue;
            }
            // The keys that end here come first, shorter ones before longer ones.
            let mut ended = 0;
            for place in equal.iter_mut() {
                let length = key(place).len();
                ended += usize::from(length <= next);
                place.word = if length <= next { length as u64 } else { u64::MAX };
            }
            if ended > 0 {
                equal.sort_unstable();
            }
            let longer = &mut equal[ended..];
            for place in longer.iter_mut() {
                place.word = self::word(key(place), next);
            }
            longer.sort_unstable();
            if longer.len() > 1 {
                work.push((first + ended, to, next));
            }
        }
    }
    Ok(())
}

/// The next entry of a run.
struct Head<'a> {
    reader: Reader<'a>,
    /// Bytes that all keys have in common, and the next ones of its key.
    depth: usize,
    word: u64,
}

impl<'a> Head<'a> {
    /// At the first entry of a run, which has one.
    fn new(reader: Reader<'a>, depth: usize) -> Result<Head<'a>> {
        let mut head = Head { reader, depth, word: 0 };
        head.advance()?;
        Ok(head)
    }

    fn key(&self) -> &[u8] {
        parts(self.reader.entry()).0
    }

    fn advance(&mut self) -> Result<bool> {
        let more = self.reader.next()?;
        if more {
            self.word = word(self.key(), self.depth);
        }
        Ok(more)
    }
}

/// Moves a run down the heap to where it belongs.
#[inline]
fn sift_down(heap: &mut [usize], mut at: usize, heads: &[Head<'_>]) {
    let before = |a: usize, b: usize| {
        let (one, other) = (&heads[a], &heads[b]);
        let order = one.word.cmp(&other.word).then_with(|| one.key().cmp(other.key())).then(a.cmp(&b));
        order == Ordering::Less
    };
    loop {
        let mut least = 2 * at + 1;
        if least >= heap.len() {
            return;
        }
        if least + 1 < heap.len() && before(heap[least + 1], heap[least]) {
            least += 1;
        }
        if before(heap[at], heap[least]) {
            return;
        }
        heap.swap(at, least);
        at = least;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::write::options::BuildOptions;

    /// Sorts numbered keys with so much memory, in which run files are merged as few at once as possible.
    fn sorted(keys: &[Vec<u8>], memory: u64, threads: usize) -> Vec<(Vec<u8>, u32)> {
        let directory = tempfile::tempdir().unwrap();
        let context = Context {
            options: BuildOptions { threads, ..BuildOptions::default() },
            directory: directory.path().into(),
            temporary: directory.path().into(),
            control: Control::new(None),
        };
        let mut sorter = Sorter::new(&context, "test", memory);
        sorter.memory = memory;
        for (number, key) in keys.iter().enumerate() {
            // What goes with a key has different lengths.
            let tail = vec![7; number % 5];
            sorter.add(key, &[&(number as u32).to_le_bytes(), &tail]).unwrap();
        }
        let mut taken = Vec::new();
        sorter
            .finish(|key, with| {
                let number = u32_at(with, 0).unwrap();
                assert_eq!(with.len(), 4 + number as usize % 5);
                taken.push((key.to_vec(), number));
                Ok(())
            })
            .unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        taken
    }

    fn check(keys: &[Vec<u8>]) {
        let mut wanted: Vec<_> = keys.iter().cloned().zip(0..).collect();
        wanted.sort();
        for (memory, threads) in [(1 << 30, 1), (1 << 30, 3), (1 << 17, 2), (4000, 1)] {
            assert!(sorted(keys, memory, threads) == wanted, "with {memory} bytes");
        }
    }

    /// Pseudorandom numbers.
    fn numbers(count: usize) -> impl Iterator<Item = u64> {
        let next = |z: &u64| Some(z.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1));
        std::iter::successors(Some(7u64), next).skip(1).map(|z| z >> 20).take(count)
    }

    #[test]
    fn keys_of_all_kinds_are_sorted() {
        check(&[]);
        check(&[vec![]]);
        check(&numbers(20_000).map(|n| n.to_be_bytes()[2..].to_vec()).collect::<Vec<_>>());
        check(&numbers(5000).map(|n| format!("a long beginning {}", n % 3000).into_bytes()).collect::<Vec<_>>());
        check(&numbers(5000).map(|n| vec![(n % 2) as u8; n as usize % 30]).collect::<Vec<_>>());
        check(&numbers(300).map(|n| vec![b'x'; n as usize % 3000]).collect::<Vec<_>>());
        check(&vec![b"the same".to_vec(); 1000]);
        check(&vec![vec![]; 100]);
    }

    #[test]
    fn many_keys_are_sorted_by_threads() {
        let keys: Vec<_> = numbers(4 * MANY).map(|n| format!("key {:09}", n % 100_000).into_bytes()).collect();
        let mut wanted: Vec<_> = keys.iter().cloned().zip(0..).collect();
        wanted.sort();
        for threads in [1, 2, 5] {
            assert!(sorted(&keys, 1 << 30, threads) == wanted);
        }
    }

    proptest::proptest! {
        #[test]
        fn keys_are_sorted(
            keys in proptest::collection::vec(proptest::collection::vec(0u8..3, 0..30), 0..300),
            memory in 100u64..20_000,
        ) {
            let mut wanted: Vec<_> = keys.iter().cloned().zip(0..).collect();
            wanted.sort();
            assert!(sorted(&keys, memory, 1) == wanted);
        }
    }
}
