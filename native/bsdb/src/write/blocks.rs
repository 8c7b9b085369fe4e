//! Compressed blocks and their dictionary (FORMAT.md §4).

use crate::error::Result;

/// Compresses blocks at a level, with a dictionary. Shared by all threads.
pub(crate) struct Compressor;

impl Compressor {
    pub(crate) fn new(_level: i32, _dictionary: Option<&[u8]>) -> Result<Compressor> {
        todo!()
    }

    /// Appends a block, with its header: compressed, or stored if that is not shorter.
    pub(crate) fn block(&self, _raw: &[u8], _to: &mut Vec<u8>) -> Result<()> {
        todo!()
    }
}

/// Trains a dictionary on sample records.
pub(crate) struct Trainer;

impl Trainer {
    /// Trains a dictionary of at most `bytes` bytes for blocks of `block` bytes.
    pub(crate) fn new(_block: u64, _bytes: usize) -> Trainer {
        todo!()
    }

    /// Whether more samples have no effect.
    pub(crate) fn is_full(&self) -> bool {
        todo!()
    }

    /// The bytes of samples that are enough.
    pub(crate) fn enough(&self) -> u64 {
        todo!()
    }

    /// Adds a sample: the header, the key and the value of a record.
    pub(crate) fn add(&mut self, _key: &[u8], _value: &[u8]) {
        todo!()
    }

    /// The dictionary, or none if the samples do not give one.
    pub(crate) fn train(self) -> Option<Vec<u8>> {
        todo!()
    }
}
