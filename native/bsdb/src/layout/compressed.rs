//! The layout compressed: an address leads to a block and a record in it (FORMAT.md §4).

use zstd_safe::DDict;

use super::zstd::Fault;
use super::{Outcome, Place, Work};
use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::address::Address;
use crate::format::block::{self, Block};
use crate::format::page::{PAYLOAD, SIZE};
use crate::format::record::{self, Parsed};
use crate::format::span::Span;
use crate::memory;

/// The place of an address, if blocks of at most `longest` bytes are read at once.
#[inline]
pub(crate) fn place(address: Address, longest: u64, pages: u64) -> Place {
    let first = address.offset / SIZE as u64;
    let at = address.offset % SIZE as u64;
    let count = (at + longest.clamp(1, 1 << 22)).div_ceil(PAYLOAD as u64);
    let left = pages.saturating_sub(1).saturating_sub(first);
    Place {
        file: usize::from(address.file),
        first,
        count: count.min(left).max(1),
        at: at as usize,
        detail: address.detail as usize,
    }
}

/// Decompresses the block at a place, compares the key of the record and finds its value.
pub(crate) fn search(
    file: &PagedFile,
    place: &Place,
    pages: &[u8],
    key: &[u8],
    dictionary: Option<&DDict<'static>>,
    work: &mut Work,
) -> Result<Outcome> {
    let at = place.first * SIZE as u64 + place.at as u64;
    if place.at >= PAYLOAD {
        return Err(file.damaged(at, "a block", "an address in a checksum"));
    }
    let span = Span::new(pages);
    let (head, length) = span.head::<{ block::MAX }>(place.at);
    let block = match block::parse(&head[..length]) {
        Ok(Some(block)) => block,
        Ok(None) => return Ok(Outcome::More(place.count + 1)),
        Err(found) => return Err(file.damaged(at, "a block", found)),
    };
    let end = place.at as u64 + block.size as u64 + block.stored;
    if end > span.len() as u64 {
        return Ok(Outcome::More(end.div_ceil(PAYLOAD as u64)));
    }
    let content = place.at + block.size;
    if block.plain {
        span.copy(content, block.stored as usize, &mut work.raw, file.path())?;
    } else if let Some(range) = span.contiguous(content, block.stored as usize) {
        expand(file, at, &block, &pages[range], dictionary, work)?;
    } else {
        let mut frame = std::mem::take(&mut work.frame);
        let copied = span.copy(content, block.stored as usize, &mut frame, file.path());
        let result = copied.and_then(|_| expand(file, at, &block, &frame, dictionary, work));
        work.frame = frame;
        result?;
    }
    let records = &work.raw[..];
    match records.get(place.detail..).map(record::parse) {
        Some(Parsed::Header(header)) if place.detail as u64 + header.record() <= records.len() as u64 => {
            let key_at = place.detail + header.size;
            let value_at = key_at + header.key;
            if records[key_at..value_at] != *key {
                return Ok(Outcome::Absent);
            }
            Ok(Outcome::Raw(value_at..value_at + header.value))
        }
        _ => Err(file.damaged(at, format!("a block with a record at its byte {}", place.detail), "none there")),
    }
}

/// Decompresses a frame into `work.raw`.
pub(crate) fn expand(
    file: &PagedFile,
    at: u64,
    block: &Block,
    frame: &[u8],
    dictionary: Option<&DDict<'static>>,
    work: &mut Work,
) -> Result<()> {
    let length = block.raw as usize;
    work.zstd.decompress(frame, dictionary, length, &mut work.raw).map_err(|fault| match fault {
        Fault::NoMemory => memory::lacking(file.path(), length),
        Fault::Wrong(found) => file.damaged(at, format!("a ZSTD frame of {length} bytes of records"), found),
    })
}
