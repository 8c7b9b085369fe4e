//! Addresses of records (FORMAT.md §3).

/// Where a record is, or the block that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Number of the data file, 0 to 127.
    pub(crate) file: u16,
    /// Byte offset in the file.
    pub(crate) offset: u64,
    /// Pages minus one, or the offset in the decompressed block.
    pub(crate) detail: u64,
}

impl Address {
    /// Decodes an address whose detail has `bits` bits. The highest bit must be 0.
    #[inline]
    pub(crate) fn decode(word: u64, bits: u32) -> Option<Address> {
        if word >> 63 != 0 {
            return None;
        }
        Some(Address {
            file: (word >> 56) as u16,
            offset: (word & ((1 << 56) - 1)) >> bits,
            detail: word & ((1 << bits) - 1),
        })
    }
}

/// The bits of the detail in blocks of `block` bytes: max(8, ceil(log2(block))).
pub(crate) fn detail_bits(block: u64) -> u32 {
    if block <= 256 {
        8
    } else {
        64 - (block - 1).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_have_the_bits_of_a_block() {
        assert_eq!(detail_bits(0), 8);
        assert_eq!(detail_bits(256), 8);
        assert_eq!(detail_bits(512), 9);
        assert_eq!(detail_bits(513), 10);
        assert_eq!(detail_bits(1 << 20), 20);
    }

    #[test]
    fn decodes_the_example_of_the_format() {
        let address = Address::decode(0x10_3800, 8).unwrap();
        assert_eq!(address, Address { file: 0, offset: 4152, detail: 0 });
        assert_eq!(Address::decode(1 << 63, 8), None);
    }
}
