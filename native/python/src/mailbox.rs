//! Lookups for asyncio that no thread waits for. Results gather in a mailbox of the loop, and wake it once for all that
//! arrived meanwhile, through a socket: the threads that receive them never wait for the interpreter's lock.
#![cfg(unix)]

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::bytes::bytes;
use crate::database::Database;
use crate::errors;
use crate::keys::{with_key, Keys};

/// Keys of a batch that are looked up at a time.
const KEYS: usize = 1 << 14;

/// Results that wait for a loop.
#[pyclass(module = "bsdbkv._bsdb", frozen, name = "_Mailbox")]
pub(crate) struct Mailbox {
    reader: UnixStream,
    shared: Arc<Shared>,
}

struct Shared {
    arrived: Mutex<Vec<(u64, Found)>>,
    bell: UnixStream,
}

enum Found {
    One(bsdb::Result<Option<Vec<u8>>>),
    Many(bsdb::Result<Vec<Option<Vec<u8>>>>),
}

impl Shared {
    fn put(&self, number: u64, found: Found) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        arrived.push((number, found));
        if arrived.len() == 1 {
            // Never full: a byte is only written after all before it were read.
            let _ = (&self.bell).write(&[0]);
        }
    }
}

/// A lookup under way. It ends when this is dropped.
#[pyclass(module = "bsdbkv._bsdb", frozen, name = "_Lookup")]
pub(crate) struct Lookup(#[allow(dead_code)] bsdb::Task<()>);

#[pymethods]
impl Mailbox {
    #[new]
    fn new() -> PyResult<Self> {
        let (reader, bell) = UnixStream::pair().map_err(PyOSError::new_err)?;
        reader.set_nonblocking(true).and_then(|()| bell.set_nonblocking(true)).map_err(PyOSError::new_err)?;
        Ok(Mailbox { reader, shared: Arc::new(Shared { arrived: Mutex::default(), bell }) })
    }

    /// What can be read when something has arrived.
    fn fileno(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    /// What has arrived: tuples of the number of the lookup, and its result or the exception.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut read = [0; 64];
        loop {
            match (&self.reader).read(&mut read) {
                Ok(count) if count == read.len() => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        let arrived = std::mem::take(&mut *self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        let list = PyList::empty(py);
        for (number, found) in arrived {
            let result = match found.given(py) {
                Ok(result) => (number, result, None::<PyErr>).into_pyobject(py)?,
                Err(error) => (number, None::<u8>, Some(error)).into_pyobject(py)?,
            };
            list.append(result)?;
        }
        Ok(list)
    }

    /// Starts the lookup of a key; the result arrives with the number.
    fn get(&self, database: &Bound<'_, Database>, key: &Bound<'_, PyAny>, number: u64) -> PyResult<Lookup> {
        let database = database.get().handle(key.py())?;
        let key = with_key(key, <[u8]>::to_vec)?;
        let shared = self.shared.clone();
        let task = bsdb::spawn(async move {
            let found = database.aget(&key).await;
            shared.put(number, Found::One(found));
        });
        Ok(Lookup(task.map_err(PyOSError::new_err)?))
    }

    /// Starts the lookups of many keys; the list of their values arrives with the number.
    fn get_many(&self, database: &Bound<'_, Database>, keys: &Bound<'_, PyAny>, number: u64) -> PyResult<Lookup> {
        let database = database.get().handle(keys.py())?;
        let keys = Keys::of(keys)?;
        let keys: Vec<Vec<u8>> = keys.slices()?.into_iter().map(<[u8]>::to_vec).collect();
        let shared = self.shared.clone();
        let task = bsdb::spawn(async move {
            let mut values = Vec::with_capacity(keys.len());
            for keys in keys.chunks(KEYS) {
                match database.aget_many(keys).await {
                    Ok(found) => values.extend(found),
                    Err(error) => return shared.put(number, Found::Many(Err(error))),
                }
            }
            shared.put(number, Found::Many(Ok(values)));
        });
        Ok(Lookup(task.map_err(PyOSError::new_err)?))
    }
}

impl Found {
    /// The result as Python has it.
    fn given<'py>(self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let error = |error: bsdb::Error| errors::exception(py, &error);
        match self {
            Found::One(found) => found.map_err(error)?.map(|value| Ok(bytes(py, &value)?.into_any())).transpose(),
            Found::Many(found) => {
                let list = PyList::empty(py);
                for value in found.map_err(error)? {
                    list.append(value.map(|value| bytes(py, &value)).transpose()?)?;
                }
                Ok(Some(list.into_any()))
            }
        }
    }
}
