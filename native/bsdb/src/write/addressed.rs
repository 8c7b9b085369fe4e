//! The layouts blocked, compact and compressed (FORMAT.md §3, §4, §7, §13): data files, hash function and index.

use super::assembly::{Assembled, Assembly, Context};
use super::record::Record;
use crate::error::Result;

/// Assembles a database whose records have addresses.
pub(crate) struct AddressedAssembly {
    #[allow(dead_code)]
    context: Context,
}

impl AddressedAssembly {
    /// Starts a database whose blocks are compressed with this dictionary.
    pub(crate) fn new(_context: &Context, _dictionary: Option<Vec<u8>>) -> Result<AddressedAssembly> {
        todo!()
    }
}

impl Assembly for AddressedAssembly {
    fn add(&mut self, _record: &Record<'_>) -> Result<()> {
        todo!()
    }

    fn complete(self: Box<Self>) -> Result<Assembled> {
        todo!()
    }
}
