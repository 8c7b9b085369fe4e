//! Functions that give tables.

use std::ffi::{c_void, CStr, CString};
use std::marker::PhantomData;
use std::ptr;

use super::api::{api, stable, Handle};
use super::context::Context;
use super::types::LogicalType;
use super::value::Value;
use super::vector::Chunk;
use super::{caught, text, Connection};

/// A function that gives a table.
pub trait TableFunction: 'static {
    const NAME: &'static CStr;
    /// What a call means, found when a query is planned.
    type Bound: Send + Sync;
    /// What the threads of one execution share.
    type Shared: Send + Sync;
    /// What each of them has for itself.
    type Own: Default + Send;

    /// The types of arguments, and the names and types of options.
    fn parameters() -> (Vec<LogicalType>, Vec<(&'static CStr, LogicalType)>);
    /// Declares the columns.
    fn bind(bind: &Bind<'_>) -> Result<Self::Bound, String>;
    /// Begins an execution that wants these columns, and says how many threads can take part.
    fn begin(bound: &Self::Bound, columns: Vec<usize>) -> Result<(Self::Shared, u64), String>;
    /// Writes the next rows, none at the end. Several threads do this at once.
    fn next(
        bound: &Self::Bound,
        shared: &Self::Shared,
        own: &mut Self::Own,
        rows: &mut Chunk<'_>,
    ) -> Result<(), String>;
}

/// A call that is being planned.
pub struct Bind<'a> {
    handle: Handle,
    lent: PhantomData<&'a ()>,
}

impl Bind<'_> {
    pub fn argument(&self, number: u64) -> Option<Value> {
        Value::of(unsafe { (stable().bind_get_parameter)(self.handle, number) })
    }

    /// An option, unless it is missing or NULL.
    pub fn option(&self, name: &CStr) -> Option<Value> {
        let value = Value::of(unsafe { (stable().bind_get_named_parameter)(self.handle, name.as_ptr()) })?;
        (!value.is_null()).then_some(value)
    }

    pub fn add_column(&self, name: &str, kind: &LogicalType) {
        unsafe { (stable().bind_add_result_column)(self.handle, text(name).as_ptr(), kind.handle()) };
    }

    pub fn set_rows(&self, rows: u64, exactly: bool) {
        unsafe { (stable().bind_set_cardinality)(self.handle, rows, exactly) };
    }

    /// The query's connection, if this DuckDB tells it.
    pub fn context(&self) -> Option<Context> {
        let later = api().later.as_ref()?;
        let mut context = ptr::null_mut();
        unsafe { (later.table_function_get_client_context)(self.handle, &mut context) };
        Context::of(context)
    }
}

unsafe extern "C" fn drop_box<T>(pointer: *mut c_void) {
    // A panic in a destructor has nobody to report to.
    let _ = caught(|| {
        drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
        Ok(())
    });
}

unsafe extern "C" fn bind<F: TableFunction>(handle: Handle) {
    let result = caught(|| {
        let bound = F::bind(&Bind { handle, lent: PhantomData })?;
        let bound = Box::into_raw(Box::new(bound)).cast();
        unsafe { (stable().bind_set_bind_data)(handle, bound, drop_box::<F::Bound>) };
        Ok(())
    });
    if let Err(error) = result {
        unsafe { (stable().bind_set_error)(handle, text(&error).as_ptr()) };
    }
}

unsafe extern "C" fn begin<F: TableFunction>(handle: Handle) {
    let result = caught(|| {
        let bound = unsafe { (stable().init_get_bind_data)(handle).cast::<F::Bound>().as_ref() };
        let bound = bound.ok_or("DuckDB began a scan that it has not planned")?;
        let count = unsafe { (stable().init_get_column_count)(handle) };
        let column = |i| unsafe { (stable().init_get_column_index)(handle, i) };
        let columns = (0..count).map(|i| usize::try_from(column(i)).unwrap_or(usize::MAX)).collect();
        let (shared, threads) = F::begin(bound, columns)?;
        let shared = Box::into_raw(Box::new(shared)).cast();
        unsafe { (stable().init_set_init_data)(handle, shared, drop_box::<F::Shared>) };
        unsafe { (stable().init_set_max_threads)(handle, threads) };
        Ok(())
    });
    if let Err(error) = result {
        unsafe { (stable().init_set_error)(handle, text(&error).as_ptr()) };
    }
}

unsafe extern "C" fn begin_thread<F: TableFunction>(handle: Handle) {
    let result = caught(|| {
        let own = Box::into_raw(Box::new(F::Own::default())).cast();
        unsafe { (stable().init_set_init_data)(handle, own, drop_box::<F::Own>) };
        Ok(())
    });
    if let Err(error) = result {
        unsafe { (stable().init_set_error)(handle, text(&error).as_ptr()) };
    }
}

unsafe extern "C" fn next<F: TableFunction>(handle: Handle, chunk: Handle) {
    let result = caught(|| {
        let functions = stable();
        let bound = unsafe { (functions.function_get_bind_data)(handle).cast::<F::Bound>().as_ref() };
        let shared = unsafe { (functions.function_get_init_data)(handle).cast::<F::Shared>().as_ref() };
        let own = unsafe { (functions.function_get_local_init_data)(handle).cast::<F::Own>().as_mut() };
        let (Some(bound), Some(shared), Some(own)) = (bound, shared, own) else {
            return Err("DuckDB continued a scan that it has not begun".into());
        };
        F::next(bound, shared, own, &mut unsafe { Chunk::of(chunk) })
    });
    if let Err(error) = result {
        unsafe { (stable().data_chunk_set_size)(chunk, 0) };
        unsafe { (stable().function_set_error)(handle, text(&error).as_ptr()) };
    }
}

impl Connection {
    pub fn register_table<F: TableFunction>(&self) -> Result<(), String> {
        let functions = stable();
        let (parameters, options) = F::parameters();
        unsafe {
            let mut function = (functions.create_table_function)();
            (functions.table_function_set_name)(function, F::NAME.as_ptr());
            for kind in &parameters {
                (functions.table_function_add_parameter)(function, kind.handle());
            }
            for (name, kind) in &options {
                (functions.table_function_add_named_parameter)(function, name.as_ptr(), kind.handle());
            }
            (functions.table_function_set_bind)(function, bind::<F>);
            (functions.table_function_set_init)(function, begin::<F>);
            (functions.table_function_set_local_init)(function, begin_thread::<F>);
            (functions.table_function_set_function)(function, next::<F>);
            (functions.table_function_supports_projection_pushdown)(function, true);
            let state = (functions.register_table_function)(self.handle(), function);
            (functions.destroy_table_function)(&mut function);
            match state {
                0 => Ok(()),
                _ => Err(refused(F::NAME)),
            }
        }
    }
}

/// Why a function could not be registered.
pub(super) fn refused(name: &CStr) -> String {
    format!("DuckDB refused the function {}", name.to_string_lossy())
}

/// Names for DuckDB, which end at the first NUL.
pub fn name(text: &str) -> CString {
    super::text(text)
}
