//! Frames of records (FORMAT.md §4).

/// The lengths in a record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Bytes of the header: 3 or 9.
    pub(crate) size: usize,
    pub(crate) key: usize,
    pub(crate) value: usize,
}

/// Bytes of the short header, and the least that is needed to tell which header it is.
pub(crate) const SHORT: usize = 3;

/// Bytes of the wide header.
pub(crate) const WIDE: usize = 9;

/// The longest key (FORMAT.md §9).
pub(crate) const MAX_KEY: usize = 65_535;

/// The longest value.
pub(crate) const MAX_VALUE: usize = 2_147_483_639;

/// The longest value of a short header.
const MAX_SHORT: usize = 32_510;

impl Header {
    /// The header of a record with a key and a value of these lengths: the short one if it fits.
    #[inline]
    pub(crate) fn of(key: usize, value: usize) -> Header {
        let short = (1..=255).contains(&key) && value <= MAX_SHORT;
        Header { size: if short { SHORT } else { WIDE }, key, value }
    }

    /// The bytes of the header, of which the first `size` count.
    #[inline]
    pub(crate) fn encode(&self) -> [u8; WIDE] {
        let mut bytes = [0; WIDE];
        if self.size == SHORT {
            bytes[0] = self.key as u8;
            bytes[1..3].copy_from_slice(&(self.value as u16).to_le_bytes());
        } else {
            bytes[1..3].fill(0xff);
            bytes[3..5].copy_from_slice(&(self.key as u16).to_le_bytes());
            bytes[5..9].copy_from_slice(&(self.value as u32).to_le_bytes());
        }
        bytes
    }

    /// Bytes of the whole record.
    pub(crate) fn record(&self) -> u64 {
        (self.size + self.key) as u64 + self.value as u64
    }
}

/// What the bytes at a record's place say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    Header(Header),
    /// More bytes are needed.
    Short,
    /// Zeros: no record.
    Padding,
    /// Not a header that a builder writes.
    Invalid,
}

/// Parses the header at the start of `bytes`, of which the first 9 count.
#[inline]
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let Some(&[key, low, high]) = bytes.first_chunk::<SHORT>() else {
        return Parsed::Short;
    };
    let value = usize::from(low) | usize::from(high) << 8;
    if key != 0 {
        if value > MAX_SHORT {
            return Parsed::Invalid;
        }
        return Parsed::Header(Header { size: SHORT, key: usize::from(key), value });
    }
    if value == 0 {
        return Parsed::Padding;
    }
    if value != 0xffff {
        return Parsed::Invalid;
    }
    let Some(wide) = bytes.first_chunk::<WIDE>() else {
        return Parsed::Short;
    };
    let key = usize::from(u16::from_le_bytes([wide[3], wide[4]]));
    let value = u32::from_le_bytes([wide[5], wide[6], wide[7], wide[8]]) as usize;
    if value > MAX_VALUE {
        return Parsed::Invalid;
    }
    Parsed::Header(Header { size: WIDE, key, value })
}

/// Finds a key among whole records that lie back to back. `Err` is the offset of bytes that are no record.
pub(crate) fn find(records: &[u8], from: usize, key: &[u8]) -> Result<Option<std::ops::Range<usize>>, usize> {
    let mut at = from;
    while at < records.len() {
        let Parsed::Header(header) = parse(&records[at..]) else {
            return Err(at);
        };
        let key_at = at + header.size;
        let value_at = key_at + header.key;
        let end = value_at + header.value;
        if end > records.len() {
            return Err(at);
        }
        if header.key == key.len() && &records[key_at..value_at] == key {
            return Ok(Some(value_at..end));
        }
        at = end;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_encoded_as_they_are_parsed() {
        for (key, value) in [(1, 0), (255, MAX_SHORT), (0, 0), (256, 0), (1, MAX_SHORT + 1), (MAX_KEY, MAX_VALUE)] {
            let header = Header::of(key, value);
            assert_eq!(parse(&header.encode()), Parsed::Header(header));
        }
    }

    #[test]
    fn parses_both_headers() {
        let short = Header { size: 3, key: 4, value: 0x31 };
        assert_eq!(parse(&[4, 0x31, 0]), Parsed::Header(short));
        let wide = Header { size: 9, key: 0, value: 21 };
        assert_eq!(parse(&[0, 255, 255, 0, 0, 21, 0, 0, 0]), Parsed::Header(wide));
        assert_eq!(parse(&[0, 255, 255, 0, 0, 21]), Parsed::Short);
        assert_eq!(parse(&[0, 0, 0, 1]), Parsed::Padding);
        assert_eq!(parse(&[0, 1, 0, 1]), Parsed::Invalid);
        assert_eq!(parse(&[1, 255, 255, 1]), Parsed::Invalid);
    }
}
