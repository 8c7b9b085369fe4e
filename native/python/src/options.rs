//! How databases and stores are opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bsdb::{Access, Error, Options, PublicKey, Remote};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors;

/// How a database was opened.
#[derive(Clone)]
pub(crate) struct How {
    pub(crate) access: Access,
    pub(crate) verify: bool,
    trusted: Vec<PublicKey>,
    remote: Arc<Elsewhere>,
}

/// How a database that is elsewhere is read.
struct Elsewhere {
    remote: Remote,
    /// The options that a pickle carries, as a dict: none that may be secret, and the files of trusted keys.
    carried: Py<PyDict>,
}

/// What `open` and `Store` are given besides a path.
pub(crate) struct Given<'a, 'py> {
    pub(crate) access: &'a str,
    pub(crate) verify: bool,
    pub(crate) memory: Option<u64>,
    pub(crate) cache: Option<Bound<'py, PyAny>>,
    pub(crate) cache_dir: Option<Bound<'py, PyAny>>,
    pub(crate) requests: Option<usize>,
    pub(crate) deadline: Option<f64>,
    pub(crate) hedge: bool,
    pub(crate) storage: Option<Bound<'py, PyAny>>,
    pub(crate) trust: Option<Bound<'py, PyAny>>,
}

impl How {
    /// The path or URL that is named, and how it is opened.
    pub(crate) fn of<'py>(path: &Bound<'py, PyAny>, given: Given<'_, 'py>) -> PyResult<(PathBuf, Self)> {
        let py = path.py();
        let access = access(given.access)?;
        let prepared = py.import("bsdbkv._remote")?.call_method1("prepare", (path, given.storage))?;
        let (path, settings, public): (Bound<'_, PyAny>, Vec<(String, String)>, Bound<'_, PyDict>) =
            prepared.extract()?;
        let carried = PyDict::new(py);
        let mut remote = Remote::default();
        if let Some(memory) = given.memory {
            remote = remote.memory(memory);
            carried.set_item("memory", memory)?;
        }
        if let Some(cache) = given.cache {
            let bytes = size(&cache)?;
            remote = remote.page_bytes(bytes);
            carried.set_item("cache", bytes)?;
        }
        if let Some(directory) = given.cache_dir {
            let directory = self::path(&directory)?;
            carried.set_item("cache_dir", directory.as_os_str())?;
            remote = remote.cache_dir(directory);
        }
        if given.hedge {
            remote = remote.hedged(true);
            carried.set_item("hedge", true)?;
        }
        if let Some(requests) = given.requests {
            if requests == 0 {
                return Err(PyValueError::new_err("requests must be at least 1"));
            }
            remote = remote.requests(requests);
            carried.set_item("requests", requests)?;
        }
        if let Some(seconds) = given.deadline {
            let deadline = Duration::try_from_secs_f64(seconds).ok().filter(|deadline| !deadline.is_zero());
            let deadline =
                deadline.ok_or_else(|| PyValueError::new_err("deadline must be a number of seconds above 0"))?;
            remote = remote.deadline(deadline);
            carried.set_item("deadline", seconds)?;
        }
        for (name, value) in settings {
            remote = remote.set(name, value);
        }
        if !public.is_empty() {
            carried.set_item("storage_options", public)?;
        }
        let mut trusted = Vec::new();
        if let Some(files) = given.trust {
            let files = key_files(&files)?;
            trusted = public_keys(py, &files)?;
            carried.set_item("trust", files.iter().map(|file| file.as_os_str()).collect::<Vec<_>>())?;
        }
        let remote = Arc::new(Elsewhere { remote, carried: carried.unbind() });
        Ok((self::path(&path)?, How { access, verify: given.verify, trusted, remote }))
    }

    pub(crate) fn options(&self) -> Options {
        let options = Options::default().access(self.access).verify_pages(self.verify);
        options.trust(self.trusted.iter().copied()).remote(self.remote.remote.clone())
    }

    /// The arguments with which it is opened again.
    pub(crate) fn arguments<'py>(&self, py: Python<'py>) -> (&'static str, bool, Bound<'py, PyDict>) {
        let name = NAMES.iter().find(|(_, access)| *access == self.access).map_or("mapped", |(name, _)| name);
        (name, self.verify, self.remote.carried.bind(py).clone())
    }
}

const NAMES: [(&str, Access); 3] = [("mapped", Access::Mapped), ("read", Access::Read), ("direct", Access::Direct)];

/// The way of reading with a name.
fn access(name: &str) -> PyResult<Access> {
    NAMES
        .iter()
        .find(|named| named.0 == name)
        .map(|named| named.1)
        .ok_or_else(|| PyValueError::new_err(format!("access must be 'mapped', 'read' or 'direct', not '{name}'")))
}

/// The size of the pages on disk: a number of bytes, or a text such as "10g"; 0 for none.
fn size(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let bytes = match given.extract::<String>() {
        Ok(text) => {
            let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
                "" => Some(0),
                "k" => Some(10),
                "m" => Some(20),
                "g" => Some(30),
                "t" => Some(40),
                _ => None,
            };
            let number = digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
            shift.zip(number).map(|(shift, number)| u64::from(number) << shift)
        }
        Err(_) => Some(given.extract()?),
    };
    bytes.filter(|bytes| *bytes == 0 || (1 << 20..=1 << 38).contains(bytes)).ok_or_else(|| {
        let text = "cache must be a size such as '512m' or '10g', or a number of bytes, from 1 MiB to 256 GiB";
        PyValueError::new_err(format!("{text}, not {given}"))
    })
}

/// The files that the option `trust` names: one, or a list of them.
pub(crate) fn key_files(given: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if !given.is_instance_of::<PyList>() && !given.is_instance_of::<PyTuple>() {
        return Ok(vec![path(given)?]);
    }
    let files: Vec<PathBuf> = given.try_iter()?.map(|file| path(&file?)).collect::<PyResult<_>>()?;
    if files.is_empty() {
        return Err(PyValueError::new_err(
            "trust is empty; name a file of public keys, or None to require no signature",
        ));
    }
    Ok(files)
}

/// The public keys in files.
pub(crate) fn public_keys(py: Python<'_>, files: &[PathBuf]) -> PyResult<Vec<PublicKey>> {
    let keys: bsdb::Result<Vec<_>> = files.iter().map(PublicKey::read).collect();
    keys.map(|keys| keys.concat()).map_err(|error| match error {
        Error::Argument(text) => errors::input(py, text),
        error => errors::exception(py, &error),
    })
}

/// A path as Python has them: `str`, `bytes` or `os.PathLike`. Made absolute, unless it is a URL.
pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: PathBuf = given.py().import("os")?.call_method1("fsdecode", (given,))?.extract()?;
    if is_url(&path) {
        return Ok(path);
    }
    Ok(std::path::absolute(&path).unwrap_or(path))
}

/// Whether a path is a URL, and not that of a local directory with such a name.
pub(crate) fn is_url(path: &Path) -> bool {
    path.to_string_lossy().contains("://") && !path.exists()
}
