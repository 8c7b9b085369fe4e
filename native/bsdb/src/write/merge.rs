//! Builds a database from another one and changes.
//!
//! The changes first become a temporary database, whose values begin with a byte that tells a value from a deletion.
//! Then the records of the base are added to an ordinary build, with a lookup of each among the changes, and after
//! them the changes whose keys the base does not have. So the result is that of a build of all its records.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::assembly::Context;
use super::builder::{check_lengths, check_record, Builder, Built, FAILED, REPORTED};
use super::control::{Listener, Progress, Stage};
use super::database::{DatabaseWriter, Output};
use super::options::{BuildOptions, Duplicates};
use super::record::Record;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::format::facts::{Layout, MANIFEST};
use crate::format::page::SIZE;
use crate::format::record::MAX_VALUE;
use crate::memory;
use crate::options::Options;
use crate::order::cursor::OrderCursor;

/// The directory of the changes in that of temporary files.
const DIRECTORY: &str = "changes.part";

/// The first byte of the value of a change.
const DELETION: u8 = 0;
const VALUE: u8 = 1;

/// Records that are looked up at once, their bytes, and the bytes of the values that are found, at most.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 1 << 20;
const FOUND_BYTES: u64 = 64 << 20;

/// So many that hardly any record that is not changed causes a read of the changes.
const CHECKSUM_BITS: u32 = 16;

/// Builds a database from a base: added records replace those of the base with the same key, and keys can be deleted.
///
/// The last change of a key counts. The base stays as it is. The result has the same bytes as a build of all its
/// records with the same options: those of the base in the order of a [scan](Database::scan), where replaced records
/// stay in their places, then the added ones in their order. Only samples for a dictionary come from everywhere in a
/// base with an order of keys. Like a build, a merge is a transaction.
///
/// ```no_run
/// let base = std::sync::Arc::new(bsdb::Database::open("rdb")?);
/// let mut merger = bsdb::Merger::create(&base, "new-rdb", bsdb::BuildOptions::of(&base))?;
/// merger.add(b"key", b"another value")?;
/// merger.delete(b"old key")?;
/// let built = merger.finish()?;
/// println!("{:?}", built.changes);
/// # Ok::<(), bsdb::Error>(())
/// ```
pub struct Merger {
    base: Arc<Database>,
    // Dropped in this order: files are closed before their directory is removed.
    changes: Box<DatabaseWriter>,
    builder: Builder,
    directory: PathBuf,
    samples: Option<u64>,
    added: u64,
    /// The last change, with its first byte.
    tagged: Vec<u8>,
    /// Set while a change is taken: if that fails, the state of the files is unknown.
    failed: bool,
}

/// What a merge did with the records of the base and with the changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Records of the base that were carried over.
    pub kept: u64,
    /// Records of the base that got another value, or the same one again.
    pub replaced: u64,
    /// Records whose key was not in the base.
    pub added: u64,
    /// Records of the base that were deleted.
    pub deleted: u64,
    /// Deletions of keys that were not in the base.
    pub deleted_absent: u64,
    /// Changes that another change of the same key made void.
    pub superseded: u64,
}

impl Merger {
    /// Starts a build of a directory, which is not that of the base. The options are those [of the
    /// base](BuildOptions::of), with other resources.
    pub fn create(base: &Arc<Database>, path: impl AsRef<Path>, options: BuildOptions) -> Result<Merger> {
        Merger::start(base, path.as_ref(), options, None)
    }

    /// Starts a build whose progress is told, like [`Builder::with_progress`].
    pub fn with_progress(
        base: &Arc<Database>,
        path: impl AsRef<Path>,
        options: BuildOptions,
        progress: impl FnMut(Progress) -> bool + Send + 'static,
    ) -> Result<Merger> {
        Merger::start(base, path.as_ref(), options, Some(Box::new(progress)))
    }

    fn start(base: &Arc<Database>, path: &Path, options: BuildOptions, listener: Option<Listener>) -> Result<Merger> {
        require_whole(base)?;
        require_like(base, &options)?;
        require_elsewhere(base, path)?;
        let of_changes = of_changes(&options);
        let samples = (base.shards().set.is_none()
            && options.ordered
            && options.layout == Layout::Compressed
            && options.trains())
        .then_some(options.samples);
        let builder = Builder::start(path, options.duplicates(Duplicates::Refuse), listener)?;
        let directory = builder.work.temporary().join(DIRECTORY);
        fs::create_dir(&directory).map_err(|e| Error::io(&directory, e))?;
        let context = Context {
            options: of_changes,
            directory: directory.clone(),
            temporary: directory.clone(),
            control: builder.control.clone(),
        };
        let changes = Box::new(DatabaseWriter::new(context, 0)?);
        Ok(Merger {
            base: Arc::clone(base),
            changes,
            builder,
            directory,
            samples,
            added: 0,
            tagged: Vec::new(),
            failed: false,
        })
    }

    /// Adds a record, or replaces that with the same key.
    ///
    /// A record that is refused with [`Error::Argument`], as its key or value has the wrong length, is not part of the
    /// database; the build can go on.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_record(self.builder.elements, self.added, key, value)?;
        if value.len() == MAX_VALUE {
            let most = MAX_VALUE - 1;
            return Err(Error::Argument(format!("a changed value of {MAX_VALUE} bytes; at most {most} fit")));
        }
        self.change(VALUE, key, value)
    }

    /// Deletes a key. It is no error if the base does not have it.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        check_lengths(key, b"")?;
        self.change(DELETION, key, b"")
    }

    /// The number of records and deletions that were added.
    pub fn changes(&self) -> u64 {
        self.added
    }

    fn change(&mut self, tag: u8, key: &[u8], value: &[u8]) -> Result<()> {
        if self.failed {
            return Err(Error::Argument(FAILED.into()));
        }
        self.tagged.clear();
        memory::reserve(&mut self.tagged, 1 + value.len(), &self.directory)?;
        self.tagged.push(tag);
        self.tagged.extend_from_slice(value);
        self.failed = true;
        self.changes.add(&Record { signature: self.builder.signatures.sign(key), key, value: &self.tagged })?;
        self.added += 1;
        if self.added % REPORTED == 0 {
            self.builder.control.report(Stage::Records, self.added, None)?;
        }
        self.failed = false;
        Ok(())
    }

    /// Writes the database, forces it to the device and publishes it.
    pub fn finish(self) -> Result<Built> {
        if self.failed {
            return Err(Error::Argument(FAILED.into()));
        }
        let Merger { base, changes, mut builder, directory, samples, added, .. } = self;
        builder.control.report(Stage::Records, added, None)?;
        let changed = changes.finish()?.records;
        let mut counts = Changes { superseded: added - changed, ..Changes::default() };
        {
            let changes = Database::open_directory(&directory, Options::default())?;
            if let Some(samples) = samples {
                sample(&base, samples, &mut builder)?;
            }
            carry_over(&base, &changes, &mut builder, &mut counts)?;
            if counts.replaced + counts.deleted < changed {
                add_new(&base, &changes, &mut builder, &mut counts)?;
            }
        }
        fs::remove_dir_all(&directory).map_err(|e| Error::io(&directory, e))?;
        Ok(Built { changes: Some(counts), ..builder.finish()? })
    }
}

impl std::fmt::Debug for Merger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merger").field("base", &self.base).field("target", &self.builder.work.target()).finish()
    }
}

/// The options of the temporary database, in which changes keep their order if that of the result depends on it.
fn of_changes(options: &BuildOptions) -> BuildOptions {
    let like = BuildOptions {
        seed: options.seed,
        duplicates: options.duplicates,
        memory: options.memory,
        threads: options.threads,
        ..BuildOptions::default()
    };
    match options.layout {
        Layout::Packed => like.layout(Layout::Packed),
        _ => like.layout(Layout::Compact).checksum_bits(CHECKSUM_BITS),
    }
}

fn require_whole(base: &Database) -> Result<()> {
    let path = base.path().display();
    let shards = base.shards();
    if base.is_approximate() {
        return Err(Error::Impossible(format!(
            "{path}: an approximate database keeps no keys, so nothing can be merged into it; build it anew"
        )));
    }
    if shards.held().count() < shards.facts().shards as usize {
        return Err(Error::Impossible(format!("{path}: holds only some shards of a set; merge into the whole set")));
    }
    Ok(())
}

/// Fails if the options are those of another kind of database.
fn require_like(base: &Database, options: &BuildOptions) -> Result<()> {
    let like = BuildOptions::of(base);
    let require = |name: &str, same: bool| {
        if same {
            return Ok(());
        }
        let path = base.path().display();
        Err(Error::Argument(format!("{name} is not that of the base {path}; take the options of the base")))
    };
    require("layout", like.layout == options.layout)?;
    require("seed", like.seed == options.seed)?;
    require("shards", like.shards == options.shards)?;
    require("value_schema", like.schema == options.schema)?;
    require("value_elements", like.elements == options.elements)
}

fn require_elsewhere(base: &Database, target: &Path) -> Result<()> {
    // A target that is not there is no base; what is wrong with its path, the build says.
    let Ok(real) = target.canonicalize() else { return Ok(()) };
    let mut own = base.shards().held().map(|single| single.path.as_path()).chain([base.path()]);
    if own.any(|own| own.canonicalize().is_ok_and(|own| own == real)) {
        let reason = "is the base itself, which a merge only reads; choose another target".to_owned();
        return Err(Error::Exists { path: target.to_owned(), reason });
    }
    Ok(())
}

/// Takes samples for the dictionary from everywhere in a base with an order: there, the first records have the least
/// keys, which may have little in common with the others.
fn sample(base: &Database, most: u64, builder: &mut Builder) -> Result<()> {
    let Some(tree) = base.shards().held().next().and_then(|single| single.order.as_ref()) else {
        return Ok(());
    };
    let records = base.len();
    let samples = records.min(most);
    let mut cursor = OrderCursor::new(tree);
    let mut at_key = cursor.first()?;
    let mut rank = 0;
    for i in 0..samples {
        let wanted = (u128::from(i) * u128::from(records) / u128::from(samples)) as u64;
        while rank < wanted && at_key {
            at_key = cursor.next()?;
            rank += 1;
        }
        if at_key {
            let key = cursor.key()?.to_vec();
            if let Some(value) = base.get_ref(&key)? {
                builder.sample(&key, &value)?;
            }
        }
    }
    Ok(())
}

/// Adds the records of the base that stay and, in their places, those that replace others.
fn carry_over(base: &Database, changes: &Database, builder: &mut Builder, counts: &mut Changes) -> Result<()> {
    let longest = changes.statistics().longest_value.max(1);
    let most = ((FOUND_BYTES / longest) as usize).clamp(1, BATCH);
    let mut scan = base.scan()?;
    loop {
        let records = batch(&mut scan, most)?;
        if records.is_empty() {
            break;
        }
        let keys: Vec<&[u8]> = records.iter().map(|(key, _)| &key[..]).collect();
        for ((key, value), change) in records.iter().zip(changes.get_many(&keys)?) {
            match change.as_deref() {
                None => {
                    counts.kept += 1;
                    builder.add(key, value)?;
                }
                Some([VALUE, value @ ..]) => {
                    counts.replaced += 1;
                    builder.add(key, value)?;
                }
                Some(_) => counts.deleted += 1,
            }
        }
        builder.control.check()?;
    }
    let found = counts.kept + counts.replaced + counts.deleted;
    if found != base.len() {
        let manifest = base.path().join(MANIFEST);
        return Err(Error::damaged(&manifest, SIZE as u64, format!("{} records", base.len()), found.to_string()));
    }
    Ok(())
}

/// Adds the records whose keys are not in the base.
fn add_new(base: &Database, changes: &Database, builder: &mut Builder, counts: &mut Changes) -> Result<()> {
    let mut scan = changes.scan()?;
    loop {
        let records = batch(&mut scan, BATCH)?;
        if records.is_empty() {
            return Ok(());
        }
        let keys: Vec<&[u8]> = records.iter().map(|(key, _)| &key[..]).collect();
        let mut known = vec![false; keys.len()];
        base.find_many(&keys, |i, found| known[i] = found.is_some())?;
        for ((key, change), _) in records.iter().zip(known).filter(|(_, known)| !known) {
            match change.as_slice() {
                [VALUE, value @ ..] => {
                    counts.added += 1;
                    builder.add(key, value)?;
                }
                _ => counts.deleted_absent += 1,
            }
        }
        builder.control.check()?;
    }
}

/// The next records of a scan; none at its end.
pub(crate) fn batch(
    scan: &mut impl Iterator<Item = Result<(Vec<u8>, Vec<u8>)>>,
    most: usize,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let (mut records, mut bytes) = (Vec::new(), 0);
    while records.len() < most && bytes < BATCH_BYTES {
        let Some(record) = scan.next().transpose()? else { break };
        bytes += record.0.len() + record.1.len();
        records.push(record);
    }
    Ok(records)
}
