//! What can go wrong, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::format::frame::hex;

/// The result of an operation on a database.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a database could not be opened, read or built. The text names the file and what to do next.
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
    /// No trusted key has signed a manifest, although that is [required](crate::Options::trust).
    Untrusted {
        /// The file.
        path: PathBuf,
        /// What is wrong.
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
    /// There is no memory for a value, for the answers of a batch, or for a build. A database that is open can be used as
    /// before.
    NoMemory {
        /// The file or directory.
        path: PathBuf,
        /// The bytes that were wanted.
        bytes: usize,
    },
    /// The caller stopped [`verify_while`](crate::Database::verify_while) or a build.
    Stopped,
    /// A key was added twice, and the build keeps neither.
    Duplicate {
        /// The key.
        key: Vec<u8>,
        /// The number of the first record with the key, from 0, in the order in which they were added.
        first: u64,
        /// The number of the next record with the key.
        second: u64,
    },
    /// A build cannot write where it should: the target exists, or is not what may be replaced.
    Exists {
        /// The path.
        path: PathBuf,
        /// What is there, and what to do.
        reason: String,
    },
    /// An option, a key or a value is outside its range.
    Argument(String),
    /// A database elsewhere cannot be read.
    Remote {
        /// What kind of failure it is.
        kind: RemoteKind,
        /// The URL of the object or of the database, without anything secret.
        location: String,
        /// What happened, and what to do.
        message: String,
    },
}

/// Why a database elsewhere cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteKind {
    /// An object is missing, perhaps because the database was replaced or removed.
    Missing,
    /// There are no credentials, or they do not suffice.
    Denied,
    /// An object was replaced while the database was open.
    Changed,
    /// The server answered that it is busy, until the deadline.
    Busy,
    /// No answer came until the deadline.
    Late,
    /// There was no connection, or it broke again and again, until the deadline.
    Unreachable,
    /// The server does not do what is needed, such as sending a part of an object.
    Server,
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
            | Error::Untrusted { path, .. }
            | Error::NotHeld { path, .. }
            | Error::Exists { path, .. }
            | Error::NoMemory { path, .. } => Some(path),
            Error::Remote { location, .. } => Some(Path::new(location)),
            Error::Impossible(_) | Error::Stopped | Error::Duplicate { .. } | Error::Argument(_) => None,
        }
    }

    /// Whether a file is missing, perhaps because the database is being replaced.
    pub(crate) fn is_missing_file(&self) -> bool {
        match self {
            Error::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Error::Remote { kind, .. } => *kind == RemoteKind::Missing,
            _ => false,
        }
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
            Error::Untrusted { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::NotHeld { path, shard } => write!(
                f,
                "{}: the key belongs to shard {shard}, which this directory does not hold; ask where \
                 that shard is",
                path.display()
            ),
            Error::Impossible(reason) => f.write_str(reason),
            Error::NoMemory { path, bytes } => write!(
                f,
                "{}: no memory for {bytes} bytes, which a value, a batch or a build needs; raise the limit of this \
                 process, ask for fewer keys at once, or build with fewer memory_bytes and threads",
                path.display()
            ),
            Error::Stopped => f.write_str("stopped by the caller"),
            Error::Duplicate { key, first, second } => {
                write!(f, "duplicate key {} in records {first} and {second}", show(key))
            }
            Error::Exists { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::Argument(reason) => f.write_str(reason),
            Error::Remote { location, message, .. } => write!(f, "{location}: {message}"),
        }
    }
}

/// A key for messages: quoted text if it is printable UTF-8, otherwise hexadecimal digits. Long keys are cut.
pub(crate) fn show(key: &[u8]) -> String {
    const MOST: usize = 128;
    let head = &key[..key.len().min(MOST)];
    let tail = if key.len() > MOST { format!("... ({} bytes)", key.len()) } else { String::new() };
    match std::str::from_utf8(head) {
        Ok(text) if !text.chars().any(char::is_control) => format!("\"{text}\"{tail}"),
        _ => format!("0x{}{tail}", hex(head)),
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
