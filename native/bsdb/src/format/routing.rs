//! Which shard a key belongs to (FORMAT.md §14).

/// Slots of a set.
pub(crate) const SLOTS: u32 = 16_384;

/// The slot of a key, 0 to 16,383, as Redis Cluster computes it.
pub(crate) fn slot(key: &[u8]) -> u32 {
    u32::from(crc16(part(key))) % SLOTS
}

/// The shard of a slot among `shards`.
pub(crate) fn shard(slot: u32, shards: u32) -> u32 {
    (slot * shards + shards - 1) / SLOTS
}

/// What decides: the bytes between the first `{` and the next `}`, if there are any, or the whole key.
fn part(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else {
        return key;
    };
    match key[open + 1..].iter().position(|&byte| byte == b'}') {
        Some(length) if length > 0 => &key[open + 1..open + 1 + length],
        _ => key,
    }
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| crc << 8 ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

const TABLE: [u16; 256] = {
    let mut table = [0u16; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_examples_of_the_format() {
        let cases: [(&[u8], u32, u32); 5] = [
            (b"123456789", 12739, 2),
            (b"{user1000}.following", 3443, 0),
            (b"foo{}{bar}", 8363, 1),
            (b"foo{{bar}}zap", 4015, 0),
            (b"", 0, 0),
        ];
        for (key, expected, of_three) in cases {
            assert_eq!(slot(key), expected);
            assert_eq!(shard(slot(key), 3), of_three);
        }
    }

    #[test]
    fn shards_have_the_slots_of_the_format() {
        for shards in [1, 2, 3, 5, 7, 16, 1000, 16_383, 16_384] {
            for i in 0..shards {
                let first = i * SLOTS / shards;
                let end = (i + 1) * SLOTS / shards;
                assert_eq!(shard(first, shards), i);
                assert_eq!(shard(end - 1, shards), i);
            }
        }
    }
}
