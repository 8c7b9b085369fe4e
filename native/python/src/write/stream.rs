//! Tables of every library that knows the PyCapsule interface of Arrow.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors;

const NAME: &CStr = c"arrow_array_stream";

/// The batches of a table.
pub(crate) struct Batches(RecordBatchStreamReader);

impl Batches {
    /// The batches of an object with the method `__arrow_c_stream__`. Copies no columns.
    pub(crate) fn of(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
        let capsule = table.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: by its name, the capsule holds a stream of the C interface. What is left there is a released one,
        // which the capsule frees.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
        let kind = table.get_type().name()?;
        match RecordBatchStreamReader::try_new(stream) {
            Ok(reader) => Ok(Batches(reader)),
            Err(error) => {
                Err(PyTypeError::new_err(format!("expected a table, not a {kind} of one column or none: {error}")))
            }
        }
    }

    pub(crate) fn schema(&self) -> Arc<Schema> {
        self.0.schema()
    }

    /// The next batch. Other threads run meanwhile.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        let next = py.detach(|| self.0.next()).transpose();
        // What the library of the table raised may have been an interrupt.
        py.check_signals()?;
        next.map_err(|error| match error {
            ArrowError::MemoryError(text) => PyMemoryError::new_err(text),
            error => errors::raised(py, "BuildError", format!("the table could not be read to its end: {error}")),
        })
    }
}
