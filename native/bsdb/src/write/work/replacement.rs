//! The replacement of a database or a set of shards by another one, file by file (FORMAT.md §17).
//!
//! The new files, whose names are unique to their content, are moved in, those of a shard into its directory. The
//! rename of the manifest at the root makes readers see all of them at once. Then the old files are deleted, and the
//! directories that became empty. A journal of all these names lets the next build clean up after a killed one.
//! Nothing is moved or deleted through a symbolic link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::disk;
use super::names::{self, JOURNAL, REPLACING};
use crate::error::{Error, Result};
use crate::file::directory::{Listed, Manifest};
use crate::format::facts::MANIFEST;
use crate::format::frame::{hex, Id};
use crate::write::control::Control;

/// The most bytes of a journal: more than 16,384 shards with the most data files each need.
const MAX_JOURNAL: u64 = 1 << 28;

impl Listed {
    /// Reads the manifest of a directory.
    fn read(directory: &Path) -> Result<Listed> {
        manifest(directory)?.listed()
    }

    /// The names of the files of a shard, its manifest last.
    fn shard(&self, directory: &Path, shard: &str) -> Result<Vec<String>> {
        let path = directory.join(shard);
        if !disk::is_directory(&path) {
            return Err(Error::io(&path, ErrorKind::NotADirectory.into()));
        }
        let manifest = manifest(&path)?;
        if self.shards.get(shard) != Some(&manifest.id) {
            let listed = self.shards.get(shard).map(|id| hex(id)).unwrap_or_default();
            let found = format!("{}: the shard belongs to another set", hex(&manifest.id));
            return Err(Error::damaged(manifest.path(), 16, format!("database id {listed}"), found));
        }
        let listed = manifest.listed()?;
        let names = listed.files.iter().map(String::as_str).chain([MANIFEST]);
        Ok(names.map(|name| format!("{shard}/{name}")).collect())
    }

    /// Whether a file of another database or shard has the name of one of these files.
    fn collides(&self, other: &Listed) -> bool {
        let differs = |(name, id): (&String, &Id)| other.shards.get(name).is_some_and(|found| found != id);
        self.id != other.id && (self.shards.iter().any(differs) || !self.files.is_disjoint(&other.files))
    }

    /// Whether a name is that of one of the files, or is in the directory of one of the shards.
    fn holds(&self, name: &str) -> bool {
        match name.split_once('/') {
            Some((shard, _)) => self.shards.contains_key(shard),
            None => self.files.contains(name),
        }
    }
}

fn manifest(directory: &Path) -> Result<Manifest> {
    let path = directory.join(MANIFEST);
    // To open a pipe would wait for ever.
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(Error::NotADatabase { path, reason: "is not a file; a manifest is one".into() });
    }
    Manifest::read(directory)
}

/// The new content of a target.
pub(super) struct New {
    listed: Listed,
    /// The names of all files but the manifest at the root.
    names: Vec<String>,
}

impl New {
    /// Reads what is in the directory of a build.
    pub(super) fn read(directory: &Path, control: &Control) -> Result<New> {
        let listed = Listed::read(directory)?;
        let mut names: Vec<String> = listed.files.iter().cloned().collect();
        for shard in listed.shards.keys() {
            control.check()?;
            names.extend(listed.shard(directory, shard)?);
        }
        Ok(New { listed, names })
    }

    /// The number of files.
    pub(super) fn files(&self) -> u64 {
        self.names.len() as u64 + 1
    }

    /// Finds what is to be deleted in the target. Old files that stay because their manifest cannot be read are told in
    /// `warnings`.
    pub(super) fn replacing<'a>(
        self,
        from: &'a Path,
        target: &'a Path,
        warnings: &mut Vec<String>,
    ) -> Result<Replacement<'a>> {
        let mut replacement = Replacement { from, target, new: self, old_names: Vec::new(), old_shards: Vec::new() };
        if target.join(MANIFEST).exists() {
            match Listed::read(target) {
                Ok(old) => replacement.add_old(&old, warnings)?,
                Err(e @ (Error::Damaged { .. } | Error::Unsupported { .. })) => warnings
                    .push(format!("the replaced manifest could not be read, so its files were not deleted: {e}")),
                Err(e) => return Err(e),
            }
        }
        Ok(replacement)
    }
}

/// What a replacement moves and deletes.
pub(super) struct Replacement<'a> {
    from: &'a Path,
    target: &'a Path,
    new: New,
    old_names: Vec<String>,
    old_shards: Vec<String>,
}

impl Replacement<'_> {
    fn add_old(&mut self, old: &Listed, warnings: &mut Vec<String>) -> Result<()> {
        let new = &self.new.listed;
        if new.collides(old) {
            return Err(Error::Exists {
                path: self.target.to_owned(),
                reason: format!(
                    "the new database's files would have the same names as the old database's (ids {} and {}); choose \
                     another target",
                    hex(&new.id),
                    hex(&old.id)
                ),
            });
        }
        self.old_names.extend(old.files.difference(&new.files).cloned());
        // A shard that is in both has the same files.
        for shard in old.shards.keys().filter(|&shard| !new.shards.contains_key(shard)) {
            self.old_shards.push(shard.clone());
            if !disk::exists(&self.target.join(shard)) {
                continue;
            }
            match old.shard(self.target, shard) {
                Ok(names) => self.old_names.extend(names),
                Err(e) => warnings.push(format!(
                    "the replaced manifest of {shard} could not be read, so the files of this shard were not deleted: \
                     {e}"
                )),
            }
        }
        self.old_names.retain(|name| names::is_listed(name.as_bytes()));
        Ok(())
    }

    /// Writes the journal, forced to the device.
    pub(super) fn write_journal(&self) -> Result<()> {
        let mut text = String::new();
        for name in self.new.names.iter().chain(&self.old_names) {
            text.push_str(name);
            text.push('\n');
        }
        disk::write(&self.from.join(JOURNAL), &[text.as_bytes()])?;
        disk::force(self.from)
    }

    /// Moves the files in, the manifest at the root last. If that fails, or the build is stopped before, the old
    /// database remains, and what was moved in is deleted.
    pub(super) fn switch(&self, control: &Control) -> Result<()> {
        let mut made = Undo(Vec::new());
        let shards: Vec<PathBuf> = self.new.listed.shards.keys().map(|shard| self.target.join(shard)).collect();
        for shard in &shards {
            control.check()?;
            if disk::make(shard)? {
                made.0.push(shard.clone());
            } else if !disk::is_directory(shard) {
                return Err(Error::Exists {
                    path: shard.clone(),
                    reason: "is in the way of a shard's directory; move it away".into(),
                });
            }
        }
        for name in &self.new.names {
            control.check()?;
            let to = self.target.join(name);
            let there = disk::exists(&to);
            disk::rename(&self.from.join(name), &to)?;
            if !there {
                made.0.push(to);
            }
        }
        for shard in &shards {
            control.check()?;
            disk::force(shard)?;
        }
        disk::force(self.target)?;
        control.check()?;
        disk::rename(&self.from.join(MANIFEST), &self.target.join(MANIFEST))?;
        made.0.clear();
        Ok(())
    }

    /// Deletes the old files after the switch. Each result is told; a failure does not keep the others from being
    /// deleted.
    pub(super) fn delete_old(&self, mut tell: impl FnMut(Result<()>)) {
        for name in &self.old_names {
            tell(delete(self.target, name.as_bytes()));
        }
        for shard in &self.old_shards {
            tell(delete_shard(&self.target.join(shard)));
        }
    }
}

/// What was made so far. It is removed when this is dropped, files before their directories.
struct Undo(Vec<PathBuf>);

impl Drop for Undo {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // The first failure is the one to tell. A directory may hold files of others by now.
            let _ = if disk::is_directory(path) { fs::remove_dir(path) } else { fs::remove_file(path) };
        }
    }
}

/// Removes the files of a build that was killed while it replaced a database: those it moved in, or did not delete yet.
/// `directory` is that of the build; it holds the journal.
pub(super) fn recover(directory: &Path, target: &Path) -> Result<()> {
    let journal = directory.join(JOURNAL);
    let short = journal.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_JOURNAL);
    if !short || directory != target.join(REPLACING) {
        return Ok(());
    }
    let Ok(current) = Listed::read(target) else {
        return Ok(()); // it is not known which of the files are needed
    };
    let lines = File::open(&journal).map(BufReader::new).map_err(|e| Error::io(&journal, e))?.split(b'\n');
    let mut shards = BTreeSet::new();
    for line in lines {
        let name = line.map_err(|e| Error::io(&journal, e))?;
        let Some(name) = std::str::from_utf8(&name).ok().filter(|name| names::is_listed(name.as_bytes())) else {
            continue;
        };
        if !current.holds(name) {
            let _ = delete(target, name.as_bytes()); // what stays is unused and does no harm
            if let Some((shard, _)) = name.split_once('/') {
                shards.insert(shard.to_owned());
            }
        }
    }
    for shard in shards {
        let _ = delete_shard(&target.join(shard));
    }
    Ok(())
}

/// Deletes a file or a link, but not a directory, and nothing in a directory that is a link.
fn delete(target: &Path, name: &[u8]) -> Result<()> {
    let (shard, _) = names::split(name);
    let path = target.join(OsStr::from_bytes(name));
    let reached = shard.is_empty() || disk::is_directory(&target.join(OsStr::from_bytes(shard)));
    if reached && !disk::is_directory(&path) {
        disk::remove_file(&path)?;
    }
    Ok(())
}

/// Removes the directory of a shard, unless it holds something.
fn delete_shard(directory: &Path) -> Result<()> {
    if disk::is_directory(directory) {
        disk::remove_directory(directory)?;
    }
    Ok(())
}
