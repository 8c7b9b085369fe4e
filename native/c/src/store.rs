//! Stores.

use std::ffi::c_char;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use reader::Store;

use crate::call::{call, path, reference, set};
use crate::database::{bsdb_database, lend};
use crate::error::{bsdb_error, bsdb_status};
use crate::options::{bsdb_options, options};
use crate::quiet::quiet;

/// A store whose current version is followed. Any number of threads can use it at once.
///
/// Lookups go to a version that the caller acquires; `bsdb_store_refresh` switches later callers to a new
/// one. A version is closed when its last reference is dropped.
pub struct bsdb_store {
    store: Store,
    /// What is lent: one for all that acquire a version.
    current: Mutex<Arc<bsdb_database>>,
}

impl bsdb_store {
    fn new(store: Store) -> Self {
        let current = Mutex::new(Arc::new(bsdb_database::new(store.database())));
        bsdb_store { store, current }
    }

    fn current(&self) -> Arc<bsdb_database> {
        let mut held = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked for under the lock, so that an earlier version never replaces a later one.
        let database = self.store.database();
        if Arc::ptr_eq(&held.reader, &database) {
            return held.clone();
        }
        let current = Arc::new(bsdb_database::new(database));
        let earlier = std::mem::replace(&mut *held, current.clone());
        drop(held);
        drop(earlier);
        current
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<bsdb_store>()
};

/// Opens the current version of a store.
///
/// `path` is a directory or a URL, as in `bsdb_open`. `options` may be NULL for the defaults; they also hold for later versions.
/// Sets `*store` to a store that the caller closes with `bsdb_store_close`, or to NULL on an error. Returns
/// BSDB_OK or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_store_open(
    path: *const c_char,
    options: *const bsdb_options,
    store: *mut *mut bsdb_store,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(store, ptr::null_mut(), "store")?;
            let opened = Store::open_with(self::path(path)?, self::options(options)?)?;
            store.write(Box::into_raw(Box::new(bsdb_store::new(opened))));
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Switches to the current version of the store if it is another one, or another database under the same
/// name. References to the earlier version stay valid. A store elsewhere takes two requests, and a switch those of an
/// open.
///
/// If `changed` is not NULL, sets `*changed` to whether it switched. Returns BSDB_OK or an error, after which
/// the version before stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_store_refresh(
    store: *const bsdb_store,
    changed: *mut bool,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let say = |value: bool| {
                if !changed.is_null() {
                    changed.write(value);
                }
            };
            say(false);
            let store = reference(store, "store")?;
            if store.store.refresh()? {
                // So that the store does not keep the earlier version open.
                drop(store.current());
                say(true);
            }
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// The version that was current when the store was opened or last refreshed: one for all lookups of a
/// request. `bsdb_path` names it.
///
/// Sets `*database` to a reference that the caller drops with `bsdb_close`, and that stays valid when the
/// store is refreshed or closed; or to NULL on an error. Returns BSDB_OK or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_store_acquire(
    store: *const bsdb_store,
    database: *mut *mut bsdb_database,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(database, ptr::null_mut(), "database")?;
            let store = reference(store, "store")?;
            database.write(lend(store.current()));
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Closes a store. Versions that were acquired stay open until their references are dropped. No other thread
/// may use the store any more. Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_store_close(store: *mut bsdb_store) {
    if !store.is_null() {
        // SAFETY: made by `bsdb_store_open`, which gave it to the caller.
        quiet((), || drop(unsafe { Box::from_raw(store) }));
    }
}
