//! How the records of two databases differ.

use std::collections::VecDeque;
use std::iter::FusedIterator;

use crate::database::Database;
use crate::error::Result;
use crate::scan::Scan;
use crate::write::merge::batch;

/// Records that are looked up at once, and the bytes of the values that are found, at most.
const BATCH: usize = 512;
const FOUND_BYTES: u64 = 64 << 20;

/// A record that two databases do not both have with the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Only the second database has the key.
    Added {
        /// The key.
        key: Vec<u8>,
        /// The value in the second database.
        after: Vec<u8>,
    },
    /// Only the first database has the key.
    Removed {
        /// The key.
        key: Vec<u8>,
        /// The value in the first database.
        before: Vec<u8>,
    },
    /// Both databases have the key, with different values.
    Changed {
        /// The key.
        key: Vec<u8>,
        /// The value in the first database.
        before: Vec<u8>,
        /// The value in the second database.
        after: Vec<u8>,
    },
}

/// How many records of two databases differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Records that both databases have with the same value.
    pub kept: u64,
    /// Records whose key only the second database has.
    pub added: u64,
    /// Records whose key only the first database has.
    pub removed: u64,
    /// Records whose key both databases have, with different values.
    pub changed: u64,
}

impl Diff {
    /// Whether both databases have the same records.
    pub fn is_equal(&self) -> bool {
        self.added == 0 && self.removed == 0 && self.changed == 0
    }
}

/// An iterator over the records in which two databases differ: first those that were removed or changed, in the order
/// of a scan of the first database, then those that were added, in the order of a scan of the second. Ends after the
/// first error.
pub struct Differences<'db> {
    before: &'db Database,
    after: &'db Database,
    /// The scan of the first database, then that of the second, then none.
    scan: Option<Scan<'db>>,
    second: bool,
    found: VecDeque<Difference>,
    counts: Diff,
}

impl Database {
    /// Compares the records of two databases, this one being the first: looks up the keys of each in the other.
    ///
    /// ```no_run
    /// # let (yesterday, today) = (bsdb::Database::open("a")?, bsdb::Database::open("b")?);
    /// let mut differences = yesterday.diff(&today)?;
    /// for difference in &mut differences {
    ///     println!("{:?}", difference?);
    /// }
    /// println!("{} records are new", differences.counts().added);
    /// # Ok::<(), bsdb::Error>(())
    /// ```
    pub fn diff<'db>(&'db self, after: &'db Database) -> Result<Differences<'db>> {
        after.scan()?; // fails unless keys are kept
        Ok(Differences {
            before: self,
            after,
            scan: Some(self.scan()?),
            second: false,
            found: VecDeque::new(),
            counts: Diff::default(),
        })
    }
}

impl Differences<'_> {
    /// The records that were compared so far; all of them once the iterator has ended.
    pub fn counts(&self) -> Diff {
        self.counts
    }

    /// Like `next`, but returns after some records: `None` if none of them differs and there are more. For callers that
    /// want to look after something else from time to time.
    pub fn next_soon(&mut self) -> Option<Option<Result<Difference>>> {
        if let Some(found) = self.found.pop_front() {
            return Some(Some(Ok(found)));
        }
        match self.advance() {
            Ok(true) => None,
            Ok(false) => Some(None),
            Err(error) => {
                self.scan = None;
                Some(Some(Err(error)))
            }
        }
    }

    /// Compares some more records. Returns false at the end.
    fn advance(&mut self) -> Result<bool> {
        let Some(scan) = &mut self.scan else { return Ok(false) };
        let longest = self.after.statistics().longest_value.max(1);
        let most = if self.second { BATCH } else { ((FOUND_BYTES / longest) as usize).clamp(1, BATCH) };
        let records = batch(scan, most)?;
        if records.is_empty() {
            self.scan = if self.second { None } else { Some(self.after.scan()?) };
            self.second = true;
            return Ok(true);
        }
        let keys: Vec<Vec<u8>> = records.iter().map(|(key, _)| key.clone()).collect();
        if self.second {
            let mut known = vec![false; keys.len()];
            self.before.find_many(&keys, |i, found| known[i] = found.is_some())?;
            for ((key, after), _) in records.into_iter().zip(known).filter(|(_, known)| !known) {
                self.counts.added += 1;
                self.found.push_back(Difference::Added { key, after });
            }
            return Ok(true);
        }
        for ((key, before), after) in records.into_iter().zip(self.after.get_many(&keys)?) {
            match after {
                Some(after) if *after == *before => self.counts.kept += 1,
                Some(after) => {
                    self.counts.changed += 1;
                    self.found.push_back(Difference::Changed { key, before, after: after.into_owned() });
                }
                None => {
                    self.counts.removed += 1;
                    self.found.push_back(Difference::Removed { key, before });
                }
            }
        }
        Ok(true)
    }
}

impl Iterator for Differences<'_> {
    type Item = Result<Difference>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(next) = self.next_soon() {
                return next;
            }
        }
    }
}

impl FusedIterator for Differences<'_> {}
