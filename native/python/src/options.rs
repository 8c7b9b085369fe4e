//! How databases and stores are opened.

use std::path::PathBuf;

use bsdb::{Access, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How a database was opened.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) access: Access,
    pub(crate) verify: bool,
}

impl How {
    pub(crate) fn options(self) -> Options {
        Options::default().access(self.access).verify_pages(self.verify)
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, access)| *access == self.access).map_or("mapped", |(name, _)| name)
    }
}

const NAMES: [(&str, Access); 3] = [("mapped", Access::Mapped), ("read", Access::Read), ("direct", Access::Direct)];

/// The way of reading with a name.
pub(crate) fn access(name: &str) -> PyResult<Access> {
    NAMES
        .iter()
        .find(|named| named.0 == name)
        .map(|named| named.1)
        .ok_or_else(|| PyValueError::new_err(format!("access must be 'mapped', 'read' or 'direct', not '{name}'")))
}

/// A path as Python has them: `str`, `bytes` or `os.PathLike`. Made absolute, unless it is a URL, which is refused later.
pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: PathBuf = given.py().import("os")?.call_method1("fsdecode", (given,))?.extract()?;
    if path.to_string_lossy().contains("://") && !path.exists() {
        return Ok(path);
    }
    Ok(std::path::absolute(&path).unwrap_or(path))
}
