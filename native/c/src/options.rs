//! How to open a database.

use std::ffi::c_char;
use std::mem::offset_of;
use std::ptr;

use reader::{Access, Options, PublicKey};

use crate::call::{path, stated, Growing};
use crate::error::{bsdb_error, Failure};
use crate::remote::bsdb_remote;

/// How the data files are read, and the index of the layouts that have addresses.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bsdb_access {
    /// From a mapping. The quickest by far if the data is in memory, and the only one that gives views
    /// without a copy.
    BSDB_ACCESS_MAPPED = 0,
    /// By system calls, through the page cache. Data files that another process shortens are then an
    /// error. The hash function, the index of the packed layouts and the filter are mapped in any case.
    BSDB_ACCESS_READ = 1,
    /// By system calls that bypass the page cache; batches through io_uring on Linux. For data much larger
    /// than memory. The same as BSDB_ACCESS_READ on systems without direct reads.
    BSDB_ACCESS_DIRECT = 2,
}

/// A flag of `bsdb_options`: does not verify pages when they are first read. Damage can then give wrong
/// values.
pub const BSDB_SKIP_VERIFICATION: u32 = 1;

/// How to open a database. Initialize it with BSDB_OPTIONS, and then set what differs from the defaults.
/// Later versions add fields at its end; programs that were built with this version still work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_options {
    /// sizeof(bsdb_options).
    pub size: usize,
    /// A bsdb_access; BSDB_ACCESS_MAPPED by default.
    pub access: u32,
    /// 0, or BSDB_SKIP_VERIFICATION.
    pub flags: u32,
    /// How a database is read whose path is a URL, or NULL for the defaults. It is copied. Databases in directories
    /// ignore it, as those elsewhere ignore `access`.
    pub remote: *const bsdb_remote,
    /// A file of public keys of Ed25519, as `openssl pkey -pubout` writes them, one of which must have signed the database,
    /// the set or the version of a store; otherwise it is not opened: BSDB_ERROR_UNTRUSTED. NULL to require no signature.
    /// The file is read by each function that gets these options. A store checks its later versions, too. The signature
    /// holds for all bytes of the files, which `bsdb_verify_content` compares with what was signed.
    pub trust: *const c_char,
}

// SAFETY: repr(C), of integers and pointers, the first of which is a usize.
unsafe impl Growing for bsdb_options {
    const NAME: &'static str = "options";
    const FIRST: usize = offset_of!(bsdb_options, remote);
}

impl bsdb_options {
    /// The defaults.
    const DEFAULT: bsdb_options = bsdb_options {
        size: size_of::<bsdb_options>(),
        access: bsdb_access::BSDB_ACCESS_MAPPED as u32,
        flags: 0,
        remote: ptr::null(),
        trust: ptr::null(),
    };
}

/// The options that a caller states; those that this version does not know must be zero.
///
/// # Safety
///
/// `from` is null, or points to as many bytes as its first field says, and what it points to is there.
pub(crate) unsafe fn options(from: *const bsdb_options) -> Result<Options, Failure> {
    // SAFETY: as the caller says.
    let stated = if from.is_null() { bsdb_options::DEFAULT } else { unsafe { stated(from) }? };
    let bsdb_options { access, flags, remote, trust, .. } = stated;
    const MAPPED: u32 = bsdb_access::BSDB_ACCESS_MAPPED as u32;
    const READ: u32 = bsdb_access::BSDB_ACCESS_READ as u32;
    const DIRECT: u32 = bsdb_access::BSDB_ACCESS_DIRECT as u32;
    let access = match access {
        MAPPED => Access::Mapped,
        READ => Access::Read,
        DIRECT => Access::Direct,
        _ => return Err(bsdb_error::invalid(format!("options->access is {access}, which is no bsdb_access"))),
    };
    if flags & !BSDB_SKIP_VERIFICATION != 0 {
        return Err(bsdb_error::invalid(format!("options->flags is {flags:#x}, which has unknown flags")));
    }
    let mut options = Options::default().access(access).verify_pages(flags & BSDB_SKIP_VERIFICATION == 0);
    if !trust.is_null() {
        // SAFETY: as the caller says.
        options = options.trust(PublicKey::read(unsafe { path(trust) }?)?);
    }
    // SAFETY: as the caller says.
    Ok(unsafe { bsdb_remote::apply(remote, options) })
}
