//! The keys and records of a range, in the order of keys; those of shards merged.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use super::cursor::OrderCursor;
use super::key_range::KeyRange;
use super::tree::OrderTree;
use crate::batch::{self, OrderedKey};
use crate::error::{Error, Result};
use crate::layout::Scratch;
use crate::memory;
use crate::scan::Record;
use crate::shards::Shards;
use crate::single::Single;

/// The next key of one of the databases.
struct Head {
    key: Vec<u8>,
    descending: bool,
    cursor: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the greatest.
        let order = self.key.cmp(&other.key);
        if self.descending {
            order
        } else {
            order.reverse()
        }
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

/// Goes through the keys of a range.
struct Walk<'db> {
    range: KeyRange,
    descending: bool,
    cursors: Vec<(&'db Single, &'db OrderTree, OrderCursor<'db>)>,
    heads: BinaryHeap<Head>,
    started: bool,
}

impl<'db> Walk<'db> {
    fn next(&mut self) -> Result<Option<OrderedKey<'db>>> {
        if !self.started {
            self.started = true;
            self.start()?;
        }
        let Some(Head { key, cursor, .. }) = self.heads.pop() else {
            return Ok(None);
        };
        let (single, tree, position) = &mut self.cursors[cursor];
        let entry = OrderedKey { single, tree, key, place: position.value(), page: position.page() };
        let more = if self.descending { position.previous()? } else { position.next()? };
        if more {
            self.push(cursor)?;
        }
        Ok(Some(entry))
    }

    fn start(&mut self) -> Result<()> {
        if self.range.is_empty() {
            return Ok(());
        }
        for number in 0..self.cursors.len() {
            let (_, _, cursor) = &mut self.cursors[number];
            let found = match (self.descending, self.range.end()) {
                (false, _) => cursor.ceiling(self.range.start())?,
                (true, Some(end)) => cursor.lower(end)?,
                (true, None) => cursor.last()?,
            };
            if found {
                self.push(number)?;
            }
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.started = false;
        self.heads.clear();
    }

    /// Notes the key of a cursor if it is in the range.
    fn push(&mut self, cursor: usize) -> Result<()> {
        let key = self.cursors[cursor].2.key()?;
        let inside = if self.descending { self.range.is_begun_at(key) } else { self.range.is_open_at(key) };
        if inside {
            let key = key.to_vec();
            self.heads.push(Head { key, descending: self.descending, cursor });
        }
        Ok(())
    }
}

/// Records that are read at once, at first and at most: a short range reads little, a long one overlaps its reads.
const FIRST_BATCH: usize = 16;
const MOST_IN_BATCH: usize = 128;

/// Bytes of the values that are read at once, at most, unless one is longer.
const BATCH_BYTES: u64 = 16 << 20;

/// An iterator over the records of a range, in the order of keys: pairs of key and value. Ends after the first
/// error.
pub struct Range<'db> {
    shards: &'db Shards,
    walk: Walk<'db>,
    entries: Vec<OrderedKey<'db>>,
    records: VecDeque<Record>,
    batch: usize,
    most: usize,
    scratch: Scratch,
    /// The error that follows the records.
    error: Option<Error>,
    ended: bool,
}

impl<'db> Range<'db> {
    pub(crate) fn new(shards: &'db Shards, range: KeyRange) -> Result<Self> {
        let mut cursors = Vec::new();
        let mut longest = 1;
        for (single, tree) in shards.orders()? {
            cursors.push((single, tree, OrderCursor::new(tree)));
            longest = longest.max(single.facts.longest_value);
        }
        let most = (BATCH_BYTES / longest).clamp(1, MOST_IN_BATCH as u64) as usize;
        Ok(Range {
            shards,
            walk: Walk { range, descending: false, cursors, heads: BinaryHeap::new(), started: false },
            entries: Vec::new(),
            records: VecDeque::new(),
            batch: FIRST_BATCH.min(most),
            most,
            scratch: Scratch::default(),
            error: None,
            ended: false,
        })
    }

    /// The same range, with the greatest key first. An iterator that has begun starts anew.
    pub fn descending(mut self) -> Self {
        self.walk.descending = true;
        self.walk.restart();
        self.records.clear();
        self.error = None;
        self.ended = false;
        self
    }

    /// The keys alone: no record is read. An iterator that has begun starts anew.
    pub fn keys(mut self) -> Keys<'db> {
        self.walk.restart();
        Keys { walk: self.walk, ended: false }
    }

    /// Reads the next records.
    fn fill(&mut self) {
        while self.entries.len() < self.batch {
            match self.walk.next() {
                Ok(Some(entry)) => self.entries.push(entry),
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        self.batch = (2 * self.batch).min(self.most);
        let Range { shards, entries, records, scratch, .. } = self;
        let read = batch::of_order(shards, entries, scratch, |value| {
            records.push_back((Vec::new(), memory::copy(value, &shards.path)?));
            Ok(())
        });
        scratch.trim();
        for ((key, _), entry) in records.iter_mut().zip(entries.drain(..)) {
            *key = entry.key;
        }
        if let Err(error) = read {
            self.error = Some(error);
        }
    }
}

impl Iterator for Range<'_> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.records.pop_front() {
                return Some(Ok(record));
            }
            if let Some(error) = self.error.take() {
                self.ended = true;
                return Some(Err(error));
            }
            if self.ended {
                return None;
            }
            self.fill();
        }
    }
}

/// An iterator over the keys of a range, in their order. Ends after the first error.
pub struct Keys<'db> {
    walk: Walk<'db>,
    ended: bool,
}

impl Iterator for Keys<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.walk.next().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next.map(|entry| entry.map(|entry| entry.key))
    }
}
