//! What can go wrong, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation on a database.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a database could not be opened or read. The text names the file and what to do next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The path is not a database, a set of shards or a store.
    NotADatabase {
        /// The path.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// A file is not as the builder wrote it.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The byte, counted from the start of the file.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The database has a format that this version cannot read.
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// What it says, and what this version reads.
        reason: String,
    },
    /// The directory holds only some shards of a set, and the key belongs to another one.
    NotHeld {
        /// The directory.
        path: PathBuf,
        /// The number of the key's shard.
        shard: u32,
    },
    /// This kind of database cannot answer the question.
    Impossible(String),
    /// There is no memory for a value, or for the answers of a batch. The database can be used as before.
    NoMemory {
        /// The file or directory.
        path: PathBuf,
        /// The bytes that were wanted.
        bytes: usize,
    },
    /// The caller stopped [`verify_while`](crate::Database::verify_while).
    Stopped,
}

impl Error {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Error::Io { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Error::Damaged { path: path.to_owned(), offset, expected: expected.into(), found: found.into() }
    }

    /// The file or directory that the error is about, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Error::Io { path, .. }
            | Error::NotADatabase { path, .. }
            | Error::Damaged { path, .. }
            | Error::Unsupported { path, .. }
            | Error::NotHeld { path, .. }
            | Error::NoMemory { path, .. } => Some(path),
            Error::Impossible(_) | Error::Stopped => None,
        }
    }

    /// Whether a file is missing, perhaps because the database is being replaced.
    pub(crate) fn is_missing_file(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::NotADatabase { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::Damaged { path, offset, expected, found } => write!(
                f,
                "{}: damaged at byte {offset}: expected {expected}, found {found} (copy the database \
                 again or rebuild it)",
                path.display()
            ),
            Error::Unsupported { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::NotHeld { path, shard } => write!(
                f,
                "{}: the key belongs to shard {shard}, which this directory does not hold; ask where \
                 that shard is",
                path.display()
            ),
            Error::Impossible(reason) => f.write_str(reason),
            Error::NoMemory { path, bytes } => write!(
                f,
                "{}: no memory for {bytes} bytes, which a value or a batch needs; raise the limit of this process, or \
                 ask for fewer keys at once",
                path.display()
            ),
            Error::Stopped => f.write_str("stopped by the caller"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
