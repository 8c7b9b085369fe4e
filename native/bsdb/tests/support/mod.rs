//! Golden databases, copies of them, and copies with other content whose checksums are right.
#![allow(dead_code)] // each test uses some of it

use std::fs;
use std::path::{Path, PathBuf};

use bsdb::{Database, Result};
use sha2::{Digest, Sha256};

pub const PAGE: usize = 4096;

/// The databases of three records that are kept for ever, without the set of shards.
pub const KINDS: [&str; 10] = [
    "v1-approximate",
    "v1-blocked",
    "v1-compact",
    "v1-compressed",
    "v1-dictionary",
    "v1-packed",
    "v1-packed-filter",
    "v1-packed-zstd",
    "v1-ptr",
    "v1-typed",
];

/// Keys that no golden database has.
pub const ABSENT: [&[u8]; 6] = [b"absent", b"bsdc", b"b", b"emptz", b"\0", b" "];

/// The directory of a golden database.
pub fn golden(name: &str) -> PathBuf {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    repository.join("bsdb-core/src/test/resources/golden").join(name)
}

/// The records of a golden database.
pub fn records(kind: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let records =
        [("bsdb", "build and serve, build and serve, build and serve"), ("empty", ""), ("", "an empty key is a key")];
    let value = |value: &str| match kind {
        "v1-approximate" => value.bytes().take(8).collect(),
        "v1-typed" => [(2 * value.len()) as u8].into_iter().chain(value.bytes()).collect(),
        _ => value.as_bytes().to_vec(),
    };
    records.iter().map(|(key, text)| (key.as_bytes().to_vec(), value(text))).collect()
}

/// Copies the files of a directory.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in files(from) {
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// The files of a directory, by name.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Asks a database everything. Panics if an answer is wrong; returns the first error.
pub fn ask(db: &Database, kind: &str) -> Result<()> {
    let records = records(kind);
    let mut first = Ok(());
    let mut keep = |result: Result<()>| {
        if first.is_ok() {
            first = result;
        }
    };
    for (key, value) in &records {
        keep(db.get(key).map(|found| assert_eq!(found.as_ref(), Some(value), "{kind}")));
    }
    for key in ABSENT {
        keep(db.get(key).map(|found| assert_eq!(found, None, "{kind}")));
    }
    let keys: Vec<&[u8]> = records.iter().map(|(key, _)| &key[..]).chain(ABSENT).collect();
    keep(db.get_many(&keys).map(|found| {
        for (i, found) in found.iter().enumerate() {
            assert_eq!(found.as_deref(), records.get(i).map(|(_, value)| &value[..]), "{kind}");
        }
    }));
    if kind != "v1-approximate" {
        let scanned: Result<Vec<_>> = db.scan().and_then(Iterator::collect);
        keep(scanned.map(|scanned| {
            assert_eq!(scanned.len(), 3, "{kind}");
            assert!(scanned.iter().all(|record| records.contains(record)), "{kind}");
        }));
    }
    first
}

/// Asks a database everything and ignores what it answers: it only must not panic.
pub fn exercise(db: &Database) {
    let records = records("v1-blocked");
    let keys: Vec<&[u8]> = records.iter().map(|(key, _)| &key[..]).chain(ABSENT).collect();
    for key in &keys {
        let _ = db.get(key);
    }
    let _ = db.get_many(&keys);
    if let Ok(scan) = db.scan() {
        let _ = scan.take(10_000).filter(Result::is_ok).count();
    }
    let _ = db.verify();
}

fn kind_of(name: &str) -> u64 {
    match name.split('-').next().unwrap() {
        "manifest.bsdb" => 1,
        "hash" => 2,
        "index" => 3,
        "data" => 4,
        "dictionary" => 5,
        "filter" => 6,
        other => panic!("{other}"),
    }
}

fn number_of(name: &str) -> u64 {
    if name.starts_with("data-") {
        name[5..8].parse().unwrap()
    } else {
        0
    }
}

fn place(kind: u64, file: u64, page: u64) -> u32 {
    let mut z = page.wrapping_add(kind << 56).wrapping_add(file << 44).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as u32
}

/// Gives a page of a file its right checksum.
pub fn seal(name: &str, bytes: &mut [u8], page: usize) {
    let content = &mut bytes[page * PAGE..][..PAGE];
    let checksum = crc32c::crc32c(&content[..PAGE - 4]) ^ place(kind_of(name), number_of(name), page as u64);
    content[PAGE - 4..].copy_from_slice(&checksum.to_le_bytes());
}

/// Gives a body page of a hash file its right checksum in the table, which begins in page `table`.
pub fn seal_body(name: &str, bytes: &mut [u8], page: usize, table: usize) {
    let checksum = crc32c::crc32c(&bytes[page * PAGE..][..PAGE]) ^ place(2, 0, page as u64);
    bytes[table * PAGE + 4 * (page - 1)..][..4].copy_from_slice(&checksum.to_le_bytes());
    seal(name, bytes, table);
}

/// The text of a manifest.
pub fn text(directory: &Path) -> String {
    let bytes = fs::read(directory.join("manifest.bsdb")).unwrap();
    let payload: Vec<u8> =
        bytes[PAGE..bytes.len() - PAGE].chunks(PAGE).flat_map(|page| page[..PAGE - 4].to_vec()).collect();
    String::from_utf8(payload).unwrap().trim_end_matches('\0').to_owned()
}

/// Replaces the manifest of a database by one of another text, and renames and adapts all files.
pub fn forge(directory: &Path, text: &[u8]) {
    let sha = Sha256::digest(text);
    let id = &sha[..16];
    let id8: String = id[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    for file in files(directory) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let mut bytes = fs::read(&file).unwrap();
        if name == "manifest.bsdb" {
            let mut content: Vec<u8> = Vec::new();
            for piece in text.chunks(PAGE - 4) {
                content.extend_from_slice(piece);
                content.resize(content.len().next_multiple_of(PAGE), 0);
            }
            bytes = [&bytes[..PAGE], &content, &bytes[bytes.len() - PAGE..]].concat();
            let last = bytes.len() / PAGE - 1;
            let mut digest = 0u64;
            for page in 1..last {
                seal(&name, &mut bytes, page);
                let checksum = u32::from_le_bytes(bytes[page * PAGE + PAGE - 4..][..4].try_into().unwrap());
                let z = (digest ^ u64::from(checksum)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                digest = z ^ (z >> 29);
            }
            bytes[last * PAGE + 32..][..8].copy_from_slice(&(last as u64 + 1).to_le_bytes());
            bytes[last * PAGE + 40..][..8].copy_from_slice(&digest.to_le_bytes());
        }
        let last = bytes.len() / PAGE - 1;
        for page in [0, last] {
            bytes[page * PAGE + 16..][..16].copy_from_slice(id);
            seal(&name, &mut bytes, page);
        }
        fs::remove_file(&file).unwrap();
        let renamed = match name.rsplit_once('-') {
            Some((stem, _)) => format!("{stem}-{id8}.bsdb"),
            None => name,
        };
        fs::write(directory.join(renamed), bytes).unwrap();
    }
}
