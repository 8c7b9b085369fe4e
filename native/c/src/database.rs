//! Databases: opening, facts, lookups into a buffer.

use std::ffi::{c_char, c_void, CString};
use std::mem::offset_of;
use std::ptr;
use std::sync::Arc;

use reader::{Database, Verified};

use crate::call::{call, fill, key, path, reference, set, Growing};
use crate::error::{bsdb_error, bsdb_status, Failure};
use crate::options::{bsdb_options, options};
use crate::quiet::quiet;
use crate::text::{path_text, text};

/// An open database, set of shards or part of a set. Counted: `bsdb_retain` and `bsdb_close`. Any number of
/// threads can use it at once.
pub struct bsdb_database {
    pub(crate) reader: Arc<Database>,
    id: CString,
    path: CString,
    layout: CString,
    hash_kind: CString,
    /// With a zero byte at its end, which does not count.
    schema: Option<Box<[u8]>>,
    /// The name of the type of elements.
    element: Option<CString>,
}

impl bsdb_database {
    pub(crate) fn new(reader: Arc<Database>) -> Self {
        let schema = reader.schema().map(|schema| schema.bytes().chain([0]).collect());
        bsdb_database {
            id: text(reader.id().as_bytes()),
            path: path_text(reader.path()),
            layout: text(reader.layout().name().as_bytes()),
            hash_kind: text(reader.statistics().hash_kind.as_bytes()),
            schema,
            element: reader.elements().map(|elements| text(elements.element.name().as_bytes())),
            reader,
        }
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<bsdb_database>()
};

/// Facts about a database, from its manifest. Set `size` before the call. Later versions add fields at its
/// end; programs that were built with this version still work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_statistics {
    /// sizeof(bsdb_statistics), set by the caller.
    pub size: usize,
    /// Records that lookups can find; of a set that is held in part, those of the shards that are held.
    pub records: u64,
    /// Records that were dropped in favor of another one with the same key.
    pub duplicates_dropped: u64,
    /// Bytes of all keys given to the build.
    pub key_bytes: u64,
    /// Bytes of all values given to the build, before compression or truncation.
    pub value_bytes: u64,
    /// Length of the longest key.
    pub longest_key: u64,
    /// Length of the longest value. A buffer of this length suffices for `bsdb_get`.
    pub longest_value: u64,
    /// Bytes kept of a value in approximate mode, otherwise 0.
    pub kept_bytes: u64,
    /// Number of files, manifests included.
    pub files: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Shards of the whole set; 1 without shards.
    pub shards: u32,
    /// Shards that are held.
    pub shards_held: u32,
    /// Checksum bits of the hash function for each record.
    pub checksum_bits: u32,
    /// 1 if values are kept in the index, without keys, otherwise 0. A lookup of an absent key may then
    /// return another key's value, and values may be cut short.
    pub approximate: u32,
    /// 1 if there is a filter of absent keys, otherwise 0.
    pub filter: u32,
    /// 1 if blocks are compressed with a dictionary, otherwise 0.
    pub dictionary: u32,
    /// How records are stored, as `bsdb_layout` says. Valid as long as the database.
    pub layout: *const c_char,
    /// The kind of the minimal perfect hash function: "gov3-bucketed", "ptr" or "none". Valid as long as the
    /// database.
    pub hash_kind: *const c_char,
}

// SAFETY: repr(C), of integers and pointers, the first of which is a usize.
unsafe impl Growing for bsdb_statistics {
    const NAME: &'static str = "statistics";
    const FIRST: usize = size_of::<bsdb_statistics>();
}

/// What `bsdb_verify` went through. Set `size` before the call. Later versions add fields at its end;
/// programs that were built with this version still work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_verified {
    /// sizeof(bsdb_verified), set by the caller.
    pub size: usize,
    /// Records that were looked up; 0 in approximate mode, which keeps no keys.
    pub records: u64,
    /// Files that were read, without manifests.
    pub files: u64,
    /// Pages that were checked.
    pub pages: u64,
    /// 1 if all files have the content hashes of the manifest, 0 if an older version wrote the database without them.
    pub content_checked: u64,
}

// SAFETY: repr(C), of integers, the first of which is a usize.
unsafe impl Growing for bsdb_verified {
    const NAME: &'static str = "verified";
    const FIRST: usize = offset_of!(bsdb_verified, content_checked);
}

/// Opens a database, a set of shards, or the current version of a store. Takes the same time for every size
/// of a database; one elsewhere takes three to six requests, and the time to fetch its index or hash function.
///
/// `path` is a directory: bytes on Unix, UTF-8 on Windows. Or it is the URL of one that is elsewhere, which is then read
/// where it lies: s3://bucket/path, gs://bucket/path, az://container/path,
/// abfss://container@account.dfs.core.windows.net/path, or https://host/path for any web server that sends ranges
/// (see `bsdb_has_remote`). `options` may be NULL for the defaults. Sets
/// `*database` to a reference that the caller drops with `bsdb_close`, or to NULL on an error. Returns
/// BSDB_OK or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_open(
    path: *const c_char,
    options: *const bsdb_options,
    database: *mut *mut bsdb_database,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(database, ptr::null_mut(), "database")?;
            let reader = Database::open_with(self::path(path)?, self::options(options)?)?;
            database.write(lend(Arc::new(bsdb_database::new(Arc::new(reader)))));
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// A reference for the caller.
pub(crate) fn lend(database: Arc<bsdb_database>) -> *mut bsdb_database {
    Arc::into_raw(database).cast_mut()
}

/// Adds a reference to a database, to be dropped with `bsdb_close`. Returns its argument, also if it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_retain(database: *mut bsdb_database) -> *mut bsdb_database {
    if !database.is_null() {
        // SAFETY: made by `lend`, and the caller has a reference.
        unsafe { Arc::increment_strong_count(database.cast_const()) };
    }
    database
}

/// Drops a reference to a database. Closes the database if it was the last one: then its files are closed
/// and unmapped, and views into it and texts of it are no longer valid. Scans go on, since each has a
/// reference. The caller must not use the reference again. Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_close(database: *mut bsdb_database) {
    if !database.is_null() {
        // SAFETY: made by `lend`, and the caller gives up a reference.
        quiet((), || drop(unsafe { Arc::from_raw(database.cast_const()) }));
    }
}

/// The number of records that lookups can find; of a set that is held in part, those of the shards that are
/// held. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_record_count(database: *const bsdb_database) -> u64 {
    // SAFETY: null or a database, as the header demands.
    quiet(0, || unsafe { database.as_ref() }.map_or(0, |database| database.reader.len()))
}

/// The id of the database or set: 32 hexadecimal digits that depend on every byte of it. NULL for NULL. Ends
/// with a zero byte. Valid until the database is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_id(database: *const bsdb_database) -> *const c_char {
    // SAFETY: null or a database, as the header demands.
    unsafe { database.as_ref() }.map_or(ptr::null(), |database| database.id.as_ptr())
}

/// The directory or URL of the database; of a store, that of the version. NULL for NULL. Ends with a zero byte.
/// Valid until the database is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_path(database: *const bsdb_database) -> *const c_char {
    // SAFETY: null or a database, as the header demands.
    unsafe { database.as_ref() }.map_or(ptr::null(), |database| database.path.as_ptr())
}

/// How records are stored: "blocked", "compact", "compressed", "packed", "packed-compressed", or "none" for
/// an approximate database. NULL for NULL. Ends with a zero byte. Valid until the database is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_layout(database: *const bsdb_database) -> *const c_char {
    // SAFETY: null or a database, as the header demands.
    unsafe { database.as_ref() }.map_or(ptr::null(), |database| database.layout.as_ptr())
}

/// The schema of typed rows as JSON, or NULL if values are no rows or the database is NULL. If `length` is
/// not NULL, sets `*length` to its bytes, without the zero byte at its end. Valid until the database is
/// closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_schema(database: *const bsdb_database, length: *mut usize) -> *const c_char {
    // SAFETY: null or a database, as the header demands.
    let schema = unsafe { database.as_ref() }.and_then(|database| database.schema.as_deref());
    if !length.is_null() {
        // SAFETY: not null, so it can be written.
        unsafe { length.write(schema.map_or(0, |schema| schema.len() - 1)) };
    }
    schema.map_or(ptr::null(), |schema| schema.as_ptr().cast())
}

/// The type of the elements of values, if all of these are vectors of one length: "f16", "f32", "f64", "i8", "u8",
/// "i16", "i32" or "i64", little-endian. NULL if they are not, or the database is NULL. If `count` is not NULL,
/// sets `*count` to the number of elements of each value, and to 0 if they are no vectors. Valid until the database
/// is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_value_elements(database: *const bsdb_database, count: *mut usize) -> *const c_char {
    // SAFETY: null or a database, as the header demands.
    let database = unsafe { database.as_ref() };
    if !count.is_null() {
        let elements = database.and_then(|database| database.reader.elements());
        // SAFETY: not null, so it can be written.
        unsafe { count.write(elements.map_or(0, |elements| elements.count)) };
    }
    database.and_then(|database| database.element.as_ref()).map_or(ptr::null(), |element| element.as_ptr())
}

/// Fills `statistics`, whose `size` the caller has set. Returns BSDB_OK or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_get_statistics(
    database: *const bsdb_database,
    statistics: *mut bsdb_statistics,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let database = reference(database, "database")?;
            let facts = database.reader.statistics();
            let filled = bsdb_statistics {
                size: 0,
                records: facts.records,
                duplicates_dropped: facts.duplicates_dropped,
                key_bytes: facts.key_bytes,
                value_bytes: facts.value_bytes,
                longest_key: facts.longest_key,
                longest_value: facts.longest_value,
                kept_bytes: facts.kept_bytes as u64,
                files: facts.files,
                file_bytes: facts.file_bytes,
                shards: facts.shards,
                shards_held: facts.shards_held,
                checksum_bits: facts.checksum_bits,
                approximate: facts.approximate.into(),
                filter: facts.filter.into(),
                dictionary: facts.dictionary.into(),
                layout: database.layout.as_ptr(),
                hash_kind: database.hash_kind.as_ptr(),
            };
            fill(statistics, &filled)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Checks every byte of every file, and that each record is found by its key. Reads the whole database.
///
/// `verified` may be NULL; otherwise the caller has set its `size`, and it is filled on success. Returns
/// BSDB_OK if all is well, otherwise the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_verify(
    database: *const bsdb_database,
    verified: *mut bsdb_verified,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            verify(database, verified, Database::verify)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Checks the bytes alone: that all files have the content hashes of the manifest, so that the database is the one whose
/// id it has, and whose signature, if that was required. Reads each file once, and looks up no key.
///
/// Arguments and result are those of `bsdb_verify`. If an older version wrote the database without content hashes, it is
/// BSDB_ERROR_IMPOSSIBLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_verify_content(
    database: *const bsdb_database,
    verified: *mut bsdb_verified,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            verify(database, verified, Database::verify_content)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Verifies a database in one of two ways.
///
/// # Safety
///
/// Each pointer is null or what the header demands of `bsdb_verify`.
unsafe fn verify(
    database: *const bsdb_database,
    verified: *mut bsdb_verified,
    how: fn(&Database) -> reader::Result<Verified>,
) -> Result<(), Failure> {
    // SAFETY: as the caller says.
    unsafe {
        let database = reference(database, "database")?;
        if !verified.is_null() {
            crate::call::stated_size(verified)?;
        }
        let Verified { records, files, pages, content_checked, .. } = how(&database.reader)?;
        if !verified.is_null() {
            fill(verified, &bsdb_verified { size: 0, records, files, pages, content_checked: content_checked.into() })?;
        }
    }
    Ok(())
}

/// Copies the value of a key to a buffer.
///
/// `buffer` has room for `capacity` bytes; it may be NULL if `capacity` is 0. `length` may be NULL; otherwise
/// `*length` is set to the length of the value, and to 0 if there is none.
///
/// Returns BSDB_OK if the value was copied; BSDB_TOO_SMALL if it is longer than `capacity`, with the buffer
/// untouched and `*length` set; BSDB_ABSENT if there is no such key; or an error. An empty value is a value:
/// BSDB_OK with a length of 0. Values in approximate mode may be another key's, or cut short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_get(
    database: *const bsdb_database,
    key: *const c_void,
    key_length: usize,
    buffer: *mut c_void,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let say = |value: usize| {
                if !length.is_null() {
                    length.write(value);
                }
            };
            say(0);
            let database = reference(database, "database")?;
            if buffer.is_null() && capacity > 0 {
                return Err(bsdb_error::null("buffer"));
            }
            let Some(key) = self::key(key, key_length)? else {
                return Ok(bsdb_status::BSDB_ABSENT);
            };
            let found = database.reader.find(key, |value| {
                say(value.len());
                if value.len() > capacity {
                    return bsdb_status::BSDB_TOO_SMALL;
                }
                if !value.is_empty() {
                    ptr::copy_nonoverlapping(value.as_ptr(), buffer.cast(), value.len());
                }
                bsdb_status::BSDB_OK
            })?;
            Ok(found.unwrap_or(bsdb_status::BSDB_ABSENT))
        })
    }
}

/// Whether there is a key: BSDB_OK if there is, BSDB_ABSENT if there is not, or an error. In approximate mode
/// the answer may be BSDB_OK for an absent key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_contains(
    database: *const bsdb_database,
    key: *const c_void,
    key_length: usize,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let database = reference(database, "database")?;
            let there = match self::key(key, key_length)? {
                Some(key) => database.reader.contains(key)?,
                None => false,
            };
            Ok(if there { bsdb_status::BSDB_OK } else { bsdb_status::BSDB_ABSENT })
        })
    }
}

/// The database that a call is about.
///
/// # Safety
///
/// `database` is null or a database.
#[inline(always)]
pub(crate) unsafe fn reader<'a>(database: *const bsdb_database) -> Result<&'a Arc<Database>, Failure> {
    // SAFETY: as the caller says.
    Ok(&unsafe { reference(database, "database") }?.reader)
}
