//! Signs databases that were built (FORMAT.md §18).

use std::fs;
use std::path::{Path, PathBuf};

use super::set::force;
use super::work;
use crate::error::{Error, Result};
use crate::file::directory::{Manifest, Stated};
use crate::format::facts::MANIFEST;
use crate::format::page::SIZE;
use crate::format::signed;
use crate::keys::SigningKey;

/// Signs the manifest of a database, or those of a set and its shards, in place of signatures that they may have, and
/// replaces the file of each in one step. Waits for builds that replace the database. The id and all other files stay
/// as they are. Fails if a manifest has no content hashes because an older version wrote it. Sign before the database
/// is copied anywhere: copies of it count as the same database.
///
/// ```no_run
/// bsdb::sign("rdb", &bsdb::SigningKey::read("key.pem")?)?;
/// # Ok::<(), bsdb::Error>(())
/// ```
pub fn sign(path: impl AsRef<Path>, key: &SigningKey) -> Result<()> {
    let directory = path.as_ref();
    Manifest::load(directory)?; // or there is no database
    work::in_turn(directory, |directory, scratch| {
        let mut directories = Vec::new();
        let (file, bytes) = Manifest::load(directory)?;
        if let Stated::Set(set) = Manifest::of(file, &bytes)?.parse()? {
            directories.extend(set.held.iter().map(|&number| directory.join(set.shards[number as usize].directory())));
        }
        directories.push(directory.to_path_buf());
        let signed: Vec<_> = directories.iter().map(|directory| signed(directory, key)).collect::<Result<_>>()?;
        for (directory, (file, bytes)) in directories.iter().zip(&signed) {
            replace(file, bytes, &scratch.join("manifest-0.part"))?;
            force(directory)?;
        }
        Ok(())
    })
}

/// The file of a directory's manifest, and its bytes with the signature.
fn signed(directory: &Path, key: &SigningKey) -> Result<(PathBuf, Vec<u8>)> {
    let (file, mut bytes) = Manifest::load(directory)?;
    let manifest = Manifest::of(file, &bytes)?;
    if !manifest.has_content_hashes() {
        return Err(Error::Argument(format!(
            "{} has no content hashes, because an older version wrote it; a signature would not cover the content, so \
             build the database anew",
            directory.join(MANIFEST).display()
        )));
    }
    let footer = bytes.len() - SIZE;
    signed::store(&mut bytes[footer..], (footer / SIZE) as u64, &manifest.sign(key));
    Ok((directory.join(MANIFEST), bytes))
}

fn replace(file: &Path, bytes: &[u8], part: &Path) -> Result<()> {
    fs::copy(file, part).map_err(|e| Error::io(part, e))?; // with its permissions
    let written = fs::OpenOptions::new().write(true).open(part).and_then(|mut out| {
        std::io::Write::write_all(&mut out, bytes)?;
        out.sync_all()
    });
    written.and_then(|()| fs::rename(part, file)).map_err(|e| Error::io(file, e))
}
