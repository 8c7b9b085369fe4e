//! Values where they lie, and batches.

use std::borrow::Cow;
use std::ffi::c_void;
use std::ptr;

use reader::Database;

use crate::call::{call, key, set};
use crate::database::{bsdb_database, reader};
use crate::error::{bsdb_error, bsdb_status, Failure};
use crate::quiet::quiet;

/// Keys that are looked up together: as many as a batch has reads before the device at once.
const CHUNK: usize = 128;

/// The same elsewhere: requests for neighbors are joined.
const REMOTE_CHUNK: usize = 1024;

/// A value where it lies in a mapped file, or a copy of it.
///
/// It is a copy if the value does not lie in a mapped file in one piece: values that are compressed, values
/// that are longer than a page, and values of databases that are not mapped, such as those elsewhere. Either way
/// the caller releases it with `bsdb_release_views`, which frees copies and does nothing with others.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_view {
    /// The bytes, or NULL if there is no value. Not NULL if the value is empty. If `owner` is NULL, valid
    /// until the last reference to the database is dropped, released or not. Otherwise valid until the view
    /// is released, even if the database is closed before.
    pub data: *const u8,
    /// The number of bytes.
    pub length: usize,
    /// NULL if the bytes lie in a mapped file, otherwise what `bsdb_release_views` frees. Must not be
    /// changed.
    pub owner: *mut c_void,
}

impl bsdb_view {
    pub(crate) const NONE: bsdb_view = bsdb_view { data: ptr::null(), length: 0, owner: ptr::null_mut() };

    #[inline(always)]
    fn of(value: Cow<'_, [u8]>) -> Self {
        match value {
            Cow::Borrowed(bytes) => bsdb_view { data: bytes.as_ptr(), length: bytes.len(), owner: ptr::null_mut() },
            Cow::Owned(bytes) => bsdb_view::owning(bytes),
        }
    }

    pub(crate) fn owning(bytes: Vec<u8>) -> Self {
        static EMPTY: [u8; 1] = [0];
        if bytes.is_empty() {
            return bsdb_view { data: EMPTY.as_ptr(), length: 0, owner: ptr::null_mut() };
        }
        let length = bytes.len();
        let owner = Box::into_raw(bytes.into_boxed_slice()).cast::<u8>();
        bsdb_view { data: owner, length, owner: owner.cast() }
    }
}

/// The value of a key where it lies, without a copy if possible. A value that lies in one piece in a mapped
/// file costs no allocation and no change of a counter.
///
/// Returns BSDB_OK and sets `*view`, which the caller releases with `bsdb_release_views(view, 1)`; or
/// BSDB_ABSENT or an error, with `*view` set to NULL and 0, which need not be released. What `*view` held
/// before is not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_get_view(
    database: *const bsdb_database,
    key: *const c_void,
    key_length: usize,
    view: *mut bsdb_view,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(view, bsdb_view::NONE, "view")?;
            let database = reader(database)?;
            let Some(key) = self::key(key, key_length)? else {
                return Ok(bsdb_status::BSDB_ABSENT);
            };
            match database.get_ref(key)? {
                Some(value) => view.write(bsdb_view::of(value)),
                None => return Ok(bsdb_status::BSDB_ABSENT),
            }
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Views that are released unless all of them were filled.
struct Filling {
    views: *mut bsdb_view,
    count: usize,
}

impl Drop for Filling {
    fn drop(&mut self) {
        // SAFETY: `bsdb_get_batch` has set all of them.
        unsafe { bsdb_release_views(self.views, self.count) };
    }
}

/// The values of many keys at once. Much quicker than one lookup after the other: the waits for memory or
/// for the device overlap.
///
/// `keys` and `key_lengths` have `count` elements; they may be NULL if `count` is 0. `views` has room for
/// `count` views. Returns BSDB_OK with `views` filled in the order of the keys: a view whose `data` is NULL
/// for a key that is absent. The caller releases them with `bsdb_release_views(views, count)`. What the views
/// held before is not released.
///
/// On an error about any of the keys, returns it, with all views set to NULL and 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_get_batch(
    database: *const bsdb_database,
    keys: *const *const c_void,
    key_lengths: *const usize,
    count: usize,
    views: *mut bsdb_view,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            if count > isize::MAX as usize / size_of::<bsdb_view>() {
                return Err(bsdb_error::invalid(format!("count is {count}")));
            }
            if count > 0 && views.is_null() {
                return Err(bsdb_error::null("views"));
            }
            for i in 0..count {
                views.add(i).write(bsdb_view::NONE);
            }
            let filling = Filling { views, count };
            let database = reader(database)?;
            if database.is_remote() {
                fill_views::<REMOTE_CHUNK>(database, keys, key_lengths, count, views)?;
            } else {
                fill_views::<CHUNK>(database, keys, key_lengths, count, views)?;
            }
            std::mem::forget(filling);
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Sets the views of keys that are present.
///
/// # Safety
///
/// `keys` and `lengths` are as `Chunk::of` demands, and there are `count` views.
unsafe fn fill_views<const N: usize>(
    database: &Database,
    keys: *const *const c_void,
    lengths: *const usize,
    count: usize,
    views: *mut bsdb_view,
) -> Result<(), Failure> {
    for start in (0..count).step_by(N) {
        // SAFETY: as the caller says.
        let chunk = unsafe { Chunk::<N>::of(keys, lengths, start, count) }?;
        for (&place, value) in chunk.places().iter().zip(database.get_many(chunk.keys())?) {
            if let Some(value) = value {
                // SAFETY: `place` is less than `count`.
                unsafe { views.add(place).write(bsdb_view::of(value)) };
            }
        }
    }
    Ok(())
}

/// Releases views: frees copies, does nothing with bytes that lie in mapped files, and sets all to NULL, so
/// that releasing them again does nothing. `views` are `count` views that `bsdb_get_view` or `bsdb_get_batch`
/// filled, or the caller set to zeros; it may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_release_views(views: *mut bsdb_view, count: usize) {
    if views.is_null() {
        return;
    }
    quiet((), || {
        for i in 0..count {
            // SAFETY: there are `count` views, as the header demands. A view with an owner was made by
            // `owning`, of `length` bytes, and its owner is forgotten here.
            unsafe {
                let view = views.add(i).replace(bsdb_view::NONE);
                if !view.owner.is_null() {
                    drop(Box::from_raw(ptr::slice_from_raw_parts_mut(view.owner.cast::<u8>(), view.length)));
                }
            }
        }
    });
}

/// A function that `bsdb_visit_batch` calls for each key: with its `context`, the number of the key, and its
/// value, or NULL and 0 if the key is absent. The pointer is not NULL if the value is empty. The bytes are
/// valid until the function returns. It may call functions of this library. It must return: no longjmp, no
/// exception.
pub type bsdb_visitor =
    Option<unsafe extern "C" fn(context: *mut c_void, index: usize, value: *const u8, length: usize)>;

/// Like `bsdb_get_batch`, but passes each value to a function, in the order of the keys, in the thread of the
/// caller and before this function returns. Nothing is to be released.
///
/// Returns BSDB_OK after a call for each of the keys. On an error, returns it; the function may have been
/// called for some of the keys before the one that failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_visit_batch(
    database: *const bsdb_database,
    keys: *const *const c_void,
    key_lengths: *const usize,
    count: usize,
    visitor: bsdb_visitor,
    context: *mut c_void,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let database = reader(database)?;
            let Some(visitor) = visitor else {
                return Err(bsdb_error::null("visitor"));
            };
            let visit = |index, value: Option<&[u8]>| match value {
                Some(value) => visitor(context, index, value.as_ptr(), value.len()),
                None => visitor(context, index, ptr::null(), 0),
            };
            if database.is_remote() {
                visit_values::<REMOTE_CHUNK>(database, keys, key_lengths, count, visit)?;
            } else {
                visit_values::<CHUNK>(database, keys, key_lengths, count, visit)?;
            }
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Passes the number of each key and its value on, in order.
///
/// # Safety
///
/// `keys` and `lengths` are as `Chunk::of` demands.
unsafe fn visit_values<const N: usize>(
    database: &Database,
    keys: *const *const c_void,
    lengths: *const usize,
    count: usize,
    visit: impl Fn(usize, Option<&[u8]>),
) -> Result<(), Failure> {
    for start in (0..count).step_by(N) {
        // SAFETY: as the caller says.
        let chunk = unsafe { Chunk::<N>::of(keys, lengths, start, count) }?;
        let mut next = start;
        let mut absent_before = |place: usize| {
            while next < place {
                visit(next, None);
                next += 1;
            }
            next = place + 1;
        };
        database.find_many(chunk.keys(), |i, value| {
            let place = chunk.places()[i];
            absent_before(place);
            visit(place, value);
        })?;
        absent_before(count.min(start + N));
    }
    Ok(())
}

/// Keys of a batch that are looked up together: those of a range that are not too long to be in a database.
struct Chunk<'a, const N: usize> {
    keys: [&'a [u8]; N],
    /// The number of each key in the batch.
    places: [usize; N],
    held: usize,
}

impl<'a, const N: usize> Chunk<'a, N> {
    /// Keys from `start` on.
    ///
    /// # Safety
    ///
    /// `keys` and `lengths` are null or have `count` elements, and each key is one that `key` accepts.
    unsafe fn of(
        keys: *const *const c_void,
        lengths: *const usize,
        start: usize,
        count: usize,
    ) -> Result<Self, Failure> {
        if keys.is_null() {
            return Err(bsdb_error::null("keys"));
        }
        if lengths.is_null() {
            return Err(bsdb_error::null("key_lengths"));
        }
        let mut chunk = Chunk { keys: [&[]; N], places: [0; N], held: 0 };
        for place in start..count.min(start + N) {
            // SAFETY: as the caller says.
            if let Some(key) = unsafe { key(*keys.add(place), *lengths.add(place)) }? {
                chunk.keys[chunk.held] = key;
                chunk.places[chunk.held] = place;
                chunk.held += 1;
            }
        }
        Ok(chunk)
    }

    fn keys(&self) -> &[&'a [u8]] {
        &self.keys[..self.held]
    }

    fn places(&self) -> &[usize] {
        &self.places[..self.held]
    }
}
