//! Iterators over records.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bsdb::KeyRange;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use self_cell::self_cell;

use crate::bytes::bytes;
use crate::{errors, wait};

/// Records and bytes that are read at a time, without the interpreter's lock; at first fewer, for short ranges.
const FIRST: usize = 16;
const RECORDS: usize = 512;
const BYTES: usize = 256 << 10;

type Record = (Vec<u8>, Vec<u8>);

/// Where records come from.
enum Cursor<'db> {
    All(bsdb::Scan<'db>),
    Range(bsdb::Range<'db>),
    /// Keys, with empty values.
    Keys(bsdb::Keys<'db>),
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<bsdb::Result<Record>> {
        match self {
            Cursor::All(scan) => scan.next(),
            Cursor::Range(range) => range.next(),
            Cursor::Keys(keys) => keys.next().map(|key| key.map(|key| (key, Vec::new()))),
        }
    }
}

self_cell!(
    /// A scan and the database that it reads.
    struct OwnedScan {
        owner: Arc<bsdb::Database>,
        #[not_covariant]
        dependent: Cursor,
    }
);

/// What an iterator yields of a record.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Keys,
    Values,
    Items,
}

struct State {
    scan: OwnedScan,
    read: VecDeque<Record>,
    most: usize,
    /// What ended the scan. Each further call raises it.
    error: Option<bsdb::Error>,
    ended: bool,
}

impl State {
    fn must_read(&self) -> bool {
        self.read.is_empty() && !self.ended
    }

    fn fill(&mut self) {
        let State { scan, read, most, error, ended } = self;
        scan.with_dependent_mut(|_, scan| {
            let mut bytes = 0;
            while read.len() < *most && bytes < BYTES {
                match scan.next() {
                    Some(Ok(record)) => {
                        bytes += record.0.len() + record.1.len();
                        read.push_back(record);
                    }
                    end => {
                        *ended = true;
                        *error = end.and_then(Result::err);
                        return;
                    }
                }
            }
            *most = (2 * *most).min(RECORDS);
        });
    }
}

/// An iterator over the keys, values or items of a database, or of a range of it.
#[pyclass(module = "bsdbkv._bsdb", frozen)]
pub(crate) struct Scan {
    part: Part,
    /// None while a thread reads.
    state: Arc<Mutex<Option<State>>>,
    is_remote: bool,
}

impl Scan {
    pub(crate) fn new(database: Arc<bsdb::Database>, part: Part) -> bsdb::Result<Self> {
        Ok(Scan::of(OwnedScan::try_new(database, |database| database.scan().map(Cursor::All))?, part))
    }

    /// The records of a range in the order of their keys, or the keys alone.
    pub(crate) fn range(
        database: Arc<bsdb::Database>,
        range: KeyRange,
        reverse: bool,
        values: bool,
    ) -> bsdb::Result<Self> {
        let scan = OwnedScan::try_new(database, |database| {
            let range = database.range(range)?;
            let range = if reverse { range.descending() } else { range };
            bsdb::Result::Ok(if values { Cursor::Range(range) } else { Cursor::Keys(range.keys()) })
        })?;
        Ok(Scan::of(scan, if values { Part::Items } else { Part::Keys }))
    }

    fn of(scan: OwnedScan, part: Part) -> Self {
        let state = State { scan, read: VecDeque::new(), most: FIRST, error: None, ended: false };
        let is_remote = state.scan.borrow_owner().is_remote();
        Scan { part, state: Arc::new(Mutex::new(Some(state))), is_remote }
    }

    /// Passes the next record to a function. If that fails, the record stays the next one.
    fn next<R>(&self, py: Python<'_>, make: impl FnOnce(&Record) -> PyResult<R>) -> PyResult<Option<R>> {
        let lock = || held(&self.state);
        // Before the state is taken: the handler of a signal may use this iterator.
        if lock().as_ref().is_some_and(State::must_read) {
            py.check_signals()?;
        }
        let busy = || PyValueError::new_err("another thread reads from this iterator; give each thread its own");
        let mut state = lock().take().ok_or_else(busy)?;
        if state.must_read() && self.is_remote {
            // After a signal, the thread goes on reading, and the next records are there when it ends.
            let to = self.state.clone();
            wait::result(py, move || {
                state.fill();
                *held(&to) = Some(state);
            })?;
            state = lock().take().ok_or_else(busy)?;
        } else if state.must_read() {
            py.detach(|| state.fill());
        }
        let made = if let Some(record) = state.read.pop_front() {
            let made = make(&record);
            if made.is_err() {
                state.read.push_front(record);
            }
            made.map(Some)
        } else {
            state.error.as_ref().map_or(Ok(None), |error| Err(errors::exception(py, error)))
        };
        *lock() = Some(state);
        made
    }
}

fn held(state: &Mutex<Option<State>>) -> MutexGuard<'_, Option<State>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Scan {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.next(py, |(key, value)| {
            Ok(match self.part {
                Part::Keys => bytes(py, key)?.into_any(),
                Part::Values => bytes(py, value)?.into_any(),
                Part::Items => PyTuple::new(py, [bytes(py, key)?, bytes(py, value)?])?.into_any(),
            })
        })
    }
}
