//! The cache of one user, which processes share: those of Java, too.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The directory that is given, otherwise that of the user; creates it if there is none. Fails if others may write to it.
pub(crate) fn open(given: Option<&Path>) -> Result<PathBuf> {
    let path = match given {
        Some(path) if path.as_os_str().is_empty() => None,
        Some(path) => Some(path.to_owned()),
        #[allow(deprecated)] // on older compilers
        None => of_user(|name| std::env::var_os(name), std::env::home_dir()),
    };
    let path = path.ok_or_else(|| {
        Error::Argument("there is no directory for the cache: name one, or set BSDB_CACHE".to_owned())
    })?;
    let io = |e| Error::io(&path, e);
    create(&path).map_err(io)?;
    let path = path.canonicalize().map_err(io)?;
    refuse_if_shared(&path).map_err(|e| Error::io(&path, e))?;
    Ok(path)
}

/// The cache of the user by the variables of the environment.
fn of_user(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    if let Some(own) = variable("BSDB_CACHE").filter(|own| !own.is_empty()) {
        return Some(own.into());
    }
    // The specification says to ignore others.
    match variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|all| all.is_absolute()) {
        Some(all) => Some(all.join("bsdb")),
        None => home.map(|home| home.join(".cache").join("bsdb")),
    }
}

/// Creates a directory for its owner alone, and those above it.
fn create(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

#[cfg(unix)]
fn refuse_if_shared(path: &Path) -> io::Result<()> {
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(path)?);
    if mode & 0o022 == 0 {
        return Ok(());
    }
    let reason =
        "others may write to this cache directory; take that away (chmod go-w), or choose another one by BSDB_CACHE";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

#[cfg(not(unix))]
fn refuse_if_shared(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_directory() {
        let of = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            of_user(variable, Some(PathBuf::from("/home/me")))
        };
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(of(&[]), path("/home/me/.cache/bsdb"));
        assert_eq!(of(&[("BSDB_CACHE", ""), ("XDG_CACHE_HOME", "relative")]), path("/home/me/.cache/bsdb"));
        assert_eq!(of(&[("XDG_CACHE_HOME", "/c")]), path("/c/bsdb"));
        assert_eq!(of(&[("BSDB_CACHE", "own"), ("XDG_CACHE_HOME", "/c")]), path("own"));
        assert_eq!(of_user(|_| None, None), None);
        assert!(open(Some(Path::new(""))).is_err());
    }

    #[cfg(unix)]
    #[test]
    #[cfg_attr(miri, ignore)]
    fn the_directory_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let made = directory.path().join("a/b");
        let opened = open(Some(&made)).unwrap();
        for path in [&opened, opened.parent().unwrap()] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        for mode in [0o720, 0o702] {
            fs::set_permissions(&made, fs::Permissions::from_mode(mode)).unwrap();
            let error = open(Some(&made)).unwrap_err().to_string();
            assert!(error.contains("others may write") && error.contains("chmod go-w"), "{error}");
        }
        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(open(Some(&made)).is_ok());
    }
}
