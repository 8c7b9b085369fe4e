//! The values of Arrow arrays as keys and as parts of rows in Avro's binary encoding (docs/guides/rows.md).

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, BinaryViewArray, BooleanArray, FixedSizeBinaryArray};
use arrow_schema::{DataType, TimeUnit};

use super::text;
use super::types::{Column, Kind};

const DAY_MILLIS: i64 = 86_400_000;

/// Why a value cannot be stored: the names of the columns in which it is, from the innermost, and the reason.
#[derive(Debug)]
pub(crate) struct Problem {
    path: Vec<String>,
    pub(crate) reason: String,
}

impl Problem {
    pub(crate) fn new(reason: impl Into<String>) -> Problem {
        Problem { path: Vec::new(), reason: reason.into() }
    }

    pub(crate) fn within(mut self, column: &str) -> Problem {
        self.path.push(column.to_owned());
        self
    }

    /// The column, as in `a.b`.
    pub(crate) fn column(&self) -> String {
        let names: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
        names.join(".")
    }
}

/// The values of one column in a batch.
pub(crate) struct Cells<'a> {
    column: &'a Column,
    array: &'a dyn Array,
    values: Values<'a>,
}

enum Values<'a> {
    Null,
    Boolean(&'a BooleanArray),
    Integers(Integers<'a>),
    /// Milliseconds, of whole days only.
    Days(&'a [i64]),
    /// Numbers, and the factor to the unit that is stored.
    Times(Integers<'a>, i64),
    Half(&'a [<Float16Type as ArrowPrimitiveType>::Native]),
    Floats(&'a [f32]),
    Doubles(&'a [f64]),
    Decimals(Decimals<'a>),
    Bytes(Bytes<'a>),
    Durations(&'a [IntervalMonthDayNano]),
    List(Lists<'a>, Box<Cells<'a>>),
    /// The keys and values of entries.
    Map(&'a [i32], Box<[Cells<'a>; 2]>),
    Struct(Vec<Cells<'a>>),
    /// Places in the values of a dictionary.
    Dictionary(Integers<'a>, Box<Cells<'a>>),
}

enum Integers<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

enum Decimals<'a> {
    U64(&'a [u64]),
    D32(&'a [i32]),
    D64(&'a [i64]),
    D128(&'a [i128]),
    D256(&'a [<Decimal256Type as ArrowPrimitiveType>::Native]),
}

enum Bytes<'a> {
    Small(&'a [i32], &'a [u8]),
    Large(&'a [i64], &'a [u8]),
    Views(BinaryViewArray),
    Fixed(&'a FixedSizeBinaryArray),
}

enum Lists<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
    SmallViews(&'a [i32], &'a [i32]),
    LargeViews(&'a [i64], &'a [i64]),
    Fixed(usize),
}

impl Integers<'_> {
    fn of(array: &dyn Array) -> Option<Integers<'_>> {
        Some(match array.data_type() {
            DataType::Int8 => Integers::I8(array.as_primitive::<Int8Type>().values()),
            DataType::Int16 => Integers::I16(array.as_primitive::<Int16Type>().values()),
            DataType::Int32 => Integers::I32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Integers::I64(array.as_primitive::<Int64Type>().values()),
            DataType::UInt8 => Integers::U8(array.as_primitive::<UInt8Type>().values()),
            DataType::UInt16 => Integers::U16(array.as_primitive::<UInt16Type>().values()),
            DataType::UInt32 => Integers::U32(array.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => Integers::U64(array.as_primitive::<UInt64Type>().values()),
            DataType::Date32 => Integers::I32(array.as_primitive::<Date32Type>().values()),
            DataType::Time32(TimeUnit::Second) => Integers::I32(array.as_primitive::<Time32SecondType>().values()),
            DataType::Time32(_) => Integers::I32(array.as_primitive::<Time32MillisecondType>().values()),
            DataType::Time64(TimeUnit::Microsecond) => {
                Integers::I64(array.as_primitive::<Time64MicrosecondType>().values())
            }
            DataType::Time64(_) => Integers::I64(array.as_primitive::<Time64NanosecondType>().values()),
            DataType::Timestamp(TimeUnit::Second, _) => {
                Integers::I64(array.as_primitive::<TimestampSecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                Integers::I64(array.as_primitive::<TimestampMillisecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Integers::I64(array.as_primitive::<TimestampMicrosecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                Integers::I64(array.as_primitive::<TimestampNanosecondType>().values())
            }
            DataType::Duration(TimeUnit::Second) => Integers::I64(array.as_primitive::<DurationSecondType>().values()),
            DataType::Duration(TimeUnit::Millisecond) => {
                Integers::I64(array.as_primitive::<DurationMillisecondType>().values())
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                Integers::I64(array.as_primitive::<DurationMicrosecondType>().values())
            }
            DataType::Duration(TimeUnit::Nanosecond) => {
                Integers::I64(array.as_primitive::<DurationNanosecondType>().values())
            }
            _ => return None,
        })
    }

    #[inline]
    fn at(&self, row: usize) -> i64 {
        match self {
            Integers::I8(values) => values[row].into(),
            Integers::I16(values) => values[row].into(),
            Integers::I32(values) => values[row].into(),
            Integers::I64(values) => values[row],
            Integers::U8(values) => values[row].into(),
            Integers::U16(values) => values[row].into(),
            Integers::U32(values) => values[row].into(),
            // Only places in a dictionary, which are in range.
            Integers::U64(values) => values[row] as i64,
        }
    }
}

impl Bytes<'_> {
    #[inline]
    fn at(&self, row: usize) -> &[u8] {
        match self {
            Bytes::Small(offsets, data) => &data[offsets[row] as usize..offsets[row + 1] as usize],
            Bytes::Large(offsets, data) => &data[offsets[row] as usize..offsets[row + 1] as usize],
            Bytes::Views(array) => array.value(row),
            Bytes::Fixed(array) => array.value(row),
        }
    }
}

impl Lists<'_> {
    fn at(&self, row: usize) -> Range<usize> {
        match self {
            Lists::Small(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Lists::Large(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Lists::SmallViews(offsets, sizes) => {
                let start = offsets[row] as usize;
                start..start + sizes[row] as usize
            }
            Lists::LargeViews(offsets, sizes) => {
                let start = offsets[row] as usize;
                start..start + sizes[row] as usize
            }
            Lists::Fixed(size) => row * size..(row + 1) * size,
        }
    }
}

impl<'a> Cells<'a> {
    /// The values of an array, which has the type of the column.
    pub(crate) fn of(column: &'a Column, array: &'a dyn Array) -> Cells<'a> {
        let data_type = array.data_type();
        let values = match (&column.kind, data_type) {
            (_, DataType::Dictionary(_, _)) => {
                let dictionary = array.as_any_dictionary();
                let values = Cells::of(column, &**dictionary.values());
                match Integers::of(dictionary.keys()) {
                    Some(places) => Values::Dictionary(places, Box::new(values)),
                    None => Values::Null,
                }
            }
            (Kind::Boolean, _) => Values::Boolean(array.as_boolean()),
            (_, DataType::UInt64) => Values::Decimals(Decimals::U64(array.as_primitive::<UInt64Type>().values())),
            (_, DataType::Decimal32(..)) => {
                Values::Decimals(Decimals::D32(array.as_primitive::<Decimal32Type>().values()))
            }
            (_, DataType::Decimal64(..)) => {
                Values::Decimals(Decimals::D64(array.as_primitive::<Decimal64Type>().values()))
            }
            (_, DataType::Decimal128(..)) => {
                Values::Decimals(Decimals::D128(array.as_primitive::<Decimal128Type>().values()))
            }
            (_, DataType::Decimal256(..)) => {
                Values::Decimals(Decimals::D256(array.as_primitive::<Decimal256Type>().values()))
            }
            (_, DataType::Float16) => Values::Half(array.as_primitive::<Float16Type>().values()),
            (_, DataType::Float32) => Values::Floats(array.as_primitive::<Float32Type>().values()),
            (_, DataType::Float64) => Values::Doubles(array.as_primitive::<Float64Type>().values()),
            (_, DataType::Date64) => Values::Days(array.as_primitive::<Date64Type>().values()),
            (_, DataType::Interval(_)) => Values::Durations(array.as_primitive::<IntervalMonthDayNanoType>().values()),
            // The bytes of a text are checked when they are written.
            (_, DataType::Utf8) => {
                let array = array.as_string::<i32>();
                Values::Bytes(Bytes::Small(array.value_offsets(), array.value_data()))
            }
            (_, DataType::LargeUtf8) => {
                let array = array.as_string::<i64>();
                Values::Bytes(Bytes::Large(array.value_offsets(), array.value_data()))
            }
            (_, DataType::Binary) => {
                let array = array.as_binary::<i32>();
                Values::Bytes(Bytes::Small(array.value_offsets(), array.value_data()))
            }
            (_, DataType::LargeBinary) => {
                let array = array.as_binary::<i64>();
                Values::Bytes(Bytes::Large(array.value_offsets(), array.value_data()))
            }
            (_, DataType::Utf8View) => Values::Bytes(Bytes::Views(array.as_string_view().clone().to_binary_view())),
            (_, DataType::BinaryView) => Values::Bytes(Bytes::Views(array.as_binary_view().clone())),
            (_, DataType::FixedSizeBinary(_)) => Values::Bytes(Bytes::Fixed(array.as_fixed_size_binary())),
            (Kind::List(item), DataType::List(_)) => {
                let list = array.as_list::<i32>();
                Values::List(Lists::Small(list.value_offsets()), Box::new(Cells::of(item, &**list.values())))
            }
            (Kind::List(item), DataType::LargeList(_)) => {
                let list = array.as_list::<i64>();
                Values::List(Lists::Large(list.value_offsets()), Box::new(Cells::of(item, &**list.values())))
            }
            (Kind::List(item), DataType::ListView(_)) => {
                let list = array.as_list_view::<i32>();
                let places = Lists::SmallViews(list.value_offsets(), list.value_sizes());
                Values::List(places, Box::new(Cells::of(item, &**list.values())))
            }
            (Kind::List(item), DataType::LargeListView(_)) => {
                let list = array.as_list_view::<i64>();
                let places = Lists::LargeViews(list.value_offsets(), list.value_sizes());
                Values::List(places, Box::new(Cells::of(item, &**list.values())))
            }
            (Kind::List(item), DataType::FixedSizeList(_, size)) => {
                let list = array.as_fixed_size_list();
                Values::List(Lists::Fixed(*size as usize), Box::new(Cells::of(item, &**list.values())))
            }
            (Kind::Map(value), DataType::Map(..)) => {
                let map = array.as_map();
                let pair = [Cells::of(&TEXT_KEY, &**map.keys()), Cells::of(value, &**map.values())];
                Values::Map(map.value_offsets(), Box::new(pair))
            }
            (Kind::Pairs(columns), DataType::Map(..)) => {
                let map = array.as_map();
                let pair = [Cells::of(&columns[0], &**map.keys()), Cells::of(&columns[1], &**map.values())];
                Values::Map(map.value_offsets(), Box::new(pair))
            }
            (Kind::Struct(columns), DataType::Struct(_)) => {
                let fields = columns.iter().zip(array.as_struct().columns());
                Values::Struct(fields.map(|(column, array)| Cells::of(column, &**array)).collect())
            }
            (kind, data_type) => match Integers::of(array) {
                Some(numbers) => match (kind, data_type) {
                    (Kind::Time(_) | Kind::Timestamp(_) | Kind::LocalTimestamp(_), _) => {
                        let seconds = matches!(
                            data_type,
                            DataType::Time32(TimeUnit::Second) | DataType::Timestamp(TimeUnit::Second, _)
                        );
                        Values::Times(numbers, if seconds { 1000 } else { 1 })
                    }
                    _ => Values::Integers(numbers),
                },
                None => Values::Null,
            },
        };
        Cells { column, array, values }
    }

    /// The cells of a field of a struct.
    pub(crate) fn field(&self, place: usize) -> Option<&Cells<'a>> {
        match &self.values {
            Values::Struct(fields) => fields.get(place),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Values::Null => true,
            Values::Dictionary(places, values) => self.array.is_null(row) || values.is_null(places.at(row) as usize),
            _ => self.array.is_null(row),
        }
    }

    /// Writes a value as a part of a row.
    pub(crate) fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
        if self.column.kind == Kind::Null {
            return Ok(());
        }
        let null = self.is_null(row);
        if self.column.nullable {
            out.push(if null { 0 } else { 2 });
        } else if null {
            return Err(Problem::new("is null, and the column is declared as not nullable").within(&self.column.name));
        }
        if null {
            return Ok(());
        }
        self.value(row, out).map_err(|problem| problem.within(&self.column.name))
    }

    fn value(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
        match &self.values {
            Values::Null => {}
            Values::Boolean(values) => out.push(values.value(row).into()),
            Values::Integers(_) | Values::Days(_) | Values::Times(..) => put_long(self.number(row)?, out),
            Values::Half(values) => out.extend(half(values[row].to_bits()).to_le_bytes()),
            Values::Floats(values) => out.extend(values[row].to_le_bytes()),
            Values::Doubles(values) => out.extend(values[row].to_le_bytes()),
            Values::Decimals(decimals) => self.decimal(decimals, row, out)?,
            Values::Bytes(bytes) => {
                let bytes = bytes.at(row);
                if self.column.kind == Kind::String {
                    if std::str::from_utf8(bytes).is_err() {
                        return Err(Problem::new("is text that is not UTF-8"));
                    }
                    put_long(bytes.len() as i64, out);
                } else if self.column.kind == Kind::Bytes {
                    put_long(bytes.len() as i64, out);
                }
                reserve(bytes.len(), out)?;
                out.extend(bytes);
            }
            Values::Durations(values) => {
                for number in duration(values[row])? {
                    out.extend(number.to_le_bytes());
                }
            }
            Values::List(lists, items) => {
                let range = lists.at(row);
                if !range.is_empty() {
                    put_long(range.len() as i64, out);
                    reserve(range.len(), out)?;
                    for item in range {
                        items.write(item, out)?;
                    }
                }
                out.push(0);
            }
            Values::Map(offsets, pair) => {
                let range = Lists::Small(offsets).at(row);
                if !range.is_empty() {
                    put_long(range.len() as i64, out);
                    for entry in range {
                        pair[0].write(entry, out)?;
                        pair[1].write(entry, out)?;
                    }
                }
                out.push(0);
            }
            Values::Struct(fields) => {
                for field in fields {
                    field.write(row, out)?;
                }
            }
            Values::Dictionary(places, values) => return values.value(places.at(row) as usize, out),
        }
        Ok(())
    }

    /// The number that is stored for one that is neither a fraction nor a decimal.
    fn number(&self, row: usize) -> Result<i64, Problem> {
        match &self.values {
            Values::Days(values) => {
                let millis = values[row];
                if millis % DAY_MILLIS != 0 {
                    return Err(Problem::new(format!("is {millis} ms, and dates are whole days")));
                }
                Ok(millis / DAY_MILLIS)
            }
            Values::Times(numbers, factor) => {
                let number = numbers.at(row);
                let scaled = number.checked_mul(*factor);
                let scaled = scaled.ok_or_else(|| Problem::new(format!("is {number} s, too many for milliseconds")))?;
                match self.column.kind {
                    Kind::Time(digits) if !(0..=86_400 * 10i64.pow(digits)).contains(&scaled) => {
                        Err(Problem::new("is a time outside of the day"))
                    }
                    _ => Ok(scaled),
                }
            }
            Values::Integers(numbers) => Ok(numbers.at(row)),
            _ => Ok(0),
        }
    }

    /// Writes an unscaled number in as few bytes as it needs, preceded by their count.
    fn decimal(&self, decimals: &Decimals<'_>, row: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
        self.check_precision(decimals, row)?;
        let small = match decimals {
            Decimals::U64(values) => i128::from(values[row]),
            Decimals::D32(values) => values[row].into(),
            Decimals::D64(values) => values[row].into(),
            Decimals::D128(values) => values[row],
            Decimals::D256(values) => {
                put_shortest(&values[row].to_be_bytes(), out);
                return Ok(());
            }
        };
        put_shortest(&small.to_be_bytes(), out);
        Ok(())
    }

    fn check_precision(&self, decimals: &Decimals<'_>, row: usize) -> Result<(), Problem> {
        let Kind::Decimal { precision, scale } = self.column.kind else {
            return Ok(());
        };
        let fits = match decimals {
            Decimals::U64(_) => true,
            Decimals::D32(values) => Decimal32Type::is_valid_decimal_precision(values[row], precision),
            Decimals::D64(values) => Decimal64Type::is_valid_decimal_precision(values[row], precision),
            Decimals::D128(values) => Decimal128Type::is_valid_decimal_precision(values[row], precision),
            Decimals::D256(values) => Decimal256Type::is_valid_decimal_precision(values[row], precision),
        };
        if fits {
            return Ok(());
        }
        let mut number = Vec::new();
        text::decimal(&unscaled(decimals, row), scale, &mut number);
        let number = String::from_utf8_lossy(&number);
        Err(Problem::new(format!("is {number}, which does not fit decimal({precision},{scale})")))
    }

    /// The bytes of a value of text or binary type; of others, nothing.
    pub(crate) fn bytes(&self, row: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Bytes(bytes) => Some(bytes.at(row)),
            Values::Dictionary(places, values) => values.bytes(places.at(row) as usize),
            _ => None,
        }
    }

    /// Writes a value, which is not null, as a key: bytes as they are, and all else in its JSON form without quotes.
    pub(crate) fn key(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
        self.key_text(row, out).map_err(|problem| problem.within(&self.column.name))
    }

    fn key_text(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
        match (&self.values, &self.column.kind) {
            (Values::Dictionary(places, values), _) => return values.key_text(places.at(row) as usize, out),
            (Values::Bytes(bytes), Kind::Uuid) => text::uuid(bytes.at(row), out),
            (Values::Bytes(bytes), _) => {
                reserve(bytes.at(row).len(), out)?;
                out.extend(bytes.at(row));
            }
            (Values::Boolean(values), _) => text::display(values.value(row), out),
            (Values::Half(values), _) => text::float(half(values[row].to_bits()), out),
            (Values::Floats(values), _) => text::float(values[row], out),
            (Values::Doubles(values), _) => text::float(values[row], out),
            (Values::Decimals(decimals), Kind::Decimal { scale, .. }) => {
                self.check_precision(decimals, row)?;
                text::decimal(&unscaled(decimals, row), *scale, out);
            }
            (Values::Durations(values), _) => {
                let [months, days, millis] = duration(values[row])?;
                text::duration(months, days, millis, out);
            }
            (Values::Integers(_) | Values::Days(_) | Values::Times(..), kind) => {
                let number = self.number(row)?;
                match kind {
                    Kind::Date => text::date(number, out),
                    Kind::Time(digits) => text::time(number, *digits, out),
                    Kind::Timestamp(digits) => {
                        text::timestamp(number, *digits, out);
                        out.push(b'Z');
                    }
                    Kind::LocalTimestamp(digits) => text::timestamp(number, *digits, out),
                    _ => text::display(number, out),
                }
            }
            _ => return Err(Problem::new("is of a type that cannot be a key")),
        }
        Ok(())
    }
}

/// The keys of a map from text.
static TEXT_KEY: Column = Column { name: String::new(), kind: Kind::String, nullable: false };

fn unscaled(decimals: &Decimals<'_>, row: usize) -> String {
    match decimals {
        Decimals::U64(values) => values[row].to_string(),
        Decimals::D32(values) => values[row].to_string(),
        Decimals::D64(values) => values[row].to_string(),
        Decimals::D128(values) => values[row].to_string(),
        Decimals::D256(values) => values[row].to_string(),
    }
}

/// Months, days and milliseconds, as Avro has them.
fn duration(span: IntervalMonthDayNano) -> Result<[u32; 3], Problem> {
    let millis = span.nanoseconds / 1_000_000;
    match (u32::try_from(span.months), u32::try_from(span.days), u32::try_from(millis)) {
        (Ok(months), Ok(days), Ok(millis)) if span.nanoseconds % 1_000_000 == 0 => Ok([months, days, millis]),
        _ => Err(Problem::new(format!(
            "is a time span of {} months, {} days and {} ns; in rows, they have whole milliseconds and no sign",
            span.months, span.days, span.nanoseconds
        ))),
    }
}

/// Writes a number in Avro's variable length.
fn put_long(number: i64, out: &mut Vec<u8>) {
    let mut rest = (number << 1 ^ number >> 63) as u64;
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Writes a number in two's complement, highest byte first, in as few bytes as it needs.
fn put_shortest(bytes: &[u8], out: &mut Vec<u8>) {
    let sign = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
    let mut start = 0;
    while start + 1 < bytes.len() && bytes[start] == sign && (bytes[start + 1] ^ sign) & 0x80 == 0 {
        start += 1;
    }
    put_long((bytes.len() - start) as i64, out);
    out.extend(&bytes[start..]);
}

/// A number of 16 bits. Keeps the bits of those that are not numbers.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let fraction = u32::from(bits & 0x3ff);
    match bits >> 10 & 0x1f {
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        0 => f32::from_bits((fraction as f32 * (-24f32).exp2()).to_bits() | sign),
        exponent => f32::from_bits(sign | (u32::from(exponent) + 112) << 23 | fraction << 13),
    }
}

fn reserve(bytes: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
    out.try_reserve(bytes).map_err(|_| Problem::new(format!("has {bytes} bytes, for which there is no memory")))
}
