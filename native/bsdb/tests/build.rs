//! Builds databases and reads them back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bsdb::{BuildOptions, Builder, Built, Database, Duplicates, Error, KeyRange, Layout, Result, Stage};

const LAYOUTS: [Layout; 5] =
    [Layout::Blocked, Layout::Compact, Layout::Compressed, Layout::Packed, Layout::PackedCompressed];

type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// Random numbers that are the same in each run: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> usize {
        (self.next() % end) as usize
    }

    /// Bytes that can be compressed half of the time.
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mask = if self.below(2) == 0 { 0xff } else { 0x03 };
        (0..length).map(|_| self.next() as u8 & mask).collect()
    }

    fn key(&mut self) -> Vec<u8> {
        let length = match self.below(40) {
            0 => self.below(3),
            1 => 253 + self.below(6),
            2 => self.below(5000),
            _ => 1 + self.below(40),
        };
        (0..length).map(|_| self.next() as u8).collect()
    }

    fn value(&mut self) -> Vec<u8> {
        let length = match self.below(60) {
            0 => 0,
            1 => 4040 + self.below(100),
            2 => 8170 + self.below(30),
            3 => 32_505 + self.below(10),
            _ => self.below(200),
        };
        self.bytes(length)
    }

    /// Records with keys of their own.
    fn records(&mut self, count: usize) -> Records {
        let mut records = BTreeMap::new();
        while records.len() < count {
            records.insert(self.key(), self.value());
        }
        let mut records: Records = records.into_iter().collect();
        for i in (1..records.len()).rev() {
            records.swap(i, self.below(i as u64 + 1));
        }
        records
    }
}

fn options(layout: Layout) -> BuildOptions {
    BuildOptions::default().layout(layout).threads(2).memory_bytes(1 << 20)
}

fn build(path: &Path, options: BuildOptions, records: &Records) -> Result<Built> {
    let mut builder = Builder::create(path, options)?;
    builder.add_many(records.iter().map(|(key, value)| (key, value)))?;
    assert_eq!(builder.records(), records.len() as u64);
    builder.finish()
}

/// Asserts that a database has these records, and no others.
fn check(path: &Path, records: &Records, ordered: bool) {
    let db = Database::open(path).unwrap();
    assert_eq!(db.len(), records.len() as u64);
    assert_eq!(db.verify().unwrap().records, records.len() as u64);
    for (key, value) in records {
        assert_eq!(db.get(key).unwrap().as_ref(), Some(value));
    }
    let mut sorted = records.clone();
    sorted.sort();
    let mut scanned: Records = db.scan().unwrap().collect::<Result<_>>().unwrap();
    scanned.sort();
    assert!(scanned == sorted, "a scan gives other records");
    for key in [&b"an absent key"[..], &[7; 400], &[]] {
        let expected = records.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        assert_eq!(db.get(key).unwrap().as_ref(), expected);
    }
    assert_eq!(db.is_ordered(), ordered);
    if ordered {
        let found: Records = db.range(KeyRange::all()).unwrap().collect::<Result<_>>().unwrap();
        assert!(found == sorted, "a range gives other records");
        let from = KeyRange::all().from([0x80]);
        let expected = sorted.iter().filter(|(key, _)| key[..] >= [0x80][..]).count() as u64;
        assert_eq!(db.count(&from).unwrap(), expected);
    }
}

/// The names of what is in a directory.
fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The content of all files below a directory, by path.
fn content(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            all.extend(content(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            all.insert(name, fs::read(path).unwrap());
        }
    }
    all
}

#[test]
fn what_is_built_is_read_in_all_layouts() {
    let directory = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        for (count, files) in [(0, 1), (1, 1), (2, 2), (3, 1), (64, 3), (3000, 2)] {
            for ordered in [false, true] {
                let mut random = Random(count as u64);
                let records = random.records(count);
                let path = directory.path().join(format!("{layout}-{count}-{ordered}"));
                let built = build(&path, options(layout).data_files(files).ordered(ordered).seed(7), &records).unwrap();
                check(&path, &records, ordered);
                assert_eq!(built.path, path.canonicalize().unwrap());
                assert_eq!((built.records, built.dropped), (count as u64, 0));
                assert_eq!(built.key_bytes, records.iter().map(|(key, _)| key.len() as u64).sum::<u64>());
                assert_eq!(built.value_bytes, records.iter().map(|(_, value)| value.len() as u64).sum::<u64>());
                assert_eq!(built.bytes, content(&path).values().map(|bytes| bytes.len() as u64).sum::<u64>());
                assert!(built.warnings.is_empty(), "{:?}", built.warnings);
            }
        }
    }
}

#[test]
fn sets_are_read_as_databases_are() {
    let directory = tempfile::tempdir().unwrap();
    for (layout, shards, count) in [
        (Layout::Packed, 2, 0),
        (Layout::Blocked, 3, 2),
        (Layout::PackedCompressed, 5, 3000),
        (Layout::Compressed, 2, 3000),
        (Layout::Packed, 300, 1000),
    ] {
        let records = Random(u64::from(shards)).records(count);
        let path = directory.path().join(format!("{layout}-{shards}-{count}"));
        let built = build(&path, options(layout).shards(shards).ordered(true), &records).unwrap();
        assert_eq!(built.records, count as u64);
        assert_eq!(names(&path).len(), shards as usize + 1);
        check(&path, &records, true);
    }
}

#[test]
fn bytes_do_not_depend_on_resources() {
    let directory = tempfile::tempdir().unwrap();
    let records = Random(1).records(2500); // more than the least memory
    for layout in LAYOUTS {
        for shards in [1, 3] {
            let mut first: Option<(String, BTreeMap<String, Vec<u8>>)> = None;
            for (i, (memory, threads)) in [(1 << 20, 1), (1 << 20, 3), (1 << 30, 1), (1 << 30, 5)].iter().enumerate() {
                let path = directory.path().join(format!("{layout}-{shards}-{i}"));
                let options = options(layout).shards(shards).memory_bytes(*memory).threads(*threads).ordered(true);
                let made = (build(&path, options, &records).unwrap().id, content(&path));
                match &first {
                    None => first = Some(made),
                    Some(first) => assert!(first == &made, "{layout}, {memory} bytes, {threads} threads"),
                }
            }
        }
    }
}

#[test]
fn long_records_fit() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(5);
    let mut records = random.records(50);
    for length in [65_534, 65_535] {
        records.push((random.bytes(length), random.bytes(9)));
    }
    for length in [16_384, 16_385, 65_536, 300_000, 5_000_000] {
        records.push((random.bytes(20), random.bytes(length)));
        records.push((random.bytes(21), vec![0; length]));
    }
    for layout in LAYOUTS {
        for shards in [1, 2] {
            let path = directory.path().join(format!("{layout}-{shards}"));
            build(&path, options(layout).shards(shards).ordered(true), &records).unwrap();
            check(&path, &records, true);
        }
    }
    let mut builder = Builder::create(directory.path().join("refused"), BuildOptions::default()).unwrap();
    let error = builder.add(&[1; 65_536], b"").unwrap_err();
    assert_eq!(error.to_string(), "a key of 65536 bytes; at most 65535 fit");
    builder.add(b"key", b"value").unwrap();
    assert_eq!(builder.finish().unwrap().records, 1);
}

#[test]
fn of_records_with_the_same_key_one_is_kept_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let record = |key: usize, value: usize| (format!("key {key}").into_bytes(), format!("value {value}").into_bytes());
    let records: Records = (0..3000).map(|i| record(i % 1000, i)).collect();
    for layout in LAYOUTS {
        for shards in [1, 4] {
            for ordered in [false, true] {
                let build = |duplicates| {
                    let path = directory.path().join(format!("{layout}-{shards}-{ordered}-{duplicates:?}"));
                    let options = options(layout).shards(shards).ordered(ordered).duplicates(duplicates);
                    (build(&path, options, &records), path)
                };
                for (duplicates, added) in [(Duplicates::First, 0), (Duplicates::Last, 2000)] {
                    let (built, path) = build(duplicates);
                    let built = built.unwrap();
                    assert_eq!((built.records, built.dropped), (1000, 2000));
                    let db = Database::open(&path).unwrap();
                    assert_eq!(db.verify().unwrap().records, 1000);
                    for i in 0..1000 {
                        let (key, value) = record(i, i + added);
                        assert_eq!(db.get(&key).unwrap(), Some(value), "{layout} {duplicates:?}");
                    }
                }
                let (refused, path) = build(Duplicates::Refuse);
                match refused {
                    Err(Error::Duplicate { key, first, second }) => {
                        assert_eq!(key, records[first as usize].0);
                        assert_eq!(second, first + 1000);
                    }
                    other => panic!("{other:?}"),
                }
                assert!(!path.exists());
            }
        }
    }
}

#[test]
fn a_build_that_does_not_end_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let records = Random(3).records(2000);
    for shards in [1, 3] {
        let path = directory.path().join("db");
        let mut builder = Builder::create(&path, options(Layout::Packed).shards(shards)).unwrap();
        builder.add_many(records.iter().map(|(key, value)| (key, value))).unwrap();
        drop(builder);
        assert_eq!(names(directory.path()), [""; 0]);
    }
}

#[test]
fn a_build_is_stopped_by_its_listener() {
    let directory = tempfile::tempdir().unwrap();
    let records = Random(3).records(200);
    for layout in LAYOUTS {
        for shards in [1, 3] {
            let path = directory.path().join("db");
            let mut stages = Vec::new();
            // Stops at the first report, at the second and so on, until there is none left to stop at.
            for reports in 0.. {
                let (mut left, seen) = (reports, std::sync::Arc::new(std::sync::Mutex::new(Vec::new())));
                let told = seen.clone();
                let mut builder = Builder::with_progress(
                    &path,
                    options(layout).shards(shards).ordered(true).overwrite(true),
                    move |progress| {
                        told.lock().unwrap().push(progress.stage);
                        assert!(progress.total.is_none_or(|total| progress.done <= total), "{progress:?}");
                        left -= 1;
                        left >= 0
                    },
                )
                .unwrap();
                builder.add_many(records.iter().map(|(key, value)| (key, value))).unwrap();
                match builder.finish() {
                    Ok(_) => {
                        stages.extend(seen.lock().unwrap().iter());
                        break;
                    }
                    Err(Error::Stopped) => assert_eq!(names(directory.path()), [""; 0]),
                    Err(other) => panic!("{other}"),
                }
                assert!(reports < 10_000);
            }
            assert!(stages.contains(&Stage::Records) && stages.contains(&Stage::Index), "{layout}: {stages:?}");
            check(&path, &records, true);
            fs::remove_dir_all(&path).unwrap();
        }
    }
}

#[test]
fn a_database_is_replaced_only_if_that_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let old = Random(1).records(100);
    let new = Random(2).records(100);
    build(&path, options(Layout::Packed), &old).unwrap();
    let before = content(&path);
    let refused = Builder::create(&path, options(Layout::Packed)).unwrap_err();
    assert!(matches!(refused, Error::Exists { .. }), "{refused}");
    let mut dropped = Builder::create(&path, options(Layout::Blocked).overwrite(true)).unwrap();
    dropped.add(b"key", b"value").unwrap();
    drop(dropped);
    assert!(content(&path) == before);
    let open = Database::open(&path).unwrap();
    build(&path, options(Layout::Compressed).overwrite(true), &new).unwrap();
    check(&path, &new, false);
    assert_eq!(open.get(&old[0].0).unwrap().as_ref(), Some(&old[0].1), "an open database stays as it is");
    build(&path, options(Layout::Packed).shards(3).overwrite(true), &old).unwrap();
    check(&path, &old, false);
    build(&path, options(Layout::Packed).overwrite(true), &old).unwrap();
    assert!(content(&path) == before);
    assert_eq!(names(directory.path()), ["db"]);
}

#[test]
fn samples_come_before_the_records() {
    let directory = tempfile::tempdir().unwrap();
    let records: Records =
        (0..5000).map(|i| (format!("user:{i}").into_bytes(), format!("{{\"name\":\"user {i}\"}}").into())).collect();
    let of_first = build(&directory.path().join("first"), options(Layout::Compressed), &records).unwrap();
    assert!(of_first.dictionary_bytes > 0);
    let sampled = |samples: &[(Vec<u8>, Vec<u8>)]| {
        let path = directory.path().join(format!("of {}", samples.len()));
        let mut builder = Builder::create(path, options(Layout::Compressed)).unwrap();
        for (key, value) in samples {
            builder.sample(key, value).unwrap();
        }
        builder.add_many(records.iter().map(|(key, value)| (key, value))).unwrap();
        assert!(builder.sample(b"key", b"value").unwrap_err().to_string().contains("before the records"));
        builder.finish().unwrap()
    };
    assert_eq!(sampled(&records).id, of_first.id, "the first records are the samples unless others are given");
    assert_ne!(sampled(&records[2000..]).id, of_first.id);
    assert_eq!(sampled(&records[..1]).dictionary_bytes, 0, "too few for a dictionary");
    let none = options(Layout::Compressed).sample_records(0);
    assert_eq!(build(&directory.path().join("none"), none, &records).unwrap().dictionary_bytes, 0);
}

#[test]
fn options_that_do_not_go_together_are_refused_before_anything_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let refused = Builder::create(&path, options(Layout::Blocked).filter_bits(4)).unwrap_err();
    assert!(matches!(&refused, Error::Argument(reason) if reason.starts_with("filter_bits is 4")), "{refused}");
    let refused = Builder::create(&path, options(Layout::Packed).shards(0)).unwrap_err();
    assert_eq!(refused.to_string(), "shards is 0, not in 1 to 16384");
    assert_eq!(names(directory.path()), [""; 0]);
}
