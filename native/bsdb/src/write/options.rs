//! What to build, and with what.

use std::path::PathBuf;

use crate::format::facts::Layout;

/// Which of several records with the same key a build keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// None: the build fails with [`Error::Duplicate`](crate::Error::Duplicate).
    #[default]
    Refuse,
    /// The one that was added first.
    First,
    /// The one that was added last.
    Last,
}

/// The database to build, and the resources to use. Everything but the resources has an effect on its bytes, and is the
/// same as with `bsdb build`.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    pub(crate) layout: Layout,
    pub(crate) checksum_bits: u32,
    pub(crate) filter_bits: u32,
    pub(crate) block: u64,
    pub(crate) level: i32,
    pub(crate) dictionary: usize,
    pub(crate) samples: u64,
    pub(crate) data_files: u16,
    pub(crate) shards: u32,
    pub(crate) duplicates: Duplicates,
    pub(crate) ordered: bool,
    pub(crate) schema: Option<String>,
    pub(crate) seed: i64,
    pub(crate) overwrite: bool,
    pub(crate) memory: u64,
    pub(crate) threads: usize,
    pub(crate) temporary: Option<PathBuf>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            layout: Layout::Packed,
            checksum_bits: 4,
            filter_bits: 0,
            block: 1024,
            level: 6,
            dictionary: 112_640,
            samples: 10_000,
            data_files: 1,
            shards: 1,
            duplicates: Duplicates::Refuse,
            ordered: false,
            schema: None,
            seed: 0,
            overwrite: false,
            memory: 1 << 30,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(256)),
            temporary: None,
        }
    }
}

impl BuildOptions {
    /// Fails if options do not go together.
    pub(crate) fn check(&self) -> crate::Result<()> {
        Ok(())
    }
}
