//! DuckDB's types.

use std::ffi::{c_char, CString};

use super::api::{stable, Handle};

/// A type that has no parameters, by DuckDB's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Simple {
    Boolean = 1,
    Integer = 4,
    Bigint = 5,
    Float = 10,
    Double = 11,
    Timestamp = 12,
    Date = 13,
    Time = 14,
    Interval = 15,
    Hugeint = 16,
    Varchar = 17,
    Blob = 18,
    TimestampNanos = 22,
    Uuid = 27,
    TimestampTz = 31,
    Any = 34,
    Null = 36,
    TimeNanos = 39,
    TimestampTzNanos = 42,
}

/// A type of DuckDB.
pub struct LogicalType(Handle);

impl From<Simple> for LogicalType {
    fn from(simple: Simple) -> Self {
        LogicalType(unsafe { (stable().create_logical_type)(simple as u32) })
    }
}

impl LogicalType {
    pub fn decimal(precision: u8, scale: u8) -> Self {
        LogicalType(unsafe { (stable().create_decimal_type)(precision, scale) })
    }

    pub fn list(items: &LogicalType) -> Self {
        LogicalType(unsafe { (stable().create_list_type)(items.0) })
    }

    pub fn map(keys: &LogicalType, values: &LogicalType) -> Self {
        LogicalType(unsafe { (stable().create_map_type)(keys.0, values.0) })
    }

    /// Of at least one member.
    pub fn structure(members: &[(CString, LogicalType)]) -> Self {
        let (types, names) = handles(members);
        LogicalType(unsafe { (stable().create_struct_type)(types.as_ptr(), names.as_ptr(), names.len() as u64) })
    }

    /// Of at least one member.
    pub fn union(members: &[(CString, LogicalType)]) -> Self {
        let (types, names) = handles(members);
        LogicalType(unsafe { (stable().create_union_type)(types.as_ptr(), names.as_ptr(), names.len() as u64) })
    }

    /// Of at least one symbol.
    pub fn enumeration(symbols: &[CString]) -> Self {
        let names: Vec<*const c_char> = symbols.iter().map(|symbol| symbol.as_ptr()).collect();
        LogicalType(unsafe { (stable().create_enum_type)(names.as_ptr(), names.len() as u64) })
    }

    pub(super) fn handle(&self) -> Handle {
        self.0
    }

    /// Whether DuckDB accepted the parameters of the type.
    pub fn is_valid(&self) -> bool {
        !self.0.is_null() && unsafe { (stable().get_type_id)(self.0) } != 0
    }
}

fn handles(members: &[(CString, LogicalType)]) -> (Vec<Handle>, Vec<*const c_char>) {
    members.iter().map(|(name, kind)| (kind.0, name.as_ptr())).unzip()
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        if !self.0.is_null() {
            unsafe { (stable().destroy_logical_type)(&mut self.0) };
        }
    }
}
