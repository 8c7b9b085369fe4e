//! How the input is written.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How the records of the input are written.
pub(super) struct Options {
    pub(super) format: Format,
    pub(super) key: Encoding,
    pub(super) value: Encoding,
    /// Whether lines that are not records are left out; otherwise the first one ends the reading.
    pub(super) skip: bool,
    pub(super) allow_empty_key: bool,
    /// The name of the character encoding, for messages.
    pub(super) charset: String,
}

/// What a record looks like.
pub(super) enum Format {
    /// A line of a key, a separator and a value.
    Text { separator: Vec<u8> },
    /// A row of CSV (RFC 4180), in a file with a header.
    Csv(Csv),
    /// A line of a JSON object, which is the value; the key is one of its fields.
    Json { key_field: Vec<u8> },
}

/// The columns of CSV, by their names or by their numbers from 1.
pub(super) struct Csv {
    /// None for the first.
    pub(super) key: Option<String>,
    /// None for all but the key.
    pub(super) values: Vec<String>,
    /// Whether several values are combined as a line of CSV; otherwise as a JSON object.
    pub(super) delimited: bool,
    pub(super) delimiter: u8,
}

/// How bytes are written as text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Hex,
    Base64,
}

impl Encoding {
    pub(super) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf8",
            Encoding::Hex => "hex",
            Encoding::Base64 => "base64",
        }
    }

    fn of(name: &str) -> PyResult<Encoding> {
        [Encoding::Utf8, Encoding::Hex, Encoding::Base64]
            .into_iter()
            .find(|encoding| encoding.name() == name)
            .ok_or_else(|| PyValueError::new_err(format!("an encoding is utf8, hex or base64, not {name:?}")))
    }

    /// The bytes that a text stands for, added to `bytes`; false if it is not in this encoding.
    pub(super) fn decode(self, text: &[u8], bytes: &mut Vec<u8>) -> bool {
        match self {
            Encoding::Utf8 => {
                bytes.extend_from_slice(text);
                true
            }
            Encoding::Hex => hex(text, bytes),
            Encoding::Base64 => base64(text, bytes),
        }
    }
}

/// Two digits a byte, in either case.
fn hex(text: &[u8], bytes: &mut Vec<u8>) -> bool {
    let digit = |byte: u8| (byte as char).to_digit(16);
    text.len().is_multiple_of(2)
        && text.chunks_exact(2).all(|pair| match (digit(pair[0]), digit(pair[1])) {
            (Some(high), Some(low)) => {
                bytes.push((high << 4 | low) as u8);
                true
            }
            _ => false,
        })
}

/// RFC 4648 section 4. Padding may be missing, and the unused bits of the last digit may have any value.
fn base64(text: &[u8], bytes: &mut Vec<u8>) -> bool {
    let digits = match text {
        [digits @ .., b'=', b'='] if text.len().is_multiple_of(4) => digits,
        [digits @ .., b'='] if text.len().is_multiple_of(4) => digits,
        _ => text,
    };
    if digits.len() % 4 == 1 {
        return false;
    }
    let (mut group, mut bits) = (0u32, 0);
    for &digit in digits {
        let six = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        group = group << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits) as u8);
        }
    }
    true
}

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
    /// What the first bytes say; of standard input and pipes, which have no name to tell it.
    Unknown,
}

/// A file to read, or standard input.
pub(super) struct File {
    /// The name that users know.
    pub(super) name: String,
    /// None for standard input.
    pub(super) path: Option<PathBuf>,
    /// None if it is not a regular file.
    pub(super) size: Option<u64>,
    pub(super) compression: Compression,
}

/// What to read. The fields are those of the dict that Python passes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Given<'py> {
    /// Name, path, size and compression of each file.
    files: Vec<(String, Option<PathBuf>, Option<u64>, String)>,
    format: String,
    separator: Vec<u8>,
    key_column: Option<String>,
    value_columns: Vec<String>,
    delimited: bool,
    delimiter: u8,
    key_field: String,
    key_encoding: String,
    value_encoding: String,
    skip: bool,
    allow_empty_key: bool,
    charset: String,
    threads: usize,
    /// A file for lines that are not records.
    rejects: Option<PathBuf>,
    /// Makes a function that decompresses gzip, piece by piece.
    gunzip: Bound<'py, PyAny>,
    /// Makes a function that decodes text to UTF-8, piece by piece.
    decoder: Option<Bound<'py, PyAny>>,
}

/// What to read, and with what.
pub(super) struct Job {
    pub(super) options: Options,
    pub(super) files: Vec<File>,
    pub(super) threads: usize,
    pub(super) rejects: Option<PathBuf>,
    pub(super) gunzip: Py<PyAny>,
    pub(super) decoder: Option<Py<PyAny>>,
}

impl Job {
    pub(super) fn of(given: &Bound<'_, PyAny>) -> PyResult<Job> {
        let given: Given<'_> = given.extract()?;
        let format = match &given.format[..] {
            "csv" => Format::Csv(Csv {
                key: given.key_column,
                values: given.value_columns,
                delimited: given.delimited,
                delimiter: given.delimiter,
            }),
            "jsonl" => Format::Json { key_field: given.key_field.into_bytes() },
            _ if given.separator.is_empty() => return Err(PyValueError::new_err("the separator is empty")),
            _ => Format::Text { separator: given.separator },
        };
        let files = given.files.into_iter().map(|(name, path, size, compression)| File {
            name,
            path,
            size,
            compression: match &compression[..] {
                "gzip" => Compression::Gzip,
                "zstd" => Compression::Zstd,
                "unknown" => Compression::Unknown,
                _ => Compression::None,
            },
        });
        Ok(Job {
            files: files.collect(),
            options: Options {
                format,
                key: Encoding::of(&given.key_encoding)?,
                value: Encoding::of(&given.value_encoding)?,
                skip: given.skip,
                allow_empty_key: given.allow_empty_key,
                charset: given.charset,
            },
            threads: given.threads.clamp(1, 256),
            rejects: given.rejects,
            gunzip: given.gunzip.unbind(),
            decoder: given.decoder.map(Bound::unbind),
        })
    }
}
