//! Types of columns, and the Avro schema of rows (docs/guides/rows.md).
//!
//! The types of Arrow become those that `bsdb build-parquet` has for a Parquet file of the same table, written by
//! pyarrow: schemas are equal byte by byte.

use std::collections::HashSet;
use std::fmt::Write;

use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};

/// The most lists, maps and structs within each other.
const MAX_DEPTH: usize = 200;

/// A column of rows, a field of a struct, or the items of a list or map.
#[derive(Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}

/// The type of a column. The digits of times are those of a second's fraction: 3, 6 or 9.
#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    Time(u32),
    Timestamp(u32),
    LocalTimestamp(u32),
    String,
    Bytes,
    Fixed(usize),
    Uuid,
    Duration,
    List(Box<Column>),
    Map(Box<Column>),
    /// A map whose keys are not strings.
    Pairs(Box<[Column; 2]>),
    Struct(Vec<Column>),
}

impl Column {
    /// The column for a field of Arrow. Fails with a reason that names the column if rows have no type for it.
    pub(crate) fn of(field: &Field) -> Result<Column, String> {
        column(field, field.name(), field.name(), 0)
    }
}

fn column(field: &Field, name: &str, path: &str, depth: usize) -> Result<Column, String> {
    let extension = field.metadata().get("ARROW:extension:name").map_or("", |name| name.as_ref());
    let kind = match (extension, field.data_type()) {
        ("arrow.uuid", DataType::FixedSizeBinary(16)) => Kind::Uuid,
        ("arrow.parquet.variant" | "parquet.variant", _) => {
            return Err(format!("column {path:?} is a variant, for which rows have no type; write it as JSON text"));
        }
        (_, data_type) => kind(data_type, path, depth)?,
    };
    Ok(Column { name: name.to_owned(), kind, nullable: field.is_nullable() })
}

fn kind(data_type: &DataType, path: &str, depth: usize) -> Result<Kind, String> {
    if depth > MAX_DEPTH {
        let top = path.split('.').next().unwrap_or(path);
        return Err(format!("column {top:?} is nested more than {MAX_DEPTH} levels deep; leave it out"));
    }
    let child = |field: &Field, name: &str| column(field, name, &format!("{path}.{name}"), depth + 1).map(Box::new);
    Ok(match data_type {
        DataType::Null => Kind::Null,
        DataType::Boolean => Kind::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => Kind::Int,
        // Parquet has no durations: their numbers are stored.
        DataType::Int64 | DataType::UInt32 | DataType::Duration(_) => Kind::Long,
        DataType::UInt64 => Kind::Decimal { precision: 20, scale: 0 },
        DataType::Float16 | DataType::Float32 => Kind::Float,
        DataType::Float64 => Kind::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => match u8::try_from(*scale) {
            Ok(scale) if scale <= *precision => Kind::Decimal { precision: *precision, scale },
            _ => {
                let what = "rows have scales from 0 to the precision; cast it";
                return Err(format!("column {path:?} is decimal({precision},{scale}), and {what}"));
            }
        },
        DataType::Date32 | DataType::Date64 => Kind::Date,
        DataType::Time32(unit) | DataType::Time64(unit) => Kind::Time(digits(unit)),
        DataType::Timestamp(unit, Some(_)) => Kind::Timestamp(digits(unit)),
        DataType::Timestamp(unit, None) => Kind::LocalTimestamp(digits(unit)),
        DataType::Interval(IntervalUnit::MonthDayNano) => Kind::Duration,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::String,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Kind::Bytes,
        DataType::FixedSizeBinary(size) if *size > 0 => Kind::Fixed(*size as usize),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => Kind::List(child(item, "element")?),
        DataType::Dictionary(_, value) => kind(value, path, depth)?,
        DataType::Struct(fields) if !fields.is_empty() => Kind::Struct(columns(fields, path, depth + 1)?),
        DataType::Map(entries, _) => {
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(format!("column {path:?} is a map without entries"));
            };
            let [key, value] = &fields[..] else {
                return Err(format!("column {path:?} is a map without keys and values"));
            };
            let mut key = child(key, "key")?;
            let value = child(value, "value")?;
            key.nullable = false;
            if key.kind == Kind::String {
                Kind::Map(value)
            } else {
                Kind::Pairs(Box::new([*key, *value]))
            }
        }
        other => {
            return Err(format!("column {path:?} is {other}, for which rows have no type; cast it or leave it out"))
        }
    })
}

fn columns(fields: &Fields, path: &str, depth: usize) -> Result<Vec<Column>, String> {
    let mut names = HashSet::new();
    let mut columns = Vec::new();
    for field in fields {
        if !names.insert(field.name()) {
            return Err(format!("column {path:?} has two fields {:?}; rename one", field.name()));
        }
        columns.push(column(field, field.name(), &format!("{path}.{}", field.name()), depth)?);
    }
    Ok(columns)
}

/// Seconds are stored as milliseconds, as in Parquet.
fn digits(unit: &TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second | TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// The Avro schema of rows with these columns, as a database stores it.
pub(crate) fn avro(columns: &[&Column]) -> String {
    let mut schema = Schema::default();
    schema.record("row", columns.iter().copied());
    schema.json
}

/// A schema that is written. Types are named after the columns that contain them.
#[derive(Default)]
struct Schema {
    json: String,
    types: HashSet<String>,
}

impl Schema {
    fn record<'a>(&mut self, name: &str, columns: impl Iterator<Item = &'a Column> + Clone) {
        let own = free(cleaned(name), &mut self.types);
        self.put(&format!(r#"{{"type":"record","name":"{own}","fields":["#));
        let mut taken: HashSet<String> =
            columns.clone().filter(|column| is_name(&column.name)).map(|column| column.name.clone()).collect();
        for (i, column) in columns.enumerate() {
            let allowed = is_name(&column.name);
            let field = if allowed { column.name.clone() } else { free(cleaned(&column.name), &mut taken) };
            self.put(if i == 0 { "" } else { "," });
            self.put(&format!(r#"{{"name":"{field}","type":"#));
            self.column(column, name);
            self.put(if column.nullable { r#","default":null"# } else { "" });
            if !allowed {
                self.put(r#","column":"#);
                self.quote(&column.name);
            }
            self.put("}");
        }
        self.put("]}");
    }

    fn column(&mut self, column: &Column, parent: &str) {
        let union = column.nullable && column.kind != Kind::Null;
        self.put(if union { r#"["null","# } else { "" });
        self.kind(&column.kind, &format!("{parent}_{}", column.name));
        self.put(if union { "]" } else { "" });
    }

    fn kind(&mut self, kind: &Kind, name: &str) {
        match kind {
            Kind::Null => self.put(r#""null""#),
            Kind::Boolean => self.put(r#""boolean""#),
            Kind::Int => self.put(r#""int""#),
            Kind::Long => self.put(r#""long""#),
            Kind::Float => self.put(r#""float""#),
            Kind::Double => self.put(r#""double""#),
            Kind::String => self.put(r#""string""#),
            Kind::Bytes => self.put(r#""bytes""#),
            Kind::Decimal { precision, scale } => self
                .put(&format!(r#"{{"type":"bytes","logicalType":"decimal","precision":{precision},"scale":{scale}}}"#)),
            Kind::Date => self.put(r#"{"type":"int","logicalType":"date"}"#),
            Kind::Time(3) => self.put(r#"{"type":"int","logicalType":"time-millis"}"#),
            Kind::Time(digits) => self.time("time", *digits),
            Kind::Timestamp(digits) => self.time("timestamp", *digits),
            Kind::LocalTimestamp(digits) => self.time("local-timestamp", *digits),
            Kind::Fixed(size) => self.fixed(name, *size, ""),
            Kind::Uuid => self.fixed(name, 16, r#","logicalType":"uuid""#),
            Kind::Duration => self.fixed(name, 12, r#","logicalType":"duration""#),
            Kind::List(item) => {
                self.put(r#"{"type":"array","items":"#);
                self.column(item, name);
                self.put("}");
            }
            Kind::Map(value) => {
                self.put(r#"{"type":"map","values":"#);
                self.column(value, name);
                self.put("}");
            }
            Kind::Pairs(pair) => {
                self.put(r#"{"type":"array","items":"#);
                self.record(name, pair.iter());
                self.put(r#","logicalType":"map"}"#);
            }
            Kind::Struct(fields) => self.record(name, fields.iter()),
        }
    }

    fn time(&mut self, name: &str, digits: u32) {
        let unit = match digits {
            3 => "millis",
            6 => "micros",
            _ => "nanos",
        };
        self.put(&format!(r#"{{"type":"long","logicalType":"{name}-{unit}"}}"#));
    }

    fn fixed(&mut self, name: &str, size: usize, logical: &str) {
        let own = free(cleaned(name), &mut self.types);
        self.put(&format!(r#"{{"type":"fixed","name":"{own}","size":{size}{logical}}}"#));
    }

    /// Writes a text in quotes, with the escapes of Java's writer.
    fn quote(&mut self, text: &str) {
        self.json.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.json.extend(['\\', c]),
                '\u{8}' => self.put("\\b"),
                '\u{c}' => self.put("\\f"),
                '\n' => self.put("\\n"),
                '\r' => self.put("\\r"),
                '\t' => self.put("\\t"),
                '\0'..='\x1f' => {
                    // Writing to a string does not fail.
                    let _ = write!(self.json, "\\u{:04X}", u32::from(c));
                }
                _ => self.json.push(c),
            }
        }
        self.json.push('"');
    }

    fn put(&mut self, text: &str) {
        self.json.push_str(text);
    }
}

/// A name that nobody has: the name itself, or with a number.
fn free(name: String, taken: &mut HashSet<String>) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}_{number}");
        number += 1;
    }
    free
}

/// Whether Avro allows a name.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| fits(first) && !first.is_ascii_digit()) && name.chars().all(fits)
}

/// A name that Avro allows.
fn cleaned(name: &str) -> String {
    let clean: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    match clean.chars().next() {
        Some(first) if !first.is_ascii_digit() => clean,
        _ => format!("_{clean}"),
    }
}

fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
