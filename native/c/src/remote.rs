//! How databases elsewhere are read, and what that takes.

use std::ffi::c_char;
use std::ptr;

#[cfg(feature = "remote")]
use reader::Remote;

use crate::call::{call, fill, reference, utf8, Growing};
use crate::database::{bsdb_database, reader};
use crate::error::{bsdb_error, bsdb_status};
use crate::quiet::quiet;

/// How to read a database that is elsewhere: credentials, and limits. One thread at a time changes it.
#[derive(Default)]
pub struct bsdb_remote {
    #[cfg(feature = "remote")]
    remote: Remote,
}

const _: () = {
    const fn movable<T: Send>() {}
    movable::<bsdb_remote>()
};

impl bsdb_remote {
    /// Options to open a database with.
    ///
    /// # Safety
    ///
    /// `remote` is null or was made by `bsdb_remote_new`.
    pub(crate) unsafe fn apply(remote: *const bsdb_remote, options: reader::Options) -> reader::Options {
        // SAFETY: as the caller says.
        match unsafe { remote.as_ref() } {
            #[cfg(feature = "remote")]
            Some(bsdb_remote { remote }) => options.remote(remote.clone()),
            _ => options,
        }
    }
}

/// Whether this build of the library reads databases elsewhere. If not, their URLs are errors.
#[unsafe(no_mangle)]
pub extern "C" fn bsdb_has_remote() -> bool {
    cfg!(feature = "remote")
}

/// The default options for databases elsewhere, which the caller frees with `bsdb_remote_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bsdb_remote_new() -> *mut bsdb_remote {
    quiet(ptr::null_mut(), || Box::into_raw(Box::default()))
}

/// Sets an option. `name` and `value` are UTF-8. No message shows a value that may be secret.
///
/// | Name | Value | Default |
/// |---|---|---|
/// | requests | 1 to 4096: requests under way at once, at most | 256 |
/// | deadline_ms | 10 or more: milliseconds for which a request is repeated | 30000 |
/// | memory_bytes | bytes of pages that are kept in memory | 67108864 |
/// | page_bytes | 1 MiB to 256 GiB: bytes of a file that keeps pages on disk, for all processes | none |
/// | cache_dir | the directory of that file | BSDB_CACHE, or bsdb in XDG_CACHE_HOME or ~/.cache |
/// | hedge | true: what takes unusually long is asked for a second time | false |
/// | profile | the name of a profile of the AWS tools | AWS_PROFILE, default |
/// | key, secret, token, region_name | credentials and region of S3 | the environment's, the machine's |
/// | requester_pays | true: who reads from S3 pays for it | false |
/// | account_name, account_key, sas_token, tenant_id, client_id, client_secret, connection_string | those of Azure | the environment's, the machine's |
/// | anon | true: requests are not signed, for public data | false |
/// | endpoint_url | the server of the store, if it is not the usual one | |
/// | proxy_url, proxy_ca_certificate, proxy_excludes | as their names say | the environment's |
/// | allow_http, allow_invalid_certificates | true: as their names say | false |
///
/// Others begin with `aws_`, `google_` or `azure_`, such as `google_service_account` (a file), and have the names of the
/// crate object_store. Options of another kind of store than that of the URL are ignored, so that the same options do for
/// several.
///
/// Returns BSDB_OK; BSDB_ERROR_INVALID_ARGUMENT, with the options as they were; or BSDB_ERROR_UNSUPPORTED if this build
/// reads no databases elsewhere. Whether a value makes sense to the store is checked when a database is opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_remote_set(
    remote: *mut bsdb_remote,
    name: *const c_char,
    value: *const c_char,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the options.
    unsafe {
        call(error, || {
            let remote = remote.as_mut().ok_or_else(|| bsdb_error::null("remote"))?;
            let (name, value) = (utf8(name, "name")?, utf8(value, "value")?);
            #[cfg(feature = "remote")]
            {
                remote.remote = crate::settings::set(remote.remote.clone(), name, value)?;
                Ok(bsdb_status::BSDB_OK)
            }
            #[cfg(not(feature = "remote"))]
            {
                let _ = (remote, name, value);
                Err(bsdb_error::without_remote())
            }
        })
    }
}

/// Frees options. Databases that were opened with them stay open. Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_remote_free(remote: *mut bsdb_remote) {
    if !remote.is_null() {
        // SAFETY: made by `bsdb_remote_new`, which gave it to the caller.
        quiet((), || drop(unsafe { Box::from_raw(remote) }));
    }
}

/// What reading a database elsewhere took since it was opened; zeros for one in a directory. Set `size` before the call.
/// Later versions add fields at its end; programs that were built with this version still work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_traffic {
    /// sizeof(bsdb_traffic), set by the caller.
    pub size: usize,
    /// Requests that were sent, those for credentials aside.
    pub requests: u64,
    /// Requests that were sent again, because the one before failed.
    pub retries: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Pages that were found in memory.
    pub pages_cached: u64,
    /// Pages that were received.
    pub pages_received: u64,
}

// SAFETY: repr(C), of integers, the first of which is a usize.
unsafe impl Growing for bsdb_traffic {
    const NAME: &'static str = "traffic";
    const FIRST: usize = size_of::<bsdb_traffic>();
}

/// Fills `traffic`, whose `size` the caller has set. Returns BSDB_OK or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_get_traffic(
    database: *const bsdb_database,
    traffic: *mut bsdb_traffic,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let database = reader(database)?;
            reference(traffic, "traffic")?;
            fill(traffic, &of(database))?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

fn of(database: &reader::Database) -> bsdb_traffic {
    let zeros = bsdb_traffic { size: 0, requests: 0, retries: 0, bytes: 0, pages_cached: 0, pages_received: 0 };
    #[cfg(feature = "remote")]
    {
        let took = database.traffic();
        bsdb_traffic {
            requests: took.requests,
            retries: took.retries,
            bytes: took.bytes,
            pages_cached: took.pages_cached,
            pages_received: took.pages_received,
            ..zeros
        }
    }
    #[cfg(not(feature = "remote"))]
    {
        let _ = database;
        zeros
    }
}
