//! What every function of the interface does at its edge: checks arguments, catches panics, hands errors out.

use std::ffi::{c_char, c_void, CStr};
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::ptr;

use crate::error::{bsdb_error, bsdb_status, Failure};

/// The longest key that a database can have.
const LONGEST_KEY: usize = 65_535;

/// Runs a function of the interface that can fail.
///
/// # Safety
///
/// `error` is null or can be written.
#[inline(always)]
pub(crate) unsafe fn call(
    error: *mut *mut bsdb_error,
    work: impl FnOnce() -> Result<bsdb_status, Failure>,
) -> bsdb_status {
    let (status, failure) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(status)) => (status, ptr::null_mut()),
        Ok(Err(failure)) => failed(failure),
        Err(panic) => failed(bsdb_error::internal(&*panic)),
    };
    if !error.is_null() {
        // SAFETY: not null, so the caller lets it be written.
        unsafe { error.write(failure) };
    } else if !failure.is_null() {
        // SAFETY: `failed` made it, and nobody else has it.
        drop(unsafe { Box::from_raw(failure) });
    }
    status
}

#[cold]
pub(crate) fn failed(failure: Failure) -> (bsdb_status, *mut bsdb_error) {
    (failure.status, Box::into_raw(failure))
}

/// What a pointer points to.
///
/// # Safety
///
/// `pointer` is null, or valid and not written for the time of the call.
#[inline(always)]
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: as the caller says.
    unsafe { pointer.as_ref() }.ok_or_else(|| bsdb_error::null(name))
}

/// Fails if an out parameter is null, and otherwise gives it a value.
///
/// # Safety
///
/// `pointer` is null or can be written.
#[inline(always)]
pub(crate) unsafe fn set<T>(pointer: *mut T, value: T, name: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(bsdb_error::null(name));
    }
    // SAFETY: not null, so the caller lets it be written.
    unsafe { pointer.write(value) };
    Ok(())
}

/// A key, or None if it is too long to be in a database.
///
/// # Safety
///
/// `key` is null, or `length` bytes can be read there for the time of the call.
#[inline(always)]
pub(crate) unsafe fn key<'a>(key: *const c_void, length: usize) -> Result<Option<&'a [u8]>, Failure> {
    if length == 0 {
        return Ok(Some(&[]));
    }
    if key.is_null() {
        return Err(bsdb_error::null("key"));
    }
    if length > LONGEST_KEY {
        return Ok(None);
    }
    // SAFETY: not null, and the caller lets the bytes be read.
    Ok(Some(unsafe { std::slice::from_raw_parts(key.cast(), length) }))
}

/// Bytes of the caller, of any number.
///
/// # Safety
///
/// `pointer` is null, or `length` bytes can be read there for the time of the call.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(pointer: *const c_void, length: usize, name: &str) -> Result<&'a [u8], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(bsdb_error::null(name));
    }
    if length > isize::MAX as usize {
        return Err(bsdb_error::invalid(format!("{name} has {length} bytes")));
    }
    // SAFETY: not null, and the caller lets the bytes be read.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), length) })
}

/// A path: bytes on Unix, UTF-8 elsewhere.
///
/// # Safety
///
/// `path` is null or a string that ends with a zero byte, valid for the time of the call.
pub(crate) unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path, Failure> {
    if path.is_null() {
        return Err(bsdb_error::null("path"));
    }
    // SAFETY: not null, so the caller says that it is a string.
    let path = unsafe { CStr::from_ptr(path) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
    }
    #[cfg(not(unix))]
    {
        path.to_str().map(Path::new).map_err(|e| bsdb_error::invalid(format!("path is not UTF-8: {e}")))
    }
}

/// A text of the caller.
///
/// # Safety
///
/// `text` is null or a string that ends with a zero byte, valid for the time of the call.
pub(crate) unsafe fn utf8<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(bsdb_error::null(name));
    }
    // SAFETY: not null, so the caller says that it is a string.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|e| bsdb_error::invalid(format!("{name} is not UTF-8: {e}")))
}

/// A struct of the interface that begins with its own size, so that later versions can add fields.
///
/// # Safety
///
/// The struct is `repr(C)`, its first field is a `usize`, and any bytes are valid for it.
pub(crate) unsafe trait Growing: Copy {
    /// The name in messages.
    const NAME: &'static str;
    /// The bytes of the first version.
    const FIRST: usize;
}

/// The size that the caller states.
///
/// # Safety
///
/// `pointer` is null or points to a `usize`.
pub(crate) unsafe fn stated_size<T: Growing>(pointer: *const T) -> Result<usize, Failure> {
    // SAFETY: as the caller says; the size is the first field.
    let size = *unsafe { reference(pointer.cast::<usize>(), T::NAME) }?;
    if size < T::FIRST {
        let (name, now) = (T::NAME, size_of::<T>());
        return Err(bsdb_error::invalid(format!("{name}->size is {size}; set it to sizeof(bsdb_{name}), {now}")));
    }
    Ok(size)
}

/// A struct that the caller fills in. Fields that this version does not know must be zero; those that the caller does
/// not know are.
///
/// # Safety
///
/// `from` is null, or points to as many bytes as its first field says.
pub(crate) unsafe fn stated<T: Growing>(from: *const T) -> Result<T, Failure> {
    const MOST: usize = 4096;
    let name = T::NAME;
    // SAFETY: as the caller says.
    let size = unsafe { stated_size(from) }?;
    if size > MOST {
        return Err(bsdb_error::invalid(format!("{name}->size is {size}; set it to sizeof(bsdb_{name})")));
    }
    for at in size_of::<T>()..size {
        // SAFETY: there are `size` bytes.
        if unsafe { from.cast::<u8>().add(at).read() } != 0 {
            return Err(bsdb_error::invalid(format!("byte {at} of {name} is an option that this version lacks")));
        }
    }
    let mut all = MaybeUninit::<T>::zeroed();
    // SAFETY: there are `size` bytes, and any are valid for the struct, so zeros are, too.
    unsafe {
        ptr::copy_nonoverlapping(from.cast::<u8>(), all.as_mut_ptr().cast(), size.min(size_of::<T>()));
        Ok(all.assume_init())
    }
}

/// Fills a struct, except its size, as far as the caller knows its fields.
///
/// # Safety
///
/// `pointer` is null, or points to as many bytes as its first field says, which can be written.
pub(crate) unsafe fn fill<T: Growing>(pointer: *mut T, value: &T) -> Result<(), Failure> {
    // SAFETY: as the caller says.
    let size = unsafe { stated_size(pointer) }?.min(size_of::<T>());
    let skipped = size_of::<usize>();
    // SAFETY: both have `size` bytes, and a value on the stack of this library is not the caller's.
    unsafe {
        ptr::copy_nonoverlapping(
            ptr::from_ref(value).cast::<u8>().add(skipped),
            pointer.cast::<u8>().add(skipped),
            size - skipped,
        );
    }
    Ok(())
}
