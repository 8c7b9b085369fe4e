//! Single values of databases that are not open, at a server that counts requests.
#![cfg(feature = "remote")]

mod support {
    #[path = "../support/mod.rs"]
    pub mod golden;
    #[path = "../support/objects/mod.rs"]
    pub mod objects;
}

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use bsdb::{aget_once, get_once, BuildOptions, Builder, Database, Error, Layout, Options, Remote, RemoteKind, Result};
use support::golden::{files, forge, golden, records, text, ABSENT, KINDS, PAGE};
use support::objects::{Fault, Objects, Request};

fn options() -> Options {
    Options::default().remote(Remote::default().set("proxy_excludes", "127.0.0.1").deadline(Duration::from_secs(2)))
}

fn s3(objects: &Objects) -> Options {
    let remote = Remote::default()
        .set("aws_endpoint", objects.url())
        .set("aws_region", "eu-central-1")
        .set("aws_access_key_id", "id")
        .set("aws_secret_access_key", "secret");
    Options::default().remote(remote.set("proxy_excludes", "127.0.0.1"))
}

fn get(objects: &Objects, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
    objects.reset();
    get_once(objects.url(), key.as_ref(), options())
}

fn requests(objects: &Objects) -> u64 {
    objects.counts().requests
}

fn of_data(request: &Request) -> bool {
    request.path.contains("data-")
}

fn key(i: usize) -> String {
    format!("key {i}")
}

/// A value of so many bytes.
fn value(i: usize, length: usize) -> Vec<u8> {
    format!("value {i} ").into_bytes().into_iter().cycle().take(length).collect()
}

/// Builds a database of records `key I` with values of the lengths that a function gives.
fn build(path: &Path, records: usize, length: impl Fn(usize) -> usize, options: BuildOptions) {
    let mut builder = Builder::create(path, options.overwrite(true)).unwrap();
    for i in 0..records {
        builder.add(key(i).as_bytes(), &value(i, length(i))).unwrap();
    }
    builder.finish().unwrap();
}

/// A packed database in a directory of its own.
fn packed(records: usize, length: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), records, |_| length, BuildOptions::default().layout(Layout::Packed));
    directory
}

#[test]
fn a_present_key_takes_two_requests() {
    // With a sample of 31 parts, and without one.
    for (records, length) in [(200_000, 60), (3000, 60)] {
        let directory = packed(records, length);
        let database = Database::open(directory.path()).unwrap();
        database.verify().unwrap();
        assert_eq!(text(directory.path()).contains("\npacked.sample="), records == 200_000);
        let objects = Objects::start(directory.path());
        let mut by_requests = BTreeMap::new();
        for i in (0..records).step_by(records / 200) {
            assert_eq!(get(&objects, key(i)).unwrap(), Some(value(i, length)));
            let counts = objects.counts();
            *by_requests.entry(counts.requests).or_insert(0) += 1;
            if counts.requests == 2 {
                let asked = objects.requests();
                assert_eq!(
                    (asked[0].path.as_str(), asked[0].status, asked[0].range.is_some()),
                    ("manifest.bsdb", 200, false)
                );
                assert!(of_data(&asked[1]) && asked[1].status == 206, "{asked:?}");
                assert!(counts.bytes <= 128 << 10, "{counts:?}");
            }
        }
        assert!(by_requests[&2] >= 198, "{by_requests:?}");
        let i = records / 2;
        objects.reset();
        assert_eq!(get_once("s3://bucket", key(i).as_bytes(), s3(&objects)).unwrap(), Some(value(i, length)));
        assert_eq!((requests(&objects), objects.counts().heads), (2, 0), "{:?}", objects.requests());
        objects.reset();
        let asked = async_get(objects.url().to_owned(), key(i));
        assert_eq!((asked.unwrap(), requests(&objects)), (Some(value(i, length)), 2));
    }
}

/// Looks a key up on a thread of the runtime.
fn async_get(url: String, key: String) -> Result<Option<Vec<u8>>> {
    let (tell, told) = std::sync::mpsc::channel();
    let task = bsdb::spawn(async move {
        let _ = tell.send(aget_once(url, key.as_bytes(), options()).await);
    });
    let found = told.recv_timeout(Duration::from_secs(60)).unwrap();
    drop(task);
    found
}

#[test]
fn absence_is_what_the_index_says() {
    let directory = packed(30_000, 100);
    let objects = Objects::start(directory.path());
    for i in 0..20 {
        assert_eq!(get(&objects, format!("absent {i}")).unwrap(), None);
        // The manifest and the window; then the index and the bin.
        assert_eq!(requests(&objects), 4, "{:?}", objects.requests());
    }
    assert_eq!(async_get(objects.url().to_owned(), "absent".into()).unwrap(), None);
    assert_eq!(get(&objects, [b'x'; 70_000]).unwrap(), None);
}

#[test]
fn every_key_of_every_shape_is_found() {
    let plain = || BuildOptions::default().layout(Layout::Packed);
    type Length = fn(usize) -> usize;
    let shapes: [(&str, usize, Length, BuildOptions); 7] = [
        ("several files", 700, |_| 1600, plain().data_files(3)),
        ("more files than pages", 5, |_| 10, plain().data_files(7)),
        ("spanning records", 500, |i| 1000 + i * 7 % 3000, plain()),
        ("long values", 150, |i| if i % 30 == 0 { 400_000 } else { 5000 }, plain()),
        ("a filter", 700, |_| 1600, plain().filter_bits(8)),
        ("compressed bins", 300, |_| 600, plain().layout(Layout::PackedCompressed)),
        ("addresses", 300, |_| 600, plain().layout(Layout::Blocked)),
    ];
    for (shape, count, length, options) in shapes {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), count, length, options);
        Database::open(directory.path()).unwrap().verify().unwrap();
        let objects = Objects::start(directory.path());
        let mut in_two = 0;
        for i in 0..count {
            assert_eq!(get(&objects, key(i)).unwrap(), Some(value(i, length(i))), "{shape}: {i}");
            in_two += usize::from(requests(&objects) == 2);
        }
        match shape {
            "several files" | "a filter" => assert!(in_two * 10 > count * 9, "{shape}: {in_two} of {count}"),
            "more files than pages" => assert_eq!(in_two, count),
            "compressed bins" | "addresses" => assert_eq!(in_two, 0),
            _ => {}
        }
        assert_eq!(get(&objects, "absent").unwrap(), None, "{shape}");
    }
}

#[test]
fn golden_databases_and_their_shards_are_read() {
    for kind in KINDS {
        let objects = Objects::start(golden(kind));
        for (key, value) in records(kind) {
            assert_eq!(get(&objects, &key).unwrap(), Some(value), "{kind}");
        }
        for key in ABSENT {
            assert_eq!(get(&objects, key).unwrap(), None, "{kind}");
        }
    }
    let objects = Objects::start(golden("v1-sharded"));
    let local = Database::open(golden("v1-sharded")).unwrap();
    for record in local.scan().unwrap() {
        let (key, value) = record.unwrap();
        assert_eq!(get(&objects, key).unwrap(), Some(value));
    }
}

#[test]
fn a_set_takes_three_requests_and_a_store_four() {
    let directory = tempfile::tempdir().unwrap();
    let set = directory.path().join("set");
    build(&set, 1000, |_| 1500, BuildOptions::default().layout(Layout::Packed).shards(3));
    let objects = Objects::start(directory.path());
    let ask = |name: &str, i: usize| {
        objects.reset();
        let url = format!("{}/{name}", objects.url());
        assert_eq!(get_once(&url, key(i).as_bytes(), options()).unwrap(), Some(value(i, 1500)), "{name}: {i}");
        requests(&objects)
    };
    let in_three = (0..1000).filter(|&i| ask("set", i) == 3).count();
    assert!(in_three > 950, "{in_three}");
    #[cfg(unix)]
    {
        let named = bsdb::PublishOptions::default().version("v1");
        bsdb::publish(&set, directory.path().join("sets"), named).unwrap();
        assert_eq!(ask("sets", 7), 5, "{:?}", objects.requests());
        let small = directory.path().join("small");
        build(&small, 1000, |_| 1500, BuildOptions::default().layout(Layout::Packed));
        bsdb::publish(&small, directory.path().join("store"), bsdb::PublishOptions::default()).unwrap();
        let in_four = (0..100).filter(|&i| ask("store", i) == 4).count();
        assert!(in_four > 95, "{in_four}");
    }
    // A shard alone, and a set with a shard that is not what it says.
    let inner = |number: usize| {
        let starts = format!("shard-{number:05}");
        let mut all = fs::read_dir(&set).unwrap().map(|entry| entry.unwrap().path());
        all.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&starts)).unwrap()
    };
    let shard = objects.url().to_owned() + "/set/" + inner(1).file_name().unwrap().to_str().unwrap();
    let answers: Vec<_> = (0..20).map(|i| get_once(&shard, key(i).as_bytes(), options())).collect();
    assert!(answers.iter().any(|found| matches!(found, Ok(Some(_)))));
    assert!(answers.iter().any(|found| matches!(found, Err(Error::NotHeld { .. }))));
    fs::copy(inner(0).join("manifest.bsdb"), inner(1).join("manifest.bsdb")).unwrap();
    let url = format!("{}/set", objects.url());
    let answers: Vec<_> = (0..20).map(|i| get_once(&url, key(i).as_bytes(), options())).collect();
    assert!(answers.iter().any(|found| matches!(found, Err(Error::Damaged { .. }))), "{answers:?}");
    assert!((0..20).zip(&answers).all(|(i, found)| found.as_ref().map_or(true, |v| *v == Some(value(i, 1500)))));
}

/// The numbers of the line `packed.sample=`.
fn sample(text: &str) -> Vec<i64> {
    let line = text.lines().find_map(|line| line.strip_prefix("packed.sample=")).unwrap();
    line.split(' ').map(|number| number.parse().unwrap()).collect()
}

/// Replaces that line.
fn with_sample(text: &str, line: &str) -> String {
    text.lines().map(|old| if old.starts_with("packed.sample=") { line } else { old }).flat_map(|l| [l, "\n"]).collect()
}

#[test]
fn a_sample_that_misleads_gives_right_answers() {
    let directory = packed(8000, 300);
    let sound = text(directory.path());
    let numbers = sample(&sound);
    assert!(numbers.len() > 1 && numbers.iter().all(|number| number.abs() < 30), "{numbers:?}");
    let objects = Objects::start(directory.path());
    let shown = |of: &dyn Fn(usize, i64) -> i64| {
        let all: Vec<String> = numbers.iter().enumerate().map(|(i, &number)| of(i, number).to_string()).collect();
        format!("packed.sample={}", all.join(" "))
    };
    let all_in_two = |expected: bool| {
        let mut all = true;
        for i in (0..8000).step_by(80) {
            assert_eq!(get(&objects, key(i)).unwrap(), Some(value(i, 300)));
            all &= requests(&objects) == 2;
        }
        assert_eq!(all, expected);
        assert_eq!(get(&objects, "absent").unwrap(), None);
    };
    for line in [shown(&|_, number| number + 60), shown(&|_, number| number - 60)] {
        forge(directory.path(), with_sample(&sound, &line).as_bytes());
        all_in_two(false);
        let error = Database::open(directory.path()).unwrap().verify().unwrap_err().to_string();
        assert!(error.contains("as in the index") && error.contains("manifest.bsdb"), "{error}");
    }
    // As an earlier version wrote it.
    let older: String =
        sound.lines().filter(|line| !line.starts_with("packed.sample=")).flat_map(|l| [l, "\n"]).collect();
    forge(directory.path(), older.as_bytes());
    all_in_two(false);
    assert_eq!(get(&objects, key(1)).map(|_| requests(&objects)).unwrap(), 3, "the manifest, the index, a bin");
    Database::open(directory.path()).unwrap().verify().unwrap();
    forge(directory.path(), sound.as_bytes());
    all_in_two(true);
    for line in
        ["packed.sample=".to_owned(), "packed.sample=1".into(), shown(&|_, _| 10_000), shown(&|i, _| -200 * i as i64)]
    {
        forge(directory.path(), with_sample(&sound, &line).as_bytes());
        for found in [get(&objects, key(1)), Database::open(directory.path()).map(|_| None)] {
            let error = found.unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }) && error.to_string().contains("packed.sample"), "{error}");
        }
    }
}

#[test]
fn damage_is_told_where_it_matters() {
    let directory = packed(3000, 300);
    let objects = Objects::start(directory.path());
    let data = files(directory.path()).into_iter().find(|file| file.to_str().unwrap().contains("data-")).unwrap();
    let mut bytes = fs::read(&data).unwrap();
    let page = bytes.len() / PAGE / 2;
    bytes[page * PAGE + 2000] ^= 4;
    fs::write(&data, bytes).unwrap();
    let local = Database::open(directory.path()).unwrap();
    let (mut damaged, mut around) = (0, 0);
    for i in 0..3000 {
        let expected = local.get(key(i).as_bytes());
        if i % 20 > 0 && expected.is_ok() {
            continue;
        }
        match (get(&objects, key(i)), expected) {
            (Err(Error::Damaged { path, offset, .. }), Err(Error::Damaged { .. })) => {
                assert!(path.to_str().unwrap().contains("data-") && offset == (page * PAGE) as u64);
                damaged += 1;
            }
            (Ok(found), Ok(_)) => {
                assert_eq!(found, Some(value(i, 300)));
                around += usize::from(requests(&objects) > 2);
            }
            other => panic!("{i}: {other:?}"),
        }
    }
    assert!(damaged > 5 && around > 0, "{damaged}, {around}");
    objects.fail(|request, _| if of_data(request) { Fault::FlipBit(999) } else { Fault::None });
    assert!(matches!(get(&objects, key(1)), Err(Error::Damaged { .. })));
}

#[test]
fn a_fault_at_any_request_does_not_matter() {
    let directory = packed(3000, 300);
    let objects = Objects::start(directory.path());
    let busy = |code| Fault::Status { code, retry_after: None };
    for fault in [busy(503), Fault::Close, Fault::Cut(100), Fault::FlipBit(12_345), Fault::Stall, Fault::Whole200] {
        for (key, expected) in [(key(7), Some(value(7, 300))), ("absent".to_owned(), None)] {
            for at in 0..5 {
                let once = fault.clone();
                objects.fail(move |_, nth| if nth == at { once.clone() } else { Fault::None });
                assert_eq!(get(&objects, &key).unwrap(), expected, "{fault:?} at {at}");
            }
        }
    }
    objects.fail(move |request, _| if of_data(request) { busy(403) } else { Fault::None });
    assert!(matches!(get(&objects, key(7)), Err(Error::Remote { kind: RemoteKind::Denied, .. })));
    // A server that tells nothing by which contents can be told apart: the header is asked for, too.
    objects.fail(|_, _| Fault::NoTag);
    assert_eq!(get(&objects, key(7)).map(|found| (found, requests(&objects))).unwrap(), (Some(value(7, 300)), 3));
}

#[test]
fn a_database_that_is_replaced_meanwhile_is_read_anew() {
    let directory = packed(3000, 300);
    let path = directory.path().to_owned();
    let objects = Objects::start(&path);
    let replaced = Once::new();
    objects.fail(move |request, _| {
        if of_data(request) {
            replaced.call_once(|| build(&path, 3000, |_| 200, BuildOptions::default().layout(Layout::Packed)));
        }
        Fault::None
    });
    assert_eq!(get(&objects, key(7)).unwrap(), Some(value(7, 200)));
    assert!(objects.counts().status.contains_key(&404), "{:?}", objects.counts());
    assert_eq!(get(&objects, key(8)).map(|found| (found, requests(&objects))).unwrap(), (Some(value(8, 200)), 2));
}

#[test]
fn what_is_not_a_database_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let objects = Objects::start(directory.path());
    assert!(matches!(get(&objects, "a"), Err(Error::NotADatabase { .. })));
    objects.fail(|_, _| Fault::Status { code: 403, retry_after: None });
    assert!(matches!(get(&objects, "a"), Err(Error::Remote { kind: RemoteKind::Denied, .. })));
    assert!(matches!(get_once("s3://user@bucket/db", b"a", options()), Err(Error::Argument(_))));
    assert!(matches!(get_once(directory.path(), b"a", options()), Err(Error::NotADatabase { .. })));
    assert_eq!(get_once(golden("v1-packed"), b"empty", options()).unwrap(), Some(Vec::new()));
}
