/*
 * bsdb.h: reads and builds bsdb databases from C99 and C++.
 *
 * A database is a directory that a builder wrote. It never changes. It can also be read where it lies, in an object
 * store or behind a web server: by its URL.
 *
 *   bsdb_error *error;
 *   bsdb_database *db;
 *   if (bsdb_open("rdb", NULL, &db, &error) < 0) {
 *       fprintf(stderr, "%s\n", bsdb_error_message(error));
 *       bsdb_error_free(error);
 *       return 1;
 *   }
 *   bsdb_view view;
 *   if (bsdb_get_view(db, "key", 3, &view, NULL) == BSDB_OK) {
 *       fwrite(view.data, 1, view.length, stdout);
 *       bsdb_release_views(&view, 1);
 *   }
 *   bsdb_close(db);
 *
 * Status. Every function that can fail returns a bsdb_status. Errors are negative; BSDB_OK and the
 * other outcomes that are no errors are zero or positive.
 *
 * Errors. Every function that can fail takes a bsdb_error ** as its last argument. It may be NULL.
 * Otherwise the function sets it: to a new error that the caller frees with bsdb_error_free if the
 * status is negative, and to NULL if not. What it held before is not read and not freed. There is
 * no global state and no state of the thread.
 *
 * Keys. A key is a pointer and a length. It may hold any bytes. The pointer may be NULL if the
 * length is 0: this is the empty key, which a database can have. A key longer than 65,535 bytes is
 * absent from every database. Keys are only read during the call.
 *
 * Threads. A bsdb_database and a bsdb_store can be used by any number of threads at once. A
 * bsdb_scan or a bsdb_builder can move between threads but serves one at a time. A bsdb_error and a bsdb_view are
 * plain data: any number of threads can read them while none frees them.
 *
 * Lifetime. A bsdb_database is counted: bsdb_open and bsdb_store_acquire return a reference,
 * bsdb_retain adds one, bsdb_close drops one. The files stay open and mapped until the last
 * reference is dropped. A bsdb_scan holds a reference of its own. A bsdb_view does not: its bytes
 * may lie in a mapped file, and are valid until the last reference to the database is dropped.
 *
 * Misuse. Pointers that must not be NULL are checked: BSDB_ERROR_INVALID_ARGUMENT. Pointers that
 * are dangling, of another type or already closed are not detected. Out parameters must not overlap
 * other arguments.
 *
 * Faults. A failure inside the library is BSDB_ERROR_INTERNAL, never an abort, except that the
 * process aborts if it runs out of memory. A process that reads a mapped file that another process
 * shortens is killed by SIGBUS; with BSDB_ACCESS_READ, data files are not mapped.
 */

#ifndef BSDB_H
#define BSDB_H

/* Generated from native/c/src by cbindgen. Change the sources, not this file. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Initializes a bsdb_options with the defaults:
 *
 *   bsdb_options options = BSDB_OPTIONS;
 *   options.access = BSDB_ACCESS_DIRECT;
 */
#define BSDB_OPTIONS {sizeof(bsdb_options), BSDB_ACCESS_MAPPED, 0, NULL, NULL}

/**
 * Initializes a bsdb_range with all keys, ascending:
 *
 *   bsdb_range range = BSDB_RANGE;
 *   range.prefix = "user:42:";
 *   range.prefix_length = 8;
 */
#define BSDB_RANGE {sizeof(bsdb_range), NULL, 0, NULL, 0, NULL, 0, 0}

/**
 * A flag of `bsdb_options`: does not verify pages when they are first read. Damage can then give wrong
 * values.
 */
#define BSDB_SKIP_VERIFICATION 1

/**
 * A flag of `bsdb_range`: the greatest key comes first.
 */
#define BSDB_RANGE_DESCENDING 1

/**
 * A flag of `bsdb_range`: only keys are wanted. No records are read; in each `bsdb_record`, `value` is NULL.
 */
#define BSDB_RANGE_KEYS 2

/**
 * What came of a call. Errors are negative. Later versions may add errors; treat an unknown negative
 * status as one.
 */
typedef enum bsdb_status {
    /**
     * It succeeded. For a lookup: there is such a key.
     */
    BSDB_OK = 0,
    /**
     * There is no such key.
     */
    BSDB_ABSENT = 1,
    /**
     * There is such a key, but its value is longer than the buffer.
     */
    BSDB_TOO_SMALL = 2,
    /**
     * A scan has no more records.
     */
    BSDB_END = 3,
    /**
     * The operating system refused an operation on a file. See `bsdb_error_os_code`.
     */
    BSDB_ERROR_IO = -1,
    /**
     * The path or URL is not that of a database, a set of shards or a store.
     */
    BSDB_ERROR_NOT_A_DATABASE = -2,
    /**
     * A file is not as the builder wrote it. See `bsdb_error_offset`.
     */
    BSDB_ERROR_DAMAGED = -3,
    /**
     * The database has a format that this version cannot read.
     */
    BSDB_ERROR_UNSUPPORTED = -4,
    /**
     * The directory holds only some shards of a set, and the key belongs to another one. See
     * `bsdb_error_shard`.
     */
    BSDB_ERROR_NOT_HELD = -5,
    /**
     * This kind of database cannot answer the question.
     */
    BSDB_ERROR_IMPOSSIBLE = -6,
    /**
     * An argument is wrong: a null pointer, an unknown option.
     */
    BSDB_ERROR_INVALID_ARGUMENT = -7,
    /**
     * The library failed. Please report it.
     */
    BSDB_ERROR_INTERNAL = -8,
    /**
     * There is no memory for a value, or for the answers of a batch: the database can be used as before. Or there
     * is none for a build.
     */
    BSDB_ERROR_NO_MEMORY = -9,
    /**
     * The listener of a build stopped it.
     */
    BSDB_ERROR_STOPPED = -10,
    /**
     * A key was added twice to a build that keeps neither. See `bsdb_error_duplicate`.
     */
    BSDB_ERROR_DUPLICATE = -11,
    /**
     * A build cannot write where it should: something exists there, and is not what may be replaced.
     */
    BSDB_ERROR_EXISTS = -12,
    /**
     * An object of a database elsewhere is missing, perhaps because the database was replaced or removed: open it
     * again.
     */
    BSDB_ERROR_REMOTE_MISSING = -13,
    /**
     * There are no credentials for a database elsewhere, or they do not suffice.
     */
    BSDB_ERROR_REMOTE_DENIED = -14,
    /**
     * An object was replaced while the database was open: open it again.
     */
    BSDB_ERROR_REMOTE_CHANGED = -15,
    /**
     * The server answered until the deadline that it is busy.
     */
    BSDB_ERROR_REMOTE_BUSY = -16,
    /**
     * The server did not answer until the deadline.
     */
    BSDB_ERROR_REMOTE_LATE = -17,
    /**
     * There was no connection, or it broke again and again, until the deadline.
     */
    BSDB_ERROR_REMOTE_UNREACHABLE = -18,
    /**
     * The server does not do what is needed, such as sending a part of an object.
     */
    BSDB_ERROR_REMOTE_SERVER = -19,
    /**
     * No trusted key has signed the database, although that was required: see `trust` of `bsdb_options`.
     */
    BSDB_ERROR_UNTRUSTED = -20,
} bsdb_status;

/**
 * How the data files are read, and the index of the layouts that have addresses.
 */
typedef enum bsdb_access {
    /**
     * From a mapping. The quickest by far if the data is in memory, and the only one that gives views
     * without a copy.
     */
    BSDB_ACCESS_MAPPED = 0,
    /**
     * By system calls, through the page cache. Data files that another process shortens are then an
     * error. The hash function, the index of the packed layouts and the filter are mapped in any case.
     */
    BSDB_ACCESS_READ = 1,
    /**
     * By system calls that bypass the page cache; batches through io_uring on Linux. For data much larger
     * than memory. The same as BSDB_ACCESS_READ on systems without direct reads.
     */
    BSDB_ACCESS_DIRECT = 2,
} bsdb_access;

/**
 * A stage of a build.
 */
typedef enum bsdb_stage {
    /**
     * Records are added; the total is not known.
     */
    BSDB_STAGE_RECORDS = 0,
    /**
     * Records are sorted, and the files of the database are written.
     */
    BSDB_STAGE_INDEX = 1,
    /**
     * The keys are sorted, and their order is written.
     */
    BSDB_STAGE_ORDER = 2,
    /**
     * Files are forced to the device, and the database is published.
     */
    BSDB_STAGE_PUBLISH = 3,
} bsdb_stage;

/**
 * What to build, and with what. One thread at a time changes it.
 */
typedef struct bsdb_build_options bsdb_build_options;

/**
 * A build of a database. One thread at a time.
 */
typedef struct bsdb_builder bsdb_builder;

/**
 * An open database, set of shards or part of a set. Counted: `bsdb_retain` and `bsdb_close`. Any number of
 * threads can use it at once.
 */
typedef struct bsdb_database bsdb_database;

/**
 * Why a call failed. Owned by the caller, who frees it with `bsdb_error_free`. Independent of the
 * database: it can be kept for longer.
 */
typedef struct bsdb_error bsdb_error;

/**
 * How to read a database that is elsewhere: credentials, and limits. One thread at a time changes it.
 */
typedef struct bsdb_remote bsdb_remote;

/**
 * A scan: goes through the records of a database, all or those of a range. Holds a reference to the database. One
 * thread at a time.
 */
typedef struct bsdb_scan bsdb_scan;

/**
 * A store whose current version is followed. Any number of threads can use it at once.
 *
 * Lookups go to a version that the caller acquires; `bsdb_store_refresh` switches later callers to a new
 * one. A version is closed when its last reference is dropped.
 */
typedef struct bsdb_store bsdb_store;

/**
 * What reading a database elsewhere took since it was opened; zeros for one in a directory. Set `size` before the call.
 * Later versions add fields at its end; programs that were built with this version still work.
 */
typedef struct bsdb_traffic {
    /**
     * sizeof(bsdb_traffic), set by the caller.
     */
    size_t size;
    /**
     * Requests that were sent, those for credentials aside.
     */
    uint64_t requests;
    /**
     * Requests that were sent again, because the one before failed.
     */
    uint64_t retries;
    /**
     * Bytes that were received.
     */
    uint64_t bytes;
    /**
     * Pages that were found in memory.
     */
    uint64_t pages_cached;
    /**
     * Pages that were received.
     */
    uint64_t pages_received;
} bsdb_traffic;

/**
 * How to open a database. Initialize it with BSDB_OPTIONS, and then set what differs from the defaults.
 * Later versions add fields at its end; programs that were built with this version still work.
 */
typedef struct bsdb_options {
    /**
     * sizeof(bsdb_options).
     */
    size_t size;
    /**
     * A bsdb_access; BSDB_ACCESS_MAPPED by default.
     */
    uint32_t access;
    /**
     * 0, or BSDB_SKIP_VERIFICATION.
     */
    uint32_t flags;
    /**
     * How a database is read whose path is a URL, or NULL for the defaults. It is copied. Databases in directories
     * ignore it, as those elsewhere ignore `access`.
     */
    const struct bsdb_remote *remote;
    /**
     * A file of public keys of Ed25519, as `openssl pkey -pubout` writes them, one of which must have signed the database,
     * the set or the version of a store; otherwise it is not opened: BSDB_ERROR_UNTRUSTED. NULL to require no signature.
     * The file is read by each function that gets these options. A store checks its later versions, too. The signature
     * holds for all bytes of the files, which `bsdb_verify_content` compares with what was signed.
     */
    const char *trust;
} bsdb_options;

/**
 * Facts about a database, from its manifest. Set `size` before the call. Later versions add fields at its
 * end; programs that were built with this version still work.
 */
typedef struct bsdb_statistics {
    /**
     * sizeof(bsdb_statistics), set by the caller.
     */
    size_t size;
    /**
     * Records that lookups can find; of a set that is held in part, those of the shards that are held.
     */
    uint64_t records;
    /**
     * Records that were dropped in favor of another one with the same key.
     */
    uint64_t duplicates_dropped;
    /**
     * Bytes of all keys given to the build.
     */
    uint64_t key_bytes;
    /**
     * Bytes of all values given to the build, before compression or truncation.
     */
    uint64_t value_bytes;
    /**
     * Length of the longest key.
     */
    uint64_t longest_key;
    /**
     * Length of the longest value. A buffer of this length suffices for `bsdb_get`.
     */
    uint64_t longest_value;
    /**
     * Bytes kept of a value in approximate mode, otherwise 0.
     */
    uint64_t kept_bytes;
    /**
     * Number of files, manifests included.
     */
    uint64_t files;
    /**
     * Bytes of all files.
     */
    uint64_t file_bytes;
    /**
     * Shards of the whole set; 1 without shards.
     */
    uint32_t shards;
    /**
     * Shards that are held.
     */
    uint32_t shards_held;
    /**
     * Checksum bits of the hash function for each record.
     */
    uint32_t checksum_bits;
    /**
     * 1 if values are kept in the index, without keys, otherwise 0. A lookup of an absent key may then
     * return another key's value, and values may be cut short.
     */
    uint32_t approximate;
    /**
     * 1 if there is a filter of absent keys, otherwise 0.
     */
    uint32_t filter;
    /**
     * 1 if blocks are compressed with a dictionary, otherwise 0.
     */
    uint32_t dictionary;
    /**
     * How records are stored, as `bsdb_layout` says. Valid as long as the database.
     */
    const char *layout;
    /**
     * The kind of the minimal perfect hash function: "gov3-bucketed", "ptr" or "none". Valid as long as the
     * database.
     */
    const char *hash_kind;
} bsdb_statistics;

/**
 * What `bsdb_verify` went through. Set `size` before the call. Later versions add fields at its end;
 * programs that were built with this version still work.
 */
typedef struct bsdb_verified {
    /**
     * sizeof(bsdb_verified), set by the caller.
     */
    size_t size;
    /**
     * Records that were looked up; 0 in approximate mode, which keeps no keys.
     */
    uint64_t records;
    /**
     * Files that were read, without manifests.
     */
    uint64_t files;
    /**
     * Pages that were checked.
     */
    uint64_t pages;
    /**
     * 1 if all files have the content hashes of the manifest, 0 if an older version wrote the database without them.
     */
    uint64_t content_checked;
} bsdb_verified;

/**
 * A value where it lies in a mapped file, or a copy of it.
 *
 * It is a copy if the value does not lie in a mapped file in one piece: values that are compressed, values
 * that are longer than a page, and values of databases that are not mapped, such as those elsewhere. Either way
 * the caller releases it with `bsdb_release_views`, which frees copies and does nothing with others.
 */
typedef struct bsdb_view {
    /**
     * The bytes, or NULL if there is no value. Not NULL if the value is empty. If `owner` is NULL, valid
     * until the last reference to the database is dropped, released or not. Otherwise valid until the view
     * is released, even if the database is closed before.
     */
    const uint8_t *data;
    /**
     * The number of bytes.
     */
    size_t length;
    /**
     * NULL if the bytes lie in a mapped file, otherwise what `bsdb_release_views` frees. Must not be
     * changed.
     */
    void *owner;
} bsdb_view;

/**
 * A function that `bsdb_visit_batch` calls for each key: with its `context`, the number of the key, and its
 * value, or NULL and 0 if the key is absent. The pointer is not NULL if the value is empty. The bytes are
 * valid until the function returns. It may call functions of this library. It must return: no longjmp, no
 * exception.
 */
typedef void (*bsdb_visitor)(void *context, size_t index, const uint8_t *value, size_t length);

/**
 * A function that `bsdb_get_async` calls with the answer: with its `context`, the status that `bsdb_get_view` would
 * return, a view, and an error or NULL. What the view holds and the error belong to the function, which releases and
 * frees them, at once or later; `view` itself is valid until the function returns, so it copies the struct to keep it.
 *
 * It runs in one of two threads of the library, which all lookups elsewhere need. So it must not wait: it passes the
 * answer on. It may call `bsdb_get_async` and functions that need no pages, but no other lookups, and it must return: no
 * longjmp, no exception.
 */
typedef void (*bsdb_callback)(void *context,
                              enum bsdb_status status,
                              const struct bsdb_view *view,
                              struct bsdb_error *error);

/**
 * A record of a scan. The pointers are valid until the next call of `bsdb_scan_next` or `bsdb_scan_close`
 * with the scan. They are not NULL, even if a length is 0; only a scan of keys alone has no values.
 */
typedef struct bsdb_record {
    /**
     * The key.
     */
    const uint8_t *key;
    /**
     * The bytes of the key.
     */
    size_t key_length;
    /**
     * The value.
     */
    const uint8_t *value;
    /**
     * The bytes of the value.
     */
    size_t value_length;
} bsdb_record;

/**
 * A range of keys, which are compared byte by byte as unsigned numbers; a key comes before those that it is the
 * beginning of. Initialize it with BSDB_RANGE, which is all keys, and then set what narrows it. Keys are only
 * read during the call. Later versions add fields at its end; programs that were built with this version still
 * work.
 */
typedef struct bsdb_range {
    /**
     * sizeof(bsdb_range).
     */
    size_t size;
    /**
     * The least key that can be in the range, or NULL if there is no such bound.
     */
    const void *from;
    /**
     * The bytes of `from`; 0 if it is NULL.
     */
    size_t from_length;
    /**
     * The least key that is behind the range, or NULL if there is no such bound.
     */
    const void *to;
    /**
     * The bytes of `to`; 0 if it is NULL.
     */
    size_t to_length;
    /**
     * What keys in the range begin with, or NULL if they can begin with anything.
     */
    const void *prefix;
    /**
     * The bytes of `prefix`; 0 if it is NULL.
     */
    size_t prefix_length;
    /**
     * 0, or BSDB_RANGE_DESCENDING, BSDB_RANGE_KEYS, or both with `|`.
     */
    uint32_t flags;
} bsdb_range;

/**
 * How far a build is. Later versions add fields at its end.
 */
typedef struct bsdb_progress {
    /**
     * A bsdb_stage. Later versions may have more.
     */
    uint32_t stage;
    /**
     * 1 if `total` is known, otherwise 0.
     */
    uint32_t total_known;
    /**
     * Records, or files in BSDB_STAGE_PUBLISH, that are done.
     */
    uint64_t done;
    /**
     * All of them, or 0.
     */
    uint64_t total;
} bsdb_progress;

/**
 * A function that a build calls after many records, and at the end of parts of the stages after them: with its
 * `context` and how far the build is. It runs in the thread that called the function of the builder. If it returns
 * false, that function returns BSDB_ERROR_STOPPED soon. It must not call functions with the builder, and it must
 * return: no longjmp, no exception.
 */
typedef bool (*bsdb_listener)(void *context, const struct bsdb_progress *progress);

/**
 * What a build made. Set `size` before the call. Later versions add fields at its end; programs that were built with
 * this version still work. The texts are valid until the builder is closed.
 */
typedef struct bsdb_built {
    /**
     * sizeof(bsdb_built), set by the caller.
     */
    size_t size;
    /**
     * Records that lookups find.
     */
    uint64_t records;
    /**
     * Records that were dropped in favor of another with the same key.
     */
    uint64_t duplicates_dropped;
    /**
     * Bytes of all keys that were added.
     */
    uint64_t key_bytes;
    /**
     * Bytes of all values that were added.
     */
    uint64_t value_bytes;
    /**
     * Bytes of all files.
     */
    uint64_t file_bytes;
    /**
     * Bytes of the dictionary, or of those of all shards.
     */
    uint64_t dictionary_bytes;
    /**
     * The directory.
     */
    const char *path;
    /**
     * The id: 32 hexadecimal digits.
     */
    const char *id;
    /**
     * What failed after the database was published, in lines, or NULL. The database is complete and can be used.
     */
    const char *warnings;
} bsdb_built;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "1.1.0". Static: valid for ever.
 */
const char *bsdb_version(void);

/**
 * The name of a status, such as "damaged"; "unknown" for a number that is none. Static: valid for ever.
 */
const char *bsdb_status_name(int32_t status);

/**
 * The status that the failed call returned; BSDB_OK for NULL.
 */
enum bsdb_status bsdb_error_status(const struct bsdb_error *error);

/**
 * A sentence that says what is wrong, where, and what to do about it; "" for NULL. Ends with a zero
 * byte. Valid until the error is freed.
 */
const char *bsdb_error_message(const struct bsdb_error *error);

/**
 * The file or directory that the error is about, or the URL of an object, or NULL if it is about none. Ends with a zero byte.
 * Valid until the error is freed.
 */
const char *bsdb_error_path(const struct bsdb_error *error);

/**
 * Where a file is damaged. If the status is BSDB_ERROR_DAMAGED, sets `*offset` (if `offset` is not NULL)
 * to the byte, counted from the start of the file, and returns true. Otherwise returns false and sets
 * nothing.
 */
bool bsdb_error_offset(const struct bsdb_error *error,
                       uint64_t *offset);

/**
 * The shard that a key belongs to. If the status is BSDB_ERROR_NOT_HELD, sets `*shard` (if `shard` is not
 * NULL) to its number and returns true. Otherwise returns false and sets nothing.
 */
bool bsdb_error_shard(const struct bsdb_error *error,
                      uint32_t *shard);

/**
 * The key that was added twice. If the status is BSDB_ERROR_DUPLICATE, sets `*key` to the bytes of the key, which
 * are valid until the error is freed, `*key_length` to their number, and `*first` and `*second` to the numbers of
 * its first two records, from 0, in the order in which they were added; each may be NULL. Returns true then.
 * Otherwise returns false and sets nothing.
 */
bool bsdb_error_duplicate(const struct bsdb_error *error,
                          const uint8_t **key,
                          size_t *key_length,
                          uint64_t *first,
                          uint64_t *second);

/**
 * The operating system's number for the reason, such as ENOENT, if the status is BSDB_ERROR_IO and the
 * system gave one; otherwise 0.
 */
int32_t bsdb_error_os_code(const struct bsdb_error *error);

/**
 * Frees an error, and with it the texts that it returned. Does nothing with NULL.
 */
void bsdb_error_free(struct bsdb_error *error);

/**
 * Whether this build of the library reads databases elsewhere. If not, their URLs are errors.
 */
bool bsdb_has_remote(void);

/**
 * The default options for databases elsewhere, which the caller frees with `bsdb_remote_free`.
 */
struct bsdb_remote *bsdb_remote_new(void);

/**
 * Sets an option. `name` and `value` are UTF-8. No message shows a value that may be secret.
 *
 * | Name | Value | Default |
 * |---|---|---|
 * | requests | 1 to 4096: requests under way at once, at most | 256 |
 * | deadline_ms | 10 or more: milliseconds for which a request is repeated | 30000 |
 * | memory_bytes | bytes of pages that are kept in memory | 67108864 |
 * | page_bytes | 1 MiB to 256 GiB: bytes of a file that keeps pages on disk, for all processes | none |
 * | cache_dir | the directory of that file | BSDB_CACHE, or bsdb in XDG_CACHE_HOME or ~/.cache |
 * | hedge | true: what takes unusually long is asked for a second time | false |
 * | profile | the name of a profile of the AWS tools | AWS_PROFILE, default |
 * | key, secret, token, region_name | credentials and region of S3 | the environment's, the machine's |
 * | requester_pays | true: who reads from S3 pays for it | false |
 * | account_name, account_key, sas_token, tenant_id, client_id, client_secret, connection_string | those of Azure | the environment's, the machine's |
 * | anon | true: requests are not signed, for public data | false |
 * | endpoint_url | the server of the store, if it is not the usual one | |
 * | proxy_url, proxy_ca_certificate, proxy_excludes | as their names say | the environment's |
 * | allow_http, allow_invalid_certificates | true: as their names say | false |
 *
 * Others begin with `aws_`, `google_` or `azure_`, such as `google_service_account` (a file), and have the names of the
 * crate object_store. Options of another kind of store than that of the URL are ignored, so that the same options do for
 * several.
 *
 * Returns BSDB_OK; BSDB_ERROR_INVALID_ARGUMENT, with the options as they were; or BSDB_ERROR_UNSUPPORTED if this build
 * reads no databases elsewhere. Whether a value makes sense to the store is checked when a database is opened.
 */
enum bsdb_status bsdb_remote_set(struct bsdb_remote *remote,
                                 const char *name,
                                 const char *value,
                                 struct bsdb_error **error);

/**
 * Frees options. Databases that were opened with them stay open. Does nothing with NULL.
 */
void bsdb_remote_free(struct bsdb_remote *remote);

/**
 * Fills `traffic`, whose `size` the caller has set. Returns BSDB_OK or an error.
 */
enum bsdb_status bsdb_get_traffic(const struct bsdb_database *database,
                                  struct bsdb_traffic *traffic,
                                  struct bsdb_error **error);

/**
 * Opens a database, a set of shards, or the current version of a store. Takes the same time for every size
 * of a database; one elsewhere takes three to six requests, and the time to fetch its index or hash function.
 *
 * `path` is a directory: bytes on Unix, UTF-8 on Windows. Or it is the URL of one that is elsewhere, which is then read
 * where it lies: s3://bucket/path, gs://bucket/path, az://container/path,
 * abfss://container@account.dfs.core.windows.net/path, or https://host/path for any web server that sends ranges
 * (see `bsdb_has_remote`). `options` may be NULL for the defaults. Sets
 * `*database` to a reference that the caller drops with `bsdb_close`, or to NULL on an error. Returns
 * BSDB_OK or an error.
 */
enum bsdb_status bsdb_open(const char *path,
                           const struct bsdb_options *options,
                           struct bsdb_database **database,
                           struct bsdb_error **error);

/**
 * Adds a reference to a database, to be dropped with `bsdb_close`. Returns its argument, also if it is NULL.
 */
struct bsdb_database *bsdb_retain(struct bsdb_database *database);

/**
 * Drops a reference to a database. Closes the database if it was the last one: then its files are closed
 * and unmapped, and views into it and texts of it are no longer valid. Scans go on, since each has a
 * reference. The caller must not use the reference again. Does nothing with NULL.
 */
void bsdb_close(struct bsdb_database *database);

/**
 * The number of records that lookups can find; of a set that is held in part, those of the shards that are
 * held. 0 for NULL.
 */
uint64_t bsdb_record_count(const struct bsdb_database *database);

/**
 * The id of the database or set: 32 hexadecimal digits that depend on every byte of it. NULL for NULL. Ends
 * with a zero byte. Valid until the database is closed.
 */
const char *bsdb_id(const struct bsdb_database *database);

/**
 * The directory or URL of the database; of a store, that of the version. NULL for NULL. Ends with a zero byte.
 * Valid until the database is closed.
 */
const char *bsdb_path(const struct bsdb_database *database);

/**
 * How records are stored: "blocked", "compact", "compressed", "packed", "packed-compressed", or "none" for
 * an approximate database. NULL for NULL. Ends with a zero byte. Valid until the database is closed.
 */
const char *bsdb_layout(const struct bsdb_database *database);

/**
 * The schema of typed rows as JSON, or NULL if values are no rows or the database is NULL. If `length` is
 * not NULL, sets `*length` to its bytes, without the zero byte at its end. Valid until the database is
 * closed.
 */
const char *bsdb_schema(const struct bsdb_database *database,
                        size_t *length);

/**
 * The type of the elements of values, if all of these are vectors of one length: "f16", "f32", "f64", "i8", "u8",
 * "i16", "i32" or "i64", little-endian. NULL if they are not, or the database is NULL. If `count` is not NULL,
 * sets `*count` to the number of elements of each value, and to 0 if they are no vectors. Valid until the database
 * is closed.
 */
const char *bsdb_value_elements(const struct bsdb_database *database,
                                size_t *count);

/**
 * Fills `statistics`, whose `size` the caller has set. Returns BSDB_OK or an error.
 */
enum bsdb_status bsdb_get_statistics(const struct bsdb_database *database,
                                     struct bsdb_statistics *statistics,
                                     struct bsdb_error **error);

/**
 * Checks every byte of every file, and that each record is found by its key. Reads the whole database.
 *
 * `verified` may be NULL; otherwise the caller has set its `size`, and it is filled on success. Returns
 * BSDB_OK if all is well, otherwise the error.
 */
enum bsdb_status bsdb_verify(const struct bsdb_database *database,
                             struct bsdb_verified *verified,
                             struct bsdb_error **error);

/**
 * Checks the bytes alone: that all files have the content hashes of the manifest, so that the database is the one whose
 * id it has, and whose signature, if that was required. Reads each file once, and looks up no key.
 *
 * Arguments and result are those of `bsdb_verify`. If an older version wrote the database without content hashes, it is
 * BSDB_ERROR_IMPOSSIBLE.
 */
enum bsdb_status bsdb_verify_content(const struct bsdb_database *database,
                                     struct bsdb_verified *verified,
                                     struct bsdb_error **error);

/**
 * Copies the value of a key to a buffer.
 *
 * `buffer` has room for `capacity` bytes; it may be NULL if `capacity` is 0. `length` may be NULL; otherwise
 * `*length` is set to the length of the value, and to 0 if there is none.
 *
 * Returns BSDB_OK if the value was copied; BSDB_TOO_SMALL if it is longer than `capacity`, with the buffer
 * untouched and `*length` set; BSDB_ABSENT if there is no such key; or an error. An empty value is a value:
 * BSDB_OK with a length of 0. Values in approximate mode may be another key's, or cut short.
 */
enum bsdb_status bsdb_get(const struct bsdb_database *database,
                          const void *key,
                          size_t key_length,
                          void *buffer,
                          size_t capacity,
                          size_t *length,
                          struct bsdb_error **error);

/**
 * Whether there is a key: BSDB_OK if there is, BSDB_ABSENT if there is not, or an error. In approximate mode
 * the answer may be BSDB_OK for an absent key.
 */
enum bsdb_status bsdb_contains(const struct bsdb_database *database,
                               const void *key,
                               size_t key_length,
                               struct bsdb_error **error);

/**
 * The value of a key where it lies, without a copy if possible. A value that lies in one piece in a mapped
 * file costs no allocation and no change of a counter.
 *
 * Returns BSDB_OK and sets `*view`, which the caller releases with `bsdb_release_views(view, 1)`; or
 * BSDB_ABSENT or an error, with `*view` set to NULL and 0, which need not be released. What `*view` held
 * before is not released.
 */
enum bsdb_status bsdb_get_view(const struct bsdb_database *database,
                               const void *key,
                               size_t key_length,
                               struct bsdb_view *view,
                               struct bsdb_error **error);

/**
 * The values of many keys at once. Much quicker than one lookup after the other: the waits for memory or
 * for the device overlap.
 *
 * `keys` and `key_lengths` have `count` elements; they may be NULL if `count` is 0. `views` has room for
 * `count` views. Returns BSDB_OK with `views` filled in the order of the keys: a view whose `data` is NULL
 * for a key that is absent. The caller releases them with `bsdb_release_views(views, count)`. What the views
 * held before is not released.
 *
 * On an error about any of the keys, returns it, with all views set to NULL and 0.
 */
enum bsdb_status bsdb_get_batch(const struct bsdb_database *database,
                                const void *const *keys,
                                const size_t *key_lengths,
                                size_t count,
                                struct bsdb_view *views,
                                struct bsdb_error **error);

/**
 * Releases views: frees copies, does nothing with bytes that lie in mapped files, and sets all to NULL, so
 * that releasing them again does nothing. `views` are `count` views that `bsdb_get_view` or `bsdb_get_batch`
 * filled, or the caller set to zeros; it may be NULL.
 */
void bsdb_release_views(struct bsdb_view *views,
                        size_t count);

/**
 * Like `bsdb_get_batch`, but passes each value to a function, in the order of the keys, in the thread of the
 * caller and before this function returns. Nothing is to be released.
 *
 * Returns BSDB_OK after a call for each of the keys. On an error, returns it; the function may have been
 * called for some of the keys before the one that failed.
 */
enum bsdb_status bsdb_visit_batch(const struct bsdb_database *database,
                                  const void *const *keys,
                                  const size_t *key_lengths,
                                  size_t count,
                                  bsdb_visitor visitor,
                                  void *context,
                                  struct bsdb_error **error);

/**
 * Looks a key up without waiting, for databases elsewhere: the answer is passed to a function later, or even before
 * this function returns, in another thread. Any number of lookups can be under way; requests are as many at once as the
 * option `requests` says. Of a database in a directory, the lookup runs in the thread that calls the function.
 *
 * The key is copied. The lookup holds a reference to the database until just before it calls the function.
 *
 * Returns BSDB_OK if the function will be called, once; or an error, and it will not: BSDB_ERROR_UNSUPPORTED if this
 * build reads no databases elsewhere. A forked process gets no answers to what its parent asked.
 */
enum bsdb_status bsdb_get_async(const struct bsdb_database *database,
                                const void *key,
                                size_t key_length,
                                bsdb_callback callback,
                                void *context,
                                struct bsdb_error **error);

/**
 * Starts a scan of all records: in the order of the build's input, or in that of signatures in the packed
 * layouts. Shards follow each other.
 *
 * Sets `*scan` to a scan that the caller closes with `bsdb_scan_close`, or to NULL on an error. Returns
 * BSDB_OK or an error: BSDB_ERROR_IMPOSSIBLE for an approximate database, which keeps no keys.
 */
enum bsdb_status bsdb_scan_open(const struct bsdb_database *database,
                                struct bsdb_scan **scan,
                                struct bsdb_error **error);

/**
 * Moves on to the next record.
 *
 * Returns BSDB_OK and sets `*record`; BSDB_END after the last record; or an error, after which the scan is
 * over and each further call returns the same error. Sets `*record` to NULL and 0 unless it returns BSDB_OK.
 */
enum bsdb_status bsdb_scan_next(struct bsdb_scan *scan,
                                struct bsdb_record *record,
                                struct bsdb_error **error);

/**
 * Ends a scan at any point, and drops its reference to the database. Does nothing with NULL.
 */
void bsdb_scan_close(struct bsdb_scan *scan);

/**
 * Whether the order of the keys was stored (`bsdb build --ordered`), which `bsdb_scan_range` and `bsdb_count`
 * need. False for NULL.
 */
bool bsdb_is_ordered(const struct bsdb_database *database);

/**
 * Starts a scan of the records of a range, in the order of their keys; in a set, those of all shards that are
 * held, merged.
 *
 * `range` may be NULL for all keys. Sets `*scan` to a scan that the caller closes with `bsdb_scan_close`, or to
 * NULL on an error. Returns BSDB_OK or an error: BSDB_ERROR_IMPOSSIBLE if the order of the keys was not stored.
 */
enum bsdb_status bsdb_scan_range(const struct bsdb_database *database,
                                 const struct bsdb_range *range,
                                 struct bsdb_scan **scan,
                                 struct bsdb_error **error);

/**
 * Counts the keys in a range, without going through them. Its flags do not matter; `range` may be NULL for all
 * keys.
 *
 * Sets `*count`, to 0 on an error. Returns BSDB_OK or an error: BSDB_ERROR_IMPOSSIBLE if the order of the keys
 * was not stored.
 */
enum bsdb_status bsdb_count(const struct bsdb_database *database,
                            const struct bsdb_range *range,
                            uint64_t *count,
                            struct bsdb_error **error);

/**
 * Opens the current version of a store.
 *
 * `path` is a directory or a URL, as in `bsdb_open`. `options` may be NULL for the defaults; they also hold for later versions.
 * Sets `*store` to a store that the caller closes with `bsdb_store_close`, or to NULL on an error. Returns
 * BSDB_OK or an error.
 */
enum bsdb_status bsdb_store_open(const char *path,
                                 const struct bsdb_options *options,
                                 struct bsdb_store **store,
                                 struct bsdb_error **error);

/**
 * Switches to the current version of the store if it is another one, or another database under the same
 * name. References to the earlier version stay valid. A store elsewhere takes two requests, and a switch those of an
 * open.
 *
 * If `changed` is not NULL, sets `*changed` to whether it switched. Returns BSDB_OK or an error, after which
 * the version before stays.
 */
enum bsdb_status bsdb_store_refresh(const struct bsdb_store *store,
                                    bool *changed,
                                    struct bsdb_error **error);

/**
 * The version that was current when the store was opened or last refreshed: one for all lookups of a
 * request. `bsdb_path` names it.
 *
 * Sets `*database` to a reference that the caller drops with `bsdb_close`, and that stays valid when the
 * store is refreshed or closed; or to NULL on an error. Returns BSDB_OK or an error.
 */
enum bsdb_status bsdb_store_acquire(const struct bsdb_store *store,
                                    struct bsdb_database **database,
                                    struct bsdb_error **error);

/**
 * Closes a store. Versions that were acquired stay open until their references are dropped. No other thread
 * may use the store any more. Does nothing with NULL.
 */
void bsdb_store_close(struct bsdb_store *store);

/**
 * The default options, which the caller frees with `bsdb_build_options_free`.
 */
struct bsdb_build_options *bsdb_build_options_new(void);

/**
 * Sets an option. `name` and `value` are UTF-8.
 *
 * | Name | Value | Default |
 * |---|---|---|
 * | layout | blocked, compact, compressed, packed, packed-compressed | packed, or blocked (see below) |
 * | checksum_bits | 0 to 32, except in the packed layouts | 4 |
 * | filter_bits | 0 to 16, in the packed layouts | 0 |
 * | ordered | true: the order of keys is stored, for ranges | false |
 * | duplicates | error, first, last: the record that stays | error |
 * | data_files | 1 to 128 | 1 |
 * | shards | 1 to 16384 | 1 |
 * | block_bytes | 512 to 1048576, in compressed layouts | 1024 |
 * | compression_level | 1 to 22, in compressed layouts | 6 |
 * | dictionary_bytes | 0 to 1048576, in compressed layouts | 112640 |
 * | sample_records | 0 to 1000000, in compressed layouts | 10000 |
 * | value_schema | the schema of typed rows, as JSON on one line | |
 * | value_elements | the elements of vectors, such as "f32 384" | |
 * | seed | of the signatures, a signed number of 64 bits | 0 |
 * | sign_key | a file with a private key of Ed25519, which signs the database | |
 * | overwrite | true: a database at the target is replaced | false |
 * | memory_bytes | 1048576 or more | 1 GiB |
 * | threads | 1 to 256 | all cores |
 * | temporary_directory | a directory | beside the target |
 *
 * Unless a layout is chosen, it is blocked if `ordered` or `checksum_bits` are not their defaults.
 *
 * Returns BSDB_OK, or BSDB_ERROR_INVALID_ARGUMENT, with the options as they were. Whether options go together is
 * checked when a build starts.
 */
enum bsdb_status bsdb_build_options_set(struct bsdb_build_options *options,
                                        const char *name,
                                        const char *value,
                                        struct bsdb_error **error);

/**
 * Signs a database, or a set of shards, in place of a signature that it may have, for readers that require one: see
 * `trust` of `bsdb_options`.
 *
 * `path` is its directory, and `sign_key` a file with a private key of Ed25519, as `openssl genpkey -algorithm ed25519`
 * writes it. The file of the manifest is replaced in one step; the id and all other files stay as they are. Sign before
 * the database is copied anywhere. The option `sign_key` of a build signs at once. Returns BSDB_OK or an error.
 */
enum bsdb_status bsdb_sign(const char *path,
                           const char *sign_key,
                           struct bsdb_error **error);

/**
 * Frees options. Builds that were started with them go on. Does nothing with NULL.
 */
void bsdb_build_options_free(struct bsdb_build_options *options);

/**
 * Starts a build of a database.
 *
 * A build is a transaction: nothing is at `path`, or the database there stays as it was, until
 * `bsdb_builder_finish` has written everything and forced it to the device. `path` is as in `bsdb_open`. `options`
 * may be NULL for the defaults; they are copied. `listener` may be NULL; otherwise it is called with `context`,
 * until the builder is closed.
 *
 * Sets `*builder` to a builder that the caller closes with `bsdb_builder_close`, or to NULL on an error. Returns
 * BSDB_OK or an error: BSDB_ERROR_EXISTS if `path` exists and may not be replaced, BSDB_ERROR_INVALID_ARGUMENT if
 * options do not go together.
 */
enum bsdb_status bsdb_builder_create(const char *path,
                                     const struct bsdb_build_options *options,
                                     bsdb_listener listener,
                                     void *context,
                                     struct bsdb_builder **builder,
                                     struct bsdb_error **error);

/**
 * Adds a record for training the ZSTD dictionary of a compressed layout, which then uses no others. All samples come
 * before the first record. Arguments and result are those of `bsdb_builder_add`.
 */
enum bsdb_status bsdb_builder_sample(struct bsdb_builder *builder,
                                     const void *key,
                                     size_t key_length,
                                     const void *value,
                                     size_t value_length,
                                     struct bsdb_error **error);

/**
 * Adds a record: a key of at most 65,535 bytes and a value of at most 2,147,483,639, which are copied. Each may be
 * NULL if its length is 0.
 *
 * Returns BSDB_OK or an error. After BSDB_ERROR_INVALID_ARGUMENT about the key or the value, the record is not part of
 * the database, and the build can go on. After any other error it cannot.
 */
enum bsdb_status bsdb_builder_add(struct bsdb_builder *builder,
                                  const void *key,
                                  size_t key_length,
                                  const void *value,
                                  size_t value_length,
                                  struct bsdb_error **error);

/**
 * Adds `count` records, in their order. The arrays have `count` elements; they may be NULL if `count` is 0.
 *
 * Returns BSDB_OK, or the error of the first record that `bsdb_builder_add` would refuse; those before it were added,
 * and those from it on were not. `added` may be NULL; otherwise `*added` is set to the number of those that were.
 */
enum bsdb_status bsdb_builder_add_many(struct bsdb_builder *builder,
                                       const void *const *keys,
                                       const size_t *key_lengths,
                                       const void *const *values,
                                       const size_t *value_lengths,
                                       size_t count,
                                       size_t *added,
                                       struct bsdb_error **error);

/**
 * The number of records that were added; 0 for NULL, and once the build has ended.
 */
uint64_t bsdb_builder_record_count(const struct bsdb_builder *builder);

/**
 * Writes the database, forces it to the device and publishes it. The build has ended then, also on an error: the only
 * thing left is to close the builder.
 *
 * `built` may be NULL; otherwise the caller has set its `size`, and it is filled on success. Returns BSDB_OK or an
 * error: BSDB_ERROR_DUPLICATE if a key was added twice, see `bsdb_error_duplicate`.
 */
enum bsdb_status bsdb_builder_finish(struct bsdb_builder *builder,
                                     struct bsdb_built *built,
                                     struct bsdb_error **error);

/**
 * Closes a builder. A build that has not ended is abandoned: what it wrote is removed, and what was at its path stays.
 * Does nothing with NULL.
 */
void bsdb_builder_close(struct bsdb_builder *builder);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BSDB_H */
