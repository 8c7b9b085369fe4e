//! `bsdb_field(path, key, field, default)`: one field of the row of each key, in the type of the default.

use std::fmt::Write;

use crate::ffi::{Chunk, Connection, Form, LogicalType, Output, ScalarBind, ScalarFunction, Simple};
use crate::get::{Call, Found, Reading};
use crate::keys::KeyType;
use crate::row::{RowType, Scalar};
use crate::source::Opened;

/// Registers the function.
pub fn register(connection: &Connection) -> Result<(), String> {
    let mut signatures = Vec::new();
    for key in KeyType::ALL {
        signatures.extend(FieldType::ALL.into_iter().map(|result| FieldFunction { key, result }));
    }
    connection.register_scalar(c"bsdb_field", signatures)
}

/// The type of a default and of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldType {
    Boolean,
    Bigint,
    Double,
    Varchar,
    Blob,
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Uuid,
}

impl FieldType {
    const ALL: [FieldType; 10] = [
        FieldType::Boolean,
        FieldType::Bigint,
        FieldType::Double,
        FieldType::Varchar,
        FieldType::Blob,
        FieldType::Date,
        FieldType::Time,
        FieldType::Timestamp,
        FieldType::TimestampTz,
        FieldType::Uuid,
    ];

    fn simple(self) -> Simple {
        match self {
            FieldType::Boolean => Simple::Boolean,
            FieldType::Bigint => Simple::Bigint,
            FieldType::Double => Simple::Double,
            FieldType::Varchar => Simple::Varchar,
            FieldType::Blob => Simple::Blob,
            FieldType::Date => Simple::Date,
            FieldType::Time => Simple::Time,
            FieldType::Timestamp => Simple::Timestamp,
            FieldType::TimestampTz => Simple::TimestampTz,
            FieldType::Uuid => Simple::Uuid,
        }
    }

    fn form(self) -> Form {
        match self {
            FieldType::Boolean => Form::Number(1),
            FieldType::Date => Form::Number(4),
            FieldType::Uuid => Form::Number(16),
            FieldType::Varchar | FieldType::Blob => Form::String,
            _ => Form::Number(8),
        }
    }

    /// Copies the default of a row.
    fn copy(self, rows: &Chunk<'_>, row: usize, results: &mut Output<'_>) -> Result<(), String> {
        const DEFAULT: usize = 3;
        let is_set = match self.form() {
            Form::Number(1) => rows.input::<u8>(DEFAULT).get(row).map(|value| results.set(row, value)),
            Form::Number(4) => rows.input::<i32>(DEFAULT).get(row).map(|value| results.set(row, value)),
            Form::Number(16) => rows.input::<i128>(DEFAULT).get(row).map(|value| results.set(row, value)),
            Form::Number(_) => rows.input::<i64>(DEFAULT).get(row).map(|value| results.set(row, value)),
            _ => rows.strings(DEFAULT).get(row).map(|value| results.set_bytes(row, value)).transpose()?,
        };
        if is_set.is_none() {
            results.set_null(row);
        }
        Ok(())
    }

    /// Writes a value. False if it is of another type.
    fn write(self, value: Scalar<'_>, row: usize, results: &mut Output<'_>, text: &mut String) -> Result<bool, String> {
        match (self, value) {
            (_, Scalar::Null) => results.set_null(row),
            (FieldType::Boolean, Scalar::Boolean(value)) => results.set(row, u8::from(value)),
            (FieldType::Bigint, Scalar::Integer(value)) => results.set(row, value),
            (FieldType::Double, Scalar::Double(value)) => results.set(row, value),
            (FieldType::Double, Scalar::Integer(value)) if value.unsigned_abs() <= 1 << 53 => {
                results.set(row, value as f64);
            }
            (FieldType::Varchar, Scalar::Text(value)) => results.set_bytes(row, value.as_bytes())?,
            (FieldType::Varchar, Scalar::Decimal(digits, scale)) => {
                text.clear();
                write_decimal(text, digits, scale);
                results.set_bytes(row, text.as_bytes())?;
            }
            (FieldType::Blob, Scalar::Bytes(value)) => results.set_bytes(row, value)?,
            (FieldType::Date, Scalar::Date(value)) => results.set(row, value),
            (FieldType::Time, Scalar::Time(value))
            | (FieldType::Timestamp, Scalar::Timestamp(value))
            | (FieldType::TimestampTz, Scalar::TimestampTz(value)) => results.set(row, value),
            (FieldType::Uuid, Scalar::Uuid(value)) => results.set(row, value),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Writes a decimal with all digits of its scale.
fn write_decimal(text: &mut String, digits: i128, scale: u8) {
    let one = 10u128.pow(u32::from(scale));
    let (whole, part) = (digits.unsigned_abs() / one, digits.unsigned_abs() % one);
    let sign = if digits < 0 { "-" } else { "" };
    // Writing to a string does not fail.
    let _ = match scale {
        0 => write!(text, "{sign}{whole}"),
        _ => write!(text, "{sign}{whole}.{part:0width$}", width = usize::from(scale)),
    };
}

struct FieldFunction {
    key: KeyType,
    result: FieldType,
}

/// A field that was looked for: the database, the name and the number.
type Sought = (usize, String, usize);

/// The number of a field, which is that of the row before in most cases.
fn number(opened: &Opened, name: &[u8], last: &mut Option<Sought>) -> Result<usize, String> {
    let place = std::ptr::from_ref(opened) as usize;
    match last {
        Some((at, known, number)) if *at == place && known.as_bytes() == name => Ok(*number),
        _ => {
            let name = String::from_utf8_lossy(name).into_owned();
            let number = number_of(opened, rows_of(opened)?, &name)?;
            *last = Some((place, name, number));
            Ok(number)
        }
    }
}

fn rows_of(opened: &Opened) -> Result<&RowType, String> {
    opened.row_type()?.ok_or_else(|| {
        format!("{}: values are plain bytes, not typed rows; read them with bsdb_get or bsdb_text", opened.location)
    })
}

fn number_of(opened: &Opened, rows: &RowType, name: &str) -> Result<usize, String> {
    let mut fields = rows.fields().iter();
    fields.position(|field| field.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = rows.fields().iter().map(|field| &field.name[..]).take(20).collect();
        format!("{}: there is no field {name:?}; the fields are {}", opened.location, names.join(", "))
    })
}

impl ScalarFunction for FieldFunction {
    type Bound = Call;
    type State = Reading;

    fn parameters(&self) -> Vec<LogicalType> {
        vec![Simple::Varchar.into(), self.key.logical(), Simple::Varchar.into(), self.result.simple().into()]
    }

    fn result(&self) -> LogicalType {
        self.result.simple().into()
    }

    fn form(&self) -> Form {
        self.result.form()
    }

    fn bind(&self, bind: &ScalarBind<'_>) -> Result<Call, String> {
        let call = Call::of(bind)?;
        let name = match bind.context() {
            Some(context) => bind.constant(&context, 2)?.filter(|name| !name.is_null()),
            None => None,
        };
        if let (Some(opened), Some(name)) = (call.opened(), name) {
            number_of(&opened, rows_of(&opened)?, &name.text())?;
        }
        Ok(call)
    }

    fn begin(&self, call: Option<&Call>) -> Result<Reading, String> {
        Reading::begin(call)
    }

    fn evaluate(&self, reading: &mut Reading, rows: &Chunk<'_>, results: &mut Output<'_>) -> Result<(), String> {
        let names = rows.strings(2);
        let (mut last, mut text) = (None, String::new());
        reading.look_up(self.key, rows, |row, found| {
            let Some(Found { opened, key, value }) = found else {
                return self.result.copy(rows, row, results);
            };
            let Some(name) = names.get(row) else {
                results.set_null(row);
                return Ok(());
            };
            let number = number(opened, name, &mut last)?;
            let fields = rows_of(opened)?;
            let wrong = |reason: String| opened.wrong_row(key, &reason);
            let is_fit = match fields.field(value, number).map_err(wrong)? {
                Some(value) => self.result.write(value, row, results, &mut text).map_err(wrong)?,
                None => false,
            };
            if is_fit {
                return Ok(());
            }
            let (place, kind) = (&opened.location, fields.fields()[number].kind.describe());
            let name = String::from_utf8_lossy(name);
            Err(format!(
                "{place}: the field {name:?} is {kind}, which the type of the default does not hold; \
                 give a default of another type, or read it with bsdb_rows"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::write_decimal;

    #[test]
    fn writes_decimals() {
        for (digits, scale, expected) in
            [(150, 2, "1.50"), (-5, 1, "-0.5"), (0, 0, "0"), (-7, 0, "-7"), (1, 3, "0.001"), (-100, 2, "-1.00")]
        {
            let mut text = String::new();
            write_decimal(&mut text, digits, scale);
            assert_eq!(text, expected);
        }
    }
}
