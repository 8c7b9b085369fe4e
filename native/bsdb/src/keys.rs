//! Keys that sign manifests, and keys that signatures are checked with (FORMAT.md §18).

use std::fmt;
use std::path::Path;

use ed25519_dalek::{Signature, Signer, VerifyingKey};

use crate::error::{Error, Result};
use crate::format::frame::hex;

/// The most bytes of a file of keys.
const LONGEST: u64 = 1 << 20;

/// What precedes the 32 bytes of a public key: SubjectPublicKeyInfo of Ed25519 (RFC 8410).
const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// What precedes the 32 bytes of a private key, after the length and the version: PKCS#8 of Ed25519 (RFC 8410).
const PRIVATE: [u8; 11] = [0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// A public key of Ed25519, with which signatures are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads the public keys of a file, one or more, in the form that `openssl pkey -pubout` writes.
    ///
    /// Fails with [`Error::Argument`] if the file holds none, or one that is not of Ed25519.
    ///
    /// ```no_run
    /// let options = bsdb::Options::default().trust(bsdb::PublicKey::read("key.pub")?);
    /// let db = bsdb::Database::open_with("rdb", options)?;
    /// # Ok::<(), bsdb::Error>(())
    /// ```
    pub fn read(file: impl AsRef<Path>) -> Result<Vec<PublicKey>> {
        read(file.as_ref(), "PUBLIC KEY", |der| {
            let bytes = der.strip_prefix(&PUBLIC)?;
            PublicKey::from_bytes(bytes.try_into().ok()?).ok()
        })
    }

    /// The key of these bytes (RFC 8032).
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey> {
        let key = VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak());
        key.map(PublicKey).ok_or_else(|| Error::Argument(format!("{} is not a public key of Ed25519", hex(bytes))))
    }

    /// The bytes of the key (RFC 8032).
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Whether a signature of a message is right.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", hex(&self.to_bytes()))
    }
}

/// A private key of Ed25519, which signs.
#[derive(Clone)]
pub struct SigningKey(Box<ed25519_dalek::SigningKey>);

impl SigningKey {
    /// Reads the private key of a file, in the form that `openssl genpkey -algorithm ed25519` writes.
    ///
    /// Fails with [`Error::Argument`] if the file does not hold one private key of Ed25519 without a password.
    pub fn read(file: impl AsRef<Path>) -> Result<SigningKey> {
        let file = file.as_ref();
        let mut keys = read(file, "PRIVATE KEY", private)?;
        match (keys.len(), keys.pop()) {
            (1, Some(key)) => Ok(key),
            (count, _) => Err(Error::Argument(format!("{}: holds {count} private keys; leave one", file.display()))),
        }
    }

    /// The key of 32 secret bytes (RFC 8032).
    pub fn from_bytes(bytes: &[u8; 32]) -> SigningKey {
        SigningKey(Box::new(ed25519_dalek::SigningKey::from_bytes(bytes)))
    }

    /// The public key, with which its signatures are checked.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(of {:?})", self.public())
    }
}

/// The private key in PKCS#8: of version 1, or of version 2, which also holds the public key.
fn private(der: &[u8]) -> Option<SigningKey> {
    let (&[sequence, length, integer, one, version], rest) = der.split_first_chunk()?;
    if (sequence, integer, one) != (0x30, 2, 1) || usize::from(length) != der.len() - 2 {
        return None;
    }
    let (seed, rest) = rest.strip_prefix(&PRIVATE)?.split_first_chunk::<32>()?;
    let key = SigningKey::from_bytes(seed);
    let stated = match (version, rest) {
        (0, []) => return Some(key),
        (1, [0x81, 0x21, 0, stated @ ..] | [0xa1, 0x23, 3, 0x21, 0, stated @ ..]) => stated,
        _ => return None,
    };
    (stated == key.public().to_bytes()).then_some(key)
}

/// Reads the keys of a kind from a file of the form PEM (RFC 7468).
fn read<K>(file: &Path, kind: &str, decode: impl Fn(&[u8]) -> Option<K>) -> Result<Vec<K>> {
    let shown = file.display();
    let length = std::fs::metadata(file).map_err(|e| Error::io(file, e))?.len();
    if length > LONGEST {
        return Err(Error::Argument(format!("{shown}: is not a file of keys, it has {length} bytes")));
    }
    let bytes = std::fs::read(file).map_err(|e| Error::io(file, e))?;
    let keys = blocks(&String::from_utf8_lossy(&bytes), kind)
        .map(|block| {
            base64(block).and_then(|der| decode(&der)).ok_or_else(|| {
                Error::Argument(format!("{shown}: a {} that is not of Ed25519", kind.to_ascii_lowercase()))
            })
        })
        .collect::<Result<Vec<K>>>()?;
    if keys.is_empty() {
        return Err(Error::Argument(format!(
            "{shown}: holds no -----BEGIN {kind}-----; make keys with openssl genpkey -algorithm ed25519, and openssl \
             pkey -pubout"
        )));
    }
    Ok(keys)
}

/// What lies between the lines that begin and end the blocks of a kind.
fn blocks<'a>(text: &'a str, kind: &str) -> impl Iterator<Item = &'a str> {
    let end = format!("-----END {kind}-----");
    text.split(&format!("-----BEGIN {kind}-----"))
        .skip(1)
        .filter_map(move |rest| {
            let (block, after) = rest.split_at(rest.find('-')?);
            after.starts_with(&end).then_some(block)
        })
        .collect::<Vec<_>>()
        .into_iter()
}

/// The bytes of base64 with white space.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let end = digits.iter().rposition(|&digit| digit != b'=').map_or(0, |at| at + 1);
    if digits.len() % 4 != 0 || digits.len() - end > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for &digit in &digits[..end] {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    (held == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_strictly() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), (" Zm\r\n9v ", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for wrong in ["Z", "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm-v", "Zm9v\u{e9}", "=Zg="] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
        assert_eq!(base64("+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
    }

    #[test]
    fn private_keys_have_two_forms() {
        let seed = [7; 32];
        let public = SigningKey::from_bytes(&seed).public().to_bytes();
        let der =
            |length: u8, version: u8, tail: &[u8]| [&[0x30, length, 2, 1, version][..], &PRIVATE, &seed, tail].concat();
        let key = |der: &[u8]| private(der).map(|key| key.public().to_bytes());
        assert_eq!(key(&der(46, 0, &[])), Some(public));
        assert_eq!(key(&der(81, 1, &[&[0x81, 0x21, 0][..], &public].concat())), Some(public));
        assert_eq!(key(&der(83, 1, &[&[0xa1, 0x23, 3, 0x21, 0][..], &public].concat())), Some(public));
        assert_eq!(key(&der(81, 1, &[&[0x81, 0x21, 0][..], &seed].concat())), None);
        for wrong in [der(45, 0, &[]), der(46, 1, &[]), der(46, 2, &[]), der(47, 0, &[0]), vec![], vec![0x30; 48]] {
            assert_eq!(key(&wrong), None);
        }
        let whole = der(46, 0, &[]);
        for length in 0..whole.len() {
            assert_eq!(key(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn points_of_small_order_are_no_keys() {
        let mut identity = [0; 32];
        identity[0] = 1;
        assert!(PublicKey::from_bytes(&identity).is_err());
        assert!(PublicKey::from_bytes(&[0; 32]).is_err());
        assert!(PublicKey::from_bytes(&[2; 32]).is_err());
    }
}
