//! Lookups in a database for scripts/compare-native, and the records for all its contestants.
//!
//! ```text
//! bsdb-bench generate DIR RECORDS   writes DIR/records.txt and DIR/queries
//! bsdb-bench lookups DATABASE DIR   takes laps; see rounds.py
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use bsdb::Database;

/// Bytes of a key.
const KEY: usize = 13;

/// Keys of a batch.
const BATCH: usize = 256;

/// Keys to look up.
const QUERIES: usize = 2_000_000;

/// The seed of the comparison's records.
const SEED: u64 = 20_250_101;

type Key = [u8; KEY];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate", directory, records] => generate(Path::new(directory), records.parse()?),
        ["lookups", database, directory] => lookups(Path::new(database), Path::new(directory)),
        _ => Err("usage: bsdb-bench generate DIR RECORDS | lookups DATABASE DIR".into()),
    }
}

/// Writes the records as lines, and the keys of some of them in random order, back to back.
fn generate(directory: &Path, records: usize) -> Result<(), Box<dyn Error>> {
    let mut text = BufWriter::with_capacity(1 << 20, File::create(directory.join("records.txt"))?);
    for number in 0..records as u64 {
        text.write_all(&key(number))?;
        text.write_all(b" ")?;
        text.write_all(&value(number))?;
        text.write_all(b"\n")?;
    }
    text.flush()?;
    let mut order: Vec<u32> = (0..u32::try_from(records)?).collect();
    let mut queries = BufWriter::new(File::create(directory.join("queries"))?);
    for i in 0..records.min(QUERIES) {
        order.swap(i, i + (mix(SEED ^ i as u64) % (records - i) as u64) as usize);
        queries.write_all(&key(u64::from(order[i])))?;
    }
    Ok(queries.flush()?)
}

/// A number's key: its mixed bits, five to a digit. Different numbers have different keys.
fn key(number: u64) -> Key {
    let random = mix(SEED + number);
    std::array::from_fn(|i| b"0123456789abcdefghijklmnopqrstuv"[(random >> (5 * i)) as usize & 31])
}

/// A number's value: 32 hexadecimal digits.
fn value(number: u64) -> [u8; 32] {
    std::array::from_fn(|i| {
        let random = mix(mix(SEED + 1 + i as u64 / 16) + number);
        b"0123456789abcdef"[(random >> (60 - 4 * (i % 16))) as usize & 15]
    })
}

/// The finalizer of SplitMix64, a bijection.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What the lookups of a lap have found.
#[derive(Default)]
struct Tally {
    found: u64,
    sum: u64,
}

impl Tally {
    #[inline(always)]
    fn add(&mut self, value: &[u8]) {
        self.found += 1;
        if let (Some(first), Some(last)) = (value.first(), value.last()) {
            self.sum += u64::from(*first) + u64::from(*last);
        }
    }
}

/// Takes laps as standard input asks for them: a way to look up, the first key and the number of keys.
fn lookups(database: &Path, directory: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(directory.join("queries"))?;
    let queries: Vec<&Key> = bytes.chunks_exact(KEY).map(|key| key.try_into().expect("a whole key")).collect();
    let start = Instant::now();
    let db = Database::open(database)?;
    println!("open {}", start.elapsed().as_secs_f64() * 1e3);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let [way, from, count] = words[..] else { return Err(format!("not a lap: {line}").into()) };
        let from: usize = from.parse()?;
        let keys = &queries[from..from + count.parse::<usize>()?];
        let start = processor_nanos();
        let tally = lap(&db, way, keys)?;
        println!("{} {} {}", processor_nanos() - start, tally.found, tally.sum);
    }
    Ok(())
}

fn lap(db: &Database, way: &str, keys: &[&Key]) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::default();
    match way {
        "get" => {
            for &key in keys {
                if let Some(value) = db.get(key)? {
                    tally.add(&value);
                }
            }
        }
        "get_ref" => {
            for &key in keys {
                if let Some(value) = db.get_ref(key)? {
                    tally.add(&value);
                }
            }
        }
        "get_into" => {
            let mut value = Vec::new();
            for &key in keys {
                if db.get_into(key, &mut value)? {
                    tally.add(&value);
                }
            }
        }
        "find" => {
            for &key in keys {
                db.find(key, |value| tally.add(value))?;
            }
        }
        "find_many" => {
            for keys in keys.chunks(BATCH) {
                db.find_many(keys, |_, value| value.into_iter().for_each(|value| tally.add(value)))?;
            }
        }
        "get_many" => {
            for keys in keys.chunks(BATCH) {
                for value in db.get_many(keys)?.iter().flatten() {
                    tally.add(value);
                }
            }
        }
        _ => return Err(format!("no such way to look up: {way}").into()),
    }
    Ok(tally)
}

/// Processor time of this thread.
fn processor_nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the struct that it is given. It does not fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
