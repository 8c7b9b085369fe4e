//! The files of a database while they are written: pages with checksums, a header, a footer (FORMAT.md §2).

use std::io::{Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use super::force::EarlyForce;
use super::pieces::Pieces;
use super::temporary::Temporary;
use crate::error::{Error, Result};
use crate::format::facts::FileLine;
use crate::format::frame::{Id, Kind};
use crate::format::page;
use crate::format::signed::{self, ManifestSignature};
use crate::keys::SigningKey;
use crate::memory;

/// Bytes that are handed to the operating system at once: the pages of a piece (FORMAT.md §8), and before the first one
/// the header.
const BUFFER: usize = 1 << 20;

/// A file whose content is being written. It is deleted when it is dropped before it was sealed.
#[derive(Debug)]
pub(crate) struct OutputFile {
    kind: Kind,
    number: u16,
    part: Temporary,
    force: EarlyForce,
    buffer: Vec<u8>,
    /// Where the current page begins in the buffer; its payload follows up to the end of the buffer.
    start: usize,
    /// The number of the current page.
    page: u64,
    digest: u64,
    pieces: Pieces,
}

impl OutputFile {
    /// Creates a file in a directory.
    pub(crate) fn create(directory: &Path, kind: Kind, number: u16) -> Result<OutputFile> {
        let path = directory.join(format!("{}-{number}.part", kind.name()));
        let part = Temporary::create(&path)?;
        let mut buffer = memory::with_capacity(BUFFER, &path)?;
        buffer.resize(page::SIZE, 0); // the header is written when the file is sealed
        Ok(OutputFile {
            kind,
            number,
            part,
            force: EarlyForce::default(),
            buffer,
            start: page::SIZE,
            page: 1,
            digest: 0,
            pieces: Pieces::default(),
        })
    }

    /// Lets another thread help, if a build of so many threads has one.
    pub(crate) fn with_threads(mut self, threads: usize) -> OutputFile {
        self.pieces.set_apart(threads > 1);
        self
    }

    /// The path while the file is written.
    pub(crate) fn path(&self) -> &Path {
        self.part.path()
    }

    /// The byte offset of the next byte of payload.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.page * page::SIZE as u64 + self.used() as u64
    }

    /// Bytes of payload in the current page.
    #[inline]
    fn used(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Bytes that fit in the current page, 1 to 4,092.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        page::PAYLOAD - self.used()
    }

    /// Appends payload, on further pages if the current one has no room.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let mut left = bytes;
        loop {
            let room = self.room();
            if left.len() < room {
                self.buffer.extend_from_slice(left);
                return Ok(());
            }
            let (now, rest) = left.split_at(room);
            self.buffer.extend_from_slice(now);
            self.end_page()?;
            left = rest;
        }
    }

    /// Fills the current page with zeros, unless it has no payload.
    pub(crate) fn pad(&mut self) -> Result<()> {
        if self.used() == 0 {
            return Ok(());
        }
        self.buffer.resize(self.start + page::PAYLOAD, 0);
        self.end_page()
    }

    /// Ends the current page, which is full.
    fn end_page(&mut self) -> Result<()> {
        let payload = &self.buffer[self.start..];
        let checksum = crc32c::crc32c(payload) ^ page::place(self.kind as u16, self.number, self.page);
        self.buffer.extend_from_slice(&checksum.to_le_bytes());
        self.next_page(checksum)
    }

    /// Appends a whole page of content whose checksum is stored elsewhere (FORMAT.md §5), and returns the checksum. No
    /// page may be begun.
    pub(crate) fn put_page(&mut self, bytes: &[u8; page::SIZE]) -> Result<u32> {
        debug_assert_eq!(self.used(), 0);
        let checksum = page::table_checksum(bytes, self.kind as u16, self.page);
        self.buffer.extend_from_slice(bytes);
        self.next_page(checksum)?;
        Ok(checksum)
    }

    fn next_page(&mut self, checksum: u32) -> Result<()> {
        self.digest = page::digest(self.digest, checksum);
        self.page += 1;
        if self.buffer.len() + page::SIZE > BUFFER {
            self.write_out()?;
        }
        self.start = self.buffer.len();
        Ok(())
    }

    /// Where the content begins in the buffer, which holds whole pages: behind the header, if this is in it.
    fn content(&self) -> usize {
        if self.page as usize * page::SIZE == self.buffer.len() {
            page::SIZE
        } else {
            0
        }
    }

    /// Writes the full buffer while it is hashed.
    fn write_out(&mut self) -> Result<()> {
        let content = self.content();
        let piece = Arc::new(mem::take(&mut self.buffer));
        let before = self.pieces.add(&piece, content);
        let written = self.write(&piece);
        self.buffer = match before.or_else(|| Arc::into_inner(piece)) {
            Some(buffer) => buffer,
            None => memory::with_capacity(BUFFER, self.part.path())?,
        };
        self.buffer.clear();
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.part.write(bytes)?;
        self.force.written(self.part.file(), bytes.len()).map_err(|e| Error::io(self.part.path(), e))
    }

    /// Pads the last page. `end` is that of the file's line in the manifest; without it, it is the offset of the footer.
    pub(crate) fn finish(mut self, end: Option<u64>) -> Result<Finished> {
        self.pad()?;
        let content = self.content();
        let rest = mem::take(&mut self.buffer);
        self.write(&rest)?;
        let line = FileLine {
            kind: self.kind,
            number: self.number,
            pages: self.page + 1,
            digest: self.digest,
            end: end.unwrap_or(self.page * page::SIZE as u64),
            content_hash: Some(self.pieces.finish(&rest[content..])),
        };
        Ok(Finished { line, part: self.part, force: self.force, signature: None })
    }
}

/// A file with all its content, but without header and footer.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) line: FileLine,
    part: Temporary,
    force: EarlyForce,
    /// Of a manifest that is signed.
    signature: Option<ManifestSignature>,
}

impl Finished {
    /// The path until the file is sealed.
    pub(crate) fn path(&self) -> &Path {
        self.part.path()
    }

    /// Writes header and footer, forces the file to the device and gives it its name. Returns its length in bytes.
    pub(crate) fn seal(mut self, id: &Id) -> Result<u64> {
        let header = frame(b"BSDBFILE", &self.line, id, 0);
        let mut footer = frame(b"BSDBTAIL", &self.line, id, self.line.pages - 1);
        if let Some(signature) = &self.signature {
            signed::store(&mut footer, self.line.pages - 1, signature);
        }
        let mut file = self.part.file();
        let forced = self.force.end();
        let written = forced
            .and_then(|()| file.seek(SeekFrom::Start((self.line.pages - 1) * page::SIZE as u64)))
            .and_then(|_| file.write_all(&footer))
            .and_then(|_| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(&header))
            .and_then(|_| file.sync_all());
        written.map_err(|e| Error::io(self.part.path(), e))?;
        self.part.keep_as(&self.line.name(id))?;
        Ok(self.line.pages * page::SIZE as u64)
    }
}

/// A header or a footer: the page `number` of the file.
fn frame(magic: &[u8; 8], line: &FileLine, id: &Id, number: u64) -> [u8; page::SIZE] {
    let mut bytes = [0; page::SIZE];
    bytes[..8].copy_from_slice(magic);
    bytes[8..10].copy_from_slice(&1u16.to_le_bytes());
    bytes[10..12].copy_from_slice(&(line.kind as u16).to_le_bytes());
    bytes[12..16].copy_from_slice(&u32::from(line.number).to_le_bytes());
    bytes[16..32].copy_from_slice(id);
    if number > 0 {
        bytes[32..40].copy_from_slice(&line.pages.to_le_bytes());
        bytes[40..48].copy_from_slice(&line.digest.to_le_bytes());
    }
    let checksum = page::checksum(&bytes, line.kind as u16, line.number, number);
    bytes[page::PAYLOAD..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Writes the file of the dictionary (FORMAT.md §4), unsealed.
pub(crate) fn write_dictionary(directory: &Path, dictionary: &[u8]) -> Result<Finished> {
    let mut file = OutputFile::create(directory, Kind::Dictionary, 0)?;
    file.put(dictionary)?;
    let end = file.position();
    file.finish(Some(end))
}

/// Writes the manifest of a directory, signed by a key if there is one, and forced to the device. Returns its length in
/// bytes.
pub(crate) fn write_manifest(directory: &Path, text: &[u8], id: &Id, key: Option<&SigningKey>) -> Result<u64> {
    let mut file = OutputFile::create(directory, Kind::Manifest, 0)?;
    file.put(text)?;
    let mut finished = file.finish(None)?;
    finished.signature = key.map(|key| signed::sign(text, key));
    finished.seal(id)
}
