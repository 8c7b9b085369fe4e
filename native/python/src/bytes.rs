//! `bytes` and `bytearray` of Python: the one thing that needs `unsafe`, because the safe functions of PyO3 panic where there is no
//! memory, or write each byte twice.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

use crate::keys::with_capacity;

/// Longer values are copied without the interpreter's lock.
const LONG: usize = 64 << 10;

/// A copy as `bytes`. Raises MemoryError if there is no memory for it.
#[inline(always)]
pub(crate) fn bytes<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if content.len() > LONG {
        return long(py, content);
    }
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { made(py, ffi::PyBytes_FromStringAndSize(content.as_ptr().cast(), content.len() as ffi::Py_ssize_t)) }
}

#[cold]
fn long<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: without a pointer, the new object has so many bytes, which are not initialized and which nobody else
    // knows of. They are written before anybody does.
    unsafe {
        let made = made(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), content.len() as ffi::Py_ssize_t))?;
        let to = ffi::PyBytes_AsString(made.as_ptr()).cast::<MaybeUninit<u8>>();
        let to = std::slice::from_raw_parts_mut(to, content.len());
        py.detach(|| to.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(content.as_ptr(), content.len()));
        Ok(made)
    }
}

/// A `bytearray` of zeros that a function fills. Raises MemoryError if there is no memory for it. The zeros are written
/// without the interpreter's lock.
pub(crate) fn byte_array<'py>(
    py: Python<'py>,
    length: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyByteArray>> {
    // Python complains of its own bytearray, on standard error, if it has no memory for one.
    drop(with_capacity::<u8>(length)?);
    // SAFETY: as in `long`; a slice of bytes is made only when all of them are initialized.
    unsafe {
        let made = ffi::PyByteArray_FromStringAndSize(std::ptr::null(), length as ffi::Py_ssize_t);
        let made = Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked::<PyByteArray>();
        let to = ffi::PyByteArray_AsString(made.as_ptr()).cast::<MaybeUninit<u8>>();
        let to = std::slice::from_raw_parts_mut(to, length);
        py.detach(|| to.fill(MaybeUninit::new(0)));
        fill(std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), length))?;
        Ok(made)
    }
}

/// # Safety
///
/// `object` is a new reference to `bytes`, or null with an exception set.
#[inline(always)]
unsafe fn made(py: Python<'_>, object: *mut ffi::PyObject) -> PyResult<Bound<'_, PyBytes>> {
    // SAFETY: as the caller says.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked()) }
}
