//! How a database is opened.

use crate::file::paged::Access;

/// How to open a database.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub(crate) access: Access,
    pub(crate) verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { access: Access::Mapped, verify: true }
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
}
