//! A record on its way to the data files.

use crate::format::record::Header;
use crate::hash::signature::Signature;

/// A record and the signature of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) signature: Signature,
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
}

impl Record<'_> {
    /// The header before the key (FORMAT.md §4).
    #[inline]
    pub(crate) fn header(&self) -> Header {
        Header::of(self.key.len(), self.value.len())
    }
}
