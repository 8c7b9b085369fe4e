//! What a program in C cannot see.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{c_void, CStr, CString};
use std::ptr;

use crate::call::call;
use crate::database::{bsdb_close, bsdb_database, bsdb_get, bsdb_open};
use crate::error::{bsdb_error_free, bsdb_error_message, bsdb_status};
use crate::view::{bsdb_get_view, bsdb_release_views, bsdb_view};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(at, layout) }
    }
}

fn open(name: &str) -> *mut bsdb_database {
    let path = format!("{}/../../bsdb-core/src/test/resources/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let path = CString::new(path).unwrap();
    let mut database = ptr::null_mut();
    // SAFETY: all pointers are valid.
    let status = unsafe { bsdb_open(path.as_ptr(), ptr::null(), &mut database, ptr::null_mut()) };
    assert_eq!(status, bsdb_status::BSDB_OK);
    database
}

#[test]
fn views_into_a_mapping_allocate_nothing() {
    for (name, copies) in [
        ("v1-blocked", false),
        ("v1-compact", false),
        ("v1-ptr", false),
        ("v1-packed", false),
        ("v1-packed-filter", false),
        ("v1-typed", false),
        ("v1-sharded", false),
        ("v2-blocked", false),
        ("v2-packed", false),
        ("v1-compressed", true),
    ] {
        let database = open(name);
        for round in 0..3 {
            for key in [&b"bsdb"[..], b"empty", b"", b"absent", &[b'x'; 70_000]] {
                let before = ALLOCATIONS.get();
                let mut view = bsdb_view { data: ptr::null(), length: 0, owner: ptr::null_mut() };
                let mut error = ptr::null_mut();
                let mut buffer = [0u8; 100];
                let mut length = 0;
                // SAFETY: all pointers are valid, and released once.
                let (status, copied) = unsafe {
                    let status = bsdb_get_view(database, key.as_ptr().cast(), key.len(), &mut view, &mut error);
                    let room = buffer.as_mut_ptr().cast::<c_void>();
                    let key_at = key.as_ptr().cast();
                    let copied = bsdb_get(database, key_at, key.len(), room, 100, &mut length, ptr::null_mut());
                    (status, copied)
                };
                assert_eq!((status, view.length), (copied, length), "{name}");
                assert!(copies || view.owner.is_null());
                // SAFETY: filled above.
                unsafe { bsdb_release_views(&mut view, 1) };
                // The first round makes the buffers of the thread.
                if round > 0 && !copies {
                    assert_eq!(ALLOCATIONS.get(), before, "{name} {:?}", String::from_utf8_lossy(key));
                }
            }
        }
        // SAFETY: opened above.
        unsafe { bsdb_close(database) };
    }
}

#[test]
fn panics_are_errors() {
    let mut error = ptr::null_mut();
    // SAFETY: all pointers are valid, and freed once.
    unsafe {
        let status = call(&mut error, || panic!("for {}", "a reason"));
        assert_eq!(status, bsdb_status::BSDB_ERROR_INTERNAL);
        assert_eq!(CStr::from_ptr(bsdb_error_message(error)).to_str(), Ok("internal error: for a reason"));
        bsdb_error_free(error);
        assert_eq!(call(ptr::null_mut(), || panic!("unseen")), bsdb_status::BSDB_ERROR_INTERNAL);
    }
}
