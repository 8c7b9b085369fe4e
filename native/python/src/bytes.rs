//! `bytes` of Python. They need `unsafe`, because the safe functions of PyO3 panic where there is no memory, or write each
//! byte twice.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

/// # Safety
///
/// `object` is a new reference to `bytes`, or null with an exception set.
#[inline(always)]
unsafe fn made(py: Python<'_>, object: *mut ffi::PyObject) -> PyResult<Bound<'_, PyBytes>> {
    // SAFETY: as the caller says.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked()) }
}
