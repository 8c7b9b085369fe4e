//! Functions that give a value for each row.

use std::ffi::{c_void, CStr};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use super::api::{api, stable, Handle, Later};
use super::context::Context;
use super::table::refused;
use super::types::LogicalType;
use super::value::Value;
use super::vector::{Chunk, Form, Output};
use super::{caught, text, Connection};

/// A function that gives a value for each row, with one signature. It is also called for rows with NULL.
pub trait ScalarFunction: Send + Sync + 'static {
    /// What a call means, found when a query is planned.
    type Bound: Send + Sync;
    /// What each thread of an execution has for itself.
    type State: Send;

    fn parameters(&self) -> Vec<LogicalType>;
    fn result(&self) -> LogicalType;
    /// How the results lie in memory.
    fn form(&self) -> Form;
    fn bind(&self, bind: &ScalarBind<'_>) -> Result<Self::Bound, String>;
    /// Begins an execution in one thread. There is no `bound` if this DuckDB does not bind scalar functions.
    fn begin(&self, bound: Option<&Self::Bound>) -> Result<Self::State, String>;
    fn evaluate(&self, state: &mut Self::State, rows: &Chunk<'_>, results: &mut Output<'_>) -> Result<(), String>;
}

/// A call that is being planned.
pub struct ScalarBind<'a> {
    handle: Handle,
    functions: &'static Later,
    lent: PhantomData<&'a ()>,
}

impl ScalarBind<'_> {
    pub fn context(&self) -> Option<Context> {
        let mut context = ptr::null_mut();
        unsafe { (self.functions.scalar_function_get_client_context)(self.handle, &mut context) };
        Context::of(context)
    }

    /// An argument, if it is the same for all rows.
    pub fn constant(&self, context: &Context, number: u64) -> Result<Option<Value>, String> {
        let functions = self.functions;
        let mut argument = unsafe { (functions.scalar_function_bind_get_argument)(self.handle, number) };
        if argument.is_null() {
            return Ok(None);
        }
        let mut value = ptr::null_mut();
        let mut error = ptr::null_mut();
        if unsafe { (functions.expression_is_foldable)(argument) } {
            error = unsafe { (functions.expression_fold)(context.handle(), argument, &mut value) };
        }
        unsafe { (functions.destroy_expression)(&mut argument) };
        if error.is_null() {
            return Ok(Value::of(value));
        }
        let message = unsafe { CStr::from_ptr((functions.error_data_message)(error)) }.to_string_lossy().into_owned();
        unsafe { (functions.destroy_error_data)(&mut error) };
        Err(message)
    }
}

unsafe extern "C" fn drop_box<T>(pointer: *mut c_void) {
    let _ = caught(|| {
        drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
        Ok(())
    });
}

/// Plans are copied, with the data of bound functions.
unsafe extern "C" fn copy_bound<T>(pointer: *mut c_void) -> *mut c_void {
    match unsafe { pointer.cast::<Arc<T>>().as_ref() } {
        Some(bound) => Box::into_raw(Box::new(bound.clone())).cast(),
        None => ptr::null_mut(),
    }
}

unsafe extern "C" fn bind<F: ScalarFunction>(handle: Handle) {
    let Some(later) = &api().later else { return };
    let result = caught(|| {
        let function = unsafe { (later.scalar_function_bind_get_extra_info)(handle).cast::<F>().as_ref() };
        let function = function.ok_or("DuckDB planned a function that was not registered")?;
        let bound = function.bind(&ScalarBind { handle, functions: later, lent: PhantomData })?;
        let bound = Box::into_raw(Box::new(Arc::new(bound))).cast();
        unsafe { (later.scalar_function_set_bind_data)(handle, bound, drop_box::<Arc<F::Bound>>) };
        unsafe { (later.scalar_function_set_bind_data_copy)(handle, copy_bound::<F::Bound>) };
        Ok(())
    });
    if let Err(error) = result {
        unsafe { (later.scalar_function_bind_set_error)(handle, text(&error).as_ptr()) };
    }
}

unsafe extern "C" fn begin<F: ScalarFunction>(handle: Handle) {
    let Some(later) = &api().later else { return };
    let result = caught(|| {
        let function = unsafe { (later.scalar_function_init_get_extra_info)(handle).cast::<F>().as_ref() };
        let function = function.ok_or("DuckDB began a function that was not registered")?;
        let bound = unsafe { (later.scalar_function_init_get_bind_data)(handle).cast::<Arc<F::Bound>>().as_ref() };
        let state = Box::into_raw(Box::new(function.begin(bound.map(|bound| &**bound))?)).cast();
        unsafe { (later.scalar_function_init_set_state)(handle, state, drop_box::<F::State>) };
        Ok(())
    });
    if let Err(error) = result {
        unsafe { (later.scalar_function_init_set_error)(handle, text(&error).as_ptr()) };
    }
}

unsafe extern "C" fn evaluate<F: ScalarFunction>(handle: Handle, chunk: Handle, results: Handle) {
    let result = caught(|| {
        let function = unsafe { (stable().scalar_function_get_extra_info)(handle).cast::<F>().as_ref() };
        let function = function.ok_or("DuckDB called a function that was not registered")?;
        let state = api()
            .later
            .as_ref()
            .and_then(|later| unsafe { (later.scalar_function_get_state)(handle).cast::<F::State>().as_mut() });
        let rows = unsafe { Chunk::of(chunk) };
        let mut results = unsafe { Output::of(results, function.form(), rows.rows()) };
        match state {
            Some(state) => function.evaluate(state, &rows, &mut results),
            None => function.evaluate(&mut function.begin(None)?, &rows, &mut results),
        }
    });
    if let Err(error) = result {
        unsafe { (stable().scalar_function_set_error)(handle, text(&error).as_ptr()) };
    }
}

impl Connection {
    /// Registers a function with several signatures.
    pub fn register_scalar<F: ScalarFunction>(&self, name: &CStr, signatures: Vec<F>) -> Result<(), String> {
        let functions = stable();
        let mut set = unsafe { (functions.create_scalar_function_set)(name.as_ptr()) };
        for signature in signatures {
            unsafe {
                let mut function = (functions.create_scalar_function)();
                (functions.scalar_function_set_name)(function, name.as_ptr());
                for kind in signature.parameters() {
                    (functions.scalar_function_add_parameter)(function, kind.handle());
                }
                (functions.scalar_function_set_return_type)(function, signature.result().handle());
                (functions.scalar_function_set_special_handling)(function);
                (functions.scalar_function_set_function)(function, evaluate::<F>);
                if let Some(later) = &api().later {
                    (later.scalar_function_set_bind)(function, bind::<F>);
                    (later.scalar_function_set_init)(function, begin::<F>);
                }
                let signature = Box::into_raw(Box::new(signature)).cast();
                (functions.scalar_function_set_extra_info)(function, signature, drop_box::<F>);
                (functions.add_scalar_function_to_set)(set, function);
                (functions.destroy_scalar_function)(&mut function);
            }
        }
        let state = unsafe { (functions.register_scalar_function_set)(self.handle(), set) };
        unsafe { (functions.destroy_scalar_function_set)(&mut set) };
        match state {
            0 => Ok(()),
            _ => Err(refused(name)),
        }
    }
}
