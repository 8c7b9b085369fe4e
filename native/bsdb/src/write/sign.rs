//! Signs databases that were built (FORMAT.md §18).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::set::force;
use super::temporary::Temporary;
use crate::error::{Error, Result};
use crate::file::directory::{Manifest, Stated};
use crate::format::facts::MANIFEST;
use crate::format::page::SIZE;
use crate::format::signed;
use crate::keys::SigningKey;

/// The name of the signed manifest until it replaces the other.
const SIGNED: &str = "manifest-signed.bsdb";

/// Signs the manifest of a database, or those of a set and its shards, in place of signatures that they may have, and
/// replaces the file of each in one step. The id and all other files stay as they are. Sign before the database is
/// copied anywhere.
///
/// ```no_run
/// bsdb::sign("rdb", &bsdb::SigningKey::read("key.pem")?)?;
/// # Ok::<(), bsdb::Error>(())
/// ```
pub fn sign(path: impl AsRef<Path>, key: &SigningKey) -> Result<()> {
    let directory = path.as_ref();
    let (file, bytes) = Manifest::load(directory)?;
    if let Stated::Set(set) = Manifest::of(file, &bytes)?.parse()? {
        for &number in &set.held {
            sign_one(&directory.join(set.shards[number as usize].directory()), key)?;
        }
    }
    sign_one(directory, key)
}

fn sign_one(directory: &Path, key: &SigningKey) -> Result<()> {
    let (file, mut bytes) = Manifest::load(directory)?;
    let manifest = Manifest::of(file, &bytes)?;
    manifest.parse()?;
    let footer = bytes.len() - SIZE;
    signed::store(&mut bytes[footer..], (footer / SIZE) as u64, &manifest.sign(key));
    let file = directory.join(SIGNED);
    match fs::remove_file(&file) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(Error::io(&file, e)),
        _ => {} // left by a process that was killed
    }
    let mut signed = Temporary::create(&file)?;
    signed.write(&bytes)?;
    signed.file().sync_all().map_err(|e| Error::io(&file, e))?;
    signed.keep_as(MANIFEST)?;
    force(directory)
}
