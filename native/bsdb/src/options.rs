//! How a database is opened.

use crate::file::paged::Access;
#[cfg(feature = "remote")]
use crate::remote::options::Remote;

/// How to open a database.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) access: Access,
    pub(crate) verify: bool,
    #[cfg(feature = "remote")]
    pub(crate) remote: Remote,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            access: Access::Mapped,
            verify: true,
            #[cfg(feature = "remote")]
            remote: Remote::default(),
        }
    }
}

impl Options {
    /// How the data files are read, the order of keys, and the index of the layouts that have addresses. Hash
    /// functions, the index of the packed layouts and filters are mapped in any case: they are small, and looked
    /// at in several places for each key. The index of the packed layouts is then read into memory by the first
    /// lookup.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Whether a page is verified when it is first read; on unless switched off. Without it, damage can give
    /// wrong values.
    pub fn verify_pages(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// How a database is read that is not on this machine: one whose path is a URL. [`access`](Options::access) then
    /// does not matter.
    #[cfg(feature = "remote")]
    pub fn remote(mut self, remote: Remote) -> Self {
        self.remote = remote;
        self
    }
}
