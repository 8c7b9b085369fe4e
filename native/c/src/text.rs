//! Texts as C reads them: bytes that end with a zero byte.

use std::ffi::CString;
use std::path::Path;

/// The bytes of a path, as `call::path` takes them.
pub(crate) fn path_text(path: &Path) -> CString {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        text(path.as_os_str().as_bytes())
    }
    #[cfg(not(unix))]
    {
        text(path.to_string_lossy().as_bytes())
    }
}

/// A string of C. Zero bytes, which it cannot hold, become spaces.
pub(crate) fn text(bytes: &[u8]) -> CString {
    let bytes: Vec<u8> = bytes.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect();
    CString::new(bytes).unwrap_or_default()
}
