//! Waiting for servers: other threads of Python run meanwhile, and Ctrl-C ends it.

use std::future::Future;
use std::sync::atomic::{fence, AtomicUsize, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

/// How long a signal may wait.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// The thread that ends the interpreter.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// How many threads are about to take the interpreter's lock after a wait.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

/// Called when the interpreter is about to end, which ends threads that ask for its lock from then on, wherever they are: within
/// Rust, that would crash. So those that wait stay where they are, and those that are about to return do so first.
#[pyfunction]
pub(crate) fn ending(py: Python<'_>) {
    let _ = ENDING.set(thread::current().id());
    fence(Ordering::SeqCst);
    for _ in 0..1000 {
        if RETURNING.load(Ordering::SeqCst) == 0 {
            return;
        }
        py.detach(|| thread::sleep(Duration::from_millis(1)));
    }
}

fn stay_if_ending() {
    RETURNING.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    if ENDING.get().is_some_and(|ender| *ender != thread::current().id()) {
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        loop {
            thread::park();
        }
    }
}

/// The output of a future, which is dropped if a signal comes first.
pub(crate) fn output<R: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = R> + Send + 'static,
) -> PyResult<R> {
    let (tell, told) = sync_channel(1);
    let task = bsdb::spawn(async move {
        let _ = tell.send(future.await);
    });
    let _task = task.map_err(PyOSError::new_err)?;
    arrival(py, told)
}

/// The result of work that may wait for long. After a signal, it goes on in a thread of its own until its end, and nobody
/// waits for it.
pub(crate) fn result<R: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> R + Send + 'static) -> PyResult<R> {
    let (tell, told) = sync_channel(1);
    let spawned = thread::Builder::new().name("bsdb-wait".into()).spawn(move || {
        let _ = tell.send(work());
    });
    spawned.map_err(PyOSError::new_err)?;
    arrival(py, told)
}

fn arrival<R: Send>(py: Python<'_>, mut told: Receiver<R>) -> PyResult<R> {
    loop {
        let told = &mut told;
        let told = py.detach(move || {
            let told = told.recv_timeout(BETWEEN_SIGNALS);
            stay_if_ending();
            told
        });
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        match told {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "a thread of bsdb ended early; see its error on the standard error",
                ));
            }
        }
    }
}

/// Like `find_many` of a database, without the interpreter's lock.
pub(crate) fn find_many(
    py: Python<'_>,
    database: &Arc<bsdb::Database>,
    keys: &[&[u8]],
    mut found: impl FnMut(usize, Option<&[u8]>) + Send,
) -> PyResult<bsdb::Result<()>> {
    if !database.is_remote() {
        return Ok(py.detach(|| database.find_many(keys, found)));
    }
    Ok(get_many(py, database, keys)?.map(|values| {
        py.detach(|| {
            for (i, value) in values.iter().enumerate() {
                found(i, value.as_deref());
            }
        })
    }))
}

/// The values of keys of a database that is elsewhere.
pub(crate) fn get_many(
    py: Python<'_>,
    database: &Arc<bsdb::Database>,
    keys: &[&[u8]],
) -> PyResult<bsdb::Result<Vec<Option<Vec<u8>>>>> {
    let database = database.clone();
    let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.to_vec()).collect();
    output(py, async move { database.aget_many(&keys).await })
}
