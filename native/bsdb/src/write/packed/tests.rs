//! Packed databases against those of `bsdb build`: the environment variable BSDB is its path.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use super::*;
use crate::error::Result;
use crate::format::facts::Layout;
use crate::write::blocks::Trainer;
use crate::write::control::Control;
use crate::write::manifest::{self, Totals};
use crate::write::options::{BuildOptions, Duplicates};
use crate::write::output;

type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// Builds a database in a directory.
fn build(at: &Path, options: &BuildOptions, dictionary: Option<Vec<u8>>, records: &Records) -> Result<Assembled> {
    build_with(at, options, dictionary, records, Control::new(None))
}

fn build_with(
    at: &Path,
    options: &BuildOptions,
    dictionary: Option<Vec<u8>>,
    records: &Records,
    control: Control,
) -> Result<Assembled> {
    let temporary = at.with_extension("tmp");
    fs::create_dir_all(at).unwrap();
    fs::create_dir_all(&temporary).unwrap();
    let context = Context { options: options.clone(), directory: at.to_owned(), temporary, control };
    let mut assembly = Box::new(PackedAssembly::new(&context, dictionary)?);
    let mut totals = Totals::default();
    let signatures = Mum::new(options.seed);
    for (key, value) in records {
        totals.add(key.len(), value.len());
        assembly.add(&Record { signature: signatures.sign(key), key, value })?;
    }
    let mut made = assembly.complete()?;
    let text = manifest::text(options, 0, &totals, &made);
    let id = manifest::id(&text);
    for file in std::mem::take(&mut made.files) {
        file.seal(&id)?;
    }
    output::write_manifest(at, text.as_bytes(), &id, None)?;
    assert_eq!(fs::read_dir(&context.temporary).unwrap().count(), 0, "temporary files are deleted");
    Ok(made)
}

fn files(at: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(at).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[digit as usize] as char).collect()
}

/// Numbers that look random.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Records with values of up to so many bytes, some of which compress, and the keys of `different` ones.
fn records(count: usize, different: usize, most: usize) -> Records {
    let mut state = count as u64;
    let mut made = Records::new();
    for i in 0..count {
        let number = if different < count { next(&mut state) % different as u64 } else { i as u64 };
        let length = if most == 0 { 0 } else { next(&mut state) as usize % most };
        let word = next(&mut state) % 50;
        let mut value = format!("value {word} of {i} ").repeat(length / 10 + 1).into_bytes();
        value.truncate(length);
        if i % 3 == 0 {
            value.iter_mut().for_each(|byte| *byte = next(&mut state) as u8);
        }
        made.push((format!("key-{number}").into_bytes(), value));
    }
    made
}

struct Case {
    name: &'static str,
    records: Records,
    arguments: &'static str,
    options: BuildOptions,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |name, arguments, records: Records, change: fn(&mut BuildOptions)| {
        let mut options = BuildOptions { memory: 1 << 20, threads: 2, ..BuildOptions::default() };
        change(&mut options);
        cases.push(Case { name, records, arguments, options });
    };
    case("none", "", records(0, 0, 0), |_| ());
    case("none-files", "--data-files 3 --filter-bits 7", records(0, 0, 0), |o| (o.data_files, o.filter_bits) = (3, 7));
    case("one", "--filter-bits 16", records(1, 1, 9), |o| o.filter_bits = 16);
    case("two", "--data-files 2", records(2, 2, 40), |o| o.data_files = 2);
    let mut odd: Records = vec![(vec![], vec![]), (vec![1], vec![]), (vec![2; 65535], vec![3; 70000])];
    odd.extend([(vec![4; 300], vec![5; 5_000_000]), (vec![6; 65535], vec![]), (vec![7; 4000], vec![8; 16384])]);
    case("odd", "", odd.clone(), |_| ());
    case("odd-filter", "--filter-bits 1", odd.clone(), |o| o.filter_bits = 1);
    case("odd-z", "-z --layout packed-compressed -sc 0 -bs 512", odd, |o| {
        (o.layout, o.block) = (Layout::PackedCompressed, 512);
    });
    case("aligned", "--filter-bits 7 --seed -5", records(1000, 1000, 100), |o| (o.filter_bits, o.seed) = (7, -5));
    case("short", "--filter-bits 9", records(40_000, 40_000, 2), |o| o.filter_bits = 9);
    case("spanning", "--data-files 3", records(1000, 1000, 1000), |o| o.data_files = 3);
    case("long", "", records(300, 300, 100_000), |_| ());
    case("many", "--data-files 3 --filter-bits 7", records(100_000, 100_000, 60), |o| {
        (o.data_files, o.filter_bits) = (3, 7);
    });
    case("first", "--on-duplicate first --filter-bits 7", records(60_000, 2_000, 60), |o| {
        (o.duplicates, o.filter_bits) = (Duplicates::First, 7);
    });
    case("last", "--on-duplicate last", records(60_000, 20_000, 60), |o| o.duplicates = Duplicates::Last);
    case("same", "--on-duplicate last", records(30_000, 3, 60), |o| o.duplicates = Duplicates::Last);
    case("z-1", "-z --layout packed-compressed -sc 0 --level 1 --filter-bits 7", records(5000, 5000, 300), |o| {
        (o.layout, o.level, o.filter_bits) = (Layout::PackedCompressed, 1, 7);
    });
    case("z-3", "-z --layout packed-compressed -sc 0 --level 3 -bs 65536", records(5000, 5000, 3000), |o| {
        (o.layout, o.level, o.block) = (Layout::PackedCompressed, 3, 65536);
    });
    case("z-d-6", "-z --layout packed-compressed --level 6 -ds 20000", records(9000, 9000, 300), |o| {
        (o.layout, o.level, o.dictionary) = (Layout::PackedCompressed, 6, 20_000);
    });
    case("z-d-19", "-z --layout packed-compressed --level 19 -bs 8192 -ds 9000", records(3000, 3000, 300), |o| {
        (o.layout, o.level, o.block, o.dictionary) = (Layout::PackedCompressed, 19, 8192, 9000);
    });
    // ZSTD uses a dictionary in another way if what it compresses is much longer.
    let mut longer = records(2000, 2000, 300);
    longer.extend(records(8, 8, 900_000).into_iter().map(|(key, value)| ([b"long", &key[..]].concat(), value)));
    case("z-d-1", "-z --layout packed-compressed --level 1 -bs 2048 -ds 1000", longer, |o| {
        (o.layout, o.level, o.block, o.dictionary) = (Layout::PackedCompressed, 1, 2048, 1000);
    });
    case("z-large", "-z --layout packed-compressed -bs 1048576", records(3000, 3000, 3000), |o| {
        (o.layout, o.block) = (Layout::PackedCompressed, 1 << 20);
    });
    cases
}

/// The dictionary that a build of records that come one by one trains.
fn trained(options: &BuildOptions, records: &Records) -> Option<Vec<u8>> {
    let mut trainer = Trainer::new(options.block, options.dictionary);
    for (key, value) in records.iter().take(options.samples as usize) {
        if trainer.is_full() {
            break;
        }
        trainer.add(key, value).unwrap();
    }
    trainer.train()
}

#[test]
fn heads_are_numbers_and_headers() {
    for number in [0, 1, 0x7f, 0x80, 1000, (1 << 49) - 1] {
        for (key, value) in [(0, 0), (1, 0), (255, 32_510), (256, 5), (65_535, 2_147_483_639)] {
            let header = Header::of(key, value);
            let (bytes, size) = head(number, &header);
            let bytes = bytes.to_le_bytes();
            let (digits, rest) = bytes[..size].split_at(size - header.size);
            assert_eq!(rest, &header.encode()[..header.size]);
            assert_eq!(digits.iter().rev().fold(0, |sum, digit| sum << 7 | u64::from(digit & 0x7f)), number);
            let (last, others) = digits.split_last().unwrap();
            assert!(*last < 0x80 && others.iter().all(|digit| *digit >= 0x80));
        }
    }
}

/// Compares databases with those that Java writes, file by file.
#[test]
fn files_are_those_of_java() {
    let Ok(command) = std::env::var("BSDB") else {
        return;
    };
    let mut words = command.split_whitespace();
    let program = words.next().expect("BSDB names a command");
    let only = std::env::var("CASE").ok();
    let directory = tempfile::tempdir().unwrap();
    for case in cases().into_iter().filter(|case| only.as_ref().is_none_or(|only| only == case.name)) {
        let Case { name, records, arguments, options } = case;
        let expected = directory.path().join(format!("{name}-java"));
        let form = ["--key-encoding", "hex", "--value-encoding", "hex", "--allow-empty-key", "-q", "-i", "-", "-o"];
        let mut java = Command::new(program)
            .args(words.clone())
            .arg("build")
            .args(form)
            .arg(&expected)
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = java.stdin.take().unwrap();
        for (key, value) in &records {
            input.write_all(format!("{} {}\n", hex(key), hex(value)).as_bytes()).unwrap();
        }
        drop(input);
        assert!(java.wait().unwrap().success(), "{name}");
        let expected = files(&expected);
        let dictionary = if options.layout.is_compressed() && !arguments.contains("-sc 0") {
            trained(&options, &records)
        } else {
            None
        };
        assert_eq!(dictionary.is_some(), name.starts_with("z-d"), "{name}");
        for (memory, threads) in [(1 << 20, 1), (1 << 20, 5), (1 << 30, 2)] {
            let options = BuildOptions { memory, threads, ..options.clone() };
            let at = directory.path().join(format!("{name}-{memory}-{threads}"));
            build(&at, &options, dictionary.clone(), &records).unwrap();
            let found = files(&at);
            if expected != found {
                let text = |files: &BTreeMap<String, Vec<u8>>| {
                    String::from_utf8_lossy(files["manifest.bsdb"].get(4096..8188).unwrap_or(&[])).into_owned()
                };
                for (name, bytes) in &found {
                    println!("{name}: {} in Rust, {:?} in Java", bytes.len(), expected.get(name).map(Vec::len));
                }
                panic!("{name} differs\nJava:\n{}\nRust:\n{}", text(&expected), text(&found));
            }
        }
        println!("{name}: the same {} files", expected.len());
    }
}

/// Of the duplicates, those with the lowest signature are named, with any memory and number of threads.
#[test]
fn refused_duplicates_are_named() {
    let records = records(60_000, 20_000, 30);
    let signatures = Mum::new(0);
    let mut numbers: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    for (number, (key, _)) in records.iter().enumerate() {
        let signature = signatures.sign(key);
        numbers.entry((signature.high, signature.low)).or_default().push(number as u64);
    }
    let wanted = numbers.into_values().find(|numbers| numbers.len() > 1).unwrap();
    for (memory, threads) in [(1 << 16, 1), (1 << 20, 5), (1 << 30, 2)] {
        let directory = tempfile::tempdir().unwrap();
        let options = BuildOptions { memory, threads, ..BuildOptions::default() };
        let error = build(&directory.path().join("db"), &options, None, &records).unwrap_err();
        let Error::Duplicate { key, first, second } = error else {
            panic!("{error}");
        };
        assert_eq!([first, second], wanted[..2]);
        assert_eq!(key, records[first as usize].0);
    }
}

/// Records are not read for many passes only because they have many duplicates.
#[test]
fn duplicates_take_no_passes() {
    for (layout, keep) in [(Layout::Packed, Duplicates::Last), (Layout::PackedCompressed, Duplicates::First)] {
        let directory = tempfile::tempdir().unwrap();
        let [much, little] = ["much", "little"].map(|memory| directory.path().join(memory));
        let records = records(100_000, 10, 100);
        let options = BuildOptions { layout, duplicates: keep, dictionary: 0, ..BuildOptions::default() };
        build(&much, &options, None, &records).unwrap();
        let passes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&passes);
        let count = move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            true
        };
        let options = BuildOptions { memory: 1 << 18, ..options };
        build_with(&little, &options, None, &records, Control::new(Some(Box::new(count)))).unwrap();
        assert_eq!(files(&much), files(&little));
        let passes = passes.load(Ordering::Relaxed);
        assert!(passes <= PARTITIONS + 10, "{passes}");
    }
}

/// What a reader finds in a database that was just written.
#[test]
fn readers_find_all_records() {
    let records = records(20_000, 20_000, 200);
    for layout in [Layout::Packed, Layout::PackedCompressed] {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join("db");
        let options = BuildOptions { layout, filter_bits: 7, data_files: 3, threads: 3, ..BuildOptions::default() };
        let dictionary = layout.is_compressed().then(|| trained(&options, &records).expect("a dictionary"));
        build(&at, &options, dictionary, &records).unwrap();
        let database = crate::Database::open(&at).unwrap();
        for (key, value) in &records {
            assert_eq!(database.get(key).unwrap().as_ref(), Some(value));
        }
        assert_eq!(database.get(b"absent").unwrap(), None);
    }
}

/// How long a build takes: `RECORDS=10000000 cargo test --release -p bsdb --lib speed -- --nocapture`.
#[test]
fn speed() {
    let Some(count) = std::env::var("RECORDS").ok().and_then(|count| count.parse::<u64>().ok()) else {
        return;
    };
    let directory = tempfile::tempdir_in(std::env::var("DIRECTORY").unwrap_or(".".into())).unwrap();
    let number = |name, or| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok()).unwrap_or(or);
    let options = BuildOptions {
        threads: number("THREADS", 2) as usize,
        memory: number("MEMORY", 1 << 30),
        filter_bits: number("FILTER", 0) as u32,
        ..BuildOptions::default()
    };
    let (at, temporary) = (directory.path().join("db"), directory.path().join("tmp"));
    fs::create_dir_all(&at).unwrap();
    fs::create_dir_all(&temporary).unwrap();
    let context = Context { options, directory: at, temporary, control: Control::new(None) };
    let start = std::time::Instant::now();
    let mut assembly = Box::new(PackedAssembly::new(&context, None).unwrap());
    let signatures = Mum::new(0);
    // Keys are made some time before they are added: what was written just now byte by byte is slow to read as words,
    // behind the writes of the records before.
    let (mut keys, value) = (Vec::new(), [b'v'; 32]);
    for first in (0..count).step_by(1 << 10) {
        keys.clear();
        keys.extend((first..count.min(first + (1 << 10))).map(|i| format!("key-{i:09}")));
        for key in &keys {
            let key = key.as_bytes();
            assembly.add(&Record { signature: signatures.sign(key), key, value: &value }).unwrap();
        }
    }
    println!("added after {:?}", start.elapsed());
    let made = assembly.complete().unwrap();
    println!("{} records written after {:?}", made.records, start.elapsed());
}
