//! `bsdb_scan(path)`: all records.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use bsdb::{Database, KeyRange};
use self_cell::self_cell;

use crate::ffi::{chunk_rows, Bind, Chunk, Form, LogicalType, Simple, TableFunction};
use crate::keys::key_of;
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
        let value = if !self.rows {
            Values::Plain(at(1).map(|at| chunk.output(at, Form::String)))
        } else if let Some(rows) = opened.row_type()? {
            Values::Rows(RowWriter::new(rows, |field, form| at(field + 1).map(|at| chunk.output(at, form)))?)
        } else {
            return Err(format!("{}: the values are no longer typed rows", opened.location));
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
                return Err(format!(
                    "{}: the key {} is not UTF-8; read it without text",
                    opened.location,
                    crate::source::show(key)
                ));
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
                output
                    .set_bytes(row, value)
                    .map_err(|reason| opened.wrong_value(key, &format!("is too long: {reason}")))
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

/// Records that a thread has read and not yet written, one after the other.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Where each key and each value ends.
    ends: Vec<(usize, usize)>,
}

impl Batch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let length = key.len() + value.len();
        self.bytes.try_reserve(length).map_err(|_| format!("no memory for a record of {length} bytes"))?;
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((end, self.bytes.len()));
        Ok(())
    }

    fn records(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut from = 0;
        self.ends.iter().map(move |&(key, value)| {
            let record = (&self.bytes[from..key], &self.bytes[key..value]);
            from = value;
            record
        })
    }
}

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
    /// Of each shard. One thread reads from one at a time; others then make columns of what they have read.
    scans: Vec<Mutex<OwnedScan>>,
    /// How many threads have begun.
    begun: AtomicUsize,
}

impl Execution {
    /// Reads the next records of a scan, none at its end.
    fn read(&self, scan: &mut OwnedScan, batch: &mut Batch) -> Result<(), String> {
        const BYTES: usize = 64 << 20;
        let most = chunk_rows();
        scan.with_dependent_mut(|_, cursor| {
            while batch.ends.len() < most && batch.bytes.len() < BYTES {
                let next = match cursor {
                    Cursor::All(scan) => scan.next(),
                    Cursor::Range(range) => range.next(),
                    Cursor::Ended => None,
                };
                match next {
                    Some(Ok((key, value))) => batch.push(&key, &value)?,
                    end => {
                        *cursor = Cursor::Ended;
                        let explain = |error| self.lease.opened.explain(&error);
                        return end.and_then(Result::err).map_or(Ok(()), |error| Err(explain(error)));
                    }
                }
            }
            Ok(())
        })
    }

    /// Reads the next records of any scan, first of those from which no thread reads.
    fn read_any(&self, first: usize, batch: &mut Batch) -> Result<usize, String> {
        let order = (0..self.scans.len()).map(|i| (first + i) % self.scans.len());
        for number in order.clone() {
            let mut scan = match self.scans[number].try_lock() {
                Ok(scan) => scan,
                Err(TryLockError::Poisoned(scan)) => scan.into_inner(),
                Err(TryLockError::WouldBlock) => continue,
            };
            self.read(&mut scan, batch)?;
            if !batch.ends.is_empty() {
                return Ok(number);
            }
        }
        for number in order {
            self.read(&mut self.scans[number].lock().unwrap_or_else(PoisonError::into_inner), batch)?;
            if !batch.ends.is_empty() {
                return Ok(number);
            }
        }
        Ok(first)
    }
}

/// What a thread has for itself.
#[derive(Default)]
pub struct Thread {
    batch: Batch,
    /// The scan from which it has read, unless it has just begun.
    scan: Option<usize>,
}

impl TableFunction for ScanFunction {
    const NAME: &'static CStr = c"bsdb_scan";
    type Bound = Plan;
    type Shared = Execution;
    type Own = Thread;

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
                let (bytes, all) = (key_of(&value), range.take().unwrap_or_else(KeyRange::all));
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
        let scan = |database: &Arc<Database>| {
            let scan = OwnedScan::try_new(database.clone(), |database| match &plan.range {
                Some(range) => database.range(range.clone()).map(Cursor::Range),
                None => database.scan().map(Cursor::All),
            });
            scan.map(Mutex::new).map_err(|error| opened.explain(&error))
        };
        let scans = match &plan.range {
            Some(_) => vec![scan(&opened.database)?],
            None => opened.parts()?.iter().map(scan).collect::<Result<_, _>>()?,
        };
        // The order of a range is that of its rows, so that one thread reads them.
        let threads = match plan.range {
            Some(_) => 1,
            None => opened.database.len().div_ceil(8 * chunk_rows() as u64).clamp(1, 2 + scans.len() as u64),
        };
        Ok((Execution { lease, wanted, scans, begun: AtomicUsize::new(0) }, threads))
    }

    fn next(plan: &Plan, execution: &Execution, thread: &mut Thread, chunk: &mut Chunk<'_>) -> Result<(), String> {
        let opened = &*execution.lease.opened;
        let Thread { batch, scan } = thread;
        batch.clear();
        // Threads begin at different shards.
        let first = scan.unwrap_or_else(|| execution.begun.fetch_add(1, Ordering::Relaxed));
        *scan = Some(execution.read_any(first, batch)?);
        let mut writer = plan.columns.writer(opened, &execution.wanted, chunk)?;
        for (row, (key, value)) in batch.records().enumerate() {
            writer.write(row, key, Some(value))?;
        }
        writer.finish();
        chunk.set_rows(batch.ends.len());
        Ok(())
    }
}
