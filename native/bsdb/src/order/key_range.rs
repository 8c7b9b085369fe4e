//! Ranges of keys.

/// A range of keys in the order of their bytes, which are compared as unsigned numbers; a key comes before those
/// that it is the beginning of.
///
/// ```
/// use bsdb::KeyRange;
/// let november = KeyRange::all().from("2026-11-01").to("2026-12-01");
/// assert!(november.contains(b"2026-11-30") && !november.contains(b"2026-12-01"));
/// assert!(KeyRange::prefix("user:42:").contains(b"user:42:name"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    from: Vec<u8>,
    to: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys.
    pub fn all() -> Self {
        KeyRange::default()
    }

    /// The keys that begin with some bytes.
    pub fn prefix(prefix: impl AsRef<[u8]>) -> Self {
        let prefix = prefix.as_ref();
        // The first key behind them has the last byte that can be greater increased.
        let to = prefix.iter().rposition(|&byte| byte != 0xff).map(|last| {
            let mut to = prefix[..=last].to_vec();
            to[last] += 1;
            to
        });
        KeyRange { from: prefix.to_vec(), to }
    }

    /// The keys of this range that are not less than a key.
    pub fn from(mut self, key: impl AsRef<[u8]>) -> Self {
        if self.from[..] < *key.as_ref() {
            self.from = key.as_ref().to_vec();
        }
        self
    }

    /// The keys of this range that are greater than a key.
    pub fn after(self, key: impl AsRef<[u8]>) -> Self {
        self.from(behind(key.as_ref()))
    }

    /// The keys of this range that are less than a key.
    pub fn to(mut self, key: impl AsRef<[u8]>) -> Self {
        if self.to.as_ref().is_none_or(|to| to[..] > *key.as_ref()) {
            self.to = Some(key.as_ref().to_vec());
        }
        self
    }

    /// The keys of this range that are not greater than a key.
    pub fn through(self, key: impl AsRef<[u8]>) -> Self {
        self.to(behind(key.as_ref()))
    }

    /// Whether a key is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.is_begun_at(key) && self.is_open_at(key)
    }

    /// The first key that can be in the range.
    pub(crate) fn start(&self) -> &[u8] {
        &self.from
    }

    /// The first key that is behind the range, if the range ends.
    pub(crate) fn end(&self) -> Option<&[u8]> {
        self.to.as_deref()
    }

    /// Whether the range begins at a key or before it.
    pub(crate) fn is_begun_at(&self, key: &[u8]) -> bool {
        self.from[..] <= *key
    }

    /// Whether the range ends behind a key.
    pub(crate) fn is_open_at(&self, key: &[u8]) -> bool {
        self.to.as_ref().is_none_or(|to| *key < to[..])
    }

    /// Whether no key can be in the range.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_open_at(&self.from)
    }
}

/// The first key that is greater than a key.
fn behind(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_behind_their_last_key() {
        let to = |prefix: &[u8]| KeyRange::prefix(prefix).to;
        assert_eq!(to(b""), None);
        assert_eq!(to(b"\xff\xff"), None);
        assert_eq!(to(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(to(b"a\xfe"), Some(b"a\xff".to_vec()));
        assert!(KeyRange::prefix(b"a\xff").contains(b"a\xff\xff") && !KeyRange::prefix(b"a\xff").contains(b"b"));
    }

    #[test]
    fn bounds_narrow_a_range() {
        let range = KeyRange::prefix("b").from("a").to("z");
        assert_eq!(range, KeyRange::prefix("b"));
        let range = KeyRange::all().after("b").through("d");
        assert!(!range.contains(b"b") && range.contains(b"b\0") && range.contains(b"d") && !range.contains(b"d\0"));
        assert!(KeyRange::all().from("b").to("b").is_empty() && KeyRange::all().to("").is_empty());
        assert!(!KeyRange::all().is_empty());
    }
}
