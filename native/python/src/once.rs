//! The native half of bsdbkv.get: one value of a database that is not open.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes::bytes;
use crate::errors;
use crate::keys::with_key;
use crate::options::{is_url, Given, How};
use crate::wait;

/// The value of a key of the database at a path or URL, or None.
#[pyfunction]
#[pyo3(signature = (
    path, key, *, access = "mapped", verify_pages = true, memory = None, cache = None, cache_dir = None, requests = None,
    deadline = None, hedge = false, storage_options = None, trust = None,
))]
#[allow(clippy::too_many_arguments)] // they are Python's
pub(crate) fn _get<'py>(
    path: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
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
) -> PyResult<Option<Bound<'py, PyBytes>>> {
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
    let (options, key) = (how.options(), with_key(key, <[u8]>::to_vec)?);
    let found = if is_url(&path) {
        wait::output(py, async move { bsdb::aget_once(path, &key, options).await })?
    } else {
        py.detach(|| bsdb::get_once(path, &key, options))
    };
    found.map_err(|error| errors::opening(py, &error))?.map(|value| bytes(py, &value)).transpose()
}
