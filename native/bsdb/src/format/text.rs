//! The lines `name=value` of a manifest (FORMAT.md §6).

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use super::page::SIZE;
use crate::error::{Error, Result};

/// The lines of a manifest, in order.
pub(crate) struct Lines<'a> {
    path: &'a Path,
    lines: Vec<(&'a str, &'a str)>,
}

impl<'a> Lines<'a> {
    /// Splits the text of the manifest at `path`.
    pub(crate) fn parse(path: &'a Path, text: &'a [u8]) -> Result<Self> {
        let wrong = |found: String| Error::damaged(path, SIZE as u64, "lines of the form name=value", found);
        let text = std::str::from_utf8(text).map_err(|e| wrong(e.to_string()))?;
        let Some(body) = text.strip_suffix('\n') else {
            return Err(wrong("a text without a line feed at its end".into()));
        };
        let mut lines = Vec::new();
        for line in body.split('\n') {
            lines.push(line.split_once('=').ok_or_else(|| wrong(format!("{line:?}")))?);
        }
        Ok(Lines { path, lines })
    }

    /// An error about the text.
    pub(crate) fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::damaged(self.path, SIZE as u64, expected, found)
    }

    /// The value of a name that may be absent. A name that repeats is an error.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<&'a str>> {
        let mut values = self.all(name);
        let value = values.next();
        if values.next().is_some() {
            return Err(self.wrong(format!("one line {name}="), "several"));
        }
        Ok(value)
    }

    /// The value of a name that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str> {
        self.optional(name)?.ok_or_else(|| self.wrong(format!("a line {name}="), "none"))
    }

    /// All values of a name, in order.
    pub(crate) fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        self.lines.iter().filter(move |(found, _)| *found == name).map(|(_, value)| *value)
    }

    /// A number that must be there, from `least` to `most`.
    pub(crate) fn number<T>(&self, name: &str, least: T, most: T) -> Result<T>
    where
        T: FromStr + PartialOrd + Display,
    {
        self.in_range(name, self.required(name)?, least, most)
    }

    /// Parses a number of a line `name=`, from `least` to `most`.
    pub(crate) fn in_range<T>(&self, name: &str, text: &str, least: T, most: T) -> Result<T>
    where
        T: FromStr + PartialOrd + Display,
    {
        match text.parse::<T>() {
            Ok(number) if !text.starts_with('+') && number >= least && number <= most => Ok(number),
            _ => Err(self.wrong(format!("{name} from {least} to {most}"), format!("{text:?}"))),
        }
    }

    /// The format, from 1 to `most`; fails if it is another.
    pub(crate) fn format(&self, most: u32) -> Result<u32> {
        let format = self.required("format")?;
        match (format, most) {
            ("1", _) => Ok(1),
            ("2", 2) => Ok(2),
            (_, 1) => Err(self.unsupported("format", format, "1")),
            _ => Err(self.unsupported("format", format, "1 and 2")),
        }
    }

    /// An error about a value that a later version may know.
    pub(crate) fn unsupported(&self, name: &str, found: &str, known: &str) -> Error {
        Error::Unsupported {
            path: self.path.to_owned(),
            reason: format!("{name} is {found:?}; this version of bsdb reads {known}"),
        }
    }
}
