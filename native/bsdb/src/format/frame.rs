//! Header and footer of a file (FORMAT.md §2).

use std::path::Path;

use super::page;
use super::{u16_at, u32_at, u64_at};
use crate::error::{Error, Result};

/// The kinds of files (FORMAT.md §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Manifest = 1,
    Hash = 2,
    Index = 3,
    Data = 4,
    Dictionary = 5,
    Filter = 6,
    Order = 7,
}

impl Kind {
    /// The kind that a manifest calls `name`.
    pub(crate) fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "data" => Kind::Data,
            "dictionary" => Kind::Dictionary,
            "hash" => Kind::Hash,
            "index" => Kind::Index,
            "filter" => Kind::Filter,
            "order" => Kind::Order,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Manifest => "manifest",
            Kind::Hash => "hash",
            Kind::Index => "index",
            Kind::Data => "data",
            Kind::Dictionary => "dictionary",
            Kind::Filter => "filter",
            Kind::Order => "order",
        }
    }
}

/// The identifier of a database or a set: 16 bytes derived from its manifest.
pub(crate) type Id = [u8; 16];

/// An id in hexadecimal digits.
pub(crate) fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a header or footer says beside the facts that are checked.
pub(crate) struct Frame {
    pub(crate) id: Id,
    pub(crate) pages: u64,
    pub(crate) digest: u64,
}

/// Checks a header: page 0.
pub(crate) fn header(path: &Path, bytes: &[u8], kind: Kind, number: u16) -> Result<Frame> {
    frame(path, bytes, 0, b"BSDBFILE", kind, number)
}

/// Checks a footer: the last page, whose number is `page`.
pub(crate) fn footer(path: &Path, bytes: &[u8], page: u64, kind: Kind, number: u16) -> Result<Frame> {
    frame(path, bytes, page, b"BSDBTAIL", kind, number)
}

fn frame(path: &Path, bytes: &[u8], page: u64, magic: &[u8; 8], kind: Kind, number: u16) -> Result<Frame> {
    let at = page * page::SIZE as u64;
    let what = if magic == b"BSDBFILE" { "header" } else { "footer" };
    if bytes.len() != page::SIZE || &bytes[..8] != magic {
        let name = String::from_utf8_lossy(magic);
        let found = String::from_utf8_lossy(&bytes[..bytes.len().min(8)]).into_owned();
        return Err(Error::damaged(path, at, format!("a {what} that begins with {name}"), format!("{found:?}")));
    }
    let computed = page::checksum(bytes, kind as u16, number, page);
    let stored = page::stored(bytes);
    let version = u16_at(bytes, 8).unwrap_or(0);
    let found_kind = u16_at(bytes, 10).unwrap_or(0);
    let found_number = u32_at(bytes, 12).unwrap_or(0);
    if computed != stored {
        // A whole page of another kind or number has the checksum of its own place.
        let own = page::checksum(bytes, found_kind, found_number as u16, page);
        if own != stored || found_kind == kind as u16 && found_number == u32::from(number) {
            return Err(Error::damaged(
                path,
                at,
                format!("a {what} with checksum {computed:08x}"),
                format!("{stored:08x}"),
            ));
        }
    }
    if version != 1 {
        return Err(Error::Unsupported {
            path: path.to_owned(),
            reason: format!("format version {version}; this version of bsdb reads version 1"),
        });
    }
    if found_kind != kind as u16 || found_number != u32::from(number) {
        return Err(Error::damaged(
            path,
            at + 10,
            format!("file {number} of kind {} ({})", kind as u16, kind.name()),
            format!("file {found_number} of kind {found_kind}"),
        ));
    }
    let mut id = [0; 16];
    id.copy_from_slice(&bytes[16..32]);
    Ok(Frame { id, pages: u64_at(bytes, 32).unwrap_or(0), digest: u64_at(bytes, 40).unwrap_or(0) })
}
