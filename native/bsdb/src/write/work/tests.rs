//! Publication: with what was there, what others do meanwhile, faults, and kills at every step.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use tempfile::TempDir;

use super::disk::{hook, Change};
use super::*;
use crate::file::directory::Manifest;
use crate::format::frame::{Id, Kind};
use crate::format::set::ShardLine;
use crate::write::assembly::Assembled;
use crate::write::manifest::{self, Totals};
use crate::write::output::{write_manifest, OutputFile};

/// A database or, with several values, a set of shards: files with all that a replacement looks at.
struct Fake(TempDir);

impl Fake {
    /// Values are separated by spaces.
    fn new(values: &str) -> Fake {
        let made = Fake(TempDir::new().unwrap());
        let directory = made.0.path();
        let values: Vec<&str> = values.split(' ').collect();
        if let [value] = values[..] {
            write_database(directory, 0, 1, value);
            return made;
        }
        let count = values.len();
        let mut text =
            format!("format=1\nrecords={count}\nlayout=sharded\nshard.count={count}\nshard.hash=crc16-slots\n");
        for (number, value) in values.iter().enumerate() {
            let part = directory.join(format!("shard-{number:05}.part"));
            fs::create_dir(&part).unwrap();
            let id = write_database(&part, number as u32, count as u32, value);
            let line = ShardLine { number: number as u32, id, records: 1 };
            fs::rename(&part, directory.join(line.directory())).unwrap();
            text.push_str(&format!("shard={number} {} 1\n", hex(&id)));
        }
        write_manifest(directory, text.as_bytes(), &manifest::id(&text), None).unwrap();
        made
    }

    fn files(&self) -> Vec<String> {
        tree(self.0.path()).into_iter().filter(|name| name.ends_with(".bsdb")).collect()
    }

    fn shards(&self) -> Vec<String> {
        tree(self.0.path()).into_iter().filter(|name| !name.ends_with(".bsdb")).collect()
    }

    fn copy_to(&self, directory: &Path) {
        for shard in self.shards() {
            fs::create_dir(directory.join(shard)).unwrap();
        }
        for name in self.files() {
            fs::copy(self.0.path().join(&name), directory.join(name)).unwrap();
        }
    }

    fn is_at(&self, directory: &Path) -> bool {
        fs::read(directory.join(MANIFEST)).is_ok_and(|bytes| bytes == fs::read(self.0.path().join(MANIFEST)).unwrap())
    }

    /// Fails unless a directory holds all files; others may be there.
    #[track_caller]
    fn check_files(&self, directory: &Path) {
        for name in self.files() {
            let found = fs::read(directory.join(&name)).unwrap_or_default();
            assert!(found == fs::read(self.0.path().join(&name)).unwrap(), "{name} in {:?}", tree(directory));
        }
    }

    /// Fails unless a directory holds just this, and the others.
    #[track_caller]
    fn check(&self, directory: &Path, others: &[&str]) {
        self.check_files(directory);
        let expected: BTreeSet<String> =
            tree(self.0.path()).into_iter().chain(others.iter().map(|name| name.to_string())).collect();
        assert_eq!(tree(directory).into_iter().collect::<BTreeSet<_>>(), expected);
    }

    fn publish(&self, target: &Path) -> Result<Vec<String>> {
        self.publish_with(target, &overwrite())
    }

    fn publish_with(&self, target: &Path, options: &BuildOptions) -> Result<Vec<String>> {
        let work = Workspace::create(target, options)?;
        self.copy_to(work.directory());
        fs::write(work.temporary().join("spill-0.part"), "x").unwrap();
        fs::remove_file(work.temporary().join("spill-0.part")).unwrap();
        work.publish(&Control::new(None))
    }
}

fn write_database(directory: &Path, shard: u32, shards: u32, value: &str) -> Id {
    let options = BuildOptions { shards, ..BuildOptions::default() };
    let mut totals = Totals::default();
    totals.add(3, value.len());
    let write = |kind| {
        let mut file = OutputFile::create(directory, kind, 0).unwrap();
        file.put(value.as_bytes()).unwrap();
        file.finish(None).unwrap()
    };
    let made = Assembled {
        records: 1,
        buckets: 0,
        longest_block: 0,
        bins: Some((1, false)),
        sample: None,
        filter: None,
        order: None,
        dictionary: 0,
        files: vec![write(Kind::Data), write(Kind::Index)],
    };
    let text = manifest::text(&options, shard, &totals, &made);
    let id = manifest::id(&text);
    for file in made.files {
        file.seal(&id).unwrap();
    }
    write_manifest(directory, text.as_bytes(), &id, None).unwrap();
    id
}

/// The relative names of all that is below a directory; links are not followed.
fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            found.push(entry.path().strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn overwrite() -> BuildOptions {
    BuildOptions { overwrite: true, ..BuildOptions::default() }
}

fn temporary(directory: PathBuf) -> BuildOptions {
    BuildOptions { temporary: Some(directory), ..overwrite() }
}

/// A directory, and a target in it.
fn place() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let target = directory.path().canonicalize().unwrap().join("db");
    (directory, target)
}

/// Creates files and their directories.
fn write(directory: &Path, names: &[&str]) {
    for name in names {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "precious").unwrap();
    }
}

/// A directory as a killed build leaves it: nobody holds the lock.
fn stale(path: PathBuf, mark: &str) -> PathBuf {
    fs::create_dir(&path).unwrap();
    fs::write(path.join("data-0.part"), [0; 100]).unwrap();
    fs::write(path.join("lock"), mark).unwrap();
    path
}

#[track_caller]
fn refused(target: &Path, options: &BuildOptions, why: &str) {
    let error = Workspace::create(target, options).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(why), "{text}");
    assert!(matches!(error, Error::Exists { .. } | Error::Argument(_) | Error::Io { .. }), "{error:?}");
}

#[test]
fn each_replaces_each() {
    let sets = [
        ("a", "b"),
        ("a", "b c"),
        ("a b", "c"),
        ("a b", "a"),
        ("a b", "c d e"),
        ("a b c", "d e"),
        ("a b c", "a x c"),
        ("a b", "a b c"),
        ("a b c", "a b c"),
        ("a b c", "c a b"),
    ];
    for (first, second) in sets {
        let (directory, target) = place();
        for values in [first, second, first] {
            let fake = Fake::new(values);
            assert_eq!(fake.publish(&target).unwrap(), [""; 0]);
            fake.check(&target, &[]);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }
}

#[test]
fn what_is_no_database_is_not_replaced() {
    let (directory, target) = place();
    write(directory.path(), &["db"]);
    refused(&target, &overwrite(), "db: is not a directory, so it cannot be a database; choose another target");
    fs::remove_file(&target).unwrap();
    symlink("nowhere", &target).unwrap();
    refused(&target, &overwrite(), "is not a directory");
    fs::remove_file(&target).unwrap();
    write(&target, &["thesis.tex"]);
    refused(&target, &overwrite(), "is not a bsdb database, so it is not overwritten; choose another target");
    refused(
        &target,
        &BuildOptions::default(),
        "already exists; set the option overwrite to replace it, or choose another",
    );
    refused(Path::new("/"), &overwrite(), "/: ");
    assert_eq!(tree(directory.path()), ["db", "db/thesis.tex"]);
    fs::remove_file(target.join("thesis.tex")).unwrap();
    refused(&target, &BuildOptions::default(), "already exists");
    let fake = Fake::new("a");
    fake.publish(&target).unwrap();
    refused(&target, &BuildOptions::default(), "already exists");
    // A manifest of zeros is that of a database, unless there is something else.
    fs::write(target.join(MANIFEST), [0; 100]).unwrap();
    write(&target, &["thesis.tex"]);
    refused(&target, &overwrite(), "is not a bsdb database");
    fs::remove_file(target.join("thesis.tex")).unwrap();
    let next = Fake::new("b c");
    let warnings = next.publish(&target).unwrap();
    assert!(matches!(&warnings[..], [one] if one.contains("could not be read, so its files were not deleted")));
    next.check_files(&target);
}

#[test]
fn nothing_is_built_inside_a_database() {
    let (directory, target) = place();
    Fake::new("a").publish(&target).unwrap();
    fs::create_dir(target.join("folder")).unwrap();
    symlink(target.join("folder"), directory.path().join("link")).unwrap();
    let before = tree(directory.path());
    let why = format!("lies inside the database {}; choose another directory", target.display());
    for inside in ["db/x", "db/folder/x", "db/made/x", "link/x", "db/folder"] {
        refused(&directory.path().join(inside), &overwrite(), &why);
    }
    refused(&directory.path().join("x"), &temporary(target.join("t")), "the temporary directory");
    let other = directory.path().canonicalize().unwrap().join("other");
    refused(&other, &temporary(other.join("t")), "lies inside the target");
    refused(&target.join("../db/../other/"), &temporary(directory.path().join("other/x/../t")), "inside the target");
    assert_eq!(tree(directory.path()), before);
}

#[test]
fn links_to_the_target_stay() {
    let (directory, target) = place();
    let real = directory.path().join("v1");
    Fake::new("a b").publish(&real).unwrap();
    symlink("v1", &target).unwrap();
    let next = Fake::new("c");
    next.publish(&target).unwrap();
    assert!(target.is_symlink());
    next.check(&real, &[]);
}

#[test]
fn missing_directories_are_made_and_those_of_a_failed_build_removed() {
    let (directory, _) = place();
    let deep = directory.path().join("a/b/c/db");
    let options = temporary(directory.path().join("t/u"));
    drop(Workspace::create(&deep, &options).unwrap());
    assert_eq!(tree(directory.path()), [""; 0]);
    write(directory.path(), &["file"]);
    refused(&directory.path().join("file/db"), &overwrite(), "file");
    refused(&deep, &temporary(directory.path().join("file")), "file: not a directory");
    assert_eq!(tree(directory.path()), ["file"]);
    fs::remove_file(directory.path().join("file")).unwrap();
    let fake = Fake::new("a b");
    fake.publish_with(&deep, &options).unwrap();
    fake.check(&deep, &[]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_parent_that_another_build_removes_when_it_fails_is_made_again() {
    let (directory, _) = place();
    let (parent, other) = (directory.path().join("a/b"), directory.path().join("t"));
    let removed = std::cell::Cell::new(0);
    let (first, second) = (parent.clone(), other.clone());
    let hook = move |kind, path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if kind == Change::Make && name.contains("bsdb-build-") && removed.get() < 5 {
            removed.set(removed.get() + 1);
            let made = if name.starts_with('.') { &first } else { &second };
            fs::remove_dir(made).unwrap();
        }
        Ok(())
    };
    let made = hook::during(hook, || Workspace::create(&parent.join("db"), &temporary(other)));
    drop(made.unwrap());
    assert_eq!(tree(directory.path()), [""; 0]);
    // A parent that always vanishes is an error.
    let always = parent.clone();
    let hook = move |kind, path: &Path| {
        if kind == Change::Make && path.starts_with(&always) && path != always {
            fs::remove_dir(&always).unwrap();
        }
        Ok(())
    };
    let made = hook::during(hook, || Workspace::create(&parent.join("db"), &overwrite()));
    assert!(matches!(made, Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound));
    assert_eq!(tree(directory.path()), [""; 0]);
}

#[test]
fn a_build_that_is_dropped_removes_what_is_its_own() {
    let (directory, target) = place();
    let work = Workspace::create(&target, &overwrite()).unwrap();
    let name = work.directory().file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with(".db.bsdb-build-"), "{name}");
    Fake::new("a b").copy_to(work.directory());
    write(work.directory(), &["shard-00000.part/data-0.part", "x-1.part", "thesis.tex", "shard-00001.part/thesis.tex"]);
    drop(work);
    let left = ["", "/shard-00001.part", "/shard-00001.part/thesis.tex", "/thesis.tex"];
    assert_eq!(tree(directory.path()), left.map(|end| format!("{name}{end}")));
}

#[test]
fn a_panic_removes_what_was_written() {
    let (directory, target) = place();
    let path = target.clone();
    let panicked = thread::spawn(move || {
        let work = Workspace::create(&path, &temporary(path.with_file_name("t"))).unwrap();
        write(work.temporary(), &["x.part"]);
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(panicked.join().is_err());
    assert_eq!(tree(directory.path()), [""; 0]);
}

#[test]
fn long_names_work() {
    let (directory, _) = place();
    let target = directory.path().join("n".repeat(255));
    for values in ["a", "b c"] {
        Fake::new(values).publish(&target).unwrap();
        Fake::new(values).check(&target, &[]);
    }
}

#[test]
fn what_appears_at_the_target_meanwhile_stays_unless_it_may_be_replaced() {
    let fake = Fake::new("a b");
    for what in ["file", "directory", "database", "empty directory", "replaced database"] {
        let (directory, target) = place();
        let options = BuildOptions { overwrite: what == "replaced database", ..BuildOptions::default() };
        let work = Workspace::create(&target, &options).unwrap();
        fake.copy_to(work.directory());
        match what {
            "file" => write(directory.path(), &["db"]),
            "directory" => write(&target, &["thesis.tex"]),
            "empty directory" => fs::create_dir(&target).unwrap(),
            _ => drop(Fake::new("c d").publish(&target).unwrap()),
        }
        let published = work.publish(&Control::new(None));
        match what {
            "empty directory" | "replaced database" => {
                assert_eq!(published.unwrap(), [""; 0]);
                fake.check(&target, &[]);
            }
            _ => {
                let error = published.unwrap_err();
                assert!(matches!(error, Error::Exists { .. }), "{error:?}");
                assert!(error.to_string().contains("db: was created during the build and was left unchanged"));
            }
        }
        match what {
            "file" => assert_eq!(tree(directory.path()), ["db"]),
            "directory" => assert_eq!(tree(directory.path()), ["db", "db/thesis.tex"]),
            "database" => Fake::new("c d").check(&target, &[]),
            _ => {}
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "{what}");
    }
}

#[test]
fn a_target_that_vanishes_meanwhile_fails_the_build() {
    let (directory, target) = place();
    Fake::new("a").publish(&target).unwrap();
    let work = Workspace::create(&target, &overwrite()).unwrap();
    fs::remove_dir_all(&target).unwrap();
    assert!(work.publish(&Control::new(None)).is_err());
    assert_eq!(tree(directory.path()), [""; 0]);
}

#[test]
fn strangers_in_a_replaced_database_stay() {
    let (_directory, target) = place();
    let old = Fake::new("a b");
    old.publish(&target).unwrap();
    let shard = &old.shards()[1];
    let names = [
        "README".to_owned(),
        "lock".to_owned(),
        "data-000-12345678.bsdb".to_owned(),
        "notes/deep/x".to_owned(),
        format!("{shard}/thesis.tex"),
        format!("{shard}/data-000-12345678.bsdb"),
    ];
    write(&target, &names.each_ref().map(String::as_str));
    let next = Fake::new("c");
    assert_eq!(next.publish(&target).unwrap(), [""; 0]);
    let mut others: Vec<&str> = names.iter().map(String::as_str).collect();
    others.extend(["notes", "notes/deep", shard]);
    next.check(&target, &others);
}

#[test]
fn damage_is_repaired_by_the_same_content() {
    let (_directory, target) = place();
    let fake = Fake::new("a b c");
    fake.publish(&target).unwrap();
    let shards = fake.shards();
    for name in tree(&target.join(&shards[0])) {
        fs::write(target.join(&shards[0]).join(name), [0; 100]).unwrap();
    }
    fs::remove_dir_all(target.join(&shards[1])).unwrap();
    assert_eq!(fake.publish(&target).unwrap(), [""; 0]);
    fake.check(&target, &[]);
}

#[test]
fn a_shard_whose_manifest_cannot_be_read_stays() {
    for what in ["damaged", "missing", "a directory", "of another shard", "a link"] {
        let (directory, target) = place();
        let old = Fake::new("a b c");
        old.publish(&target).unwrap();
        let shard = old.shards()[1].clone();
        let file = target.join(&shard).join(MANIFEST);
        if what == "a link" {
            let elsewhere = directory.path().join("elsewhere");
            fs::rename(target.join(&shard), &elsewhere).unwrap();
            symlink(&elsewhere, target.join(&shard)).unwrap();
        } else {
            fs::remove_file(&file).unwrap();
        }
        match what {
            "damaged" => fs::write(&file, [0; 100]).unwrap(),
            "a directory" => fs::create_dir(&file).unwrap(),
            "of another shard" => drop(fs::copy(target.join(&old.shards()[0]).join(MANIFEST), &file).unwrap()),
            _ => {}
        }
        let stay: Vec<String> = tree(&target).into_iter().filter(|name| name.starts_with(&shard)).collect();
        let stay: Vec<&str> = stay.iter().map(String::as_str).collect();
        let next = Fake::new("d e");
        let warnings = next.publish(&target).unwrap();
        assert_eq!(warnings.len(), 1, "{what}");
        assert!(warnings[0].contains(&format!("manifest of {shard} could not be read")), "{}", warnings[0]);
        next.check(&target, &stay);
        if what == "a link" {
            assert_eq!(tree(&directory.path().join("elsewhere")).len(), 3);
        }
    }
}

#[test]
fn what_is_in_the_way_leaves_the_old_set_whole() {
    for what in ["file", "link", "directory"] {
        let (directory, target) = place();
        let old = Fake::new("a b c");
        let next = Fake::new("a d e");
        old.publish(&target).unwrap();
        let shard = next.shards()[2].clone();
        let data = next.files().into_iter().find(|name| name.starts_with(&format!("{shard}/data"))).unwrap();
        let stranger = format!("{data}/notes");
        let mut others = vec![shard.as_str()];
        match what {
            "file" => write(&target, &[&shard]),
            "link" => {
                fs::create_dir(directory.path().join("elsewhere")).unwrap();
                symlink(directory.path().join("elsewhere"), target.join(&shard)).unwrap();
            }
            _ => {
                write(&target, &[&stranger]);
                others.extend([data.as_str(), &stranger]);
            }
        }
        let error = next.publish(&target).unwrap_err();
        assert!(error.to_string().contains(&shard), "{error}");
        old.check(&target, &others);
        if what == "link" {
            assert_eq!(tree(&directory.path().join("elsewhere")), [""; 0]);
        }
    }
}

#[test]
fn equal_names_of_different_content_are_refused() {
    let (_directory, target) = place();
    Fake::new("a b").publish(&target).unwrap();
    let old = tree(&target);
    let next = Fake::new("c d");
    // As if the first eight digits of the ids were the same.
    let lines: String = old
        .iter()
        .filter(|name| name.len() == 20)
        .enumerate()
        .map(|(number, name)| format!("shard={number} {}{} 1\n", &name[12..], "0".repeat(24)))
        .collect();
    let text = format!("format=1\nrecords=2\nlayout=sharded\nshard.count=2\nshard.hash=crc16-slots\n{lines}");
    fs::remove_file(target.join(MANIFEST)).unwrap();
    write_manifest(&target, text.as_bytes(), &manifest::id(&text), None).unwrap();
    assert_eq!(tree(&target), old);
    let same = Fake::new("a b");
    let error = same.publish(&target).unwrap_err();
    assert!(error.to_string().contains("would have the same names as the old database's"), "{error}");
    assert_eq!(tree(&target), old);
    next.publish(&target).unwrap(); // the shards of the crafted manifest have other ids and stay
    next.check_files(&target);
}

#[test]
fn stale_directories_are_removed_and_all_else_stays() {
    let (directory, target) = place();
    let directory = directory.path();
    let name = |token: &str| directory.join(format!(".db.bsdb-build-{token}"));
    for (token, mark) in [("1", ""), ("2", "bsdb-works"), ("3", "bsdb-workspace 3\n"), ("4", "bsdb-workspace 4 5\n")] {
        let path = stale(name(token), mark);
        write(&path, &["shard-00001.part/data-0.part", "names", "changes.part/hash-0.part"]);
    }
    write(directory, &[".db.bsdb-build-17/thesis.tex", ".db.bsdb-build-18/thesis.tex", ".db.bsdb-build-18/lock"]);
    stale(directory.join(".db.bsdb-build-of-last-week"), "");
    stale(directory.join(".other.bsdb-build-17"), "");
    stale(name("19"), "precious");
    fs::remove_file(stale(name("20"), "").join("lock")).unwrap();
    fs::create_dir(stale(name("21"), "").join("data-1.part")).unwrap();
    write(directory, &[".db.bsdb-build-22"]);
    // Links are not followed.
    let elsewhere = stale(directory.join("elsewhere"), "");
    symlink(&elsewhere, name("23")).unwrap();
    let inner = stale(name("24"), "");
    fs::remove_file(inner.join("lock")).unwrap();
    symlink(elsewhere.join("lock"), inner.join("lock")).unwrap();
    symlink(elsewhere.join("data-0.part"), stale(name("25"), "").join("data-2.part")).unwrap();
    // Builds may be beginning there.
    fs::create_dir(name("26")).unwrap();
    fs::create_dir(name("27")).unwrap();
    fs::write(name("27").join("lock"), "").unwrap();
    let gone = |entry: &String| {
        ["1", "2", "3", "4"].iter().any(|end| {
            let path = format!(".db.bsdb-build-{end}");
            *entry == path || entry.starts_with(&format!("{path}/"))
        })
    };
    let stay: Vec<String> = tree(directory).into_iter().filter(|entry| !gone(entry)).collect();
    drop(Workspace::create(&target, &BuildOptions::default()).unwrap());
    assert_eq!(tree(directory), stay);
}

#[test]
fn a_noted_directory_is_removed_only_if_it_names_the_build() {
    let (directory, target) = place();
    let victim = stale(directory.path().join("t1"), "");
    let marked = stale(directory.path().join("t2"), "bsdb-workspace 18 other\n");
    let own = stale(directory.path().join("t3"), "bsdb-workspace 19 w3\n");
    for (number, noted) in [(1, &victim), (2, &marked), (3, &own)] {
        let mark = format!("bsdb-workspace w{number}\n{}\n", noted.display());
        stale(directory.path().join(format!(".db.bsdb-build-w{number}")), &mark);
    }
    drop(Workspace::create(&target, &BuildOptions::default()).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    assert!(victim.exists() && marked.exists() && !own.exists());
}

#[test]
fn a_journal_names_files_of_databases_only() {
    let (directory, target) = place();
    let current = Fake::new("a b");
    current.publish(&target).unwrap();
    let elsewhere = directory.path().join("elsewhere");
    write(&elsewhere, &["manifest.bsdb", "data-000-12345678.bsdb"]);
    symlink(&elsewhere, target.join("shard-00009-12345678")).unwrap();
    let stay = [
        "thesis.tex",
        "data-000-12345678.part",
        "folder/manifest.bsdb",
        "shard-00001-12345678/thesis.tex",
        "shard-00001-12345678/shard-00002-12345678/manifest.bsdb",
        "shard-00002-12345678/hash-12345678.bsdb/notes",
    ];
    let deleted = [
        "data-000-87654321.bsdb",
        "shard-00001-12345678/manifest.bsdb",
        "shard-00003-12345678/manifest.bsdb",
        "shard-00003-12345678/index-12345678.bsdb",
    ];
    write(&target, &stay);
    write(&target, &deleted);
    let absolute = elsewhere.join(MANIFEST);
    let mut journal = current.files().join("\n");
    for name in stay.iter().chain(&deleted).chain(&[
        "",
        "/",
        "..",
        "\0",
        "../elsewhere/manifest.bsdb",
        "shard-00001-12345678/",
        "shard-00001-12345678/../thesis.tex",
        "shard-00001-12345678/../../elsewhere/manifest.bsdb",
        "shard-00002-12345678/hash-12345678.bsdb",
        "shard-00009-12345678/manifest.bsdb",
        "shard-00009-12345678/data-000-12345678.bsdb",
        absolute.to_str().unwrap(),
    ]) {
        journal.push('\n');
        journal.push_str(name);
    }
    fs::write(stale(target.join(REPLACING), "").join("names"), journal).unwrap();
    drop(Workspace::create(&target, &overwrite()).unwrap());
    let mut others = stay.to_vec();
    others.extend([
        "folder",
        "shard-00001-12345678",
        "shard-00001-12345678/shard-00002-12345678",
        "shard-00002-12345678",
        "shard-00002-12345678/hash-12345678.bsdb",
        "shard-00009-12345678",
    ]);
    current.check(&target, &others);
    assert_eq!(tree(&elsewhere), ["data-000-12345678.bsdb", "manifest.bsdb"]);
}

/// Fails the change with this number, from 0; the count goes on.
fn failing(nth: usize, counts: fn(Change) -> bool) -> (Arc<AtomicUsize>, impl FnMut(Change, &Path) -> io::Result<()>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let hook = move |kind: Change, _: &Path| {
        if counts(kind) && counted.fetch_add(1, Ordering::Relaxed) == nth {
            return Err(io::Error::other("Input/output error"));
        }
        Ok(())
    };
    (count, hook)
}

#[test]
fn no_failure_leaves_a_part() {
    for (first, second) in [("", "a b"), ("a", "c d"), ("a b", "c"), ("a b", "a c"), ("a b", "a b")] {
        let (directory, target) = place();
        let old = if first.is_empty() { None } else { Some(Fake::new(first)) };
        let new = Fake::new(second);
        for nth in 0.. {
            if let Some(old) = &old {
                old.publish(&target).unwrap();
            }
            let (count, hook) = failing(nth, |kind| kind != Change::Remove);
            let path = target.clone();
            match hook::during(hook, || new.publish(&path)) {
                Ok(warnings) => {
                    new.check_files(&target);
                    if count.load(Ordering::Relaxed) <= nth {
                        assert!(nth >= if old.is_some() { 8 } else { 5 }, "{nth} changes");
                        new.check(&target, &[]);
                        break;
                    }
                    if warnings.is_empty() {
                        new.check(&target, &[]); // the second attempt to remove the directory of the build
                    }
                    let told = format!("the database is at {}, but a later step failed: ", target.display());
                    assert!(warnings.iter().all(|text| text.starts_with(&told) && text.ends_with("/output error")));
                    if old.is_none() {
                        fs::remove_dir_all(&target).unwrap();
                    }
                }
                Err(e) => {
                    assert!(e.to_string().ends_with("Input/output error"), "{e}");
                    match &old {
                        Some(old) => old.check(&target, &[]),
                        None => assert_eq!(tree(directory.path()), [""; 0]),
                    }
                }
            }
            assert!(fs::read_dir(directory.path()).unwrap().all(|entry| entry.unwrap().file_name() == "db"));
        }
    }
}

#[test]
fn removals_that_fail_become_warnings_and_are_made_up_for_by_the_next_build() {
    let (old, new) = (Fake::new("a b"), Fake::new("c d"));
    for nth in 0.. {
        let (_directory, target) = place();
        old.publish(&target).unwrap();
        let (count, hook) = failing(nth, |kind| kind == Change::Remove);
        let path = target.clone();
        let warnings = hook::during(hook, || new.publish(&path)).unwrap();
        if count.load(Ordering::Relaxed) <= nth {
            assert!(nth > 6 && warnings.is_empty());
            return;
        }
        assert!(warnings.len() <= 1, "{warnings:?}"); // deleting the directory of the build is tried twice
        new.check_files(&target);
    }
}

/// The changes of a publication, with what differs from build to build taken out of the names.
fn changes(target: &Path, values: &str) -> Vec<String> {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = seen.clone();
    let above = target.parent().unwrap().to_owned();
    let hook = move |kind, path: &Path| {
        let name = path.strip_prefix(&above).unwrap().to_str().unwrap().to_owned();
        let parts = name.split('/').map(|part| match part.find(".bsdb-build-") {
            Some(at) if !part.ends_with("replacing") => part[..at + 12].to_owned(),
            _ => part
                .strip_suffix(".bsdb")
                .and_then(|part| part.split_once('-'))
                .map_or(part, |(kind, _)| kind)
                .to_owned(),
        });
        told.lock().unwrap().push(format!("{kind:?} {}", parts.collect::<Vec<_>>().join("/")));
        Ok(())
    };
    assert_eq!(hook::during(hook, || Fake::new(values).publish(target)).unwrap(), [""; 0]);
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn changes_are_forced_before_others_depend_on_them() {
    let (_directory, target) = place();
    let expected =
        ["Make .db.bsdb-build-", "Force .db.bsdb-build-", "Rename db", "Remove db/lock", "Force db", "Force "];
    assert_eq!(changes(&target, "a"), expected);
    let expected = [
        "Make db/.bsdb-build-",
        "Force db/.bsdb-build-",
        "Rename db/.bsdb-build-replacing",
        "Write db/.bsdb-build-replacing/names",
        "Force db/.bsdb-build-replacing",
        "Rename db/data",
        "Rename db/index",
        "Force db",
        "Rename db/manifest.bsdb",
        "Force db",
        "Remove db/data",
        "Remove db/index",
        "Force db",
        "Remove db/.bsdb-build-replacing/names",
        "Force db/.bsdb-build-replacing",
        "Remove db/.bsdb-build-replacing/lock",
        "Remove db/.bsdb-build-replacing",
    ];
    assert_eq!(changes(&target, "b"), expected);
}

/// What a child of these tests does: words separated by line feeds.
const CHILD: &str = "BSDB_WORK_TEST";

/// Runs [`child`] in another process.
fn start(words: &[&str]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "write::work::tests::child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(CHILD, words.join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The exit code of a child that is killed before a change.
const KILLED: i32 = 77;

#[test]
#[ignore = "is run by the other tests, in processes of their own"]
fn child() {
    let Ok(words) = std::env::var(CHILD) else {
        return;
    };
    let words: Vec<&str> = words.split('\n').collect();
    let target = Path::new(words[1]);
    match words[0] {
        "kill" => {
            let options = temporary(target.with_file_name("t"));
            let options = if words[4] == "t" { options } else { overwrite() };
            let fake = Fake::new(words[2]);
            let left: usize = words[3].parse().unwrap();
            let left = AtomicUsize::new(left);
            let hook = move |_: Change, _: &Path| {
                if left.fetch_sub(1, Ordering::Relaxed) == 0 {
                    std::process::exit(KILLED); // as if it was killed: nothing is dropped
                }
                Ok(())
            };
            hook::during(hook, || fake.publish_with(target, &options)).unwrap();
        }
        "hold" => {
            let work = Workspace::create(target, &temporary(target.with_file_name("t"))).unwrap();
            Fake::new(words[2]).copy_to(work.directory());
            write(work.temporary(), &["spill.part"]);
            println!("\nready");
            let _ = io::stdin().read_to_end(&mut Vec::new());
            work.publish(&Control::new(None)).unwrap();
        }
        _ => {
            for _ in 0..words[3].parse().unwrap() {
                assert_eq!(Fake::new(words[2]).publish(target).unwrap(), [""; 0]);
            }
        }
    }
}

/// A build may be beginning in a directory that is empty or holds an empty lock. So it stays for a minute.
fn starting(directory: &Path) -> Vec<String> {
    tree(directory).into_iter().filter(|name| name.contains("bsdb-build-")).collect()
}

#[test]
fn the_old_or_the_new_is_there_when_a_build_is_killed() {
    let next = Fake::new("n m");
    for (first, second, temporary) in [("", "a b", "t"), ("a", "c d", "t"), ("a b", "c", ""), ("a b", "a c", "")] {
        let new = Fake::new(second);
        let old = (!first.is_empty()).then(|| Fake::new(first));
        for step in 0.. {
            let (directory, target) = place();
            if let Some(old) = &old {
                fs::create_dir(&target).unwrap();
                old.copy_to(&target);
            }
            let words = ["kill", target.to_str().unwrap(), second, &step.to_string(), temporary];
            let ended = start(&words).wait_with_output().unwrap();
            let killed = ended.status.code() == Some(KILLED);
            assert!(killed || ended.status.success(), "{ended:?}");
            match &old {
                _ if new.is_at(&target) => new.check_files(&target),
                Some(old) => old.check_files(&target),
                None => assert!(!target.exists()),
            }
            assert!(killed || new.is_at(&target));
            assert_eq!(next.publish(&target).unwrap(), [""; 0], "step {step}");
            let left = starting(directory.path());
            let begun = |name: &String| {
                fs::metadata(directory.path().join(name)).unwrap().len() == 0 || !name.ends_with("lock")
            };
            assert!(left.len() <= 2 && left.iter().all(begun), "step {step}: {left:?}");
            next.check(&target, &starting(&target).iter().map(String::as_str).collect::<Vec<_>>());
            if !killed {
                assert!(step > 8, "{step} steps");
                break;
            }
        }
    }
}

/// Starts a process with a build, and waits until its files are written.
fn hold(target: &Path, values: &str) -> Child {
    let mut child = start(&["hold", target.to_str().unwrap(), values]);
    let mut lines = io::BufRead::lines(io::BufReader::new(child.stdout.as_mut().unwrap()));
    assert!(lines.any(|line| line.unwrap() == "ready"));
    child
}

#[test]
fn builds_of_other_processes_are_left_alone_while_they_live() {
    for first in ["", "o p"] {
        let (directory, target) = place();
        if !first.is_empty() {
            Fake::new(first).publish(&target).unwrap();
        }
        let mut other = hold(&target, "a b");
        let before = tree(directory.path());
        drop(Workspace::create(&target, &temporary(target.with_file_name("t"))).unwrap());
        assert_eq!(tree(directory.path()), before);
        Fake::new("c").publish(&target).unwrap();
        drop(other.stdin.take());
        assert!(other.wait().unwrap().success());
        Fake::new("a b").check(&target, &[]);
        // The next build of the target removes all that a killed one left, be it elsewhere.
        let mut killed = hold(&target, "d e");
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert!(directory.path().join("t").exists());
        drop(Workspace::create(&target, &overwrite()).unwrap());
        Fake::new("a b").check(&target, &[]);
        assert_eq!(tree(&directory.path().join("t")), [""; 0]);
    }
}

#[test]
fn builds_of_this_process_are_left_alone() {
    let (directory, target) = place();
    let one = Workspace::create(&target, &BuildOptions::default()).unwrap();
    for _ in 0..2 {
        drop(Workspace::create(&target, &BuildOptions::default()).unwrap());
    }
    // Nor did it lose its lock.
    let words = ["kill", target.to_str().unwrap(), "a", "0", ""];
    assert_eq!(start(&words).wait().unwrap().code(), Some(KILLED));
    assert_eq!(tree(directory.path()).len(), 2);
    let fake = Fake::new("b");
    fake.copy_to(one.directory());
    one.publish(&Control::new(None)).unwrap();
    fake.check(&target, &[]);
}

#[test]
fn builds_of_one_target_take_turns() {
    let (directory, target) = place();
    Fake::new("z").publish(&target).unwrap();
    let values = ["a b", "c", "d e f", "a x"];
    let others: Vec<Child> =
        values[..2].iter().map(|values| start(&["loop", target.to_str().unwrap(), values, "10"])).collect();
    thread::scope(|scope| {
        for values in &values[2..] {
            let target = &target;
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_eq!(Fake::new(values).publish(target).unwrap(), [""; 0]);
                }
            });
        }
    });
    for other in others {
        let ended = other.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    let there = values.iter().map(|values| Fake::new(values)).find(|fake| fake.is_at(&target)).unwrap();
    there.check(&target, &[]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn waiting_ends_when_the_build_is_stopped_or_has_waited_long_enough() {
    let (_directory, target) = place();
    let old = Fake::new("a b");
    old.publish(&target).unwrap();
    let build = || {
        let work = Workspace::create(&target, &overwrite()).unwrap();
        Fake::new("c").copy_to(work.directory());
        work
    };
    let mut first = build();
    assert!(first.work.rename(&target.join(REPLACING)).unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let stopping = Control::new(Some(Box::new(move |progress| {
        assert_eq!((progress.stage, progress.done, progress.total), (Stage::Publish, 3, Some(3)));
        counted.fetch_add(1, Ordering::Relaxed) < 2
    })));
    assert!(matches!(build().publish(&stopping), Err(Error::Stopped)));
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    let error = build().publish_within(&Control::new(None), Duration::from_millis(50)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("another build has been replacing this database for 0 s"), "{text}");
    assert!(text.contains(".bsdb-build-replacing); end that build, then build again"), "{text}");
    drop(first);
    old.check(&target, &[]);
    write(&target, &[REPLACING]);
    let text = build().publish(&Control::new(None)).unwrap_err().to_string();
    assert!(text.ends_with("is in the way of the build; move it away"), "{text}");
    old.check(&target, &[REPLACING]);
}

#[test]
fn a_build_that_is_stopped_leaves_the_old_database() {
    let (_directory, target) = place();
    let old = Fake::new("a b");
    old.publish(&target).unwrap();
    let work = Workspace::create(&target, &overwrite()).unwrap();
    Fake::new("c d").copy_to(work.directory());
    let control = Control::new(None);
    let stop = control.clone();
    // Stopped when all files were moved in.
    let hook = move |kind, path: &Path| {
        if kind == Change::Rename && path.ends_with(MANIFEST) {
            stop.stop();
        }
        Ok(())
    };
    assert!(matches!(hook::during(hook, || work.publish(&control)), Err(Error::Stopped)));
    old.check(&target, &[]);
    assert!(Manifest::read(&target).is_ok());
}
