//! Golden databases, copies of them, and copies with other content whose checksums are right.
#![allow(dead_code)] // each test uses some of it

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::OnceLock;

use bsdb::{Database, KeyRange, Result};
use sha2::{Digest, Sha256};

pub const PAGE: usize = 4096;

/// The databases of three records that are kept for ever, without the set of shards; and some of them with an order
/// of keys.
pub const KINDS: [&str; 21] = [
    "ordered-blocked",
    "ordered-packed",
    "ordered-packed-zstd",
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
    "v2-approximate",
    "v2-blocked",
    "v2-compressed",
    "v2-hashed-blocked",
    "v2-hashed-packed",
    "v2-hashed-zstd",
    "v2-packed",
    "v2-packed-zstd",
];

/// Whether the golden database of this name has an order of keys.
pub fn is_ordered(kind: &str) -> bool {
    kind.starts_with("ordered-") || kind == "v2-hashed-blocked"
}

/// Keys that no golden database has.
pub const ABSENT: [&[u8]; 6] = [b"absent", b"bsdc", b"b", b"emptz", b"\0", b" "];

/// The directory of a golden database, or of one of them to which an order was added.
pub fn golden(name: &str) -> PathBuf {
    if let Some(kind) = name.strip_prefix("ordered-") {
        static ORDERED: OnceLock<tempfile::TempDir> = OnceLock::new();
        let ordered = ORDERED.get_or_init(|| {
            let directory = tempfile::tempdir().unwrap();
            for kind in ["blocked", "packed", "packed-zstd"] {
                add_order(&golden(&format!("v1-{kind}")), &directory.path().join(kind));
            }
            directory
        });
        return ordered.path().join(kind);
    }
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    repository.join("bsdb-core/src/test/resources/golden").join(name)
}

/// The records of a golden database.
pub fn records(kind: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let records =
        [("bsdb", "build and serve, build and serve, build and serve"), ("empty", ""), ("", "an empty key is a key")];
    let value = |value: &str| match kind {
        "v1-approximate" | "v2-approximate" => value.bytes().take(8).collect(),
        "v1-typed" => [(2 * value.len()) as u8].into_iter().chain(value.bytes()).collect(),
        _ => value.as_bytes().to_vec(),
    };
    records.iter().map(|(key, text)| (key.as_bytes().to_vec(), value(text))).collect()
}

/// Copies a golden database and adds an order of its keys: two leaves and a root (FORMAT.md §16).
fn add_order(from: &Path, to: &Path) {
    copy(from, to);
    // The addresses are those of the blocked layout: byte offsets, of 16 bits so that values fill whole bytes.
    let packed = text(from).contains("layout=packed");
    let width = if packed { 0 } else { 2 };
    let mut pages = vec![frame(b"BSDBFILE", 0, 0)];
    // The level, the records before, and the keys with their values.
    type Node<'a> = (u8, u64, &'a [(&'a [u8], u64)]);
    let nodes: [Node<'_>; 3] =
        [(0, 0, &[(b"", 4160), (b"bsdb", 4096)]), (0, 2, &[(b"empty", 4152)]), (1, 0, &[(b"", 0), (b"e", 1)])];
    for (level, before, entries) in nodes {
        let width = if level == 0 { width } else { 5 };
        let mut node = vec![entries.len() as u8, 0, level, 0, 0, 0, 0, 0];
        node.extend_from_slice(&before.to_le_bytes());
        node.extend_from_slice(&(20 + (width * entries.len()) as u32).to_le_bytes());
        entries.iter().for_each(|(_, value)| node.extend_from_slice(&value.to_le_bytes()[..width]));
        for (key, _) in entries {
            node.push(key.len() as u8);
            node.extend_from_slice(key);
        }
        node.resize(PAGE, 0);
        pages.push(node);
    }
    let mut bytes = pages.concat();
    let mut digest = 0u64;
    for page in 1..4 {
        seal("order-", &mut bytes, page);
        let checksum = u32::from_le_bytes(bytes[page * PAGE + PAGE - 4..][..4].try_into().unwrap());
        let z = (digest ^ u64::from(checksum)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        digest = z ^ (z >> 29);
    }
    bytes.extend(frame(b"BSDBTAIL", 5, digest));
    fs::write(to.join("order-00000000.bsdb"), bytes).unwrap();
    let place = if packed { "0 0 0" } else { "0 16 0" };
    let order = format!("order.levels=2 1\norder.place={place}\nfile=order 0 5 {digest:x} 16384\n");
    forge(to, (text(from) + &order).as_bytes());
}

/// A header or footer of the file of an order, without id and checksum.
fn frame(magic: &[u8; 8], pages: u64, digest: u64) -> Vec<u8> {
    let mut page = [&magic[..], &[1, 0, 7, 0], &[0; 20], &pages.to_le_bytes(), &digest.to_le_bytes()].concat();
    page.resize(PAGE, 0);
    page
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
    if !kind.ends_with("-approximate") {
        let scanned: Result<Vec<_>> = db.scan().and_then(Iterator::collect);
        keep(scanned.map(|scanned| {
            assert_eq!(scanned.len(), 3, "{kind}");
            assert!(scanned.iter().all(|record| records.contains(record)), "{kind}");
        }));
    }
    if is_ordered(kind) {
        let mut sorted = records.clone();
        sorted.sort();
        let range = |range| db.range(range).and_then(|range| range.collect::<Result<Vec<_>>>());
        keep(range(KeyRange::all()).map(|found| assert_eq!(found, sorted, "{kind}")));
        keep(range(KeyRange::prefix("bs")).map(|found| assert_eq!(found, sorted[1..2], "{kind}")));
        let descending = db.range(KeyRange::all().to("empty")).unwrap().descending();
        let expected: Vec<_> = sorted[..2].iter().rev().cloned().collect();
        keep(descending.collect::<Result<Vec<_>>>().map(|found| assert_eq!(found, expected, "{kind}")));
        keep(db.count(&KeyRange::all().after("")).map(|count| assert_eq!(count, 2, "{kind}")));
        keep(db.floor_key(b"e").map(|key| assert_eq!(key.as_deref(), Some(&b"bsdb"[..]), "{kind}")));
        keep(db.ceiling_key(b"e").map(|key| assert_eq!(key.as_deref(), Some(&b"empty"[..]), "{kind}")));
        keep(db.last_key().map(|key| assert_eq!(key.as_deref(), Some(&b"empty"[..]), "{kind}")));
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
    for key in ABSENT {
        let _ = (db.floor_key(key), db.ceiling_key(key), db.count(&KeyRange::all().from(key)));
        if let (Ok(up), Ok(down)) = (db.range(KeyRange::all().from(key)), db.range(KeyRange::all().to(key))) {
            let _ = up.take(10_000).filter(Result::is_ok).count();
            let _ = down.descending().keys().take(10_000).filter(Result::is_ok).count();
        }
    }
    let _ = (db.first_key(), db.last_key());
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
        "order" => 7,
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
