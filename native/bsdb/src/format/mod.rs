//! The bytes of `docs/FORMAT.md`: pages, frames, records, blocks, manifests. No files are opened here.

pub(crate) mod address;
pub(crate) mod block;
pub(crate) mod content;
pub(crate) mod elements;
pub(crate) mod facts;
pub(crate) mod frame;
pub(crate) mod page;
pub(crate) mod record;
pub(crate) mod routing;
pub(crate) mod sample;
pub(crate) mod set;
pub(crate) mod signed;
pub(crate) mod span;
pub(crate) mod text;

/// The little-endian number in the two bytes at `at`, if they are there.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// The little-endian number in the four bytes at `at`, if they are there.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The little-endian number in the eight bytes at `at`, if they are there.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// `floor((high >>> 1) * n / 2^63)`: how signatures are divided among buckets, parts, bins and quotients.
#[inline]
pub(crate) fn scaled(high: u64, n: u64) -> u64 {
    ((u128::from(high >> 1) * u128::from(n)) >> 63) as u64
}
