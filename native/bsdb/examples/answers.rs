//! Compares a database with what it should answer, in every way in which it can be asked.
//!
//! ```text
//! answers DIRECTORY FILE
//! ```
//!
//! FILE has a line for each key: the key in hexadecimal digits, a space, and the value in hexadecimal digits
//! or `-` for an absent key. Records are in the order in which they were given to the build. Exits with 1 and
//! the first difference, or with 2 and the error of a database that cannot be read.

use std::borrow::Cow;
use std::process::ExitCode;

use bsdb::{Access, Database, KeyRange, Layout, Options};

/// Keys and what they lead to.
type Truth = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, file] = arguments.as_slice() else {
        eprintln!("usage: answers DIRECTORY FILE");
        return ExitCode::from(2);
    };
    let truth = read(file);
    for access in [Access::Mapped, Access::Read, Access::Direct] {
        match compare(directory, &truth, access) {
            Ok(()) => {}
            Err(Failure::Wrong(difference)) => {
                println!("{access:?}: {difference}");
                return ExitCode::from(1);
            }
            Err(Failure::Error(error)) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    println!("equal: {} keys", truth.len());
    ExitCode::SUCCESS
}

enum Failure {
    Wrong(String),
    Error(bsdb::Error),
}

impl From<bsdb::Error> for Failure {
    fn from(error: bsdb::Error) -> Self {
        Failure::Error(error)
    }
}

fn read(file: &str) -> Truth {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let hex = |digits: &str| -> Vec<u8> {
        (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).expect("digits")).collect()
    };
    text.lines()
        .map(|line| {
            let (key, value) = line.split_once(' ').expect("a key and a value");
            (hex(key), (value != "-").then(|| hex(value)))
        })
        .collect()
}

fn compare(directory: &str, truth: &Truth, access: Access) -> Result<(), Failure> {
    let db = Database::open_with(directory, Options::default().access(access))?;
    let mut buffer = Vec::new();
    // Single reads from the device take long: of many keys, some are enough there.
    let step = match access {
        Access::Mapped => 1,
        Access::Read => truth.len() / 1000 + 1,
        _ => truth.len() / 50 + 1,
    };
    for (key, value) in truth.iter().step_by(step) {
        same("get", key, db.get(key)?.as_deref(), value)?;
        let found = db.get_into(key, &mut buffer)?;
        same("get_into", key, found.then_some(&buffer[..]), value)?;
        same("get_ref", key, db.get_ref(key)?.as_deref(), value)?;
        if db.contains(key)? != value.is_some() {
            return Err(Failure::Wrong(format!("contains {key:02x?}: not {}", value.is_some())));
        }
    }
    let keys: Vec<&[u8]> = truth.iter().map(|(key, _)| &key[..]).collect();
    let step = if access == Access::Mapped { 1 } else { truth.len() / 5000 + 1 };
    for (batch, expected) in keys.chunks(300).zip(truth.chunks(300)).step_by(step) {
        let found = db.get_many(batch)?;
        for ((key, value), found) in expected.iter().zip(&found) {
            same("get_many", key, found.as_ref().map(Cow::as_ref), value)?;
        }
        let mut next = 0;
        let mut wrong = Ok(());
        db.find_many(batch, |i, found| {
            if wrong.is_ok() {
                wrong = same("find_many", &expected[i].0, found, &expected[i].1);
                assert_eq!(i, next, "answers come in order");
                next += 1;
            }
        })?;
        wrong?;
    }
    let verified = db.verify()?;
    if db.is_approximate() {
        return Ok(());
    }
    let mut expected: Vec<(&[u8], &[u8])> =
        truth.iter().filter_map(|(key, value)| Some((&key[..], value.as_deref()?))).collect();
    let scanned = db.scan()?.collect::<Result<Vec<_>, _>>()?;
    let mut scanned: Vec<(&[u8], &[u8])> = scanned.iter().map(|(key, value)| (&key[..], &value[..])).collect();
    let packed = matches!(db.layout(), Layout::Packed | Layout::PackedCompressed);
    if packed || db.statistics().shards > 1 {
        scanned.sort();
        expected.sort();
    } else if db.is_ordered() {
        expected.sort(); // records are stored in this order, too
    }
    if scanned != expected {
        let at = scanned.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        return Err(Failure::Wrong(format!(
            "scan: {} records instead of {}; the first difference is record {at}",
            scanned.len(),
            expected.len()
        )));
    }
    if (verified.records, db.len()) != (expected.len() as u64, expected.len() as u64) {
        return Err(Failure::Wrong(format!("verify: {} of {} records", verified.records, expected.len())));
    }
    if db.is_ordered() {
        compare_order(&db, truth, access)?;
    }
    Ok(())
}

/// Compares ranges from, to and between some keys, present and absent, and the neighbors of these.
fn compare_order(db: &Database, truth: &Truth, access: Access) -> Result<(), Failure> {
    let mut sorted: Vec<(&[u8], &[u8])> =
        truth.iter().filter_map(|(key, value)| Some((&key[..], value.as_deref()?))).collect();
    sorted.sort();
    compare_range(db, &sorted, KeyRange::all(), 0..sorted.len())?;
    let below = |key: &[u8]| sorted.partition_point(|(other, _)| *other < key);
    let wanted = |i: usize| sorted.get(i).map(|(key, _)| *key);
    let equal = |how: &str, key: &[u8], found: Option<Vec<u8>>, expected: Option<&[u8]>| {
        same(how, key, found.as_deref(), &expected.map(<[u8]>::to_vec))
    };
    equal("first_key", b"", db.first_key()?, wanted(0))?;
    equal("last_key", b"", db.last_key()?, wanted(sorted.len().wrapping_sub(1)))?;
    let most = if access == Access::Mapped { 100 } else { 10 };
    let bounds: Vec<&[u8]> = truth.iter().step_by(truth.len() / most + 1).map(|(key, _)| &key[..]).collect();
    for (i, key) in bounds.iter().enumerate() {
        let (at, other) = (below(key), bounds[i / 2]);
        let behind = at + usize::from(wanted(at) == Some(key));
        equal("ceiling_key", key, db.ceiling_key(key)?, wanted(at))?;
        equal("floor_key", key, db.floor_key(key)?, behind.checked_sub(1).and_then(wanted))?;
        // Long ranges take long: most bounds get a short one.
        let few = &sorted[behind..sorted.len().min(behind + 40)];
        let end = few.last().map_or(*key, |(key, _)| *key);
        compare_range(db, &sorted, KeyRange::all().after(key).through(end), behind..behind + few.len())?;
        let start = sorted[at.saturating_sub(100)..at].first().map_or(*key, |(key, _)| *key);
        compare_range(db, &sorted, KeyRange::all().from(start).to(key), at.saturating_sub(100)..at)?;
        let prefix = &key[..key.len().saturating_sub(1 + i % 2)];
        let starts = sorted.iter().filter(|(key, _)| key.starts_with(prefix)).count();
        compare_range(db, &sorted, KeyRange::prefix(prefix), below(prefix)..below(prefix) + starts)?;
        let between = KeyRange::all().from(key).to(other);
        let count = below(other).saturating_sub(at) as u64;
        if db.count(&between)? != count || i < 4 && db.range(between)?.keys().count() as u64 != count {
            return Err(Failure::Wrong(format!("count {key:02x?} to {other:02x?}: not {count}")));
        }
    }
    Ok(())
}

fn compare_range(
    db: &Database,
    sorted: &[(&[u8], &[u8])],
    range: KeyRange,
    place: std::ops::Range<usize>,
) -> Result<(), Failure> {
    let expected = &sorted[place];
    let wrong = |how: &str, found: usize| {
        let expected = expected.len();
        Failure::Wrong(format!("{how} {range:02x?}: {found} records, some wrong, instead of {expected}"))
    };
    let ascending = db.range(range.clone())?.collect::<Result<Vec<_>, _>>()?;
    let descending = db.range(range.clone())?.descending().collect::<Result<Vec<_>, _>>()?;
    let keys = db.range(range.clone())?.keys().collect::<Result<Vec<_>, _>>()?;
    let back = db.range(range.clone())?.descending().keys().collect::<Result<Vec<_>, _>>()?;
    if !ascending.iter().map(|(key, value)| (&key[..], &value[..])).eq(expected.iter().copied()) {
        return Err(wrong("range", ascending.len()));
    }
    if !descending.iter().rev().eq(&ascending) {
        return Err(wrong("descending range", descending.len()));
    }
    if !keys.iter().chain(back.iter().rev()).eq(ascending.iter().chain(&ascending).map(|(key, _)| key)) {
        return Err(wrong("keys of", keys.len()));
    }
    if db.count(&range)? != expected.len() as u64 {
        return Err(wrong("count", db.count(&range)? as usize));
    }
    Ok(())
}

fn same(how: &str, key: &[u8], found: Option<&[u8]>, expected: &Option<Vec<u8>>) -> Result<(), Failure> {
    if found == expected.as_deref() {
        return Ok(());
    }
    let show = |value: Option<&[u8]>| match value {
        None => "none".to_owned(),
        Some(value) => format!("{} bytes, {:02x?}", value.len(), &value[..value.len().min(20)]),
    };
    Err(Failure::Wrong(format!("{how} {key:02x?}: {} instead of {}", show(found), show(expected.as_deref()))))
}
