//! Headers of compressed blocks (FORMAT.md §4).

/// A block's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Bytes of the header.
    pub(crate) size: usize,
    /// Bytes of the records, decompressed.
    pub(crate) raw: u64,
    /// Bytes after the header: those of the ZSTD frame, or the raw bytes.
    pub(crate) stored: u64,
    /// Whether the records follow as they are.
    pub(crate) plain: bool,
}

/// The longest header.
pub(crate) const MAX: usize = 10;

/// The most raw bytes of a block that is compressed: a record of more is stored.
pub(crate) const MAX_COMPRESSED: u64 = 64 << 20;

/// Parses the header at the start of `bytes`. `Ok(None)`: more bytes are needed.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Block>, &'static str> {
    let Some((first, at)) = leb128(bytes, 0)? else {
        return Ok(None);
    };
    let raw = first >> 1;
    if raw == 0 {
        return Err("a block without records");
    }
    if first & 1 == 1 {
        return Ok(Some(Block { size: at, raw, stored: raw, plain: true }));
    }
    let Some((stored, size)) = leb128(bytes, at)? else {
        return Ok(None);
    };
    if stored >= raw || raw > MAX_COMPRESSED {
        return Err("a frame that is not shorter than its content");
    }
    Ok(Some(Block { size, raw, stored, plain: false }))
}

/// A number, and where it ends. `Ok(None)`: more bytes are needed.
pub(crate) fn leb128(bytes: &[u8], from: usize) -> Result<Option<(u64, usize)>, &'static str> {
    let mut value = 0u64;
    for (i, shift) in (0..35).step_by(7).enumerate() {
        let Some(&byte) = bytes.get(from + i) else {
            return Ok(None);
        };
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(Some((value, from + i + 1)));
        }
    }
    Err("a number of more than five bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_numbers() {
        assert_eq!(parse(&[0x07]), Ok(Some(Block { size: 1, raw: 3, stored: 3, plain: true })));
        let block = Block { size: 3, raw: 128, stored: 5, plain: false };
        assert_eq!(parse(&[0x80, 0x02, 5]), Ok(Some(block)));
        assert_eq!(parse(&[0x80]), Ok(None));
        assert!(parse(&[0; 10]).is_err());
        assert!(parse(&[0xff; 10]).is_err());
    }
}
