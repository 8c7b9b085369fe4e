//! Stores.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;

use crate::errors;
use crate::options::{is_url, Given, How};
use crate::wait;

/// The native half of bsdbkv.Store.
#[pyclass(module = "bsdbkv._bsdb", frozen, subclass)]
pub(crate) struct Store {
    path: PathBuf,
    how: How,
    /// None when closed. Locked only by threads that hold the interpreter's lock.
    open: RwLock<Option<Arc<bsdb::Store>>>,
}

impl Store {
    /// The current version, how it was opened, and the path of the store.
    pub(crate) fn current(&self, py: Python<'_>) -> PyResult<(Arc<bsdb::Database>, How, PathBuf)> {
        Ok((self.handle(py)?.database(), self.how.clone(), self.path.clone()))
    }

    fn handle(&self, py: Python<'_>) -> PyResult<Arc<bsdb::Store>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| errors::closed(py, "store", &self.path))
    }
}

#[pymethods]
impl Store {
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
        let open = move || bsdb::Store::open_with(at, options);
        let opened = if is_url(&path) { wait::result(py, open)? } else { py.detach(open) };
        let store = opened.map_err(|error| errors::opening(py, &error))?;
        Ok(Store { path, how, open: RwLock::new(Some(Arc::new(store))) })
    }

    /// The directory of the store.
    #[getter]
    fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The name of the version that was current when the store was opened or last refreshed.
    #[getter]
    fn version(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.handle(py)?.version())
    }

    /// Switches to the store's current version. Returns whether there was another one. If the new version
    /// cannot be opened, raises the reason and keeps the version before.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let store = self.handle(py)?;
        let is_remote = store.database().is_remote();
        let refresh = move || store.refresh();
        let refreshed = if is_remote { wait::result(py, refresh)? } else { py.detach(refresh) };
        refreshed.map_err(|error| errors::exception(py, &error))
    }

    /// Close the store. Databases that it has given stay open. Closing twice is harmless.
    fn close(&self) {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(open);
    }

    /// Whether close was called.
    #[getter]
    fn closed(&self) -> bool {
        self.open.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let store = slf.get();
        let (access, verify, remote) = store.how.arguments(py);
        let arguments = (store.path.as_os_str(), access, verify, remote);
        (py.import("bsdbkv")?.getattr("_open_store")?, arguments).into_pyobject(py).map(Bound::into_any)
    }
}
