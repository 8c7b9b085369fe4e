//! From a key to a slot (FORMAT.md §5, §13).

pub(crate) mod gov;
pub(crate) mod mum;
pub(crate) mod ptr;
pub(crate) mod signature;

use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::facts::{Facts, HashKind};
use crate::format::page::SIZE;
use signature::Signature;

/// The minimal perfect hash function of a database.
pub(crate) enum HashFunction {
    Gov(gov::Gov),
    Ptr(ptr::Ptr),
}

impl HashFunction {
    /// Opens the file of a function.
    pub(crate) fn open(file: PagedFile, facts: &Facts) -> Result<HashFunction> {
        Ok(match facts.hash {
            HashKind::Ptr => HashFunction::Ptr(ptr::Ptr::open(file, facts)?),
            _ => HashFunction::Gov(gov::Gov::open(file, facts)?),
        })
    }

    /// The slot of a signature, or None if no record has it.
    #[inline]
    pub(crate) fn slot(&self, signature: Signature) -> Result<Option<u64>> {
        match self {
            HashFunction::Gov(function) => function.slot(signature),
            HashFunction::Ptr(function) => function.slot(signature),
        }
    }

    /// Prefetches what `slot` reads first.
    #[inline]
    pub(crate) fn prefetch(&self, signature: Signature) {
        match self {
            HashFunction::Gov(function) => function.prefetch(signature),
            HashFunction::Ptr(function) => function.prefetch(signature),
        }
    }

    /// Whether all pages that `slot` may read were read before.
    #[inline]
    pub(crate) fn is_known(&self, signature: Signature) -> bool {
        let (at, length) = match self {
            HashFunction::Gov(function) => function.block(signature),
            HashFunction::Ptr(function) => function.block(signature),
        };
        let first = at / SIZE as u64;
        self.file().is_known(first, (at + length).div_ceil(SIZE as u64) - first)
    }

    pub(crate) fn file(&self) -> &PagedFile {
        match self {
            HashFunction::Gov(function) => function.file(),
            HashFunction::Ptr(function) => function.file(),
        }
    }
}
