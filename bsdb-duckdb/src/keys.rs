//! The keys of lookups, from a column of a query.

use std::fmt::Write;

use crate::ffi::{Chunk, LogicalType, Simple, Value};

/// The type of a column of keys, and how its values become the bytes of keys.
#[derive(Clone, Copy)]
pub enum KeyType {
    Text,
    Bytes,
    Integer,
    Wide,
    Uuid,
    Date,
}

impl KeyType {
    pub const ALL: [KeyType; 6] =
        [KeyType::Text, KeyType::Bytes, KeyType::Integer, KeyType::Wide, KeyType::Uuid, KeyType::Date];

    pub fn logical(self) -> LogicalType {
        match self {
            KeyType::Text => Simple::Varchar,
            KeyType::Bytes => Simple::Blob,
            KeyType::Integer => Simple::Bigint,
            KeyType::Wide => Simple::Hugeint,
            KeyType::Uuid => Simple::Uuid,
            KeyType::Date => Simple::Date,
        }
        .into()
    }
}

/// Text of keys that are not text, kept from chunk to chunk.
#[derive(Default)]
pub struct KeyText(String);

/// The keys of a chunk of rows.
#[derive(Default)]
pub struct Keys<'a> {
    /// Those that are not NULL.
    pub keys: Vec<&'a [u8]>,
    /// Their rows.
    pub rows: Vec<u32>,
}

impl<'a> Keys<'a> {
    /// Reads a column.
    pub fn of(kind: KeyType, chunk: &Chunk<'a>, column: usize, text: &'a mut KeyText) -> Result<Self, String> {
        let count = chunk.rows();
        let mut rows = Vec::with_capacity(count);
        let mut keys = Vec::with_capacity(count);
        if let KeyType::Text | KeyType::Bytes = kind {
            let strings = chunk.strings(column);
            for row in 0..count {
                if let Some(key) = strings.get(row) {
                    keys.push(key);
                    rows.push(row as u32);
                }
            }
            return Ok(Keys { keys, rows });
        }
        let text = &mut text.0;
        text.clear();
        let mut ends = Vec::with_capacity(count);
        match kind {
            KeyType::Text | KeyType::Bytes => {}
            KeyType::Integer => {
                let numbers = chunk.input::<i64>(column);
                write(
                    count,
                    |row| numbers.get(row),
                    text,
                    &mut rows,
                    &mut ends,
                    |text, number| write!(text, "{number}"),
                )?;
            }
            KeyType::Wide => {
                let numbers = chunk.input::<i128>(column);
                write(
                    count,
                    |row| numbers.get(row),
                    text,
                    &mut rows,
                    &mut ends,
                    |text, number| write!(text, "{number}"),
                )?;
            }
            KeyType::Uuid => {
                let uuids = chunk.input::<i128>(column);
                write(
                    count,
                    |row| uuids.get(row),
                    text,
                    &mut rows,
                    &mut ends,
                    |text, uuid| {
                        let uuid = uuid as u128 ^ 1 << 127;
                        let (a, b, c) = (uuid >> 96, uuid >> 80 & 0xffff, uuid >> 64 & 0xffff);
                        let (d, e) = (uuid >> 48 & 0xffff, uuid & 0xffff_ffff_ffff);
                        write!(text, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
                    },
                )?;
            }
            KeyType::Date => {
                let dates = chunk.input::<i32>(column);
                write(count, |row| dates.get(row), text, &mut rows, &mut ends, write_date)?;
            }
        }
        let mut from = 0;
        for end in ends {
            keys.push(&text.as_bytes()[from..end]);
            from = end;
        }
        Ok(Keys { keys, rows })
    }
}

/// The key that a single value stands for.
pub fn key_of(value: &Value) -> Vec<u8> {
    let Some(days) = value.date() else { return value.bytes() };
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_date(&mut text, days);
    text.into_bytes()
}

/// Writes the text of each value that is not NULL.
fn write<T>(
    count: usize,
    value: impl Fn(usize) -> Option<T>,
    text: &mut String,
    rows: &mut Vec<u32>,
    ends: &mut Vec<usize>,
    mut write: impl FnMut(&mut String, T) -> std::fmt::Result,
) -> Result<(), String> {
    for row in 0..count {
        if let Some(value) = value(row) {
            write(text, value).map_err(|_| "a key without a text form")?;
            rows.push(row as u32);
            ends.push(text.len());
        }
    }
    Ok(())
}

/// Writes a date, such as `2024-01-31`; years beyond 9999 or before 0 with a sign and five digits or more.
fn write_date(text: &mut String, days: i32) -> std::fmt::Result {
    match days {
        i32::MAX => return text.write_str("infinity"),
        days if days <= -i32::MAX => return text.write_str("-infinity"),
        _ => {}
    }
    // Of 400 years, which begin on the first of March (Hinnant, chrono-compatible low-level date algorithms).
    let days = i64::from(days) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    match year + 400 * era + next {
        year @ 0..=9999 => write!(text, "{year:04}-{month:02}-{day:02}"),
        year if year > 0 => write!(text, "+{year:05}-{month:02}-{day:02}"),
        year if year > -10_000 => write!(text, "-{:04}-{month:02}-{day:02}", -year),
        year => write!(text, "-{:05}-{month:02}-{day:02}", -year),
    }
}

#[cfg(test)]
mod tests {
    use super::write_date;

    #[test]
    fn writes_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_753, "2024-01-31"),
            (11_016, "2000-02-29"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_897, "+10000-01-01"),
        ] {
            let mut text = String::new();
            write_date(&mut text, days).unwrap();
            assert_eq!(text, expected);
        }
    }
}
