//! Pages of databases elsewhere on disk, second requests, and profiles, at a server that can fail.
#![cfg(all(feature = "remote", unix))]

mod support {
    #[path = "../support/objects/mod.rs"]
    pub mod objects;
}

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bsdb::{BuildOptions, Builder, Database, Error, Layout, Options, Remote, RemoteKind, Result};
use support::objects::{Fault, Objects, Request};

const LAYOUTS: [Layout; 5] =
    [Layout::Blocked, Layout::Compact, Layout::Compressed, Layout::Packed, Layout::PackedCompressed];

const MIB: u64 = 1 << 20;
const RECORDS: usize = 3000;

fn key(i: usize) -> String {
    format!("key {i}")
}

fn value(i: usize) -> Vec<u8> {
    let mut value = format!("value {i} ").into_bytes();
    value.resize(300 + i % 100, i as u8);
    value
}

/// A directory with a database of some hundred pages.
fn database(layout: Layout) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut builder =
        Builder::create(directory.path(), BuildOptions::default().layout(layout).overwrite(true)).unwrap();
    for i in 0..RECORDS {
        builder.add(key(i).as_bytes(), &value(i)).unwrap();
    }
    builder.finish().unwrap();
    directory
}

fn web() -> Remote {
    Remote::default().set("proxy_excludes", "127.0.0.1")
}

/// Pages on disk alone.
fn cached(cache: &Path, bytes: u64) -> Remote {
    web().memory(0).page_bytes(bytes).cache_dir(cache)
}

fn open(url: &str, remote: Remote) -> Result<Database> {
    Database::open_with(url, Options::default().remote(remote))
}

/// Looks all keys up, in batches and some alone. Every answer must be right.
fn look_up(db: &Database) {
    let keys: Vec<String> = (0..RECORDS).map(key).collect();
    for (i, found) in db.get_many(&keys).unwrap().iter().enumerate() {
        assert_eq!(found.as_deref(), Some(&value(i)[..]), "{i}");
    }
    for i in (0..RECORDS).step_by(101) {
        assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i)));
    }
    assert_eq!(db.get(b"absent").unwrap(), None);
}

fn of_data(request: &Request) -> bool {
    request.status == 206 && request.path.contains("data-")
}

#[test]
fn pages_outlive_the_reader() {
    for layout in LAYOUTS {
        let (directory, cache) = (database(layout), tempfile::tempdir().unwrap());
        let objects = Objects::start(directory.path());
        let mut first = 0;
        for verified in [true, false] {
            // A reader does not wait at its end for pages that are still on their way to the file.
            let mut quiet = 0;
            for _ in 0..8 {
                let options = Options::default().verify_pages(verified).remote(cached(cache.path(), 16 * MIB));
                let db = Database::open_with(objects.url(), options).unwrap();
                objects.reset();
                look_up(&db);
                let asked = objects.requests().into_iter().filter(of_data).count();
                if first == 0 {
                    assert!(asked > 0, "{layout}");
                    first = asked;
                    continue;
                }
                assert!(asked < first, "{layout}: {asked} after {first}");
                assert!(db.traffic().pages_on_disk > 0);
                quiet += usize::from(asked == 0);
                if quiet == 2 {
                    break;
                }
            }
            assert_eq!(quiet, 2, "{layout}");
        }
        // What was read on disk is then in memory.
        let db = open(objects.url(), cached(cache.path(), 16 * MIB).memory(64 * MIB)).unwrap();
        look_up(&db);
        let before = db.traffic();
        look_up(&db);
        assert_eq!(db.traffic().pages_on_disk, before.pages_on_disk, "{layout}");
    }
}

#[test]
fn databases_share_a_file_that_is_too_small_for_them() {
    let cache = tempfile::tempdir().unwrap();
    let directories: Vec<_> = LAYOUTS.into_iter().map(database).collect();
    let objects: Vec<_> = directories.iter().map(|directory| Objects::start(directory.path())).collect();
    for _ in 0..2 {
        let opened: Vec<_> =
            objects.iter().map(|objects| open(objects.url(), cached(cache.path(), MIB)).unwrap()).collect();
        std::thread::scope(|scope| {
            for db in &opened {
                scope.spawn(|| look_up(db));
            }
        });
    }
    assert!(cache.path().join("pages").metadata().unwrap().len() <= MIB);
}

#[test]
fn damage_of_the_file_gives_no_wrong_value() {
    let (directory, cache) = (database(Layout::Packed), tempfile::tempdir().unwrap());
    let objects = Objects::start(directory.path());
    let remote = || cached(cache.path(), 4 * MIB);
    look_up(&open(objects.url(), remote()).unwrap());
    let file = fs::OpenOptions::new().read(true).write(true).open(cache.path().join("pages")).unwrap();
    let length = file.metadata().unwrap().len();
    let mut random = 1_u64;
    for verified in [true, false] {
        for _ in 0..10 {
            for _ in 0..2000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Entries are hit as often as pages.
                let most = if random >> 63 == 0 { 20_000 } else { length };
                let at = (random >> 16) % most;
                let mut byte = [0];
                file.read_exact_at(&mut byte, at).unwrap();
                file.write_all_at(&[byte[0] ^ 1 << (random >> 8 & 7)], at).unwrap();
            }
            look_up(
                &Database::open_with(objects.url(), Options::default().verify_pages(verified).remote(remote()))
                    .unwrap(),
            );
        }
    }
    file.set_len(5000).unwrap();
    look_up(&open(objects.url(), remote()).unwrap());
}

#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    let (directory, cache) = (database(Layout::Packed), tempfile::tempdir().unwrap());
    let objects = Objects::start(directory.path());
    let made = cache.path().join("new/cache");
    look_up(&open(objects.url(), cached(&made, MIB)).unwrap());
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(made.clone()), mode(made.join("pages"))), (0o700, 0o600));
    fs::set_permissions(&made, fs::Permissions::from_mode(0o777)).unwrap();
    let error = open(objects.url(), cached(&made, MIB)).err().unwrap();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("chmod go-w"), "{error}");
    // Without pages on disk, the directory does not matter.
    look_up(&open(objects.url(), cached(&made, 0)).unwrap());
    for bytes in [1, MIB - 1, (256 << 30) + 1] {
        assert!(matches!(open(objects.url(), cached(cache.path(), bytes)), Err(Error::Argument(_))));
    }
}

/// This program as another process, which looks keys up until it is killed, or `rounds` times.
fn process(url: &str, cache: &Path, rounds: Option<u32>, limit: Option<u64>) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = match limit {
        // Writing beyond so many blocks of 512 bytes is an error, as on a full disk.
        Some(blocks) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]).arg(program);
            shell
        }
        None => Command::new(program),
    };
    command.args(["--exact", "other_process", "--ignored", "--nocapture"]);
    command.env("BSDB_TEST_URL", url).env("BSDB_TEST_CACHE", cache);
    command.env("BSDB_TEST_ROUNDS", rounds.unwrap_or(u32::MAX).to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
#[ignore = "a part of other tests"]
fn other_process() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let cache = PathBuf::from(variable("BSDB_TEST_CACHE"));
    for _ in 0..variable("BSDB_TEST_ROUNDS").parse::<u32>().unwrap() {
        look_up(&open(&variable("BSDB_TEST_URL"), cached(&cache, MIB)).unwrap());
        println!("round");
    }
}

#[test]
fn processes_share_the_file_and_may_be_killed() {
    let (directory, cache) = (database(Layout::Packed), tempfile::tempdir().unwrap());
    let objects = Objects::start(directory.path()).without_log();
    for _ in 0..8 {
        let mut killed = process(objects.url(), cache.path(), None, None);
        let ends = process(objects.url(), cache.path(), Some(2), None);
        let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines();
        let went_round = lines.any(|line| line.unwrap().contains("round"));
        if !went_round {
            let mut said = String::new();
            killed.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("{said}");
        }
        look_up(&open(objects.url(), cached(cache.path(), MIB)).unwrap());
        killed.kill().unwrap();
        killed.wait().unwrap();
        let output = ends.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        look_up(&open(objects.url(), cached(cache.path(), MIB)).unwrap());
    }
    assert!(cache.path().join("pages").metadata().unwrap().len() <= MIB);
}

#[test]
fn a_full_disk_is_said_once_and_gives_right_values() {
    let (directory, cache) = (database(Layout::Packed), tempfile::tempdir().unwrap());
    let objects = Objects::start(directory.path());
    drop(open(objects.url(), cached(cache.path(), MIB)).unwrap());
    // With the entries and some pages within the limit, and without.
    for blocks in [800, 1] {
        let mut child = process(objects.url(), cache.path(), Some(1), Some(blocks));
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait_with_output().unwrap().status.success(), "{said}");
        let text = format!("bsdb: {}/pages: cannot be written", cache.path().canonicalize().unwrap().display());
        assert_eq!(said.matches(&text).count(), 1, "{said}");
    }
    look_up(&open(objects.url(), cached(cache.path(), MIB)).unwrap());
}

#[test]
fn what_takes_unusually_long_is_asked_for_twice() {
    let directory = database(Layout::Packed);
    let objects = Objects::start(directory.path());
    let db = open(objects.url(), web().memory(0).hedged(true).requests(2)).unwrap();
    let get = |db: &Database, i: usize| assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i)));
    // As long as both requests are under way, there is no room for second ones, so that many may come later.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|i| get(&db, i)));
        }
    });
    let before = db.traffic();
    objects.reset();
    // The second of two requests is answered at once: nothing is asked for again because it failed.
    objects.fail(|request, nth| if of_data_path(request) && nth == 3 { Fault::Silence } else { Fault::None });
    (0..10).for_each(|i| get(&db, i));
    let now = db.traffic();
    assert_eq!((now.hedges - before.hedges >= 1, now.retries), (true, 0), "{now:?}");
    // A request that ends before it has a connection never arrives.
    assert_eq!(now.requests - before.requests, 10 + now.hedges - before.hedges);
    assert!((11..=10 + now.hedges - before.hedges).contains(&objects.counts().requests), "{:?}", objects.counts());
    // If everything is slow, few are asked for twice.
    objects.reset();
    objects.fail(|_, nth| if nth % 3 == 0 { Fault::Delay(Duration::from_millis(30)) } else { Fault::None });
    (0..300).for_each(|i| get(&db, i));
    let traffic = db.traffic();
    assert!(traffic.hedges * 20 <= 400 + 10 + 300 && traffic.hedges >= 2, "{traffic:?}");
    let all = 300 + traffic.hedges - now.hedges;
    assert_eq!(traffic.requests - now.requests, all);
    assert!((300..=all).contains(&objects.counts().requests), "{:?}", objects.counts());
}

fn of_data_path(request: &Request) -> bool {
    request.path.contains("data-")
}

#[test]
fn second_requests_are_among_those_that_may_be_under_way() {
    let directory = database(Layout::Packed);
    let objects = Objects::start(directory.path());
    for (requests, hedged) in [(1, true), (256, false)] {
        objects.fail(|_, _| Fault::None);
        let db = open(objects.url(), web().memory(0).hedged(hedged).requests(requests)).unwrap();
        (0..100).for_each(|i| assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i))));
        objects.reset();
        objects.fail(|_, nth| if nth == 2 { Fault::Delay(Duration::from_millis(50)) } else { Fault::None });
        (0..10).for_each(|i| assert_eq!(db.get(key(i).as_bytes()).unwrap(), Some(value(i))));
        assert_eq!((db.traffic().hedges, objects.counts().requests), (0, 10));
    }
}

/// This program as another process with files of profiles, which opens a database and says what came of it.
fn with_profiles(objects: &Objects, credentials: &str, config: &str, set: &[(&str, &str)]) -> String {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".aws")).unwrap();
    fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
    let config = config.replace("SERVER", objects.url());
    fs::write(home.path().join(".aws/config"), config).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "other_process_with_a_profile", "--ignored", "--nocapture"]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    command.env("HOME", home.path()).env("NO_PROXY", "127.0.0.1").env("AWS_EC2_METADATA_DISABLED", "true");
    let output = command.envs(set.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "a part of other tests"]
fn other_process_with_a_profile() {
    let profile = std::env::var("BSDB_TEST_PROFILE");
    let remote = profile.map_or(Remote::default(), |profile| Remote::default().set("aws_profile", profile));
    match open("s3://bucket", remote) {
        Ok(db) => println!("found {:?}", db.get(b"key 1").unwrap() == Some(value(1))),
        Err(Error::Remote { kind: RemoteKind::Denied, message, .. }) => println!("denied: {message}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn keys_and_regions_of_profiles_are_used() {
    let directory = database(Layout::Packed);
    let objects = Objects::start(directory.path());
    let keys = "[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = hidden\n\
                [work]\naws_access_key_id = WORK\naws_secret_access_key = hidden\naws_session_token = token\n";
    let config = "[default]\nregion = eu-west-1\nendpoint_url = SERVER\n\
                  [profile work]\nregion = us-east-2\nendpoint_url = SERVER\n\
                  [profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\nendpoint_url = SERVER\n\
                  [profile sso]\nsso_session = s\nsso_account_id = 1\n\
                  [profile program]\ncredential_process = /bin/keys\n\
                  [profile anonymous]\nendpoint_url = SERVER\n";
    let environment =
        [("AWS_ACCESS_KEY_ID", "ENV"), ("AWS_SECRET_ACCESS_KEY", "hidden"), ("AWS_SESSION_TOKEN", "other")];
    for (set, scope) in [
        (vec![], "Credential=DEFAULT/DATE/eu-west-1/s3"),
        (vec![("AWS_PROFILE", "work")], "Credential=WORK/DATE/us-east-2/s3"),
        (vec![("AWS_DEFAULT_PROFILE", "work"), ("AWS_REGION", "x")], "Credential=WORK/DATE/x/s3"),
        (vec![("BSDB_TEST_PROFILE", "work"), ("AWS_PROFILE", "none")], "Credential=WORK/DATE/us-east-2/s3"),
        (environment.to_vec(), "Credential=ENV/DATE/eu-west-1/s3"),
        ([&environment[..], &[("AWS_PROFILE", "role")]].concat(), "Credential=ENV/DATE/us-east-1/s3"),
        ([&environment[..], &[("BSDB_TEST_PROFILE", "work")]].concat(), "Credential=WORK/DATE/us-east-2/s3"),
    ] {
        objects.reset();
        let said = with_profiles(&objects, keys, config, &set);
        assert!(said.contains("found true"), "{set:?}: {said}");
        for request in objects.requests() {
            let authorization = request.authorization.unwrap_or_default();
            let mut parts: Vec<&str> = authorization.split([' ', ',']).nth(1).unwrap_or_default().split('/').collect();
            parts[1] = "DATE";
            assert!(parts.join("/").starts_with(scope), "{set:?}: {authorization}");
        }
    }
    for (profile, text) in [
        ("role", "needs a role"),
        ("sso", "needs a single sign-on"),
        ("program", "needs a program"),
        ("none", "there is no profile \"none\" in"),
    ] {
        for name in ["AWS_PROFILE", "BSDB_TEST_PROFILE"] {
            let said = with_profiles(&objects, keys, config, &[(name, profile)]);
            assert!(said.contains("denied") && said.contains(text) && said.contains("/.aws/config"), "{said}");
            let way_out = format!("aws configure export-credentials --profile {profile} --format env");
            assert!(said.contains(&way_out) || profile == "none", "{said}");
            assert!(!said.contains("hidden"));
        }
    }
    let anonymous = [("AWS_PROFILE", "anonymous"), ("AWS_SKIP_SIGNATURE", "true")];
    assert!(with_profiles(&objects, keys, config, &anonymous).contains("found true"));
    assert!(with_profiles(&objects, "", "", &[]).contains("AWS_PROFILE to a profile"));
}
