//! Single values, such as the arguments of table functions.

use std::ffi::CStr;

use super::api::{stable, Handle};
use super::types::Simple;

/// A value that belongs to this extension.
pub struct Value(Handle);

impl Value {
    /// Takes a value that DuckDB has created; none if it has not.
    pub(super) fn of(handle: Handle) -> Option<Self> {
        (!handle.is_null()).then_some(Value(handle))
    }

    pub fn is_null(&self) -> bool {
        unsafe { (stable().is_null_value)(self.0) }
    }

    fn type_id(&self) -> u32 {
        // The type belongs to the value.
        unsafe { (stable().get_type_id)((stable().get_value_type)(self.0)) }
    }

    pub fn is_list(&self) -> bool {
        const LIST: u32 = 24;
        self.type_id() == LIST
    }

    pub fn is_true(&self) -> bool {
        !self.is_null() && unsafe { (stable().get_bool)(self.0) }
    }

    /// The bytes of a BLOB, and of any other value those of its text.
    pub fn bytes(&self) -> Vec<u8> {
        if self.type_id() == Simple::Blob as u32 {
            let blob = unsafe { (stable().get_blob)(self.0) };
            if blob.data.is_null() {
                return Vec::new();
            }
            let bytes = unsafe { std::slice::from_raw_parts(blob.data.cast::<u8>(), blob.size as usize) }.to_vec();
            unsafe { (stable().free)(blob.data) };
            return bytes;
        }
        let text = unsafe { (stable().get_varchar)(self.0) };
        if text.is_null() {
            return Vec::new();
        }
        let bytes = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        unsafe { (stable().free)(text.cast()) };
        bytes
    }

    /// The text of a value.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// The items of a list.
    pub fn items(&self) -> impl Iterator<Item = Value> + '_ {
        let count = unsafe { (stable().get_list_size)(self.0) };
        (0..count).filter_map(|i| Value::of(unsafe { (stable().get_list_child)(self.0, i) }))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        unsafe { (stable().destroy_value)(&mut self.0) };
    }
}
