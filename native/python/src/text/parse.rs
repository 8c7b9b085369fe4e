//! Records of a chunk.

use memchr::{memchr, memmem};

use super::chunk::Chunk;
use super::csv::{Header, Scanner};
use super::defect::Defect;
use super::json;
use super::options::{Csv, Encoding, Format, Options};
use super::places::Runs;

/// What was found in consecutive lines of a file.
#[derive(Default)]
pub(super) struct Parsed {
    /// The keys and values, one after the other.
    bytes: Vec<u8>,
    /// The lengths of each key and value.
    lengths: Vec<(u32, u32)>,
    /// The lines of the records.
    pub(super) runs: Runs,
    /// The lines that are not records.
    pub(super) bad: Vec<Bad>,
    /// The number of lines.
    pub(super) lines: u64,
    /// Whether there was no memory for a record.
    pub(super) no_memory: bool,
}

/// A line that is not a record.
pub(super) struct Bad {
    pub(super) defect: Defect,
    /// Its number in the chunk, from 0; that of the first of several lines.
    pub(super) line: u64,
    pub(super) text: Vec<u8>,
}

impl Parsed {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
        self.runs.clear();
        self.bad.clear();
        self.lines = 0;
        self.no_memory = false;
    }

    /// The number of records.
    pub(super) fn len(&self) -> u64 {
        self.lengths.len() as u64
    }

    /// The records.
    pub(super) fn records(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut at = 0;
        self.lengths.iter().map(move |&(key, value)| {
            let middle = at + key as usize;
            let from = std::mem::replace(&mut at, middle + value as usize);
            (&self.bytes[from..middle], &self.bytes[middle..at])
        })
    }
}

/// Parses chunks, for one thread.
pub(super) struct Parser<'a> {
    options: &'a Options,
    /// Whether the first bad line ends the reading.
    stops: bool,
    /// Whether the text of bad lines is kept.
    keeps: bool,
    separator: memmem::Finder<'a>,
    row: Scanner,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(options: &'a Options, keeps: bool) -> Self {
        let (separator, delimiter): (&[u8], u8) = match &options.format {
            Format::Text { separator } => (separator, 0),
            Format::Csv(csv) => (b"", csv.delimiter),
            Format::Json { .. } => (b"", 0),
        };
        Parser {
            options,
            stops: !options.skip,
            keeps,
            separator: memmem::Finder::new(separator),
            row: Scanner::new(delimiter),
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// A parser that leaves out bad lines whatever the options.
    pub(super) fn skipping(options: &'a Options) -> Self {
        Parser { stops: false, ..Parser::new(options, false) }
    }

    /// Parses a chunk. If bad lines end the reading, only up to the first one.
    pub(super) fn parse(&mut self, chunk: &Chunk, to: &mut Parsed) {
        to.clear();
        let bytes = &chunk.bytes[..chunk.to];
        if chunk.too_long {
            self.bad(Defect::LineTooLong, 0, &bytes[chunk.from..], to);
            to.lines = chunk.lines;
            return;
        }
        // Records take no more room than their text, unless they are made of fields.
        if to.bytes.try_reserve(chunk.text().len()).is_err() {
            to.no_memory = true;
            return;
        }
        let valid = std::str::from_utf8(chunk.text()).is_ok();
        match (&self.options.format, &chunk.header) {
            (Format::Csv(csv), Some(header)) => self.rows(csv, header, bytes, chunk, valid, to),
            _ => self.lines(bytes, chunk, valid, to),
        }
    }

    fn lines(&mut self, bytes: &[u8], chunk: &Chunk, valid: bool, to: &mut Parsed) {
        let (mut at, mut line) = (chunk.from, chunk.lines);
        while at < bytes.len() {
            let rest = &bytes[at..];
            let feed = memchr(b'\n', rest);
            let text = match &rest[..feed.unwrap_or(rest.len())] {
                [text @ .., b'\r'] if feed.is_some() => text,
                text => text,
            };
            match self.line(text, valid, to) {
                Ok(()) => to.runs.good(line),
                Err(defect) => {
                    self.bad(defect, line, text, to);
                    if self.stops {
                        return;
                    }
                }
            }
            line += 1;
            at += feed.map_or(rest.len(), |feed| feed + 1);
        }
        to.lines = line;
    }

    fn line(&mut self, text: &[u8], valid: bool, to: &mut Parsed) -> Result<(), Defect> {
        if text.is_empty() {
            return Err(Defect::EmptyLine);
        }
        if !valid && std::str::from_utf8(text).is_err() {
            return Err(Defect::InvalidEncoding);
        }
        if let Format::Json { key_field } = &self.options.format {
            json::key_of(text, key_field, &mut self.key)?;
            return admit(self.options, &self.key, text, to);
        }
        let separator = self.separator.needle();
        let found = match separator {
            [byte] => memchr(*byte, text),
            _ => self.separator.find(text),
        };
        let at = found.ok_or(Defect::NoSeparator)?;
        let length = separator.len();
        admit(self.options, &text[..at], &text[at + length..], to)
    }

    fn rows(&mut self, csv: &Csv, header: &Header, bytes: &[u8], chunk: &Chunk, valid: bool, to: &mut Parsed) {
        let (mut at, mut line) = (chunk.from, chunk.lines);
        while at < bytes.len() {
            let next = self.row.next(bytes, at);
            let admitted = match self.row.defect(bytes, valid) {
                Some(defect) => Err(defect),
                None => self.row(csv, header, bytes, to),
            };
            match admitted {
                Ok(()) => to.runs.good(line),
                Err(defect) => {
                    self.bad(defect, line, &bytes[at..self.row.text_end], to);
                    if self.stops {
                        return;
                    }
                }
            }
            line += self.row.lines;
            at = next;
        }
        to.lines = line;
    }

    fn row(&mut self, csv: &Csv, header: &Header, bytes: &[u8], to: &mut Parsed) -> Result<(), Defect> {
        match self.row.len().cmp(&header.columns) {
            std::cmp::Ordering::Less => return Err(Defect::TooFewColumns),
            std::cmp::Ordering::Greater => return Err(Defect::TooManyColumns),
            std::cmp::Ordering::Equal => {}
        }
        let key = self.row.get(bytes, header.key);
        if let [value] = header.values[..] {
            return admit(self.options, key, self.row.get(bytes, value), to);
        }
        self.value.clear();
        header.combine(csv, &self.row, bytes, &mut self.value);
        admit(self.options, key, &self.value, to)
    }

    fn bad(&self, defect: Defect, line: u64, text: &[u8], to: &mut Parsed) {
        let text = if self.keeps { text.to_vec() } else { Vec::new() };
        to.bad.push(Bad { defect, line, text });
    }
}

/// The last check of a record: decodes it, checks its lengths, and adds it.
fn admit(options: &Options, key: &[u8], value: &[u8], to: &mut Parsed) -> Result<(), Defect> {
    if to.bytes.try_reserve(key.len() + value.len()).is_err() {
        to.no_memory = true;
        return Ok(());
    }
    let start = to.bytes.len();
    let decoded = decode(options.key, key, Defect::KeyNotInEncoding, &mut to.bytes).and_then(|()| {
        let middle = to.bytes.len();
        decode(options.value, value, Defect::ValueNotInEncoding, &mut to.bytes)?;
        let (key, value) = (middle - start, to.bytes.len() - middle);
        if key == 0 && !options.allow_empty_key {
            return Err(Defect::EmptyKey);
        }
        Defect::of_lengths(key, value).map_or(Ok((key as u32, value as u32)), Err)
    });
    match decoded {
        Ok(lengths) => {
            to.lengths.push(lengths);
            Ok(())
        }
        Err(defect) => {
            to.bytes.truncate(start);
            Err(defect)
        }
    }
}

fn decode(encoding: Encoding, text: &[u8], otherwise: Defect, to: &mut Vec<u8>) -> Result<(), Defect> {
    if encoding.decode(text, to) {
        Ok(())
    } else {
        Err(otherwise)
    }
}
