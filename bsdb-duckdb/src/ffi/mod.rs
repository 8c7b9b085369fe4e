//! The edge to DuckDB: its C extension API, behind types that are safe to use.
//!
//! All calls from DuckDB come in here. A panic becomes an error of the query.
#![allow(unsafe_code)]

mod api;
mod context;
mod scalar;
mod table;
mod types;
mod value;
mod vector;

use std::ffi::{CStr, CString};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;

use api::{stable, Handle};

pub use api::{has_nanosecond_types, Access};
pub use context::Context;
pub use scalar::{ScalarBind, ScalarFunction};
pub use table::{name, Bind, TableFunction};
pub use types::{LogicalType, Simple};
pub use value::Value;
pub use vector::{chunk_rows, Chunk, Form, Interval, Output};

/// A connection on which functions are registered.
pub struct Connection(Handle);

impl Connection {
    fn handle(&self) -> Handle {
        self.0
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        unsafe { (stable().disconnect)(&mut self.0) };
    }
}

/// Does the work of the entry point: takes DuckDB's functions, and registers those of the extension.
///
/// # Safety
///
/// The arguments are those that DuckDB passed.
pub unsafe fn load(
    info: *mut std::ffi::c_void,
    access: *const Access,
    register: impl FnOnce(&Connection) -> Result<(), String>,
) -> bool {
    let Some(access) = (unsafe { access.as_ref() }) else { return false };
    let result = caught(|| {
        unsafe { api::take(info, access) }?;
        let database = unsafe { (access.get_database)(info).as_ref() };
        let database = *database.ok_or("DuckDB gave no database to load the extension into")?;
        let mut connection = ptr::null_mut();
        match unsafe { (stable().connect)(database, &mut connection) } {
            0 => register(&Connection(connection)),
            _ => Err("DuckDB gave no connection to register functions on".into()),
        }
    });
    match result {
        Ok(()) => true,
        Err(error) => {
            unsafe { (access.set_error)(info, text(&format!("bsdb: {error}")).as_ptr()) };
            false
        }
    }
}

/// Makes a panic an error.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("a fault in the extension bsdb, please report it: {}", text.unwrap_or("a panic")))
    })
}

/// Text for DuckDB, with a mark in place of each NUL.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_else(|_| CStr::to_owned(c"?"))
}
