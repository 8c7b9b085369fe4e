//! Typed rows: values in Avro's binary encoding, as columns.

use std::collections::HashSet;

use crate::ffi::{Form, Interval, LogicalType, Output};
use crate::schema::{self, Branch, Choice, Field, Kind, Type, Unit};

/// The type of the rows of a database.
pub struct RowType {
    fields: Vec<Field>,
}

impl RowType {
    /// Reads a stored schema.
    pub fn parse(json: &str) -> Result<Self, String> {
        schema::parse(json).map(|fields| RowType { fields })
    }

    /// The names and types of the columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, LogicalType)> {
        self.fields.iter().map(|field| (&field.name[..], field.kind.logical()))
    }

    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Reads one field of a row; none if it is a list, a map, a record, a union of several types or a duration, or has
    /// nanoseconds. Fails with a reason if the value is no row.
    pub fn field<'a>(&'a self, value: &'a [u8], number: usize) -> Result<Option<Scalar<'a>>, String> {
        let mut reader = RowReader { bytes: value };
        self.fields[..number].iter().try_for_each(|field| reader.skip(&field.kind))?;
        reader.scalar(&self.fields[number].kind)
    }
}

/// A value that is not made of others.
pub enum Scalar<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// The digits and the scale.
    Decimal(i128, u8),
    Date(i32),
    /// In microseconds, as timestamps are.
    Time(i64),
    Timestamp(i64),
    TimestampTz(i64),
    /// As DuckDB stores it.
    Uuid(i128),
}

/// Writes rows to columns.
pub struct RowWriter<'a> {
    /// A field, and the column to which it is written.
    fields: Vec<(&'a Type, Option<Column<'a>>)>,
}

impl<'a> RowWriter<'a> {
    /// `output` gives the column of a field, if it is wanted. Fields behind the last one that is are not read.
    pub fn new(rows: &'a RowType, mut output: impl FnMut(usize, Form) -> Option<Output<'a>>) -> Result<Self, String> {
        let mut fields = Vec::with_capacity(rows.fields.len());
        for (i, field) in rows.fields.iter().enumerate() {
            let column = output(i, field.kind.kind.form());
            fields.push((&field.kind, column.map(|output| Column::new(&field.kind, output)).transpose()?));
        }
        let read = fields.iter().rposition(|(_, column)| column.is_some()).map_or(0, |last| last + 1);
        fields.truncate(read);
        Ok(RowWriter { fields })
    }

    /// Writes a row. Fails with a reason if the value is none.
    pub fn write(&mut self, row: usize, value: &[u8]) -> Result<(), String> {
        let mut reader = RowReader { bytes: value };
        for (kind, column) in &mut self.fields {
            match column {
                Some(column) => column.read(&mut reader, row)?,
                None => reader.skip(kind)?,
            }
        }
        Ok(())
    }

    /// Writes a row that there is not: all its fields are NULL.
    pub fn write_absent(&mut self, row: usize) {
        for (_, column) in &mut self.fields {
            if let Some(column) = column {
                column.set_null(row);
            }
        }
    }

    /// Ends the chunk.
    pub fn finish(&mut self) {
        for (_, column) in &mut self.fields {
            if let Some(column) = column {
                column.finish();
            }
        }
    }
}

/// A column, or a part of one, that is written.
struct Column<'a> {
    kind: &'a Type,
    output: Output<'a>,
    /// The items of a list, the key and the value of a map's entry behind its entries, or the members of a structure.
    children: Vec<Column<'a>>,
    /// Items that have been written.
    items: usize,
}

/// The type of a tag of a union, and of the entries of maps, which are not in the schema.
static TAG: Type = Type { kind: Kind::Boolean, choice: Choice::Always };
static KEY: Type = Type { kind: Kind::Text, choice: Choice::Always };

impl<'a> Column<'a> {
    fn new(kind: &'a Type, output: Output<'a>) -> Result<Self, String> {
        let mut children = Vec::new();
        let room = output.capacity();
        match &kind.kind {
            Kind::List(items) | Kind::Pairs(items) => {
                children.push(Column::new(items, output.items(items.kind.form(), room)?)?);
            }
            Kind::Map(values) => {
                let entries = output.items(Form::Struct, room)?;
                let key = entries.member(0, Form::String);
                let value = entries.member(1, values.kind.form());
                children.push(Column { kind: &TAG, output: entries, children: Vec::new(), items: 0 });
                children[0].children.push(Column::new(&KEY, key)?);
                children[0].children.push(Column::new(values, value)?);
            }
            Kind::Struct(fields) => {
                for (i, field) in fields.iter().enumerate() {
                    children.push(Column::new(&field.kind, output.member(i, field.kind.kind.form()))?);
                }
            }
            Kind::Union(branches) => {
                let tag = output.member(0, Form::Number(1));
                children.push(Column { kind: &TAG, output: tag, children: Vec::new(), items: 0 });
                for (i, kind) in branches.iter().filter_map(|branch| branch.kind.as_ref()).enumerate() {
                    children.push(Column::new(kind, output.member(i + 1, kind.kind.form()))?);
                }
            }
            _ => {}
        }
        Ok(Column { kind, output, children, items: 0 })
    }

    fn set_null(&mut self, row: usize) {
        self.output.set_null(row);
        match self.kind.kind {
            Kind::Struct(_) | Kind::Union(_) => self.children.iter_mut().for_each(|child| child.set_null(row)),
            Kind::List(_) | Kind::Map(_) | Kind::Pairs(_) => self.output.set_list(row, self.items, 0),
            _ => {}
        }
    }

    fn read(&mut self, reader: &mut RowReader<'_>, row: usize) -> Result<(), String> {
        if reader.is_null(self.kind.choice)? {
            self.set_null(row);
            return Ok(());
        }
        let kind: &'a Kind = &self.kind.kind;
        let output = &mut self.output;
        match kind {
            Kind::Null => output.set_null(row),
            Kind::Boolean => output.set(row, u8::from(reader.boolean()?)),
            Kind::Int => output.set(row, reader.int()?),
            Kind::Long => output.set(row, reader.long()?),
            Kind::Float => output.set(row, f32::from_le_bytes(reader.array()?)),
            Kind::Double => output.set(row, f64::from_le_bytes(reader.array()?)),
            Kind::Bytes => output.set_bytes(row, reader.sized()?)?,
            Kind::Fixed(size) => output.set_bytes(row, reader.take(*size)?)?,
            Kind::Text => output.set_bytes(row, reader.text()?.as_bytes())?,
            Kind::Enum(symbols) => {
                let number = reader.int()?;
                let symbol = u32::try_from(number).ok().filter(|number| (*number as usize) < symbols.len());
                let symbol = symbol.ok_or_else(|| format!("it has the symbol {number} of {}", symbols.len()))?;
                match kind.form() {
                    Form::Number(1) => output.set(row, symbol as u8),
                    Form::Number(2) => output.set(row, symbol as u16),
                    _ => output.set(row, symbol),
                }
            }
            Kind::Decimal { size, precision, .. } => {
                let digits = match size {
                    Some(size) => reader.take(*size)?,
                    None => reader.sized()?,
                };
                let number = decimal(digits, *precision)?;
                match kind.form() {
                    Form::Number(2) => output.set(row, number as i16),
                    Form::Number(4) => output.set(row, number as i32),
                    Form::Number(8) => output.set(row, number as i64),
                    _ => output.set(row, number),
                }
            }
            Kind::UuidText => output.set(row, uuid(text_uuid(reader.text()?)?)),
            Kind::UuidFixed => output.set(row, uuid(u128::from_be_bytes(reader.array()?))),
            Kind::Date => output.set(row, date(reader.int()?)?),
            Kind::TimeMillis => output.set(row, time(i64::from(reader.int()?), 1000)? * 1000),
            Kind::TimeMicros => output.set(row, time(reader.long()?, 1_000_000)?),
            Kind::TimeNanos => output.set(row, time(reader.long()?, 1_000_000_000)?),
            Kind::Timestamp { unit, .. } => output.set(row, timestamp(reader.long()?, *unit)?),
            Kind::Duration => output.set(row, duration(reader.take(12)?)?),
            Kind::List(_) => return self.read_list(reader, row),
            Kind::Map(_) | Kind::Pairs(_) => return self.read_map(reader, row),
            Kind::Struct(_) => self.children.iter_mut().try_for_each(|child| child.read(reader, row))?,
            Kind::Union(branches) => return self.read_union(branches, reader, row),
        }
        Ok(())
    }

    /// Makes room for items behind those that have been written.
    fn make_room(&mut self, more: usize) -> Result<(), String> {
        let needed = self.items + more;
        let room = self.children[0].output.capacity();
        if needed > room {
            let room = needed.max(room * 2);
            self.output.find_items(&mut self.children[0].output, room)?;
            self.children[0].find_members();
        }
        Ok(())
    }

    /// Finds the members of a structure again, after it has got more room.
    fn find_members(&mut self) {
        if self.output.form() == Form::Struct {
            for child in &mut self.children {
                self.output.find_member(&mut child.output);
                child.find_members();
            }
        }
    }

    fn read_list(&mut self, reader: &mut RowReader<'_>, row: usize) -> Result<(), String> {
        let first = self.items;
        loop {
            let count = reader.count()?;
            if count == 0 {
                break;
            }
            self.make_room(count)?;
            for item in self.items..self.items + count {
                self.children[0].read(reader, item)?;
            }
            self.items += count;
        }
        self.output.set_list(row, first, self.items - first);
        Ok(())
    }

    fn read_map(&mut self, reader: &mut RowReader<'_>, row: usize) -> Result<(), String> {
        let first = self.items;
        // A map of DuckDB has each key once.
        let mut keys: Vec<&[u8]> = Vec::new();
        loop {
            let count = reader.count()?;
            if count == 0 {
                break;
            }
            self.make_room(count)?;
            for item in self.items..self.items + count {
                let [key, value] = &mut self.children[0].children[..] else {
                    return Err("it has a map without keys and values".into());
                };
                let from = reader.bytes;
                key.read(reader, item)?;
                keys.push(&from[..from.len() - reader.bytes.len()]);
                value.read(reader, item)?;
            }
            self.items += count;
        }
        let is_twice = match keys.len() {
            0..=8 => keys.iter().enumerate().any(|(i, key)| keys[..i].contains(key)),
            count => keys.iter().collect::<HashSet<_>>().len() < count,
        };
        if is_twice {
            return Err("it has a map with a key twice, and DuckDB has no such maps".into());
        }
        self.output.set_list(row, first, self.items - first);
        Ok(())
    }

    fn read_union(&mut self, branches: &[Branch], reader: &mut RowReader<'_>, row: usize) -> Result<(), String> {
        let branch = reader.long()?;
        let number = usize::try_from(branch).ok().filter(|number| *number < branches.len());
        let number =
            number.ok_or_else(|| format!("it has the branch {branch} of a union of {} types", branches.len()))?;
        if branches[number].kind.is_none() {
            self.set_null(row);
            return Ok(());
        }
        let tag = branches[..number].iter().filter(|branch| branch.kind.is_some()).count();
        let (tags, members) = self.children.split_at_mut(1);
        tags[0].output.set(row, tag as u8);
        for (i, member) in members.iter_mut().enumerate() {
            match i == tag {
                true => member.read(reader, row)?,
                false => member.set_null(row),
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        if self.output.form() == Form::List {
            self.output.set_items(self.items);
        }
        self.children.iter_mut().for_each(Column::finish);
    }
}

/// Reads what is left of a row.
struct RowReader<'a> {
    bytes: &'a [u8],
}

impl<'a> RowReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        match self.bytes.split_at_checked(length) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => Err("it ends too early".into()),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        match self.bytes.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(*taken)
            }
            None => Err("it ends too early".into()),
        }
    }

    #[inline]
    fn long(&mut self) -> Result<i64, String> {
        if let Some((&first, rest)) = self.bytes.split_first() {
            if first < 0x80 {
                self.bytes = rest;
                return Ok(i64::from(first >> 1) ^ -i64::from(first & 1));
            }
        }
        self.long_of_several()
    }

    fn long_of_several(&mut self) -> Result<i64, String> {
        let mut word = 0u64;
        for (i, &byte) in self.bytes.iter().enumerate().take(10) {
            if i == 9 && byte > 1 {
                break;
            }
            word |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.bytes = &self.bytes[i + 1..];
                return Ok((word >> 1) as i64 ^ -((word & 1) as i64));
            }
        }
        match self.bytes.len() {
            0..10 => Err("it ends too early".into()),
            _ => Err("it has a number of more than 64 bits".into()),
        }
    }

    fn int(&mut self) -> Result<i32, String> {
        let long = self.long()?;
        i32::try_from(long).map_err(|_| format!("it has the number {long} of more than 32 bits"))
    }

    fn boolean(&mut self) -> Result<bool, String> {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [byte] => Err(format!("it has {byte} for a boolean")),
        }
    }

    /// Bytes with their length before them.
    fn sized(&mut self) -> Result<&'a [u8], String> {
        let length = self.long()?;
        match usize::try_from(length) {
            Ok(length) => self.take(length),
            Err(_) => Err(format!("it has {length} bytes")),
        }
    }

    fn text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.sized()?).map_err(|_| "it has text that is not UTF-8".into())
    }

    /// The number of items of the next block of a list or map.
    fn count(&mut self) -> Result<usize, String> {
        let count = self.long()?;
        if count < 0 {
            self.long()?;
        }
        let count = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        // Each item takes a byte at least, so this is no allocation that the row does not pay for.
        match count <= self.bytes.len() {
            true => Ok(count),
            false => Err("it ends too early".into()),
        }
    }

    /// Reads a value that is not made of others.
    fn scalar(&mut self, kind: &'a Type) -> Result<Option<Scalar<'a>>, String> {
        if self.is_null(kind.choice)? {
            return Ok(Some(Scalar::Null));
        }
        Ok(Some(match &kind.kind {
            Kind::Null => Scalar::Null,
            Kind::Boolean => Scalar::Boolean(self.boolean()?),
            Kind::Int => Scalar::Integer(self.int()?.into()),
            Kind::Long => Scalar::Integer(self.long()?),
            Kind::Float => Scalar::Double(f32::from_le_bytes(self.array()?).into()),
            Kind::Double => Scalar::Double(f64::from_le_bytes(self.array()?)),
            Kind::Bytes => Scalar::Bytes(self.sized()?),
            Kind::Fixed(size) => Scalar::Bytes(self.take(*size)?),
            Kind::Text => Scalar::Text(self.text()?),
            Kind::Enum(symbols) => {
                let number = self.int()?;
                let symbol = usize::try_from(number).ok().and_then(|number| symbols.get(number));
                let symbol = symbol.ok_or_else(|| format!("it has the symbol {number} of {}", symbols.len()))?;
                Scalar::Text(symbol.to_str().map_err(|_| "it has a symbol that is not UTF-8")?)
            }
            Kind::Decimal { size, precision, scale } => {
                let digits = match size {
                    Some(size) => self.take(*size)?,
                    None => self.sized()?,
                };
                Scalar::Decimal(decimal(digits, *precision)?, *scale)
            }
            Kind::UuidText => Scalar::Uuid(uuid(text_uuid(self.text()?)?)),
            Kind::UuidFixed => Scalar::Uuid(uuid(u128::from_be_bytes(self.array()?))),
            Kind::Date => Scalar::Date(date(self.int()?)?),
            Kind::TimeMillis => Scalar::Time(time(i64::from(self.int()?), 1000)? * 1000),
            Kind::TimeMicros => Scalar::Time(time(self.long()?, 1_000_000)?),
            Kind::Timestamp { unit: unit @ (Unit::Millis | Unit::Micros), is_local } => {
                let time = timestamp(self.long()?, *unit)?;
                match is_local {
                    true => Scalar::Timestamp(time),
                    false => Scalar::TimestampTz(time),
                }
            }
            Kind::TimeNanos | Kind::Timestamp { .. } | Kind::Duration => return Ok(None),
            Kind::List(_) | Kind::Map(_) | Kind::Pairs(_) | Kind::Struct(_) | Kind::Union(_) => return Ok(None),
        }))
    }

    fn skip(&mut self, kind: &Type) -> Result<(), String> {
        if self.is_null(kind.choice)? {
            return Ok(());
        }
        match &kind.kind {
            Kind::Null => {}
            Kind::Boolean => drop(self.take(1)?),
            Kind::Float => drop(self.take(4)?),
            Kind::Double => drop(self.take(8)?),
            Kind::Int | Kind::Long | Kind::Enum(_) | Kind::Date | Kind::Timestamp { .. } => drop(self.long()?),
            Kind::TimeMillis | Kind::TimeMicros | Kind::TimeNanos => drop(self.long()?),
            Kind::Bytes | Kind::Text | Kind::UuidText | Kind::Decimal { size: None, .. } => drop(self.sized()?),
            Kind::Fixed(size) | Kind::Decimal { size: Some(size), .. } => drop(self.take(*size)?),
            Kind::UuidFixed => drop(self.take(16)?),
            Kind::Duration => drop(self.take(12)?),
            Kind::List(items) | Kind::Pairs(items) => self.skip_blocks(|reader| reader.skip(items))?,
            Kind::Map(values) => self.skip_blocks(|reader| reader.sized().and_then(|_| reader.skip(values)))?,
            Kind::Struct(fields) => fields.iter().try_for_each(|field| self.skip(&field.kind))?,
            Kind::Union(branches) => {
                let branch = self.long()?;
                let kind = usize::try_from(branch).ok().and_then(|number| branches.get(number));
                let kind =
                    kind.ok_or_else(|| format!("it has the branch {branch} of a union of {} types", branches.len()))?;
                if let Some(kind) = &kind.kind {
                    self.skip(kind)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the branch of a union, if there is one. Whether it is that of NULL.
    #[inline]
    fn is_null(&mut self, choice: Choice) -> Result<bool, String> {
        let (null, value) = match choice {
            Choice::Always => return Ok(false),
            Choice::Single => (-1, 0),
            Choice::Nullable(null) => (null, 1 - null),
        };
        let branch = self.long()?;
        match branch == value || branch == null && null >= 0 {
            true => Ok(branch == null),
            false => Err(format!("it has the branch {branch} of a smaller union")),
        }
    }

    fn skip_blocks(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        loop {
            let count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                self.sized()?;
                continue;
            }
            for _ in 0..count {
                item(self)?;
            }
        }
    }
}

/// The number of a decimal, which is big-endian two's complement.
fn decimal(digits: &[u8], precision: u8) -> Result<i128, String> {
    let wrong = || format!("it has a decimal of more than {precision} digits");
    let is_negative = digits.first().is_some_and(|byte| *byte >= 0x80);
    let fill = if is_negative { 0xff } else { 0 };
    let mut bytes = [fill; 16];
    let excess = digits.len().saturating_sub(16);
    if digits[..excess].iter().any(|byte| *byte != fill) {
        return Err(wrong());
    }
    let kept = &digits[excess..];
    bytes[16 - kept.len()..].copy_from_slice(kept);
    let number = i128::from_be_bytes(bytes);
    if is_negative != (number < 0) || number.unsigned_abs() >= 10u128.pow(u32::from(precision)) {
        return Err(wrong());
    }
    Ok(number)
}

/// A UUID as DuckDB stores it: signed, with its first bit turned over, so that the order of numbers is that of UUIDs.
fn uuid(uuid: u128) -> i128 {
    (uuid ^ 1 << 127) as i128
}

/// The UUID of a canonical text.
fn text_uuid(text: &str) -> Result<u128, String> {
    let wrong = || format!("it has {text:?} for a UUID");
    let mut digits = String::with_capacity(32);
    if text.len() != 36 {
        return Err(wrong());
    }
    for (i, byte) in text.bytes().enumerate() {
        match (i, byte) {
            (8 | 13 | 18 | 23, b'-') => {}
            (8 | 13 | 18 | 23, _) => return Err(wrong()),
            (_, byte) if byte.is_ascii_hexdigit() => digits.push(char::from(byte)),
            _ => return Err(wrong()),
        }
    }
    u128::from_str_radix(&digits, 16).map_err(|_| wrong())
}

/// Days since 1970. DuckDB has dates from 5877642 BC to 5881580 AD, and two numbers for infinity.
fn date(days: i32) -> Result<i32, String> {
    const INFINITE: i32 = i32::MAX;
    match (-INFINITE + 1..INFINITE).contains(&days) {
        true => Ok(days),
        false => Err(format!("it has the date of {days} days since 1970, which DuckDB has not")),
    }
}

/// A time of the day, in units of which a second has so many.
fn time(time: i64, second: i64) -> Result<i64, String> {
    match (0..=86400 * second).contains(&time) {
        true => Ok(time),
        false => Err(format!("it has a time outside the day: {time}")),
    }
}

/// A timestamp in DuckDB's unit, which are microseconds, or nanoseconds if those are the unit. Two numbers are infinity.
fn timestamp(time: i64, unit: Unit) -> Result<i64, String> {
    let scaled = match unit {
        Unit::Millis => time.checked_mul(1000),
        _ => Some(time),
    };
    let scaled = scaled.filter(|time| (-i64::MAX + 1..i64::MAX).contains(time));
    scaled.ok_or_else(|| format!("it has the timestamp {time}, which is outside DuckDB's range"))
}

/// Months, days and milliseconds.
fn duration(bytes: &[u8]) -> Result<Interval, String> {
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let signed = |at: usize, what: &str| {
        i32::try_from(number(at)).map_err(|_| format!("it has a duration of {} {what}, more than DuckDB's", number(at)))
    };
    Ok(Interval { months: signed(0, "months")?, days: signed(4, "days")?, micros: i64::from(number(8)) * 1000 })
}
