//! What DuckDB tells about a query's connection.

use super::api::{api, Handle, Later};
use super::value::Value;

/// The connection of a query that is being planned.
pub struct Context {
    handle: Handle,
    functions: &'static Later,
}

impl Context {
    pub(super) fn of(handle: Handle) -> Option<Self> {
        let functions = api().later.as_ref()?;
        (!handle.is_null()).then_some(Context { handle, functions })
    }

    /// The number of the connection.
    pub fn connection(&self) -> u64 {
        unsafe { (self.functions.client_context_get_connection_id)(self.handle) }
    }

    /// Fails if this connection must not read files.
    pub fn require_files(&self) -> Result<(), String> {
        let setting = c"enable_external_access";
        let value = unsafe { (self.functions.client_context_get_config_option)(self.handle, setting.as_ptr(), &mut 0) };
        match Value::of(value).is_some_and(|value| !value.is_null() && !value.is_true()) {
            true => {
                Err("this DuckDB must not read files, as the extension bsdb does: enable_external_access is off".into())
            }
            false => Ok(()),
        }
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { (self.functions.destroy_client_context)(&mut self.handle) };
    }
}
