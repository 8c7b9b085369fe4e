//! Errors of the crate `bsdb` as exceptions of `bsdbkv._errors`.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use bsdb::{Error, RemoteKind};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let text = error.to_string();
    let path = error.path().unwrap_or(Path::new("")).as_os_str();
    match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::OutOfMemory => PyMemoryError::new_err(text),
        Error::Io { source, .. } => {
            let missing = source.kind() == ErrorKind::NotFound;
            let class = if missing { "NotFoundError" } else { "FileError" };
            // ENOENT and EIO, for errors that the system did not number.
            let number = source.raw_os_error().unwrap_or(if missing { 2 } else { 5 });
            new(py, class, (number, reason(source), path))
        }
        Error::Remote { kind, message, .. } => {
            let (class, name) = match kind {
                RemoteKind::Missing => ("NotFoundError", "ENOENT"),
                RemoteKind::Denied => ("FileError", "EACCES"),
                RemoteKind::Changed => ("FileError", "ESTALE"),
                RemoteKind::Busy => ("FileError", "EAGAIN"),
                RemoteKind::Late => ("FileError", "ETIMEDOUT"),
                RemoteKind::Unreachable => ("FileError", "EHOSTUNREACH"),
                _ => ("FileError", "EIO"),
            };
            let number: PyResult<i32> = py.import("errno").and_then(|errno| errno.getattr(name)?.extract());
            number.map_or_else(|error| error, |number| new(py, class, (number, message, path)))
        }
        // Of a URL that leads to nothing.
        Error::NotADatabase { reason, .. } if reason.starts_with("no manifest.bsdb here") => {
            new(py, "NotFoundError", (2, reason, path))
        }
        Error::NotADatabase { .. } if !is_url(path) && !Path::new(path).exists() => {
            new(py, "NotFoundError", (2, "no such directory", path))
        }
        Error::NotADatabase { .. } => new(py, "NotADatabaseError", (text, path)),
        Error::Damaged { offset, .. } => new(py, "DamagedError", (text, path, *offset)),
        Error::Untrusted { .. } => new(py, "UntrustedError", (text, path)),
        Error::Unsupported { .. } => new(py, "UnsupportedError", (text, path)),
        Error::NotHeld { shard, .. } => new(py, "NotHeldError", (text, path, *shard)),
        Error::NoMemory { .. } => PyMemoryError::new_err(text),
        Error::Duplicate { key, first, second } => {
            let text = format!("{text}; to keep one of them: duplicates=\"first\" or duplicates=\"last\"");
            new(py, "DuplicateKeyError", (text, PyBytes::new(py, key), *first, *second))
        }
        Error::Exists { reason, .. } => new(py, "ExistsError", (17, reason, path)),
        Error::Argument(_) => new(py, "BuildError", (text,)),
        Error::Impossible(_) => new(py, "UnsupportedError", (text,)),
        _ => new(py, "Error", (text,)),
    }
}

/// The exception for an error when a database or store is opened.
pub(crate) fn opening(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Argument(text) => PyValueError::new_err(text.clone()),
        error => exception(py, error),
    }
}

/// The exception for the use of a database or store after `close`.
pub(crate) fn closed(py: Python<'_>, what: &str, path: &Path) -> PyErr {
    let open = if what == "store" { "Store" } else { "open" };
    let text = format!("{}: the {what} is closed; open it again with bsdbkv.{open}", path.display());
    new(py, "ClosedError", (text,))
}

/// The exception for a value that is not a row, and for schemas that Arrow cannot hold.
pub(crate) fn row(py: Python<'_>, text: String) -> PyErr {
    new(py, "RowError", (text,))
}

/// The exception of a class that is made of a text alone.
pub(crate) fn raised(py: Python<'_>, class: &str, text: String) -> PyErr {
    new(py, class, (text,))
}

/// The exception for an input that is not as it should be.
pub(crate) fn input(py: Python<'_>, text: String) -> PyErr {
    new(py, "Error", (text,))
}

/// The text of an error of the system, without the number that Python adds itself.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{after}"),
        None => text,
    }
}

fn is_url(path: &OsStr) -> bool {
    path.to_string_lossy().contains("://")
}

fn new<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let raised = py.import("bsdbkv._errors").and_then(|module| module.getattr(class)?.call1(arguments));
    raised.map_or_else(|error| error, PyErr::from_value)
}
