//! Typed rows as Arrow arrays.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, StructArray};
use arrow_avro::codec::Tz;
use arrow_avro::errors::AvroError;
use arrow_avro::reader::{Decoder, DecoderMode, ReaderBuilder};
use arrow_avro::schema::{AvroSchema, SchemaStore};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors;
use crate::keys::in_pieces;
use crate::schema::RowSchema;
use crate::wait;

/// Rows of a batch: few enough that no column has more than 2 GiB unless single values are huge.
const ROWS: usize = 1 << 14;

/// Decoders that are kept for later calls.
const KEPT: usize = 8;

/// Reads the rows of one database.
#[derive(Default)]
pub(crate) struct RowReader {
    /// Made from the database's schema when rows are first read.
    plan: OnceLock<Result<Plan, String>>,
}

struct Plan {
    avro: String,
    /// How many bytes a batch may take for each byte of its values.
    growth: usize,
    arrow: Arc<Schema>,
    python: Arc<Schema>,
    decoders: Mutex<Vec<Decoder>>,
}

/// Why rows could not be read.
pub(crate) enum Failure {
    Database(bsdb::Error),
    /// The schema is missing, or Arrow cannot hold it.
    Schema(PathBuf, String),
    /// The value of a key is not a row.
    Row(PathBuf, Vec<u8>, String),
    Python(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl Failure {
    pub(crate) fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Python(error) => error,
            Failure::Database(error) => errors::exception(py, &error),
            Failure::Schema(path, reason) => errors::row(py, format!("{}: {reason}", path.display())),
            Failure::Row(path, key, reason) => {
                let path = path.display();
                let key = key.escape_ascii();
                let text = format!(
                    "{path}: the value of the key b\"{key}\" is not a row of the stored schema: {reason}; \
                     check the database with: python -m bsdbkv verify {path}"
                );
                errors::row(py, text)
            }
        }
    }
}

impl RowReader {
    /// The rows of keys, and the numbers of absent keys.
    pub(crate) fn read(
        &self,
        py: Python<'_>,
        database: &Arc<bsdb::Database>,
        keys: &[&[u8]],
        mean: u64,
        for_python: bool,
    ) -> Result<(Vec<Rows>, Vec<usize>), Failure> {
        let path = || database.path().to_owned();
        let plan = py.detach(|| self.plan.get_or_init(|| Plan::of(database)));
        let plan = plan.as_ref().map_err(|reason| Failure::Schema(path(), reason.clone()))?;
        let mut batches = Batches {
            decoder: plan.decoder().map_err(|e| Failure::Schema(path(), e.to_string()))?,
            schema: if for_python { &plan.python } else { &plan.arrow },
            done: Vec::new(),
            held: 0,
            checked: CHECKED,
            growth: plan.growth,
        };
        let mut absent = Vec::new();
        let mut failed = None;
        // A decoder that failed is not used again: it has half a row.
        in_pieces(py, keys, mean, |start, keys| {
            absent.try_reserve(keys.len()).map_err(|_| PyMemoryError::new_err("no memory for absent keys"))?;
            let mut length = 0;
            let found = wait::find_many(py, database, keys, |i, value| match value {
                None => absent.push(start + i),
                Some(value) if failed.is_none() => {
                    length += value.len();
                    failed = batches.add(value).err().map(|reason| (start + i, reason));
                }
                Some(_) => {}
            })?;
            found.map(|()| length).map_err(Failure::Database)
        })?;
        let last = keys.len().saturating_sub(1);
        let flushed = py.detach(|| if failed.is_none() { batches.flush() } else { Ok(()) });
        let failed = failed.or_else(|| flushed.err().map(|error| (last, Fault::Batch(error.to_string()))));
        match failed {
            None => {}
            Some((_, Fault::NoMemory(bytes))) => {
                let text = format!("no memory for the rows of {bytes} bytes of values; ask for fewer keys at once");
                return Err(Failure::Python(PyMemoryError::new_err(text)));
            }
            Some((i, Fault::Row(reason))) => return Err(Failure::Row(path(), keys[i].to_vec(), reason)),
            Some((i, Fault::Batch(reason))) if keys.len() == 1 => {
                return Err(Failure::Row(path(), keys[i].to_vec(), reason));
            }
            Some((i, Fault::Batch(reason))) => {
                // Some things, such as bytes that are not UTF-8, are noticed at the end of a batch.
                for &key in &keys[..=i] {
                    self.read(py, database, &[key], mean, for_python)?;
                }
                return Err(Failure::Schema(path(), reason));
            }
        }
        if batches.done.is_empty() {
            let empty = StructArray::new_null(batches.decoder.schema().fields().clone(), 0);
            batches.done.push(Rows { array: empty, schema: batches.schema.clone() });
        }
        plan.keep(batches.decoder);
        Ok((batches.done, absent))
    }
}

impl Plan {
    fn of(database: &bsdb::Database) -> Result<Self, String> {
        let Some(json) = database.schema() else {
            return Err("values are plain bytes, not typed rows; read them with get or get_many".into());
        };
        let what = "the schema of typed rows has no form in Arrow; read values with get and decode them with \
                    another Avro library";
        let schema = RowSchema::parse(json).map_err(|reason| format!("{reason} ({what})"))?;
        let decoder = decoder(&schema.json).map_err(|e| format!("{e} ({what})"))?;
        Ok(Plan {
            arrow: Arc::new(schema.arrow(&decoder.schema(), false)),
            python: Arc::new(schema.arrow(&decoder.schema(), true)),
            // Buffers grow to twice their size, and small numbers of lists take more bytes in Arrow.
            growth: if ["\"array\"", "\"map\""].iter().any(|list| schema.json.contains(list)) { 8 } else { 2 },
            avro: schema.json,
            decoders: Mutex::new(vec![decoder]),
        })
    }

    fn decoder(&self) -> Result<Decoder, ArrowError> {
        let kept = self.decoders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(|| decoder(&self.avro), Ok)
    }

    fn keep(&self, decoder: Decoder) {
        let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        if decoders.len() < KEPT {
            decoders.push(decoder);
        }
    }
}

fn decoder(schema: &str) -> Result<Decoder, ArrowError> {
    let mut store = SchemaStore::new();
    let fingerprint = store.register(AvroSchema::new(schema.to_owned()))?;
    ReaderBuilder::new()
        .with_writer_schema_store(store)
        .with_active_fingerprint(fingerprint)
        .with_decoder_mode(DecoderMode::UnframedDatum)
        .with_batch_size(ROWS)
        .with_tz(Tz::Utc)
        .build_decoder()
}

/// What is wrong: the row that was read last, or one of its batch.
enum Fault {
    Row(String),
    Batch(String),
    /// For the values of so many bytes.
    NoMemory(usize),
}

/// Batches of fewer bytes are not held against the memory that there is.
const CHECKED: usize = 1 << 20;

struct Batches<'a> {
    decoder: Decoder,
    schema: &'a Arc<Schema>,
    done: Vec<Rows>,
    /// Bytes of the values in the batch.
    held: usize,
    /// The bytes of values for which there was memory.
    checked: usize,
    growth: usize,
}

impl Batches<'_> {
    fn add(&mut self, row: &[u8]) -> Result<(), Fault> {
        self.held += row.len();
        self.require_memory()?;
        match self.decoder.decode(row) {
            Ok(read) if read == row.len() => {}
            Ok(read) => {
                let reason = format!("it has {} bytes, and the row ends after {read}", row.len());
                return Err(Fault::Row(reason));
            }
            Err(AvroError::EOF(_)) => return Err(Fault::Row("it ends too early".into())),
            Err(error) => return Err(Fault::Row(error.to_string())),
        }
        if self.decoder.batch_is_full() {
            self.flush().map_err(|error| Fault::Batch(error.to_string()))?;
        }
        Ok(())
    }

    /// Fails if there is no memory for the batch. The decoder would end the process.
    fn require_memory(&mut self) -> Result<(), Fault> {
        if self.held > self.checked {
            self.checked = self.held + self.held / 4;
            let wanted = self.checked.saturating_mul(self.growth);
            Vec::<u8>::new().try_reserve_exact(wanted).map_err(|_| Fault::NoMemory(self.held))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), AvroError> {
        (self.held, self.checked) = (0, CHECKED);
        if let Some(batch) = self.decoder.flush()? {
            self.done.push(Rows { array: batch.into(), schema: self.schema.clone() });
        }
        Ok(())
    }
}

/// A batch of rows for every library that knows the PyCapsule interface of Arrow.
#[pyclass(module = "bsdbkv._bsdb", frozen)]
pub(crate) struct Rows {
    array: StructArray,
    /// Has the same forms in memory as the array, but other names and types.
    schema: Arc<Schema>,
}

#[pymethods]
impl Rows {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A request may be ignored, says the interface.
        drop(requested_schema);
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        let array = FFI_ArrowArray::new(&self.array.to_data());
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}
