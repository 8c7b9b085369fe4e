//! What of a table becomes keys and values.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use bsdb::ValueElements;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::cells::{Cells, Problem};
use super::chunk::Chunk;
use super::elements::{self, Vectors};
use super::stream::Batches;
use super::types::{avro, Column, Kind};
use crate::bytes::bytes;
use crate::errors;

/// The columns listed in a message.
const LISTED: usize = 30;

/// What the value of a record is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// A row of all columns.
    All,
    /// A row of these columns.
    Columns(Vec<String>),
    /// The bytes of a column, or its vectors.
    Raw(String),
}

impl Wanted {
    /// Of the arguments of Python, of which at most one is given.
    pub(crate) fn of(columns: Option<Vec<String>>, raw: Option<String>) -> Wanted {
        raw.map_or_else(|| columns.map_or(Wanted::All, Wanted::Columns), Wanted::Raw)
    }
}

/// How rows of one schema become records.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    columns: Vec<(usize, Column)>,
    keys: Vec<Key>,
    join: Option<Vec<u8>>,
    value: Value,
}

#[derive(Debug, PartialEq)]
struct Key {
    name: String,
    /// The place in `columns`, and of fields of structs below it.
    place: usize,
    fields: Vec<usize>,
}

#[derive(Debug, PartialEq)]
enum Value {
    /// Places in `columns`.
    Row(Vec<usize>),
    Raw(usize),
    Vector(usize, ValueElements),
}

impl Plan {
    /// Fails with a reason if there is no such column, or one cannot be what it should be.
    pub(crate) fn new(schema: &Schema, key: &[String], join: Option<&[u8]>, wanted: &Wanted) -> Result<Plan, String> {
        if key.is_empty() {
            return Err("name the key column: key=\"id\", or key=[\"country\", \"id\"] with key_join=\"|\"".into());
        }
        if key.len() > 1 && join.is_none() {
            return Err("a key of several columns needs key_join, the text between them, such as key_join=\"|\"".into());
        }
        let mut plan =
            Plan { columns: Vec::new(), keys: Vec::new(), join: join.map(<[u8]>::to_vec), value: Value::Raw(0) };
        plan.value = match wanted {
            Wanted::All => {
                let places = schema.fields().iter().map(|field| plan.take(schema, field.name()));
                Value::Row(places.collect::<Result<_, _>>()?)
            }
            Wanted::Columns(names) => {
                let places: Vec<_> = names.iter().map(|name| plan.take(schema, name)).collect::<Result<_, _>>()?;
                if let Some(twice) = (1..places.len()).find(|&i| places[..i].contains(&places[i])) {
                    return Err(format!("value names the column {:?} twice", names[twice]));
                }
                Value::Row(places)
            }
            Wanted::Raw(name) => {
                let place = plan.take(schema, name)?;
                let vectors = elements::of_column(schema.field(plan.columns[place].0).data_type());
                if vectors.is_none()
                    && !matches!(plan.columns[place].1.kind, Kind::String | Kind::Bytes | Kind::Fixed(_) | Kind::Uuid)
                {
                    let kind = schema.field(plan.columns[place].0).data_type();
                    return Err(format!(
                        "the column {name:?} is {kind}, and a value of bytes needs text, binary or a fixed-size list \
                         of numbers; for a typed row of this column, pass a list: value=[{name:?}]"
                    ));
                }
                vectors.map_or(Value::Raw(place), |elements| Value::Vector(place, elements))
            }
        };
        for name in key {
            let found = plan.key(schema, name)?;
            plan.keys.push(found);
        }
        Ok(plan)
    }

    /// The place in `columns` of the column with a name, which is added if it is not there.
    fn take(&mut self, schema: &Schema, name: &str) -> Result<usize, String> {
        let mut places = (0..schema.fields().len()).filter(|&i| schema.field(i).name() == name);
        let Some(at) = places.next() else {
            return Err(missing(schema, name));
        };
        if places.next().is_some() {
            return Err(format!("there are two columns {name:?}; rename or drop one"));
        }
        if let Some(place) = self.columns.iter().position(|(known, _)| *known == at) {
            return Ok(place);
        }
        self.columns.push((at, Column::of(schema.field(at))?));
        Ok(self.columns.len() - 1)
    }

    /// A key column, or a field of a struct as `a.b`.
    fn key(&mut self, schema: &Schema, name: &str) -> Result<Key, String> {
        let whole = schema.fields().iter().any(|field| field.name() == name);
        let parts: Vec<&str> = if whole { vec![name] } else { name.split('.').collect() };
        if !schema.fields().iter().any(|field| field.name() == parts[0]) {
            return Err(missing(schema, name));
        }
        let place = self.take(schema, parts[0])?;
        let mut column = &self.columns[place].1;
        let mut fields = Vec::new();
        for part in &parts[1..] {
            let Kind::Struct(own) = &column.kind else {
                return Err(missing(schema, name));
            };
            let found = own.iter().position(|field| field.name == *part).ok_or_else(|| missing(schema, name))?;
            fields.push(found);
            column = &own[found];
        }
        let what = match column.kind {
            Kind::Struct(_) => "a struct; name one of its fields, such as",
            Kind::List(_) => "a list",
            Kind::Map(_) | Kind::Pairs(_) => "a map",
            _ => return Ok(Key { name: name.to_owned(), place, fields }),
        };
        let example = match &column.kind {
            Kind::Struct(own) => own.first().map_or(String::new(), |field| format!(" \"{name}.{}\"", field.name)),
            _ => String::new(),
        };
        Err(format!("the column {name:?} cannot be a key: it is {what}{example}"))
    }

    /// The Avro schema of the values, unless they are bytes.
    pub(crate) fn schema(&self) -> Option<String> {
        match &self.value {
            Value::Row(places) => Some(avro(&places.iter().map(|&place| &self.columns[place].1).collect::<Vec<_>>())),
            Value::Raw(_) | Value::Vector(..) => None,
        }
    }

    /// The elements of the values, if they are vectors.
    pub(crate) fn elements(&self) -> Option<ValueElements> {
        match self.value {
            Value::Vector(_, elements) => Some(elements),
            _ => None,
        }
    }

    /// The records of a batch, which has the schema.
    pub(crate) fn records<'a>(&'a self, batch: &'a RecordBatch) -> Records<'a> {
        let cells = self.columns.iter().map(|(at, column)| Cells::of(column, &**batch.column(*at)));
        let vectors = match &self.value {
            Value::Vector(place, _) => Vectors::of(&**batch.column(self.columns[*place].0)),
            _ => None,
        };
        Records { plan: self, rows: batch.num_rows(), cells: cells.collect(), vectors }
    }
}

/// Why a row is not a record.
pub(crate) struct Bad {
    /// As what such rows are counted.
    pub(crate) label: &'static str,
    /// A text that names the column.
    pub(crate) reason: String,
}

/// The records of a batch.
pub(crate) struct Records<'a> {
    plan: &'a Plan,
    rows: usize,
    cells: Vec<Cells<'a>>,
    vectors: Option<Vectors<'a>>,
}

/// Records of rows that follow each other.
#[derive(Default)]
pub(super) struct Part {
    pub(super) chunk: Chunk,
    pub(super) first: usize,
    /// The row after them, which is not a record if there is a fault.
    pub(super) end: usize,
    pub(super) fault: Option<Bad>,
}

impl Records<'_> {
    /// Reads a part from a row on, up to one that is not a record.
    pub(super) fn read_part(&self, first: usize, part: &mut Part, check: &impl Fn(&[u8]) -> Result<(), Bad>) {
        (part.first, part.end) = (first, first);
        while part.end < self.rows && part.fault.is_none() && !part.chunk.is_full() {
            let read = part.chunk.append(|data| {
                let start = data.len();
                let end = self.read(part.end, data)?;
                check(&data[start..end])?;
                Ok(end)
            });
            match read {
                Ok(()) => part.end += 1,
                Err(bad) => part.fault = Some(bad),
            }
        }
    }

    /// Appends the key and the value of a row. Returns where the key ends.
    fn read(&self, row: usize, out: &mut Vec<u8>) -> Result<usize, Bad> {
        for (i, part) in self.plan.keys.iter().enumerate() {
            if let (1.., Some(join)) = (i, &self.plan.join) {
                out.extend(join);
            }
            self.key(part, row, out)?;
        }
        let end = out.len();
        match &self.plan.value {
            Value::Row(places) => {
                for &place in places {
                    self.cells[place].write(row, out).map_err(in_column)?;
                }
            }
            Value::Raw(place) | Value::Vector(place, _) => {
                let cells = &self.cells[*place];
                let bytes = match &self.vectors {
                    Some(vectors) => vectors.get(row),
                    None => cells.bytes(row).filter(|_| !cells.is_null(row)),
                };
                match bytes {
                    Some(bytes) => {
                        out.try_reserve(bytes.len()).map_err(|_| Bad {
                            label: "no memory",
                            reason: format!("a value of {} bytes, for which there is no memory", bytes.len()),
                        })?;
                        out.extend(bytes);
                    }
                    _ => {
                        let name = &self.plan.columns[*place].1.name;
                        let reason = format!(
                            "the column {name:?} is null, and a value cannot be; fill it, or leave out such rows"
                        );
                        return Err(Bad { label: "null value", reason });
                    }
                }
            }
        }
        Ok(end)
    }

    fn key(&self, part: &Key, row: usize, out: &mut Vec<u8>) -> Result<(), Bad> {
        let mut cells = &self.cells[part.place];
        let mut null = cells.is_null(row);
        for &field in &part.fields {
            match cells.field(field) {
                Some(below) => cells = below,
                None => null = true,
            }
            null = null || cells.is_null(row);
        }
        if null {
            let reason = format!("the key column {:?} is null; leave out such rows", part.name);
            return Err(Bad { label: "null key", reason });
        }
        cells.key(row, out).map_err(in_column)
    }
}

fn in_column(problem: Problem) -> Bad {
    let reason = format!("the column {:?} {}", problem.column(), problem.reason);
    Bad { label: "a value that cannot be stored", reason }
}

fn missing(schema: &Schema, name: &str) -> String {
    let names: Vec<_> = schema.fields().iter().take(LISTED).map(|field| format!("{:?}", field.name())).collect();
    let more = match schema.fields().len() {
        all @ LISTED.. if all > LISTED => format!(" and {} more", all - LISTED),
        _ => String::new(),
    };
    format!("there is no column {name:?}; the columns are {}{more}", names.join(", "))
}

/// The records of a table as they would be added, for tests: the schema of rows, and pairs of key and value.
#[pyfunction]
pub(crate) fn _encode<'py>(
    table: &Bound<'py, PyAny>,
    key: Vec<String>,
    key_join: Option<Vec<u8>>,
    columns: Option<Vec<String>>,
    raw: Option<String>,
) -> PyResult<(Option<String>, Bound<'py, PyList>)> {
    let py = table.py();
    let mut batches = Batches::of(table)?;
    let plan = Plan::new(&batches.schema(), &key, key_join.as_deref(), &Wanted::of(columns, raw));
    let plan = plan.map_err(PyValueError::new_err)?;
    let made = PyList::empty(py);
    let mut record = Vec::new();
    while let Some(batch) = batches.next(py)? {
        let records = plan.records(&batch);
        for row in 0..batch.num_rows() {
            record.clear();
            let read = records.read(row, &mut record);
            let end = read.map_err(|bad| errors::row(py, format!("row {row}: {}", bad.reason)))?;
            made.append((bytes(py, &record[..end])?, bytes(py, &record[end..])?))?;
        }
    }
    Ok((plan.schema(), made))
}
