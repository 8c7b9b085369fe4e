//! The types of rows, from the Avro schema that a database stores.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use serde_json::{Map, Value};

use crate::ffi::{has_nanosecond_types, name, Form, LogicalType, Simple};

/// The most types in a schema, with those of named types counted wherever they are used.
const MAX_TYPES: usize = 1 << 16;

/// The most types within each other.
const MAX_DEPTH: usize = 128;

/// The most digits of DuckDB's decimals.
const MAX_DIGITS: u64 = 38;

/// The most members of DuckDB's unions.
const MAX_MEMBERS: usize = 256;

/// A type, and the union in which it is, if that has no other types.
pub struct Type {
    pub kind: Kind,
    pub choice: Choice,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// No union.
    Always,
    /// A union of this type alone.
    Single,
    /// A union of this type and of NULL, which is the branch of this number.
    Nullable(i64),
}

/// A type without NULL.
pub enum Kind {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Vec<CString>),
    /// Two's complement, of a size or with its length before it.
    Decimal {
        size: Option<usize>,
        precision: u8,
        scale: u8,
    },
    UuidText,
    UuidFixed,
    Date,
    TimeMillis,
    TimeMicros,
    TimeNanos,
    Timestamp {
        unit: Unit,
        is_local: bool,
    },
    Duration,
    List(Box<Type>),
    /// A map whose keys are text.
    Map(Box<Type>),
    /// A list of records of a key and a value, which is a map.
    Pairs(Box<Type>),
    Struct(Vec<Field>),
    /// By the number of a branch. The one that stands for NULL has no member.
    Union(Vec<Branch>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Millis,
    Micros,
    Nanos,
}

pub struct Field {
    pub name: String,
    pub kind: Type,
}

pub struct Branch {
    pub name: CString,
    /// None for NULL.
    pub kind: Option<Type>,
}

impl Type {
    /// DuckDB's type.
    pub fn logical(&self) -> LogicalType {
        self.kind.logical()
    }
}

impl Kind {
    fn logical(&self) -> LogicalType {
        match self {
            Kind::Null => Simple::Null.into(),
            Kind::Boolean => Simple::Boolean.into(),
            Kind::Int => Simple::Integer.into(),
            Kind::Long => Simple::Bigint.into(),
            Kind::Float => Simple::Float.into(),
            Kind::Double => Simple::Double.into(),
            Kind::Bytes | Kind::Fixed(_) => Simple::Blob.into(),
            Kind::Text => Simple::Varchar.into(),
            Kind::Enum(symbols) => LogicalType::enumeration(symbols),
            Kind::Decimal { precision, scale, .. } => LogicalType::decimal(*precision, *scale),
            Kind::UuidText | Kind::UuidFixed => Simple::Uuid.into(),
            Kind::Date => Simple::Date.into(),
            Kind::TimeMillis | Kind::TimeMicros => Simple::Time.into(),
            Kind::TimeNanos if has_nanosecond_types() => Simple::TimeNanos.into(),
            Kind::TimeNanos => Simple::Bigint.into(),
            Kind::Timestamp { unit: Unit::Nanos, is_local: false } if has_nanosecond_types() => {
                Simple::TimestampTzNanos.into()
            }
            Kind::Timestamp { unit: Unit::Nanos, .. } => Simple::TimestampNanos.into(),
            Kind::Timestamp { is_local: false, .. } => Simple::TimestampTz.into(),
            Kind::Timestamp { .. } => Simple::Timestamp.into(),
            Kind::Duration => Simple::Interval.into(),
            Kind::List(items) => LogicalType::list(&items.logical()),
            Kind::Map(values) => LogicalType::map(&Simple::Varchar.into(), &values.logical()),
            Kind::Pairs(pair) => match pair.fields() {
                [key, value] => LogicalType::map(&key.kind.logical(), &value.kind.logical()),
                _ => unreachable!("a pair has a key and a value"),
            },
            Kind::Struct(fields) => {
                let members: Vec<_> = fields.iter().map(|field| (name(&field.name), field.kind.logical())).collect();
                LogicalType::structure(&members)
            }
            Kind::Union(branches) => {
                let members = branches.iter().filter_map(|branch| Some((branch.name.clone(), branch.kind.as_ref()?)));
                LogicalType::union(&members.map(|(name, kind)| (name, kind.logical())).collect::<Vec<_>>())
            }
        }
    }

    /// How values lie in DuckDB's memory.
    pub fn form(&self) -> Form {
        match self {
            Kind::Null => Form::Null,
            Kind::Boolean => Form::Number(1),
            Kind::Int | Kind::Float | Kind::Date => Form::Number(4),
            Kind::Long | Kind::Double | Kind::TimeMillis | Kind::TimeMicros | Kind::TimeNanos => Form::Number(8),
            Kind::Timestamp { .. } => Form::Number(8),
            Kind::UuidText | Kind::UuidFixed | Kind::Duration => Form::Number(16),
            Kind::Bytes | Kind::Fixed(_) | Kind::Text => Form::String,
            Kind::Enum(symbols) => Form::Number(match symbols.len() {
                0..=0xff => 1,
                0x100..=0xffff => 2,
                _ => 4,
            }),
            Kind::Decimal { precision, .. } => Form::Number(match precision {
                0..=4 => 2,
                5..=9 => 4,
                10..=18 => 8,
                _ => 16,
            }),
            Kind::List(_) | Kind::Map(_) | Kind::Pairs(_) => Form::List,
            Kind::Struct(_) | Kind::Union(_) => Form::Struct,
        }
    }
}

impl Type {
    /// Avro's name for the type, for messages.
    pub fn describe(&self) -> String {
        let name = match &self.kind {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Int => "an int",
            Kind::Long => "a long",
            Kind::Float => "a float",
            Kind::Double => "a double",
            Kind::Bytes => "bytes",
            Kind::Text => "a string",
            Kind::Fixed(_) => "a fixed",
            Kind::Enum(_) => "an enum",
            Kind::Decimal { precision, scale, .. } => return format!("a decimal({precision},{scale})"),
            Kind::UuidText | Kind::UuidFixed => "a uuid",
            Kind::Date => "a date",
            Kind::TimeMillis | Kind::TimeMicros | Kind::TimeNanos => "a time",
            Kind::Timestamp { is_local: false, .. } => "a timestamp",
            Kind::Timestamp { .. } => "a local timestamp",
            Kind::Duration => "a duration",
            Kind::List(_) => "an array",
            Kind::Map(_) | Kind::Pairs(_) => "a map",
            Kind::Struct(_) => "a record",
            Kind::Union(_) => "a union",
        };
        name.into()
    }

    /// The fields of a record.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            Kind::Struct(fields) => fields,
            _ => &[],
        }
    }
}

/// Reads a stored schema, which is that of a record. Fails with a reason that names the column if DuckDB has no type for it.
pub fn parse(json: &str) -> Result<Vec<Field>, String> {
    let parsed: Value = serde_json::from_str(json).map_err(|e| format!("the schema is not JSON: {e}"))?;
    match Reader::default().schema(&parsed, "", &mut Vec::new())? {
        Type { kind: Kind::Struct(fields), choice: Choice::Always } => Ok(fields),
        _ => Err("the schema is not that of a record".into()),
    }
}

/// Named types that are known, and how many types there were.
#[derive(Default)]
struct Reader<'a> {
    named: HashMap<String, (&'a Value, String)>,
    /// Names of the types in which the reader is.
    within: Vec<String>,
    types: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// `space` is the namespace, `path` the names of the columns above.
    fn schema(&mut self, schema: &'a Value, space: &str, path: &mut Vec<String>) -> Result<Type, String> {
        self.types += 1;
        if self.types > MAX_TYPES {
            return Err(format!("the schema has more than {MAX_TYPES} types"));
        }
        if self.depth == MAX_DEPTH {
            return Err(format!("the schema has more than {MAX_DEPTH} types within each other"));
        }
        self.depth += 1;
        let result = match schema {
            Value::String(name) => self.by_name(name, space, path),
            Value::Array(branches) => self.union(branches, space, path),
            Value::Object(object) => match object.get("type") {
                Some(Value::String(kind)) => self.object(kind, object, schema, space, path),
                Some(inner) => self.schema(inner, space, path),
                None => Err(at(path, "a type without a kind")),
            },
            _ => Err(at(path, "not a type of Avro")),
        };
        self.depth -= 1;
        result
    }

    fn by_name(&mut self, name: &str, space: &str, path: &mut Vec<String>) -> Result<Type, String> {
        if let Some(kind) = primitive(name, "") {
            return Ok(plain(kind));
        }
        let full = full_name(name, None, space);
        let key = if self.named.contains_key(&full) { full } else { name.to_owned() };
        let Some((schema, space)) = self.named.get(&key).cloned() else {
            return Err(at(path, &format!("the type {name:?} is not defined")));
        };
        if self.within.contains(&key) {
            return Err(at(path, &format!("the record {name:?} contains itself, and DuckDB has no such type")));
        }
        self.schema(schema, &space, path)
    }

    fn union(&mut self, branches: &'a [Value], space: &str, path: &mut Vec<String>) -> Result<Type, String> {
        let mut read = Vec::new();
        let mut names = HashSet::new();
        for branch in branches {
            let kind = self.schema(branch, space, path)?;
            let (base, mut name) = (branch_name(branch), branch_name(branch));
            while !names.insert(name.to_lowercase()) {
                name = format!("{base}_{}", names.len());
            }
            let is_null = matches!(kind, Type { kind: Kind::Null, choice: Choice::Always });
            read.push(Branch { name: crate::ffi::name(&name), kind: (!is_null).then_some(kind) });
        }
        let nulls = read.iter().filter(|branch| branch.kind.is_none()).count();
        let choice = match (read.len(), nulls) {
            (0, _) => return Err(at(path, "a union without types")),
            (1, 1) => return Ok(Type { kind: Kind::Null, choice: Choice::Single }),
            (1, _) => Choice::Single,
            (2, 1) => Choice::Nullable(i64::from(read[1].kind.is_none())),
            (count, _) if count > MAX_MEMBERS => {
                let what = format!("a union of {count} types, and those of DuckDB have at most {MAX_MEMBERS}");
                return Err(at(path, &what));
            }
            _ => return Ok(plain(Kind::Union(read))),
        };
        match read.into_iter().find_map(|branch| branch.kind) {
            Some(Type { kind, choice: Choice::Always }) => Ok(Type { kind, choice }),
            _ => Err(at(path, "a union within a union")),
        }
    }

    fn object(
        &mut self,
        kind: &str,
        object: &'a Map<String, Value>,
        schema: &'a Value,
        space: &str,
        path: &mut Vec<String>,
    ) -> Result<Type, String> {
        let logical = object.get("logicalType").and_then(Value::as_str).unwrap_or_default();
        let child = |name: &str| object.get(name).ok_or_else(|| at(path, &format!("{kind} without {name}")));
        match kind {
            "array" => {
                let items = self.schema(child("items")?, space, path)?;
                if takes_no_bytes(&items) {
                    return Err(at(path, "a list of items without content, which cannot be read safely"));
                }
                let kind = if logical == "map" && is_pair(&items) { Kind::Pairs } else { Kind::List };
                Ok(plain(kind(Box::new(items))))
            }
            "map" => Ok(plain(Kind::Map(Box::new(self.schema(child("values")?, space, path)?)))),
            "record" | "enum" | "fixed" => {
                let name = child("name")?.as_str().ok_or_else(|| at(path, "a name that is not text"))?;
                let own = object.get("namespace").and_then(Value::as_str);
                let full = full_name(name, own, space);
                self.named.insert(full.clone(), (schema, space.to_owned()));
                let space = full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
                if kind == "record" {
                    let fields = child("fields")?.as_array().ok_or_else(|| at(path, "fields that are not a list"))?;
                    self.within.push(full);
                    let record = self.record(fields, &space, path);
                    self.within.pop();
                    record
                } else if kind == "enum" {
                    let symbols =
                        child("symbols")?.as_array().ok_or_else(|| at(path, "symbols that are not a list"))?;
                    let symbols: Vec<CString> =
                        symbols.iter().filter_map(Value::as_str).map(crate::ffi::name).collect();
                    match symbols.is_empty() {
                        true => Err(at(path, "an enum without symbols, which DuckDB has not")),
                        false => Ok(plain(Kind::Enum(symbols))),
                    }
                } else {
                    let size = child("size")?.as_u64().and_then(|size| usize::try_from(size).ok());
                    fixed(size.ok_or_else(|| at(path, "a size that is not a number"))?, logical, object, path)
                }
            }
            "bytes" if logical == "decimal" => Ok(plain(decimal(None, object, path)?.unwrap_or(Kind::Bytes))),
            _ => match primitive(kind, logical) {
                Some(kind) => Ok(plain(kind)),
                None => self.by_name(kind, space, path),
            },
        }
    }

    fn record(&mut self, fields: &'a [Value], space: &str, path: &mut Vec<String>) -> Result<Type, String> {
        let mut read: Vec<Field> = Vec::new();
        let mut names = HashSet::new();
        for field in fields {
            let text = |name: &str| field.get(name).and_then(Value::as_str);
            let own = text("column").or(text("name")).unwrap_or_default().to_owned();
            path.push(own.clone());
            let kind =
                self.schema(field.get("type").ok_or_else(|| at(path, "a field without a type"))?, space, path)?;
            path.pop();
            // DuckDB's names do not differ by case alone.
            let mut name = own.clone();
            for number in 1.. {
                if names.insert(name.to_lowercase()) {
                    break;
                }
                name = format!("{own}_{number}");
            }
            read.push(Field { name, kind });
        }
        if read.is_empty() && !path.is_empty() {
            return Err(at(path, "a record without fields, which DuckDB has not"));
        }
        Ok(plain(Kind::Struct(read)))
    }
}

fn plain(kind: Kind) -> Type {
    Type { kind, choice: Choice::Always }
}

/// A type with a logical type. Logical types that do not fit it do not count, as Avro says.
fn primitive(kind: &str, logical: &str) -> Option<Kind> {
    let timestamp = |unit, is_local| Kind::Timestamp { unit, is_local };
    Some(match (kind, logical) {
        ("int", "date") => Kind::Date,
        ("int", "time-millis") => Kind::TimeMillis,
        ("long", "time-micros") => Kind::TimeMicros,
        ("long", "time-nanos") => Kind::TimeNanos,
        ("long", "timestamp-millis") => timestamp(Unit::Millis, false),
        ("long", "timestamp-micros") => timestamp(Unit::Micros, false),
        ("long", "timestamp-nanos") => timestamp(Unit::Nanos, false),
        ("long", "local-timestamp-millis") => timestamp(Unit::Millis, true),
        ("long", "local-timestamp-micros") => timestamp(Unit::Micros, true),
        ("long", "local-timestamp-nanos") => timestamp(Unit::Nanos, true),
        ("string", "uuid") => Kind::UuidText,
        ("null", _) => Kind::Null,
        ("boolean", _) => Kind::Boolean,
        ("int", _) => Kind::Int,
        ("long", _) => Kind::Long,
        ("float", _) => Kind::Float,
        ("double", _) => Kind::Double,
        ("bytes", _) => Kind::Bytes,
        ("string", _) => Kind::Text,
        _ => return None,
    })
}

fn fixed(size: usize, logical: &str, object: &Map<String, Value>, path: &[String]) -> Result<Type, String> {
    Ok(plain(match (logical, size) {
        ("uuid", 16) => Kind::UuidFixed,
        ("duration", 12) => Kind::Duration,
        ("decimal", _) => {
            // One that does not fit the size does not count, as Avro says.
            let digits = ((8 * size as u64).saturating_sub(1) as f64 * 2f64.log10()).floor() as u64;
            let fits = object.get("precision").and_then(Value::as_u64).is_some_and(|precision| precision <= digits);
            let decimal = if fits { decimal(Some(size), object, path)? } else { None };
            decimal.unwrap_or(Kind::Fixed(size))
        }
        _ => Kind::Fixed(size),
    }))
}

/// A decimal, or none if Avro holds it for invalid.
fn decimal(size: Option<usize>, object: &Map<String, Value>, path: &[String]) -> Result<Option<Kind>, String> {
    let number = |name: &str| object.get(name).map_or(Some(0), Value::as_u64);
    match (number("precision"), number("scale")) {
        (Some(precision), Some(scale)) if precision > MAX_DIGITS && scale <= precision => Err(at(
            path,
            &format!("decimal({precision},{scale}), and DuckDB's decimals have at most {MAX_DIGITS} digits"),
        )),
        (Some(precision), Some(scale)) if precision > 0 && scale <= precision => {
            Ok(Some(Kind::Decimal { size, precision: precision as u8, scale: scale as u8 }))
        }
        _ => Ok(None),
    }
}

/// Whether values of a type have no bytes, so that a few bytes could stand for a list of billions.
fn takes_no_bytes(kind: &Type) -> bool {
    kind.choice == Choice::Always
        && match &kind.kind {
            Kind::Null | Kind::Fixed(0) => true,
            Kind::Struct(fields) => fields.iter().all(|field| takes_no_bytes(&field.kind)),
            _ => false,
        }
}

/// Whether this is a record of a key, which is not null, and a value.
fn is_pair(kind: &Type) -> bool {
    match (kind.choice, kind.fields()) {
        (Choice::Always, [key, value]) => key.name == "key" && value.name == "value" && !can_be_null(&key.kind),
        _ => false,
    }
}

fn can_be_null(kind: &Type) -> bool {
    matches!(kind.choice, Choice::Nullable(_))
        || match &kind.kind {
            Kind::Null => true,
            Kind::Union(branches) => branches.iter().any(|branch| branch.kind.is_none()),
            _ => false,
        }
}

fn full_name(name: &str, own: Option<&str>, space: &str) -> String {
    match own.unwrap_or(space) {
        "" => name.to_owned(),
        _ if name.contains('.') => name.to_owned(),
        space => format!("{space}.{name}"),
    }
}

fn branch_name(branch: &Value) -> String {
    let name = branch.as_str().or(branch["name"].as_str()).or(branch["type"].as_str());
    name.unwrap_or("value").to_owned()
}

fn at(path: &[String], what: &str) -> String {
    if path.is_empty() {
        return what.to_owned();
    }
    format!("column {:?}: {what}", path.join("."))
}
