//! The order of keys (FORMAT.md §16): keys or records are sorted by key, and the tree is written.

use super::assembly::Context;
use super::output::Finished;
use super::record::Record;
use crate::error::Result;
use crate::format::facts::OrderFacts;

/// Puts records in the order of their keys.
pub(crate) struct KeySorter;

impl KeySorter {
    pub(crate) fn new(_context: &Context) -> KeySorter {
        todo!()
    }

    /// Takes a record.
    pub(crate) fn add(&mut self, _record: &Record<'_>) -> Result<()> {
        todo!()
    }

    /// Passes the records on in the order of their keys. Of records with the same key it passes on those that the options
    /// keep, and fails if they refuse duplicates.
    pub(crate) fn finish(self, _to: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
        todo!()
    }
}

/// Collects the keys of a packed database in any order, and writes their order.
pub(crate) struct CollectedKeys;

impl CollectedKeys {
    pub(crate) fn new(_context: &Context) -> CollectedKeys {
        todo!()
    }

    /// Takes the key of a record that the database keeps.
    pub(crate) fn add(&mut self, _key: &[u8]) -> Result<()> {
        todo!()
    }

    /// Sorts the keys and writes the file.
    pub(crate) fn finish(self) -> Result<(OrderFacts, Finished)> {
        todo!()
    }
}

/// Takes the keys of a database with addresses, in ascending order, and writes their order.
pub(crate) struct AddressedKeys;

impl AddressedKeys {
    pub(crate) fn new(_context: &Context) -> AddressedKeys {
        todo!()
    }

    /// Takes a key that is greater than those before, and the address of its record.
    pub(crate) fn add(&mut self, _key: &[u8], _address: u64) -> Result<()> {
        todo!()
    }

    /// Writes the file.
    pub(crate) fn finish(self) -> Result<(OrderFacts, Finished)> {
        todo!()
    }
}
