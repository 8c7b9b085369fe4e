//! Reads and builds bsdb databases: immutable key-value data sets.
//!
//! A database is a directory. Open it and look keys up:
//!
//! ```no_run
//! let db = bsdb::Database::open("rdb")?;
//! if let Some(value) = db.get(b"key")? {
//!     println!("{}", String::from_utf8_lossy(&value));
//! }
//! for value in db.get_many(&["a", "b", "c"])? {
//!     println!("{value:?}");
//! }
//! for record in db.scan()? {
//!     let (key, value) = record?;
//!     println!("{} {}", key.len(), value.len());
//! }
//! # Ok::<(), bsdb::Error>(())
//! ```
//!
//! If the order of the keys was stored (`bsdb build --ordered`), [`Database::range`] and [`Database::prefix`] give
//! records in that order.
//!
//! [`Database::open`] takes a database, a set of shards (whole or in part) or a store, whose current version
//! it opens; [`Store`] follows a store from version to version.
//!
//! With the feature `remote`, they also take URLs: `s3://bucket/rdb`, `gs://…`, `az://…`, `abfss://…`, and `https://…`
//! for any web server that sends ranges. Then the database is read where it lies. Opening it takes three to six
//! requests, a lookup takes one in the packed layouts and two in the others, and the requests of a batch are under way at
//! once. `Database::aget` waits without blocking. `get_once` reads one value of a database that is not open, in two
//! requests. Credentials are those of the environment or of the machine; see `Remote`.
//!
//! A page is verified when it is first read. Damage is an [`Error`] that names the file and the byte; it is
//! never a panic and never a wrong value. The files must not change while they are open, which is what the
//! builder and `bsdb publish` see to: new versions go to new files.
//!
//! The format is documented in `docs/FORMAT.md`; comments cite its sections.
#![deny(unsafe_code, missing_docs)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("bsdb maps whole files, which needs addresses of 64 bits");

mod batch;
mod database;
mod diff;
mod error;
mod file;
mod format;
mod hash;
mod index;
mod keys;
mod layout;
mod memory;
mod options;
mod order;
mod os;
#[cfg(unix)]
mod publish;
#[cfg(feature = "remote")]
mod remote;
mod scan;
mod shards;
mod single;
mod store;
mod verify;
mod write;

pub use database::{Database, Statistics};
pub use diff::{Diff, Difference, Differences};
pub use error::{Error, RemoteKind, Result};
pub use file::paged::Access;
pub use format::elements::{Element, ValueElements};
pub use format::facts::Layout;
pub use keys::{PublicKey, SigningKey};
pub use options::Options;
pub use order::key_range::KeyRange;
pub use order::walk::{Keys, Range};
#[cfg(unix)]
pub use publish::{publish, publish_while, rollback, versions, PublishOptions, Published, Version};
#[cfg(feature = "remote")]
pub use remote::{
    once::{aget_once, get_once},
    options::{Remote, Traffic},
    runtime::{spawn, Task},
};
pub use scan::Scan;
pub use store::Store;
pub use verify::Verified;
pub use write::builder::{Builder, Built};
pub use write::control::{Progress, Stage};
pub use write::merge::{Changes, Merger};
pub use write::options::{BuildOptions, Duplicates};
pub use write::sign::sign;

/// The examples in the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
