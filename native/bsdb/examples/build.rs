//! Builds a database from lines of text.
//!
//! ```text
//! cargo run --release --example build -- [OPTION...] INPUT DIRECTORY
//! ```
//!
//! INPUT is a file, or `-` for the standard input. Each line is a key, a tab and a value; a line without a tab is an
//! error. `bsdb build -s '\t'` builds the same database, byte for byte.
//!
//! | Option | Meaning |
//! |---|---|
//! | `--layout NAME` | `packed` (the default), `packed-compressed`, `blocked`, `compact` or `compressed` |
//! | `--checksum-bits N`, `--filter-bits N` | how absent keys are told, without a packed layout or with one |
//! | `--block N`, `--level N`, `--dictionary N`, `--samples N` | compression |
//! | `--data-files N`, `--shards N` | division |
//! | `--ordered` | stores the order of keys |
//! | `--duplicates error\|first\|last` | which of the records with a key is kept |
//! | `--schema FILE` | the schema of values that are typed rows |
//! | `--seed N` | the seed of the signatures |
//! | `--overwrite` | replaces the database in the directory |
//! | `--memory BYTES`, `--threads N`, `--temp DIR` | resources |
//! | `--sample FILE` | a file like INPUT, whose records the dictionary is trained on |
//! | `--framed` | the input is not text, but framed |
//!
//! A framed record is the length of the key (u16), that of the value (u32), both little-endian, the key and the value.
//!
//! Exits with 1 and the error if the build fails, or with 2 if the arguments are wrong.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use bsdb::{BuildOptions, Builder, Built};

/// The arguments, and the options of the library that they set.
const VALUES: [(&str, &str); 14] = [
    ("--layout", "layout"),
    ("--checksum-bits", "checksum_bits"),
    ("--filter-bits", "filter_bits"),
    ("--block", "block_bytes"),
    ("--level", "compression_level"),
    ("--dictionary", "dictionary_bytes"),
    ("--samples", "sample_records"),
    ("--data-files", "data_files"),
    ("--shards", "shards"),
    ("--duplicates", "duplicates"),
    ("--seed", "seed"),
    ("--memory", "memory_bytes"),
    ("--threads", "threads"),
    ("--temp", "temporary_directory"),
];

const SWITCHES: [(&str, &str); 2] = [("--ordered", "ordered"), ("--overwrite", "overwrite")];

/// What to build, and from what.
struct Arguments {
    options: BuildOptions,
    framed: bool,
    sample: Option<String>,
    input: String,
    directory: PathBuf,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match build(arguments) {
        Ok(built) => {
            let Built { path, id, records, dropped, bytes, .. } = &built;
            println!("{}: id {id}, {records} records, {dropped} dropped, {bytes} bytes", path.display());
            built.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, Box<dyn Error>> {
    let mut options = BuildOptions::default();
    let (mut framed, mut sample, mut places) = (false, None, Vec::new());
    while let Some(name) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{name} needs a value"));
        if let Some((_, option)) = VALUES.iter().find(|(known, _)| *known == name) {
            options.set(option, &value()?)?;
        } else if let Some((_, option)) = SWITCHES.iter().find(|(known, _)| *known == name) {
            options.set(option, "true")?;
        } else if name == "--schema" {
            let file = value()?;
            let schema = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
            options = options.value_schema(schema.trim_end_matches('\n'));
        } else if name == "--sample" {
            sample = Some(value()?);
        } else if name == "--framed" {
            framed = true;
        } else if name.starts_with("--") {
            return Err(format!("there is no option {name}").into());
        } else {
            places.push(name);
        }
    }
    let [input, directory] = <[String; 2]>::try_from(places)
        .map_err(|_| "usage: build [OPTION...] INPUT DIRECTORY; examples/build.rs describes the options")?;
    Ok(Arguments { options, framed, sample, input, directory: directory.into() })
}

fn build(arguments: Arguments) -> Result<Built, Box<dyn Error>> {
    let mut builder = Builder::create(&arguments.directory, arguments.options)?;
    if let Some(file) = &arguments.sample {
        each(file, arguments.framed, |key, value| builder.sample(key, value))?;
    }
    each(&arguments.input, arguments.framed, |key, value| builder.add(key, value))?;
    Ok(builder.finish()?)
}

/// Passes on all records of an input.
fn each(
    input: &str,
    framed: bool,
    take: impl FnMut(&[u8], &[u8]) -> Result<(), bsdb::Error>,
) -> Result<(), Box<dyn Error>> {
    let read: Box<dyn BufRead> = if input == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::with_capacity(1 << 20, File::open(input).map_err(|e| format!("{input}: {e}"))?))
    };
    if framed {
        frames(read, take)
    } else {
        lines(input, read, take)
    }
}

fn lines(
    input: &str,
    mut from: impl BufRead,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), bsdb::Error>,
) -> Result<(), Box<dyn Error>> {
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(tab) = line.iter().position(|&byte| byte == b'\t') else {
            return Err(format!("{input}, line {number}: no tab between key and value").into());
        };
        take(&line[..tab], &line[tab + 1..])?;
    }
    Ok(())
}

fn frames(
    mut from: impl BufRead,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), bsdb::Error>,
) -> Result<(), Box<dyn Error>> {
    let mut record = Vec::new();
    while !from.fill_buf()?.is_empty() {
        let mut lengths = [0; 6];
        from.read_exact(&mut lengths)?;
        let [k0, k1, v0, v1, v2, v3] = lengths;
        let key = usize::from(u16::from_le_bytes([k0, k1]));
        let value = u32::from_le_bytes([v0, v1, v2, v3]);
        record.clear();
        from.by_ref().take(key as u64 + u64::from(value)).read_to_end(&mut record)?;
        if record.len() < key + value as usize {
            return Err("the input ends within a record".into());
        }
        take(&record[..key], &record[key..])?;
    }
    Ok(())
}
