//! Vectors: the values of a column in a chunk of rows.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::api::{api, stable, Handle};

/// Rows of a chunk at most.
pub fn chunk_rows() -> usize {
    (unsafe { (stable().vector_size)() }) as usize
}

/// A chunk of rows that DuckDB has lent.
pub struct Chunk<'a> {
    handle: Handle,
    lent: PhantomData<&'a mut ()>,
}

impl<'a> Chunk<'a> {
    pub(super) unsafe fn of(handle: Handle) -> Self {
        Chunk { handle, lent: PhantomData }
    }

    pub fn rows(&self) -> usize {
        (unsafe { (stable().data_chunk_get_size)(self.handle) }) as usize
    }

    pub fn columns(&self) -> usize {
        (unsafe { (stable().data_chunk_get_column_count)(self.handle) }) as usize
    }

    /// Says how many rows have been written. The columns are whole until then.
    pub fn set_rows(&mut self, rows: usize) {
        assert!(rows <= chunk_rows(), "{rows} rows do not fit in a chunk");
        unsafe { (stable().data_chunk_set_size)(self.handle, rows as u64) };
    }

    fn column(&self, number: usize) -> Handle {
        assert!(number < self.columns(), "a chunk has no column {number}");
        unsafe { (stable().data_chunk_get_vector)(self.handle, number as u64) }
    }

    /// A column to write to, whose values have a form in memory. Each column is taken once.
    pub fn output(&mut self, number: usize, form: Form) -> Output<'a> {
        let capacity = chunk_rows();
        unsafe { Output::of(self.column(number), form, capacity) }
    }

    /// A column of values of a width, to read.
    pub fn input<T: Number>(&self, number: usize) -> Input<'a, T> {
        unsafe { Input::of(self.column(number), self.rows()) }
    }

    /// A column of text or bytes, to read.
    pub fn strings(&self, number: usize) -> Strings<'a> {
        unsafe { Strings::of(self.column(number), self.rows()) }
    }
}

/// How the values of a vector lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Numbers of so many bytes.
    Number(u8),
    /// Text or bytes.
    String,
    /// Lists, or maps, which are lists of keys and values.
    List,
    /// Structures, and unions, which are structures of a tag and a member for each type.
    Struct,
    /// Only NULL.
    Null,
}

/// A number of DuckDB's, with any bits.
pub trait Number: Copy + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty),*) => { $(impl sealed::Sealed for $number {} impl Number for $number {})* };
}
numbers!(u8, u16, u32, u64, i16, i32, i64, i128, f32, f64, Interval, Part, Word);

/// An interval, as DuckDB stores it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

/// The part of a list's items that belongs to a row.
#[derive(Clone, Copy)]
#[repr(C)]
struct Part {
    offset: u64,
    length: u64,
}

/// Text or bytes, as DuckDB stores them: the length, and up to 12 bytes themselves, otherwise their first 4 and a pointer.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Word {
    length: u32,
    bytes: [u8; INLINE],
}

/// The most bytes of a string that lie in the vector itself.
const INLINE: usize = 12;

/// A vector that is written.
pub struct Output<'a> {
    handle: Handle,
    form: Form,
    data: *mut u8,
    /// Null as long as no value is.
    validity: *mut u64,
    capacity: usize,
    lent: PhantomData<&'a mut ()>,
}

impl<'a> Output<'a> {
    /// # Safety
    ///
    /// The vector is lent for `'a`, is not used by others, and has `capacity` values of the form.
    pub(super) unsafe fn of(handle: Handle, form: Form, capacity: usize) -> Self {
        let mut output =
            Output { handle, form, data: ptr::null_mut(), validity: ptr::null_mut(), capacity, lent: PhantomData };
        output.find(capacity);
        output
    }

    /// Finds the values again, after a list has got more room.
    fn find(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.data = match self.form {
            Form::Struct | Form::Null => ptr::null_mut(),
            _ => unsafe { (stable().vector_get_data)(self.handle) }.cast(),
        };
        self.validity = ptr::null_mut();
    }

    /// Writes a number, whose width is that of the vector.
    #[inline]
    pub fn set<T: Number>(&mut self, row: usize, value: T) {
        assert!(self.form == Form::Number(size_of::<T>() as u8) && row < self.capacity, "no such number in a vector");
        unsafe { self.data.cast::<T>().add(row).write_unaligned(value) };
    }

    /// Writes text or bytes.
    #[inline]
    pub fn set_bytes(&mut self, row: usize, bytes: &[u8]) -> Result<(), String> {
        assert!(self.form == Form::String && row < self.capacity, "no such string in a vector");
        if bytes.len() <= INLINE {
            let mut word = Word { length: bytes.len() as u32, bytes: [0; INLINE] };
            word.bytes[..bytes.len()].copy_from_slice(bytes);
            unsafe { self.data.cast::<Word>().add(row).write(word) };
            return Ok(());
        }
        if bytes.len() > u32::MAX as usize {
            return Err(format!("a value of {} bytes, and those of DuckDB have at most {}", bytes.len(), u32::MAX));
        }
        // The other function of DuckDB 2.0 looks at each text to see whether it is UTF-8, which has been done.
        let assign = match &api().later {
            Some(later) => later.unsafe_vector_assign_string_element_len,
            None => stable().vector_assign_string_element_len,
        };
        unsafe { assign(self.handle, row as u64, bytes.as_ptr().cast::<c_char>(), bytes.len() as u64) };
        Ok(())
    }

    /// Makes a value NULL. Of a structure, its members must be made NULL as well.
    #[inline]
    pub fn set_null(&mut self, row: usize) {
        assert!(row < self.capacity, "no such row in a vector");
        if self.validity.is_null() {
            unsafe { (stable().vector_ensure_validity_writable)(self.handle) };
            self.validity = unsafe { (stable().vector_get_validity)(self.handle) };
        }
        unsafe { *self.validity.add(row / 64) &= !(1 << (row % 64)) };
    }

    /// A member of a structure.
    pub fn member(&self, number: usize, form: Form) -> Output<'a> {
        assert!(self.form == Form::Struct, "a vector without members");
        let handle = unsafe { (stable().struct_vector_get_child)(self.handle, number as u64) };
        unsafe { Output::of(handle, form, self.capacity) }
    }

    /// Gives a structure's member the room that the structure has.
    pub fn find_member(&self, member: &mut Output<'a>) {
        member.find(self.capacity);
    }

    /// The items of lists, with room for so many.
    pub fn items(&self, form: Form, room: usize) -> Result<Output<'a>, String> {
        assert!(self.form == Form::List, "a vector without items");
        self.reserve(room)?;
        let handle = unsafe { (stable().list_vector_get_child)(self.handle) };
        Ok(unsafe { Output::of(handle, form, room) })
    }

    /// Makes room for more items.
    pub fn find_items(&self, items: &mut Output<'a>, room: usize) -> Result<(), String> {
        self.reserve(room)?;
        items.find(room);
        Ok(())
    }

    fn reserve(&self, room: usize) -> Result<(), String> {
        // DuckDB has vectors of up to 128 GiB, and throws beyond that, which must not pass through here.
        const MOST: usize = 1 << 32;
        if room > MOST {
            return Err(format!("more than {MOST} items of lists in one chunk of rows; read fewer keys at once"));
        }
        match unsafe { (stable().list_vector_reserve)(self.handle, room as u64) } {
            0 => Ok(()),
            _ => Err(format!("no memory for {room} items of lists in one chunk of rows")),
        }
    }

    /// Says which items are those of a row.
    pub fn set_list(&mut self, row: usize, offset: usize, length: usize) {
        assert!(self.form == Form::List && row < self.capacity, "no such list in a vector");
        let part = Part { offset: offset as u64, length: length as u64 };
        unsafe { self.data.cast::<Part>().add(row).write(part) };
    }

    /// Says how many items have been written.
    pub fn set_items(&mut self, count: usize) {
        assert!(self.form == Form::List, "a vector without items");
        unsafe { (stable().list_vector_set_size)(self.handle, count as u64) };
    }

    pub fn form(&self) -> Form {
        self.form
    }

    /// How many values fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

/// A vector that is read.
pub struct Input<'a, T> {
    data: NonNull<T>,
    /// Null if no value is.
    validity: *const u64,
    rows: usize,
    lent: PhantomData<&'a T>,
}

impl<T: Number> Input<'_, T> {
    unsafe fn of(handle: Handle, rows: usize) -> Self {
        let data = unsafe { (stable().vector_get_data)(handle) }.cast::<T>();
        let validity = unsafe { (stable().vector_get_validity)(handle) };
        Input { data: NonNull::new(data).unwrap_or(NonNull::dangling()), validity, rows, lent: PhantomData }
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        self.is_valid(row).then(|| unsafe { self.data.as_ptr().add(row).read_unaligned() })
    }

    #[inline]
    fn is_valid(&self, row: usize) -> bool {
        assert!(row < self.rows, "no such row in a vector");
        self.validity.is_null() || unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 1
    }
}

/// A vector of text or bytes that is read.
pub struct Strings<'a>(Input<'a, Word>);

impl<'a> Strings<'a> {
    /// # Safety
    ///
    /// The vector is lent for `'a`, and has `rows` values of text or bytes.
    pub(super) unsafe fn of(handle: Handle, rows: usize) -> Self {
        Strings(unsafe { Input::of(handle, rows) })
    }

    /// The bytes of a row, unless they are NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        if !self.0.is_valid(row) {
            return None;
        }
        let word = unsafe { &*self.0.data.as_ptr().add(row) };
        let length = word.length as usize;
        if length <= INLINE {
            return Some(&word.bytes[..length]);
        }
        let [_, _, _, _, pointer @ ..] = word.bytes;
        let pointer = usize::from_ne_bytes(pointer) as *const u8;
        Some(unsafe { std::slice::from_raw_parts(pointer, length) })
    }
}
