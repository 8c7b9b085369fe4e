//! The databases of three records that are kept for ever, one for each kind.

mod support;

use bsdb::{Access, Database, Error, KeyRange, Layout, Options, Store};
use support::{ask, copy, golden, is_ordered, records, KINDS};

const ACCESS: [Access; 3] = [Access::Mapped, Access::Read, Access::Direct];

#[test]
fn every_kind_is_read_in_every_way() {
    for kind in KINDS {
        for access in ACCESS {
            let db = Database::open_with(golden(kind), Options::default().access(access)).unwrap();
            assert_eq!(db.len(), 3);
            ask(&db, kind).unwrap();
            assert_eq!(db.verify().unwrap().records, if kind.ends_with("-approximate") { 0 } else { 3 });
            assert_eq!(db.schema().is_some(), kind == "v1-typed");
            assert_eq!(db.is_approximate(), kind.ends_with("-approximate"));
            assert_eq!(db.scan().is_err(), kind.ends_with("-approximate"));
            assert_eq!(db.is_ordered(), is_ordered(kind));
            if let Err(error) = db.range(KeyRange::all()).map(|_| ()).and(db.count(&KeyRange::all()).map(|_| ())) {
                assert!(!db.is_ordered() && error.to_string().contains("bsdb build --ordered"), "{error}");
            }
            for absent in [vec![b'x'; 300], vec![b'y'; 70_000]] {
                assert_eq!(db.get(&absent).unwrap(), None);
            }
        }
    }
}

#[test]
fn answers_at_hand_are_those_of_lookups() {
    for kind in KINDS {
        for access in ACCESS {
            let db = Database::open_with(golden(kind), Options::default().access(access)).unwrap();
            let at_hand = |key: &[u8]| db.find_at_hand(key, |value| value.to_vec()).unwrap();
            let (key, value) = &records(kind)[0];
            assert_eq!(at_hand(key), None, "{kind}: nothing was read before");
            for _ in 0..2 {
                assert_eq!(db.get(key).unwrap().as_ref(), Some(value));
                assert_eq!(db.get(b"absent").unwrap(), None);
            }
            let mapped = access == Access::Mapped;
            assert_eq!(at_hand(key), mapped.then(|| Some(value.clone())), "{kind}");
            for (key, value) in records(kind) {
                assert!(at_hand(&key).is_none_or(|found| found == Some(value)));
            }
            for absent in [&b"absent"[..], &[b'x'; 300], &[b'y'; 70_000]] {
                assert!(at_hand(absent).is_none_or(|found| found.is_none()), "{kind}");
            }
        }
    }
}

#[test]
fn a_check_can_be_stopped() {
    for kind in KINDS {
        let db = Database::open(golden(kind)).unwrap();
        let mut asked = 0;
        let verified = db.verify_while(|| {
            asked += 1;
            true
        });
        assert_eq!(verified.unwrap(), db.verify().unwrap());
        for last in 0..asked {
            let mut left = last;
            let stopped = db.verify_while(|| {
                left -= 1;
                left >= 0
            });
            assert!(matches!(stopped, Err(Error::Stopped)), "{kind}: {stopped:?}");
        }
    }
}

#[test]
fn a_set_of_shards_is_read_in_every_way() {
    for access in ACCESS {
        let db = Database::open_with(golden("v1-sharded"), Options::default().access(access)).unwrap();
        let records: Vec<_> = db.scan().unwrap().map(Result::unwrap).collect();
        assert_eq!(records.len() as u64, db.len());
        assert_eq!(db.verify().unwrap().records, db.len());
        assert_eq!(db.statistics().shards, 3);
        for (key, value) in &records {
            assert_eq!(db.get(key).unwrap().as_ref(), Some(value));
        }
    }
}

#[test]
fn values_of_mapped_files_are_not_copied() {
    for (kind, copied) in [("v1-blocked", false), ("v1-packed", false), ("v1-compressed", true)] {
        let db = Database::open(golden(kind)).unwrap();
        let value = db.get_ref(b"bsdb").unwrap().unwrap();
        assert_eq!(matches!(value, std::borrow::Cow::Owned(_)), copied, "{kind}");
    }
}

#[test]
fn buffers_are_reused_and_emptied() {
    let db = Database::open(golden("v1-blocked")).unwrap();
    let mut buffer = b"before".to_vec();
    assert!(db.get_into(b"", &mut buffer).unwrap());
    assert_eq!(buffer, b"an empty key is a key");
    assert!(!db.get_into(b"absent", &mut buffer).unwrap());
    assert!(buffer.is_empty());
}

#[test]
fn lookups_within_lookups() {
    let db = Database::open(golden("v1-dictionary")).unwrap();
    let outer = db.find(b"bsdb", |value| (value.to_vec(), db.get(b"").unwrap())).unwrap().unwrap();
    assert_eq!(outer.0, records("v1-dictionary")[0].1);
    assert_eq!(outer.1.unwrap(), records("v1-dictionary")[2].1);
}

#[test]
fn many_threads_share_a_database() {
    for access in ACCESS {
        let db = Database::open_with(golden("v1-packed-zstd"), Options::default().access(access)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..50).for_each(|_| ask(&db, "v1-packed-zstd").unwrap()));
            }
        });
    }
}

#[test]
fn a_store_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path();
    assert!(Store::open(store).is_err());
    copy(&golden("v1-blocked"), &store.join("v1"));
    copy(&golden("v1-packed"), &store.join("v2"));
    std::fs::write(store.join("CURRENT"), "v1\n").unwrap();
    assert_eq!(Database::open(store).unwrap().layout(), Layout::Blocked);
    let followed = Store::open(store).unwrap();
    let before = followed.database();
    assert!(!followed.refresh().unwrap());
    std::fs::write(store.join("CURRENT"), "v2\nv1\n").unwrap();
    assert!(followed.refresh().unwrap());
    assert_eq!((followed.version().as_str(), followed.database().layout()), ("v2", Layout::Packed));
    ask(&before, "v1-blocked").unwrap();
    for wrong in ["", "v3\n", "../v1\n", ".v1\n"] {
        std::fs::write(store.join("CURRENT"), wrong).unwrap();
        assert!(followed.refresh().is_err(), "{wrong:?}");
        ask(&followed.database(), "v1-packed").unwrap();
    }
    // Another database under the same name.
    std::fs::write(store.join("CURRENT"), "v2").unwrap();
    std::fs::remove_dir_all(store.join("v2")).unwrap();
    copy(&golden("v1-ptr"), &store.join("v2"));
    assert!(followed.refresh().unwrap());
    ask(&followed.database(), "v1-ptr").unwrap();
}

#[test]
fn errors_name_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("nothing");
    let cases = [(missing, "no such directory"), (directory.path().to_owned(), "no manifest.bsdb")];
    for (path, reason) in cases {
        let error = Database::open(&path).unwrap_err();
        assert_eq!(error.path(), Some(path.as_path()));
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn lookups_while_a_thread_ends() {
    use std::sync::{Arc, Mutex};
    type Answers = Arc<Mutex<Vec<Option<Vec<u8>>>>>;
    struct Late(Database, Answers);
    impl Drop for Late {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0.get(b"bsdb").unwrap());
        }
    }
    thread_local!(static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) });
    let answers = Answers::default();
    let (db, theirs) = (Database::open(golden("v1-dictionary")).unwrap(), answers.clone());
    std::thread::spawn(move || {
        LATE.with(|late| *late.borrow_mut() = Some(Late(db, theirs)));
        // Its buffers are created after, and so destroyed before.
        LATE.with(|late| ask(&late.borrow().as_ref().unwrap().0, "v1-dictionary").unwrap());
    })
    .join()
    .unwrap();
    assert_eq!(*answers.lock().unwrap(), [Some(records("v1-dictionary")[0].1.clone())]);
}
