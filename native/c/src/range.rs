//! Records in the order of their keys.

use std::ffi::c_void;
use std::sync::Arc;

use reader::KeyRange;

use crate::call::{call, set, stated, Growing};
use crate::database::{bsdb_database, reader};
use crate::error::{bsdb_error, bsdb_status, Failure};
use crate::scan::bsdb_scan;

/// A flag of `bsdb_range`: the greatest key comes first.
pub const BSDB_RANGE_DESCENDING: u32 = 1;

/// A flag of `bsdb_range`: only keys are wanted. No records are read; in each `bsdb_record`, `value` is NULL.
pub const BSDB_RANGE_KEYS: u32 = 2;

/// A range of keys, which are compared byte by byte as unsigned numbers; a key comes before those that it is the
/// beginning of. Initialize it with BSDB_RANGE, which is all keys, and then set what narrows it. Keys are only
/// read during the call. Later versions add fields at its end; programs that were built with this version still
/// work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_range {
    /// sizeof(bsdb_range).
    pub size: usize,
    /// The least key that can be in the range, or NULL if there is no such bound.
    pub from: *const c_void,
    /// The bytes of `from`; 0 if it is NULL.
    pub from_length: usize,
    /// The least key that is behind the range, or NULL if there is no such bound.
    pub to: *const c_void,
    /// The bytes of `to`; 0 if it is NULL.
    pub to_length: usize,
    /// What keys in the range begin with, or NULL if they can begin with anything.
    pub prefix: *const c_void,
    /// The bytes of `prefix`; 0 if it is NULL.
    pub prefix_length: usize,
    /// 0, or BSDB_RANGE_DESCENDING, BSDB_RANGE_KEYS, or both with `|`.
    pub flags: u32,
}

// SAFETY: repr(C), of integers and pointers, the first of which is a usize.
unsafe impl Growing for bsdb_range {
    const NAME: &'static str = "range";
    const FIRST: usize = size_of::<bsdb_range>();
}

/// The keys and the flags of a range; NULL is all keys.
///
/// # Safety
///
/// `from` is null or what the header demands.
unsafe fn range(from: *const bsdb_range) -> Result<(KeyRange, u32), Failure> {
    let mut keys = KeyRange::all();
    if from.is_null() {
        return Ok((keys, 0));
    }
    // SAFETY: not null, so the caller says that it points to a range, whose pointers are null or keys.
    let range = unsafe {
        let range = stated(from)?;
        if let Some(prefix) = bound(range.prefix, range.prefix_length, "range->prefix")? {
            keys = KeyRange::prefix(prefix);
        }
        if let Some(from) = bound(range.from, range.from_length, "range->from")? {
            keys = keys.from(from);
        }
        if let Some(to) = bound(range.to, range.to_length, "range->to")? {
            keys = keys.to(to);
        }
        range
    };
    if range.flags & !(BSDB_RANGE_DESCENDING | BSDB_RANGE_KEYS) != 0 {
        return Err(bsdb_error::invalid(format!("range->flags is {:#x}, which has unknown flags", range.flags)));
    }
    Ok((keys, range.flags))
}

/// A bound of a range, which may be longer than any key.
///
/// # Safety
///
/// `key` is null, or `length` bytes can be read there for the time of the call.
unsafe fn bound<'a>(key: *const c_void, length: usize, name: &str) -> Result<Option<&'a [u8]>, Failure> {
    if key.is_null() {
        return if length == 0 { Ok(None) } else { Err(bsdb_error::null(name)) };
    }
    if length > isize::MAX as usize {
        return Err(bsdb_error::invalid(format!("{name} has a length of {length}")));
    }
    // SAFETY: not null, and the caller lets the bytes be read.
    Ok(Some(unsafe { std::slice::from_raw_parts(key.cast(), length) }))
}

/// Whether the order of the keys was stored (`bsdb build --ordered`), which `bsdb_scan_range` and `bsdb_count`
/// need. False for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_is_ordered(database: *const bsdb_database) -> bool {
    // SAFETY: null or a database, as the header demands.
    unsafe { database.as_ref() }.is_some_and(|database| database.reader.is_ordered())
}

/// Starts a scan of the records of a range, in the order of their keys; in a set, those of all shards that are
/// held, merged.
///
/// `range` may be NULL for all keys. Sets `*scan` to a scan that the caller closes with `bsdb_scan_close`, or to
/// NULL on an error. Returns BSDB_OK or an error: BSDB_ERROR_IMPOSSIBLE if the order of the keys was not stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_scan_range(
    database: *const bsdb_database,
    range: *const bsdb_range,
    scan: *mut *mut bsdb_scan,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(scan, std::ptr::null_mut(), "scan")?;
            let database = Arc::clone(reader(database)?);
            let (keys, flags) = self::range(range)?;
            let opened =
                bsdb_scan::of_range(database, keys, flags & BSDB_RANGE_DESCENDING != 0, flags & BSDB_RANGE_KEYS != 0)?;
            scan.write(Box::into_raw(Box::new(opened)));
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Counts the keys in a range, without going through them. Its flags do not matter; `range` may be NULL for all
/// keys.
///
/// Sets `*count`, to 0 on an error. Returns BSDB_OK or an error: BSDB_ERROR_IMPOSSIBLE if the order of the keys
/// was not stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_count(
    database: *const bsdb_database,
    range: *const bsdb_range,
    count: *mut u64,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(count, 0, "count")?;
            let database = reader(database)?;
            let (keys, _) = self::range(range)?;
            count.write(database.count(&keys)?);
            Ok(bsdb_status::BSDB_OK)
        })
    }
}
