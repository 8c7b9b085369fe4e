//! The file `CURRENT` of a store: the name of the current version in its first line, then those of the versions to roll
//! back to, the last one first. And the names of versions.

use std::cmp::Ordering;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::write::work::disk;

pub(super) const CURRENT: &str = "CURRENT";

/// The file that is renamed to `CURRENT`.
pub(super) const NEXT: &str = ".CURRENT.new";

/// The versions to roll back to, at most, and the bytes of the file that count.
const MOST: usize = 100;
const MAX_BYTES: u64 = 1 << 16;

/// The current version of a store, and those to roll back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) current: String,
    pub(super) chain: Vec<String>,
}

impl Pointer {
    /// The pointer of a store's first version.
    pub(super) fn to(current: &str) -> Pointer {
        Pointer { current: current.to_owned(), chain: Vec::new() }
    }

    /// Reads the pointer of a store; None if there is none or it names no version.
    pub(super) fn read(store: &Path) -> Result<Option<Pointer>> {
        let file = store.join(CURRENT);
        let io = |e| Error::io(&file, e);
        if file.is_symlink() && file.is_dir() {
            let target = fs::read_link(&file).map_err(io)?;
            let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok(is_version(&name).then(|| Pointer::to(&name)));
        }
        let mut bytes = Vec::new();
        match fs::File::open(&file).and_then(|open| open.take(MAX_BYTES).read_to_end(&mut bytes)) {
            Ok(_) => Ok(Pointer::decode(&String::from_utf8_lossy(&bytes))),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io(e)),
        }
    }

    fn decode(text: &str) -> Option<Pointer> {
        let mut names = text.split('\n').map(str::trim).map(str::to_owned);
        let current = names.next().filter(|name| is_version(name))?;
        Some(Pointer { current, chain: names.filter(|name| is_version(name)).collect() })
    }

    /// The pointer after a version goes live: a rollback returns to the one that is current now.
    pub(super) fn pushed(self, next: &str) -> Pointer {
        let mut chain = vec![self.current];
        chain.extend(self.chain);
        chain.retain(|name| name != next);
        chain.truncate(MOST);
        Pointer { current: next.to_owned(), chain }
    }

    /// The pointer after a rollback to a version, which drops those that are more recent.
    pub(super) fn back_to(self, version: &str) -> Pointer {
        match self.chain.iter().position(|name| name == version) {
            Some(place) => Pointer { current: version.to_owned(), chain: self.chain[place + 1..].to_vec() },
            None => self.pushed(version),
        }
    }

    pub(super) fn names(&self, version: &str) -> bool {
        self.current == version || self.chain.iter().any(|name| name == version)
    }

    /// The version that a rollback makes current: the last one of before that is there, or else the one whose name
    /// precedes the current one's. `versions` are those that are there, in their order.
    pub(super) fn before<'a>(&self, versions: &'a [String]) -> Option<&'a String> {
        let known = self.chain.iter().find_map(|name| versions.iter().find(|version| *version == name));
        known.or_else(|| versions.iter().rfind(|version| compare(version, &self.current).is_lt()))
    }

    /// Replaces the pointer of a store. The caller holds the lock for that. The second result is why a power cut may
    /// undo the switch.
    pub(super) fn write(&self, store: &Path) -> Result<Result<()>> {
        let next = store.join(NEXT);
        let lines: Vec<&[u8]> =
            [&self.current].into_iter().chain(&self.chain).flat_map(|name| [name.as_bytes(), b"\n"]).collect();
        if let Err(error) = disk::write(&next, &lines).and_then(|()| disk::rename(&next, &store.join(CURRENT))) {
            let _ = fs::remove_file(&next); // the next publication writes it anew
            return Err(error);
        }
        Ok(disk::force(store))
    }
}

/// Whether a version can have this name.
pub(super) fn is_version(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=100).contains(&name.len()) && !name.starts_with(['.', '-']) && name != CURRENT && name.bytes().all(allowed)
}

/// The natural order of names: runs of digits compare as numbers, so that v9 is before v10.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(&x), Some(&y)) = (left.first(), right.first()) {
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (digits(&mut left), digits(&mut right));
            x.len().cmp(&y.len()).then(x.cmp(y))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            x.cmp(&y)
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len()).then(a.cmp(b))
}

/// Takes the digits at the start; returns them without leading zeros.
fn digits<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    *text = rest;
    let zeros = number.iter().take_while(|&&byte| byte == b'0').count();
    &number[zeros..]
}

/// The name of a version that is published now, such as `20261121T151400Z`.
pub(super) fn of_now() -> String {
    of_time(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

fn of_time(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let day = days + 1;
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_of_times() {
        for (seconds, name) in [
            (0, "19700101T000000Z"),
            (951_827_696, "20000229T123456Z"),
            (1_795_273_199, "20261121T145959Z"),
            (1_735_689_599, "20241231T235959Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(of_time(seconds), name);
        }
    }

    #[test]
    fn names_are_in_natural_order() {
        let sorted = ["a", "v", "v1", "v01", "v1a", "v9", "v10", "v10-2", "v10-10", "w"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                let order = if (*a, *b) == ("v1", "v01") || (*a, *b) == ("v01", "v1") { a.cmp(b) } else { i.cmp(&j) };
                assert_eq!(compare(a, b), order, "{a} {b}");
            }
        }
    }

    #[test]
    fn pointers_lead_back() {
        assert_eq!(Pointer::decode(""), None);
        assert_eq!(Pointer::decode(".v\nv1\n"), None);
        let pointer = Pointer::decode(" v3 \nv2\n-\nv1").unwrap();
        assert_eq!((&pointer.current[..], &pointer.chain), ("v3", &names(&["v2", "v1"])));
        assert!(pointer.names("v3") && pointer.names("v1") && !pointer.names("v4"));
        let pushed = pointer.clone().pushed("v2");
        assert_eq!((&pushed.current[..], &pushed.chain), ("v2", &names(&["v3", "v1"])));
        let back = pointer.clone().back_to("v1");
        assert_eq!((&back.current[..], back.chain.len()), ("v1", 0));
        assert_eq!(pointer.clone().back_to("v9").chain, names(&["v3", "v2", "v1"]));
        assert_eq!(pointer.before(&names(&["v1", "v3"])), Some(&"v1".to_owned()));
        assert_eq!(Pointer::to("v10").before(&names(&["v2", "v9", "v10", "v11"])), Some(&"v9".to_owned()));
        assert_eq!(Pointer::to("v1").before(&names(&["v1", "v2"])), None);
        let many = (0..200).fold(Pointer::to("v"), |pointer, i| pointer.pushed(&format!("v{i}")));
        assert_eq!(many.chain.len(), MOST);
    }
}
