//! Publications to stores, and their versions.
#![cfg(unix)]

use std::time::UNIX_EPOCH;

use bsdb::{Error, PublishOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::{errors, options};

/// Publishes a database to a store. Returns what was published, as a dict.
#[pyfunction]
pub(crate) fn _publish<'py>(
    database: &Bound<'py, PyAny>,
    store: &Bound<'py, PyAny>,
    version: Option<String>,
    keep: Option<usize>,
    link: bool,
    trust: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = database.py();
    let (database, store) = (options::path(database)?, options::path(store)?);
    let mut how = PublishOptions::default().link(link);
    if let Some(version) = version {
        how = how.version(version);
    }
    if let Some(keep) = keep {
        how = how.keep(keep);
    }
    if let Some(files) = trust {
        how = how.trust(options::public_keys(py, &options::key_files(files)?)?);
    }
    let mut raised = None;
    let go_on = || Python::attach(|py| py.check_signals().map_err(|error| raised = Some(error)).is_ok());
    let published = py.detach(|| bsdb::publish_while(database, store, how, go_on));
    let published = published.map_err(|error| match (error, raised) {
        (Error::Stopped, Some(raised)) => raised,
        (error, _) => errors::exception(py, &error),
    })?;
    let dict = PyDict::new(py);
    dict.set_item("version", published.version)?;
    dict.set_item("path", published.path.as_os_str())?;
    dict.set_item("removed", PyTuple::new(py, published.removed)?)?;
    dict.set_item("warnings", PyTuple::new(py, published.warnings)?)?;
    Ok(dict)
}

/// The versions of a store, as dicts.
#[pyfunction]
pub(crate) fn _versions<'py>(store: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = store.py();
    let store = options::path(store)?;
    let versions = py.detach(|| bsdb::versions(store)).map_err(|error| errors::exception(py, &error))?;
    let list = PyList::empty(py);
    for version in versions {
        let dict = PyDict::new(py);
        dict.set_item("name", version.name)?;
        dict.set_item("path", version.path.as_os_str())?;
        dict.set_item("current", version.current)?;
        dict.set_item(
            "modified",
            version.modified.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        )?;
        dict.set_item("records", version.records)?;
        dict.set_item("bytes", version.bytes)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Makes another version of a store current. Returns its name.
#[pyfunction]
pub(crate) fn _rollback(store: &Bound<'_, PyAny>, version: Option<String>) -> PyResult<String> {
    let py = store.py();
    let store = options::path(store)?;
    let current = py.detach(|| bsdb::rollback(store, version.as_deref()));
    current.map_err(|error| errors::exception(py, &error))
}
