//! Writes a set of shards (FORMAT.md §14).

use super::assembly::Context;
use super::database::{Output, Written};
use super::record::Record;
use crate::error::Result;

/// Divides the records among shards, and writes each of them.
pub(crate) struct SetWriter {
    #[allow(dead_code)]
    context: Context,
}

impl SetWriter {
    pub(crate) fn new(_context: Context) -> Result<SetWriter> {
        todo!()
    }
}

impl Output for SetWriter {
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
