//! Reads keys from data files that are complete but not sealed (FORMAT.md §4).

use std::fs::File;
use std::path::PathBuf;

use zstd_safe::DDict;

use super::data::{self, STRIPE};
use super::options::BuildOptions;
use super::output::Finished;
use crate::error::{Error, Result};
use crate::format::address::Address;
use crate::format::block;
use crate::format::facts::Layout;
use crate::format::page::{offset_of, position_of, PAYLOAD, SIZE};
use crate::format::record::{self, Header, Parsed, SHORT, WIDE};
use crate::layout::zstd::{Decompressor, Fault};
use crate::memory;
use crate::os::direct::read_exact;

/// Bytes that a scan reads at once.
const AHEAD: usize = 1 << 20;

/// The data files of a build.
pub(crate) struct Unsealed {
    files: Vec<UnsealedFile>,
    layout: Layout,
    detail_bits: u32,
    dictionary: Option<DDict<'static>>,
}

struct UnsealedFile {
    path: PathBuf,
    file: File,
    end: u64,
}

impl Unsealed {
    /// Opens the files, which were written with these options and this dictionary.
    pub(crate) fn open(files: &[Finished], options: &BuildOptions, dictionary: Option<&[u8]>) -> Result<Unsealed> {
        let open = |finished: &Finished| {
            let path = finished.path().to_owned();
            let file = File::open(&path).map_err(|e| Error::io(&path, e))?;
            Ok(UnsealedFile { path, file, end: finished.line.end })
        };
        let dictionary = match (dictionary, files.first()) {
            (Some(bytes), Some(file)) => {
                Some(DDict::try_create(bytes).ok_or_else(|| memory::lacking(file.path(), bytes.len()))?)
            }
            _ => None,
        };
        Ok(Unsealed {
            files: files.iter().map(open).collect::<Result<_>>()?,
            layout: options.layout,
            detail_bits: data::detail(options.layout, options.block),
            dictionary,
        })
    }

    /// A reader. One thread uses it.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            unsealed: self,
            file: usize::MAX,
            from: 0,
            payload: Vec::new(),
            pages: Vec::new(),
            raw: Vec::new(),
            zstd: Decompressor::default(),
        }
    }
}

/// Reads records, and holds what it read last.
pub(crate) struct Reader<'a> {
    unsealed: &'a Unsealed,
    file: usize,
    /// The position in the stream of payload bytes of what was read.
    from: u64,
    payload: Vec<u8>,
    pages: Vec<u8>,
    /// The raw bytes of a block.
    raw: Vec<u8>,
    zstd: Decompressor,
}

impl Reader<'_> {
    /// The key of the record at an address.
    pub(crate) fn key(&mut self, address: u64) -> Result<Vec<u8>> {
        let unsealed = self.unsealed;
        let place = Address::decode(address, unsealed.detail_bits)
            .filter(|at| unsealed.files.get(usize::from(at.file)).is_some_and(|file| at.offset < file.end));
        let Some(at) = place else {
            return Err(Error::Impossible(format!("no record was written at the address {address}")));
        };
        let file = usize::from(at.file);
        let key = if unsealed.layout == Layout::Compressed {
            self.block(file, at.offset, 0)?;
            let start = at.detail as usize;
            header(self.raw.get(start..)).map(|header| &self.raw[start + header.size..][..header.key])
        } else {
            self.record(file, at.offset, 0)?.map(|(_, key)| key)
        };
        let Some(key) = key else {
            return Err(self.damaged(file, at.offset));
        };
        memory::copy(key, &unsealed.files[file].path)
    }

    /// Passes on the keys of all records in the order in which they were written, while the function returns true.
    pub(crate) fn scan(&mut self, mut each: impl FnMut(&[u8]) -> Result<bool>) -> Result<()> {
        let mut next: Vec<u64> = vec![SIZE as u64; self.unsealed.files.len()];
        let mut stripe_end = STRIPE;
        let mut left = true;
        while left {
            left = false;
            for file in 0..next.len() {
                let end = self.unsealed.files[file].end;
                while next[file] < end && (next[file] < stripe_end || next.len() == 1) {
                    let Some(after) = self.step(file, next[file], &mut each)? else {
                        return Ok(());
                    };
                    next[file] = after;
                }
                left |= next[file] < end;
            }
            stripe_end += STRIPE;
        }
        Ok(())
    }

    /// Passes on the keys of the record or block at an offset. Returns where the next one may be; None: no more is
    /// wanted.
    fn step(&mut self, file: usize, offset: u64, each: &mut impl FnMut(&[u8]) -> Result<bool>) -> Result<Option<u64>> {
        let page_end = (offset / SIZE as u64 + 1) * SIZE as u64;
        if self.unsealed.layout != Layout::Compressed {
            let blocked = self.unsealed.layout == Layout::Blocked;
            if blocked && offset % SIZE as u64 + SHORT as u64 > PAYLOAD as u64 {
                return Ok(Some(page_end));
            }
            let Some((header, key)) = self.record(file, offset, AHEAD)? else {
                return if blocked { Ok(Some(page_end)) } else { Err(self.damaged(file, offset)) };
            };
            if !each(key)? {
                return Ok(None);
            }
            let after = offset_of(position_of(offset) + header.record());
            let padded = blocked && header.record() > PAYLOAD as u64;
            return Ok(Some(if padded { after.next_multiple_of(SIZE as u64) } else { after }));
        }
        let after = self.block(file, offset, AHEAD)?;
        let mut at = 0;
        while at < self.raw.len() {
            let Some(header) = header(self.raw.get(at..)) else {
                return Err(self.damaged(file, offset));
            };
            if !each(&self.raw[at + header.size..][..header.key])? {
                return Ok(None);
            }
            at += header.record() as usize;
        }
        Ok(Some(after))
    }

    /// The header and the key of an uncompressed record; None: there is none at the offset.
    fn record(&mut self, file: usize, offset: u64, ahead: usize) -> Result<Option<(Header, &[u8])>> {
        let read = self.read(file, offset, WIDE, ahead)?;
        let Parsed::Header(header) = record::parse(read) else {
            return Ok(None);
        };
        let read = self.read(file, offset, header.size + header.key, ahead)?;
        Ok(read.get(header.size..header.size + header.key).map(|key| (header, key)))
    }

    /// Decompresses the block at an offset into `raw`. Returns where the next one is.
    fn block(&mut self, file: usize, offset: u64, ahead: usize) -> Result<u64> {
        let Ok(Some(block)) = block::parse(self.read(file, offset, block::MAX, ahead)?) else {
            return Err(self.damaged(file, offset));
        };
        let length = block.size + block.stored as usize;
        self.read(file, offset, length, ahead)?;
        let start = (position_of(offset) - self.from) as usize;
        let path = &self.unsealed.files[file].path;
        let Some(content) = self.payload.get(start + block.size..start + length) else {
            return Err(self.damaged(file, offset));
        };
        self.raw.clear();
        if block.plain {
            memory::reserve(&mut self.raw, content.len(), path)?;
            self.raw.extend_from_slice(content);
        } else {
            let dictionary = self.unsealed.dictionary.as_ref();
            let expanded = self.zstd.decompress(content, dictionary, block.raw as usize, &mut self.raw);
            expanded.map_err(|fault| match fault {
                Fault::NoMemory => memory::lacking(path, block.raw as usize),
                Fault::Wrong(found) => Error::damaged(path, offset, "a ZSTD frame", found),
            })?;
        }
        Ok(offset_of(position_of(offset) + length as u64))
    }

    /// Payload bytes from an offset on: so many, or fewer at the end of the file. More are read ahead.
    fn read(&mut self, file: usize, offset: u64, length: usize, ahead: usize) -> Result<&[u8]> {
        let UnsealedFile { path, file: from, end } = &self.unsealed.files[file];
        let position = position_of(offset);
        let length = (length as u64).min(position_of(*end).saturating_sub(position)) as usize;
        let held = self.from..self.from + self.payload.len() as u64;
        if file != self.file || position < held.start || position + length as u64 > held.end {
            let first = offset / SIZE as u64;
            let wanted = (offset % SIZE as u64) as usize + length.max(ahead);
            let pages = (wanted.div_ceil(PAYLOAD) as u64).min((end - 1) / SIZE as u64 + 1 - first) as usize;
            self.payload.clear();
            memory::reserve(&mut self.payload, pages * PAYLOAD, path)?;
            self.pages.clear();
            memory::reserve(&mut self.pages, pages * SIZE, path)?;
            self.pages.resize(pages * SIZE, 0);
            read_exact(from, &mut self.pages, first * SIZE as u64).map_err(|e| Error::io(path, e))?;
            self.pages.chunks_exact(SIZE).for_each(|page| self.payload.extend_from_slice(&page[..PAYLOAD]));
            self.file = file;
            self.from = position_of(first * SIZE as u64);
        }
        let start = (position - self.from) as usize;
        Ok(&self.payload[start..start + length])
    }

    /// The build wrote the record a moment ago.
    fn damaged(&self, file: usize, offset: u64) -> Error {
        Error::damaged(&self.unsealed.files[file].path, offset, "the record that was written there", "none")
    }
}

/// The header of the whole record at the start of some bytes.
fn header(bytes: Option<&[u8]>) -> Option<Header> {
    match record::parse(bytes?) {
        Parsed::Header(header) if header.record() <= bytes?.len() as u64 => Some(header),
        _ => None,
    }
}
