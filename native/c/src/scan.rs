//! The records of a database, one after the other.

use std::ptr;
use std::sync::Arc;

use reader::{Database, KeyRange, Keys, Range, Scan};

use crate::call::{call, set};
use crate::database::{bsdb_database, reader};
use crate::error::{bsdb_error, bsdb_status, Failure};
use crate::quiet::quiet;

/// A scan: goes through the records of a database, all or those of a range. Holds a reference to the database. One
/// thread at a time.
pub struct bsdb_scan {
    /// Borrows from `database`. Declared before it, so that it is dropped first.
    records: Records<'static>,
    /// What the last call lent.
    record: Record,
    /// The error that ended the scan.
    failure: Option<Failure>,
    /// Whether a call is under way, or panicked.
    running: bool,
    _database: Arc<Database>,
}

/// A key, and its value if it was read.
type Record = (Vec<u8>, Option<Vec<u8>>);

/// Where records come from.
enum Records<'db> {
    All(Scan<'db>),
    Range(Range<'db>),
    /// Keys without values.
    Keys(Keys<'db>),
}

impl Records<'_> {
    fn next(&mut self) -> Option<reader::Result<Record>> {
        let whole = |record: reader::Result<_>| record.map(|(key, value)| (key, Some(value)));
        match self {
            Records::All(scan) => scan.next().map(whole),
            Records::Range(range) => range.next().map(whole),
            Records::Keys(keys) => keys.next().map(|key| key.map(|key| (key, None))),
        }
    }
}

impl bsdb_scan {
    fn new(
        database: Arc<Database>,
        records: impl FnOnce(&Database) -> reader::Result<Records<'_>>,
    ) -> Result<Self, Failure> {
        let records = records(&database)?;
        // SAFETY: the records borrow the database, which stays in its place and is not dropped as long as the
        // reference beside them exists.
        let records = unsafe { std::mem::transmute::<Records<'_>, Records<'static>>(records) };
        Ok(bsdb_scan { records, record: Default::default(), failure: None, running: false, _database: database })
    }

    /// A scan of a range.
    pub(crate) fn of_range(
        database: Arc<Database>,
        keys: KeyRange,
        descending: bool,
        keys_alone: bool,
    ) -> Result<Self, Failure> {
        bsdb_scan::new(database, |database| {
            let range = database.range(keys)?;
            let range = if descending { range.descending() } else { range };
            Ok(if keys_alone { Records::Keys(range.keys()) } else { Records::Range(range) })
        })
    }

    fn advance(&mut self) -> Result<bool, Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if std::mem::replace(&mut self.running, true) {
            return Err(bsdb_error::internal(&"an earlier call failed"));
        }
        let next = self.records.next();
        self.running = false;
        self.record = match next {
            Some(Ok(record)) => record,
            Some(Err(error)) => {
                let failure = Failure::from(error);
                self.failure = Some(failure.clone());
                return Err(failure);
            }
            None => return Ok(false),
        };
        Ok(true)
    }
}

const _: () = {
    const fn movable<T: Send>() {}
    movable::<bsdb_scan>()
};

/// A record of a scan. The pointers are valid until the next call of `bsdb_scan_next` or `bsdb_scan_close`
/// with the scan. They are not NULL, even if a length is 0; only a scan of keys alone has no values.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_record {
    /// The key.
    pub key: *const u8,
    /// The bytes of the key.
    pub key_length: usize,
    /// The value.
    pub value: *const u8,
    /// The bytes of the value.
    pub value_length: usize,
}

impl bsdb_record {
    const NONE: bsdb_record = bsdb_record { key: ptr::null(), key_length: 0, value: ptr::null(), value_length: 0 };
}

/// Starts a scan of all records: in the order of the build's input, or in that of signatures in the packed
/// layouts. Shards follow each other.
///
/// Sets `*scan` to a scan that the caller closes with `bsdb_scan_close`, or to NULL on an error. Returns
/// BSDB_OK or an error: BSDB_ERROR_IMPOSSIBLE for an approximate database, which keeps no keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_scan_open(
    database: *const bsdb_database,
    scan: *mut *mut bsdb_scan,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(scan, ptr::null_mut(), "scan")?;
            let opened = bsdb_scan::new(Arc::clone(reader(database)?), |database| database.scan().map(Records::All))?;
            scan.write(Box::into_raw(Box::new(opened)));
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Moves on to the next record.
///
/// Returns BSDB_OK and sets `*record`; BSDB_END after the last record; or an error, after which the scan is
/// over and each further call returns the same error. Sets `*record` to NULL and 0 unless it returns BSDB_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_scan_next(
    scan: *mut bsdb_scan,
    record: *mut bsdb_record,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the scan.
    unsafe {
        call(error, || {
            set(record, bsdb_record::NONE, "record")?;
            let scan = scan.as_mut().ok_or_else(|| bsdb_error::null("scan"))?;
            if !scan.advance()? {
                return Ok(bsdb_status::BSDB_END);
            }
            let (key, value) = &scan.record;
            record.write(bsdb_record {
                key: key.as_ptr(),
                key_length: key.len(),
                value: value.as_ref().map_or(ptr::null(), |value| value.as_ptr()),
                value_length: value.as_ref().map_or(0, Vec::len),
            });
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Ends a scan at any point, and drops its reference to the database. Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_scan_close(scan: *mut bsdb_scan) {
    if !scan.is_null() {
        // SAFETY: made by `bsdb_scan_open`, which gave it to the caller.
        quiet((), || drop(unsafe { Box::from_raw(scan) }));
    }
}
