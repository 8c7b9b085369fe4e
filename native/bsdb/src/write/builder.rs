//! The public way to build a database.

use std::path::{Path, PathBuf};

use super::assembly::Context;
use super::control::{Control, Listener, Progress, Stage};
use super::database::{DatabaseWriter, Output};
use super::merge::Changes;
use super::options::BuildOptions;
use super::record::Record;
use super::set::SetWriter;
use super::work::Workspace;
use crate::error::{Error, Result};
use crate::format::elements::ValueElements;
use crate::format::frame::hex;
use crate::format::record::{MAX_KEY, MAX_VALUE};
use crate::hash::mum::Mum;

/// Records between two reports of progress.
pub(super) const REPORTED: u64 = 1 << 16;

pub(super) const FAILED: &str = "the build has failed before; begin another one";

/// Builds a database.
///
/// A build is a transaction: nothing is at the target, or the database there stays as it was, until
/// [`finish`](Builder::finish) has written everything and forced it to the device. A builder that is dropped before removes what it wrote;
/// what a killed process leaves is removed by the next build of the same target.
///
/// ```no_run
/// let mut builder = bsdb::Builder::create("rdb", bsdb::BuildOptions::default())?;
/// builder.add(b"key", b"value")?;
/// let built = builder.finish()?;
/// println!("{} records in {}", built.records, built.path.display());
/// # Ok::<(), bsdb::Error>(())
/// ```
#[must_use = "a builder that is dropped removes what it wrote"]
pub struct Builder {
    // Dropped in this order: files are closed before their directory is removed.
    output: Box<dyn Output>,
    pub(super) work: Workspace,
    pub(super) signatures: Mum,
    pub(super) elements: Option<ValueElements>,
    pub(super) control: Control,
    records: u64,
    /// The process that started the build. A fork of it must not publish the database.
    process: u32,
    /// Set while a record is taken: if that fails, the state of the files is unknown.
    failed: bool,
}

/// What a build made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The directory.
    pub path: PathBuf,
    /// The id: 32 hexadecimal digits.
    pub id: String,
    /// Records that lookups find.
    pub records: u64,
    /// Records that were dropped in favor of another with the same key.
    pub dropped: u64,
    /// Bytes of all keys that were added.
    pub key_bytes: u64,
    /// Bytes of all values that were added.
    pub value_bytes: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of the dictionary, or of those of all shards.
    pub dictionary_bytes: usize,
    /// What a [`Merger`](crate::Merger) did; None of other builds.
    pub changes: Option<Changes>,
    /// What failed after the database was published; it is complete and can be used.
    pub warnings: Vec<String>,
}

impl Builder {
    /// Starts a build of a directory.
    pub fn create(path: impl AsRef<Path>, options: BuildOptions) -> Result<Builder> {
        Builder::start(path.as_ref(), options, None)
    }

    /// Starts a build whose progress is told: after many records, and at the end of parts of the stages after them. The
    /// build ends with [`Error::Stopped`] once the function returns false. It is called by the thread that calls
    /// the builder.
    pub fn with_progress(
        path: impl AsRef<Path>,
        options: BuildOptions,
        progress: impl FnMut(Progress) -> bool + Send + 'static,
    ) -> Result<Builder> {
        Builder::start(path.as_ref(), options, Some(Box::new(progress)))
    }

    pub(super) fn start(path: &Path, options: BuildOptions, listener: Option<Listener>) -> Result<Builder> {
        options.check()?;
        let work = Workspace::create(path, &options)?;
        let control = Control::new(listener);
        let signatures = Mum::new(options.seed);
        let elements = options.elements;
        let sharded = options.shards > 1;
        let context = Context {
            options,
            directory: work.directory().to_owned(),
            temporary: work.temporary().to_owned(),
            control: control.clone(),
        };
        let output: Box<dyn Output> =
            if sharded { Box::new(SetWriter::new(context)?) } else { Box::new(DatabaseWriter::new(context, 0)?) };
        Ok(Builder {
            output,
            work,
            signatures,
            elements,
            control,
            records: 0,
            process: std::process::id(),
            failed: false,
        })
    }

    /// Adds a record for training the ZSTD dictionary, which then uses no others. All samples come before the first
    /// record.
    pub fn sample(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_lengths(key, value)?;
        if self.records > 0 {
            return Err(Error::Argument("samples come before the records".into()));
        }
        self.output.sample(key, value)
    }

    /// Adds a record.
    ///
    /// A record that is refused with [`Error::Argument`], as its key or value has the wrong length, is not part of the
    /// database; the build can go on.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_record(self.elements, self.records, key, value)?;
        if self.failed {
            return Err(Error::Argument(FAILED.into()));
        }
        self.failed = true;
        self.output.add(&Record { signature: self.signatures.sign(key), key, value })?;
        self.records += 1;
        if self.records % REPORTED == 0 {
            self.control.report(Stage::Records, self.records, None)?;
        }
        self.failed = false;
        Ok(())
    }

    /// Adds records.
    pub fn add_many<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        records: impl IntoIterator<Item = (K, V)>,
    ) -> Result<()> {
        records.into_iter().try_for_each(|(key, value)| self.add(key.as_ref(), value.as_ref()))
    }

    /// The number of records that were added.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Writes the database, forces it to the device and publishes it.
    pub fn finish(self) -> Result<Built> {
        if self.failed {
            return Err(Error::Argument(FAILED.into()));
        }
        if self.process != std::process::id() {
            let text = "a fork of the process that started the build cannot finish it; finish it there";
            return Err(Error::Argument(text.into()));
        }
        self.control.report(Stage::Records, self.records, Some(self.records))?;
        let written = self.output.finish()?;
        self.control.check()?;
        let path = self.work.target().to_owned();
        let warnings = self.work.publish(&self.control)?;
        Ok(Built {
            path,
            id: hex(&written.id),
            records: written.records,
            dropped: written.totals.records - written.records,
            key_bytes: written.totals.key_bytes,
            value_bytes: written.totals.value_bytes,
            bytes: written.bytes,
            dictionary_bytes: written.dictionary,
            changes: None,
            warnings,
        })
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("target", &self.work.target()).field("records", &self.records).finish()
    }
}

/// Fails if a record cannot be part of the database.
pub(super) fn check_record(elements: Option<ValueElements>, number: u64, key: &[u8], value: &[u8]) -> Result<()> {
    check_lengths(key, value)?;
    match elements.filter(|elements| elements.bytes() != value.len()) {
        Some(elements) => Err(Error::Argument(format!(
            "the value of record {number} has {} bytes, but value_elements of {elements} are {}",
            value.len(),
            elements.bytes()
        ))),
        None => Ok(()),
    }
}

pub(super) fn check_lengths(key: &[u8], value: &[u8]) -> Result<()> {
    for (what, length, most) in [("key", key.len(), MAX_KEY), ("value", value.len(), MAX_VALUE)] {
        if length > most {
            return Err(Error::Argument(format!("a {what} of {length} bytes; at most {most} fit")));
        }
    }
    Ok(())
}
