//! Bytes that lie aside in a temporary file until they are needed.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::format::{u32_at, u64_at};
use crate::memory;
use crate::os::direct::read_exact;

/// Pieces of bytes in a temporary file, which the first one creates, and which is removed when this is dropped.
pub(super) struct Aside {
    path: PathBuf,
    file: Option<File>,
    end: u64,
}

impl Aside {
    /// Bytes that say where a piece is: offset, length, CRC32C.
    pub(super) const PLACE: usize = 16;

    pub(super) fn new(path: PathBuf) -> Aside {
        Aside { path, file: None, end: 0 }
    }

    /// Puts a piece of less than 4 GiB; returns where it is.
    pub(super) fn put(&mut self, piece: &[u8]) -> Result<[u8; Aside::PLACE]> {
        let failed = |e| Error::io(&self.path, e);
        if self.file.is_none() {
            self.file = Some(File::options().read(true).write(true).create_new(true).open(&self.path).map_err(failed)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(piece).map_err(failed)?;
        }
        let mut place = [0; Aside::PLACE];
        place[..8].copy_from_slice(&self.end.to_le_bytes());
        place[8..12].copy_from_slice(&(piece.len() as u32).to_le_bytes());
        place[12..].copy_from_slice(&crc32c::crc32c(piece).to_le_bytes());
        self.end += piece.len() as u64;
        Ok(place)
    }

    /// Reads a piece, instead of what the buffer holds.
    pub(super) fn read(&self, place: &[u8], to: &mut Vec<u8>) -> Result<()> {
        let at = u64_at(place, 0).unwrap_or(0);
        let length = u32_at(place, 8).unwrap_or(0) as usize;
        let wanted = u32_at(place, 12).unwrap_or(0);
        to.clear();
        memory::reserve(to, length, &self.path)?;
        to.resize(length, 0);
        if let Some(file) = &self.file {
            read_exact(file, to, at).map_err(|e| Error::io(&self.path, e))?;
        }
        let found = crc32c::crc32c(to);
        if found != wanted {
            let expected = format!("checksum {wanted:08x} of a temporary file");
            let found =
                format!("bytes of this build that another process or the device changed, with checksum {found:08x}");
            return Err(Error::damaged(&self.path, at, expected, found));
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path); // its directory is removed as well
        }
    }
}
