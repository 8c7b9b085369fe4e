//! Signatures of databases that were built.

use bsdb::SigningKey;
use pyo3::prelude::*;

use crate::{errors, options};

/// Signs the database at a path with the private key in a file.
#[pyfunction]
pub(crate) fn _sign(path: &Bound<'_, PyAny>, sign_key: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = path.py();
    let (path, file) = (options::path(path)?, options::path(sign_key)?);
    let signed = py.detach(|| bsdb::sign(path, &SigningKey::read(file)?));
    signed.map_err(|error| errors::exception(py, &error))
}
