//! Single values, such as the arguments of table functions.

use std::ffi::CStr;

use super::api::{api, stable, Handle, Later};
use super::types::{LogicalType, Simple};
use super::vector::Strings;

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

    /// The days since 1970 of a date.
    pub fn date(&self) -> Option<i32> {
        (self.type_id() == Simple::Date as u32 && !self.is_null()).then(|| unsafe { (stable().get_date)(self.0) }.days)
    }

    /// The bytes of a BLOB, and of any other value those of its text. In DuckDB 1, text ends at the first NUL.
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
        if let Some(later) = api().later.as_ref().filter(|_| self.type_id() == Simple::Varchar as u32) {
            if let Some(bytes) = self.text_by_vector(later) {
                return bytes;
            }
        }
        let text = unsafe { (stable().get_varchar)(self.0) };
        if text.is_null() {
            return Vec::new();
        }
        let bytes = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        unsafe { (stable().free)(text.cast()) };
        bytes
    }

    /// The bytes of text that is not NULL. DuckDB gives the length of text in vectors alone.
    fn text_by_vector(&self, later: &Later) -> Option<Vec<u8>> {
        let mut vector = unsafe { (later.create_vector)(LogicalType::from(Simple::Varchar).handle(), 1) };
        if vector.is_null() {
            return None;
        }
        unsafe { (later.vector_reference_value)(vector, self.0) };
        let bytes = unsafe { Strings::of(vector, 1) }.get(0).map(<[u8]>::to_vec);
        unsafe { (later.destroy_vector)(&mut vector) };
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
