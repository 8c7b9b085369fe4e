//! Types of the elements of vectors, as NumPy and Arrow have them.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, FixedSizeListArray};
use arrow_schema::DataType;
use bsdb::{Element, ValueElements};

/// The type as NumPy writes it: `<f4`.
pub(crate) fn numpy(element: Element) -> String {
    let (kind, size) = (element.name().chars().next().unwrap_or('V'), element.size());
    let order = if size == 1 { '|' } else { '<' };
    format!("{order}{kind}{size}")
}

/// The elements of a column, if it is one of vectors.
pub(crate) fn of_column(data_type: &DataType) -> Option<ValueElements> {
    let DataType::FixedSizeList(item, count) = data_type else { return None };
    let element = match item.data_type() {
        DataType::Float16 => Element::F16,
        DataType::Float32 => Element::F32,
        DataType::Float64 => Element::F64,
        DataType::Int8 => Element::I8,
        DataType::UInt8 => Element::U8,
        DataType::Int16 => Element::I16,
        DataType::Int32 => Element::I32,
        DataType::Int64 => Element::I64,
        _ => return None,
    };
    format!("{element} {count}").parse().ok()
}

/// The vectors of a column.
pub(crate) struct Vectors<'a> {
    list: &'a FixedSizeListArray,
    /// The elements of all vectors.
    data: &'a [u8],
    /// Bytes of a vector.
    width: usize,
}

impl<'a> Vectors<'a> {
    /// None if this is no column of vectors.
    pub(crate) fn of(array: &'a dyn Array) -> Option<Vectors<'a>> {
        let list = array.as_fixed_size_list_opt()?;
        let items: &'a dyn Array = &**list.values();
        macro_rules! bytes {
            ($kind:ty) => {
                items.as_primitive::<$kind>().values().inner().as_slice()
            };
        }
        let data = match items.data_type() {
            DataType::Float16 => bytes!(Float16Type),
            DataType::Float32 => bytes!(Float32Type),
            DataType::Float64 => bytes!(Float64Type),
            DataType::Int8 => bytes!(Int8Type),
            DataType::UInt8 => bytes!(UInt8Type),
            DataType::Int16 => bytes!(Int16Type),
            DataType::Int32 => bytes!(Int32Type),
            DataType::Int64 => bytes!(Int64Type),
            _ => return None,
        };
        let size = items.data_type().primitive_width()?;
        Some(Vectors { list, data, width: list.value_length() as usize * size })
    }

    /// The vector of a row, or None if it, or one of its elements, is null.
    pub(crate) fn get(&self, row: usize) -> Option<&'a [u8]> {
        let items = self.list.values();
        let count = self.list.value_length() as usize;
        let null = |row| items.null_count() > 0 && (row * count..(row + 1) * count).any(|i| items.is_null(i));
        if self.list.is_null(row) || null(row) {
            return None;
        }
        self.data.get(row * self.width..(row + 1) * self.width)
    }
}
