//! Databases that are read where they lie, at a server that can fail.
#![cfg(feature = "remote")]

mod support {
    #[path = "../support/mod.rs"]
    pub mod golden;
    #[path = "../support/objects/mod.rs"]
    pub mod objects;
}

use std::fs;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use bsdb::{
    publish, BuildOptions, Builder, Database, Error, KeyRange, Layout, Options, PublishOptions, Remote, RemoteKind,
    Result, Store,
};
use support::golden::{ask, copy, files, forge, golden, records, text, ABSENT, KINDS, PAGE};
use support::objects::{Fault, Objects, Request};

const LAYOUTS: [Layout; 5] =
    [Layout::Blocked, Layout::Compact, Layout::Compressed, Layout::Packed, Layout::PackedCompressed];

/// The settings of a client of S3 at a server.
fn s3(objects: &Objects) -> Remote {
    Remote::default()
        .set("aws_endpoint", objects.url())
        .set("aws_region", "eu-central-1")
        .set("aws_access_key_id", "id")
        .set("aws_secret_access_key", "secret")
        .set("proxy_excludes", "127.0.0.1")
}

fn web() -> Remote {
    Remote::default().set("proxy_excludes", "127.0.0.1")
}

fn open(url: impl AsRef<Path>, remote: Remote) -> Result<Database> {
    Database::open_with(url, Options::default().remote(remote))
}

/// Opens what the directory of a server holds, by plain HTTP.
fn opened(objects: &Objects, remote: Remote) -> Database {
    open(objects.url(), remote).unwrap()
}

/// Builds a database of records `key I` with values that begin with `value I`.
fn build(path: &Path, records: usize, length: usize, options: BuildOptions) {
    let mut builder = Builder::create(path, options.overwrite(true)).unwrap();
    for i in 0..records {
        builder.add(key(i).as_bytes(), &value(i, length)).unwrap();
    }
    builder.finish().unwrap();
}

fn key(i: usize) -> String {
    format!("key {i}")
}

fn value(i: usize, length: usize) -> Vec<u8> {
    let mut value = format!("value {i} ").into_bytes();
    let mut random = i as u64;
    while value.len() < length {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        value.push((random >> 33) as u8);
    }
    value
}

/// A database of many pages in a directory of its own.
fn database(layout: Layout, records: usize, length: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), records, length, BuildOptions::default().layout(layout));
    directory
}

/// Waits for a future without any runtime.
fn wait<F: Future>(future: F) -> F::Output {
    struct Parked(std::thread::Thread);
    impl Wake for Parked {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Parked(std::thread::current())));
    let begun = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "a future that does not end");
        std::thread::park_timeout(Duration::from_secs(1));
    }
}

fn kind(result: Result<impl Sized>) -> Option<RemoteKind> {
    match result {
        Err(Error::Remote { kind, .. }) => Some(kind),
        _ => None,
    }
}

fn of_data(request: &Request) -> bool {
    request.path.contains("data-")
}

#[test]
fn every_kind_is_read_as_from_a_directory() {
    for kind in KINDS {
        let objects = Objects::start(golden(kind));
        for (url, remote) in [("s3://bucket".to_owned(), s3(&objects)), (objects.url().to_owned(), web())] {
            objects.reset();
            let db = open(url, remote).unwrap();
            assert!(objects.counts().requests <= 5, "{kind}: {:?}", objects.requests());
            assert_eq!(db.len(), 3);
            assert!(db.is_remote());
            ask(&db, kind).unwrap();
            for (key, value) in records(kind) {
                assert_eq!(wait(db.aget(&key)).unwrap(), Some(value.clone()), "{kind}");
                assert_eq!(db.find(&key, <[u8]>::to_vec).unwrap(), Some(value.clone()));
                assert_eq!(db.find_at_hand(&key, <[u8]>::to_vec).unwrap(), Some(Some(value)), "{kind}");
            }
            let keys: Vec<Vec<u8>> =
                records(kind).into_iter().map(|(key, _)| key).chain(ABSENT.map(<[u8]>::to_vec)).collect();
            let found = wait(db.aget_many(&keys)).unwrap();
            let local = Database::open(golden(kind)).unwrap();
            let expected = local.get_many(&keys).unwrap();
            assert!(found.iter().zip(&expected).all(|(found, expected)| found.as_deref() == expected.as_deref()));
            assert_eq!(db.verify().unwrap(), local.verify().unwrap(), "{kind}");
            assert_eq!(db.statistics(), local.statistics());
            assert_eq!(objects.counts().heads, 0);
            assert_eq!(db.traffic().requests, objects.counts().requests, "{kind}");
        }
    }
}

#[test]
fn a_set_of_shards_is_read() {
    let objects = Objects::start(golden("v1-sharded"));
    let db = open("s3://bucket", s3(&objects)).unwrap();
    let local = Database::open(golden("v1-sharded")).unwrap();
    assert_eq!(db.statistics(), local.statistics());
    let records: Vec<_> = local.scan().unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(db.scan().unwrap().collect::<Result<Vec<_>>>().unwrap(), records);
    let keys: Vec<&[u8]> = records.iter().map(|(key, _)| &key[..]).collect();
    assert_eq!(db.get_many(&keys).unwrap(), local.get_many(&keys).unwrap());
    assert_eq!(db.verify().unwrap(), local.verify().unwrap());
    assert!(objects.requests().iter().all(|request| request.authorized));
}

#[test]
fn a_present_key_takes_one_request_in_packed_layouts_and_two_in_others() {
    for layout in LAYOUTS {
        let directory = database(layout, 20_000, 100);
        let objects = Objects::start(directory.path());
        let db = opened(&objects, web());
        // Some have a dictionary.
        assert!((3..=4).contains(&objects.counts().requests), "{:?}", objects.requests());
        let packed = matches!(layout, Layout::Packed | Layout::PackedCompressed);
        for i in [17, 12_345] {
            objects.reset();
            assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i, 100)));
            assert_eq!(objects.counts().requests, if packed { 1 } else { 2 }, "{:?}", objects.requests());
            assert!(objects.requests().iter().all(|request| request.status == 206));
            objects.reset();
            assert_eq!(wait(db.aget(key(i).as_bytes())).unwrap(), Some(value(i, 100)));
            assert_eq!(db.get_many(&[key(i)]).unwrap()[0].as_deref(), Some(&value(i, 100)[..]));
            assert_eq!(objects.counts().requests, 0, "{layout}: {:?}", objects.requests());
        }
        objects.reset();
        assert_eq!(db.get(b"absent").unwrap(), None);
        assert!(objects.counts().requests <= 2, "{:?}", objects.requests());
    }
}

#[test]
fn many_keys_take_one_wave() {
    for layout in LAYOUTS {
        let directory = database(layout, 50_000, 200);
        let objects = Objects::start(directory.path());
        let db = opened(&objects, web().requests(16));
        objects.reset();
        objects.set_latency(Duration::from_millis(20));
        let keys: Vec<String> = (0..64).map(|i| key(i * 701)).collect();
        let found = db.get_many(&keys).unwrap();
        for (i, found) in found.iter().enumerate() {
            assert_eq!(found.as_deref(), Some(&value(i * 701, 200)[..]));
        }
        let counts = objects.counts();
        assert!(counts.requests <= 2 * 64, "{counts:?}");
        // The server still counts requests whose answers have arrived: more than 16, but never all 64.
        assert!((8..=32).contains(&counts.peak), "{layout}: {counts:?}");
        objects.set_latency(Duration::ZERO);
        objects.reset();
        let all: Vec<String> = (0..50_000).map(key).collect();
        let found = wait(db.aget_many(&all)).unwrap();
        assert!(found.iter().enumerate().all(|(i, found)| found.as_deref() == Some(&value(i, 200)[..])), "{layout}");
        assert!(objects.counts().requests < 10_000, "neighbors were asked for together: {:?}", objects.counts());
    }
}

#[test]
fn long_values_and_scans_are_read() {
    for layout in LAYOUTS {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), 40, 700_000, BuildOptions::default().layout(layout).ordered(true));
        let objects = Objects::start(directory.path());
        let db = opened(&objects, web());
        let local = Database::open(directory.path()).unwrap();
        for i in [0, 7, 39] {
            assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i, 700_000)), "{layout}");
        }
        let keys: Vec<String> = (0..40).map(key).collect();
        assert_eq!(db.get_many(&keys).unwrap(), local.get_many(&keys).unwrap());
        objects.reset();
        let scanned: Vec<_> = db.scan().unwrap().collect::<Result<_>>().unwrap();
        assert_eq!(scanned, local.scan().unwrap().collect::<Result<Vec<_>>>().unwrap(), "{layout}");
        assert!(objects.counts().requests < 40, "{layout}: {:?}", objects.counts());
        let range = || KeyRange::all().from("key 1").to("key 3");
        let ranged: Vec<_> = db.range(range()).unwrap().collect::<Result<_>>().unwrap();
        assert_eq!(ranged, local.range(range()).unwrap().collect::<Result<Vec<_>>>().unwrap());
        // A scan that is given up leaves nothing behind.
        assert!(db.scan().unwrap().next().unwrap().is_ok());
    }
}

#[test]
fn a_packed_database_of_any_size_can_be_verified() {
    for layout in [Layout::Packed, Layout::PackedCompressed] {
        let directory = database(layout, 30_000, 1500);
        let objects = Objects::start(directory.path());
        let db = opened(&objects, web().memory(40 << 20));
        objects.reset();
        assert_eq!(db.verify().unwrap().records, 30_000);
        assert!(objects.counts().requests < 200, "{:?}", objects.counts());
    }
    let directory = database(Layout::Blocked, 30_000, 1500);
    let objects = Objects::start(directory.path());
    let error = opened(&objects, web()).verify().unwrap_err().to_string();
    assert!(error.contains("bsdb pull http://"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_store_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let (db, store) = (directory.path().join("db"), directory.path().join("store"));
    let named = |name: &str| PublishOptions::default().version(name);
    build(&db, 100, 20, BuildOptions::default());
    publish(&db, &store, named("v1")).unwrap();
    let objects = Objects::start(directory.path());
    let database = open("s3://bucket/store/", s3(&objects)).unwrap();
    assert_eq!(database.path(), Path::new("s3://bucket/store/v1"));
    assert_eq!(database.len(), 100);
    objects.reset();
    let open = Store::open_with("s3://bucket/store", Options::default().remote(s3(&objects))).unwrap();
    assert!(objects.counts().requests <= 5, "{:?}", objects.requests());
    assert!(!open.refresh().unwrap());
    build(&db, 200, 20, BuildOptions::default());
    publish(&db, &store, named("v2")).unwrap();
    assert!(open.refresh().unwrap());
    assert_eq!((open.version().as_str(), open.database().len()), ("v2", 200));
    assert_eq!(open.database().get(b"key 150").unwrap(), Some(value(150, 20)));
    assert_eq!(database.get(b"key 7").unwrap(), Some(value(7, 20)), "the version before stays readable");
    fs::remove_file(store.join("CURRENT")).unwrap();
    assert!(open.refresh().is_err());
    assert!(Store::open_with("s3://bucket/db", Options::default().remote(s3(&objects))).is_err());
}

/// Faults that pass: one more attempt helps.
fn passing() -> Vec<Fault> {
    let busy = |code| Fault::Status { code, retry_after: None };
    vec![
        Fault::Delay(Duration::from_millis(30)),
        busy(500),
        busy(503),
        busy(429),
        Fault::Status { code: 503, retry_after: Some(0) },
        Fault::Close,
        Fault::HalfClose,
        Fault::Cut(100),
        Fault::FlipBit(12_345),
        Fault::Garbage,
        Fault::Silence,
        Fault::Stall,
        Fault::WrongRange,
        Fault::Whole200,
        Fault::NoLength,
    ]
}

#[test]
fn a_fault_at_any_request_does_not_matter() {
    for kind in ["v1-packed-filter", "v1-dictionary"] {
        let objects = Objects::start(golden(kind));
        for fault in passing() {
            for at in 0.. {
                objects.reset();
                let once = fault.clone();
                let asked = AtomicU64::new(0);
                // A file CURRENT that is missing has no bits.
                objects.fail(move |request, _| match request.path.ends_with("CURRENT") {
                    false if asked.fetch_add(1, Relaxed) == at => once.clone(),
                    _ => Fault::None,
                });
                let begun = Instant::now();
                let db = opened(&objects, web().deadline(Duration::from_secs(2)));
                ask(&db, kind).unwrap_or_else(|error| panic!("{fault:?} at {at}: {error}"));
                assert!(begun.elapsed() < Duration::from_secs(60));
                if objects.counts().requests < at {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_fault_that_stays_is_an_error_that_says_what_it_is() {
    let directory = database(Layout::Packed, 5000, 100);
    let objects = Objects::start(directory.path());
    let busy = |code| Fault::Status { code, retry_after: None };
    for (fault, expected, text) in [
        (busy(503), Some(RemoteKind::Busy), "attempts in"),
        (Fault::Status { code: 429, retry_after: Some(60) }, Some(RemoteKind::Busy), "the server answers 429"),
        (busy(403), Some(RemoteKind::Denied), "s3:GetObject"),
        (busy(401), Some(RemoteKind::Denied), "s3:GetObject"),
        (busy(404), Some(RemoteKind::Missing), "open it again"),
        (busy(412), Some(RemoteKind::Changed), "was replaced while the database was open"),
        (Fault::Close, Some(RemoteKind::Unreachable), "check the URL"),
        (Fault::Cut(10), Some(RemoteKind::Unreachable), "attempts in"),
        (Fault::Garbage, Some(RemoteKind::Unreachable), "attempts in"),
        (Fault::Silence, Some(RemoteKind::Late), "no answer"),
        (Fault::Stall, Some(RemoteKind::Late), "no answer"),
        (Fault::Whole200, Some(RemoteKind::Server), "Content-Range"),
        (Fault::WrongRange, Some(RemoteKind::Server), "Content-Range"),
        (Fault::NoLength, Some(RemoteKind::Server), "Content-Length"),
        (Fault::Redirect("us-west-7".into()), Some(RemoteKind::Server), "AWS_REGION=us-west-7"),
        (Fault::FlipBit(77), None, "damaged at byte"),
        (Fault::Truncated(8192), None, "as the manifest says"),
        (Fault::WrongTotal, None, "as the manifest says"),
    ] {
        objects.fail(|_, _| Fault::None);
        let db = open("s3://bucket", s3(&objects).deadline(Duration::from_millis(1500))).unwrap();
        let stays = fault.clone();
        objects.fail(move |request, _| if of_data(request) { stays.clone() } else { Fault::None });
        let begun = Instant::now();
        let keys: Vec<String> = (0..200).map(|i| key(i * 20)).collect();
        for result in
            [db.get(b"key 7").map(|_| ()), wait(db.aget(b"key 8")).map(|_| ()), db.get_many(&keys).map(|_| ())]
        {
            let error = result.unwrap_err();
            let shown = error.to_string();
            assert!(shown.starts_with("s3://bucket/data-000-") && shown.contains(text), "{fault:?}: {shown}");
            assert!(!shown.contains("secret") && !shown.contains("http://"), "{shown}");
            match expected {
                Some(_) => assert_eq!(kind(Err::<(), _>(error)), expected, "{fault:?}: {shown}"),
                None => assert!(matches!(error, Error::Damaged { .. }), "{fault:?}: {shown}"),
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{fault:?}");
        objects.fail(|_, _| Fault::None);
        assert_eq!(db.get(b"key 7").unwrap(), Some(value(7, 100)), "{fault:?}: the database can still be used");
    }
}

#[test]
fn what_is_not_a_database_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let objects = Objects::start(directory.path());
    let quick = || web().deadline(Duration::from_millis(300));
    assert!(matches!(open(objects.url(), quick()), Err(Error::NotADatabase { .. })));
    for at in ["s3://bucket", "s3://bucket/a/b"] {
        let error = open(at, s3(&objects)).unwrap_err();
        assert!(matches!(error, Error::NotADatabase { .. }), "{error}");
        assert!(error.to_string().starts_with(at), "{error}");
    }
    objects.fail(|_, _| Fault::Status { code: 403, retry_after: None });
    assert_eq!(kind(open("s3://bucket/db", s3(&objects))), Some(RemoteKind::Denied));
    drop(objects);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(kind(open(format!("http://{nobody}"), quick())), Some(RemoteKind::Unreachable));
    for url in ["s3://user@bucket/db", "https://host/db?token=hidden", "s3://"] {
        let error = open(url, web()).unwrap_err();
        assert!(matches!(error, Error::Argument(_)) && !error.to_string().contains("hidden"), "{error}");
    }
    let error = open("s3://bucket", Remote::default().set("aws_colour", "hidden")).unwrap_err().to_string();
    assert!(error.contains("aws_colour") && !error.contains("hidden"), "{error}");
    let error = open("hdfs://host/db", web()).unwrap_err().to_string();
    assert!(error.contains("bsdb pull hdfs://host/db"), "{error}");
}

#[test]
fn a_forbidden_current_counts_as_none() {
    // As S3 answers those who may not list a bucket.
    let objects = Objects::start(golden("v1-packed"));
    objects.fail(|request, _| match request.path.ends_with("CURRENT") {
        true => Fault::Status { code: 403, retry_after: None },
        false => Fault::None,
    });
    assert_eq!(open("s3://bucket", s3(&objects)).unwrap().len(), 3);
}

#[test]
fn damage_is_told_and_never_a_value() {
    for kind in ["v1-packed-filter", "v1-dictionary", "v2-packed-zstd", "ordered-blocked"] {
        let directory = tempfile::tempdir().unwrap();
        copy(&golden(kind), directory.path());
        let objects = Objects::start(directory.path());
        for file in files(&golden(kind)) {
            let target = directory.path().join(file.file_name().unwrap());
            let sound = fs::read(&file).unwrap();
            for page in 0..sound.len() / PAGE {
                let mut bytes = sound.clone();
                bytes[page * PAGE + 40] ^= 0x10;
                fs::write(&target, &bytes).unwrap();
                let found = open(objects.url(), web()).and_then(|db| {
                    ask(&db, kind)?;
                    db.verify()
                });
                let error = found.unwrap_err();
                assert!(
                    matches!(error, Error::Damaged { .. } | Error::Unsupported { .. }),
                    "{}: {error}",
                    target.display()
                );
            }
            fs::write(&target, &sound[..sound.len() - PAGE]).unwrap();
            let found = open(objects.url(), web()).and_then(|db| ask(&db, kind));
            assert!(matches!(found, Err(Error::Damaged { .. })), "{}: {found:?}", target.display());
            fs::write(&target, &sound).unwrap();
        }
    }
}

/// A file that is fetched whole when a database is opened has the content hash that the manifest states; others have it
/// when they are verified.
#[test]
fn content_hashes_are_compared() {
    for layout in LAYOUTS {
        let directory = database(layout, 500, 100);
        let original = text(directory.path());
        let objects = Objects::start(directory.path());
        let files = original.lines().filter_map(|line| line.strip_prefix("file="));
        let hashes = original.lines().filter_map(|line| line.strip_prefix("file.sha256="));
        for (file, hash) in files.zip(hashes) {
            let kind = file.split(' ').next().unwrap();
            let whole =
                kind == "dictionary" || kind == "hash" || kind == "index" && layout.name().starts_with("packed");
            let other = format!("{}{}", if hash.starts_with('0') { '1' } else { '0' }, &hash[1..]);
            forge(directory.path(), original.replace(hash, &other).as_bytes());
            let opened = open(objects.url(), web());
            assert_eq!(opened.is_err(), whole, "{layout} {kind}");
            let error = opened.and_then(|db| db.verify()).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{layout} {kind}: {error}");
            let text = error.to_string();
            assert!(text.contains(&format!("{kind}-")) && text.contains(hash) && text.contains(&other), "{text}");
        }
        forge(directory.path(), original.as_bytes());
        opened(&objects, web()).verify().unwrap();
    }
}

#[test]
fn a_database_that_is_replaced_while_it_is_open_gives_no_value() {
    for layout in LAYOUTS {
        let directory = database(layout, 3000, 100);
        let objects = Objects::start(directory.path());
        let db = opened(&objects, web());
        assert!(db.get(b"key 7").unwrap().is_some());
        let names: Vec<_> = files(directory.path()).iter().map(|file| file.file_name().unwrap().to_owned()).collect();
        // Another database of the same shape under the same names: all checksums are right, and all values wrong.
        let other = tempfile::tempdir().unwrap();
        let mut builder =
            Builder::create(other.path(), BuildOptions::default().layout(layout).overwrite(true)).unwrap();
        for i in 0..3000 {
            builder.add(key(i).as_bytes(), &value(i + 1_000_000, 100)[..100]).unwrap();
        }
        builder.finish().unwrap();
        for (name, file) in names.iter().zip(files(other.path())) {
            let target = directory.path().join(name);
            let sound = fs::read(&target).unwrap();
            let mut bytes = fs::read(file).unwrap();
            bytes.resize(sound.len(), 0);
            fs::write(&target, bytes).unwrap();
        }
        for ignores in [false, true] {
            objects.fail(move |_, _| if ignores { Fault::IgnoreMatch } else { Fault::None });
            for i in (0..3000).step_by(50) {
                match db.get(key(i).as_bytes()) {
                    Ok(Some(found)) => assert_eq!(found, value(i, 100), "{layout}"),
                    Ok(None) => panic!("{layout}: {i} is there"),
                    Err(Error::Remote { kind: RemoteKind::Changed, .. }) => {}
                    Err(error) => panic!("{layout}: {error}"),
                }
            }
            assert_eq!(kind(db.get(b"key 2999").map(|_| ())), Some(RemoteKind::Changed), "{layout}");
        }
    }
}

#[test]
fn a_server_without_tags_is_read() {
    let directory = database(Layout::Packed, 3000, 100);
    let objects = Objects::start(directory.path());
    objects.fail(|_, _| Fault::NoTag);
    let db = opened(&objects, web());
    assert_eq!(db.get(b"key 7").unwrap(), Some(value(7, 100)));
}

#[test]
fn no_value_is_wrong_while_the_server_fails_at_random() {
    let directory = database(Layout::Packed, 5000, 300);
    let objects = Objects::start(directory.path());
    let db = Arc::new(opened(&objects, web().memory(0)));
    objects.fail(|_, nth| match nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0xfff {
        0..41 => Fault::Status { code: 503, retry_after: None },
        41..46 => Fault::Cut(1000),
        46..50 => Fault::FlipBit(nth * 7919),
        50..54 => Fault::Close,
        _ => Fault::None,
    });
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let db = &db;
            scope.spawn(move || {
                for i in (thread..5000).step_by(4) {
                    assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i, 300)));
                    assert_eq!(wait(db.aget(key(4999 - i).as_bytes())).unwrap(), Some(value(4999 - i, 300)));
                }
            });
        }
    });
    let traffic = db.traffic();
    assert!(traffic.retries > 20 && traffic.requests > 10_000, "{traffic:?}");
}

#[test]
fn a_lookup_ends_when_it_is_dropped() {
    let directory = database(Layout::Packed, 3000, 100);
    let objects = Objects::start(directory.path());
    let db = Arc::new(opened(&objects, web()));
    objects.fail(|request, _| if of_data(request) { Fault::Silence } else { Fault::None });
    let mut tasks = Vec::new();
    for i in 0..50 {
        let db = db.clone();
        tasks.push(bsdb::spawn(async move { db.aget(key(i).as_bytes()).await }).unwrap());
    }
    while objects.counts().requests < 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(tasks);
    objects.fail(|_, _| Fault::None);
    assert_eq!(db.get(b"key 7").unwrap(), Some(value(7, 100)));
    // And one whose database is gone at the same time.
    objects.fail(|request, _| if of_data(request) { Fault::Silence } else { Fault::None });
    let last = bsdb::spawn(async move { db.aget(b"key 8").await }).unwrap();
    drop(last);
}

#[cfg(target_os = "linux")]
#[test]
fn a_forked_process_reads_on() {
    extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let directory = database(Layout::Packed, 3000, 100);
    let objects = Objects::start(directory.path());
    let db = opened(&objects, web().memory(0));
    for i in 0..10 {
        assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i, 100)));
        // SAFETY: the child only reads on and leaves without running what the parent would at its end.
        let process = unsafe { fork() };
        if process == 0 {
            let found =
                (0..20).all(|j| db.get(key(i * 20 + j).as_bytes()).ok().flatten() == Some(value(i * 20 + j, 100)));
            // SAFETY: as above.
            unsafe { _exit(if found { 0 } else { 1 }) };
        }
        for j in 0..20 {
            assert_eq!(db.get(key(1000 + j).as_bytes()).unwrap(), Some(value(1000 + j, 100)));
        }
        let mut status = -1;
        // SAFETY: the pointer is valid for the call.
        assert_eq!(unsafe { waitpid(process, &mut status, 0) }, process);
        assert_eq!(status, 0);
    }
}
