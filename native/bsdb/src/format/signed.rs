//! The signature in the footer of a manifest's file, and what it signs (FORMAT.md §18).

use super::frame::{hex, Id, Kind};
use super::page::{self, PAYLOAD, SIZE};
use crate::keys::{PublicKey, SigningKey};

/// Where the signature lies in the footer.
const AT: usize = 48;

/// What precedes the text that is signed.
const CONTEXT: &[u8] = b"bsdb manifest\n";

/// The signature of a manifest.
pub(crate) type ManifestSignature = [u8; 64];

/// The signature in a footer, right or wrong; None if there is none.
pub(crate) fn stored(footer: &[u8]) -> Option<ManifestSignature> {
    let signature: ManifestSignature = footer.get(AT..AT + 64)?.try_into().ok()?;
    (signature != [0; 64]).then_some(signature)
}

/// Puts a signature into a footer, the page `number` of the manifest's file.
pub(crate) fn store(footer: &mut [u8], number: u64, signature: &ManifestSignature) {
    debug_assert_eq!(footer.len(), SIZE);
    footer[AT..AT + 64].copy_from_slice(signature);
    let checksum = page::checksum(footer, Kind::Manifest as u16, 0, number);
    footer[PAYLOAD..].copy_from_slice(&checksum.to_le_bytes());
}

/// The signature of a manifest.
pub(crate) fn sign(text: &[u8], key: &SigningKey) -> ManifestSignature {
    key.sign(&message(&whole(text).unwrap_or_else(|| text.to_vec())))
}

/// Whether one of the keys made the signature of a manifest. That of a part of a set must state the set's own id.
pub(crate) fn is_right(
    text: &[u8],
    signature: &ManifestSignature,
    keys: &[PublicKey],
    id: impl Fn(&[u8]) -> Id,
) -> bool {
    let whole = whole(text);
    if let Some(whole) = &whole {
        let stated = format!("set.id={}\n", hex(&id(whole)));
        if !text.split_inclusive(|&byte| byte == b'\n').any(|line| line == stated.as_bytes()) {
            return false;
        }
    }
    let message = message(whole.as_deref().unwrap_or(text));
    keys.iter().any(|key| key.verify(&message, signature))
}

/// What is signed.
fn message(text: &[u8]) -> Vec<u8> {
    [CONTEXT, text].concat()
}

/// The text of the whole set's manifest, given that of a partial set (FORMAT.md §14); None of any other.
fn whole(text: &[u8]) -> Option<Vec<u8>> {
    const NAMES: [&[u8]; 4] = [b"shard.hash=", b"set.id=", b"set.held=", b"shard="];
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let begins = |four: &[&[u8]]| four.iter().zip(NAMES).all(|(line, name)| line.starts_with(name));
    let at = 1 + lines.get(1..)?.windows(NAMES.len()).position(begins)?;
    Some([&lines[..at + 1], &lines[at + 3..]].concat().concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    const SET: &str = "format=1\nshard.hash=crc16-slots\nshard=0 00 5\nshard=1 01 5\n";

    fn id(text: &[u8]) -> Id {
        let mut id = [0; 16];
        id.copy_from_slice(&Sha256::digest(text)[..16]);
        id
    }

    fn part(of: &str) -> String {
        let id = hex(&id(of.as_bytes()));
        of.replacen("slots\n", &format!("slots\nset.id={id}\nset.held=1\n"), 1)
    }

    /// The first key of RFC 8032, section 7.1.
    fn known() -> SigningKey {
        SigningKey::from_bytes(&bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    }

    fn bytes<const N: usize>(digits: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
    }

    #[test]
    fn a_known_key_makes_known_signatures() {
        let key = known();
        let public = bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert_eq!(key.public().to_bytes(), public);
        assert_eq!(
            hex(&key.sign(b"")),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe246\
             55141438e7a100b"
        );
        // Made by: openssl pkeyutl -sign -rawin
        assert_eq!(hex(&sign(SET.as_bytes(), &key)), KNOWN);
    }

    const KNOWN: &str = "f3f7f7dacadf7cc1e0845df43e067f7dce3becbefd34fc727c68f165b883bc755165b7f1dbb1bf7adc2f836317463c6f72292a75c3481e1f6a52e31d0872df04";

    #[test]
    fn a_part_of_a_set_has_the_signature_of_the_set() {
        let keys = [SigningKey::from_bytes(&[1; 32]).public(), known().public()];
        let signature = sign(SET.as_bytes(), &known());
        let right = |text: &str, keys: &[PublicKey]| is_right(text.as_bytes(), &signature, keys, id);
        assert_eq!(whole(SET.as_bytes()), None);
        assert_eq!(whole(part(SET).as_bytes()).as_deref(), Some(SET.as_bytes()));
        assert_eq!(sign(part(SET).as_bytes(), &known()), signature);
        assert!(right(SET, &keys) && right(&part(SET), &keys));
        assert!(!right(SET, &keys[..1]) && !right(&part(SET), &keys[..1]) && !right(SET, &[]));
        let other = SET.replace("01 5", "02 5");
        assert!(!right(&other, &keys) && !right(&part(&other), &keys));
        let own = hex(&id(SET.as_bytes()));
        for forged in [
            part(SET).replace(&own, &"0".repeat(32)),
            part(SET).replace(&own, &format!("{own} ")),
            part(SET).replace("set.held=1\n", ""),
            part(SET).replace("set.id", "set.ID"),
            part(SET).replace("set.held=1\n", "set.held=1\nset.held=0\n"),
            format!("{SET}set.id={own}\nset.held=1\n"),
            format!("{SET}\n"),
        ] {
            assert!(!right(&forged, &keys), "{forged}");
        }
    }

    #[test]
    fn a_signature_lies_in_the_footer() {
        let mut footer = [0; SIZE];
        assert_eq!(stored(&footer), None);
        store(&mut footer, 2, &[5; 64]);
        assert_eq!(stored(&footer), Some([5; 64]));
        assert_eq!(page::stored(&footer), page::checksum(&footer, Kind::Manifest as u16, 0, 2));
        assert!(footer[..AT].iter().chain(&footer[AT + 64..PAYLOAD]).all(|&byte| byte == 0));
    }
}
