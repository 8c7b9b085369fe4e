//! The input of `python -m bsdbkv build`: text, CSV and JSON lines, by the rules of `bsdb build`.
//!
//! Several threads take turns to cut the next [`chunk`] of whole records from the files, and then [`parse`] it. The
//! thread that builds takes the records in the order of the input. Memory is bounded by the number of chunks; only a long
//! record makes a chunk larger.

mod chunk;
mod csv;
mod defect;
mod json;
mod options;
mod parse;
mod places;
mod sample;
mod source;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bsdb::{BuildOptions, Builder, Stage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::bytes::bytes;
use crate::errors;
use chunk::{Chunk, Chunks, Ends, SIZE};
use csv::Header;
use defect::Defect;
use options::{Compression, Format, Job};
use parse::{Bad, Parsed, Parser};
use places::Places;

/// How long the thread that builds waits before it looks for signals.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// Why the reading or the build ended early.
pub(crate) enum Failure {
    /// A file cannot be read; the text names it.
    Input(String),
    /// A line, or a header, is not what it should be: its file, and a text that names its place.
    Bad(usize, String),
    /// The build failed.
    Build(bsdb::Error),
    /// Python wants to end: Ctrl-C.
    Python(PyErr),
}

impl Failure {
    fn exception(self, py: Python<'_>, ledger: &Ledger<'_>) -> PyErr {
        match self {
            Failure::Input(text) | Failure::Bad(_, text) => errors::input(py, text),
            Failure::Build(bsdb::Error::Duplicate { key, first, second }) => {
                let (first, second) = (ledger.place(first), ledger.place(second));
                let key = show(&key);
                let text = format!(
                    "duplicate key {key}: {first} and {second} (to keep one of them: --on-duplicate first or \
                     --on-duplicate last)"
                );
                errors::input(py, text)
            }
            Failure::Build(error) => errors::exception(py, &error),
            Failure::Python(error) => error,
        }
    }
}

/// A key for messages: quoted text if it is printable UTF-8, otherwise hexadecimal digits. Long keys are cut.
fn show(key: &[u8]) -> String {
    const MOST: usize = 128;
    let head = &key[..key.len().min(MOST)];
    let tail = if key.len() > MOST { format!("... ({} bytes)", key.len()) } else { String::new() };
    match std::str::from_utf8(head) {
        Ok(text) if !text.chars().any(char::is_control) => format!("\"{text}\"{tail}"),
        _ => {
            let digits: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0x{digits}{tail}")
        }
    }
}

/// Says which file could not be read and why, in words that users would search for.
fn reading(file: &str, error: &io::Error) -> String {
    let text = errors::reason(error);
    let words = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory",
        io::ErrorKind::PermissionDenied => "permission denied",
        _ => &text,
    };
    format!("{file}: {words}")
}

/// Accounts for every line, in the order of the input.
struct Ledger<'a> {
    job: &'a Job,
    places: Places,
    /// The file that is read, and its lines so far.
    file: usize,
    lines_of_file: u64,
    lines: u64,
    records: u64,
    rejected: BTreeMap<Defect, u64>,
    bytes: u64,
}

impl<'a> Ledger<'a> {
    fn new(job: &'a Job) -> Self {
        Ledger {
            job,
            places: Places::default(),
            file: 0,
            lines_of_file: 0,
            lines: 0,
            records: 0,
            rejected: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// The place of a record.
    fn place(&self, record: u64) -> String {
        match self.places.of(record) {
            Some((file, line)) => self.line(file, line),
            None => format!("record {}", record + 1),
        }
    }

    fn line(&self, file: usize, line: u64) -> String {
        format!("{}:{}", self.job.files[file].name, line + 1)
    }

    /// Enters a chunk. Fails if a line is not a record and ends the reading.
    fn enter(&mut self, chunk: &Chunk, parsed: &Parsed, rejects: &mut Option<Rejects>) -> Result<(), Failure> {
        if chunk.file != self.file {
            (self.file, self.lines_of_file) = (chunk.file, 0);
        }
        for bad in &parsed.bad {
            let place = self.line(self.file, self.lines_of_file + bad.line);
            let reason = bad.defect.message(&self.job.options);
            if let Some(rejects) = rejects {
                rejects.write(&place, &reason, bad).map_err(|error| rejects.failed(&error))?;
            }
            if !self.job.options.skip {
                return Err(Failure::Bad(self.file, format!("{place}: {reason} ({})", bad.defect.tip())));
            }
            *self.rejected.entry(bad.defect).or_default() += 1;
        }
        self.places.add(&parsed.runs, self.file, self.lines_of_file);
        self.records += parsed.len();
        self.lines_of_file += parsed.lines;
        self.lines += parsed.lines;
        self.bytes = self.bytes.max(chunk.bytes_read);
        Ok(())
    }

    /// What was read, as a dict.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = PyDict::new(py);
        report.set_item("lines", self.lines)?;
        report.set_item("records_read", self.records)?;
        report.set_item("rejected", self.rejected.values().sum::<u64>())?;
        let reasons = PyDict::new(py);
        for (defect, count) in &self.rejected {
            reasons.set_item(defect.label(), count)?;
        }
        report.set_item("rejected_by_reason", reasons)?;
        report.set_item("bytes_read", self.bytes)?;
        Ok(report)
    }
}

/// A file of lines that are not records.
struct Rejects {
    name: String,
    out: BufWriter<fs::File>,
    /// Whether the input was in another encoding than UTF-8.
    decoded: bool,
}

impl Rejects {
    fn create(job: &Job) -> Result<Option<Rejects>, Failure> {
        let Some(path) = &job.rejects else { return Ok(None) };
        let name = path.to_string_lossy().into_owned();
        let made = fs::File::create(path).map_err(|error| Failure::Input(reading(&name, &error)))?;
        Ok(Some(Rejects { name, out: BufWriter::new(made), decoded: job.decoder.is_some() }))
    }

    fn write(&mut self, place: &str, reason: &str, bad: &Bad) -> io::Result<()> {
        for point in format!("{place}: {reason}: ").chars() {
            if point.is_control() && point != '\t' {
                let mut utf8 = [0; 4];
                for byte in point.encode_utf8(&mut utf8).bytes() {
                    write!(self.out, "\\x{byte:02x}")?;
                }
            } else {
                write!(self.out, "{point}")?;
            }
        }
        if self.decoded {
            self.out.write_all(&restored(&bad.text))?;
        } else {
            self.out.write_all(&bad.text)?;
        }
        self.out.write_all(b"\n")
    }

    fn failed(&self, error: &io::Error) -> Failure {
        Failure::Input(reading(&self.name, error))
    }
}

/// A line as it was before it was decoded: the decoder makes a lone surrogate, U+DC00 and the byte, of a byte that is not
/// valid, and UTF-8 has no surrogates.
fn restored(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, others @ ..] = rest {
        match others {
            [second @ 0xb0..=0xb3, third, others @ ..] if *first == 0xed => {
                bytes.push((second & 3) << 6 | third & 0x3f);
                rest = others;
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    bytes
}

/// The chunks of all files, one after the other.
struct Source {
    job: Arc<Job>,
    /// The number of files that were opened.
    opened: usize,
    current: Option<Chunks>,
    at_start: bool,
    header: Option<Arc<Header>>,
    bytes_read: Arc<AtomicU64>,
    /// The number of the next chunk.
    number: u64,
    ended: bool,
}

impl Source {
    fn new(job: Arc<Job>) -> Source {
        Source {
            job,
            opened: 0,
            current: None,
            at_start: false,
            header: None,
            bytes_read: Arc::default(),
            number: 0,
            ended: false,
        }
    }

    /// Fills a chunk; false if there is no more.
    fn fill(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        let job = self.job.clone();
        loop {
            if self.current.is_none() {
                let Some(file) = job.files.get(self.opened) else { return Ok(false) };
                let from = source::open(&job, file, &self.bytes_read)
                    .map_err(|error| Failure::Input(reading(&file.name, &error)))?;
                self.current = Some(Chunks::new(from, Ends::new(&job.options.format)));
                self.opened += 1;
                self.at_start = true;
            }
            let number = self.opened - 1;
            let name = &job.files[number].name;
            let Some(current) = &mut self.current else { return Ok(false) };
            if !current.fill(chunk).map_err(|error| Failure::Input(reading(name, &error)))? {
                self.current = None;
                continue;
            }
            chunk.file = number;
            chunk.bytes_read = self.bytes_read.load(Ordering::Relaxed);
            if let (Format::Csv(csv), true) = (&job.options.format, self.at_start) {
                let header = Header::take(chunk, name, csv, &job.options).map_err(|text| Failure::Bad(number, text))?;
                self.header = Some(Arc::new(header));
            }
            self.at_start = false;
            chunk.header.clone_from(&self.header);
            return Ok(true);
        }
    }
}

/// A chunk, and what it holds.
#[derive(Default)]
struct Work {
    chunk: Chunk,
    parsed: Parsed,
}

type Numbered = (u64, Result<Box<Work>, Failure>);

/// Takes turns with other threads to fill chunks, and parses them.
fn work(job: &Job, source: &Mutex<Source>, empty: &Mutex<Receiver<Box<Work>>>, done: &Sender<Numbered>) {
    let mut parser = Parser::new(&job.options, job.rejects.is_some());
    loop {
        let next = empty.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut work) = next else { return };
        let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
        if source.ended {
            return;
        }
        let number = source.number;
        let filled = source.fill(&mut work.chunk);
        source.number += 1;
        source.ended = !matches!(filled, Ok(true));
        drop(source);
        let sent = match filled {
            Ok(true) => {
                parser.parse(&work.chunk, &mut work.parsed);
                done.send((number, Ok(work)))
            }
            Ok(false) => return,
            Err(failure) => done.send((number, Err(failure))),
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Reads all records, in the order of the input.
///
/// `told` gets the share of the bytes that was read, if the sizes of the files are known; it is called often, also while
/// there is nothing to read.
fn read(
    job: &Arc<Job>,
    ledger: &mut Ledger<'_>,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
    mut told: impl FnMut(u64, Option<f64>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut rejects = Rejects::create(job)?;
    let total = job.files.iter().try_fold(0, |total, file| Some(total + file.size?)).filter(|&total| total > 0);
    let source = Arc::new(Mutex::new(Source::new(job.clone())));
    let (reuse, empty) = channel();
    let empty = Arc::new(Mutex::new(empty));
    let (done, results) = channel();
    for _ in 0..2 * job.threads + 2 {
        let _ = reuse.send(Box::<Work>::default());
    }
    // They are not joined: one may wait for a pipe that nobody writes to. They end when the channels are gone.
    for i in 0..job.threads {
        let (job, source, empty, done) = (job.clone(), source.clone(), empty.clone(), done.clone());
        let named = std::thread::Builder::new().name(format!("bsdb-input-{i}"));
        named
            .spawn(move || work(&job, &source, &empty, &done))
            .map_err(|error| Failure::Input(format!("cannot start a thread: {error}; give fewer --threads")))?;
    }
    drop((done, empty));
    let mut early = HashMap::new();
    let mut next = 0;
    loop {
        let mut work = match early.remove(&next) {
            Some(work) => work,
            None => match results.recv_timeout(BETWEEN_SIGNALS) {
                Ok((number, work)) if number == next => work,
                Ok((number, work)) => {
                    early.insert(number, work);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {
                    told(ledger.records, None)?;
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            },
        }?;
        next += 1;
        ledger.enter(&work.chunk, &work.parsed, &mut rejects)?;
        if work.parsed.no_memory {
            let name = &job.files[work.chunk.file].name;
            return Err(Failure::Input(format!("{name}: no memory for a line of {} bytes", work.chunk.to)));
        }
        for (key, value) in work.parsed.records() {
            take(key, value)?;
        }
        told(ledger.records, total.map(|total| work.chunk.bytes_read as f64 / total as f64))?;
        if work.chunk.bytes.len() > SIZE {
            *work = Work::default(); // it grew for one long record
        }
        let _ = reuse.send(work);
    }
    ledger.bytes = source.lock().unwrap_or_else(PoisonError::into_inner).bytes_read.load(Ordering::Relaxed);
    match &mut rejects {
        Some(rejects) => rejects.out.flush().map_err(|error| rejects.failed(&error)),
        None => Ok(()),
    }
}

/// Says instead that a compressed file is damaged, if a line of it is bad only for that reason.
fn or_damage(job: &Job, failure: Failure) -> Failure {
    if let Failure::Bad(file, _) = failure {
        let file = &job.files[file];
        if file.size.is_some() && file.compression != Compression::None {
            if let Err(damage) = source::check(job, file) {
                return Failure::Input(reading(&file.name, &damage));
            }
        }
    }
    failure
}

/// Looks for signals.
fn go_on() -> Result<(), Failure> {
    Python::attach(|py| py.check_signals()).map_err(Failure::Python)
}

/// Builds a database of text. `options` are those of `bsdb::BuildOptions`, by name, as text. `told` gets the name of a
/// stage, what is done, and the share of all that it is, if that is known. Returns what was read and built, as a dict.
#[pyfunction]
pub(crate) fn _build_text<'py>(
    given: &Bound<'py, PyAny>,
    path: PathBuf,
    options: HashMap<String, String>,
    told: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = given.py();
    let job = Arc::new(Job::of(given)?);
    let mut ledger = Ledger::new(&job);
    let built = py.detach(|| build(&job, &path, &options, told, &mut ledger));
    let built = built.map_err(|failure| failure.exception(py, &ledger))?;
    let report = ledger.report(py)?;
    report.set_item("path", built.path.to_string_lossy())?;
    report.set_item("id", built.id)?;
    report.set_item("records", built.records)?;
    report.set_item("dropped", built.dropped)?;
    report.set_item("key_bytes", built.key_bytes)?;
    report.set_item("value_bytes", built.value_bytes)?;
    report.set_item("bytes", built.bytes)?;
    report.set_item("dictionary_bytes", built.dictionary_bytes)?;
    report.set_item("warnings", built.warnings)?;
    Ok(report)
}

fn build(
    job: &Arc<Job>,
    path: &Path,
    given: &HashMap<String, String>,
    told: Py<PyAny>,
    ledger: &mut Ledger<'_>,
) -> Result<bsdb::Built, Failure> {
    let mut options = BuildOptions::default();
    for (name, value) in given {
        options.set(name, value).map_err(Failure::Build)?;
    }
    let number = |name: &str| given.get(name).and_then(|value| value.parse().ok()).unwrap_or(0);
    let samples: u64 = if number("dictionary_bytes") > 0 { number("sample_records") } else { 0 };
    let told = Arc::new(Listener { told, raised: Mutex::default() });
    let listener = told.clone();
    let mut builder = Builder::with_progress(path, options, move |progress| {
        // The share of the input that was read tells more of the first stage.
        let share = progress.total.filter(|&total| total > 0).map(|total| progress.done as f64 / total as f64);
        progress.stage == Stage::Records || listener.tell(name(progress.stage), progress.done, share)
    })
    .map_err(Failure::Build)?;
    let added =
        sample::sample(job, samples, |key, value| builder.sample(key, value).map_err(Failure::Build)).and_then(|()| {
            let add = |key: &[u8], value: &[u8]| builder.add(key, value).map_err(Failure::Build);
            read(
                job,
                ledger,
                add,
                |records, share| {
                    if told.tell("records", records, share) {
                        Ok(())
                    } else {
                        Err(told.failure())
                    }
                },
            )
        });
    added.map_err(|failure| or_damage(job, failure))?;
    builder
        .finish()
        .map_err(|error| if matches!(error, bsdb::Error::Stopped) { told.failure() } else { Failure::Build(error) })
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Records => "records",
        Stage::Index => "index",
        Stage::Order => "order",
        _ => "publish",
    }
}

/// A function of Python that is told of progress, and what it or a signal raised.
struct Listener {
    told: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Listener {
    /// Whether to go on.
    fn tell(&self, stage: &str, done: u64, share: Option<f64>) -> bool {
        let told = Python::attach(|py| {
            py.check_signals()?;
            self.told.call1(py, (stage, done, share)).map(drop)
        });
        match told {
            Ok(()) => true,
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                false
            }
        }
    }

    fn failure(&self) -> Failure {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Failure::Build(bsdb::Error::Stopped), Failure::Python)
    }
}

/// For tests: the records of text, and what was read.
#[pyfunction]
pub(crate) fn _read_text<'py>(given: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyDict>)> {
    let py = given.py();
    let job = Arc::new(Job::of(given)?);
    let mut ledger = Ledger::new(&job);
    let mut records: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let take = |key: &[u8], value: &[u8]| {
        records.push((key.to_vec(), value.to_vec()));
        Ok(())
    };
    py.detach(|| read(&job, &mut ledger, take, |_, _| go_on()).map_err(|failure| or_damage(&job, failure)))
        .map_err(|failure| failure.exception(py, &ledger))?;
    Ok((pairs(py, &records)?, ledger.report(py)?))
}

/// For tests: the records that are sampled from text.
#[pyfunction]
pub(crate) fn _sample_text<'py>(given: &Bound<'py, PyAny>, records: u64) -> PyResult<Bound<'py, PyList>> {
    let py = given.py();
    let job = Job::of(given)?;
    let mut sampled: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let take = |key: &[u8], value: &[u8]| {
        sampled.push((key.to_vec(), value.to_vec()));
        Ok(())
    };
    let done = py.detach(|| sample::sample(&job, records, take));
    done.map_err(|failure| failure.exception(py, &Ledger::new(&job)))?;
    pairs(py, &sampled)
}

fn pairs<'py>(py: Python<'py>, records: &[(Vec<u8>, Vec<u8>)]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (key, value) in records {
        list.append((bytes(py, key)?, bytes(py, value)?))?;
    }
    Ok(list)
}
