//! Memory of NumPy arrays that lookups write to. Its address comes by DLPack: the stable interface of Python 3.9 has no
//! buffers.
#![allow(unsafe_code)]

use std::ffi::{c_void, CStr};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const NAME: &CStr = c"dltensor";

const CPU: i32 = 1;

/// `DLTensor` of DLPack, with which the content of the capsule begins.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2],
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// The bytes of an array.
pub(crate) struct Memory<'py> {
    /// Keeps the array. Since it keeps its name, it releases the tensor when it goes.
    _capsule: Bound<'py, PyCapsule>,
    room: Room,
}

/// Where the bytes are.
pub(crate) struct Room {
    start: *mut u8,
    length: usize,
}

// SAFETY: the memory belongs to no thread.
unsafe impl Send for Room {}

impl<'py> Memory<'py> {
    /// The memory of an array of type uint8 with so many items, in one dimension.
    pub(crate) fn of(array: &Bound<'py, PyAny>, length: usize) -> PyResult<Self> {
        let capsule = array.call_method0("__dlpack__")?.cast_into::<PyCapsule>()?;
        let tensor = capsule.pointer_checked(Some(NAME))?.cast::<Tensor>();
        // SAFETY: by its name, the capsule holds a tensor, whose shape and strides have as many items as it has
        // dimensions.
        let (start, fits) = unsafe {
            let tensor = tensor.as_ref();
            let bytes = (tensor.device[0], tensor.dimensions, tensor.bits, tensor.lanes) == (CPU, 1, 8, 1);
            let fits = bytes
                && usize::try_from(*tensor.shape) == Ok(length)
                && (length < 2 || tensor.strides.is_null() || *tensor.strides == 1);
            (tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize), fits)
        };
        if !fits {
            return Err(PyValueError::new_err(format!("expected an array of uint8 with {length} items")));
        }
        Ok(Memory { _capsule: capsule, room: Room { start, length } })
    }

    pub(crate) fn room(&mut self) -> &mut Room {
        &mut self.room
    }
}

impl Room {
    /// Writes bytes at a place. Does nothing if they do not fit.
    #[inline]
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        if at.checked_add(bytes.len()).is_some_and(|end| end <= self.length) {
            // SAFETY: the memory has room for them, and lives as long as the capsule. Databases are not in it. It is
            // only written to: no reference to it is made, so other threads that read it get old or new bytes.
            unsafe { self.start.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
        }
    }
}
