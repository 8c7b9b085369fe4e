//! Reads bsdb databases in DuckDB: an extension with the function `bsdb_scan` for all records and `bsdb_get` for those of
//! keys. See `docs/guides/duckdb.md`.
#![deny(unsafe_code)]

mod ffi;
mod field;
mod get;
mod keys;
mod row;
mod rows;
mod scan;
mod schema;
mod source;

use ffi::Connection;

/// The entry point.
///
/// # Safety
///
/// DuckDB calls this when it loads the extension.
#[no_mangle]
#[allow(unsafe_code)]
pub unsafe extern "C" fn bsdb_init_c_api(info: *mut std::ffi::c_void, access: *const ffi::Access) -> bool {
    unsafe { ffi::load(info, access, register) }
}

fn register(connection: &Connection) -> Result<(), String> {
    connection.register_table::<scan::ScanFunction>()?;
    connection.register_table::<rows::RowsFunction>()?;
    get::register(connection)?;
    field::register(connection)
}
