//! Records on their way to the core.

use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;

use crate::keys;

/// Bytes of keys and values that are given to the core at a time, about.
const CHUNK: usize = 1 << 20;

/// Records of a chunk, at most.
pub(super) const RECORDS: usize = 1 << 14;

/// Records that wait to be given to the core.
#[derive(Default)]
pub(super) struct Chunk {
    data: Vec<u8>,
    /// The ends of the key and of the value in the data, for each record.
    ends: Vec<(usize, usize)>,
}

impl Chunk {
    pub(super) fn records(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.data.len() >= CHUNK || self.ends.len() == RECORDS
    }

    /// Adds a record. If one of its parts is of the wrong type, the chunk is as before.
    pub(super) fn push(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.append(|data| {
            let end = put(data, key, "key")?;
            put(data, value, "value")?;
            Ok(end)
        })
    }

    /// The lengths of the key and the value of the last record.
    pub(super) fn last(&self) -> (usize, usize) {
        let mut ends = self.ends.iter().rev();
        let (key, value) = ends.next().copied().unwrap_or_default();
        let start = ends.next().map_or(0, |&(_, end)| end);
        (key - start, value - key)
    }

    /// Removes the last record.
    pub(super) fn pop(&mut self) {
        self.ends.pop();
        self.data.truncate(self.ends.last().map_or(0, |&(_, end)| end));
    }

    /// Whether a record is so long that no other should be in memory with it.
    pub(super) fn is_long(&self) -> bool {
        self.data.len() > 2 * CHUNK
    }

    /// Adds a record that the function appends to the bytes; it returns where the key ends. If it fails, the chunk is as
    /// before.
    pub(super) fn append<E>(&mut self, record: impl FnOnce(&mut Vec<u8>) -> Result<usize, E>) -> Result<(), E> {
        let start = self.data.len();
        match record(&mut self.data) {
            Ok(key) => self.ends.push((key, self.data.len())),
            Err(error) => {
                self.data.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Passes on the records. The chunk is empty then, also if that fails.
    pub(super) fn take<E>(&mut self, mut each: impl FnMut(&[u8], &[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut start = 0;
        let taken = self.ends.iter().try_for_each(|&(key, value)| {
            let record = (&self.data[start..key], &self.data[key..value]);
            start = value;
            each(record.0, record.1)
        });
        self.ends.clear();
        self.data.clear();
        self.data.shrink_to(2 * CHUNK);
        taken
    }
}

/// Appends a part of a record. Returns where it ends.
fn put(data: &mut Vec<u8>, part: &Bound<'_, PyAny>, what: &str) -> PyResult<usize> {
    let put = keys::with_key(part, |bytes| {
        data.try_reserve(bytes.len()).map_err(|_| no_memory(bytes.len()))?;
        data.extend_from_slice(bytes);
        PyResult::Ok(())
    });
    match put {
        Ok(put) => put?,
        Err(error) if what == "value" && error.is_instance_of::<PyTypeError>(part.py()) => {
            let kind = part.get_type().name()?;
            let text = format!("a value must be bytes, bytearray, memoryview or str, not {kind}; encode it first");
            return Err(PyTypeError::new_err(text));
        }
        Err(error) => return Err(error),
    }
    Ok(data.len())
}

fn no_memory(bytes: usize) -> PyErr {
    PyMemoryError::new_err(format!("no memory for a key or a value of {bytes} bytes"))
}
