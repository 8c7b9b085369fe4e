//! The layouts blocked and compact: an address leads to a record (FORMAT.md §4).

use super::{Outcome, Place, Work};
use crate::error::Result;
use crate::file::paged::PagedFile;
use crate::format::address::Address;
use crate::format::page::{PAYLOAD, SIZE};
use crate::format::record::{self, Parsed};
use crate::format::span::Span;

/// The place of an address.
#[inline(always)]
pub(crate) fn place(address: Address) -> Place {
    Place {
        file: usize::from(address.file),
        first: address.offset / SIZE as u64,
        count: address.detail + 1,
        at: (address.offset % SIZE as u64) as usize,
        detail: 0,
    }
}

/// Compares the key of the record at a place and finds its value.
#[inline(always)]
pub(crate) fn search(file: &PagedFile, place: &Place, pages: &[u8], key: &[u8], work: &mut Work) -> Result<Outcome> {
    let damaged = |found: String| file.damaged(place.first * SIZE as u64 + place.at as u64, "a record", found);
    if place.at >= PAYLOAD {
        return Err(damaged("an address in a checksum".into()));
    }
    // Most records lie in one page.
    if let Parsed::Header(header) = record::parse(&pages[place.at..PAYLOAD]) {
        let key_at = place.at + header.size;
        let value_at = key_at + header.key;
        if value_at + header.value <= PAYLOAD {
            if header.key != key.len() || pages[key_at..value_at] != *key {
                return Ok(Outcome::Absent);
            }
            return Ok(Outcome::Pages(value_at..value_at + header.value));
        }
    }
    let span = Span::new(pages);
    let (head, length) = span.head::<{ record::WIDE }>(place.at);
    match record::parse(&head[..length]) {
        Parsed::Header(header) => {
            if header.key != key.len() {
                return Ok(Outcome::Absent);
            }
            let end = place.at as u64 + header.record();
            if end > span.len() as u64 {
                return Ok(Outcome::More(end.div_ceil(PAYLOAD as u64)));
            }
            let key_at = place.at + header.size;
            if !span.equals(key_at, key) {
                return Ok(Outcome::Absent);
            }
            let value_at = key_at + header.key;
            if let Some(range) = span.contiguous(value_at, header.value) {
                return Ok(Outcome::Pages(range));
            }
            span.copy(value_at, header.value, &mut work.raw, file.path())?;
            Ok(Outcome::Raw(0..header.value))
        }
        Parsed::Short => Ok(Outcome::More(place.count + 1)),
        Parsed::Padding => Err(damaged("zeros".into())),
        Parsed::Invalid => Err(damaged(format!("bytes {:02x?}", &head[..record::SHORT]))),
    }
}
