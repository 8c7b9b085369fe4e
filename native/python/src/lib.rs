//! The native half of the Python package `bsdbkv`. The other half, in `python/bsdbkv`, adds what is easier in
//! Python: views, NumPy, pyarrow and the command line.
#![deny(unsafe_code, missing_docs)]

mod bytes;
mod database;
mod diff;
mod errors;
mod keys;
mod mailbox;
mod memory;
mod once;
mod options;
mod publish;
mod rows;
mod scan;
mod schema;
mod store;
mod text;
mod wait;
mod write;

use pyo3::prelude::*;

/// The native half of the package bsdbkv.
#[pymodule(gil_used = true)]
fn _bsdb(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // As Python spells it, and as the metadata of the package has it: 1.1.0.dev0 rather than 1.1.0-dev.0.
    module.add("__version__", env!("CARGO_PKG_VERSION").replace("-dev.", ".dev").replace("-rc.", "rc"))?;
    module.add_class::<database::Database>()?;
    module.add_class::<write::builder::Builder>()?;
    module.add_class::<diff::Diff>()?;
    module.add_class::<keys::PackedKeys>()?;
    #[cfg(unix)]
    module.add_class::<mailbox::Lookup>()?;
    #[cfg(unix)]
    module.add_class::<mailbox::Mailbox>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<scan::Scan>()?;
    module.add_class::<store::Store>()?;
    module.add_function(wrap_pyfunction!(once::_get, module)?)?;
    module.add_function(wrap_pyfunction!(write::sign::_sign, module)?)?;
    module.add_function(wrap_pyfunction!(text::_build_text, module)?)?;
    module.add_function(wrap_pyfunction!(text::_read_text, module)?)?;
    module.add_function(wrap_pyfunction!(text::_sample_text, module)?)?;
    let ending = wrap_pyfunction!(wait::ending, module)?;
    module.py().import("atexit")?.call_method1("register", (ending,))?;
    #[cfg(unix)]
    {
        module.add_function(wrap_pyfunction!(publish::_publish, module)?)?;
        module.add_function(wrap_pyfunction!(publish::_rollback, module)?)?;
        module.add_function(wrap_pyfunction!(publish::_versions, module)?)?;
    }
    module.setattr("_encode", wrap_pyfunction!(write::plan::_encode, module)?)
}
