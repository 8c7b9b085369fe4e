//! Building databases.

use std::ffi::{c_char, c_void, CString};
use std::ptr;

use reader::{BuildOptions, Builder, Progress, SigningKey, Stage};

use crate::call::{bytes, call, fill, path, set, stated_size, utf8, Growing};
use crate::error::{bsdb_error, bsdb_status, Failure};
use crate::quiet::quiet;
use crate::text::{path_text, text};

/// What to build, and with what. One thread at a time changes it.
pub struct bsdb_build_options {
    options: BuildOptions,
}

/// A build of a database. One thread at a time.
pub struct bsdb_builder {
    /// None once the build has ended.
    builder: Option<Builder>,
    /// What `bsdb_built` points to.
    built: Option<Texts>,
}

struct Texts {
    path: CString,
    id: CString,
    warnings: Option<CString>,
}

const _: () = {
    const fn movable<T: Send>() {}
    movable::<bsdb_build_options>();
    movable::<bsdb_builder>()
};

/// A stage of a build.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bsdb_stage {
    /// Records are added; the total is not known.
    BSDB_STAGE_RECORDS = 0,
    /// Records are sorted, and the files of the database are written.
    BSDB_STAGE_INDEX = 1,
    /// The keys are sorted, and their order is written.
    BSDB_STAGE_ORDER = 2,
    /// Files are forced to the device, and the database is published.
    BSDB_STAGE_PUBLISH = 3,
}

/// How far a build is. Later versions add fields at its end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_progress {
    /// A bsdb_stage. Later versions may have more.
    pub stage: u32,
    /// 1 if `total` is known, otherwise 0.
    pub total_known: u32,
    /// Records, or files in BSDB_STAGE_PUBLISH, that are done.
    pub done: u64,
    /// All of them, or 0.
    pub total: u64,
}

impl From<Progress> for bsdb_progress {
    fn from(progress: Progress) -> Self {
        let stage = match progress.stage {
            Stage::Records => bsdb_stage::BSDB_STAGE_RECORDS,
            Stage::Index => bsdb_stage::BSDB_STAGE_INDEX,
            Stage::Order => bsdb_stage::BSDB_STAGE_ORDER,
            _ => bsdb_stage::BSDB_STAGE_PUBLISH,
        };
        bsdb_progress {
            stage: stage as u32,
            total_known: progress.total.is_some().into(),
            done: progress.done,
            total: progress.total.unwrap_or(0),
        }
    }
}

/// A function that a build calls after many records, and at the end of parts of the stages after them: with its
/// `context` and how far the build is. It runs in the thread that called the function of the builder. If it returns
/// false, that function returns BSDB_ERROR_STOPPED soon. It must not call functions with the builder, and it must
/// return: no longjmp, no exception.
pub type bsdb_listener = Option<unsafe extern "C" fn(context: *mut c_void, progress: *const bsdb_progress) -> bool>;

/// What a build made. Set `size` before the call. Later versions add fields at its end; programs that were built with
/// this version still work. The texts are valid until the builder is closed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bsdb_built {
    /// sizeof(bsdb_built), set by the caller.
    pub size: usize,
    /// Records that lookups find.
    pub records: u64,
    /// Records that were dropped in favor of another with the same key.
    pub duplicates_dropped: u64,
    /// Bytes of all keys that were added.
    pub key_bytes: u64,
    /// Bytes of all values that were added.
    pub value_bytes: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Bytes of the dictionary, or of those of all shards.
    pub dictionary_bytes: u64,
    /// The directory.
    pub path: *const c_char,
    /// The id: 32 hexadecimal digits.
    pub id: *const c_char,
    /// What failed after the database was published, in lines, or NULL. The database is complete and can be used.
    pub warnings: *const c_char,
}

// SAFETY: repr(C), of integers and pointers, the first of which is a usize.
unsafe impl Growing for bsdb_built {
    const NAME: &'static str = "built";
    const FIRST: usize = size_of::<bsdb_built>();
}

/// The default options, which the caller frees with `bsdb_build_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bsdb_build_options_new() -> *mut bsdb_build_options {
    quiet(ptr::null_mut(), || Box::into_raw(Box::new(bsdb_build_options { options: BuildOptions::default() })))
}

/// Sets an option. `name` and `value` are UTF-8.
///
/// | Name | Value | Default |
/// |---|---|---|
/// | layout | blocked, compact, compressed, packed, packed-compressed | packed, or blocked (see below) |
/// | checksum_bits | 0 to 32, except in the packed layouts | 4 |
/// | filter_bits | 0 to 16, in the packed layouts | 0 |
/// | ordered | true: the order of keys is stored, for ranges | false |
/// | duplicates | error, first, last: the record that stays | error |
/// | data_files | 1 to 128 | 1 |
/// | shards | 1 to 16384 | 1 |
/// | block_bytes | 512 to 1048576, in compressed layouts | 1024 |
/// | compression_level | 1 to 22, in compressed layouts | 6 |
/// | dictionary_bytes | 0 to 1048576, in compressed layouts | 112640 |
/// | sample_records | 0 to 1000000, in compressed layouts | 10000 |
/// | value_schema | the schema of typed rows, as JSON on one line | |
/// | value_elements | the elements of vectors, such as "f32 384" | |
/// | seed | of the signatures, a signed number of 64 bits | 0 |
/// | sign_key | a file with a private key of Ed25519, which signs the database | |
/// | overwrite | true: a database at the target is replaced | false |
/// | memory_bytes | 1048576 or more | 1 GiB |
/// | threads | 1 to 256 | all cores |
/// | temporary_directory | a directory | beside the target |
///
/// Unless a layout is chosen, it is blocked if `ordered` or `checksum_bits` are not their defaults.
///
/// Returns BSDB_OK, or BSDB_ERROR_INVALID_ARGUMENT, with the options as they were. Whether options go together is
/// checked when a build starts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_build_options_set(
    options: *mut bsdb_build_options,
    name: *const c_char,
    value: *const c_char,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the options.
    unsafe {
        call(error, || {
            let options = options.as_mut().ok_or_else(|| bsdb_error::null("options"))?;
            options.options.set(utf8(name, "name")?, utf8(value, "value")?)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Signs a database, or a set of shards, in place of a signature that it may have, for readers that require one: see
/// `trust` of `bsdb_options`.
///
/// `path` is its directory, and `sign_key` a file with a private key of Ed25519, as `openssl genpkey -algorithm ed25519`
/// writes it. The file of the manifest is replaced in one step; the id and all other files stay as they are. Sign before
/// the database is copied anywhere. The option `sign_key` of a build signs at once. Returns BSDB_OK or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_sign(
    path: *const c_char,
    sign_key: *const c_char,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            let path = self::path(path)?;
            if sign_key.is_null() {
                return Err(bsdb_error::null("sign_key"));
            }
            reader::sign(path, &SigningKey::read(self::path(sign_key)?)?)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Frees options. Builds that were started with them go on. Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_build_options_free(options: *mut bsdb_build_options) {
    if !options.is_null() {
        // SAFETY: made by `bsdb_build_options_new`, which gave it to the caller.
        quiet((), || drop(unsafe { Box::from_raw(options) }));
    }
}

/// Starts a build of a database.
///
/// A build is a transaction: nothing is at `path`, or the database there stays as it was, until
/// `bsdb_builder_finish` has written everything and forced it to the device. `path` is as in `bsdb_open`. `options`
/// may be NULL for the defaults; they are copied. `listener` may be NULL; otherwise it is called with `context`,
/// until the builder is closed.
///
/// Sets `*builder` to a builder that the caller closes with `bsdb_builder_close`, or to NULL on an error. Returns
/// BSDB_OK or an error: BSDB_ERROR_EXISTS if `path` exists and may not be replaced, BSDB_ERROR_INVALID_ARGUMENT if
/// options do not go together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_create(
    path: *const c_char,
    options: *const bsdb_build_options,
    listener: bsdb_listener,
    context: *mut c_void,
    builder: *mut *mut bsdb_builder,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands.
    unsafe {
        call(error, || {
            set(builder, ptr::null_mut(), "builder")?;
            let path = self::path(path)?;
            let options = options.as_ref().map(|options| options.options.clone()).unwrap_or_default();
            let made = match listener {
                None => Builder::create(path, options)?,
                Some(listener) => {
                    let context = Context(context);
                    Builder::with_progress(path, options, move |progress| {
                        let Context(context) = context.whole();
                        listener(context, &bsdb_progress::from(progress))
                    })?
                }
            };
            builder.write(Box::into_raw(Box::new(bsdb_builder { builder: Some(made), built: None })));
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// What a listener is called with.
#[derive(Clone, Copy)]
struct Context(*mut c_void);

impl Context {
    /// Itself, so that a closure takes the whole of it.
    fn whole(self) -> Context {
        self
    }
}

// SAFETY: only the listener uses it, which the header has called by the thread that calls the builder.
unsafe impl Send for Context {}

/// Adds a record for training the ZSTD dictionary of a compressed layout, which then uses no others. All samples come
/// before the first record. Arguments and result are those of `bsdb_builder_add`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_sample(
    builder: *mut bsdb_builder,
    key: *const c_void,
    key_length: usize,
    value: *const c_void,
    value_length: usize,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the builder.
    unsafe {
        call(error, || {
            let builder = running(builder)?;
            builder.sample(bytes(key, key_length, "key")?, bytes(value, value_length, "value")?)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Adds a record: a key of at most 65,535 bytes and a value of at most 2,147,483,639, which are copied. Each may be
/// NULL if its length is 0.
///
/// Returns BSDB_OK or an error. After BSDB_ERROR_INVALID_ARGUMENT about the key or the value, the record is not part of
/// the database, and the build can go on. After any other error it cannot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_add(
    builder: *mut bsdb_builder,
    key: *const c_void,
    key_length: usize,
    value: *const c_void,
    value_length: usize,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the builder.
    unsafe {
        call(error, || {
            let builder = running(builder)?;
            builder.add(bytes(key, key_length, "key")?, bytes(value, value_length, "value")?)?;
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Adds `count` records, in their order. The arrays have `count` elements; they may be NULL if `count` is 0.
///
/// Returns BSDB_OK, or the error of the first record that `bsdb_builder_add` would refuse; those before it were added,
/// and those from it on were not. `added` may be NULL; otherwise `*added` is set to the number of those that were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_add_many(
    builder: *mut bsdb_builder,
    keys: *const *const c_void,
    key_lengths: *const usize,
    values: *const *const c_void,
    value_lengths: *const usize,
    count: usize,
    added: *mut usize,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the builder.
    unsafe {
        call(error, || {
            let say = |number: usize| {
                if !added.is_null() {
                    added.write(number);
                }
            };
            say(0);
            let builder = running(builder)?;
            let arrays = [
                (keys.is_null(), "keys"),
                (key_lengths.is_null(), "key_lengths"),
                (values.is_null(), "values"),
                (value_lengths.is_null(), "value_lengths"),
            ];
            if let Some((_, name)) = arrays.iter().find(|(null, _)| *null && count > 0) {
                return Err(bsdb_error::null(name));
            }
            for i in 0..count {
                let key = bytes(*keys.add(i), *key_lengths.add(i), "a key")?;
                builder.add(key, bytes(*values.add(i), *value_lengths.add(i), "a value")?)?;
                say(i + 1);
            }
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// The number of records that were added; 0 for NULL, and once the build has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_record_count(builder: *const bsdb_builder) -> u64 {
    // SAFETY: null or a builder, as the header demands.
    unsafe { builder.as_ref() }.and_then(|builder| builder.builder.as_ref()).map_or(0, Builder::records)
}

/// Writes the database, forces it to the device and publishes it. The build has ended then, also on an error: the only
/// thing left is to close the builder.
///
/// `built` may be NULL; otherwise the caller has set its `size`, and it is filled on success. Returns BSDB_OK or an
/// error: BSDB_ERROR_DUPLICATE if a key was added twice, see `bsdb_error_duplicate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_finish(
    builder: *mut bsdb_builder,
    built: *mut bsdb_built,
    error: *mut *mut bsdb_error,
) -> bsdb_status {
    // SAFETY: each pointer is null or what the header demands, and no other thread uses the builder.
    unsafe {
        call(error, || {
            running(builder)?;
            if !built.is_null() {
                stated_size(built)?;
            }
            let builder = builder.as_mut().ok_or_else(|| bsdb_error::null("builder"))?;
            let made = builder.builder.take().ok_or_else(ended)?.finish()?;
            let texts = builder.built.insert(Texts {
                path: path_text(&made.path),
                id: text(made.id.as_bytes()),
                warnings: (!made.warnings.is_empty()).then(|| text(made.warnings.join("\n").as_bytes())),
            });
            if !built.is_null() {
                let filled = bsdb_built {
                    size: 0,
                    records: made.records,
                    duplicates_dropped: made.dropped,
                    key_bytes: made.key_bytes,
                    value_bytes: made.value_bytes,
                    file_bytes: made.bytes,
                    dictionary_bytes: made.dictionary_bytes as u64,
                    path: texts.path.as_ptr(),
                    id: texts.id.as_ptr(),
                    warnings: texts.warnings.as_ref().map_or(ptr::null(), |warnings| warnings.as_ptr()),
                };
                fill(built, &filled)?;
            }
            Ok(bsdb_status::BSDB_OK)
        })
    }
}

/// Closes a builder. A build that has not ended is abandoned: what it wrote is removed, and what was at its path stays.
/// Does nothing with NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsdb_builder_close(builder: *mut bsdb_builder) {
    if !builder.is_null() {
        // SAFETY: made by `bsdb_builder_create`, which gave it to the caller.
        quiet((), || drop(unsafe { Box::from_raw(builder) }));
    }
}

/// The builder of a call, unless the build has ended.
///
/// # Safety
///
/// `builder` is null, or a builder that no other thread uses.
unsafe fn running<'a>(builder: *mut bsdb_builder) -> Result<&'a mut Builder, Failure> {
    // SAFETY: as the caller says.
    let builder = unsafe { builder.as_mut() }.ok_or_else(|| bsdb_error::null("builder"))?;
    builder.builder.as_mut().ok_or_else(ended)
}

#[cold]
fn ended() -> Failure {
    bsdb_error::invalid("the build has ended; close the builder and create another one".into())
}
