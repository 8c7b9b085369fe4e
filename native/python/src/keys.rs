//! Keys as Python has them: `bytes` and other buffers, `str`, and arrays.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};

/// Passes the bytes of a key to a function.
#[inline(always)]
pub(crate) fn with_key<R>(key: &Bound<'_, PyAny>, work: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    match key.cast::<PyBytes>() {
        Ok(bytes) => Ok(work(bytes.as_bytes())),
        Err(_) => Ok(work(own(key)?.as_bytes())),
    }
}

/// The bytes of a key of any type that a key can have, as `bytes`, which do not change.
fn own<'py>(key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = key.py();
    if let Ok(bytes) = key.cast::<PyBytes>() {
        Ok(bytes.clone())
    } else if let Ok(text) = key.cast::<PyString>() {
        text.encode_utf8()
    } else if let Ok(array) = key.cast::<PyByteArray>() {
        Ok(PyBytes::new(py, &array.to_vec()))
    } else if key.cast::<PyMemoryView>().is_ok() {
        Ok(key.call_method0("tobytes")?.cast_into()?)
    } else {
        Err(PyTypeError::new_err(format!(
            "a key must be bytes, bytearray, memoryview or str, not {}; encode it as the build did, for example \
             str(key)",
            key.get_type().name()?
        )))
    }
}

/// Many keys. Holds what they borrow from, so that they can be read without the interpreter's lock.
pub(crate) enum Keys<'py> {
    Each(Vec<Bound<'py, PyBytes>>),
    Packed(Bound<'py, PackedKeys>),
}

impl<'py> Keys<'py> {
    /// The keys of a list, a tuple, another iterable or an array.
    pub(crate) fn of(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = keys.cast::<PyList>() {
            return Ok(Keys::Each(list.iter().map(|key| own(&key)).collect::<PyResult<_>>()?));
        }
        if let Ok(tuple) = keys.cast::<PyTuple>() {
            return Ok(Keys::Each(tuple.iter_borrowed().map(|key| own(&key)).collect::<PyResult<_>>()?));
        }
        // An array of NumPy or Arrow becomes PackedKeys; a single key is refused.
        let keys = keys.py().import("bsdb._keys")?.call_method1("prepare", (keys,))?;
        if let Ok(packed) = keys.cast::<PackedKeys>() {
            return Ok(Keys::Packed(packed.clone()));
        }
        Ok(Keys::Each(keys.try_iter()?.map(|key| own(&key?)).collect::<PyResult<_>>()?))
    }

    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        match self {
            Keys::Each(keys) => keys.iter().map(|key| key.as_bytes()).collect(),
            Keys::Packed(packed) => packed.get().slices(packed.py()),
        }
    }
}

/// Keys that lie one after the other in one buffer.
#[pyclass(module = "bsdb._bsdb", frozen)]
pub(crate) struct PackedKeys {
    data: Py<PyBytes>,
    bounds: Bounds,
}

enum Bounds {
    /// Keys of a fixed width, padded with zeros: an `S` array of NumPy.
    Width(usize),
    /// The offsets of the keys' ends, after that of the first key's start.
    Offsets(Vec<usize>),
}

#[pymethods]
impl PackedKeys {
    /// Keys of a fixed width, without the zeros at their ends.
    #[staticmethod]
    fn fixed(data: Bound<'_, PyBytes>, width: usize) -> PyResult<Self> {
        if width == 0 || data.as_bytes().len() % width != 0 {
            return Err(PyValueError::new_err("the array must hold whole keys"));
        }
        Ok(PackedKeys { data: data.unbind(), bounds: Bounds::Width(width) })
    }

    /// Keys between offsets, which are 64-bit numbers in the machine's order of bytes.
    #[staticmethod]
    fn between(data: Bound<'_, PyBytes>, offsets: &[u8]) -> PyResult<Self> {
        let (numbers, []) = offsets.as_chunks::<8>() else {
            return Err(PyValueError::new_err("the offsets must have 64 bits"));
        };
        let start = numbers.first().map_or(0, |first| i64::from_ne_bytes(*first));
        let offsets: Vec<usize> = numbers
            .iter()
            .map(|number| i64::from_ne_bytes(*number).checked_sub(start).and_then(|n| usize::try_from(n).ok()))
            .collect::<Option<_>>()
            .ok_or_else(|| PyValueError::new_err("the offsets must not be negative"))?;
        if !offsets.is_sorted() || offsets.last().is_some_and(|&end| end > data.as_bytes().len()) {
            return Err(PyValueError::new_err("the offsets must ascend and lie within the data"));
        }
        Ok(PackedKeys { data: data.unbind(), bounds: Bounds::Offsets(offsets) })
    }
}

impl PackedKeys {
    fn slices(&self, py: Python<'_>) -> Vec<&[u8]> {
        let data = self.data.as_bytes(py);
        match &self.bounds {
            Bounds::Width(width) => data.chunks_exact(*width).map(trimmed).collect(),
            Bounds::Offsets(offsets) => offsets.windows(2).map(|ends| &data[ends[0]..ends[1]]).collect(),
        }
    }
}

fn trimmed(key: &[u8]) -> &[u8] {
    let length = key.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &key[..length]
}
