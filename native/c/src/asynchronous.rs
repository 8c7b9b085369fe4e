//! Lookups that no thread waits for.

use std::ffi::c_void;

use crate::call::call;
use crate::database::bsdb_database;
use crate::error::{bsdb_error, bsdb_status};
use crate::view::bsdb_view;

/// A function that `bsdb_get_async` calls with the answer: with its `context`, the status that `bsdb_get_view` would
/// return, a view, and an error or NULL. What the view holds and the error belong to the function, which releases and
/// frees them, at once or later; `view` itself is valid until the function returns, so it copies the struct to keep it.
///
/// It runs in one of two threads of the library, which all lookups elsewhere need. So it must not wait: it passes the
/// answer on. It may call `bsdb_get_async` and functions that need no pages, but no other lookups, and it must return: no
/// longjmp, no exception.
pub type bsdb_callback = Option<
    unsafe extern "C" fn(context: *mut c_void, status: bsdb_status, view: *const bsdb_view, error: *mut bsdb_error),
>;

/// Looks a key up without waiting, for databases elsewhere: the answer is passed to a function later, or even before
/// this function returns, in another thread. Any number of lookups can be under way; requests are as many at once as the
/// option `requests` says. Of a database in a directory, the lookup runs in the thread that calls the function.
///
/// The key is copied. The lookup holds a reference to the database until just before it calls the function.
///
/// Returns BSDB_OK if the function will be called, once; or an error, and it will not: BSDB_ERROR_UNSUPPORTED if this
/// build reads no databases elsewhere. A forked process gets no answers to what its parent asked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_get_async(
    database: *const bsdb_database,
    key: *const c_void,
    key_length: usize,
    callback: bsdb_callback,
    context: *mut c_void,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let database = crate::database::reader(database)?;
            let Some(callback) = callback else {
                return Err(bsdb_error::null("callback"));
            };
            let key = crate::call::key(key, key_length)?;
            #[cfg(feature = "remote")]
            {
                under_way::start(database.clone(), key.map(<[u8]>::to_vec), callback, context)?;
                Ok(bsdb_status::BSDB_OK)
            }
            #[cfg(not(feature = "remote"))]
            {
                let _ = (database, key, callback, context);
                Err(bsdb_error::without_remote())
            }
        })
    }
}

#[cfg(feature = "remote")]
mod under_way {
    use std::ffi::c_void;
    use std::ptr;
    use std::sync::Arc;

    use reader::{Database, Error};

    use crate::call::failed;
    use crate::error::{bsdb_error, bsdb_status, Failure};
    use crate::view::bsdb_view;

    type Callback = unsafe extern "C" fn(*mut c_void, bsdb_status, *const bsdb_view, *mut bsdb_error);

    /// What waits for an answer. If none comes, because the lookup panicked, the answer is that.
    struct Waiting {
        callback: Callback,
        context: *mut c_void,
        answered: bool,
    }

    // SAFETY: only the callback uses the context, which the header has called by another thread.
    unsafe impl Send for Waiting {}

    impl Waiting {
        fn answer(mut self, found: Result<Option<Vec<u8>>, Failure>) {
            self.pass(found);
        }

        fn pass(&mut self, found: Result<Option<Vec<u8>>, Failure>) {
            self.answered = true;
            let (view, (status, error)) = match found {
                Ok(Some(value)) => (bsdb_view::owning(value), (bsdb_status::BSDB_OK, ptr::null_mut())),
                Ok(None) => (bsdb_view::NONE, (bsdb_status::BSDB_ABSENT, ptr::null_mut())),
                Err(failure) => (bsdb_view::NONE, failed(failure)),
            };
            // SAFETY: the caller of `bsdb_get_async` gave both for this call.
            unsafe { (self.callback)(self.context, status, &view, error) };
        }
    }

    impl Drop for Waiting {
        fn drop(&mut self) {
            if !self.answered {
                self.pass(Err(bsdb_error::internal(&"the lookup panicked")));
            }
        }
    }

    /// Starts a lookup; a key of None is absent. If it cannot start, the callback is not called.
    pub(super) fn start(
        database: Arc<Database>,
        key: Option<Vec<u8>>,
        callback: Callback,
        context: *mut c_void,
    ) -> Result<(), Failure> {
        let waiting = Waiting { callback, context, answered: true };
        let path = database.path().to_owned();
        let lookup = async move {
            let mut waiting = waiting;
            waiting.answered = false;
            let found = match &key {
                Some(key) => database.aget(key).await,
                None => Ok(None),
            };
            drop(database);
            waiting.answer(found.map_err(Failure::from));
        };
        let task = reader::spawn(lookup).map_err(|source| Failure::from(Error::Io { path, source }))?;
        task.detach();
        Ok(())
    }
}
