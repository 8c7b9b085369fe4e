//! The Avro schema of rows, as arrow-avro and Arrow want it.
//!
//! The decoder gets a schema without references, names of the writer and properties that do not count. What it
//! makes of that is then given the names of the columns, and the types that it does not know itself but that
//! lie in memory in the same way: times in nanoseconds, UUIDs, and maps whose keys are not strings.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Metadata, Schema, TimeUnit, UnionFields};
use serde_json::{json, Map, Value};

/// The most types in a schema, with those of named types counted wherever they are used.
const MAX_TYPES: usize = 1 << 16;

/// The most types within each other. The decoder's limit is lower.
const MAX_DEPTH: usize = 128;

/// The most digits of an Arrow decimal.
const MAX_DIGITS: u64 = 76;

/// A schema for the decoder, and what to change in the Arrow schema that comes of it.
pub(crate) struct RowSchema {
    pub(crate) json: String,
    columns: Vec<Column>,
}

/// A name and a type.
type Column = (String, Shape);

enum Shape {
    /// The type is as the decoder has it.
    Plain,
    TimeNanos,
    TimestampNanos,
    Uuid,
    Struct(Vec<Column>),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// A list of keys and values.
    Pairs(Box<Shape>),
    Union(Vec<Column>),
}

impl RowSchema {
    /// Reads a stored schema. Fails with a reason that names the column if Arrow has no type for it.
    pub(crate) fn parse(json: &str) -> Result<Self, String> {
        let parsed: Value = serde_json::from_str(json).map_err(|e| format!("the schema is not JSON: {e}"))?;
        let mut reader = Reader::default();
        match reader.schema(&parsed, "", &mut Vec::new())? {
            (schema, Shape::Struct(columns)) => Ok(RowSchema { json: schema.to_string(), columns }),
            _ => Err("the schema is not that of a record".into()),
        }
    }

    /// The Arrow schema of rows, from that of the decoder. For Python, without the types that Python's
    /// standard library lacks.
    pub(crate) fn arrow(&self, decoded: &Schema, for_python: bool) -> Schema {
        Schema::new(columns(&self.columns, decoded.fields(), for_python))
    }
}

fn columns(columns: &[Column], fields: &Fields, for_python: bool) -> Fields {
    columns.iter().zip(fields).map(|((name, shape), field)| named(name, shape, field, for_python)).collect()
}

fn named(name: &str, shape: &Shape, field: &Field, for_python: bool) -> Field {
    let metadata = match shape {
        Shape::Uuid => Metadata::from_iter([
            ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned()),
            ("ARROW:extension:metadata".to_owned(), String::new()),
        ]),
        _ => Metadata::default(),
    };
    Field::new(name, data_type(shape, field.data_type(), for_python), field.is_nullable()).with_metadata(metadata)
}

fn data_type(shape: &Shape, decoded: &DataType, for_python: bool) -> DataType {
    match (shape, decoded) {
        (Shape::TimeNanos, DataType::Int64) if !for_python => DataType::Time64(TimeUnit::Nanosecond),
        (Shape::TimestampNanos, _) if for_python => DataType::Int64,
        (Shape::Struct(own), DataType::Struct(fields)) => DataType::Struct(columns(own, fields, for_python)),
        (Shape::List(item), DataType::List(field)) => {
            DataType::List(Arc::new(named(field.name(), item, field, for_python)))
        }
        (Shape::Pairs(entry), DataType::List(field)) if for_python => {
            DataType::List(Arc::new(named(field.name(), entry, field, for_python)))
        }
        (Shape::Pairs(entry), DataType::List(field)) => {
            DataType::Map(Arc::new(named("entries", entry, field, for_python)), false)
        }
        (Shape::Map(value), DataType::Map(entries, sorted)) => {
            let DataType::Struct(pair) = entries.data_type() else {
                return decoded.clone();
            };
            let pair = pair.iter().enumerate().map(|(i, field)| match i {
                0 => named("key", &Shape::Plain, field, for_python),
                _ => named("value", value, field, for_python),
            });
            let entries = Field::new("entries", DataType::Struct(pair.collect()), false);
            DataType::Map(Arc::new(entries), *sorted)
        }
        (Shape::Union(own), DataType::Union(fields, mode)) => {
            let ids: Vec<i8> = fields.iter().map(|(id, _)| id).collect();
            let own = own.iter().zip(fields.iter());
            let renamed = own.map(|((name, shape), (_, field))| named(name, shape, field, for_python));
            UnionFields::try_new(ids, renamed).map_or_else(|_| decoded.clone(), |own| DataType::Union(own, *mode))
        }
        _ => decoded.clone(),
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
    /// The schema for the decoder, and its shape. `path` holds the names of the columns above.
    fn schema(&mut self, schema: &'a Value, space: &str, path: &mut Vec<String>) -> Result<(Value, Shape), String> {
        self.types += 1;
        if self.types > MAX_TYPES {
            return Err(format!("the schema has more than {MAX_TYPES} types"));
        }
        if self.depth == MAX_DEPTH {
            return Err(format!("the schema has more than {MAX_DEPTH} types within each other"));
        }
        self.depth += 1;
        let result = self.any(schema, space, path);
        self.depth -= 1;
        result
    }

    fn any(&mut self, schema: &'a Value, space: &str, path: &mut Vec<String>) -> Result<(Value, Shape), String> {
        match schema {
            Value::String(name) => self.by_name(name, space, path),
            Value::Array(branches) => self.union(branches, space, path),
            Value::Object(object) => match object.get("type") {
                Some(Value::String(kind)) => self.object(kind, object, schema, space, path),
                Some(inner) => self.schema(inner, space, path),
                None => Err(at(path, "a type without a kind")),
            },
            _ => Err(at(path, "not a type of Avro")),
        }
    }

    fn by_name(&mut self, name: &str, space: &str, path: &mut Vec<String>) -> Result<(Value, Shape), String> {
        if PRIMITIVES.contains(&name) {
            return Ok((json!(name), Shape::Plain));
        }
        let full = full_name(name, None, space);
        let key = if self.named.contains_key(&full) { full } else { name.to_owned() };
        let Some((schema, space)) = self.named.get(&key).cloned() else {
            return Err(at(path, &format!("the type {name:?} is not defined")));
        };
        if self.within.contains(&key) {
            return Err(at(path, &format!("the record {name:?} contains itself, and Arrow has no such type")));
        }
        self.schema(schema, &space, path)
    }

    fn union(&mut self, branches: &'a [Value], space: &str, path: &mut Vec<String>) -> Result<(Value, Shape), String> {
        let mut schemas = Vec::new();
        let mut shapes = Vec::new();
        for branch in branches {
            let (schema, shape) = self.schema(branch, space, path)?;
            schemas.push(schema);
            shapes.push((branch_name(branch), shape));
        }
        let nulls = schemas.iter().filter(|schema| *schema == "null").count();
        let shape = if schemas.len() == 2 && nulls == 1 {
            let value = usize::from(schemas[0] == "null");
            shapes.swap_remove(value).1
        } else {
            Shape::Union(shapes)
        };
        Ok((Value::Array(schemas), shape))
    }

    fn object(
        &mut self,
        kind: &str,
        object: &'a Map<String, Value>,
        schema: &'a Value,
        space: &str,
        path: &mut Vec<String>,
    ) -> Result<(Value, Shape), String> {
        let logical = object.get("logicalType").and_then(Value::as_str).unwrap_or_default();
        let child = |name: &str| object.get(name).ok_or_else(|| at(path, &format!("{kind} without {name}")));
        match kind {
            "array" => {
                let items = child("items")?;
                let (items, shape) = self.schema(items, space, path)?;
                if takes_no_bytes(&items) {
                    return Err(at(path, "a list of items without content, which Arrow rows cannot hold"));
                }
                let shape = if logical == "map" && is_pair(&shape, &items) { Shape::Pairs } else { Shape::List }(
                    Box::new(shape),
                );
                Ok((json!({"type": "array", "items": items}), shape))
            }
            "map" => {
                let values = child("values")?;
                let (values, shape) = self.schema(values, space, path)?;
                if takes_no_bytes(&values) {
                    return Err(at(path, "a map of values without content, which Arrow rows cannot hold"));
                }
                Ok((json!({"type": "map", "values": values}), Shape::Map(Box::new(shape))))
            }
            "record" | "enum" | "fixed" => {
                let name = child("name")?.as_str().ok_or_else(|| at(path, "a name that is not text"))?;
                let own = object.get("namespace").and_then(Value::as_str);
                let full = full_name(name, own, space);
                self.named.insert(full.clone(), (schema, space.to_owned()));
                let space = full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
                let name = format!("t{}", self.types);
                if kind == "record" {
                    let fields = child("fields")?.as_array().ok_or_else(|| at(path, "fields that are not a list"))?;
                    self.within.push(full);
                    let record = self.record(name, fields, &space, path);
                    self.within.pop();
                    record
                } else if kind == "enum" {
                    let symbols = child("symbols")?;
                    Ok((json!({"type": "enum", "name": name, "symbols": symbols}), Shape::Plain))
                } else {
                    let size = child("size")?.as_u64().ok_or_else(|| at(path, "a size that is not a number"))?;
                    fixed(name, size, logical, object, path)
                }
            }
            _ if PRIMITIVES.contains(&kind) => primitive(kind, logical, object, path),
            _ => self.by_name(kind, space, path),
        }
    }

    fn record(
        &mut self,
        name: String,
        fields: &'a [Value],
        space: &str,
        path: &mut Vec<String>,
    ) -> Result<(Value, Shape), String> {
        let mut schemas = Vec::new();
        let mut shapes = Vec::new();
        for (i, field) in fields.iter().enumerate() {
            let text = |name: &str| field.get(name).and_then(Value::as_str);
            let column = text("column").or(text("name")).unwrap_or_default().to_owned();
            let own = field.get("type").ok_or_else(|| at(path, "a field without a type"))?;
            path.push(column.clone());
            let (schema, shape) = self.schema(own, space, path)?;
            path.pop();
            schemas.push(json!({"name": format!("f{i}"), "type": schema}));
            shapes.push((column, shape));
        }
        Ok((json!({"type": "record", "name": name, "fields": schemas}), Shape::Struct(shapes)))
    }
}

const PRIMITIVES: [&str; 8] = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"];

/// A primitive type. Logical types that do not fit it do not count, as Avro says.
fn primitive(
    kind: &str,
    logical: &str,
    object: &Map<String, Value>,
    path: &[String],
) -> Result<(Value, Shape), String> {
    let shape = match (kind, logical) {
        ("int", "date" | "time-millis")
        | ("long", "time-micros" | "timestamp-millis" | "timestamp-micros")
        | ("long", "local-timestamp-millis" | "local-timestamp-micros") => Shape::Plain,
        ("long", "timestamp-nanos" | "local-timestamp-nanos") => Shape::TimestampNanos,
        ("long", "time-nanos") => return Ok((json!("long"), Shape::TimeNanos)),
        ("string", "uuid") => Shape::Uuid,
        ("bytes", "decimal") => {
            return Ok((decimal(object, path)?.map_or(json!("bytes"), |(precision, scale)| {
                json!({"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale})
            }), Shape::Plain));
        }
        _ => return Ok((json!(kind), Shape::Plain)),
    };
    Ok((json!({"type": kind, "logicalType": logical}), shape))
}

fn fixed(
    name: String,
    size: u64,
    logical: &str,
    object: &Map<String, Value>,
    path: &[String],
) -> Result<(Value, Shape), String> {
    let mut schema = json!({"type": "fixed", "name": name, "size": size});
    let shape = match (logical, size) {
        ("uuid", 16) => Shape::Uuid,
        ("duration", 12) => {
            schema["logicalType"] = json!("duration");
            Shape::Plain
        }
        ("decimal", _) => {
            // One that does not fit the size does not count, as Avro says.
            let digits = ((8 * size).saturating_sub(1) as f64 * 2f64.log10()).floor() as u64;
            if let Some((precision, scale)) = decimal(object, path)?.filter(|(precision, _)| *precision <= digits) {
                if size > 32 {
                    return Err(at(path, &format!("a decimal of {size} bytes, and those of Arrow have at most 32")));
                }
                schema["logicalType"] = json!("decimal");
                schema["precision"] = json!(precision);
                schema["scale"] = json!(scale);
            }
            Shape::Plain
        }
        _ => Shape::Plain,
    };
    Ok((schema, shape))
}

/// Precision and scale, or None if Avro holds them for invalid.
fn decimal(object: &Map<String, Value>, path: &[String]) -> Result<Option<(u64, u64)>, String> {
    let number = |name: &str| object.get(name).map_or(Some(0), Value::as_u64);
    match (number("precision"), number("scale")) {
        (Some(precision), Some(scale)) if precision > MAX_DIGITS && scale <= precision => {
            let what = format!("decimal({precision},{scale}), and Arrow's decimals have at most {MAX_DIGITS} digits");
            Err(at(path, &what))
        }
        (Some(precision), Some(scale)) if precision > 0 && scale <= precision => Ok(Some((precision, scale))),
        _ => Ok(None),
    }
}

/// Whether values of a type have no bytes, so that a few bytes could stand for a list of billions.
fn takes_no_bytes(schema: &Value) -> bool {
    schema == "null"
        || schema["type"] == "fixed" && schema["size"] == 0
        || schema["type"] == "record"
            && schema["fields"]
                .as_array()
                .is_some_and(|fields| fields.iter().all(|field| takes_no_bytes(&field["type"])))
}

/// Whether this is a record of a key, which is not null, and a value.
fn is_pair(shape: &Shape, schema: &Value) -> bool {
    let Shape::Struct(columns) = shape else {
        return false;
    };
    let key = &schema["fields"][0]["type"];
    let nullable = key == "null" || key.as_array().is_some_and(|branches| branches.contains(&json!("null")));
    columns.len() == 2 && columns[0].0 == "key" && columns[1].0 == "value" && !nullable
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
