//! CSV (RFC 4180) with a header.
//!
//! A quote opens a quoted field only as the field's first byte; elsewhere in a field without quotes it is data. A record
//! ends at a line feed outside quotes, with or without a carriage return before it. After an error the record extends
//! to the end of its line.

use memchr::{memchr, memchr3};

use super::chunk::Chunk;
use super::defect::Defect;
use super::json;
use super::options::{Csv, Options};

/// Finds the ends of records, piece by piece.
pub(super) struct Ends {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    AfterQuote,
    CarriageReturn,
    Mistake,
}

impl Ends {
    pub(super) fn new(delimiter: u8) -> Ends {
        Ends { delimiter, state: State::FieldStart }
    }

    /// The end of the first record that ends in the next piece, which is seen up to there.
    pub(super) fn first(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = &piece[at..];
            at += match self.state {
                State::Plain => memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len()),
                State::Quoted => memchr(b'"', rest).unwrap_or(rest.len()),
                _ => 0,
            };
            let next = *piece.get(at)?;
            at += 1;
            if next == b'\n' && self.state != State::Quoted {
                self.state = State::FieldStart;
                return Some(at);
            }
            self.state = self.after(next);
        }
    }

    fn after(&self, next: u8) -> State {
        match self.state {
            State::FieldStart if next == b'"' => State::Quoted,
            State::FieldStart | State::Plain => self.after_field(next, State::Plain),
            State::Quoted if next == b'"' => State::AfterQuote,
            State::Quoted => State::Quoted,
            State::AfterQuote if next == b'"' => State::Quoted,
            State::AfterQuote => self.after_field(next, State::Mistake),
            State::CarriageReturn | State::Mistake => State::Mistake,
        }
    }

    fn after_field(&self, next: u8, otherwise: State) -> State {
        if next == self.delimiter {
            State::FieldStart
        } else if next == b'\r' {
            State::CarriageReturn
        } else {
            otherwise
        }
    }
}

/// Reads records.
pub(super) struct Scanner {
    delimiter: u8,
    /// Where each field is, and whether in `unquoted`.
    fields: Vec<(usize, usize, bool)>,
    /// The fields that have quotes in quotes.
    unquoted: Vec<u8>,
    /// The lines of the record.
    pub(super) lines: u64,
    /// The end of the record without its line end.
    pub(super) text_end: usize,
    start: usize,
    defect: Option<Defect>,
}

impl Scanner {
    pub(super) fn new(delimiter: u8) -> Scanner {
        Scanner { delimiter, fields: Vec::new(), unquoted: Vec::new(), lines: 0, text_end: 0, start: 0, defect: None }
    }

    /// Reads the record that begins at `from`; returns where the next one begins.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> usize {
        (self.start, self.lines, self.defect) = (from, 1, None);
        self.fields.clear();
        self.unquoted.clear();
        let mut end = self.field(bytes, from);
        while end < bytes.len() && bytes[end] == self.delimiter && self.defect.is_none() {
            end = self.field(bytes, end + 1);
        }
        let next = if end < bytes.len() { self.record_end(bytes, end) } else { bytes.len() };
        self.text_end = match &bytes[from..next] {
            [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => from + text.len(),
            text => from + text.len(),
        };
        next
    }

    /// Reads a field; returns its end.
    fn field(&mut self, bytes: &[u8], from: usize) -> usize {
        if bytes.get(from) == Some(&b'"') {
            return self.quoted(bytes, from + 1);
        }
        let ends = |&byte: &u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        let end = bytes[from..].iter().position(ends).map_or(bytes.len(), |length| from + length);
        self.fields.push((from, end, false));
        end
    }

    fn quoted(&mut self, bytes: &[u8], from: usize) -> usize {
        let first = self.unquoted.len();
        let (mut rest, mut at) = (from, from);
        while let Some(quote) = memchr(b'"', &bytes[at..]).map(|quote| at + quote) {
            if bytes.get(quote + 1) != Some(&b'"') {
                self.lines += memchr::memchr_iter(b'\n', &bytes[from..quote]).count() as u64;
                if rest == from {
                    self.fields.push((from, quote, false));
                } else {
                    self.unquoted.extend_from_slice(&bytes[rest..quote]);
                    self.fields.push((first, self.unquoted.len(), true));
                }
                return quote + 1;
            }
            self.unquoted.extend_from_slice(&bytes[rest..=quote]);
            rest = quote + 2;
            at = rest;
        }
        self.defect = Some(Defect::UnclosedQuote);
        self.lines += memchr::memchr_iter(b'\n', &bytes[from..]).count() as u64;
        self.lines -= u64::from(bytes.last() == Some(&b'\n')); // after it no line begins
        bytes.len()
    }

    /// The end of a record after a field that no delimiter follows.
    fn record_end(&mut self, bytes: &[u8], at: usize) -> usize {
        match &bytes[at..] {
            [b'\n', ..] => at + 1,
            [b'\r', b'\n', ..] => at + 2,
            rest => {
                let lone = rest[0] == b'\r';
                self.defect = Some(if lone { Defect::LoneCarriageReturn } else { Defect::TextAfterQuote });
                memchr(b'\n', &rest[1..]).map_or(bytes.len(), |feed| at + 1 + feed + 1)
            }
        }
    }

    /// What is wrong with the record. `valid` says whether it is known to be UTF-8.
    pub(super) fn defect(&self, bytes: &[u8], valid: bool) -> Option<Defect> {
        if self.defect.is_some() {
            return self.defect;
        }
        let text = &bytes[self.start..self.text_end];
        if text.is_empty() {
            return Some(Defect::EmptyLine);
        }
        (!valid && std::str::from_utf8(text).is_err()).then_some(Defect::InvalidEncoding)
    }

    /// The number of fields of the record.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field of the record.
    pub(super) fn get<'a>(&'a self, bytes: &'a [u8], field: usize) -> &'a [u8] {
        let (from, to, unquoted) = self.fields[field];
        if unquoted {
            &self.unquoted[from..to]
        } else {
            &bytes[from..to]
        }
    }
}

/// The columns of a file.
pub(super) struct Header {
    pub(super) columns: usize,
    pub(super) key: usize,
    pub(super) values: Vec<usize>,
    /// The names of the value columns as they come before the values in an object: quoted, with a colon.
    names: Vec<Vec<u8>>,
}

impl Header {
    /// Takes the header from a file's first chunk, which then begins behind it.
    pub(super) fn take(chunk: &mut Chunk, file: &str, csv: &Csv, options: &Options) -> Result<Header, String> {
        let bytes = &chunk.bytes[..chunk.to];
        let mut scanner = Scanner::new(csv.delimiter);
        let end = scanner.next(bytes, 0);
        let too_long = chunk.too_long.then_some(Defect::LineTooLong);
        if let Some(defect) = too_long.or_else(|| scanner.defect(bytes, false)) {
            return Err(format!("{file}:1: {}, in place of a CSV header", defect.message(options)));
        }
        let text = |field| String::from_utf8_lossy(scanner.get(bytes, field)).into_owned();
        let names: Vec<String> = (0..scanner.len()).map(text).collect();
        chunk.lines = scanner.lines;
        chunk.from = end;
        Header::of(&names, file, csv)
    }

    fn of(names: &[String], file: &str, csv: &Csv) -> Result<Header, String> {
        let key = csv.key.as_ref().map_or(Ok(0), |key| index(key, names, file))?;
        let mut values = csv.values.iter().map(|value| index(value, names, file)).collect::<Result<Vec<_>, _>>()?;
        if values.is_empty() {
            values = (0..names.len()).filter(|&column| column != key).collect();
        }
        if values.is_empty() {
            let columns = show(names);
            return Err(format!("{file}: no column for the value besides the key {columns}; is the delimiter right?"));
        }
        if values.len() > 1 && !csv.delimited {
            let twice = |&&value: &&usize| values.iter().filter(|&&other| names[other] == names[value]).count() > 1;
            if let Some(&value) = values.iter().find(twice) {
                return Err(fault(file, &format!("column \"{}\" comes twice in the value", names[value]), names));
            }
        }
        let quoted = |&value: &usize| {
            let mut name = Vec::new();
            json::quote(names[value].as_bytes(), &mut name);
            name.push(b':');
            name
        };
        Ok(Header { columns: names.len(), key, names: values.iter().map(quoted).collect(), values })
    }

    /// Adds the value of a record to `value`: an object of strings, or a line of CSV.
    pub(super) fn combine(&self, csv: &Csv, row: &Scanner, bytes: &[u8], value: &mut Vec<u8>) {
        if !csv.delimited {
            for (i, (&column, name)) in self.values.iter().zip(&self.names).enumerate() {
                value.push(if i == 0 { b'{' } else { b',' });
                value.extend_from_slice(name);
                json::quote(row.get(bytes, column), value);
            }
            value.push(b'}');
            return;
        }
        for (i, &column) in self.values.iter().enumerate() {
            if i > 0 {
                value.push(csv.delimiter);
            }
            let field = row.get(bytes, column);
            if !field.iter().any(|byte| matches!(byte, b'"' | b'\n' | b'\r') || *byte == csv.delimiter) {
                value.extend_from_slice(field);
                continue;
            }
            value.push(b'"');
            for &byte in field {
                if byte == b'"' {
                    value.push(b'"');
                }
                value.push(byte);
            }
            value.push(b'"');
        }
    }
}

/// The column that a name or else a number from 1 stands for.
fn index(column: &str, names: &[String], file: &str) -> Result<usize, String> {
    if let Some(index) = names.iter().position(|name| name == column) {
        if names.iter().filter(|name| *name == column).count() > 1 {
            return Err(fault(file, &format!("more than one column \"{column}\"; name it by its number"), names));
        }
        return Ok(index);
    }
    let digits = (1..=9).contains(&column.len()) && column.bytes().all(|byte| byte.is_ascii_digit());
    match column.parse::<usize>() {
        Ok(number) if digits && (1..=names.len()).contains(&number) => Ok(number - 1),
        _ => Err(fault(file, &format!("no column \"{column}\""), names)),
    }
}

fn fault(file: &str, problem: &str, names: &[String]) -> String {
    format!("{file}: {problem}; the columns are {}", show(names))
}

fn show(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().enumerate().map(|(i, name)| format!("{} \"{name}\"", i + 1)).collect();
    shown.join(", ")
}
