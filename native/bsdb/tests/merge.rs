//! Merges changes into databases, and compares databases.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bsdb::{BuildOptions, Builder, Database, Difference, Duplicates, Error, Layout, Merger, Result};

const LAYOUTS: [Layout; 5] =
    [Layout::Blocked, Layout::Compact, Layout::Compressed, Layout::Packed, Layout::PackedCompressed];

type Records = Vec<(Vec<u8>, Vec<u8>)>;

fn record(key: usize, value: usize) -> (Vec<u8>, Vec<u8>) {
    let text = format!("{{\"user\":{key},\"value\":{value}}}");
    (format!("user:{key}").into_bytes(), text.repeat(value % 3).into_bytes())
}

/// Records in no order.
fn records(count: usize) -> Records {
    (0..count).map(|i| record(i * 7919 % count, i)).collect()
}

fn options(layout: Layout) -> BuildOptions {
    BuildOptions::default().layout(layout).threads(2).memory_bytes(1 << 20).seed(5)
}

fn build(path: &Path, options: BuildOptions, records: &Records) {
    let mut builder = Builder::create(path, options).unwrap();
    builder.add_many(records.iter().map(|(key, value)| (key, value))).unwrap();
    builder.finish().unwrap();
}

/// The content of all files below a directory, by path.
fn content(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            all.extend(content(&entry.path()).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

#[test]
fn a_merge_has_the_bytes_of_a_build_of_all_records() {
    let directory = tempfile::tempdir().unwrap();
    let count = 2500;
    let old = records(count);
    // Every tenth is replaced, then every fifteenth is deleted, and 200 are new, of which 10 are taken back.
    let new: Records = (0..200).map(|i| record(count + i, i)).collect();
    for layout in LAYOUTS {
        for (shards, ordered) in [(1, false), (1, true), (3, false), (3, true)] {
            let name = format!("{layout}-{shards}-{ordered}");
            let path = |kind: &str| directory.path().join(format!("{name}-{kind}"));
            let mut of_base = options(layout).shards(shards).ordered(ordered).data_files(2);
            if ordered && layout == Layout::Compressed {
                of_base = of_base.dictionary_bytes(0); // samples of such a merge are not the first records
            }
            build(&path("base"), of_base, &old);
            let base = Arc::new(Database::open(path("base")).unwrap());
            let options = BuildOptions::of(&base).threads(2).memory_bytes(1 << 20);
            let mut expected: Records = Vec::new();
            for old in base.scan().unwrap() {
                let (key, value) = old.unwrap();
                let number: usize = std::str::from_utf8(&key[5..]).unwrap().parse().unwrap();
                if number % 15 != 0 {
                    expected.push(if number % 10 == 0 { record(number, number + 1) } else { (key, value) });
                }
            }
            expected.extend(new[10..].iter().cloned());
            let mut merger = Merger::create(&base, path("merged"), options.clone()).unwrap();
            for number in (0..count).step_by(10) {
                merger.add(&record(number, 0).0, b"superseded").unwrap();
                let (key, value) = record(number, number + 1);
                merger.add(&key, &value).unwrap();
            }
            for (key, value) in &new {
                merger.add(key, value).unwrap();
            }
            for number in (0..count).step_by(15).chain(count..count + 10).chain([count + 500]) {
                merger.delete(&record(number, 0).0).unwrap();
            }
            let built = merger.finish().unwrap();
            let changes = built.changes.unwrap();
            assert_eq!(built.records, expected.len() as u64, "{name}");
            // 250 multiples of 10 and 167 of 15; 84 are both.
            assert_eq!((changes.kept, changes.replaced, changes.deleted), (2500 - 250 - 167 + 84, 250 - 84, 167));
            assert_eq!((changes.added, changes.deleted_absent, changes.superseded), (190, 10 + 1, 250 + 84 + 10));
            build(&path("built"), options, &expected);
            assert!(content(&path("merged")) == content(&path("built")), "{name}");
        }
    }
}

#[test]
fn the_last_change_counts_unless_the_options_say_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("base");
    for layout in [Layout::Packed, Layout::Compressed] {
        build(&path, options(layout).overwrite(true), &vec![(b"a".to_vec(), b"1".to_vec())]);
        let base = Arc::new(Database::open(&path).unwrap());
        for (duplicates, expected) in [(Duplicates::Last, "3"), (Duplicates::First, "2")] {
            let target = directory.path().join("merged");
            let options = BuildOptions::of(&base).duplicates(duplicates).overwrite(true);
            let mut merger = Merger::create(&base, &target, options).unwrap();
            merger.add(b"a", b"2").unwrap();
            merger.delete(b"a").unwrap();
            merger.add(b"a", b"3").unwrap();
            assert_eq!(merger.changes(), 3);
            let changes = merger.finish().unwrap().changes.unwrap();
            assert_eq!((changes.replaced, changes.superseded, changes.kept), (1, 2, 0));
            assert_eq!(Database::open(&target).unwrap().get(b"a").unwrap().unwrap(), expected.as_bytes());
        }
        let target = directory.path().join("refused");
        let mut merger =
            Merger::create(&base, &target, BuildOptions::of(&base).duplicates(Duplicates::Refuse)).unwrap();
        merger.add(b"b", b"").unwrap();
        merger.delete(b"b").unwrap();
        match merger.finish() {
            Err(Error::Duplicate { key, first, second }) => assert_eq!((&key[..], first, second), (&b"b"[..], 0, 1)),
            other => panic!("{other:?}"),
        }
        assert!(!target.exists());
    }
}

#[test]
fn what_is_no_base_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("base");
    build(&path, options(Layout::Packed).shards(2), &records(100));
    let base = Arc::new(Database::open(&path).unwrap());
    let like = BuildOptions::of(&base).overwrite(true);
    let refused = Merger::create(&base, &path, like.clone()).unwrap_err().to_string();
    assert!(refused.ends_with("is the base itself, which a merge only reads; choose another target"), "{refused}");
    let target = directory.path().join("merged");
    let other = Merger::create(&base, &target, like.clone().seed(6)).unwrap_err().to_string();
    assert!(other.starts_with("seed is not that of the base "), "{other}");
    let other = Merger::create(&base, &target, like.clone().layout(Layout::Compact)).unwrap_err().to_string();
    assert!(other.starts_with("layout is not that of the base "), "{other}");
    let shard = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let shard = Arc::new(Database::open(shard).unwrap());
    let refused = Merger::create(&shard, &target, BuildOptions::of(&shard)).unwrap_err().to_string();
    assert!(refused.ends_with("holds only some shards of a set; merge into the whole set"), "{refused}");
    // A merge that does not end leaves nothing.
    let mut merger = Merger::create(&base, &target, like).unwrap();
    merger.add(b"key", b"value").unwrap();
    drop(merger);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_merge_is_stopped_by_its_listener() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("base");
    for layout in [Layout::Packed, Layout::Compressed] {
        build(&path, options(layout).overwrite(true), &records(500));
        let base = Arc::new(Database::open(&path).unwrap());
        let target = directory.path().join("merged");
        // Stops at the first report, at the second and so on, until there is none left to stop at.
        for reports in 0.. {
            let mut left = reports;
            let options = BuildOptions::of(&base).overwrite(true);
            let mut merger = Merger::with_progress(&base, &target, options, move |_| {
                left -= 1;
                left >= 0
            })
            .unwrap();
            merger.add(b"key", b"value").unwrap();
            match merger.finish() {
                Ok(built) => {
                    assert!(reports > 3);
                    assert_eq!(built.records, 501);
                    fs::remove_dir_all(&target).unwrap();
                    break;
                }
                Err(Error::Stopped) => assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn databases_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let old = records(1000);
    let mut new: Records = old[3..].to_vec();
    new[0].1 = b"changed".to_vec();
    new.push((b"new".to_vec(), b"value".to_vec()));
    build(&path("before"), options(Layout::Packed), &old);
    build(&path("after"), options(Layout::Compressed).shards(3), &new);
    let (before, after) = (Database::open(path("before")).unwrap(), Database::open(path("after")).unwrap());
    let mut differences = before.diff(&after).unwrap();
    let mut found: Vec<Difference> = (&mut differences).collect::<Result<_>>().unwrap();
    let counts = differences.counts();
    assert_eq!((counts.kept, counts.added, counts.removed, counts.changed), (996, 1, 3, 1));
    assert!(!counts.is_equal());
    assert_eq!(found.pop(), Some(Difference::Added { key: b"new".to_vec(), after: b"value".to_vec() }));
    let (key, value) = old[3].clone();
    assert!(found.contains(&Difference::Changed { key, before: value, after: b"changed".to_vec() }));
    for (key, before) in old[..3].iter().cloned() {
        assert!(found.contains(&Difference::Removed { key, before }));
    }
    assert_eq!(found.len(), 4);
    let mut same = after.diff(&after).unwrap();
    assert!(same.next().is_none());
    assert!(same.counts().is_equal());
    assert_eq!(same.counts().kept, new.len() as u64);
}
