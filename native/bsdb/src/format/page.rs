//! Pages of 4,096 bytes and their checksums (FORMAT.md §2).

use super::u32_at;

/// Bytes of a page.
pub(crate) const SIZE: usize = 4096;

/// Bytes of a page before its checksum.
pub(crate) const PAYLOAD: usize = SIZE - 4;

/// The number that says where a page belongs; part of its checksum.
pub(crate) fn place(kind: u16, file: u16, page: u64) -> u32 {
    let mut z = page
        .wrapping_add(u64::from(kind) << 56)
        .wrapping_add(u64::from(file) << 44)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u32
}

/// The checksum that a page of 4,096 bytes should have.
pub(crate) fn checksum(page: &[u8], kind: u16, file: u16, number: u64) -> u32 {
    crc32c::crc32c(&page[..PAYLOAD]) ^ place(kind, file, number)
}

/// The checksum that a page of 4,096 bytes has.
pub(crate) fn stored(page: &[u8]) -> u32 {
    u32_at(page, PAYLOAD).unwrap_or(0)
}

/// The checksum of a whole page, as the hash file's table holds it (FORMAT.md §5).
pub(crate) fn table_checksum(page: &[u8], kind: u16, number: u64) -> u32 {
    crc32c::crc32c(page) ^ place(kind, 0, number)
}

/// One step of a file's digest (FORMAT.md §8).
pub(crate) fn digest(digest: u64, checksum: u32) -> u64 {
    let z = (digest ^ u64::from(checksum)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z ^ (z >> 29)
}

/// The byte offset in the file of a position in the stream of payload bytes.
pub(crate) fn offset_of(position: u64) -> u64 {
    (position / PAYLOAD as u64 + 1) * SIZE as u64 + position % PAYLOAD as u64
}

/// The position in the stream of payload bytes of a byte offset in the file.
pub(crate) fn position_of(offset: u64) -> u64 {
    (offset / SIZE as u64).saturating_sub(1) * PAYLOAD as u64 + offset % SIZE as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_is_that_of_rfc_3720() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn offsets_skip_checksums() {
        assert_eq!(offset_of(0), 4096);
        assert_eq!(offset_of(4091), 8187);
        assert_eq!(offset_of(4092), 8192);
    }
}
