//! Damaged databases: each answer is right or an error, and nothing panics.
//!
//! `BSDB_DAMAGE=all` flips every bit and cuts at every length; otherwise some are enough.

mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bsdb::{publish, Access, BuildOptions, Builder, Database, Error, Layout, Options, PublishOptions};
use support::{ask, copy, exercise, files, forge, golden, seal, seal_body, text, KINDS, PAGE};

/// Random numbers below a bound: SplitMix64, seeded by a text.
fn random(seed: &str) -> impl FnMut(usize) -> usize {
    let mut state = seed.bytes().fold(1u64, |state, byte| state.wrapping_mul(31).wrapping_add(u64::from(byte)));
    move |bound| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

fn all() -> bool {
    std::env::var("BSDB_DAMAGE").is_ok_and(|value| value == "all")
}

#[test]
fn flipped_bits_are_found() {
    for kind in KINDS {
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        let mut random = random(kind);
        let access = [Access::Mapped, Access::Read, Access::Direct];
        for path in files(directory.path()) {
            let bytes = fs::read(&path).unwrap();
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            for (at, &byte) in bytes.iter().enumerate() {
                let bits = if all() {
                    0..8
                } else if byte != 0 || random(PAGE) < 4 {
                    let bit = random(8);
                    bit..bit + 1
                } else {
                    continue;
                };
                for bit in bits {
                    file.write_all_at(&[byte ^ 1 << bit], at as u64).unwrap();
                    let options = Options::default().access(access[random(3)]);
                    let result = Database::open_with(directory.path(), options).and_then(|db| {
                        let asked = ask(&db, kind);
                        let verified = db.verify();
                        assert!(verified.is_err(), "{} byte {at} bit {bit}: verify found nothing", path.display());
                        asked
                    });
                    if let Err(Error::Damaged { path: named, offset, .. }) = result {
                        assert!(named.starts_with(directory.path()));
                        assert!(offset <= bytes.len() as u64, "{} byte {at} bit {bit}: {offset}", path.display());
                    }
                }
                file.write_all_at(&[byte], at as u64).unwrap();
            }
        }
        ask(&Database::open(directory.path()).unwrap(), kind).unwrap();
    }
}

#[test]
fn cut_and_missing_files_are_found_at_open() {
    for kind in KINDS {
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        let mut random = random(kind);
        for path in files(directory.path()) {
            let bytes = fs::read(&path).unwrap();
            let mut length = 0;
            while length < bytes.len() {
                fs::write(&path, &bytes[..length]).unwrap();
                assert!(Database::open(directory.path()).is_err(), "{} of {length} bytes", path.display());
                length += if all() { 1 } else { 1 + random(300) };
            }
            fs::write(&path, [&bytes[..], &[0]].concat()).unwrap();
            assert!(Database::open(directory.path()).is_err());
            fs::write(&path, [&bytes[..], &[0; PAGE]].concat()).unwrap();
            assert!(Database::open(directory.path()).is_err());
            fs::remove_file(&path).unwrap();
            let error = Database::open(directory.path()).unwrap_err();
            assert!(error.to_string().contains(directory.path().to_str().unwrap()), "{error}");
            fs::write(&path, &bytes).unwrap();
        }
        ask(&Database::open(directory.path()).unwrap(), kind).unwrap();
    }
}

/// Pages of another file or another place, zeros, and noise.
#[test]
fn exchanged_pages_are_found() {
    for kind in KINDS {
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        let originals: Vec<_> =
            files(directory.path()).into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
        for (bytes, path) in &originals {
            for page in 0..bytes.len() / PAGE {
                for (other, _) in &originals {
                    for source in other.chunks(PAGE).chain([&[0; PAGE][..], &[0xff; PAGE]]) {
                        if source == &bytes[page * PAGE..][..PAGE] {
                            continue;
                        }
                        let mut changed = bytes.clone();
                        changed[page * PAGE..][..PAGE].copy_from_slice(source);
                        fs::write(path, &changed).unwrap();
                        if let Ok(db) = Database::open(directory.path()) {
                            let _ = ask(&db, kind);
                            assert!(db.verify().is_err(), "{} page {page}", path.display());
                        }
                    }
                }
            }
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Content that no builder writes, with right checksums: any answer will do, but no panic.
#[test]
fn forged_content_never_panics() {
    let rounds = if all() { 20_000 } else { 600 };
    for kind in KINDS {
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        let mut random = random(kind);
        let paths: Vec<_> =
            files(directory.path()).into_iter().filter(|path| !path.ends_with("manifest.bsdb")).collect();
        let originals: Vec<_> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
        for _ in 0..rounds {
            let chosen = random(paths.len());
            let name = paths[chosen].file_name().unwrap().to_str().unwrap();
            let mut bytes = originals[chosen].clone();
            let pages = bytes.len() / PAGE;
            if pages < 3 {
                continue;
            }
            let page = 1 + random(pages - 2);
            for _ in 0..1 + random(4) {
                let near = if random(2) == 0 { random(200) } else { random(PAGE - 4) };
                let value = [0, 1, 0x7f, 0x80, 0xff, random(256) as u8][random(6)];
                bytes[page * PAGE + near] = value;
            }
            let table = pages - 2;
            if name.starts_with("hash-") && page < table {
                seal_body(name, &mut bytes, page, table);
            } else {
                seal(name, &mut bytes, page);
            }
            fs::write(&paths[chosen], &bytes).unwrap();
            for access in [Access::Mapped, Access::Direct] {
                if let Ok(db) = Database::open_with(directory.path(), Options::default().access(access)) {
                    exercise(&db);
                }
            }
            fs::write(&paths[chosen], &originals[chosen]).unwrap();
        }
    }
}

/// Manifests that no builder writes, with right checksums and ids.
#[test]
fn forged_manifests_never_panic() {
    let values = [
        "",
        "x",
        "-1",
        "0",
        "1",
        "2",
        "3",
        "7",
        "64",
        "255",
        "256",
        "1000000",
        "4294967295",
        "1099511627776",
        "9223372036854775807",
        "18446744073709551615",
        "99999999999999999999",
        "packed",
        "packed-compressed",
        "blocked",
        "compact",
        "compressed",
        "none",
        "sharded",
        "ptr",
        "gov3-bucketed",
        "crc16-slots",
        "mum",
        "data 0 3 0 4096",
    ];
    for kind in KINDS {
        let original = text(&golden(kind));
        let lines: Vec<&str> = original.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let name = line.split('=').next().unwrap();
            for value in values {
                let changed = format!("{name}={value}");
                let mut forged = lines.clone();
                forged[at] = &changed;
                let directory = tempfile::tempdir().unwrap();
                copy(&golden(kind), directory.path());
                forge(directory.path(), format!("{}\n", forged.join("\n")).as_bytes());
                if let Ok(db) = Database::open(directory.path()) {
                    exercise(&db);
                }
            }
            let mut missing = lines.clone();
            missing.remove(at);
            let directory = tempfile::tempdir().unwrap();
            copy(&golden(kind), directory.path());
            forge(directory.path(), format!("{}\n", missing.join("\n")).as_bytes());
            if let Ok(db) = Database::open(directory.path()) {
                exercise(&db);
            }
        }
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        forge(directory.path(), original.as_bytes());
        ask(&Database::open(directory.path()).unwrap(), kind).unwrap();
        let (format, rest) = original.split_once('\n').unwrap();
        let other = format!("{format}\n{}", rest.replace("hash.signature=mum\n", "hash.signature=other\n"));
        for newer in [Some(format!("format=3\n{rest}")), (format == "format=2").then_some(other)].iter().flatten() {
            forge(directory.path(), newer.as_bytes());
            assert!(matches!(Database::open(directory.path()), Err(Error::Unsupported { .. })), "{newer}");
        }
    }
}

/// Builds a database of some pages with compressible values, so that it has a dictionary if it is compressed.
fn build(layout: Layout, path: &Path) {
    let mut builder = Builder::create(path, BuildOptions::default().layout(layout).ordered(true)).unwrap();
    for i in 0..1000 {
        let value: String = (i..i + 40).map(|word| format!("word {word} ")).collect();
        builder.add(format!("key {i}").as_bytes(), value.as_bytes()).unwrap();
    }
    builder.finish().unwrap();
}

const BUILT: [Layout; 4] = [Layout::Blocked, Layout::Compressed, Layout::Packed, Layout::PackedCompressed];

/// Publishes a database into a new store.
fn published(database: &Path) -> bsdb::Result<()> {
    let store = tempfile::tempdir().unwrap();
    publish(database, store.path().join("store"), PublishOptions::default()).map(|_| ())
}

/// Manifests with right checksums and ids that state another content hash than that of the file.
#[test]
fn other_content_hashes_are_found() {
    for layout in BUILT {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        build(layout, &path);
        let original = text(&path);
        let lines: Vec<&str> = original.lines().collect();
        let files: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("file=")).collect();
        let first = lines.iter().position(|line| line.starts_with("file.sha256=")).unwrap();
        assert_eq!(lines.len(), first + files.len());
        published(&path).unwrap();
        for (i, file) in files.iter().enumerate() {
            let hash = lines[first + i].strip_prefix("file.sha256=").unwrap();
            let other = format!("{}{}", if hash.starts_with('0') { '1' } else { '0' }, &hash[1..]);
            forge(&path, original.replace(hash, &other).as_bytes());
            let name = file.split(' ').next().unwrap();
            let opened = Database::open(&path);
            assert_eq!(opened.is_err(), name == "dictionary", "{layout} {file}");
            for error in [opened.and_then(|db| db.verify().map(|_| ())), published(&path)].map(Result::unwrap_err) {
                let text = error.to_string();
                let named = error.path().and_then(Path::file_name).unwrap().to_str().unwrap().starts_with(name);
                assert!(matches!(error, Error::Damaged { .. }) && named, "{layout} {file}: {text}");
                assert!(text.contains(hash) && text.contains(&other), "{layout} {file}: {text}");
            }
        }
        forge(&path, original.as_bytes());
        published(&path).unwrap();
    }
}

/// Lines of content hashes that no builder writes.
#[test]
fn manifests_have_all_content_hashes_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    build(Layout::Packed, &path);
    let original = text(&path);
    let at = original.find("file.sha256=").unwrap();
    let (others, hashes) = original.split_at(at);
    let (first, rest) = hashes.split_once('\n').unwrap();
    let digits = first.strip_prefix("file.sha256=").unwrap();
    forge(&path, others.as_bytes());
    Database::open(&path).unwrap().verify().unwrap();
    let wrong = [
        rest.to_owned(),
        format!("{first}\n"),
        format!("{first}\n{first}\n{rest}"),
        hashes.replacen(digits, "", 1),
        hashes.replacen(digits, &digits[1..], 1),
        hashes.replacen(digits, &format!("{digits}0"), 1),
        hashes.replacen(digits, &"A".repeat(64), 1),
        hashes.replacen(digits, &"g".repeat(64), 1),
    ];
    for hashes in wrong {
        forge(&path, format!("{others}{hashes}").as_bytes());
        let error = Database::open(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("file.sha256"), "{error}");
    }
    forge(&path, original.as_bytes());
    Database::open(&path).unwrap().verify().unwrap();
}

/// A page that was changed so that its checksum is right: by the digest, or if that is right as well by the content hash.
#[test]
fn forged_pages_are_found() {
    // A multiple of the polynomial of CRC32C, which leaves every checksum as it is.
    let invisible = (0x82f6_3b78u64 << 1 | 1).to_le_bytes();
    for layout in [Layout::Blocked, Layout::Packed] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        build(layout, &path);
        let data = files(&path).into_iter().find(|file| file.to_str().unwrap().contains("data-000")).unwrap();
        let original = fs::read(&data).unwrap();
        let at = original.windows(8).position(|bytes| bytes == b"word 50 ").unwrap();
        let number = at / PAGE;
        let mut changed = original.clone();
        changed[at] = b'W';
        seal(data.file_name().unwrap().to_str().unwrap(), &mut changed, number);
        fs::write(&data, &changed).unwrap();
        for error in [Database::open(&path).unwrap().verify().map(|_| ()), published(&path)].map(Result::unwrap_err) {
            assert!(error.to_string().contains("digest"), "{error}");
        }
        changed.clone_from(&original);
        changed[at..].iter_mut().zip(invisible).for_each(|(byte, other)| *byte ^= other);
        let mut sealed = changed.clone();
        seal(data.file_name().unwrap().to_str().unwrap(), &mut sealed, number);
        assert!(sealed == changed && changed != original);
        fs::write(&data, &changed).unwrap();
        for error in [Database::open(&path).unwrap().verify().map(|_| ()), published(&path)].map(Result::unwrap_err) {
            assert_eq!(error.path().and_then(Path::file_name), data.file_name(), "{error}");
            assert!(error.to_string().contains("SHA-256"), "{error}");
        }
        // Without content hashes, nothing tells.
        let text = text(&path);
        forge(&path, text.split("file.sha256=").next().unwrap().as_bytes());
        published(&path).unwrap();
    }
}

/// Pages that are zeroed in place after they were verified: present keys never become absent (FORMAT.md §8).
#[test]
fn zeroed_pages_are_found_after_they_were_verified() {
    for kind in KINDS {
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        for path in files(directory.path()) {
            let bytes = fs::read(&path).unwrap();
            if path.ends_with("manifest.bsdb") || bytes.len() < 3 * PAGE {
                continue;
            }
            let db = Database::open(directory.path()).unwrap();
            ask(&db, kind).unwrap();
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all_at(&vec![0; bytes.len() - 2 * PAGE], PAGE as u64).unwrap();
            for (key, value) in support::records(kind) {
                for _ in 0..2 {
                    if let Ok(found) = db.get(&key) {
                        assert_eq!(found.as_ref(), Some(&value), "{}", path.display());
                    }
                }
            }
            file.write_all_at(&bytes, 0).unwrap();
        }
    }
}
