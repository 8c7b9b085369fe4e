//! Iterators over the records in which databases differ.

use std::sync::{Arc, Mutex, PoisonError};

use bsdb::{Difference, Differences};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use self_cell::self_cell;

use crate::bytes::bytes;
use crate::database::Database;
use crate::{errors, wait};

/// Two databases.
struct Pair(Arc<bsdb::Database>, Arc<bsdb::Database>);

self_cell!(
    /// A comparison and the databases that it reads.
    struct OwnedDiff {
        owner: Pair,
        #[not_covariant]
        dependent: Differences,
    }
);

/// An iterator over the records in which two databases differ.
#[pyclass(module = "bsdbkv._bsdb", frozen)]
pub(crate) struct Diff {
    /// None while a thread reads.
    state: Arc<Mutex<Option<OwnedDiff>>>,
    is_remote: bool,
}

impl Diff {
    fn with<R, W>(&self, py: Python<'_>, work: W) -> PyResult<R>
    where
        R: Send + 'static,
        W: FnOnce(&mut Differences<'_>) -> R + Send + 'static,
    {
        let Some(mut diff) = self.state.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Err(PyValueError::new_err("another thread reads from this comparison; give each thread its own"));
        };
        let state = self.state.clone();
        let work = move || {
            let done = diff.with_dependent_mut(|_, differences| work(differences));
            *state.lock().unwrap_or_else(PoisonError::into_inner) = Some(diff);
            done
        };
        if self.is_remote {
            wait::result(py, work)
        } else {
            Ok(py.detach(work))
        }
    }
}

#[pymethods]
impl Diff {
    #[new]
    fn new(py: Python<'_>, before: &Bound<'_, Database>, after: &Bound<'_, Database>) -> PyResult<Self> {
        let pair = Pair(before.get().handle(py)?, after.get().handle(py)?);
        let is_remote = pair.0.is_remote() || pair.1.is_remote();
        let compare = move || OwnedDiff::try_new(pair, |pair| pair.0.diff(&pair.1));
        let diff = if is_remote { wait::result(py, compare)? } else { py.detach(compare) };
        let diff = diff.map_err(|error| errors::exception(py, &error))?;
        Ok(Diff { state: Arc::new(Mutex::new(Some(diff))), is_remote })
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The next tuple of "added", "removed" or "changed", the key, and its values before and after, or None.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        py.check_signals()?;
        let found = loop {
            match self.with(py, |differences| differences.next_soon())? {
                Some(found) => break found,
                None => py.check_signals()?,
            }
        };
        let Some(found) = found.transpose().map_err(|error| errors::exception(py, &error))? else {
            return Ok(None);
        };
        let (name, key, before, after) = match &found {
            Difference::Added { key, after } => ("added", key, None, Some(after)),
            Difference::Removed { key, before } => ("removed", key, Some(before), None),
            Difference::Changed { key, before, after } => ("changed", key, Some(before), Some(after)),
        };
        let value = |value: Option<&Vec<u8>>| value.map(|value| bytes(py, value)).transpose();
        (name, bytes(py, key)?, value(before)?, value(after)?).into_pyobject(py).map(Some)
    }

    /// How many records were compared so far, by what became of them.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.with(py, |differences| differences.counts())?;
        let dict = PyDict::new(py);
        dict.set_item("kept", counts.kept)?;
        dict.set_item("added", counts.added)?;
        dict.set_item("removed", counts.removed)?;
        dict.set_item("changed", counts.changed)?;
        Ok(dict)
    }
}
