//! Serves a directory as an object store that can be slow, busy or broken: for tests and benchmarks.
//!
//! ```text
//! objects DIRECTORY [OPTION VALUE]...
//! ```
//!
//! Prints its URL: the endpoint of a store with the bucket `bucket`, whose keys are the paths of the files, and the
//! base of plain URLs. Checks no credentials. Runs until it is killed.
//!
//! | Option | Meaning |
//! |---|---|
//! | `--latency 20ms` | each answer begins so much later |
//! | `--busy 0.01` | this part of the requests gets 503 |
//! | `--cut 0.001` | of this part of the answers, only half the body arrives |
//! | `--flip 0.0001` | in this part of the answers, a bit is flipped |
//! | `--seed 1` | which of them |
//! | `--log 1` | keeps the requests for `/_log` |
//! | `--stdin 1` | ends with its standard input, and so with the process that holds the other end of it |
//!
//! | Request | Answer |
//! |---|---|
//! | `GET /_counts` | JSON: requests, HEAD requests, bytes of bodies, connections, most requests at a time, answers by status |
//! | `GET /_log` | a line a request: method, path, range or `-`, status |
//! | `GET /_reset` | counts from 0, takes all faults of `/_fault` away |
//! | `GET /_fault?is=FAULT&on=TEXT&skip=0&times=1` | what happens to the next requests whose paths contain the text |
//! | `GET /_fault?latency=20ms` | sets the latency |
//!
//! A fault is `status=503`, `status=503,3` (with Retry-After), `delay=20ms`, `close`, `half-close`, `silence`, `stall`,
//! `cut=100`, `drip=1000`, `wrong-range`, `wrong-total`, `whole`, `no-length`, `flip=7`, `other-tag`, `ignore-match`,
//! `no-tag`, `truncated=8192`, `redirect=REGION`, `location=URL` or `garbage`.

use std::io::{self, Write};
use std::process::ExitCode;

#[path = "../tests/support/objects/mod.rs"]
mod objects;

use objects::{duration, Fault, Objects};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("objects: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: objects DIRECTORY [OPTION VALUE]...")?;
    if !std::path::Path::new(&directory).is_dir() {
        return Err(format!("{directory}: not a directory"));
    }
    let mut objects = Objects::start(directory);
    let (mut busy, mut cut, mut flip, mut seed) = (0.0, 0.0, 0.0, 1);
    let (mut keeps_log, mut ends) = (false, false);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{option}: no value"))?;
        let part = || match value.parse::<f64>() {
            Ok(part) if (0.0..=1.0).contains(&part) => Ok(part),
            _ => Err(format!("{option} {value}: not between 0 and 1")),
        };
        match option.as_str() {
            "--latency" => objects.set_latency(duration(&value)?),
            "--busy" => busy = part()?,
            "--cut" => cut = part()?,
            "--flip" => flip = part()?,
            "--seed" => seed = value.parse().map_err(|e| format!("{option} {value}: {e}"))?,
            "--log" => keeps_log = value == "1",
            "--stdin" => ends = value == "1",
            _ => return Err(format!("unknown option: {option}")),
        }
    }
    if !keeps_log {
        objects = objects.without_log();
    }
    objects.fail(move |_, nth| {
        let drawn = draw(seed, nth);
        let share = (drawn >> 11) as f64 / (1_u64 << 53) as f64;
        if share < busy {
            Fault::Status { code: 503, retry_after: None }
        } else if share < busy + cut {
            Fault::Cut(2048)
        } else if share < busy + cut + flip {
            Fault::FlipBit(draw(drawn, 1) >> 1)
        } else {
            Fault::None
        }
    });
    println!("{}", objects.url());
    io::stdout().flush().map_err(|e| e.to_string())?;
    if ends {
        io::copy(&mut io::stdin(), &mut io::sink()).map_err(|e| e.to_string())?;
    } else {
        objects.serve();
    }
    Ok(())
}

/// The nth number of a sequence of random ones (SplitMix64).
fn draw(seed: u64, nth: u64) -> u64 {
    let mut z = seed.wrapping_add(nth.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
