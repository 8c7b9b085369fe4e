//! Publishes databases to stores.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use bsdb::{publish, publish_while, rollback, versions, BuildOptions, Builder, Database, Error, PublishOptions, Store};

fn build(path: &Path, value: &str, shards: u32) {
    let mut builder = Builder::create(path, BuildOptions::default().shards(shards).overwrite(true)).unwrap();
    for i in 0..100 {
        builder.add(format!("key {i}").as_bytes(), value.as_bytes()).unwrap();
    }
    builder.finish().unwrap();
}

fn named(name: &str) -> PublishOptions {
    PublishOptions::default().version(name)
}

fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn value(store: &Path) -> String {
    String::from_utf8(Database::open(store).unwrap().get(b"key 7").unwrap().unwrap()).unwrap()
}

#[test]
fn a_published_version_is_current_until_the_next_or_a_rollback() {
    let directory = tempfile::tempdir().unwrap();
    let (db, store) = (directory.path().join("db"), directory.path().join("new/store"));
    for (i, shards) in [1, 3, 1, 2].into_iter().enumerate() {
        build(&db, &format!("value {i}"), shards);
        let published = publish(&db, &store, named(&format!("v{i}")).link(i == 2)).unwrap();
        assert_eq!((&published.version[..], published.path), (&*format!("v{i}"), store.join(format!("v{i}"))));
        assert!(published.removed.is_empty() && published.warnings.is_empty());
        assert_eq!(value(&store), format!("value {i}"));
    }
    let listed = versions(&store).unwrap();
    let current: Vec<_> = listed.iter().map(|version| (&version.name[..], version.current, version.records)).collect();
    assert_eq!(
        current,
        [("v0", false, Some(100)), ("v1", false, Some(100)), ("v2", false, Some(100)), ("v3", true, Some(100))]
    );
    assert_eq!(rollback(&store, None).unwrap(), "v2");
    assert_eq!(rollback(&store, Some("v0")).unwrap(), "v0");
    assert_eq!(fs::read_to_string(store.join("CURRENT")).unwrap(), "v0\n");
    assert_eq!(value(&store), "value 0");
    assert!(rollback(&store, None).unwrap_err().to_string().contains("there is no version before v0"));
    assert!(rollback(&store, Some("v7")).unwrap_err().to_string().contains("no such version"));
    let open = Store::open(&store).unwrap();
    let published = publish(&db, &store, PublishOptions::default().keep(1)).unwrap();
    assert_eq!(published.removed, ["v1", "v2", "v3"], "v0 is what a rollback returns to");
    assert!(open.refresh().unwrap());
    let locks = [".lock", ".switch.lock"].map(str::to_owned);
    let mut expected = [&locks[..], &[published.version, "CURRENT".into(), "v0".into()]].concat();
    expected.sort();
    assert_eq!(names(&store), expected);
}

#[test]
fn what_fails_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (db, store) = (directory.path().join("db"), directory.path().join("store"));
    build(&db, "value", 2);
    for calls in 0.. {
        let mut left = calls;
        let stopped = publish_while(&db, &store, named("v1"), || {
            left -= 1;
            left >= 0
        });
        match stopped {
            Err(Error::Stopped) => assert_eq!(names(directory.path()), ["db"]),
            other => {
                other.unwrap();
                assert!(calls > 5);
                break;
            }
        }
    }
    let before = names(&store);
    let again = publish(&db, &store, named("v1")).unwrap_err().to_string();
    assert!(again.contains("a version with this name already exists"), "{again}");
    assert_eq!(names(&store), before);
    // A damaged database is refused.
    let shard = names(&db).into_iter().find(|name| name.starts_with("shard-00001")).unwrap();
    let file = names(&db.join(&shard)).into_iter().find(|name| name.starts_with("data-")).unwrap();
    let path = db.join(shard).join(file);
    let mut bytes = fs::read(&path).unwrap();
    bytes[5000] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(publish(&db, &store, named("v2")), Err(Error::Damaged { .. })));
    assert_eq!(names(&store), before);
}

#[test]
fn what_is_no_store_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let db = directory.path().join("db");
    build(&db, "value", 1);
    let refused = |store: &Path| publish(&db, store, named("v")).unwrap_err().to_string();
    assert!(refused(&db).contains("lies inside the database"));
    assert!(refused(&db.join("store")).contains("lies inside the database"));
    let other = directory.path().join("other");
    build(&other, "value", 1);
    assert!(refused(&other).contains("is a single database, not a store"));
    let mine = directory.path().join("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("notes"), "").unwrap();
    assert!(refused(&mine).contains("contains other files"));
    assert!(versions(&mine).unwrap_err().to_string().contains("no store"));
    assert!(publish(&db, directory.path().join("s"), named("../x")).unwrap_err().to_string().starts_with("version is"));
    let store = directory.path().join("store");
    publish(&db, &store, named("v1")).unwrap();
    assert!(refused(&store.join("v2")).contains("lies inside the store"));
    assert!(publish(&store, directory.path().join("s"), named("v1")).unwrap_err().to_string().contains("a store"));
}

#[test]
fn what_killed_publications_left_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let (db, store) = (directory.path().join("db"), directory.path().join("store"));
    build(&db, "value", 1);
    publish(&db, &store, named("v1")).unwrap();
    let copy = |to: &str, marked: bool| {
        let to = store.join(to);
        fs::create_dir(&to).unwrap();
        for name in names(&db) {
            fs::copy(db.join(&name), to.join(&name)).unwrap();
        }
        if marked {
            fs::write(to.join(".publishing"), "").unwrap();
        }
    };
    copy(".incoming-v2", false);
    copy(".removed-v0", false);
    copy("v3", true);
    copy("mine", true);
    fs::write(store.join("mine/notes"), "").unwrap();
    publish(&db, &store, named("v4")).unwrap();
    assert_eq!(names(&store), [".lock", ".switch.lock", "CURRENT", "mine", "v1", "v4"]);
    assert_eq!(fs::read_to_string(store.join("CURRENT")).unwrap(), "v4\nv1\n");
}
