//! Files that are removed with what writes them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;

use crate::error::{Error, Result};
use crate::format::page::SIZE;
use crate::os::direct::read_exact;

/// A file of a build. It is removed when this is dropped, unless it was kept under another name, or the process is a fork
/// of the one that created the file and goes on to write it.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    file: File,
    process: u32,
    kept: bool,
}

impl Temporary {
    /// Creates the file. There must be none.
    pub(crate) fn create(path: &Path) -> Result<Temporary> {
        let created = File::options().read(true).write(true).create_new(true).open(path);
        let file = created.map_err(|e| Error::io(path, e))?;
        Ok(Temporary { path: path.to_owned(), file, process: process::id(), kept: false })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))
    }

    /// Fills a buffer from a place in the file.
    pub(crate) fn read(&self, to: &mut [u8], at: u64) -> Result<()> {
        read_exact(&self.file, to, at).map_err(|e| Error::io(&self.path, e))
    }

    /// Gives the space of bytes that are not read again back to the file system, if it can take it.
    pub(crate) fn free(&self, at: u64, length: u64) {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{fallocate, FallocateFlags};
            let start = at.next_multiple_of(SIZE as u64);
            let end = (at + length) / SIZE as u64 * SIZE as u64;
            if start < end {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let _ = fallocate(&self.file, flags, start, end - start);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (at, length);
    }

    /// Gives the file its final name, in the same directory.
    pub(crate) fn keep_as(&mut self, name: &str) -> Result<()> {
        let to = self.path.with_file_name(name);
        fs::rename(&self.path, &to).map_err(|e| Error::io(&self.path, e))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept && self.process == process::id() {
            let _ = fs::remove_file(&self.path); // its directory is removed as well
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_removed_unless_it_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let [removed, kept, foreign] = ["removed", "kept", "foreign"].map(|name| directory.path().join(name));
        let mut file = Temporary::create(&removed).unwrap();
        file.write(b"bytes").unwrap();
        let mut read = [0; 3];
        file.read(&mut read, 2).unwrap();
        assert_eq!(&read, b"tes");
        assert!(matches!(Temporary::create(&removed), Err(Error::Io { path, .. }) if path == removed));
        drop(file);
        Temporary::create(&removed).unwrap().keep_as("kept").unwrap();
        // As in a fork of the process that created it.
        Temporary::create(&foreign).unwrap().process += 1;
        assert_eq!((removed.exists(), kept.exists(), foreign.exists()), (false, true, true));
    }
}
