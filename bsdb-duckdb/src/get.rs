//! `bsdb_get(path, key)` and `bsdb_text(path, key)`: the value of each key.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use crate::ffi::{Chunk, Connection, Form, LogicalType, Output, ScalarBind, ScalarFunction, Simple};
use crate::keys::{KeyText, KeyType, Keys};
use crate::source::{latest, Lease, Opened, Pin, Pins};

/// Registers the functions.
pub fn register(connection: &Connection) -> Result<(), String> {
    let functions: [(&CStr, Answer); 2] = [(c"bsdb_get", Answer::Bytes), (c"bsdb_text", Answer::Text)];
    for (name, answer) in functions {
        let signatures = KeyType::ALL.into_iter().map(|key| GetFunction { key, answer }).collect();
        connection.register_scalar(name, signatures)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Bytes,
    /// Bytes that must be UTF-8.
    Text,
}

struct GetFunction {
    key: KeyType,
    answer: Answer,
}

/// What a planned call reads.
pub struct Call {
    /// If the path is the same for all rows.
    pin: Option<Arc<Pin>>,
    /// If it is not.
    pins: Arc<Pins>,
}

impl Call {
    /// Plans a call whose first argument is the path.
    pub fn of(bind: &ScalarBind<'_>) -> Result<Self, String> {
        let context = bind.context().ok_or("DuckDB gave no context for a call")?;
        let path = bind.constant(&context, 0)?.filter(|path| !path.is_null());
        let pin = path.map(|path| Pin::new(&path.text(), Some(&context))).transpose()?;
        context.require_files()?;
        Ok(Call { pin, pins: Arc::default() })
    }

    /// The database, if its path is the same for all rows.
    pub fn opened(&self) -> Option<Arc<Opened>> {
        self.pin.as_ref().map(|pin| pin.opened())
    }
}

/// What a thread reads.
pub struct Reading {
    lease: Option<Arc<Lease>>,
    pins: Option<Arc<Pins>>,
    text: KeyText,
}

impl Reading {
    pub fn begin(call: Option<&Call>) -> Result<Self, String> {
        let lease = call.and_then(|call| call.pin.as_ref()).map(Pin::lease).transpose()?;
        Ok(Reading { lease, pins: call.map(|call| call.pins.clone()), text: KeyText::default() })
    }

    /// Looks up the keys of the second column in the databases of the first. Passes on each row, and its key and value if
    /// it has them.
    pub fn look_up<F>(&mut self, kind: KeyType, chunk: &Chunk<'_>, mut answer: F) -> Result<(), String>
    where
        F: FnMut(usize, Option<Found<'_>>) -> Result<(), String>,
    {
        let Reading { lease, pins, text } = self;
        let Keys { keys, rows } = Keys::of(kind, chunk, 1, text)?;
        let mut rest = 0;
        for &row in &rows {
            (rest..row as usize).try_for_each(|row| answer(row, None))?;
            rest = row as usize + 1;
        }
        (rest..chunk.rows()).try_for_each(|row| answer(row, None))?;
        if let Some(lease) = lease {
            return look_up(&lease.opened, &keys, &rows, &mut answer);
        }
        let paths = chunk.strings(0);
        let mut groups: Vec<(&[u8], Keys<'_>)> = Vec::new();
        let mut by_path = HashMap::new();
        for (&key, &row) in keys.iter().zip(&rows) {
            let Some(path) = paths.get(row as usize) else {
                answer(row as usize, None)?;
                continue;
            };
            let same = groups.last().is_some_and(|(last, _)| *last == path);
            let group = match same {
                true => groups.len() - 1,
                false => *by_path.entry(path).or_insert(groups.len()),
            };
            if group == groups.len() {
                groups.push((path, Keys::default()));
            }
            groups[group].1.keys.push(key);
            groups[group].1.rows.push(row);
        }
        for (path, Keys { keys, rows }) in groups {
            let path = String::from_utf8_lossy(path);
            match pins {
                Some(pins) => look_up(&pins.lease(&path)?.opened, &keys, &rows, &mut answer)?,
                None => look_up(&*latest(&path)?, &keys, &rows, &mut answer)?,
            }
        }
        Ok(())
    }
}

/// A value that was found.
pub struct Found<'a> {
    pub opened: &'a Opened,
    pub key: &'a [u8],
    pub value: &'a [u8],
}

fn look_up<F>(opened: &Opened, keys: &[&[u8]], rows: &[u32], answer: &mut F) -> Result<(), String>
where
    F: FnMut(usize, Option<Found<'_>>) -> Result<(), String>,
{
    let mut failed = None;
    let found = opened.database.find_many(keys, |i, value| {
        if failed.is_none() {
            let found = value.map(|value| Found { opened, key: keys[i], value });
            failed = answer(rows[i] as usize, found).err();
        }
    });
    found.map_err(|error| opened.explain(&error))?;
    failed.map_or(Ok(()), Err)
}

impl ScalarFunction for GetFunction {
    type Bound = Call;
    type State = Reading;

    fn parameters(&self) -> Vec<LogicalType> {
        vec![Simple::Varchar.into(), self.key.logical()]
    }

    fn result(&self) -> LogicalType {
        match self.answer {
            Answer::Bytes => Simple::Blob,
            Answer::Text => Simple::Varchar,
        }
        .into()
    }

    fn form(&self) -> Form {
        Form::String
    }

    fn bind(&self, bind: &ScalarBind<'_>) -> Result<Call, String> {
        Call::of(bind)
    }

    fn begin(&self, call: Option<&Call>) -> Result<Reading, String> {
        Reading::begin(call)
    }

    fn evaluate(&self, reading: &mut Reading, rows: &Chunk<'_>, results: &mut Output<'_>) -> Result<(), String> {
        let is_text = self.answer == Answer::Text;
        reading.look_up(self.key, rows, |row, found| {
            let Some(Found { opened, key, value }) = found else {
                results.set_null(row);
                return Ok(());
            };
            if is_text && std::str::from_utf8(value).is_err() {
                return Err(opened.wrong_value(key, "is not UTF-8; read it with bsdb_get"));
            }
            results.set_bytes(row, value).map_err(|reason| opened.wrong_value(key, &format!("is too long: {reason}")))
        })
    }
}
