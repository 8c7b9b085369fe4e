//! Keys as Python has them: `bytes` and other buffers, `str`, and arrays.

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyList, PyMemoryView, PyString, PyTuple};

use crate::bytes::bytes;

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
        bytes(py, &array.to_vec())
    } else if key.cast::<PyMemoryView>().is_ok() || is_void(key)? {
        Ok(key.call_method0("tobytes")?.cast_into()?)
    } else {
        let kind = key.get_type().name()?.to_string();
        let missing = key.is_none()
            || matches!(&kind[..], "NAType" | "NaTType")
            || key.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan());
        let hint = if missing {
            "leave out keys that are missing"
        } else {
            "encode it as the build did, for example str(key)"
        };
        Err(PyTypeError::new_err(format!("a key must be bytes, bytearray, memoryview or str, not {kind}; {hint}")))
    }
}

/// Whether this is an item of a `V` array of NumPy.
fn is_void(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(key.get_type().fully_qualified_name()? == "numpy.void" && key.getattr("dtype")?.getattr("names")?.is_none())
}

/// The bytes of a key of a batch. Errors name its place.
fn own_at<'py>(key: &Bound<'py, PyAny>, place: usize) -> PyResult<Bound<'py, PyBytes>> {
    own(key).map_err(|error| {
        let py = key.py();
        if error.is_instance_of::<PyUnicodeEncodeError>(py) {
            let value = error.value(py);
            let placed =
                value.getattr("reason").and_then(|reason| value.setattr("reason", format!("{reason} (keys[{place}])")));
            return placed.err().unwrap_or(error);
        }
        if error.is_instance_of::<PyTypeError>(py) {
            return PyTypeError::new_err(format!("keys[{place}]: {}", error.value(py)));
        }
        error
    })
}

/// An empty vector with room for items; MemoryError if there is none.
pub(crate) fn with_capacity<T>(capacity: usize) -> PyResult<Vec<T>> {
    let mut made = Vec::new();
    made.try_reserve_exact(capacity).map_err(|_| no_memory(capacity.saturating_mul(size_of::<T>())))?;
    Ok(made)
}

fn no_memory(bytes: usize) -> PyErr {
    PyMemoryError::new_err(format!("no memory for {bytes} bytes, which this batch needs; ask for fewer keys at once"))
}

/// Many keys. Holds what they borrow from, so that they can be read without the interpreter's lock.
pub(crate) enum Keys<'py> {
    Each(Vec<Bound<'py, PyBytes>>),
    Packed(Bound<'py, PackedKeys>),
}

impl<'py> Keys<'py> {
    /// The keys of a list, a tuple, another iterable or an array.
    pub(crate) fn of(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = keys.py();
        if let Ok(list) = keys.cast::<PyList>() {
            let mut each = with_capacity(list.len())?;
            for (place, key) in list.iter().enumerate() {
                each.push(own_at(&key, place)?);
            }
            return Ok(Keys::Each(each));
        }
        if let Ok(tuple) = keys.cast::<PyTuple>() {
            let mut each = with_capacity(tuple.len())?;
            for (place, key) in tuple.iter_borrowed().enumerate() {
                // get_row passes its one key in a tuple.
                each.push(if tuple.len() == 1 { own(&key)? } else { own_at(&key, place)? });
            }
            return Ok(Keys::Each(each));
        }
        // An array of NumPy or Arrow becomes PackedKeys; a single key is refused.
        let keys = py.import("bsdbkv._keys")?.call_method1("prepare", (keys,))?;
        if let Ok(packed) = keys.cast::<PackedKeys>() {
            return Ok(Keys::Packed(packed.clone()));
        }
        const ASK: usize = 4096;
        let mut each = Vec::new();
        for (place, key) in keys.try_iter()?.enumerate() {
            if place % ASK == ASK - 1 {
                py.check_signals()?;
            }
            each.try_reserve(1).map_err(|_| no_memory(place * size_of::<Bound<'_, PyBytes>>()))?;
            each.push(own_at(&key?, place)?);
        }
        Ok(Keys::Each(each))
    }

    pub(crate) fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Keys::Each(keys) => {
                let mut slices = with_capacity(keys.len())?;
                slices.extend(keys.iter().map(|key| key.as_bytes()));
                Ok(slices)
            }
            Keys::Packed(packed) => packed.get().slices(packed.py()),
        }
    }
}

/// Bytes of values that are read at a time, about.
const BYTES: usize = 16 << 20;

/// Keys that are looked up at a time, at first and at most.
const FIRST: usize = 1 << 10;
const MOST: usize = 1 << 14;

/// Looks keys up piece by piece, and handles signals between them. `piece` gets the place of its first key and the keys,
/// and returns the bytes of their values. `mean` is the mean length of a value.
pub(crate) fn in_pieces<'k, E: From<PyErr>>(
    py: Python<'_>,
    keys: &[&'k [u8]],
    mean: u64,
    mut piece: impl FnMut(usize, &[&'k [u8]]) -> Result<usize, E>,
) -> Result<(), E> {
    let mut count = (BYTES as u64 / mean.max(1)).clamp(1, FIRST as u64) as usize;
    let mut start = 0;
    while start < keys.len() {
        let end = keys.len().min(start + count);
        let bytes = piece(start, &keys[start..end])?;
        if bytes > BYTES {
            count = (count / 2).max(1);
        } else if bytes < BYTES / 2 {
            count = (2 * count).min(MOST);
        }
        start = end;
        py.check_signals()?;
    }
    Ok(())
}

/// Keys that lie one after the other in one buffer.
#[pyclass(module = "bsdbkv._bsdb", frozen)]
pub(crate) struct PackedKeys {
    data: Py<PyBytes>,
    bounds: Bounds,
}

enum Bounds {
    /// Keys of exactly so many bytes.
    Width(usize),
    /// Texts, filled up with zeros to so many bytes: an `S` array of NumPy.
    Padded(usize),
    /// The offsets of the keys' ends, after that of the first key's start.
    Offsets(Vec<usize>),
}

#[pymethods]
impl PackedKeys {
    /// Keys of exactly so many bytes.
    #[staticmethod]
    fn fixed(data: Bound<'_, PyBytes>, width: usize) -> PyResult<Self> {
        require_whole(&data, width)?;
        Ok(PackedKeys { data: data.unbind(), bounds: Bounds::Width(width) })
    }

    /// Texts that are filled up with zeros. Raises ValueError if that may have cut keys that are no texts.
    #[staticmethod]
    fn padded(data: Bound<'_, PyBytes>, width: usize) -> PyResult<Self> {
        require_whole(&data, width)?;
        let cells = || data.as_bytes().chunks_exact(width);
        let short = cells().position(|cell| cell.last() == Some(&0));
        if let (Some(short), false) = (short, cells().all(|cell| is_text(trimmed(cell)))) {
            return Err(PyValueError::new_err(format!(
                "keys[{short}] ends in zero bytes, which an S array cannot tell from filling, and the array holds bytes \
                 that are no text; if all keys have {width} bytes, pass keys.view('V{width}'), otherwise a list, such \
                 as keys.tolist(), which ends each key at its last byte that is not zero"
            )));
        }
        Ok(PackedKeys { data: data.unbind(), bounds: Bounds::Padded(width) })
    }

    /// Keys between offsets, which are 64-bit numbers in the machine's order of bytes.
    #[staticmethod]
    fn between(data: Bound<'_, PyBytes>, offsets: &[u8]) -> PyResult<Self> {
        let (numbers, []) = offsets.as_chunks::<8>() else {
            return Err(PyValueError::new_err("the offsets must have 64 bits"));
        };
        let start = numbers.first().map_or(0, |first| i64::from_ne_bytes(*first));
        let mut ends = with_capacity(numbers.len())?;
        for number in numbers {
            let end = i64::from_ne_bytes(*number).checked_sub(start).and_then(|end| usize::try_from(end).ok());
            ends.push(end.ok_or_else(|| PyValueError::new_err("the offsets must not be negative"))?);
        }
        if !ends.is_sorted() || ends.last().is_some_and(|&end| end > data.as_bytes().len()) {
            return Err(PyValueError::new_err("the offsets must ascend and lie within the data"));
        }
        Ok(PackedKeys { data: data.unbind(), bounds: Bounds::Offsets(ends) })
    }
}

impl PackedKeys {
    fn slices(&self, py: Python<'_>) -> PyResult<Vec<&[u8]>> {
        let data = self.data.as_bytes(py);
        let count = match &self.bounds {
            Bounds::Width(width) | Bounds::Padded(width) => data.len() / width,
            Bounds::Offsets(offsets) => offsets.len().saturating_sub(1),
        };
        let mut slices = with_capacity(count)?;
        match &self.bounds {
            Bounds::Width(width) => slices.extend(data.chunks_exact(*width)),
            Bounds::Padded(width) => slices.extend(data.chunks_exact(*width).map(trimmed)),
            Bounds::Offsets(offsets) => slices.extend(offsets.windows(2).map(|ends| &data[ends[0]..ends[1]])),
        }
        Ok(slices)
    }
}

fn require_whole(data: &Bound<'_, PyBytes>, width: usize) -> PyResult<()> {
    if width == 0 || data.as_bytes().len() % width != 0 {
        return Err(PyValueError::new_err("the array must hold whole keys"));
    }
    Ok(())
}

fn trimmed(key: &[u8]) -> &[u8] {
    let length = key.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &key[..length]
}

/// Whether bytes are UTF-8 without control characters.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().any(|&byte| byte < 0x20 || byte == 0x7f) && std::str::from_utf8(bytes).is_ok()
}
