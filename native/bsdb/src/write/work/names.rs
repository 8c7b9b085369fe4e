//! The names of what a build writes (FORMAT.md §1, §14, §17), and what may be removed with them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::disk;
use crate::error::Result;
use crate::format::facts::MANIFEST;

/// The file that marks the directory of a build and carries its lock.
pub(super) const LOCK: &str = "lock";

/// The journal: the names that a replacement moves into the target and those that it removes.
pub(super) const JOURNAL: &str = "names";

/// The name of the directory of the build that is replacing the database in which it is.
pub(super) const REPLACING: &str = ".bsdb-build-replacing";

/// The directory of the changes that a merge by the Java builder applies.
const CHANGES: &[u8] = b"changes.part";

/// Whether a text is the token of a build: a number in base 36.
pub(super) fn is_token(text: &[u8]) -> bool {
    (1..=13).contains(&text.len()) && text.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

/// Whether a name is that of the directory of a build: a prefix and a token.
pub(super) fn is_build(name: &OsStr, prefix: &OsStr) -> bool {
    name.as_bytes().strip_prefix(prefix.as_bytes()).is_some_and(is_token)
}

/// Whether a name is that of a file of a database, such as `data-000-1a2b3c4d.bsdb`.
pub(super) fn is_database_file(name: &[u8]) -> bool {
    let Some(stem) = name.strip_suffix(b".bsdb") else {
        return false;
    };
    let Some((kind, id)) = stem.split_last_chunk::<8>().and_then(|(kind, id)| Some((kind.strip_suffix(b"-")?, id)))
    else {
        return name == MANIFEST.as_bytes();
    };
    let known = match kind.strip_prefix(b"data-") {
        Some(number) => number.len() == 3 && number.iter().all(u8::is_ascii_digit),
        None => matches!(kind, b"dictionary" | b"filter" | b"hash" | b"index" | b"order"),
    };
    (known && is_id8(id)) || name == MANIFEST.as_bytes()
}

/// Whether a name is that of the directory of a shard, such as `shard-00003-1a2b3c4d`.
pub(crate) fn is_shard(name: &[u8]) -> bool {
    name.strip_prefix(b"shard-").and_then(|rest| rest.split_first_chunk::<5>()).is_some_and(|(number, rest)| {
        number.iter().all(u8::is_ascii_digit) && rest.len() == 9 && rest[0] == b'-' && is_id8(&rest[1..])
    })
}

fn is_id8(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte))
}

/// The directory of the shard in the name of a file, which is empty if the file is beside the manifest, and the rest.
pub(super) fn split(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().position(|&byte| byte == b'/') {
        Some(slash) => (&name[..slash], &name[slash + 1..]),
        None => (b"", name),
    }
}

/// Whether a name, relative to a database or a set, is one that a file of it can have. That of its manifest is not.
pub(super) fn is_listed(name: &[u8]) -> bool {
    match split(name) {
        (b"", file) if name.len() == file.len() => is_database_file(file) && file != MANIFEST.as_bytes(),
        (shard, file) => is_shard(shard) && is_database_file(file),
    }
}

/// Whether a name is that of a file of a database, finished or not.
fn is_file(name: &[u8]) -> bool {
    let part = |stem: &[u8]| !stem.is_empty() && stem.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_database_file(name) || name.strip_suffix(b".part").is_some_and(part)
}

/// Whether a name is that of a file in the directory of a build.
fn is_build_file(name: &[u8]) -> bool {
    name == LOCK.as_bytes() || name == JOURNAL.as_bytes() || is_file(name)
}

/// Whether a name is that of a directory in the directory of a build: a shard, finished or not.
fn is_build_directory(name: &[u8]) -> bool {
    let unfinished = |name: &[u8]| {
        let number = name.strip_prefix(b"shard-").and_then(|rest| rest.strip_suffix(b".part"));
        number.is_some_and(|number| number.len() == 5 && number.iter().all(u8::is_ascii_digit))
    };
    is_shard(name) || unfinished(name) || name == CHANGES
}

/// Whether all that the directory of a build holds was written by one: regular files, and directories of those.
pub(super) fn all_ours(directory: &Path) -> Result<bool> {
    for name in disk::names(directory)? {
        let path = directory.join(&name);
        let ours = if is_build_directory(name.as_bytes()) && disk::is_directory(&path) {
            holds_only(&path, is_file)?
        } else {
            is_build_file(name.as_bytes()) && disk::is_file(&path)
        };
        if !ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a path is the directory of a shard with files of a database and nothing else in it.
pub(super) fn is_only_shard(path: &Path) -> Result<bool> {
    let shard = path.file_name().is_some_and(|name| is_shard(name.as_bytes())) && disk::is_directory(path);
    Ok(shard && disk::names(path)?.iter().all(|name| is_database_file(name.as_bytes())))
}

fn holds_only(directory: &Path, ours: fn(&[u8]) -> bool) -> Result<bool> {
    let names = disk::names(directory)?;
    Ok(names.iter().all(|name| ours(name.as_bytes()) && disk::is_file(&directory.join(name))))
}

/// Deletes what a build wrote into its directory, except the lock. What others put there stays. Links are deleted and
/// not followed.
pub(super) fn delete_ours(directory: &Path) -> Result<()> {
    for name in disk::names(directory)? {
        let path = directory.join(&name);
        if is_build_directory(name.as_bytes()) && disk::is_directory(&path) {
            for inner in disk::names(&path)? {
                delete_file(&path.join(&inner), is_file(inner.as_bytes()))?;
            }
            disk::remove_directory(&path)?;
        } else {
            delete_file(&path, name != LOCK && is_build_file(name.as_bytes()))?;
        }
    }
    Ok(())
}

fn delete_file(path: &Path, ours: bool) -> Result<()> {
    if ours && (disk::is_file(path) || path.is_symlink()) {
        disk::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_databases() {
        for name in ["manifest.bsdb", "data-000-1a2b3c4d.bsdb", "order-00000000.bsdb", "dictionary-ffffffff.bsdb"] {
            assert!(is_database_file(name.as_bytes()) && is_file(name.as_bytes()), "{name}");
            assert_eq!(is_listed(name.as_bytes()), name != "manifest.bsdb");
        }
        for name in [
            "",
            ".bsdb",
            "manifest-1a2b3c4d.bsdb",
            "data-00-1a2b3c4d.bsdb",
            "data-0000-1a2b3c4d.bsdb",
            "data-000-1a2b3c4.bsdb",
            "data-000-1a2b3c4D.bsdb",
            "hash1a2b3c4d.bsdb",
            "hash-1a2b3c4d.bsdb ",
            "backup.bsdb",
            "x/hash-1a2b3c4d.bsdb",
        ] {
            assert!(!is_database_file(name.as_bytes()) && !is_listed(name.as_bytes()), "{name}");
        }
        assert!(is_listed(b"shard-00003-1a2b3c4d/manifest.bsdb"));
        for name in ["/manifest.bsdb", "/hash-1a2b3c4d.bsdb", "shard-00003-1a2b3c4d/", "shard-00003-1a2b3c4d/../x"] {
            assert!(!is_listed(name.as_bytes()), "{name}");
        }
        for name in ["shard-0003-1a2b3c4d", "shard-00003-1a2b3c4", "shard-00003-1a2b3c4d5", "shard-00003.part"] {
            assert!(!is_shard(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn names_of_builds() {
        let is = |name: &str| is_build(OsStr::new(name), OsStr::new(".db.bsdb-build-"));
        assert!(is(".db.bsdb-build-17") && is(".db.bsdb-build-0123456789xyz"));
        for name in [".db.bsdb-build-", ".db.bsdb-build-of-last-week", ".db.bsdb-build-0123456789abcd", "db"] {
            assert!(!is(name), "{name}");
        }
        assert!(is_build(OsStr::new(REPLACING), OsStr::new(".bsdb-build-")));
    }

    #[test]
    fn names_of_unfinished_files() {
        for name in ["data-0.part", "A9-.part"] {
            assert!(is_build_file(name.as_bytes()), "{name}");
        }
        for name in [".part", "a.b.part", "a/b.part", "thesis.tex"] {
            assert!(!is_build_file(name.as_bytes()), "{name}");
        }
        assert!(is_build_directory(b"shard-00000.part") && is_build_directory(b"changes.part"));
        assert!(!is_build_directory(b"shard-0.part") && !is_build_directory(b"data-0.part"));
    }
}
