//! `bsdb_scan(path)`: all records.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use bsdb::{Database, KeyRange};
use self_cell::self_cell;

use crate::ffi::{chunk_rows, Bind, Chunk, Form, LogicalType, Simple, TableFunction};
use crate::row::RowWriter;
use crate::source::{Lease, Opened, Pin};

/// The columns of a table of records: the key, and the value or the fields of the row.
pub struct Columns {
    /// Whether keys, and values that are not rows, are text.
    pub text: bool,
    /// Whether values are read as rows.
    pub rows: bool,
}

impl Columns {
    /// Declares the columns.
    pub fn declare(bind: &Bind<'_>, opened: &Opened) -> Result<Self, String> {
        let text = bind.option(c"text").is_some_and(|value| value.is_true());
        let raw = bind.option(c"raw").is_some_and(|value| value.is_true());
        let rows = if raw { None } else { opened.row_type()? };
        let string = LogicalType::from(if text { Simple::Varchar } else { Simple::Blob });
        match rows {
            None => {
                bind.add_column("key", &string);
                bind.add_column("value", &string);
            }
            Some(rows) => {
                // A field may have the name.
                let mut name = "key".to_owned();
                while rows.fields().iter().any(|field| field.name.eq_ignore_ascii_case(&name)) {
                    name.insert_str(0, "bsdb_");
                }
                bind.add_column(&name, &string);
                for (name, kind) in rows.columns() {
                    if !kind.is_valid() {
                        return Err(format!("{}: DuckDB refused the type of the column {name:?}", opened.location));
                    }
                    bind.add_column(name, &kind);
                }
            }
        }
        Ok(Columns { text, rows: rows.is_some() })
    }

    /// Prepares to write a chunk of these columns, of which the query wants some.
    pub fn writer<'a, 'chunk: 'a>(
        &self,
        opened: &'a Opened,
        wanted: &[usize],
        chunk: &mut Chunk<'chunk>,
    ) -> Result<RecordWriter<'a>, String> {
        let at = |column: usize| wanted.iter().position(|wanted| *wanted == column);
        let key = at(0).map(|at| chunk.output(at, Form::String));
        let value = match opened.row_type()? {
            Some(rows) if self.rows => {
                Values::Rows(RowWriter::new(rows, |field, form| at(field + 1).map(|at| chunk.output(at, form)))?)
            }
            _ if self.rows => return Err(format!("{}: the values are no longer typed rows", opened.location)),
            _ => Values::Plain(at(1).map(|at| chunk.output(at, Form::String))),
        };
        Ok(RecordWriter { opened, text: self.text, key, value })
    }
}

/// Writes records to a chunk.
pub struct RecordWriter<'a> {
    opened: &'a Opened,
    text: bool,
    key: Option<crate::ffi::Output<'a>>,
    value: Values<'a>,
}

enum Values<'a> {
    Plain(Option<crate::ffi::Output<'a>>),
    Rows(RowWriter<'a>),
}

impl RecordWriter<'_> {
    /// Writes a key, and its value or NULL.
    pub fn write(&mut self, row: usize, key: &[u8], value: Option<&[u8]>) -> Result<(), String> {
        if let Some(output) = &mut self.key {
            if self.text && std::str::from_utf8(key).is_err() {
                let opened = self.opened;
                return Err(format!("{}: the key {} is not UTF-8; read it without text", opened.location, crate::source::show(key)));
            }
            output.set_bytes(row, key)?;
        }
        let opened = self.opened;
        match (&mut self.value, value) {
            (Values::Plain(None), _) => Ok(()),
            (Values::Plain(Some(output)), None) => {
                output.set_null(row);
                Ok(())
            }
            (Values::Plain(Some(output)), Some(value)) => {
                if self.text && std::str::from_utf8(value).is_err() {
                    return Err(opened.wrong_value(key, "is not UTF-8; read it without text"));
                }
                output.set_bytes(row, value).map_err(|reason| opened.wrong_value(key, &format!("is too long: {reason}")))
            }
            (Values::Rows(writer), None) => {
                writer.write_absent(row);
                Ok(())
            }
            (Values::Rows(writer), Some(value)) => {
                writer.write(row, value).map_err(|reason| opened.wrong_row(key, &reason))
            }
        }
    }

    pub fn finish(&mut self) {
        if let Values::Rows(writer) = &mut self.value {
            writer.finish();
        }
    }
}

/// Options of functions that give records.
pub fn options() -> Vec<(&'static CStr, LogicalType)> {
    vec![(c"text", Simple::Boolean.into()), (c"raw", Simple::Boolean.into())]
}

/// The path, which is the first argument.
pub fn path_of(bind: &Bind<'_>) -> Result<String, String> {
    let path = bind.argument(0).filter(|path| !path.is_null());
    path.map(|path| path.text()).ok_or_else(|| "the path of a database is NULL".into())
}

pub struct ScanFunction;

pub struct Plan {
    pin: Arc<Pin>,
    /// What the columns are those of.
    opened: Arc<Opened>,
    columns: Columns,
    range: Option<KeyRange>,
}

type Record = (Vec<u8>, Vec<u8>);

enum Cursor<'db> {
    All(bsdb::Scan<'db>),
    Range(bsdb::Range<'db>),
    Ended,
}

self_cell!(
    /// A scan and the database that it reads.
    struct OwnedScan {
        owner: Arc<Database>,
        #[not_covariant]
        dependent: Cursor,
    }
);

pub struct Execution {
    lease: Arc<Lease>,
    wanted: Vec<usize>,
    work: Work,
}

enum Work {
    /// The number of rows is all that is wanted.
    Count(Mutex<u64>),
    Scan(Mutex<OwnedScan>),
}

impl TableFunction for ScanFunction {
    const NAME: &'static CStr = c"bsdb_scan";
    type Bound = Plan;
    type Shared = Execution;
    /// Records that a thread has read and not yet written.
    type Own = Vec<Record>;

    fn parameters() -> (Vec<LogicalType>, Vec<(&'static CStr, LogicalType)>) {
        let mut options = options();
        for name in [c"prefix", c"from_key", c"to_key"] {
            options.push((name, Simple::Any.into()));
        }
        (vec![Simple::Varchar.into()], options)
    }

    fn bind(bind: &Bind<'_>) -> Result<Plan, String> {
        let path = path_of(bind)?;
        let pin = Pin::new(&path, bind.context().as_ref())?;
        let opened = pin.opened();
        let database = &opened.database;
        let mut range = None;
        for name in [c"prefix", c"from_key", c"to_key"] {
            if let Some(value) = bind.option(name) {
                let (bytes, all) = (value.bytes(), range.take().unwrap_or_else(KeyRange::all));
                range = Some(match name.to_bytes() {
                    b"prefix" => KeyRange::prefix(bytes),
                    b"from_key" => all.from(bytes),
                    _ => all.to(bytes),
                });
            }
        }
        let columns = Columns::declare(bind, &opened)?;
        match &range {
            // Says why there is no order.
            Some(range) => bind.set_rows(database.count(range).map_err(|error| opened.explain(&error))?, true),
            None => {
                database.scan().map_err(|error| opened.explain(&error))?;
                bind.set_rows(database.len(), true);
            }
        }
        Ok(Plan { pin, opened, columns, range })
    }

    fn begin(plan: &Plan, wanted: Vec<usize>) -> Result<(Execution, u64), String> {
        let lease = plan.pin.lease()?;
        let opened = &lease.opened;
        if opened.database.schema() != plan.opened.database.schema() {
            return Err(format!("{}: the new version has other columns; prepare the statement again", opened.location));
        }
        let explain = |error| opened.explain(&error);
        let count = match &plan.range {
            Some(range) => opened.database.count(range).map_err(explain)?,
            None => opened.database.len(),
        };
        let width = if plan.columns.rows { opened.row_type()?.map_or(1, |rows| rows.fields().len() + 1) } else { 2 };
        if wanted.iter().all(|column| *column >= width) {
            return Ok((Execution { lease, wanted, work: Work::Count(Mutex::new(count)) }, 1));
        }
        let scan = OwnedScan::try_new(opened.database.clone(), |database| match &plan.range {
            Some(range) => database.range(range.clone()).map(Cursor::Range),
            None => database.scan().map(Cursor::All),
        })
        .map_err(explain)?;
        // One thread reads at a time; the others make columns of what they have read.
        let threads = match plan.range {
            Some(_) => 1,
            None => count.div_ceil(16 * chunk_rows() as u64).clamp(1, 8),
        };
        Ok((Execution { lease, wanted, work: Work::Scan(Mutex::new(scan)) }, threads))
    }

    fn next(plan: &Plan, execution: &Execution, records: &mut Vec<Record>, chunk: &mut Chunk<'_>) -> Result<(), String> {
        let opened = &*execution.lease.opened;
        let most = chunk_rows();
        let scan = match &execution.work {
            Work::Count(left) => {
                let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
                let rows = (*left).min(most as u64);
                *left -= rows;
                chunk.set_rows(rows as usize);
                return Ok(());
            }
            Work::Scan(scan) => scan,
        };
        records.clear();
        scan.lock().unwrap_or_else(PoisonError::into_inner).with_dependent_mut(|_, cursor| -> Result<(), String> {
            while records.len() < most {
                let next = match cursor {
                    Cursor::All(scan) => scan.next(),
                    Cursor::Range(range) => range.next(),
                    Cursor::Ended => None,
                };
                match next {
                    Some(Ok(record)) => records.push(record),
                    end => {
                        *cursor = Cursor::Ended;
                        return end.and_then(Result::err).map_or(Ok(()), |error| Err(opened.explain(&error)));
                    }
                }
            }
            Ok(())
        })?;
        let mut writer = plan.columns.writer(opened, &execution.wanted, chunk)?;
        for (row, (key, value)) in records.iter().enumerate() {
            writer.write(row, key, Some(value))?;
        }
        writer.finish();
        chunk.set_rows(records.len());
        Ok(())
    }
}
