//! Memory in the size of a value or of a batch: an error where there is none, not the end of the process.

use std::path::Path;

use crate::error::{Error, Result};

/// Makes room for more items in a vector of a database at `path`.
#[inline]
pub(crate) fn reserve<T>(to: &mut Vec<T>, more: usize, path: &Path) -> Result<()> {
    // Vectors grow to twice their size, unless there is only memory for less.
    let reserved = to.try_reserve(more).or_else(|_| to.try_reserve_exact(more));
    reserved.map_err(|_| lacking(path, to.len().saturating_add(more).saturating_mul(size_of::<T>())))
}

/// An empty vector with room for `capacity` items.
#[inline]
pub(crate) fn with_capacity<T>(capacity: usize, path: &Path) -> Result<Vec<T>> {
    let mut made = Vec::new();
    made.try_reserve_exact(capacity).map_err(|_| lacking(path, capacity.saturating_mul(size_of::<T>())))?;
    Ok(made)
}

/// A copy of bytes.
#[inline]
pub(crate) fn copy(bytes: &[u8], path: &Path) -> Result<Vec<u8>> {
    let mut copy = with_capacity(bytes.len(), path)?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// An error about bytes that could not be allocated.
#[cold]
pub(crate) fn lacking(path: &Path, bytes: usize) -> Error {
    Error::NoMemory { path: path.to_owned(), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_allocated_is_an_error() {
        let path = Path::new("db");
        let huge = isize::MAX as usize;
        let mut bytes = vec![1u8, 2];
        let errors = [
            reserve(&mut bytes, huge, path).unwrap_err(),
            with_capacity::<u64>(huge, path).unwrap_err(),
            crate::os::direct::Pages::default().resize(huge / 2, path).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(&error, Error::NoMemory { bytes, .. } if *bytes >= huge / 2), "{error}");
            assert!(error.to_string().starts_with("db: no memory for "), "{error}");
        }
        assert_eq!(bytes, [1, 2]);
        assert_eq!(copy(&bytes, path).unwrap(), bytes);
    }
}
