//! Databases that are read only if a trusted key has signed them.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use bsdb::{sign, BuildOptions, Builder, Database, Error, Layout, Merger, Options, PublicKey, Result, SigningKey};
use sha2::{Digest, Sha256};
use support::{files, forge, text, PAGE};

fn ours() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

fn others() -> SigningKey {
    SigningKey::from_bytes(&[2; 32])
}

fn trusting(keys: &[SigningKey]) -> Options {
    Options::default().trust(keys.iter().map(SigningKey::public))
}

fn signed() -> BuildOptions {
    BuildOptions::default().sign_key(ours())
}

fn build(path: &Path, options: BuildOptions) -> String {
    let mut builder = Builder::create(path, options.overwrite(true)).unwrap();
    for i in 0..50 {
        builder.add(format!("key {i}").as_bytes(), format!("value {i}").as_bytes()).unwrap();
    }
    builder.finish().unwrap().id
}

fn opens(path: &Path, options: Options) {
    let db = Database::open_with(path, options).unwrap();
    assert_eq!(db.get(b"key 7").unwrap().as_deref(), Some(&b"value 7"[..]));
}

/// Fails unless something was refused for these reasons.
fn refused<T>(result: Result<T>, file: &Path, words: &str) {
    match result.err() {
        Some(error @ Error::Untrusted { .. }) => {
            assert_eq!(error.path(), Some(file));
            assert_eq!(error.to_string(), format!("{}: {words}", file.display()));
        }
        other => panic!("{other:?}"),
    }
}

const UNSIGNED: &str = "is not signed, but a trusted signature is required";
const WRONG: &str = "its signature is not by the trusted key, or what it signs was changed";
const NONE_RIGHT: &str = "its signature is not by one of the trusted keys, or what it signs was changed";

fn manifest(directory: &Path) -> PathBuf {
    directory.join("manifest.bsdb")
}

/// Gives the manifest of a directory another text, and leaves the signature as it was.
fn change(directory: &Path, text: &str) {
    if !text.contains("layout=sharded\n") {
        return forge(directory, text.as_bytes());
    }
    let alone = tempfile::tempdir().unwrap();
    fs::copy(manifest(directory), manifest(alone.path())).unwrap();
    forge(alone.path(), text.as_bytes());
    fs::copy(manifest(alone.path()), manifest(directory)).unwrap();
}

#[test]
fn a_signed_database_is_opened_by_those_who_trust_the_key() {
    let directory = tempfile::tempdir().unwrap();
    for layout in [Layout::Packed, Layout::PackedCompressed, Layout::Blocked, Layout::Compact, Layout::Compressed] {
        let (plain, path) = (directory.path().join("plain"), directory.path().join("signed"));
        let id = build(&plain, BuildOptions::default().layout(layout));
        assert_eq!(build(&path, signed().layout(layout)), id);
        opens(&path, Options::default());
        opens(&path, trusting(&[ours()]));
        opens(&path, trusting(&[others(), ours()]));
        Database::open_with(&path, trusting(&[ours()])).unwrap().verify().unwrap();
        refused(Database::open_with(&path, trusting(&[others()])), &manifest(&path), WRONG);
        refused(Database::open_with(&path, trusting(&[others(), others()])), &manifest(&path), NONE_RIGHT);
        refused(Database::open_with(&plain, trusting(&[ours()])), &manifest(&plain), UNSIGNED);
        sign(&plain, &ours()).unwrap();
        for (signed, built) in files(&plain).iter().zip(files(&path)) {
            assert_eq!(fs::read(signed).unwrap(), fs::read(built).unwrap(), "{}", signed.display());
        }
    }
}

#[test]
fn the_bytes_of_a_signed_manifest_are_those_of_the_format() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    build(&path, BuildOptions::default());
    let before = fs::read(manifest(&path)).unwrap();
    sign(&path, &others()).unwrap();
    sign(&path, &ours()).unwrap();
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3, "nothing is left beside the files");
    let after = fs::read(manifest(&path)).unwrap();
    let footer = before.len() - PAGE;
    let changed: Vec<usize> = (0..before.len()).filter(|&i| before[i] != after[i]).collect();
    assert!(changed.iter().all(|i| (footer + 48..footer + 112).contains(i) || *i >= before.len() - 4));
    assert!(changed.len() > 32);
    opens(&path, trusting(&[ours()]));
    assert!(matches!(sign(directory.path().join("nothing"), &ours()), Err(Error::NotADatabase { .. })));
}

#[test]
fn what_was_changed_or_stripped_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    build(&path, signed());
    let all = text(&path);
    change(&path, &all.replace("longest.value=8\n", "longest.value=9\n"));
    opens(&path, Options::default());
    refused(Database::open_with(&path, trusting(&[ours()])), &manifest(&path), WRONG);
    change(&path, &all);
    opens(&path, trusting(&[ours()]));
    let mut bytes = fs::read(manifest(&path)).unwrap();
    let last = bytes.len() / PAGE - 1;
    bytes[last * PAGE + 48..][..64].fill(0);
    support::seal("manifest.bsdb", &mut bytes, last);
    fs::write(manifest(&path), bytes).unwrap();
    refused(Database::open_with(&path, trusting(&[ours()])), &manifest(&path), UNSIGNED);
}

#[test]
fn a_set_and_each_part_of_it_is_signed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("set");
    build(&path, signed().shards(3));
    opens(&path, trusting(&[ours()]));
    refused(Database::open_with(&path, trusting(&[others()])), &manifest(&path), WRONG);
    let whole = text(&path);
    let id: String = Sha256::digest(&whole)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |id: &str| whole.replace("crc16-slots\n", &format!("crc16-slots\nset.id={id}\nset.held=0,2\n"));
    change(&path, &part(&id));
    let held = Database::open_with(&path, trusting(&[ours()])).unwrap().statistics();
    assert_eq!((held.shards_held, held.shards), (2, 3));
    refused(Database::open_with(&path, trusting(&[others()])), &manifest(&path), WRONG);
    sign(&path, &others()).unwrap();
    refused(Database::open_with(&path, trusting(&[ours()])), &manifest(&path), WRONG);
    Database::open_with(&path, trusting(&[others()])).unwrap();
    sign(&path, &ours()).unwrap();
    change(&path, &whole);
    opens(&path, trusting(&[ours()])); // what was signed is the whole set
    change(&path, &part(&"0".repeat(32)));
    Database::open(&path).unwrap();
    refused(Database::open_with(&path, trusting(&[ours()])), &manifest(&path), WRONG);
    change(&path, &whole.replace("records=50\n", "records=50\nmore=1\n"));
    opens(&path, Options::default());
    refused(Database::open_with(&path, trusting(&[ours()])), &manifest(&path), WRONG);
}

#[test]
fn a_merge_is_signed() {
    let directory = tempfile::tempdir().unwrap();
    let [base, path] = ["base", "merged"].map(|name| directory.path().join(name));
    build(&base, signed());
    let base = std::sync::Arc::new(Database::open(&base).unwrap());
    for (options, is_signed) in [(BuildOptions::of(&base), false), (BuildOptions::of(&base).sign_key(ours()), true)] {
        let mut merger = Merger::create(&base, &path, options.overwrite(true)).unwrap();
        merger.add(b"more", b"").unwrap();
        merger.finish().unwrap();
        assert_eq!(Database::open_with(&path, trusting(&[ours()])).is_ok(), is_signed);
    }
}

#[cfg(unix)]
#[test]
fn a_store_has_only_versions_that_are_signed() {
    use bsdb::{publish, PublishOptions, Store};
    let directory = tempfile::tempdir().unwrap();
    let [db, store] = ["db", "store"].map(|name| directory.path().join(name));
    build(&db, BuildOptions::default());
    let named = |name: &str| PublishOptions::default().version(name);
    let trusting_ours = |name: &str| named(name).trust([ours().public()]);
    refused(publish(&db, &store, trusting_ours("v1")), &manifest(&db.canonicalize().unwrap()), UNSIGNED);
    assert!(!store.exists());
    sign(&db, &ours()).unwrap();
    publish(&db, &store, trusting_ours("v1")).unwrap();
    let open = Store::open_with(&store, trusting(&[ours()])).unwrap();
    opens(&store, trusting(&[ours()]));
    build(&db, BuildOptions::default().seed(1));
    publish(&db, &store, named("v2")).unwrap();
    refused(open.refresh(), &manifest(&store.join("v2")), UNSIGNED);
    assert_eq!(open.version(), "v1");
    refused(Store::open_with(&store, trusting(&[ours()])), &manifest(&store.join("v2")), UNSIGNED);
    build(&db, signed().seed(2));
    publish(&db, &store, trusting_ours("v3").link(true)).unwrap();
    assert!(open.refresh().unwrap());
    sign(&db, &others()).unwrap();
    opens(&store, trusting(&[ours()])); // a link to the file before
}

#[test]
fn content_is_verified_without_lookups() {
    let directory = tempfile::tempdir().unwrap();
    for options in [BuildOptions::default(), BuildOptions::default().layout(Layout::Compressed).shards(3)] {
        let path = directory.path().join("db");
        build(&path, options);
        let db = Database::open(&path).unwrap();
        let (all, content) = (db.verify().unwrap(), db.verify_content().unwrap());
        assert!(all.content_checked && content.content_checked);
        assert_eq!((all.records, content.records), (50, 0));
        assert_eq!((all.files, all.pages), (content.files, content.pages));
        assert!(matches!(db.verify_content_while(|| false), Err(Error::Stopped)));
    }
    let db = Database::open(support::golden("v1-packed")).unwrap();
    assert!(!db.verify().unwrap().content_checked);
    let error = db.verify_content().unwrap_err();
    assert!(matches!(error, Error::Impossible(_)));
    assert!(error.to_string().ends_with("an older version wrote it; verify it whole, or build it anew"), "{error}");
}

/// The first key of RFC 8032, section 7.1, as openssl writes it.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
";

#[test]
fn keys_are_read_from_files() {
    let directory = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        let path = directory.path().join("keys");
        fs::write(&path, text).unwrap();
        path
    };
    let key = SigningKey::read(file(PRIVATE)).unwrap();
    let shown = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    assert_eq!(format!("{key:?}"), format!("SigningKey(of PublicKey({shown}))"));
    assert_eq!(PublicKey::read(file(PUBLIC)).unwrap(), [key.public()]);
    let second =
        PUBLIC.replace("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=");
    let two = file(&format!("a comment\r\n{}\n{PRIVATE}{second}", PUBLIC.replace('\n', "\r\n")));
    let keys = PublicKey::read(&two).unwrap();
    assert_eq!((keys.len(), keys[0]), (2, key.public()));
    assert_eq!(SigningKey::read(&two).unwrap().public(), key.public());
    let bad = |error: Option<Error>, words: &str| match error {
        Some(Error::Argument(text)) => assert!(text.contains(words), "{text}"),
        other => panic!("{other:?}"),
    };
    bad(SigningKey::read(file(PUBLIC)).err(), "holds no -----BEGIN PRIVATE KEY-----; make keys with openssl genpkey");
    bad(PublicKey::read(file(PRIVATE)).err(), "holds no -----BEGIN PUBLIC KEY-----");
    bad(PublicKey::read(file("")).err(), "holds no");
    bad(PublicKey::read(file(&PUBLIC.replace("AyEA", "AyEB"))).err(), "a public key that is not of Ed25519");
    bad(PublicKey::read(file(&PUBLIC.replace("K2Vw", "K2Vx"))).err(), "a public key that is not of Ed25519");
    bad(SigningKey::read(file(&PRIVATE.replace("K2Vw", "K2Vx"))).err(), "a private key that is not of Ed25519");
    bad(SigningKey::read(file(&format!("{PRIVATE}{PRIVATE}"))).err(), "holds 2 private keys; leave one");
    bad(PublicKey::read(file(&"x".repeat(1 << 20 | 1))).err(), "is not a file of keys, it has 1048577 bytes");
    assert!(matches!(PublicKey::read(directory.path().join("nothing")), Err(Error::Io { .. })));
    let mut options = BuildOptions::default();
    options.set("sign_key", file(PRIVATE).to_str().unwrap()).unwrap();
    build(&directory.path().join("db"), options);
    opens(&directory.path().join("db"), trusting(&[key]));
}

#[cfg(feature = "remote")]
#[path = "support/objects/mod.rs"]
mod objects;

#[cfg(feature = "remote")]
#[test]
fn where_it_lies_it_is_checked_at_each_opening() {
    use bsdb::{get_once, Remote, Store};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let server = objects::Objects::start(directory.path());
    let url = format!("{}/db", server.url());
    let remote = || Remote::default().set("proxy_excludes", "127.0.0.1");
    let trusting = |key: SigningKey| trusting(&[key]).remote(remote());
    let shown = PathBuf::from(format!("{url}/manifest.bsdb"));
    for shards in [1, 3] {
        build(&path, signed().shards(shards));
        let db = Database::open_with(&url, trusting(ours())).unwrap();
        assert_eq!(db.get(b"key 7").unwrap().as_deref(), Some(&b"value 7"[..]));
        assert!(db.verify_content().unwrap().content_checked);
        assert_eq!(get_once(&url, b"key 7", trusting(ours())).unwrap().as_deref(), Some(&b"value 7"[..]));
        assert_eq!(get_once(&url, b"absent", trusting(ours())).unwrap(), None);
        sign(&path, &others()).unwrap();
        refused(Database::open_with(&url, trusting(ours())), &shown, WRONG);
        for key in [&b"key 7"[..], b"absent"] {
            refused(get_once(&url, key, trusting(ours())), &shown, WRONG);
        }
        assert_eq!(get_once(&url, b"key 7", trusting(others())).unwrap().as_deref(), Some(&b"value 7"[..]));
    }
    fs::write(directory.path().join("CURRENT"), "db\n").unwrap();
    refused(Store::open_with(server.url(), trusting(ours())), &shown, WRONG);
    refused(get_once(server.url(), b"key 7", trusting(ours())), &shown, WRONG);
    Store::open_with(server.url(), trusting(others())).unwrap();
}

#[test]
fn signing_and_replacing_take_turns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    build(&path, BuildOptions::default());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let signing = scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                sign(&path, &ours()).unwrap();
            }
        });
        for seed in 0..20 {
            build(&path, BuildOptions::default().seed(seed).overwrite(true));
            Database::open(&path).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        signing.join().unwrap();
    });
    sign(&path, &ours()).unwrap();
    Database::open(&path).unwrap().verify().unwrap();
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
}

#[test]
fn what_has_no_content_hashes_is_not_signed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    support::copy(&support::golden("v2-packed"), &path);
    let error = sign(&path, &ours()).unwrap_err();
    assert!(error.to_string().contains("no content hashes"), "{error}");
}
