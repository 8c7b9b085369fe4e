//! The file `CURRENT` of a store, which names one of its versions (FORMAT.md §15).

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// The file that names the current version.
pub(crate) const CURRENT: &str = "CURRENT";

/// The most bytes of that file that count.
pub(crate) const MAX_BYTES: u64 = 1 << 16;

/// The name of the current version of a store, or None if the directory has no file `CURRENT`.
pub(crate) fn version(store: &Path) -> Result<Option<String>> {
    let file = store.join(CURRENT);
    let meta = match fs::symlink_metadata(&file) {
        Ok(meta) => meta,
        // What is wrong with the path is found again when its manifest is read.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput) => {
            return match distant(store) {
                Some(reason) if !store.exists() => Err(Error::NotADatabase { path: store.to_owned(), reason }),
                _ => Ok(None),
            };
        }
        Err(e) => return Err(Error::io(&file, e)),
    };
    let io = |e| Error::io(&file, e);
    let text = if meta.is_symlink() && file.is_dir() {
        let target = fs::read_link(&file).map_err(io)?;
        target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    } else if meta.is_dir() {
        return Err(Error::NotADatabase { path: file, reason: "a directory, not a file that names a version".into() });
    } else {
        let mut bytes = Vec::new();
        fs::File::open(&file).and_then(|open| open.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(io)?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    named(&file, &text).map(Some)
}

/// The version that the text of a file `CURRENT` names.
pub(crate) fn named(file: &Path, text: &str) -> Result<String> {
    let name = text.split('\n').next().unwrap_or_default().trim();
    if !is_version(name) {
        return Err(Error::NotADatabase {
            path: file.to_owned(),
            reason: format!("names no version: {name:?}; publish one, or write a version's name to it"),
        });
    }
    Ok(name.to_owned())
}

/// What to do with a path that is a URL, such as `s3a://bucket/store`.
fn distant(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let (scheme, rest) = text.split_once("://")?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if scheme.is_empty() || !scheme.bytes().all(letters) {
        return None;
    }
    if scheme.eq_ignore_ascii_case("file") {
        return Some(format!("a URL; give the path itself, /{}", rest.trim_start_matches('/')));
    }
    // The name that Hadoop knows.
    let scheme = if matches!(scheme, "s3" | "s3n") { "s3a" } else { scheme };
    let opened = if cfg!(feature = "remote") {
        "databases are read at s3, gs, az, abfs, http and https"
    } else {
        "this build, without the feature remote, opens only local directories (for one that reads at s3, gs, az, abfs, \
         http and https, enable the feature in Cargo, or for C run native/c/install.sh without --no-remote)"
    };
    Some(format!("a URL, and {opened}; copy it first: bsdb pull {scheme}://{rest} DIR"))
}

/// Whether a text can be the name of a version.
fn is_version(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=100).contains(&name.len()) && !name.starts_with(['.', '-']) && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        let distant = |text: &str| distant(Path::new(text));
        assert!(distant("s3://bucket/db").unwrap().ends_with(": bsdb pull s3a://bucket/db DIR"));
        assert!(distant("hdfs://name:8020/db").unwrap().ends_with(": bsdb pull hdfs://name:8020/db DIR"));
        assert!(distant("file:///tmp/db").unwrap().ends_with("the path itself, /tmp/db"));
        for path in ["rdb", "/data/s3", "s3:/bucket", "://x", "a/b://c", "C:\\data"] {
            assert_eq!(distant(path), None);
        }
    }

    #[test]
    fn names_of_versions() {
        for name in ["v1", "20261121T151400Z", "a.b_c-d", &"x".repeat(100)] {
            assert!(is_version(name), "{name}");
        }
        for name in ["", ".v1", "-v1", "a/b", "..", "a b", "ä", &"x".repeat(101)] {
            assert!(!is_version(name), "{name}");
        }
    }
}
