//! What turns records into the content of a database's files, one implementation for each way of locating records.

use std::path::PathBuf;

use super::control::Control;
use super::manifest::Totals;
use super::options::BuildOptions;
use super::output::Finished;
use super::record::Record;
use crate::error::Result;
use crate::format::facts::{FilterFacts, OrderFacts};
use crate::format::sample::Sample;

/// What the parts of a build need to know.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) options: BuildOptions,
    /// Where the files of the database are written.
    pub(crate) directory: PathBuf,
    /// Where temporary files are written.
    pub(crate) temporary: PathBuf,
    pub(crate) control: Control,
}

/// Takes the records of a database and writes its content.
pub(crate) trait Assembly: Send {
    /// Tells the totals of all records before the first one, if records come in the order of their keys.
    fn expect(&mut self, _totals: &Totals) -> Result<()> {
        Ok(())
    }

    /// Takes a record. They come in the order in which they were added.
    fn add(&mut self, record: &Record<'_>) -> Result<()>;

    /// Writes the content of all files.
    fn complete(self: Box<Self>) -> Result<Assembled>;
}

/// The content of a database, not yet sealed.
#[derive(Debug)]
pub(crate) struct Assembled {
    /// Records that lookups find.
    pub(crate) records: u64,
    /// Parts of the hash function; 0 in packed layouts.
    pub(crate) buckets: u64,
    /// `zstd.longest`.
    pub(crate) longest_block: u64,
    /// Bins of the packed layouts, and whether they span pages.
    pub(crate) bins: Option<(u64, bool)>,
    /// The sample of the index of the layout packed, unless there are few pages.
    pub(crate) sample: Option<Sample>,
    pub(crate) filter: Option<FilterFacts>,
    pub(crate) order: Option<OrderFacts>,
    /// Bytes of the dictionary; 0 without one.
    pub(crate) dictionary: usize,
    /// The files in the order of the manifest: data by number, dictionary, hash, index, filter, order.
    pub(crate) files: Vec<Finished>,
}
