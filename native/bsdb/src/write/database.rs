//! Writes one database, or one shard: trains the dictionary, passes the records to the assembly of the layout, and seals
//! the files.

use super::assembly::{Assembled, Context};
use super::manifest::Totals;
use super::record::Record;
use crate::error::Result;
use crate::format::frame::Id;

/// What was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) id: Id,
    /// Records that lookups find.
    pub(crate) records: u64,
    pub(crate) totals: Totals,
    /// Bytes of all files.
    pub(crate) bytes: u64,
    /// Bytes of the dictionary.
    pub(crate) dictionary: usize,
}

/// Takes all records and writes what is published.
pub(crate) trait Output: Send {
    /// Takes a record for training the dictionary, before the first record.
    fn sample(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Takes a record.
    fn add(&mut self, record: &Record<'_>) -> Result<()>;

    /// Writes all files into the directory of the context.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// Writes one database.
pub(crate) struct DatabaseWriter {
    #[allow(dead_code)]
    context: Context,
}

impl DatabaseWriter {
    /// Starts the database, or the shard with this number.
    pub(crate) fn new(_context: Context, _shard: u32) -> Result<DatabaseWriter> {
        let _: Option<Assembled> = None;
        todo!()
    }
}

impl Output for DatabaseWriter {
    fn sample(&mut self, _key: &[u8], _value: &[u8]) -> Result<()> {
        todo!()
    }

    fn add(&mut self, _record: &Record<'_>) -> Result<()> {
        todo!()
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        todo!()
    }
}
