//! The layouts packed and packed-compressed (FORMAT.md §12): records are sorted by signature and packed into bins.

use super::assembly::{Assembled, Assembly, Context};
use super::record::Record;
use crate::error::Result;

/// Assembles a packed database.
pub(crate) struct PackedAssembly {
    #[allow(dead_code)]
    context: Context,
}

impl PackedAssembly {
    /// Starts a database whose blocks are compressed with this dictionary.
    pub(crate) fn new(_context: &Context, _dictionary: Option<Vec<u8>>) -> Result<PackedAssembly> {
        todo!()
    }
}

impl Assembly for PackedAssembly {
    fn add(&mut self, _record: &Record<'_>) -> Result<()> {
        todo!()
    }

    fn complete(self: Box<Self>) -> Result<Assembled> {
        todo!()
    }
}
