//! The databases of three records that are kept for ever, one for each kind.

use std::path::PathBuf;

use bsdb::{Access, Database, Options};

fn golden(name: &str) -> PathBuf {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    repository.join("bsdb-core/src/test/resources/golden").join(name)
}

const KINDS: [&str; 11] = [
    "v1-approximate",
    "v1-blocked",
    "v1-compact",
    "v1-compressed",
    "v1-dictionary",
    "v1-packed",
    "v1-packed-filter",
    "v1-packed-zstd",
    "v1-ptr",
    "v1-sharded",
    "v1-typed",
];

fn records(kind: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    if kind == "v1-sharded" {
        return Vec::new();
    }
    let records =
        [("bsdb", "build and serve, build and serve, build and serve"), ("empty", ""), ("", "an empty key is a key")];
    let value = |value: &str| match kind {
        "v1-approximate" => value.bytes().take(8).collect(),
        "v1-typed" => [(2 * value.len()) as u8].into_iter().chain(value.bytes()).collect(),
        _ => value.as_bytes().to_vec(),
    };
    records.iter().map(|(key, text)| (key.as_bytes().to_vec(), value(text))).collect()
}

#[test]
fn every_kind_is_read_in_every_way() {
    for kind in KINDS {
        for access in [Access::Mapped, Access::Read, Access::Direct] {
            let db = Database::open_with(golden(kind), Options::default().access(access)).unwrap();
            assert!(!db.is_empty());
            let verified = db.verify().unwrap();
            assert!(verified.pages > 0, "{kind}");
            let mut keys: Vec<Vec<u8>> = Vec::new();
            let mut values: Vec<Option<Vec<u8>>> = Vec::new();
            let mut expected = records(kind);
            if kind == "v1-sharded" {
                expected = db.scan().unwrap().map(Result::unwrap).collect();
                assert_eq!(expected.len() as u64, db.len());
                assert_eq!(verified.records, db.len());
            }
            for (key, value) in &expected {
                assert_eq!(db.get(key).unwrap().as_ref(), Some(value), "{kind} {access:?}");
                assert!(db.contains(key).unwrap());
                keys.push(key.clone());
                values.push(Some(value.clone()));
            }
            for absent in [&b"absent"[..], b"bsdc", b"b", b"emptz", b"\0", b" ", &[b'x'; 300], &[b'y'; 70_000]] {
                assert_eq!(db.get(absent).unwrap(), None, "{kind} {access:?}");
                keys.push(absent.to_vec());
                values.push(None);
            }
            let many = db.get_many(&keys).unwrap();
            let many: Vec<Option<Vec<u8>>> = many.into_iter().map(|value| value.map(|v| v.into_owned())).collect();
            assert_eq!(many, values, "{kind} {access:?}");
            if kind == "v1-approximate" {
                assert!(db.is_approximate() && db.scan().is_err());
            } else if kind != "v1-sharded" {
                let mut scanned: Vec<_> = db.scan().unwrap().map(Result::unwrap).collect();
                if kind.contains("packed") {
                    scanned.sort();
                    expected.sort();
                }
                assert_eq!(scanned, expected, "{kind} {access:?}");
            }
            assert_eq!(db.schema().is_some(), kind == "v1-typed");
        }
    }
}
