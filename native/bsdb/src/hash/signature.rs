//! Signatures of keys (FORMAT.md §5): those of format 1, by Bob Jenkins' SpookyHash with four words of state, and the
//! choice between them and those of format 2.

use super::mum::Mum;
use crate::format::facts::{Facts, SignatureKind};

/// The 128 bits that stand for a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature {
    pub(crate) high: u64,
    pub(crate) low: u64,
}

/// The function that gives the keys of a database their signatures.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SignatureFunction {
    /// SpookyHash with a seed.
    Spooky(i64),
    Mum(Mum),
}

impl SignatureFunction {
    pub(crate) fn of(facts: &Facts) -> SignatureFunction {
        match facts.signature {
            SignatureKind::Spooky => SignatureFunction::Spooky(facts.seed),
            SignatureKind::Mum => SignatureFunction::Mum(Mum::new(facts.seed)),
        }
    }

    /// The signature of a key.
    #[inline(always)]
    pub(crate) fn sign(&self, key: &[u8]) -> Signature {
        match self {
            SignatureFunction::Mum(mum) => mum.sign(key),
            SignatureFunction::Spooky(seed) => Signature::of(key, *seed),
        }
    }
}

/// The constant of SpookyHash.
pub(crate) const A: u64 = 0x9e37_79b9_7f4a_7c13;

/// The twelve steps that mix the four words.
#[inline(always)]
pub(crate) fn mix(h: &mut [u64; 4]) {
    let [h0, h1, h2, h3] = h;
    macro_rules! step {
        ($a:ident, $bits:literal, $b:ident, $c:ident) => {
            *$a = $a.rotate_left($bits).wrapping_add(*$b);
            *$c ^= *$a;
        };
    }
    step!(h2, 50, h3, h0);
    step!(h3, 52, h0, h1);
    step!(h0, 30, h1, h2);
    step!(h1, 41, h2, h3);
    step!(h2, 54, h3, h0);
    step!(h3, 48, h0, h1);
    step!(h0, 38, h1, h2);
    step!(h1, 37, h2, h3);
    step!(h2, 62, h3, h0);
    step!(h3, 34, h0, h1);
    step!(h0, 5, h1, h2);
    step!(h1, 36, h2, h3);
}

/// The number in 1 to 8 bytes.
#[inline(always)]
fn partial(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if let Some(all) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*all);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The second load overlaps the first; the bits of the overlap are the same in both.
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (n - 4));
    }
    let mut value = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        value |= u64::from(byte) << (8 * i);
    }
    value
}

impl Signature {
    /// The signature of a key by SpookyHash.
    #[inline(always)]
    fn of(key: &[u8], seed: i64) -> Signature {
        let seed = seed as u64;
        let h = [seed, seed, A, A];
        if key.len() < 16 {
            Signature::end(h, key, key.len())
        } else {
            Signature::of_long(h, key)
        }
    }

    /// The signature of a key of 16 bytes or more.
    fn of_long(mut h: [u64; 4], key: &[u8]) -> Signature {
        let mut rest = key;
        while rest.len() >= 16 {
            let (words, tail) = rest.split_at(16);
            h[2] = h[2].wrapping_add(partial(&words[..8]));
            h[3] = h[3].wrapping_add(partial(&words[8..]));
            mix(&mut h);
            rest = tail;
            if rest.len() >= 16 {
                let (words, tail) = rest.split_at(16);
                h[0] = h[0].wrapping_add(partial(&words[..8]));
                h[1] = h[1].wrapping_add(partial(&words[8..]));
                rest = tail;
            }
        }
        Signature::end(h, rest, key.len())
    }

    /// Adds the last bytes, fewer than 16, and mixes the words for the last time.
    #[inline(always)]
    fn end(mut h: [u64; 4], rest: &[u8], length: usize) -> Signature {
        if rest.len() > 8 {
            let (word, tail) = rest.split_at(8);
            h[2] = h[2].wrapping_add(partial(word));
            h[3] = h[3].wrapping_add(partial(tail));
        } else if !rest.is_empty() {
            h[2] = h[2].wrapping_add(partial(rest));
        } else {
            h[2] = h[2].wrapping_add(A);
            h[3] = h[3].wrapping_add(A);
        }
        h[0] = h[0].wrapping_add(8 * length as u64);
        let [mut h0, mut h1, mut h2, mut h3] = h;
        macro_rules! end {
            ($a:ident, $b:ident, $bits:literal) => {
                $a ^= $b;
                $b = $b.rotate_left($bits);
                $a = $a.wrapping_add($b);
            };
        }
        end!(h3, h2, 15);
        end!(h0, h3, 52);
        end!(h1, h0, 26);
        end!(h2, h1, 51);
        end!(h3, h2, 28);
        end!(h0, h3, 9);
        end!(h1, h0, 47);
        end!(h2, h1, 54);
        end!(h3, h2, 32);
        end!(h0, h3, 25);
        end!(h1, h0, 63);
        Signature { high: h0, low: h1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_examples_of_the_format() {
        let cases: [(&[u8], i64, u64, u64); 4] = [
            (b"bsdb", 0, 0x2528_9732_7cb0_3f89, 0x691b_f939_4e13_cc30),
            (&[b'x'; 40], 7, 0xf970_a3b8_ce2a_532a, 0xa35c_4b28_f3ce_5511),
            (b"empty", 0, 0xcb92_2ddc_e366_2bda, 0xaaae_9108_580e_6492),
            (b"", 0, 0x6d16_dc3f_75dc_170e, 0x2c6d_7a3b_27d2_b383),
        ];
        for (key, seed, high, low) in cases {
            assert_eq!(Signature::of(key, seed), Signature { high, low });
        }
    }

    /// The algorithm as FORMAT.md §5 writes it down, byte by byte.
    fn plainly(key: &[u8], seed: u64) -> Signature {
        let w = |i: usize, n: usize| (0..n).fold(0u64, |word, at| word | u64::from(key[i + at]) << (8 * at));
        let mut h = [seed, seed, A, A];
        let (mut i, mut left) = (0, key.len());
        while left >= 16 {
            h[2] = h[2].wrapping_add(w(i, 8));
            h[3] = h[3].wrapping_add(w(i + 8, 8));
            mix(&mut h);
            if left >= 32 {
                h[0] = h[0].wrapping_add(w(i + 16, 8));
                h[1] = h[1].wrapping_add(w(i + 24, 8));
                (i, left) = (i + 32, left - 32);
            } else {
                (i, left) = (i + 16, left - 16);
            }
        }
        if left > 8 {
            h[2] = h[2].wrapping_add(w(i, 8));
            h[3] = h[3].wrapping_add(w(i + 8, left - 8));
        } else if left > 0 {
            h[2] = h[2].wrapping_add(w(i, left));
        } else {
            h[2] = h[2].wrapping_add(A);
            h[3] = h[3].wrapping_add(A);
        }
        h[0] = h[0].wrapping_add(8 * key.len() as u64);
        let bits = [15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63];
        for (step, bits) in bits.into_iter().enumerate() {
            let (a, b) = ([3, 0, 1, 2][step % 4], [2, 3, 0, 1][step % 4]);
            h[a] ^= h[b];
            h[b] = h[b].rotate_left(bits);
            h[a] = h[a].wrapping_add(h[b]);
        }
        Signature { high: h[0], low: h[1] }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_plain_algorithm(key in proptest::collection::vec(0u8.., 0..200), seed: i64) {
            proptest::prop_assert_eq!(Signature::of(&key, seed), plainly(&key, seed as u64));
        }
    }
}
