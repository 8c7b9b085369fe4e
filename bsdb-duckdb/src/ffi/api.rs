//! The functions of DuckDB's C extension API that this extension calls.
//!
//! DuckDB passes a table of function pointers. Its first 357 entries are the stable part, which every version since 1.2
//! has, in the same places. The entries behind them are stable since version 1.5.6 of the API, which DuckDB 2.0 has.
//! Each number below is a place in that table, as the header `duckdb_extension.h` of DuckDB lists them.

use std::ffi::{c_char, c_void, CStr};
use std::sync::OnceLock;

/// A pointer to something of DuckDB's.
pub(super) type Handle = *mut c_void;
pub(super) type Text = *const c_char;
pub(super) type Destroy = unsafe extern "C" fn(*mut c_void);
pub(super) type Copy = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
pub(super) type Call = unsafe extern "C" fn(Handle);
pub(super) type Fill = unsafe extern "C" fn(Handle, Handle);
pub(super) type Evaluate = unsafe extern "C" fn(Handle, Handle, Handle);

/// Bytes that belong to DuckDB.
#[repr(C)]
pub(super) struct Blob {
    pub(super) data: *mut c_void,
    pub(super) size: u64,
}

/// A date, as DuckDB passes it.
#[repr(C)]
pub(super) struct Date {
    pub(super) days: i32,
}

/// What DuckDB passes to the entry point.
#[repr(C)]
pub struct Access {
    pub(super) set_error: unsafe extern "C" fn(Handle, Text),
    pub(super) get_database: unsafe extern "C" fn(Handle) -> *mut Handle,
    pub(super) get_api: unsafe extern "C" fn(Handle, Text) -> *const c_void,
}

/// Declares a table of functions, and how to read it.
macro_rules! functions {
    ($(#[$about:meta])* $table:ident { $($place:literal $name:ident($($argument:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$about])*
        pub(super) struct $table { $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl $table {
            /// Reads DuckDB's table.
            ///
            /// # Safety
            ///
            /// The table has functions in all of the places that are read.
            unsafe fn read(table: *const *const c_void) -> Self {
                $table { $($name: {
                    type Function = unsafe extern "C" fn($($argument),*) $(-> $result)?;
                    unsafe { std::mem::transmute::<*const c_void, Function>(*table.add($place)) }
                },)* }
            }
        }
    };
}

functions! {
    /// What every version since 1.2 has.
    Stable {
        3 connect(Handle, *mut Handle) -> u32;
        6 disconnect(*mut Handle);
        7 library_version() -> Text;
        25 free(*mut c_void);
        26 vector_size() -> u64;
        92 destroy_value(*mut Handle);
        118 get_bool(Handle) -> bool;
        131 get_date(Handle) -> Date;
        136 get_value_type(Handle) -> Handle;
        137 get_blob(Handle) -> Blob;

        149 is_null_value(Handle) -> bool;
        142 get_varchar(Handle) -> *mut c_char;
        151 get_list_size(Handle) -> u64;
        152 get_list_child(Handle, u64) -> Handle;
        156 create_logical_type(u32) -> Handle;
        159 create_list_type(Handle) -> Handle;
        161 create_map_type(Handle, Handle) -> Handle;
        162 create_union_type(*const Handle, *const Text, u64) -> Handle;
        163 create_struct_type(*const Handle, *const Text, u64) -> Handle;
        164 create_enum_type(*const Text, u64) -> Handle;
        165 create_decimal_type(u8, u8) -> Handle;
        166 get_type_id(Handle) -> u32;
        184 destroy_logical_type(*mut Handle);
        189 data_chunk_get_column_count(Handle) -> u64;
        190 data_chunk_get_vector(Handle, u64) -> Handle;
        191 data_chunk_get_size(Handle) -> u64;
        192 data_chunk_set_size(Handle, u64);
        194 vector_get_data(Handle) -> *mut c_void;
        195 vector_get_validity(Handle) -> *mut u64;
        196 vector_ensure_validity_writable(Handle);
        198 vector_assign_string_element_len(Handle, u64, Text, u64);
        199 list_vector_get_child(Handle) -> Handle;
        201 list_vector_set_size(Handle, u64) -> u32;
        202 list_vector_reserve(Handle, u64) -> u32;
        203 struct_vector_get_child(Handle, u64) -> Handle;
        209 create_scalar_function() -> Handle;
        210 destroy_scalar_function(*mut Handle);
        211 scalar_function_set_name(Handle, Text);
        213 scalar_function_set_special_handling(Handle);
        215 scalar_function_add_parameter(Handle, Handle);
        216 scalar_function_set_return_type(Handle, Handle);
        217 scalar_function_set_extra_info(Handle, *mut c_void, Destroy);
        218 scalar_function_set_function(Handle, Evaluate);
        220 scalar_function_get_extra_info(Handle) -> *mut c_void;
        221 scalar_function_set_error(Handle, Text);
        222 create_scalar_function_set(Text) -> Handle;
        223 destroy_scalar_function_set(*mut Handle);
        224 add_scalar_function_to_set(Handle, Handle) -> u32;
        225 register_scalar_function_set(Handle, Handle) -> u32;
        242 create_table_function() -> Handle;
        243 destroy_table_function(*mut Handle);
        244 table_function_set_name(Handle, Text);
        245 table_function_add_parameter(Handle, Handle);
        246 table_function_add_named_parameter(Handle, Text, Handle);
        248 table_function_set_bind(Handle, Call);
        249 table_function_set_init(Handle, Call);
        250 table_function_set_local_init(Handle, Call);
        251 table_function_set_function(Handle, Fill);
        252 table_function_supports_projection_pushdown(Handle, bool);
        253 register_table_function(Handle, Handle) -> u32;
        255 bind_add_result_column(Handle, Text, Handle);
        257 bind_get_parameter(Handle, u64) -> Handle;
        258 bind_get_named_parameter(Handle, Text) -> Handle;
        259 bind_set_bind_data(Handle, *mut c_void, Destroy);
        260 bind_set_cardinality(Handle, u64, bool);
        261 bind_set_error(Handle, Text);
        263 init_get_bind_data(Handle) -> *mut c_void;
        264 init_set_init_data(Handle, *mut c_void, Destroy);
        265 init_get_column_count(Handle) -> u64;
        266 init_get_column_index(Handle, u64) -> u64;
        267 init_set_max_threads(Handle, u64);
        268 init_set_error(Handle, Text);
        270 function_get_bind_data(Handle) -> *mut c_void;
        271 function_get_init_data(Handle) -> *mut c_void;
        272 function_get_local_init_data(Handle) -> *mut c_void;
        273 function_set_error(Handle, Text);
    }
}

functions! {
    /// What DuckDB 2.0 has besides.
    Later {
        431 client_context_get_config_option(Handle, Text, *mut u32) -> Handle;
        469 destroy_error_data(*mut Handle);
        471 error_data_message(Handle) -> Text;
        473 destroy_expression(*mut Handle);
        475 expression_is_foldable(Handle) -> bool;
        476 expression_fold(Handle, Handle, *mut Handle) -> Handle;
        500 client_context_get_connection_id(Handle) -> u64;
        501 destroy_client_context(*mut Handle);
        511 scalar_function_set_bind(Handle, Call);
        512 scalar_function_bind_set_error(Handle, Text);
        513 scalar_function_get_client_context(Handle, *mut Handle);
        514 scalar_function_set_bind_data(Handle, *mut c_void, Destroy);
        516 scalar_function_bind_get_extra_info(Handle) -> *mut c_void;
        518 scalar_function_bind_get_argument(Handle, u64) -> Handle;
        519 scalar_function_set_bind_data_copy(Handle, Copy);
        520 scalar_function_get_state(Handle) -> *mut c_void;
        521 scalar_function_set_init(Handle, Call);
        522 scalar_function_init_set_error(Handle, Text);
        523 scalar_function_init_set_state(Handle, *mut c_void, Destroy);
        525 scalar_function_init_get_bind_data(Handle) -> *mut c_void;
        526 scalar_function_init_get_extra_info(Handle) -> *mut c_void;
        531 table_function_get_client_context(Handle, *mut Handle);
        536 create_vector(Handle, u64) -> Handle;
        537 destroy_vector(*mut Handle);
        539 vector_reference_value(Handle, Handle);
        545 unsafe_vector_assign_string_element_len(Handle, u64, Text, u64);
    }
}

pub(super) struct Api {
    pub(super) stable: Stable,
    pub(super) later: Option<Later>,
    /// The version of DuckDB, such as `v2.0.1`.
    version: String,
}

static API: OnceLock<Api> = OnceLock::new();

/// DuckDB's functions. Nothing of DuckDB calls this extension before it has passed them.
#[inline]
pub(super) fn api() -> &'static Api {
    API.get().expect("the functions of DuckDB, which the entry point got")
}

/// The functions of DuckDB that all versions have.
#[inline]
pub(super) fn stable() -> &'static Stable {
    &api().stable
}

/// Whether DuckDB has the types of times in nanoseconds, and of timestamps in nanoseconds with a time zone.
pub fn has_nanosecond_types() -> bool {
    api().later.is_some()
}

/// Takes the table of functions from DuckDB.
///
/// # Safety
///
/// `info` and `access` are those that DuckDB passed to the entry point.
pub(super) unsafe fn take(info: Handle, access: &Access) -> Result<(), String> {
    let table = |version: &CStr| unsafe { (access.get_api)(info, version.as_ptr()) }.cast::<*const c_void>();
    let first = table(c"v1.2.0");
    if first.is_null() {
        return Err("DuckDB has no C extension API of version 1.2.0; use DuckDB 1.2 or newer".into());
    }
    let stable = unsafe { Stable::read(first) };
    let version = unsafe { CStr::from_ptr((stable.library_version)()) }.to_string_lossy().into_owned();
    let later = if is_at_least(&version, [1, 5, 6]) {
        let whole = table(c"v1.5.6");
        (!whole.is_null()).then(|| unsafe { Later::read(whole) })
    } else {
        None
    };
    let library_version = stable.library_version as usize;
    let kept = API.get_or_init(|| Api { stable, later, version: version.clone() });
    if kept.stable.library_version as usize != library_version {
        return Err(format!(
            "another DuckDB, {}, has loaded this file in the same process; load a copy of the file with another name",
            kept.version
        ));
    }
    Ok(())
}

/// Whether a version of DuckDB, such as `v1.5.6` or `v2.1.0-dev12`, is at least another one.
fn is_at_least(version: &str, least: [u32; 3]) -> bool {
    let mut numbers = version.trim_start_matches('v').split(['.', '-']).map(|part| part.parse().unwrap_or(0u32));
    let found: [u32; 3] = std::array::from_fn(|_| numbers.next().unwrap_or(0));
    found >= least
}

#[cfg(test)]
mod tests {
    use super::is_at_least;

    #[test]
    fn compares_versions() {
        for version in ["v1.5.6", "v2.0.1", "v1.10.0", "v2.1.0-dev12"] {
            assert!(is_at_least(version, [1, 5, 6]), "{version}");
        }
        for version in ["v1.2.0", "v1.4.5", "v1.5.5", ""] {
            assert!(!is_at_least(version, [1, 5, 6]), "{version}");
        }
    }
}
