//! Stores.

use std::path::{absolute, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;

use crate::errors;
use crate::options::{access, How};

/// The native half of bsdb.Store.
#[pyclass(module = "bsdb._bsdb", frozen, subclass)]
pub(crate) struct Store {
    path: PathBuf,
    how: How,
    store: bsdb::Store,
}

impl Store {
    pub(crate) fn current(&self) -> (Arc<bsdb::Database>, How) {
        (self.store.database(), self.how)
    }
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (path, *, access = "mapped", verify_pages = true))]
    fn new(py: Python<'_>, path: PathBuf, access: &str, verify_pages: bool) -> PyResult<Self> {
        let how = How { access: self::access(access)?, verify: verify_pages };
        let path = absolute(&path).unwrap_or(path);
        let opened = py.detach(|| bsdb::Store::open_with(&path, how.options()));
        let store = opened.map_err(|error| errors::exception(py, &error))?;
        Ok(Store { path, how, store })
    }

    /// The directory of the store.
    #[getter]
    fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The name of the version that was current when the store was opened or last refreshed.
    #[getter]
    fn version(&self) -> String {
        self.store.version()
    }

    /// Switches to the store's current version. Returns whether there was another one. If the new version
    /// cannot be opened, raises the reason and keeps the version before.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.store.refresh()).map_err(|error| errors::exception(py, &error))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let store = slf.get();
        let arguments = (&store.path, store.how.name(), store.how.verify);
        (py.import("bsdb")?.getattr("_open_store")?, arguments).into_pyobject(py).map(Bound::into_any)
    }
}
