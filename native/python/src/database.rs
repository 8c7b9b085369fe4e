//! The native half of bsdbkv.Database.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bsdb::KeyRange;
use pyo3::exceptions::{PyKeyError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::bytes::bytes;
use crate::errors;
use crate::keys::{in_pieces, with_key, Keys};
use crate::memory::Memory;
use crate::options::{is_url, Given, How};
use crate::rows::{RowReader, Rows};
use crate::scan::{Part, Scan};
use crate::store::Store;
use crate::{wait, write};

/// The native half of bsdbkv.Database.
#[pyclass(module = "bsdbkv._bsdb", frozen, subclass, weakref)]
pub(crate) struct Database {
    path: PathBuf,
    /// What was opened: the same path, or that of a store.
    opened: PathBuf,
    how: How,
    /// None when closed. Locked only by threads that hold the interpreter's lock, so nobody ever waits for
    /// it. Work without the interpreter's lock has its own reference.
    open: RwLock<Option<Arc<bsdb::Database>>>,
    rows: RowReader,
    /// The mean length of a value.
    mean: u64,
}

impl Database {
    /// Passes the open database to a function.
    #[inline(always)]
    fn with_open<R>(&self, py: Python<'_>, work: impl FnOnce(&Arc<bsdb::Database>) -> R) -> PyResult<R> {
        match &*self.open.read().unwrap_or_else(PoisonError::into_inner) {
            Some(database) => Ok(work(database)),
            None => Err(errors::closed(py, "database", &self.path)),
        }
    }

    /// A reference to the database that outlives `close`.
    pub(crate) fn handle(&self, py: Python<'_>) -> PyResult<Arc<bsdb::Database>> {
        self.with_open(py, Arc::clone)
    }

    /// The value of a key as `bytes`. Other threads run meanwhile, unless the answer is at hand.
    #[inline(always)]
    fn find<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        with_key(key, |key| {
            let at_hand = self.with_open(py, |database| database.find_at_hand(key, |value| bytes(py, value)))?;
            match at_hand.map_err(|error| errors::exception(py, &error))? {
                Some(found) => found.transpose(),
                None => self.find_elsewhere(py, key),
            }
        })?
    }

    #[cold]
    fn find_elsewhere<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let database = self.handle(py)?;
        if database.is_remote() {
            let key = key.to_vec();
            let found = wait::output(py, async move { database.aget(&key).await })?;
            return found.map_err(|error| errors::exception(py, &error))?.map(|value| bytes(py, &value)).transpose();
        }
        let found = py.detach(|| database.get_ref(key)).map_err(|error| errors::exception(py, &error))?;
        found.map(|value| bytes(py, &value)).transpose()
    }
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (
        path, *, access = "mapped", verify_pages = true, memory = None, cache = None, cache_dir = None, requests = None,
        deadline = None, hedge = false, storage_options = None, trust = None,
    ))]
    #[allow(clippy::too_many_arguments)] // they are Python's
    fn new<'py>(
        path: &Bound<'py, PyAny>,
        access: &str,
        verify_pages: bool,
        memory: Option<u64>,
        cache: Option<Bound<'py, PyAny>>,
        cache_dir: Option<Bound<'py, PyAny>>,
        requests: Option<usize>,
        deadline: Option<f64>,
        hedge: bool,
        storage_options: Option<Bound<'py, PyAny>>,
        trust: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let py = path.py();
        let (database, how, opened) = if let Ok(store) = path.cast::<Store>() {
            if trust.is_some() {
                return Err(PyValueError::new_err("trust is that of the store: pass it to bsdbkv.Store"));
            }
            store.get().current(py)?
        } else {
            let given = Given {
                access,
                verify: verify_pages,
                memory,
                cache,
                cache_dir,
                requests,
                deadline,
                hedge,
                storage: storage_options,
                trust,
            };
            let (path, how) = How::of(path, given)?;
            let (options, at) = (how.options(), path.clone());
            let open = move || bsdb::Database::open_with(at, options);
            let database = if is_url(&path) { wait::result(py, open)? } else { py.detach(open) };
            (Arc::new(database.map_err(|error| errors::opening(py, &error))?), how, path)
        };
        let facts = database.statistics();
        Ok(Database {
            path: database.path().to_owned(),
            opened,
            mean: facts.value_bytes / facts.records.max(1),
            how,
            rows: RowReader::default(),
            open: RwLock::new(Some(database)),
        })
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        match self.find(key.py(), key)? {
            Some(value) => Ok(value),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    /// Return the value of a key, or default if there is no such key.
    #[pyo3(signature = (key, default = None, /))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.find(key.py(), key)? {
            Some(value) => Some(value.into_any()),
            None => default,
        })
    }

    /// The value of a key, or None, if the answer is at hand; otherwise `otherwise`.
    fn _find_at_hand<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        otherwise: Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        with_key(key, |key| {
            let at_hand = self.with_open(py, |database| database.find_at_hand(key, |value| bytes(py, value)))?;
            match at_hand.map_err(|error| errors::exception(py, &error))? {
                Some(found) => Ok(found.transpose()?.map(Bound::into_any)),
                None => Ok(Some(otherwise)),
            }
        })?
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        with_key(key, |key| {
            let at_hand = self.with_open(py, |database| database.find_at_hand(key, |_| ()))?;
            let found = match at_hand {
                Ok(None) => {
                    let database = self.handle(py)?;
                    if database.is_remote() {
                        let key = key.to_vec();
                        wait::output(py, async move { database.aget(&key).await })?.map(|value| value.is_some())
                    } else {
                        py.detach(|| database.contains(key))
                    }
                }
                at_hand => at_hand.map(|found| found.flatten().is_some()),
            };
            found.map_err(|error| errors::exception(py, &error))
        })?
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with_open(py, |database| database.len() as usize)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Scan> {
        self.scan(py, Part::Keys)
    }

    fn _scan_values(&self, py: Python<'_>) -> PyResult<Scan> {
        self.scan(py, Part::Values)
    }

    fn _scan_items(&self, py: Python<'_>) -> PyResult<Scan> {
        self.scan(py, Part::Items)
    }

    /// Return the values of many keys as a list, in order, with default for absent keys.
    ///
    /// keys is a list, tuple or other iterable of keys, an array of NumPy (S or U for text, V or uint8[n, w] for
    /// keys of exactly so many bytes), or an Arrow array of strings or binary values. Much quicker than one lookup after the other, and other threads run
    /// meanwhile.
    #[pyo3(signature = (keys, default = None))]
    fn get_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = keys.py();
        let database = self.handle(py)?;
        let keys = Keys::of(keys)?;
        let slices = keys.slices()?;
        // Repeated by Python, which raises MemoryError where there is none.
        let list = PyList::new(py, [default])?.mul(slices.len())?.cast_into::<PyList>()?;
        in_pieces(py, &slices, self.mean, |start, keys| {
            let mut length = 0;
            if database.is_remote() {
                let values = wait::get_many(py, &database, keys)?.map_err(|error| errors::exception(py, &error))?;
                for (i, value) in values.iter().enumerate() {
                    if let Some(value) = value {
                        length += value.len();
                        list.set_item(start + i, bytes(py, value)?)?;
                    }
                }
                return PyResult::Ok(length);
            }
            let values = py.detach(|| database.get_many(keys)).map_err(|error| errors::exception(py, &error))?;
            for (i, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    length += value.len();
                    list.set_item(start + i, bytes(py, value)?)?;
                }
            }
            PyResult::Ok(length)
        })?;
        Ok(list)
    }

    /// Return an iterator over the records of a range in the order of their keys, as pairs of key and value.
    ///
    /// from_ is the least key that can be in the range, to the least that is behind it, and prefix what keys in
    /// the range begin with. With reverse, the greatest key comes first. Without values, yields keys alone and
    /// reads no records. Raises UnsupportedError unless the database is ordered.
    #[pyo3(signature = (from_ = None, to = None, prefix = None, reverse = false, values = true))]
    fn range(
        &self,
        py: Python<'_>,
        from_: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
        reverse: bool,
        values: bool,
    ) -> PyResult<Scan> {
        let range = key_range(from_, to, prefix)?;
        Scan::range(self.handle(py)?, range, reverse, values).map_err(|error| errors::exception(py, &error))
    }

    /// Return the number of keys in a range, without going through them. The arguments are as for range.
    #[pyo3(signature = (from_ = None, to = None, prefix = None))]
    fn count(
        &self,
        py: Python<'_>,
        from_: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let range = key_range(from_, to, prefix)?;
        let database = self.handle(py)?;
        let is_remote = database.is_remote();
        let count = move || database.count(&range);
        let counted = if is_remote { wait::result(py, count)? } else { py.detach(count) };
        counted.map_err(|error| errors::exception(py, &error))
    }

    /// Writes the values of many keys, all of one width, to the array of bytes that `allocate` makes for so many
    /// keys. Returns which keys are absent, whose items are left alone; the first absent key; and the first key whose
    /// value has another width, with that width.
    #[allow(clippy::type_complexity)]
    fn _get_fixed<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        width: usize,
        allocate: &Bound<'py, PyAny>,
    ) -> PyResult<(Vec<usize>, Option<Bound<'py, PyBytes>>, Option<(Bound<'py, PyBytes>, usize)>)> {
        let py = keys.py();
        let database = self.handle(py)?;
        let keys = Keys::of(keys)?;
        let slices = keys.slices()?;
        let mut absent = Vec::new();
        let mut wrong = None;
        let whole = slices.len().checked_mul(width).filter(|&whole| whole <= isize::MAX as usize);
        let whole = whole.ok_or_else(|| PyValueError::new_err("too many values for one array"))?;
        let mut memory = Memory::of(&allocate.call1((slices.len(),))?, whole)?;
        let room = memory.room();
        in_pieces(py, &slices, self.mean, |start, keys| {
            absent.try_reserve(keys.len()).map_err(|_| PyMemoryError::new_err("no memory for absent keys"))?;
            let mut length = 0;
            let found = wait::find_many(py, &database, keys, |i, value| {
                let i = start + i;
                match value {
                    Some(value) if value.len() == width => {
                        length += width;
                        room.put(i * width, value);
                    }
                    Some(value) => {
                        length += value.len();
                        wrong.get_or_insert((i, value.len()));
                    }
                    None => absent.push(i),
                }
            })?;
            found.map(|()| length).map_err(|error| errors::exception(py, &error))
        })?;
        let first = absent.first().map(|&i| bytes(py, slices[i])).transpose()?;
        let wrong = wrong.map(|(i, length)| PyResult::Ok((bytes(py, slices[i])?, length))).transpose()?;
        Ok((absent, first, wrong))
    }

    /// The rows of many keys in Arrow batches, which keys are absent, and the first absent key. For Python,
    /// times in nanoseconds are integers, and maps whose keys are not strings are lists.
    #[allow(clippy::type_complexity)]
    fn _get_rows<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        for_python: bool,
    ) -> PyResult<(Vec<Rows>, Vec<usize>, Option<Bound<'py, PyBytes>>)> {
        let py = keys.py();
        let database = self.handle(py)?;
        let keys = Keys::of(keys)?;
        let slices = keys.slices()?;
        let read = self.rows.read(py, &database, &slices, self.mean, for_python);
        let (batches, absent) = read.map_err(|failure| failure.exception(py))?;
        let first = absent.first().map(|&i| bytes(py, slices[i])).transpose()?;
        Ok((batches, absent, first))
    }

    /// The directory of the database; of a store, that of the version.
    #[getter]
    fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The id: 32 hexadecimal digits that depend on every byte of the database.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        self.with_open(py, |database| database.id())
    }

    /// The layout: 'blocked', 'compact', 'compressed', 'packed' or 'packed-compressed'; 'none' if approximate.
    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with_open(py, |database| database.layout().name())
    }

    /// The type and the number of the elements of every value, such as ('<f4', 384), if the database states them;
    /// otherwise None. The type is as NumPy writes it.
    #[getter]
    fn elements(&self, py: Python<'_>) -> PyResult<Option<(String, usize)>> {
        let elements = self.with_open(py, |database| database.elements())?;
        Ok(elements.map(|elements| (write::elements::numpy(elements.element), elements.count)))
    }

    /// Whether the database is elsewhere, and each lookup may ask a server.
    #[getter]
    fn remote(&self, py: Python<'_>) -> PyResult<bool> {
        self.with_open(py, |database| database.is_remote())
    }

    /// What reading took so far, as a dict: requests, retries, bytes, pages_received, and pages_cached, which were found
    /// in memory. Zeros of a local database.
    #[getter]
    fn traffic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let traffic = self.handle(py)?.traffic();
        let dict = PyDict::new(py);
        dict.set_item("requests", traffic.requests)?;
        dict.set_item("retries", traffic.retries)?;
        dict.set_item("hedges", traffic.hedges)?;
        dict.set_item("bytes", traffic.bytes)?;
        dict.set_item("pages_received", traffic.pages_received)?;
        dict.set_item("pages_cached", traffic.pages_cached)?;
        dict.set_item("pages_on_disk", traffic.pages_on_disk)?;
        Ok(dict)
    }

    /// Whether the database keeps no keys: a lookup of an absent key may then return another key's value,
    /// values may be cut short, and records cannot be listed.
    #[getter]
    fn approximate(&self, py: Python<'_>) -> PyResult<bool> {
        self.with_open(py, |database| database.is_approximate())
    }

    /// Whether the order of the keys was stored, which range and count need.
    #[getter]
    fn ordered(&self, py: Python<'_>) -> PyResult<bool> {
        self.with_open(py, |database| database.is_ordered())
    }

    /// The Avro schema of typed rows as JSON text, or None if values are plain bytes.
    #[getter]
    fn schema_json(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with_open(py, |database| database.schema().map(str::to_owned))
    }

    /// Facts from the manifest, as a dict.
    #[getter]
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = self.handle(py)?.statistics();
        let dict = PyDict::new(py);
        dict.set_item("records", facts.records)?;
        dict.set_item("duplicates_dropped", facts.duplicates_dropped)?;
        dict.set_item("key_bytes", facts.key_bytes)?;
        dict.set_item("value_bytes", facts.value_bytes)?;
        dict.set_item("longest_key", facts.longest_key)?;
        dict.set_item("longest_value", facts.longest_value)?;
        dict.set_item("layout", facts.layout.name())?;
        dict.set_item("hash_kind", facts.hash_kind)?;
        dict.set_item("checksum_bits", facts.checksum_bits)?;
        dict.set_item("approximate", facts.approximate)?;
        dict.set_item("kept_bytes", facts.kept_bytes)?;
        dict.set_item("filter", facts.filter)?;
        dict.set_item("dictionary", facts.dictionary)?;
        dict.set_item("ordered", facts.ordered)?;
        dict.set_item("shards", facts.shards)?;
        dict.set_item("shards_held", facts.shards_held)?;
        dict.set_item("files", facts.files)?;
        dict.set_item("file_bytes", facts.file_bytes)?;
        Ok(dict)
    }

    /// Check every byte of every file, and that each record is found by its key.
    ///
    /// With content, check the bytes alone: that all files have the content hashes of the manifest. That looks up no key,
    /// and raises UnsupportedError if an older version wrote the database without content hashes.
    ///
    /// Returns the numbers of records, files and pages that were checked, as a dict, and whether content hashes were
    /// compared; 0 records if no keys were looked up, as of an approximate database, which keeps none. Raises DamagedError
    /// at the first fault. Other threads run meanwhile.
    #[pyo3(signature = (*, content = false))]
    fn verify<'py>(&self, py: Python<'py>, content: bool) -> PyResult<Bound<'py, PyDict>> {
        let database = self.handle(py)?;
        const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);
        let (mut asked, mut calls, mut interrupt) = (Instant::now(), 0u32, None);
        let mut go_on = || {
            calls = calls.wrapping_add(1);
            if calls % 8 == 0 && asked.elapsed() > BETWEEN_SIGNALS {
                interrupt = Python::attach(|py| py.check_signals()).err();
                asked = Instant::now();
            }
            interrupt.is_none()
        };
        py.check_signals()?;
        let verified = if database.is_remote() {
            let stopped = Arc::new(AtomicBool::new(false));
            let stop = stopped.clone();
            let verified = wait::result(py, move || verified(&database, content, || !stop.load(Ordering::Relaxed)));
            stopped.store(true, Ordering::Relaxed);
            verified?
        } else {
            py.detach(|| verified(&database, content, &mut go_on))
        };
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let verified = verified.map_err(|error| errors::exception(py, &error))?;
        let dict = PyDict::new(py);
        dict.set_item("records", verified.records)?;
        dict.set_item("files", verified.files)?;
        dict.set_item("pages", verified.pages)?;
        dict.set_item("content_checked", verified.content_checked)?;
        Ok(dict)
    }

    /// Close the database. Lookups raise ClosedError from now on. Batches and scans that have begun in other
    /// threads end as usual; the files are closed after the last of them. Closing twice is harmless.
    fn close(&self, py: Python<'_>) {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner).take();
        // Pages may wait to be written.
        py.detach(|| drop(open));
    }

    /// Whether close was called.
    #[getter]
    fn closed(&self) -> bool {
        self.open.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*reason))]
    fn __exit__(&self, reason: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(reason.py());
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let database = slf.get();
        let (access, verify, remote) = database.how.arguments(py);
        let arguments = (database.opened.as_os_str(), access, verify, remote);
        (py.import("bsdbkv")?.getattr("_open_database")?, arguments).into_pyobject(py).map(Bound::into_any)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.to_string_lossy().into_pyobject(py)?.repr()?;
        Ok(match self.handle(py) {
            Ok(database) => format!("<bsdbkv.Database {path}, {} records, {}>", database.len(), database.layout()),
            Err(_) => format!("<bsdbkv.Database {path}, closed>"),
        })
    }
}

/// Verifies a database, or its content alone.
fn verified(database: &bsdb::Database, content: bool, go_on: impl FnMut() -> bool) -> bsdb::Result<bsdb::Verified> {
    if content {
        database.verify_content_while(go_on)
    } else {
        database.verify_while(go_on)
    }
}

/// The range of keys between bounds, each of which may be missing.
fn key_range(
    from: Option<&Bound<'_, PyAny>>,
    to: Option<&Bound<'_, PyAny>>,
    prefix: Option<&Bound<'_, PyAny>>,
) -> PyResult<KeyRange> {
    let mut range = match prefix {
        Some(prefix) => with_key(prefix, |prefix| KeyRange::prefix(prefix))?,
        None => KeyRange::all(),
    };
    if let Some(from) = from {
        range = with_key(from, |from| range.from(from))?;
    }
    if let Some(to) = to {
        range = with_key(to, |to| range.to(to))?;
    }
    Ok(range)
}

impl Database {
    fn scan(&self, py: Python<'_>, part: Part) -> PyResult<Scan> {
        Scan::new(self.handle(py)?, part).map_err(|error| errors::exception(py, &error))
    }
}
