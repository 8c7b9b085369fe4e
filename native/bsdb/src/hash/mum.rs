//! Signatures by multiply and mix, those of format 2 (FORMAT.md §5).

use super::signature::Signature;

/// The function with a seed: the secrets that follow from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mum {
    start: [u64; 2],
    high: [u64; 2],
    low: [u64; 2],
}

/// The output of SplitMix64 for a state.
fn split_mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The low and the high half of the product of two signed numbers.
#[inline(always)]
fn product(x: u64, y: u64) -> (u64, u64) {
    let product = i128::from(x as i64) * i128::from(y as i64);
    (product as u64, (product >> 64) as u64)
}

#[inline(always)]
fn mix(x: u64, y: u64) -> [u64; 2] {
    let (low, high) = product(x, y);
    [low, high ^ x.wrapping_sub(y)]
}

#[inline(always)]
fn fold(state: [u64; 2], secrets: [u64; 2]) -> u64 {
    let (low, high) = product(state[0] ^ secrets[0], state[1] ^ secrets[1]);
    low ^ high
}

/// The first and the last eight bytes of at least as many.
#[inline(always)]
fn ends(bytes: &[u8]) -> Option<[u64; 2]> {
    Some([u64::from_le_bytes(*bytes.first_chunk()?), u64::from_le_bytes(*bytes.last_chunk()?)])
}

/// The words of a key of up to 16 bytes.
#[inline(always)]
fn words(key: &[u8]) -> [u64; 2] {
    if let Some(words) = ends(key) {
        return words;
    }
    if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        return [u32::from_le_bytes(*first), u32::from_le_bytes(*last)].map(u64::from);
    }
    match key {
        [] => [0, 0],
        [first, .., last] => [u64::from(*first) | u64::from(key[key.len() / 2]) << 8, u64::from(*last)],
        [only] => [u64::from(*only) | u64::from(*only) << 8, u64::from(*only)],
    }
}

impl Mum {
    pub(crate) fn new(seed: i64) -> Mum {
        let secret = |i: u64| split_mix((seed as u64).wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Mum { start: [secret(1), secret(2)], high: [secret(3), secret(4)], low: [secret(5), secret(6)] }
    }

    /// The signature of a key.
    #[inline(always)]
    pub(crate) fn sign(&self, key: &[u8]) -> Signature {
        if key.len() <= 16 {
            self.end(self.start, words(key), key.len())
        } else {
            self.sign_long(key)
        }
    }

    fn sign_long(&self, key: &[u8]) -> Signature {
        let mut state = self.start;
        for block in key[..key.len() - 1].chunks_exact(16) {
            let [first, second] = ends(block).unwrap_or_default();
            state = mix(state[0] ^ first, state[1] ^ second);
        }
        self.end(state, ends(&key[key.len() - 16..]).unwrap_or_default(), key.len())
    }

    #[inline(always)]
    fn end(&self, state: [u64; 2], words: [u64; 2], length: usize) -> Signature {
        let [low, high] = mix(state[0] ^ words[0], state[1] ^ words[1]);
        let last = [low ^ length as u64, high];
        Signature { high: fold(last, self.high), low: fold(last, self.low) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes()
            .chunks(2)
            .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
            .collect()
    }

    /// Those that readers in other languages test, too.
    #[test]
    fn agrees_with_the_vectors() {
        let vectors = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/hash/mum.txt")).unwrap();
        let lines: Vec<&str> = vectors.lines().skip(1).collect();
        assert!(lines.len() > 200);
        for line in lines {
            let parts: Vec<&str> = line.split(' ').collect();
            let key = if parts[1] == "-" { Vec::new() } else { bytes(parts[1]) };
            let Signature { high, low } = Mum::new(parts[0].parse().unwrap()).sign(&key);
            assert_eq!(format!("{high:016x} {low:016x}"), parts[2..].join(" "), "{line}");
        }
    }

    /// The function as FORMAT.md §5 writes it down, byte by byte.
    fn plainly(key: &[u8], seed: i64) -> Signature {
        let w = |i: usize, n: usize| (0..n).fold(0u64, |word, at| word | u64::from(key[i + at]) << (8 * at));
        let mum = Mum::new(seed);
        let (n, mut i) = (key.len(), 0);
        let [mut s, mut t] = mum.start;
        let mut step = |a: u64, b: u64| {
            let (x, y) = (s ^ a, t ^ b);
            let product = i128::from(x as i64) * i128::from(y as i64);
            (s, t) = (product as u64, (product >> 64) as u64 ^ x.wrapping_sub(y));
        };
        while n - i > 16 {
            step(w(i, 8), w(i + 8, 8));
            i += 16;
        }
        match n {
            0 => step(0, 0),
            1..4 => step(w(0, 1) + 256 * w(n / 2, 1), w(n - 1, 1)),
            4..8 => step(w(0, 4), w(n - 4, 4)),
            _ => step(w(n.max(16) - 16, 8), w(n - 8, 8)),
        }
        let last = [s ^ n as u64, t];
        Signature { high: fold(last, mum.high), low: fold(last, mum.low) }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_plain_function(key in proptest::collection::vec(0u8.., 0..200), seed: i64) {
            proptest::prop_assert_eq!(Mum::new(seed).sign(&key), plainly(&key, seed));
        }
    }
}
