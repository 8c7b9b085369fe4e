//! How a database is opened.

use std::sync::Arc;

use crate::file::paged::Access;
use crate::keys::PublicKey;
#[cfg(feature = "remote")]
use crate::remote::options::Remote;

/// How to open a database.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) access: Access,
    pub(crate) verify: bool,
    pub(crate) trusted: Arc<[PublicKey]>,
    #[cfg(feature = "remote")]
    pub(crate) remote: Remote,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            access: Access::Mapped,
            verify: true,
            trusted: Arc::new([]),
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

    /// Keys of which one must have signed the database, the set or the version of a store; none to require no
    /// signature, which is the default. This is checked each time that the manifest is read: a store is
    /// [refreshed](crate::Store::refresh) only if its new version is signed, too. Otherwise it fails with
    /// [`Error::Untrusted`](crate::Error::Untrusted).
    ///
    /// A right signature says that the manifest is the one that was signed, and with it the content hashes of all files.
    /// [`verify_content`](crate::Database::verify_content) says that the files have these hashes. An older version that was
    /// signed is as good as a newer one.
    pub fn trust(mut self, keys: impl IntoIterator<Item = PublicKey>) -> Self {
        self.trusted = keys.into_iter().collect();
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
