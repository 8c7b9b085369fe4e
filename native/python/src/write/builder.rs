//! Builds of databases. The core gets records in chunks, without the interpreter's lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{panic, thread};

use bsdb::{BuildOptions, Built, Error, Progress, Stage, ValueElements};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::chunk::{Chunk, RECORDS};
use super::plan::{Bad, Part, Plan, Wanted};
use super::stream::Batches;
use crate::database::Database;
use crate::keys::{self, Keys};
use crate::{errors, options};

/// A build of one database.
#[pyclass(module = "bsdbkv._bsdb", frozen)]
pub(crate) struct Builder {
    state: Mutex<State>,
    given_up: Arc<AtomicBool>,
}

enum State {
    Open(Box<Work>),
    /// A thread, or the caller of the function of progress, has the work.
    Busy,
    Ended(&'static str),
}

struct Work {
    /// None if the build could not be begun anew.
    native: Option<Native>,
    pending: Chunk,
    start: Start,
    /// What a function of progress or a handler of signals raised.
    raised: Arc<Mutex<Option<PyErr>>>,
    /// Whether there are records or samples.
    begun: bool,
}

/// A build of all records, or of a base and changes.
enum Native {
    Build(bsdb::Builder),
    Merge(bsdb::Merger),
}

impl Native {
    fn add(&mut self, key: &[u8], value: &[u8]) -> bsdb::Result<()> {
        match self {
            Native::Build(build) => build.add(key, value),
            Native::Merge(merge) => merge.add(key, value),
        }
    }

    fn delete(&mut self, key: &[u8]) -> bsdb::Result<()> {
        match self {
            Native::Build(_) => Err(Error::Argument("a build without a base has nothing to delete".into())),
            Native::Merge(merge) => merge.delete(key),
        }
    }

    fn sample(&mut self, key: &[u8], value: &[u8]) -> bsdb::Result<()> {
        match self {
            Native::Build(build) => build.sample(key, value),
            Native::Merge(_) => Err(Error::Argument("a merge chooses the samples for the dictionary itself".into())),
        }
    }

    fn records(&self) -> u64 {
        match self {
            Native::Build(build) => build.records(),
            Native::Merge(merge) => merge.changes(),
        }
    }

    fn finish(self) -> bsdb::Result<Built> {
        match self {
            Native::Build(build) => build.finish(),
            Native::Merge(merge) => merge.finish(),
        }
    }
}

/// How the build was begun.
struct Start {
    base: Option<Arc<bsdb::Database>>,
    path: std::path::PathBuf,
    options: BuildOptions,
    schema: Option<String>,
    /// The elements of values.
    elements: Option<ValueElements>,
    /// Whether only one thread may work.
    alone: bool,
    progress: Option<Py<PyAny>>,
    /// Set by `abort`, perhaps while the build works.
    given_up: Arc<AtomicBool>,
}

#[pymethods]
impl Builder {
    /// A build of the directory path, with options as text, a function that is told of progress, and a base into which
    /// records are merged.
    #[new]
    #[pyo3(signature = (path, settings, progress, base = None))]
    fn new(
        path: &Bound<'_, PyAny>,
        settings: Vec<(String, String)>,
        progress: Option<Py<PyAny>>,
        base: Option<&Bound<'_, Database>>,
    ) -> PyResult<Self> {
        let py = path.py();
        let path = options::path(path)?;
        let base = base.map(|base| base.get().handle(py)).transpose()?;
        let mut options = base.as_deref().map_or_else(BuildOptions::default, BuildOptions::of);
        let mut schema = base.as_deref().and_then(bsdb::Database::schema).map(str::to_owned);
        let mut elements = base.as_deref().and_then(bsdb::Database::elements);
        let mut alone = false;
        for (name, value) in settings {
            let mut set = || {
                options.set(&name, &value)?;
                if name == "value_elements" {
                    elements = Some(value.parse()?);
                }
                Ok(())
            };
            set().map_err(|error| errors::exception(py, &error))?;
            match &name[..] {
                "value_schema" => schema = Some(value),
                "threads" => alone = value == "1",
                _ => {}
            }
        }
        let given_up = Arc::<AtomicBool>::default();
        let given = Arc::clone(&given_up);
        let start = Start { base, path, options, schema, elements, alone, progress, given_up: given };
        let raised = Arc::default();
        let native = Some(start.begin(py, &raised)?);
        let work = Work { native, pending: Chunk::default(), start, raised, begun: false };
        Ok(Builder { state: Mutex::new(State::Open(Box::new(work))), given_up })
    }

    fn add(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.with(|work| work.add(key, value))
    }

    /// Adds pairs of key and value.
    fn add_many(&self, records: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = records.py();
        self.with(|work| {
            for (place, record) in records.try_iter()?.enumerate() {
                let record = record?;
                let (key, value) = pair(&record, place)?;
                work.add(&key, &value).map_err(|error| at(py, place, error))?;
            }
            // What is wrong with the last of them is said here.
            work.give(py)
        })
    }

    /// Adds the rows of a table. The value is the bytes of the column raw, or a row of columns, or of all columns.
    /// A row that is not a record ends that; with the function bad, it is left out, and the function is told its
    /// number, as what such rows are counted, and the reason; then an empty key is one, unless empty_keys says no.
    #[pyo3(signature = (table, key, key_join, columns, raw, bad = None, empty_keys = true))]
    #[allow(clippy::too_many_arguments)]
    fn add_arrow(
        &self,
        table: &Bound<'_, PyAny>,
        key: Vec<String>,
        key_join: Option<Vec<u8>>,
        columns: Option<Vec<String>>,
        raw: Option<String>,
        bad: Option<&Bound<'_, PyAny>>,
        empty_keys: bool,
    ) -> PyResult<()> {
        let wanted = Wanted::of(columns, raw);
        self.with(|work| work.add_arrow(table, &key, key_join.as_deref(), &wanted, bad, empty_keys))
    }

    /// Adds keys with vectors. `elements` is their type and number, and `rows` yields the bytes of whole vectors.
    fn add_vectors(
        &self,
        keys: &Bound<'_, PyAny>,
        count: usize,
        elements: String,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.with(|work| work.add_vectors(keys, count, elements, rows))
    }

    /// Deletes keys of the base.
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = keys.py();
        self.with(|work| {
            work.give(py)?;
            work.begun = true;
            for (place, key) in keys.try_iter()?.enumerate() {
                let key = key?;
                let native = work.native()?;
                let deleted = keys::with_key(&key, |key| native.delete(key)).map_err(|error| at(py, place, error))?;
                deleted.map_err(|error| work.exception(py, error))?;
                if place % RECORDS == 0 {
                    py.check_signals()?;
                }
            }
            Ok(())
        })
    }

    fn sample(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = key.py();
        self.with(|work| {
            let mut sample = Chunk::default();
            sample.push(key, value)?;
            work.give(py)?;
            work.begun = true;
            let native = work.native()?;
            let taken = py.detach(|| sample.take(|key, value| native.sample(key, value)));
            taken.map_err(|error| work.exception(py, error))
        })
    }

    /// The number of records that were added.
    #[getter]
    fn records(&self) -> PyResult<u64> {
        self.with(|work| {
            let pending = work.pending.records() as u64;
            Ok(work.native.as_ref().map_or(0, Native::records) + pending)
        })
    }

    /// Writes and publishes the database. Returns what was built, as a dict.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.with(|work| work.give(py))?;
        let State::Open(work) = self.take(State::Ended(FAILED))? else {
            return Err(PyValueError::new_err(FAILED));
        };
        let Work { native, raised, .. } = *work;
        let Some(native) = native else {
            return Err(PyValueError::new_err(FAILED));
        };
        let built = py.detach(|| native.finish()).map_err(|error| exception(py, &raised, error))?;
        *self.lock() = State::Ended("the database is finished; begin another build");
        described(py, &built)
    }

    /// Removes what was written. Does nothing if the build has ended. A call that works meanwhile, as a part of which
    /// this may be called, ends with an error and removes it.
    fn abort(&self, py: Python<'_>) {
        self.given_up.store(true, Ordering::Relaxed);
        let mut state = self.lock();
        if let State::Open(_) = &*state {
            let work = std::mem::replace(&mut *state, State::Ended(GIVEN_UP));
            drop(state);
            py.detach(|| drop(work));
        }
    }

    /// Whether records can be added.
    #[getter]
    fn open(&self) -> bool {
        !matches!(*self.lock(), State::Ended(_))
    }
}

impl Builder {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Held for moments only, and never while Python runs.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The work, in whose place is something else now.
    fn take(&self, other: State) -> PyResult<State> {
        let mut state = self.lock();
        match &*state {
            State::Open(_) => Ok(std::mem::replace(&mut *state, other)),
            State::Busy => Err(PyRuntimeError::new_err("the builder is in use by another thread, or calls itself")),
            State::Ended(reason) => Err(PyValueError::new_err(*reason)),
        }
    }

    /// Does a part of the work. The other threads that try get an error meanwhile.
    fn with<R>(&self, part: impl FnOnce(&mut Work) -> PyResult<R>) -> PyResult<R> {
        /// Ends the build if a part of it panics.
        struct Guard<'a>(&'a Builder);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                if thread::panicking() {
                    *self.0.lock() = State::Ended(FAILED);
                }
            }
        }
        let State::Open(mut work) = self.take(State::Busy)? else {
            return Err(PyValueError::new_err(FAILED));
        };
        let guard = Guard(self);
        let done = part(&mut work);
        drop(guard);
        let given_up = self.given_up.load(Ordering::Relaxed);
        *self.lock() = if given_up { State::Ended(GIVEN_UP) } else { State::Open(work) };
        if given_up && done.is_ok() {
            return Err(PyValueError::new_err(GIVEN_UP));
        }
        done
    }
}

fn described<'py>(py: Python<'py>, built: &Built) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("path", built.path.as_os_str())?;
    dict.set_item("id", &built.id)?;
    dict.set_item("records", built.records)?;
    dict.set_item("dropped", built.dropped)?;
    dict.set_item("key_bytes", built.key_bytes)?;
    dict.set_item("value_bytes", built.value_bytes)?;
    dict.set_item("bytes", built.bytes)?;
    dict.set_item("dictionary_bytes", built.dictionary_bytes)?;
    if let Some(changes) = &built.changes {
        let counts = PyDict::new(py);
        counts.set_item("kept", changes.kept)?;
        counts.set_item("replaced", changes.replaced)?;
        counts.set_item("added", changes.added)?;
        counts.set_item("deleted", changes.deleted)?;
        counts.set_item("deleted_absent", changes.deleted_absent)?;
        counts.set_item("superseded", changes.superseded)?;
        dict.set_item("changes", counts)?;
    }
    dict.set_item("warnings", PyTuple::new(py, &built.warnings)?)?;
    Ok(dict)
}

/// The key and the value of a pair.
fn pair<'py>(record: &Bound<'py, PyAny>, place: usize) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    if let Ok(pair) = record.cast::<PyTuple>() {
        if pair.len() == 2 {
            return Ok((pair.get_item(0)?, pair.get_item(1)?));
        }
    } else if let Ok(pair) = record.cast::<PyList>() {
        if pair.len() == 2 {
            return Ok((pair.get_item(0)?, pair.get_item(1)?));
        }
    }
    let kind = record.get_type().name()?;
    Err(PyTypeError::new_err(format!("records[{place}]: expected a pair of key and value, not {kind}")))
}

/// An error that names the place of a record.
fn at(py: Python<'_>, place: usize, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(format!("records[{place}]: {}", error.value(py)));
    }
    error
}

impl Start {
    fn begin(&self, py: Python<'_>, raised: &Arc<Mutex<Option<PyErr>>>) -> PyResult<Native> {
        let mut options = self.options.clone();
        if let Some(schema) = &self.schema {
            options = options.value_schema(schema);
        }
        let progress = self.progress.as_ref().map(|progress| progress.clone_ref(py));
        let (raised, given_up) = (Arc::clone(raised), Arc::clone(&self.given_up));
        let listener = move |at: Progress| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                match &progress {
                    Some(progress) => progress.call1(py, (name(at.stage), at.done, at.total)).map(|_| ()),
                    None => Ok(()),
                }
            });
            let goes_on = told.is_ok() && !given_up.load(Ordering::Relaxed);
            if let Err(error) = told {
                *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            goes_on
        };
        let begun = py.detach(|| match &self.base {
            None => bsdb::Builder::with_progress(&self.path, options, listener).map(Native::Build),
            Some(base) => bsdb::Merger::with_progress(base, &self.path, options, listener).map(Native::Merge),
        });
        begun.map_err(|error| errors::exception(py, &error))
    }
}

impl Work {
    fn exception(&self, py: Python<'_>, error: Error) -> PyErr {
        exception(py, &self.raised, error)
    }

    fn native(&mut self) -> PyResult<&mut Native> {
        self.native.as_mut().ok_or_else(|| PyValueError::new_err(FAILED))
    }

    /// Gives the records that wait to the core. If that fails, the build has failed: some of them are lost.
    fn give(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.start.given_up.load(Ordering::Relaxed) {
            return Err(PyValueError::new_err(GIVEN_UP));
        }
        let mut pending = std::mem::take(&mut self.pending);
        let native = self.native()?;
        let given = py.detach(|| give(native, &mut pending));
        self.pending = pending;
        if let Err((_, error)) = given {
            return Err(self.failed(py, error));
        }
        py.check_signals()
    }

    /// Gives the build up after an error of the core, for which it returns the exception.
    fn failed(&mut self, py: Python<'_>, error: Error) -> PyErr {
        let failed = self.native.take();
        py.detach(|| drop(failed));
        self.exception(py, error)
    }

    fn add(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pending.push(key, value)?;
        let before = self.native()?.records() + self.pending.records() as u64 - 1;
        if let Err(reason) = self.check_last(before) {
            self.pending.pop();
            return Err(errors::raised(key.py(), "BuildError", reason));
        }
        self.begun = true;
        if self.pending.is_full() {
            self.give(key.py())?;
        }
        Ok(())
    }

    /// Checks what the core would refuse of the record that was added to the chunk last, whose number this is.
    fn check_last(&self, number: u64) -> Result<(), String> {
        let (key, value) = self.pending.last();
        for (what, length, most) in [("key", key, MAX_KEY), ("value", value, MAX_VALUE)] {
            if length > most {
                return Err(format!("record {number}: a {what} of {length} bytes; at most {most} fit"));
            }
        }
        match self.start.elements {
            Some(elements) if elements.bytes() != value => Err(format!(
                "the value of record {number} has {value} bytes, but value_elements of {elements} are {}",
                elements.bytes()
            )),
            _ => Ok(()),
        }
    }

    /// Begins anew with the schema of a table's rows, or fails if the records before have another one.
    fn require_schema(&mut self, py: Python<'_>, schema: Option<String>) -> PyResult<()> {
        if self.start.schema == schema {
            return Ok(());
        }
        if let (Some(elements), Some(_)) = (&self.start.elements, &schema) {
            let text = format!("the values of the database are vectors, {elements}, and these are rows; build two");
            return Err(PyValueError::new_err(format!("{text} databases, or name one column with value=")));
        }
        let what = match (&self.start.schema, &schema) {
            (_, None) => "the database holds typed rows, and these values are bytes",
            (Some(_), Some(_)) => "the rows have another schema than those before, or than value_schema",
            (None, Some(_)) if self.begun => "the rows come after records whose values are bytes",
            (None, Some(_)) => {
                self.start.schema = schema;
                return self.begin_anew(py);
            }
        };
        Err(PyValueError::new_err(format!("{what}; build two databases, or name the columns with value=")))
    }

    /// Begins anew with the elements of vectors, or fails if there are records before that have others, or none.
    fn require_elements(&mut self, py: Python<'_>, elements: ValueElements) -> PyResult<()> {
        let what = match self.start.elements {
            Some(own) if own == elements => return Ok(()),
            Some(own) => format!("the vectors are {elements}, and those before, or value_elements, are {own}"),
            None if self.start.schema.is_some() => "the database holds typed rows, and these values are vectors".into(),
            None if self.begun => "the vectors come after records whose values are bytes; begin the build with \
                                   value_elements, or with the vectors"
                .into(),
            None => {
                let set = self.start.options.set("value_elements", &elements.to_string());
                set.map_err(|error| errors::exception(py, &error))?;
                self.start.elements = Some(elements);
                return self.begin_anew(py);
            }
        };
        Err(PyValueError::new_err(what))
    }

    /// Replaces the build by one with what is known of its values now.
    fn begin_anew(&mut self, py: Python<'_>) -> PyResult<()> {
        // Only one build of a target can be under way.
        let old = self.native.take();
        py.detach(|| drop(old));
        self.native = Some(self.start.begin(py, &self.raised)?);
        Ok(())
    }

    fn add_vectors(
        &mut self,
        keys: &Bound<'_, PyAny>,
        count: usize,
        elements: String,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = keys.py();
        let stated: ValueElements = elements.parse().map_err(|error| errors::exception(py, &error))?;
        let keys = Keys::of(keys)?;
        let slices = keys.slices()?;
        if slices.len() != count {
            let text = format!("there are {} keys and {count} vectors; each key has one", slices.len());
            return Err(PyValueError::new_err(text));
        }
        self.require_elements(py, stated)?;
        self.give(py)?;
        self.begun = true;
        let native = self.native()?;
        let mut place = 0;
        for rows in rows.try_iter()? {
            let rows = rows?.cast_into::<PyBytes>()?;
            // Bytes do not change, so they can be read while other threads run.
            let vectors = rows.as_bytes().chunks_exact(stated.bytes());
            let added = py.detach(|| {
                vectors.zip(&slices[place.min(count)..]).try_for_each(|(vector, key)| {
                    native.add(key, vector)?;
                    place += 1;
                    Ok(())
                })
            });
            match added {
                Ok(()) => py.check_signals()?,
                Err(Error::Argument(reason)) => {
                    return Err(errors::raised(py, "BuildError", format!("keys[{place}]: {reason}")));
                }
                Err(error) => return Err(self.failed(py, error)),
            }
        }
        Ok(())
    }

    fn add_arrow(
        &mut self,
        table: &Bound<'_, PyAny>,
        key: &[String],
        join: Option<&[u8]>,
        wanted: &Wanted,
        bad: Option<&Bound<'_, PyAny>>,
        empty_keys: bool,
    ) -> PyResult<()> {
        let py = table.py();
        let mut batches = Batches::of(table)?;
        let plan = Plan::new(&batches.schema(), key, join, wanted).map_err(PyValueError::new_err)?;
        match plan.elements() {
            Some(elements) => self.require_elements(py, elements)?,
            None => self.require_schema(py, plan.schema())?,
        }
        self.give(py)?;
        self.begun = true;
        let alone = self.start.alone;
        let native = self.native()?;
        // What the core would reject together with the build is found before, if the build goes on without the row.
        let tells = bad.is_some();
        let check = |key: &[u8]| if tells { check(key, empty_keys) } else { Ok(()) };
        let (mut part, mut next) = (Part::default(), Part::default());
        let mut before = 0;
        while let Some(batch) = batches.next(py)? {
            let records = plan.records(&batch);
            py.detach(|| records.read_part(0, &mut part, &check));
            loop {
                // The next records are read while these are given to the core, but long ones one after another.
                let from = part.end + usize::from(part.fault.is_some());
                let alone = alone || from >= batch.num_rows() || part.chunk.is_long();
                let given = py.detach(|| {
                    let read = || records.read_part(from, &mut next, &check);
                    both(alone, || give(native, &mut part.chunk), read)
                });
                match given {
                    Ok(()) => py.check_signals()?,
                    Err((place, Error::Argument(reason))) => {
                        let text = format!("row {}: {reason}", before + part.first + place);
                        return Err(errors::raised(py, "BuildError", text));
                    }
                    Err((_, error)) => return Err(self.failed(py, error)),
                }
                if let Some(Bad { label, reason }) = part.fault.take() {
                    let row = before + part.end;
                    let Some(bad) = bad else { return Err(errors::row(py, format!("row {row}: {reason}"))) };
                    bad.call1((row, label, reason))?;
                }
                if from >= batch.num_rows() {
                    break;
                }
                std::mem::swap(&mut part, &mut next);
            }
            before += batch.num_rows();
        }
        Ok(())
    }
}

/// Does two things at once, or one after the other: alone, or where the system gives no thread.
fn both<R>(alone: bool, here: impl FnOnce() -> R, there: impl FnOnce() + Send) -> R {
    let there = Mutex::new(Some(there));
    let run = || {
        let there = there.lock().unwrap_or_else(PoisonError::into_inner).take();
        there.into_iter().for_each(|there| there());
    };
    let done = thread::scope(|scope| {
        let other = if alone { None } else { thread::Builder::new().spawn_scoped(scope, run).ok() };
        let done = here();
        match other.map_or(Ok(()), |other| other.join()) {
            Ok(()) => done,
            Err(panic) => panic::resume_unwind(panic),
        }
    });
    run();
    done
}

/// Gives records to the core. If that fails, tells which of them failed.
fn give(native: &mut Native, chunk: &mut Chunk) -> Result<(), (usize, Error)> {
    let mut place = 0;
    chunk
        .take(|key, value| {
            native.add(key, value)?;
            place += 1;
            Ok(())
        })
        .map_err(|error| (place, error))
}

/// Bytes of the longest key, as the label says it.
const MAX_KEY: usize = 65_535;

/// Bytes of the longest value.
const MAX_VALUE: usize = 2_147_483_639;

const GIVEN_UP: &str = "the build was given up; begin another one";

const FAILED: &str = "the build has failed; begin another one";

/// Checks what the core would reject together with the build.
fn check(key: &[u8], empty_keys: bool) -> Result<(), Bad> {
    if key.is_empty() && !empty_keys {
        return Err(Bad { label: "empty key", reason: "the key is empty".into() });
    }
    if key.len() > MAX_KEY {
        let reason = format!("a key of {} bytes; at most {MAX_KEY} fit", key.len());
        return Err(Bad { label: "key longer than 65535 bytes", reason });
    }
    Ok(())
}

/// What an error of the core raises; if the build was stopped, the reason for that.
fn exception(py: Python<'_>, raised: &Mutex<Option<PyErr>>, error: Error) -> PyErr {
    let raised = match error {
        Error::Stopped => raised.lock().unwrap_or_else(PoisonError::into_inner).take(),
        _ => None,
    };
    raised.unwrap_or_else(|| errors::exception(py, &error))
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Records => "records",
        Stage::Index => "index",
        Stage::Order => "order",
        Stage::Publish => "publish",
        _ => "work",
    }
}
