//! Statuses and errors.

use std::any::Any;
use std::ffi::{c_char, CString};
use std::ptr;

use reader::{Error, RemoteKind};

use crate::quiet::quiet;
use crate::text::{path_text, text};

/// What came of a call. Errors are negative. Later versions may add errors; treat an unknown negative
/// status as one.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bsdb_status {
    /// It succeeded. For a lookup: there is such a key.
    BSDB_OK = 0,
    /// There is no such key.
    BSDB_ABSENT = 1,
    /// There is such a key, but its value is longer than the buffer.
    BSDB_TOO_SMALL = 2,
    /// A scan has no more records.
    BSDB_END = 3,
    /// The operating system refused an operation on a file. See `bsdb_error_os_code`.
    BSDB_ERROR_IO = -1,
    /// The path or URL is not that of a database, a set of shards or a store.
    BSDB_ERROR_NOT_A_DATABASE = -2,
    /// A file is not as the builder wrote it. See `bsdb_error_offset`.
    BSDB_ERROR_DAMAGED = -3,
    /// The database has a format that this version cannot read.
    BSDB_ERROR_UNSUPPORTED = -4,
    /// The directory holds only some shards of a set, and the key belongs to another one. See
    /// `bsdb_error_shard`.
    BSDB_ERROR_NOT_HELD = -5,
    /// This kind of database cannot answer the question.
    BSDB_ERROR_IMPOSSIBLE = -6,
    /// An argument is wrong: a null pointer, an unknown option.
    BSDB_ERROR_INVALID_ARGUMENT = -7,
    /// The library failed. Please report it.
    BSDB_ERROR_INTERNAL = -8,
    /// There is no memory for a value, or for the answers of a batch: the database can be used as before. Or there
    /// is none for a build.
    BSDB_ERROR_NO_MEMORY = -9,
    /// The listener of a build stopped it.
    BSDB_ERROR_STOPPED = -10,
    /// A key was added twice to a build that keeps neither. See `bsdb_error_duplicate`.
    BSDB_ERROR_DUPLICATE = -11,
    /// A build cannot write where it should: something exists there, and is not what may be replaced.
    BSDB_ERROR_EXISTS = -12,
    /// An object of a database elsewhere is missing, perhaps because the database was replaced or removed: open it
    /// again.
    BSDB_ERROR_REMOTE_MISSING = -13,
    /// There are no credentials for a database elsewhere, or they do not suffice.
    BSDB_ERROR_REMOTE_DENIED = -14,
    /// An object was replaced while the database was open: open it again.
    BSDB_ERROR_REMOTE_CHANGED = -15,
    /// The server answered until the deadline that it is busy.
    BSDB_ERROR_REMOTE_BUSY = -16,
    /// The server did not answer until the deadline.
    BSDB_ERROR_REMOTE_LATE = -17,
    /// There was no connection, or it broke again and again, until the deadline.
    BSDB_ERROR_REMOTE_UNREACHABLE = -18,
    /// The server does not do what is needed, such as sending a part of an object.
    BSDB_ERROR_REMOTE_SERVER = -19,
    /// No trusted key has signed the database, although that was required: see `trust` of `bsdb_options`.
    BSDB_ERROR_UNTRUSTED = -20,
}

/// Why a call failed. Owned by the caller, who frees it with `bsdb_error_free`. Independent of the
/// database: it can be kept for longer.
#[derive(Clone, Debug)]
pub struct bsdb_error {
    pub(crate) status: bsdb_status,
    message: CString,
    path: Option<CString>,
    offset: Option<u64>,
    shard: Option<u32>,
    duplicate: Option<Duplicate>,
    os_code: i32,
}

/// A key that was added twice, and the numbers of its records.
#[derive(Clone, Debug)]
struct Duplicate {
    key: Vec<u8>,
    records: [u64; 2],
}

/// An error on its way to the caller. In a box, so that a result without one is small.
pub(crate) type Failure = Box<bsdb_error>;

impl bsdb_error {
    fn new(status: bsdb_status, message: &str) -> Self {
        bsdb_error {
            status,
            message: text(message.as_bytes()),
            path: None,
            offset: None,
            shard: None,
            duplicate: None,
            os_code: 0,
        }
    }

    /// A wrong argument.
    #[cold]
    pub(crate) fn invalid(message: String) -> Failure {
        Box::new(bsdb_error::new(bsdb_status::BSDB_ERROR_INVALID_ARGUMENT, &message))
    }

    /// A null pointer.
    #[cold]
    pub(crate) fn null(name: &str) -> Failure {
        bsdb_error::invalid(format!("{name} is NULL"))
    }

    /// What this build of the library cannot do.
    #[cold]
    #[cfg(not(feature = "remote"))]
    pub(crate) fn without_remote() -> Failure {
        let message = "this build of the library reads only local directories; install one that reads databases \
            elsewhere: native/c/install.sh without --no-remote";
        Box::new(bsdb_error::new(bsdb_status::BSDB_ERROR_UNSUPPORTED, message))
    }

    /// A panic.
    #[cold]
    pub(crate) fn internal(panic: &(dyn Any + Send)) -> Failure {
        let reason = panic
            .downcast_ref::<&str>()
            .map(|reason| reason.to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Box::new(bsdb_error::new(bsdb_status::BSDB_ERROR_INTERNAL, &format!("internal error: {reason}")))
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Io { .. } => bsdb_status::BSDB_ERROR_IO,
            Error::NotADatabase { .. } => bsdb_status::BSDB_ERROR_NOT_A_DATABASE,
            Error::Damaged { .. } => bsdb_status::BSDB_ERROR_DAMAGED,
            Error::Unsupported { .. } => bsdb_status::BSDB_ERROR_UNSUPPORTED,
            Error::Untrusted { .. } => bsdb_status::BSDB_ERROR_UNTRUSTED,
            Error::NotHeld { .. } => bsdb_status::BSDB_ERROR_NOT_HELD,
            Error::Impossible(_) => bsdb_status::BSDB_ERROR_IMPOSSIBLE,
            Error::NoMemory { .. } => bsdb_status::BSDB_ERROR_NO_MEMORY,
            Error::Argument(_) => bsdb_status::BSDB_ERROR_INVALID_ARGUMENT,
            Error::Stopped => bsdb_status::BSDB_ERROR_STOPPED,
            Error::Duplicate { .. } => bsdb_status::BSDB_ERROR_DUPLICATE,
            Error::Exists { .. } => bsdb_status::BSDB_ERROR_EXISTS,
            Error::Remote { kind, .. } => match kind {
                RemoteKind::Missing => bsdb_status::BSDB_ERROR_REMOTE_MISSING,
                RemoteKind::Denied => bsdb_status::BSDB_ERROR_REMOTE_DENIED,
                RemoteKind::Changed => bsdb_status::BSDB_ERROR_REMOTE_CHANGED,
                RemoteKind::Busy => bsdb_status::BSDB_ERROR_REMOTE_BUSY,
                RemoteKind::Late => bsdb_status::BSDB_ERROR_REMOTE_LATE,
                RemoteKind::Unreachable => bsdb_status::BSDB_ERROR_REMOTE_UNREACHABLE,
                _ => bsdb_status::BSDB_ERROR_REMOTE_SERVER,
            },
            _ => bsdb_status::BSDB_ERROR_INTERNAL,
        };
        let mut failure = bsdb_error::new(status, &error.to_string());
        failure.path = error.path().map(path_text);
        match error {
            Error::Io { source, .. } => failure.os_code = source.raw_os_error().unwrap_or(0),
            Error::Damaged { offset, .. } => failure.offset = Some(offset),
            Error::NotHeld { shard, .. } => failure.shard = Some(shard),
            Error::Duplicate { key, first, second } => {
                failure.duplicate = Some(Duplicate { key, records: [first, second] });
            }
            _ => {}
        }
        Box::new(failure)
    }
}

/// The version of the library, such as "1.1.0". Static: valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn bsdb_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The name of a status, such as "damaged"; "unknown" for a number that is none. Static: valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn bsdb_status_name(status: i32) -> *const c_char {
    const OK: i32 = bsdb_status::BSDB_OK as i32;
    const ABSENT: i32 = bsdb_status::BSDB_ABSENT as i32;
    const TOO_SMALL: i32 = bsdb_status::BSDB_TOO_SMALL as i32;
    const END: i32 = bsdb_status::BSDB_END as i32;
    const IO: i32 = bsdb_status::BSDB_ERROR_IO as i32;
    const NOT_A_DATABASE: i32 = bsdb_status::BSDB_ERROR_NOT_A_DATABASE as i32;
    const DAMAGED: i32 = bsdb_status::BSDB_ERROR_DAMAGED as i32;
    const UNSUPPORTED: i32 = bsdb_status::BSDB_ERROR_UNSUPPORTED as i32;
    const NOT_HELD: i32 = bsdb_status::BSDB_ERROR_NOT_HELD as i32;
    const IMPOSSIBLE: i32 = bsdb_status::BSDB_ERROR_IMPOSSIBLE as i32;
    const INVALID_ARGUMENT: i32 = bsdb_status::BSDB_ERROR_INVALID_ARGUMENT as i32;
    const INTERNAL: i32 = bsdb_status::BSDB_ERROR_INTERNAL as i32;
    const NO_MEMORY: i32 = bsdb_status::BSDB_ERROR_NO_MEMORY as i32;
    const STOPPED: i32 = bsdb_status::BSDB_ERROR_STOPPED as i32;
    const DUPLICATE: i32 = bsdb_status::BSDB_ERROR_DUPLICATE as i32;
    const EXISTS: i32 = bsdb_status::BSDB_ERROR_EXISTS as i32;
    const REMOTE_MISSING: i32 = bsdb_status::BSDB_ERROR_REMOTE_MISSING as i32;
    const REMOTE_DENIED: i32 = bsdb_status::BSDB_ERROR_REMOTE_DENIED as i32;
    const REMOTE_CHANGED: i32 = bsdb_status::BSDB_ERROR_REMOTE_CHANGED as i32;
    const REMOTE_BUSY: i32 = bsdb_status::BSDB_ERROR_REMOTE_BUSY as i32;
    const REMOTE_LATE: i32 = bsdb_status::BSDB_ERROR_REMOTE_LATE as i32;
    const REMOTE_UNREACHABLE: i32 = bsdb_status::BSDB_ERROR_REMOTE_UNREACHABLE as i32;
    const REMOTE_SERVER: i32 = bsdb_status::BSDB_ERROR_REMOTE_SERVER as i32;
    const UNTRUSTED: i32 = bsdb_status::BSDB_ERROR_UNTRUSTED as i32;
    let name = match status {
        OK => c"ok",
        ABSENT => c"absent",
        TOO_SMALL => c"too small",
        END => c"end",
        IO => c"io",
        NOT_A_DATABASE => c"not a database",
        DAMAGED => c"damaged",
        UNSUPPORTED => c"unsupported",
        NOT_HELD => c"not held",
        IMPOSSIBLE => c"impossible",
        INVALID_ARGUMENT => c"invalid argument",
        INTERNAL => c"internal",
        NO_MEMORY => c"no memory",
        STOPPED => c"stopped",
        DUPLICATE => c"duplicate",
        EXISTS => c"exists",
        REMOTE_MISSING => c"object missing",
        REMOTE_DENIED => c"access denied",
        REMOTE_CHANGED => c"object replaced",
        REMOTE_BUSY => c"server busy",
        REMOTE_LATE => c"no answer",
        REMOTE_UNREACHABLE => c"unreachable",
        REMOTE_SERVER => c"unsuitable server",
        UNTRUSTED => c"untrusted",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// The status that the failed call returned; BSDB_OK for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_status(error: *const bsdb_error) -> bsdb_status {
    // SAFETY: null or an error, as the header demands.
    unsafe { error.as_ref() }.map_or(bsdb_status::BSDB_OK, |error| error.status)
}

/// A sentence that says what is wrong, where, and what to do about it; "" for NULL. Ends with a zero
/// byte. Valid until the error is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_message(error: *const bsdb_error) -> *const c_char {
    // SAFETY: null or an error, as the header demands.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// The file or directory that the error is about, or the URL of an object, or NULL if it is about none. Ends with a zero byte.
/// Valid until the error is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_path(error: *const bsdb_error) -> *const c_char {
    // SAFETY: null or an error, as the header demands.
    unsafe { error.as_ref() }.and_then(|error| error.path.as_ref()).map_or(ptr::null(), |path| path.as_ptr())
}

/// Where a file is damaged. If the status is BSDB_ERROR_DAMAGED, sets `*offset` (if `offset` is not NULL)
/// to the byte, counted from the start of the file, and returns true. Otherwise returns false and sets
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_offset(error: *const bsdb_error, offset: *mut u64) -> bool {
    // SAFETY: null or an error, and null or writable, as the header demands.
    unsafe { optional(error.as_ref().and_then(|error| error.offset), offset) }
}

/// The shard that a key belongs to. If the status is BSDB_ERROR_NOT_HELD, sets `*shard` (if `shard` is not
/// NULL) to its number and returns true. Otherwise returns false and sets nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_shard(error: *const bsdb_error, shard: *mut u32) -> bool {
    // SAFETY: null or an error, and null or writable, as the header demands.
    unsafe { optional(error.as_ref().and_then(|error| error.shard), shard) }
}

/// The key that was added twice. If the status is BSDB_ERROR_DUPLICATE, sets `*key` to the bytes of the key, which
/// are valid until the error is freed, `*key_length` to their number, and `*first` and `*second` to the numbers of
/// its first two records, from 0, in the order in which they were added; each may be NULL. Returns true then.
/// Otherwise returns false and sets nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_duplicate(
    error: *const bsdb_error,
    key: *mut *const u8,
    key_length: *mut usize,
    first: *mut u64,
    second: *mut u64,
) -> bool {
    // SAFETY: null or an error, and null or writable, as the header demands.
    unsafe {
        let Some(duplicate) = error.as_ref().and_then(|error| error.duplicate.as_ref()) else { return false };
        optional(Some(duplicate.key.as_ptr()), key);
        optional(Some(duplicate.key.len()), key_length);
        optional(Some(duplicate.records[0]), first);
        optional(Some(duplicate.records[1]), second)
    }
}

/// The operating system's number for the reason, such as ENOENT, if the status is BSDB_ERROR_IO and the
/// system gave one; otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_os_code(error: *const bsdb_error) -> i32 {
    // SAFETY: null or an error, as the header demands.
    unsafe { error.as_ref() }.map_or(0, |error| error.os_code)
}

/// Frees an error, and with it the texts that it returned. Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_error_free(error: *mut bsdb_error) {
    if !error.is_null() {
        // SAFETY: made by `call`, which gave it to the caller.
        quiet((), || drop(unsafe { Box::from_raw(error) }));
    }
}

/// # Safety
///
/// `to` is null or can be written.
unsafe fn optional<T>(value: Option<T>, to: *mut T) -> bool {
    let Some(value) = value else { return false };
    if !to.is_null() {
        // SAFETY: not null, so the caller lets it be written.
        unsafe { to.write(value) };
    }
    true
}
