/*
 * Tests the C interface: abi GOLDEN RECORDS WORK [STEP [URL]]
 *
 * GOLDEN holds databases. RECORDS holds what they answer: NAME.txt for the database NAME, or else default.txt. A line
 * is a key in hexadecimal digits, a space, and the value in hexadecimal digits or `-` for an absent key. WORK is a
 * directory for damaged copies. One bit of every STEP-th byte of each file is flipped. At URL, a web server serves GOLDEN.
 *
 * Exits with 0 if all is well, otherwise says what is not and aborts.
 */
#define _XOPEN_SOURCE 700

#include <bsdb.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS 4
#define MOST_KEYS 256
#define GUARD 0xa5

#define CHECK(condition) ((condition) ? (void) 0 : failed(__LINE__, #condition))

/* What is being tested, for messages. */
static char context[4096];

static void failed(int line, const char *condition) {
    fprintf(stderr, "abi.c:%d: not so: %s\n  with %s\n", line, condition, context);
    abort();
}

static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
}

static void say_too(const char *more) {
    size_t length = strlen(context);
    snprintf(context + length, sizeof context - length, ": %s", more);
}

/* A path of parts. */
static void join(char *to, size_t size, const char *format, ...) {
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t) length < size);
}

/* ---- Keys and what they lead to ---- */

typedef struct {
    uint8_t *key, *value; /* value is NULL if the key is absent */
    size_t key_length, value_length;
} entry;

typedef struct {
    entry entries[MOST_KEYS];
    size_t count, present;
} truth;

static void *allocated(size_t size) {
    void *memory = calloc(1, size + 1);
    CHECK(memory != NULL);
    return memory;
}

static uint8_t *from_hex(const char *text, size_t digits) {
    size_t i;
    uint8_t *bytes = allocated(digits / 2);
    CHECK(digits % 2 == 0);
    for (i = 0; i < digits; i += 2) {
        unsigned byte;
        CHECK(sscanf(text + i, "%2x", &byte) == 1);
        bytes[i / 2] = (uint8_t) byte;
    }
    return bytes;
}

static entry *added(truth *t) {
    CHECK(t->count < MOST_KEYS);
    return &t->entries[t->count++];
}

static void add_long(truth *t, size_t length) {
    entry *e = added(t);
    e->key = allocated(length);
    memset(e->key, 'y', length);
    e->key_length = length;
}

static truth *read_truth(const char *records, const char *name) {
    static char line[1 << 16];
    char path[4096];
    truth *t = calloc(1, sizeof *t);
    FILE *file;
    CHECK(t != NULL);
    join(path, sizeof path, "%s/%s.txt", records, name);
    file = fopen(path, "r");
    if (file == NULL) {
        join(path, sizeof path, "%s/default.txt", records);
        file = fopen(path, "r");
    }
    say("the records %s", path);
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        size_t key, value;
        char *rest = strchr(line, ' ');
        entry *e = added(t);
        CHECK(rest != NULL);
        key = (size_t) (rest - line);
        rest++;
        value = strcspn(rest, "\r\n");
        e->key = from_hex(line, key);
        e->key_length = key / 2;
        if (strncmp(rest, "-", value) != 0 || value == 0) {
            e->value = from_hex(rest, value);
            e->value_length = value / 2;
            t->present++;
        }
    }
    fclose(file);
    CHECK(t->present > 0);
    /* Too long for any database. */
    add_long(t, 65536);
    add_long(t, 70000);
    return t;
}

static void free_truth(truth *t) {
    size_t i;
    for (i = 0; i < t->count; i++) {
        free(t->entries[i].key);
        free(t->entries[i].value);
    }
    free(t);
}

/* ---- Answers ---- */

/* What may come besides right answers. */
typedef enum {
    NO_ERRORS,
    ERRORS,    /* errors about damage */
    ANYTHING   /* wrong answers too: pages are not verified */
} allowance;

/* Whether a call answered; frees its error, of which there is one if and only if it failed. */
static bool answered(bsdb_status status, bsdb_error *error, allowance allowed) {
    CHECK((status < 0) == (error != NULL));
    if (status >= 0) {
        return true;
    }
    if (allowed == NO_ERRORS || status == BSDB_ERROR_INTERNAL) {
        say_too(bsdb_error_message(error));
    }
    CHECK(allowed != NO_ERRORS);
    CHECK(bsdb_error_status(error) == status);
    CHECK(strlen(bsdb_error_message(error)) > 0);
    if (status == BSDB_ERROR_DAMAGED) {
        uint64_t offset = UINT64_MAX;
        CHECK(bsdb_error_offset(error, &offset) && offset != UINT64_MAX);
        CHECK(bsdb_error_path(error) != NULL);
    } else {
        CHECK(!bsdb_error_offset(error, NULL));
    }
    CHECK(status != BSDB_ERROR_INTERNAL && status != BSDB_ERROR_INVALID_ARGUMENT);
    CHECK(status != BSDB_ERROR_NOT_HELD);
    CHECK(strcmp(bsdb_status_name(status), "unknown") != 0);
    bsdb_error_free(error);
    return false;
}

static bool is_value(const entry *e, const uint8_t *data, size_t length) {
    if (e->value == NULL) {
        return data == NULL && length == 0;
    }
    return data != NULL && length == e->value_length && (length == 0 || memcmp(data, e->value, length) == 0);
}

static const void *key_of(const entry *e) {
    return e->key_length == 0 ? NULL : e->key;
}

/* Asks for a key in every way. Returns whether there was no error. */
static bool ask(const bsdb_database *db, const entry *e, allowance allowed) {
    bsdb_error *error = NULL;
    bsdb_view view;
    bsdb_status status, expected = e->value == NULL ? BSDB_ABSENT : BSDB_OK;
    uint8_t buffer[256];
    size_t i, length = 99;
    bool ok = true;

    status = bsdb_contains(db, key_of(e), e->key_length, &error);
    if (answered(status, error, allowed)) {
        CHECK(status == expected || allowed == ANYTHING);
    } else {
        ok = false;
    }

    memset(&view, GUARD, sizeof view);
    status = bsdb_get_view(db, key_of(e), e->key_length, &view, &error);
    if (answered(status, error, allowed)) {
        CHECK((status == expected && is_value(e, view.data, view.length)) || allowed == ANYTHING);
    } else {
        CHECK(view.data == NULL && view.length == 0 && view.owner == NULL);
        ok = false;
    }
    bsdb_release_views(&view, 1);
    CHECK(view.data == NULL && view.length == 0 && view.owner == NULL);
    bsdb_release_views(&view, 1);

    if (allowed == ANYTHING) {
        return ok;
    }
    CHECK(e->value_length + 2 <= sizeof buffer);
    /* Buffers that are too small, just large enough, and larger. */
    for (i = 0; i < 4; i++) {
        const size_t capacities[] = {0, e->value_length - 1, e->value_length, e->value_length + 1};
        size_t capacity = capacities[i], j, written;
        if (capacity > sizeof buffer) {
            continue;
        }
        memset(buffer, GUARD, sizeof buffer);
        status = bsdb_get(db, key_of(e), e->key_length, capacity == 0 ? NULL : buffer, capacity, &length, &error);
        if (!answered(status, error, allowed)) {
            CHECK(length == 0);
            written = 0;
            ok = false;
        } else if (e->value == NULL) {
            CHECK(status == BSDB_ABSENT && length == 0);
            written = 0;
        } else {
            CHECK(length == e->value_length);
            CHECK(status == (capacity < e->value_length ? BSDB_TOO_SMALL : BSDB_OK));
            written = status == BSDB_OK ? length : 0;
            CHECK(written == 0 || memcmp(buffer, e->value, written) == 0);
        }
        for (j = written; j < sizeof buffer; j++) {
            CHECK(buffer[j] == GUARD);
        }
    }
    return ok;
}

typedef struct {
    const bsdb_database *db;
    const truth *t;
    size_t next, round;
    allowance allowed;
} visit;

static void visited(void *context_of_visit, size_t index, const uint8_t *value, size_t length) {
    visit *v = context_of_visit;
    const entry *e = &v->t->entries[index % v->t->count];
    CHECK(index == v->next);
    v->next++;
    CHECK(is_value(e, value, length) || v->allowed == ANYTHING);
    /* Lookups within lookups. */
    if (index % 7 == v->round % 7) {
        ask(v->db, e, v->allowed);
    }
    CHECK(is_value(e, value, length) || v->allowed == ANYTHING);
}

/* Asks for all keys at once, so often that there are `count`. */
static bool ask_batch(const bsdb_database *db, const truth *t, size_t count, allowance allowed) {
    const void **keys = allocated(count * sizeof *keys);
    size_t *lengths = allocated(count * sizeof *lengths);
    bsdb_view *views = allocated(count * sizeof *views);
    bsdb_error *error = NULL;
    bsdb_status status;
    visit v;
    size_t i;
    bool ok;
    for (i = 0; i < count; i++) {
        keys[i] = key_of(&t->entries[i % t->count]);
        lengths[i] = t->entries[i % t->count].key_length;
    }
    memset(views, GUARD, count * sizeof *views);
    status = bsdb_get_batch(db, keys, lengths, count, views, &error);
    ok = answered(status, error, allowed);
    CHECK(!ok || status == BSDB_OK);
    for (i = 0; i < count; i++) {
        if (!ok) {
            CHECK(views[i].data == NULL && views[i].owner == NULL);
        } else if (allowed != ANYTHING) {
            CHECK(is_value(&t->entries[i % t->count], views[i].data, views[i].length));
        }
    }
    bsdb_release_views(views, count);

    v.db = db;
    v.t = t;
    v.next = 0;
    v.round = count;
    v.allowed = allowed;
    status = bsdb_visit_batch(db, keys, lengths, count, visited, &v, &error);
    if (answered(status, error, allowed)) {
        CHECK(v.next == count);
    } else {
        ok = false;
    }
    free(views);
    free(lengths);
    free((void *) keys);
    return ok;
}

static bool is_approximate(const bsdb_database *db) {
    return strcmp(bsdb_layout(db), "none") == 0;
}

/* Compares all records. */
static bool ask_scan(const bsdb_database *db, const truth *t, allowance allowed) {
    bsdb_scan *scan;
    bsdb_record record;
    bsdb_error *error = NULL;
    size_t seen[MOST_KEYS] = {0}, found = 0, i;
    bsdb_status status = bsdb_scan_open(db, &scan, &error);
    bool ok;
    if (is_approximate(db)) {
        CHECK(status == BSDB_ERROR_IMPOSSIBLE && scan == NULL && error != NULL);
        bsdb_error_free(error);
        return true;
    }
    if (!answered(status, error, allowed)) {
        CHECK(scan == NULL);
        return false;
    }
    for (;;) {
        status = bsdb_scan_next(scan, &record, &error);
        ok = answered(status, error, allowed);
        if (status != BSDB_OK) {
            CHECK(record.key == NULL && record.value == NULL);
            break;
        }
        found++;
        if (allowed == ANYTHING) {
            if (found > 100000) {
                break;
            }
            continue;
        }
        CHECK(record.key != NULL);
        for (i = 0; i < t->count; i++) {
            const entry *e = &t->entries[i];
            if (e->value != NULL && e->key_length == record.key_length
                && memcmp(e->key, record.key, record.key_length) == 0) {
                CHECK(is_value(e, record.value, record.value_length));
                seen[i]++;
                break;
            }
        }
        CHECK(i < t->count && seen[i] == 1);
    }
    if (ok) {
        CHECK(found == t->present || allowed == ANYTHING);
        CHECK(bsdb_scan_next(scan, &record, NULL) == BSDB_END || allowed == ANYTHING);
    } else {
        /* An error does not turn into an end. */
        CHECK(bsdb_scan_next(scan, &record, &error) == status && bsdb_error_status(error) == status);
        bsdb_error_free(error);
    }
    bsdb_scan_close(scan);
    return ok;
}

/* A range of `present` records, compared in the order of its keys, which each scan must have. */
static size_t ask_range(const bsdb_database *db, const truth *t, const bsdb_range *range, allowance allowed) {
    bsdb_scan *scan;
    bsdb_record record;
    bsdb_error *error;
    uint8_t last[70000];
    size_t last_length = 0, found = 0, i;
    uint64_t count;
    bsdb_status status = bsdb_scan_range(db, range, &scan, &error);
    bool ok;
    CHECK(answered(status, error, NO_ERRORS));
    for (;; found++) {
        status = bsdb_scan_next(scan, &record, &error);
        ok = answered(status, error, allowed);
        if (status != BSDB_OK || found > 100000) {
            break;
        }
        CHECK(record.key != NULL && record.key_length <= 65535);
        if (allowed == ANYTHING) {
            continue;
        }
        CHECK((record.value == NULL) == (range != NULL && (range->flags & BSDB_RANGE_KEYS)));
        if (found > 0) {
            size_t shorter = last_length < record.key_length ? last_length : record.key_length;
            int order = memcmp(last, record.key, shorter);
            bool less = order < 0 || (order == 0 && last_length < record.key_length);
            CHECK(less == !(range != NULL && (range->flags & BSDB_RANGE_DESCENDING)));
        }
        memcpy(last, record.key, record.key_length);
        last_length = record.key_length;
        for (i = 0; i < t->count; i++) {
            const entry *e = &t->entries[i];
            if (e->value != NULL && e->key_length == record.key_length
                && memcmp(e->key, record.key, record.key_length) == 0) {
                CHECK(record.value == NULL || is_value(e, record.value, record.value_length));
                break;
            }
        }
        CHECK(i < t->count);
    }
    bsdb_scan_close(scan);
    status = bsdb_count(db, range, &count, &error);
    CHECK(!answered(status, error, allowed) || !ok || count == found || allowed == ANYTHING);
    return found;
}

/* Ranges of all keys and of parts that make up all of them. */
static void ask_order(const bsdb_database *db, const truth *t, allowance allowed) {
    bsdb_range range = BSDB_RANGE;
    bsdb_scan *scan;
    bsdb_error *error;
    uint64_t count = 1;
    size_t i;
    if (!bsdb_is_ordered(db)) {
        CHECK(bsdb_scan_range(db, NULL, &scan, &error) == BSDB_ERROR_IMPOSSIBLE && scan == NULL);
        CHECK(strstr(bsdb_error_message(error), "bsdb build --ordered") != NULL);
        bsdb_error_free(error);
        CHECK(bsdb_count(db, NULL, &count, NULL) == BSDB_ERROR_IMPOSSIBLE && count == 0);
        return;
    }
    i = ask_range(db, t, NULL, allowed);
    CHECK(i == t->present || allowed != NO_ERRORS);
    for (i = 0; i < t->count; i++) {
        const entry *e = &t->entries[i];
        size_t before, after, least;
        range.flags = (uint32_t) i % 4;
        range.from = NULL;
        range.from_length = 0;
        range.to = e->key;
        range.to_length = e->key_length;
        before = ask_range(db, t, &range, allowed);
        range.to = NULL;
        range.to_length = 0;
        range.from = e->key;
        range.from_length = e->key_length;
        after = ask_range(db, t, &range, allowed);
        CHECK(before + after == t->present || allowed != NO_ERRORS);
        range.prefix = e->key;
        range.prefix_length = e->key_length;
        least = e->value != NULL;
        CHECK(ask_range(db, t, &range, allowed) >= least || allowed != NO_ERRORS);
        range.prefix = NULL;
        range.prefix_length = 0;
    }
}

static bool ask_all(const bsdb_database *db, const truth *t, allowance allowed) {
    size_t i;
    bool ok = true;
    for (i = 0; i < t->count; i++) {
        ok &= ask(db, &t->entries[i], allowed);
    }
    ok &= ask_batch(db, t, t->count, allowed);
    ok &= ask_scan(db, t, allowed);
    ask_order(db, t, allowed);
    return ok;
}

static bsdb_database *opened(const char *path, uint32_t access) {
    bsdb_options options = BSDB_OPTIONS;
    bsdb_database *db = NULL;
    bsdb_error *error;
    bsdb_status status;
    options.access = access;
    status = bsdb_open(path, &options, &db, &error);
    answered(status, error, NO_ERRORS);
    CHECK(db != NULL);
    return db;
}

/* ---- Threads ---- */

typedef struct {
    bsdb_database *db;
    const truth *t;
    bsdb_store *store;
    int number;
} job;

static void *work(void *of) {
    job *j = of;
    size_t i, round;
    for (round = 0; round < 20; round++) {
        bsdb_database *db = bsdb_retain(j->db);
        for (i = 0; i < j->t->count; i++) {
            ask(db, &j->t->entries[(i * 7 + (size_t) j->number) % j->t->count], NO_ERRORS);
        }
        ask_batch(db, j->t, 1 + (round * 61 + (size_t) j->number * 31) % 400, NO_ERRORS);
        ask_scan(db, j->t, NO_ERRORS);
        bsdb_close(db);
    }
    return NULL;
}

static void run_threads(void *(*run)(void *), job *common, void (*meanwhile)(job *)) {
    pthread_t threads[THREADS];
    job jobs[THREADS];
    int i;
    for (i = 0; i < THREADS; i++) {
        jobs[i] = *common;
        jobs[i].number = i;
        CHECK(pthread_create(&threads[i], NULL, run, &jobs[i]) == 0);
    }
    if (meanwhile != NULL) {
        meanwhile(common);
    }
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

/* ---- Files ---- */

typedef struct {
    char paths[64][512]; /* relative to the database */
    size_t count;
} files;

static void list(files *all, const char *root, const char *under) {
    char path[2048];
    struct dirent *found;
    DIR *directory;
    join(path, sizeof path, "%s/%s", root, under);
    directory = opendir(path);
    say("the directory %s", path);
    CHECK(directory != NULL);
    while ((found = readdir(directory)) != NULL) {
        char name[512];
        struct stat status;
        if (found->d_name[0] == '.') {
            continue;
        }
        join(name, sizeof name - 1, "%s%s", under, found->d_name);
        join(path, sizeof path, "%s/%s", root, name);
        CHECK(stat(path, &status) == 0);
        if (S_ISDIR(status.st_mode)) {
            strcat(name, "/");
            list(all, root, name);
        } else {
            CHECK(all->count < sizeof all->paths / sizeof all->paths[0]);
            strcpy(all->paths[all->count++], name);
        }
    }
    closedir(directory);
}

/* Creates the directories of a path, except its last part. */
static void make_parents(const char *path) {
    char parent[2048];
    char *slash;
    CHECK(strlen(path) < sizeof parent);
    strcpy(parent, path);
    for (slash = strchr(parent + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        CHECK(mkdir(parent, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
}

static uint8_t *read_file(const char *path, size_t *length) {
    struct stat status;
    uint8_t *bytes;
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && stat(path, &status) == 0);
    *length = (size_t) status.st_size;
    bytes = allocated(*length);
    CHECK(fread(bytes, 1, *length, file) == *length);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const void *bytes, size_t length) {
    FILE *file;
    make_parents(path);
    file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, length, file) == length);
    CHECK(fclose(file) == 0);
}

static void copy(const char *from, const char *to) {
    files all = {0};
    size_t i;
    list(&all, from, "");
    for (i = 0; i < all.count; i++) {
        char path[2048];
        size_t length;
        uint8_t *bytes;
        join(path, sizeof path, "%s/%s", from, all.paths[i]);
        bytes = read_file(path, &length);
        join(path, sizeof path, "%s/%s", to, all.paths[i]);
        write_file(path, bytes, length);
        free(bytes);
    }
}

/* ---- The tests ---- */

static void test_facts(const char *path, const truth *t, uint32_t access) {
    bsdb_database *db = opened(path, access);
    bsdb_statistics statistics;
    bsdb_verified verified;
    bsdb_error *error = NULL;
    bsdb_status status;
    size_t length = 99;
    const char *schema;

    memset(&statistics, 0, sizeof statistics);
    memset(&verified, 0, sizeof verified);
    statistics.size = sizeof statistics;
    verified.size = sizeof verified;
    CHECK(bsdb_record_count(db) == t->present);
    CHECK(strlen(bsdb_id(db)) == 32 && strspn(bsdb_id(db), "0123456789abcdef") == 32);
    CHECK(strcmp(bsdb_path(db), path) == 0);
    schema = bsdb_schema(db, &length);
    CHECK(schema == bsdb_schema(db, NULL));
    CHECK((schema != NULL) == (strstr(path, "typed") != NULL));
    CHECK(schema == NULL ? length == 0 : length == strlen(schema) && (schema[0] == '{' || schema[0] == '"'));
    status = bsdb_get_statistics(db, &statistics, &error);
    answered(status, error, NO_ERRORS);
    CHECK(statistics.size == sizeof statistics && statistics.records == t->present);
    CHECK(statistics.files > 2 && statistics.file_bytes % 4096 == 0 && statistics.shards >= statistics.shards_held);
    CHECK(strcmp(statistics.layout, bsdb_layout(db)) == 0 && strlen(statistics.hash_kind) > 0);
    CHECK(statistics.approximate == (uint32_t) is_approximate(db) && (statistics.kept_bytes > 0) == is_approximate(db));
    status = bsdb_verify(db, &verified, &error);
    answered(status, error, NO_ERRORS);
    CHECK(verified.pages > 0 && verified.files > 0);
    CHECK(verified.records == (is_approximate(db) ? 0 : t->present));
    CHECK(bsdb_verify(db, NULL, NULL) == BSDB_OK);
    bsdb_close(db);
}

/* Views and scans when the database is closed. */
static void test_lifetimes(const char *path, const truth *t, uint32_t access) {
    bsdb_database *db = opened(path, access), *second = bsdb_retain(db);
    bsdb_view views[MOST_KEYS];
    bsdb_scan *scan = NULL;
    bsdb_record record;
    size_t i, found = 0;
    CHECK(second == db);
    for (i = 0; i < t->count; i++) {
        const entry *e = &t->entries[i];
        CHECK(bsdb_get_view(db, e->key, e->key_length, &views[i], NULL) >= 0);
        CHECK(access == BSDB_ACCESS_MAPPED || views[i].length == 0 || views[i].owner != NULL);
    }
    if (!is_approximate(db)) {
        CHECK(bsdb_scan_open(db, &scan, NULL) == BSDB_OK);
    }
    bsdb_close(db);
    /* One reference is left. */
    for (i = 0; i < t->count; i++) {
        CHECK(is_value(&t->entries[i], views[i].data, views[i].length));
    }
    ask_all(second, t, NO_ERRORS);
    bsdb_close(second);
    /* Copies outlive the database. */
    for (i = 0; i < t->count; i++) {
        CHECK(views[i].owner == NULL || is_value(&t->entries[i], views[i].data, views[i].length));
    }
    bsdb_release_views(views, t->count);
    bsdb_release_views(views, t->count);
    /* A scan has a reference of its own. */
    if (scan != NULL) {
        while (bsdb_scan_next(scan, &record, NULL) == BSDB_OK) {
            found++;
        }
        CHECK(found == t->present);
        bsdb_scan_close(scan);
    }
    /* One that is closed before its end. */
    db = opened(path, access);
    if (!is_approximate(db)) {
        CHECK(bsdb_scan_open(db, &scan, NULL) == BSDB_OK);
        CHECK(bsdb_scan_next(scan, &record, NULL) == BSDB_OK);
        bsdb_scan_close(scan);
    }
    bsdb_close(db);
}

/* The same questions to a database behind a web server. */
static void test_elsewhere(const char *url, const truth *t) {
    job j;
    say("%s", url);
    test_facts(url, t, BSDB_ACCESS_READ);
    test_lifetimes(url, t, BSDB_ACCESS_READ);
    j.db = opened(url, BSDB_ACCESS_MAPPED);
    j.t = t;
    j.store = NULL;
    ask_all(j.db, t, NO_ERRORS);
    run_threads(work, &j, NULL);
    bsdb_close(j.db);
}

static void invalid(bsdb_status status, bsdb_error **error) {
    CHECK(status == BSDB_ERROR_INVALID_ARGUMENT);
    CHECK(*error != NULL && bsdb_error_status(*error) == status && strlen(bsdb_error_message(*error)) > 0);
    CHECK(bsdb_error_path(*error) == NULL && bsdb_error_os_code(*error) == 0);
    CHECK(!bsdb_error_offset(*error, NULL) && !bsdb_error_shard(*error, NULL));
    bsdb_error_free(*error);
    *error = NULL;
}

static void test_misuse(const char *path) {
    bsdb_database *db = opened(path, BSDB_ACCESS_MAPPED), *other = db;
    bsdb_error *error = NULL, **e = &error;
    bsdb_options options = BSDB_OPTIONS;
    bsdb_range range = BSDB_RANGE;
    uint64_t count;
    bsdb_statistics statistics;
    bsdb_verified verified;
    bsdb_view view;
    bsdb_scan *scan = (bsdb_scan *) &view;
    bsdb_store *store = (bsdb_store *) &view;
    bsdb_record record;
    const void *keys[2] = {"bsdb", NULL};
    const size_t lengths[2] = {4, 1};
    size_t length = 99;
    bool changed = true;
    char buffer[100];
    struct {
        bsdb_options options;
        uint64_t more[2];
    } later;
    visit v;

    invalid(bsdb_open(NULL, NULL, &other, e), e);
    CHECK(other == NULL);
    invalid(bsdb_open(path, NULL, NULL, e), e);
    CHECK(bsdb_open(NULL, NULL, NULL, NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    options.size = 0;
    invalid(bsdb_open(path, &options, &other, e), e);
    options.size = SIZE_MAX;
    invalid(bsdb_open(path, &options, &other, e), e);
    options.size = sizeof options;
    options.access = 3;
    invalid(bsdb_open(path, &options, &other, e), e);
    options.access = BSDB_ACCESS_READ;
    options.flags = 2;
    invalid(bsdb_open(path, &options, &other, e), e);
    options.flags = BSDB_SKIP_VERIFICATION;
    CHECK(bsdb_open(path, &options, &other, e) == BSDB_OK && error == NULL);
    bsdb_close(other);
    /* The options of a later version: those that are not used do no harm. */
    memset(&later, 0, sizeof later);
    later.options.size = sizeof later;
    CHECK(bsdb_open(path, &later.options, &other, e) == BSDB_OK && error == NULL);
    bsdb_close(other);
    later.more[1] = 1;
    invalid(bsdb_open(path, &later.options, &other, e), e);

    invalid(bsdb_get(NULL, "bsdb", 4, buffer, sizeof buffer, &length, e), e);
    CHECK(length == 0);
    invalid(bsdb_get(db, NULL, 4, buffer, sizeof buffer, &length, e), e);
    invalid(bsdb_get(db, "bsdb", 4, NULL, 1, &length, e), e);
    CHECK(bsdb_get(db, "bsdb", 4, NULL, 0, NULL, NULL) == BSDB_TOO_SMALL);
    CHECK(bsdb_get(db, "bsdb", 4, buffer, sizeof buffer, NULL, NULL) == BSDB_OK);
    CHECK(bsdb_get(db, "no", 2, NULL, 0, NULL, NULL) == BSDB_ABSENT);
    CHECK(bsdb_get(db, "", SIZE_MAX, NULL, 0, NULL, NULL) == BSDB_ABSENT);
    invalid(bsdb_contains(NULL, "bsdb", 4, e), e);
    invalid(bsdb_contains(db, NULL, 4, e), e);
    memset(&view, GUARD, sizeof view);
    invalid(bsdb_get_view(NULL, "bsdb", 4, &view, e), e);
    CHECK(view.data == NULL && view.length == 0 && view.owner == NULL);
    invalid(bsdb_get_view(db, NULL, 4, &view, e), e);
    invalid(bsdb_get_view(db, "bsdb", 4, NULL, e), e);
    bsdb_release_views(NULL, 5);
    bsdb_release_views(&view, 0);

    v.db = db;
    v.next = 0;
    {
        bsdb_view views[2];
        invalid(bsdb_get_batch(NULL, keys, lengths, 1, views, e), e);
        invalid(bsdb_get_batch(db, NULL, lengths, 1, views, e), e);
        invalid(bsdb_get_batch(db, keys, NULL, 1, views, e), e);
        invalid(bsdb_get_batch(db, keys, lengths, 1, NULL, e), e);
        invalid(bsdb_get_batch(db, keys, lengths, SIZE_MAX, views, e), e);
        memset(views, GUARD, sizeof views);
        invalid(bsdb_get_batch(db, keys, lengths, 2, views, e), e);
        CHECK(views[0].data == NULL && views[1].data == NULL);
        CHECK(bsdb_get_batch(db, NULL, NULL, 0, NULL, e) == BSDB_OK && error == NULL);
        CHECK(bsdb_get_batch(db, keys, lengths, 1, views, NULL) == BSDB_OK && views[0].data != NULL);
        bsdb_release_views(views, 1);
    }
    invalid(bsdb_visit_batch(NULL, keys, lengths, 1, visited, &v, e), e);
    invalid(bsdb_visit_batch(db, NULL, lengths, 1, visited, &v, e), e);
    invalid(bsdb_visit_batch(db, keys, NULL, 1, visited, &v, e), e);
    invalid(bsdb_visit_batch(db, keys, lengths, 1, NULL, &v, e), e);
    invalid(bsdb_visit_batch(db, keys, lengths, 2, visited, &v, e), e);
    CHECK(bsdb_visit_batch(db, NULL, NULL, 0, visited, NULL, NULL) == BSDB_OK);
    CHECK(v.next == 0);

    memset(&statistics, 0, sizeof statistics);
    memset(&verified, 0, sizeof verified);
    invalid(bsdb_get_statistics(db, &statistics, e), e);
    invalid(bsdb_get_statistics(db, NULL, e), e);
    invalid(bsdb_get_statistics(NULL, &statistics, e), e);
    invalid(bsdb_verify(db, &verified, e), e);
    invalid(bsdb_verify(NULL, NULL, e), e);
    CHECK(bsdb_record_count(NULL) == 0 && bsdb_id(NULL) == NULL && bsdb_path(NULL) == NULL);
    CHECK(bsdb_layout(NULL) == NULL && bsdb_schema(NULL, NULL) == NULL);
    CHECK(bsdb_schema(NULL, &length) == NULL && length == 0);
    CHECK(bsdb_retain(NULL) == NULL);
    bsdb_close(NULL);

    invalid(bsdb_scan_open(NULL, &scan, e), e);
    CHECK(scan == NULL);
    invalid(bsdb_scan_open(db, NULL, e), e);
    invalid(bsdb_scan_next(NULL, &record, e), e);
    CHECK(bsdb_scan_open(db, &scan, NULL) == BSDB_OK);
    invalid(bsdb_scan_next(scan, NULL, e), e);
    CHECK(bsdb_scan_next(scan, &record, NULL) == BSDB_OK);
    bsdb_scan_close(scan);
    bsdb_scan_close(NULL);

    invalid(bsdb_scan_range(NULL, &range, &scan, e), e);
    CHECK(scan == NULL);
    invalid(bsdb_scan_range(db, &range, NULL, e), e);
    invalid(bsdb_count(db, &range, NULL, e), e);
    invalid(bsdb_count(NULL, &range, &count, e), e);
    range.flags = 4;
    invalid(bsdb_scan_range(db, &range, &scan, e), e);
    range.flags = 0;
    range.to_length = 1;
    invalid(bsdb_count(db, &range, &count, e), e);
    range.to_length = 0;
    range.size = 0;
    invalid(bsdb_scan_range(db, &range, &scan, e), e);
    CHECK(!bsdb_is_ordered(NULL) && !bsdb_is_ordered(db));

    invalid(bsdb_store_open(NULL, NULL, &store, e), e);
    CHECK(store == NULL);
    invalid(bsdb_store_open(path, NULL, NULL, e), e);
    CHECK(bsdb_store_open(path, NULL, &store, e) == BSDB_ERROR_NOT_A_DATABASE && store == NULL);
    CHECK(strcmp(bsdb_error_path(error), path) == 0);
    bsdb_error_free(error);
    invalid(bsdb_store_refresh(NULL, &changed, e), e);
    CHECK(!changed);
    invalid(bsdb_store_acquire(NULL, &other, e), e);
    CHECK(other == NULL);
    bsdb_store_close(NULL);

    CHECK(bsdb_error_status(NULL) == BSDB_OK && strcmp(bsdb_error_message(NULL), "") == 0);
    CHECK(bsdb_error_path(NULL) == NULL && bsdb_error_os_code(NULL) == 0);
    CHECK(!bsdb_error_offset(NULL, NULL) && !bsdb_error_shard(NULL, NULL));
    bsdb_error_free(NULL);
    CHECK(strcmp(bsdb_status_name(BSDB_OK), "ok") == 0 && strcmp(bsdb_status_name(12345), "unknown") == 0);
    CHECK(strlen(bsdb_version()) >= 5);
    bsdb_close(db);
}

/* Directories that are no databases. */
static void test_not_databases(const char *work) {
    char path[2048];
    bsdb_database *db;
    bsdb_error *error;
    join(path, sizeof path, "%s/nothing/here", work);
    CHECK(bsdb_open(path, NULL, &db, &error) < 0 && db == NULL);
    CHECK(bsdb_error_status(error) == BSDB_ERROR_NOT_A_DATABASE || bsdb_error_os_code(error) == ENOENT);
    bsdb_error_free(error);
    make_parents(path);
    join(path, sizeof path, "%s/nothing", work);
    CHECK(bsdb_open(path, NULL, &db, &error) == BSDB_ERROR_NOT_A_DATABASE && db == NULL);
    bsdb_error_free(error);
    CHECK(bsdb_open("", NULL, &db, NULL) < 0 && db == NULL);
    join(path, sizeof path, "%s/file", work);
    write_file(path, "x", 1);
    CHECK(bsdb_open(path, NULL, &db, NULL) < 0 && db == NULL);
}

/* Opens a damaged database and asks for everything. Returns whether there was no error. */
static bool try_damaged(const char *path, const truth *t, uint32_t access, uint32_t flags) {
    allowance allowed = flags & BSDB_SKIP_VERIFICATION ? ANYTHING : ERRORS;
    bsdb_options options = BSDB_OPTIONS;
    bsdb_database *db;
    bsdb_error *error;
    bsdb_status status;
    bool ok;
    options.access = access;
    options.flags = flags;
    status = bsdb_open(path, &options, &db, &error);
    if (!answered(status, error, allowed)) {
        CHECK(db == NULL);
        return false;
    }
    ok = ask_all(db, t, allowed);
    status = bsdb_verify(db, NULL, &error);
    ok &= answered(status, error, allowed);
    bsdb_close(db);
    return ok;
}

static void test_damage(const char *path, const char *work, const truth *t, size_t step) {
    files all = {0};
    size_t i, flips = 0, errors = 0, cuts = 0;
    char database[1024];
    join(database, sizeof database, "%s/damaged", work);
    copy(path, database);
    list(&all, database, "");
    for (i = 0; i < all.count; i++) {
        char file[2048];
        size_t length, at, part;
        uint8_t *bytes;
        int open_file;
        join(file, sizeof file, "%s/%s", database, all.paths[i]);
        bytes = read_file(file, &length);
        open_file = open(file, O_RDWR);
        CHECK(open_file >= 0);
        for (at = i % step; at < length; at += step) {
            uint8_t flipped = (uint8_t) (bytes[at] ^ 1 << (at / step) % 8);
            uint32_t access = (uint32_t) (at / step % 3);
            say("%s, %s, byte %lu, access %u", path, all.paths[i], (unsigned long) at, access);
            CHECK(pwrite(open_file, &flipped, 1, (off_t) at) == 1);
            errors += !try_damaged(database, t, access, 0);
            if (at / step % 5 == 0) {
                say("%s, %s, byte %lu, access %u, without verification", path, all.paths[i], (unsigned long) at, access);
                try_damaged(database, t, access, BSDB_SKIP_VERIFICATION);
            }
            CHECK(pwrite(open_file, &bytes[at], 1, (off_t) at) == 1);
            flips++;
        }
        /* Files that are cut short, and one that is too long. */
        for (part = 0; part <= 33; part++) {
            size_t cut = part < 32 ? length * part / 32 : part == 32 ? length - 1 : length + 1;
            say("%s, %s, cut to %lu bytes", path, all.paths[i], (unsigned long) cut);
            CHECK(ftruncate(open_file, (off_t) cut) == 0);
            CHECK(!try_damaged(database, t, (uint32_t) (part % 3), 0));
            CHECK(ftruncate(open_file, (off_t) length) == 0);
            CHECK(pwrite(open_file, bytes, length, 0) == (ssize_t) length);
            cuts++;
        }
        CHECK(close(open_file) == 0);
        /* A missing file. */
        say("%s, %s, missing", path, all.paths[i]);
        CHECK(unlink(file) == 0);
        CHECK(!try_damaged(database, t, BSDB_ACCESS_MAPPED, 0));
        write_file(file, bytes, length);
        free(bytes);
    }
    say("%s, repaired", path);
    CHECK(try_damaged(database, t, BSDB_ACCESS_MAPPED, 0));
    /* `verify` was among the questions, so no flipped bit went unnoticed. */
    say("%s, %lu bits flipped, %lu errors", path, (unsigned long) flips, (unsigned long) errors);
    CHECK(errors == flips);
    printf("%s: %lu bits flipped, %lu files cut\n", strrchr(path, '/') + 1, (unsigned long) flips, (unsigned long) cuts);
    for (i = 0; i < all.count; i++) {
        char file[2048];
        join(file, sizeof file, "%s/%s", database, all.paths[i]);
        CHECK(unlink(file) == 0);
    }
}

static void set_current(const char *store, const char *version) {
    char path[1024], temporary[1100];
    join(path, sizeof path, "%s/CURRENT", store);
    join(temporary, sizeof temporary, "%s.new", path);
    write_file(temporary, version, strlen(version));
    CHECK(rename(temporary, path) == 0);
}

static char store_path[1024];

static void *acquire(void *of) {
    job *j = of;
    int i;
    for (i = 0; i < 200; i++) {
        bsdb_database *db = NULL;
        bsdb_error *error;
        bsdb_status status = bsdb_store_acquire(j->store, &db, &error);
        answered(status, error, NO_ERRORS);
        ask_all(db, j->t, NO_ERRORS);
        if (i % 10 == 0) {
            CHECK(bsdb_store_refresh(j->store, NULL, NULL) == BSDB_OK);
        }
        bsdb_close(db);
    }
    return NULL;
}

static void publish(job *j) {
    int i;
    for (i = 0; i < 200; i++) {
        set_current(store_path, i % 2 == 0 ? "two\n" : "one\n");
        CHECK(bsdb_store_refresh(j->store, NULL, NULL) == BSDB_OK);
    }
}

static void test_store(const char *first, const char *second, const char *work, const truth *t) {
    char path[2048];
    bsdb_store *store;
    bsdb_database *one, *again, *two, *three;
    bsdb_error *error;
    bsdb_status status;
    bsdb_view view;
    bool changed = true;
    job j;
    join(store_path, sizeof store_path, "%s/store", work);
    join(path, sizeof path, "%s/one", store_path);
    copy(first, path);
    join(path, sizeof path, "%s/two", store_path);
    copy(second, path);
    set_current(store_path, "one\n");
    say("the store %s", store_path);

    status = bsdb_store_open(store_path, NULL, &store, &error);
    answered(status, error, NO_ERRORS);
    CHECK(bsdb_store_refresh(store, &changed, NULL) == BSDB_OK && !changed);
    CHECK(bsdb_store_acquire(store, &one, NULL) == BSDB_OK);
    CHECK(bsdb_store_acquire(store, &again, NULL) == BSDB_OK && again == one);
    bsdb_close(again);
    CHECK(bsdb_get_view(one, "bsdb", 4, &view, NULL) == BSDB_OK);
    set_current(store_path, "two\n");
    CHECK(bsdb_store_refresh(store, &changed, NULL) == BSDB_OK && changed);
    CHECK(bsdb_store_acquire(store, &two, NULL) == BSDB_OK && two != one);
    CHECK(strcmp(bsdb_id(one), bsdb_id(two)) != 0 && strstr(bsdb_path(two), "/two") != NULL);
    /* The store without a version: an error, and the version before stays. */
    set_current(store_path, "gone\n");
    changed = true;
    CHECK(bsdb_store_refresh(store, &changed, &error) < 0 && !changed && error != NULL);
    bsdb_error_free(error);
    CHECK(bsdb_store_acquire(store, &three, NULL) == BSDB_OK && three == two);
    bsdb_close(three);
    set_current(store_path, "one\n");
    CHECK(bsdb_store_refresh(store, &changed, NULL) == BSDB_OK && changed);

    j.db = NULL;
    j.t = t;
    j.store = store;
    run_threads(acquire, &j, publish);

    bsdb_store_close(store);
    /* Versions outlive the store. */
    ask_all(one, t, NO_ERRORS);
    ask_all(two, t, NO_ERRORS);
    CHECK(view.length == 49 && memcmp(view.data, "build and serve", 15) == 0);
    bsdb_release_views(&view, 1);
    bsdb_close(one);
    bsdb_close(two);
    /* The path of a store is also that of a database. */
    one = opened(store_path, BSDB_ACCESS_MAPPED);
    ask_all(one, t, NO_ERRORS);
    bsdb_close(one);
}

/* Shards on their own: each key is in one, and the others say where. */
static void test_shards(const char *path, const truth *t) {
    DIR *directory = opendir(path);
    struct dirent *found;
    size_t shards = 0, hits = 0, elsewhere = 0, i;
    CHECK(directory != NULL);
    while ((found = readdir(directory)) != NULL) {
        char shard[2048];
        bsdb_database *db;
        if (strncmp(found->d_name, "shard-", 6) != 0) {
            continue;
        }
        shards++;
        join(shard, sizeof shard, "%s/%s", path, found->d_name);
        say("the shard %s", shard);
        db = opened(shard, BSDB_ACCESS_MAPPED);
        for (i = 0; i < t->count; i++) {
            const entry *e = &t->entries[i];
            bsdb_error *error;
            bsdb_view view;
            uint32_t number = 99;
            bsdb_status status = bsdb_get_view(db, e->key, e->key_length, &view, &error);
            if (status == BSDB_ERROR_NOT_HELD) {
                CHECK(bsdb_error_shard(error, &number) && number < 3);
                CHECK(strcmp(bsdb_error_path(error), shard) == 0);
                CHECK((unsigned) atoi(found->d_name + 6) != number);
                bsdb_error_free(error);
                elsewhere++;
            } else {
                CHECK(error == NULL && is_value(e, view.data, view.length));
                hits += status == BSDB_OK;
                bsdb_release_views(&view, 1);
            }
        }
        bsdb_close(db);
    }
    closedir(directory);
    CHECK(shards == 3 && hits == t->present && elsewhere > 0);
}

/* ---- Building ---- */

typedef struct {
    unsigned calls;
    bool go_on;
} listened;

static bool listener(void *context, const bsdb_progress *progress) {
    listened *l = context;
    CHECK(progress->stage <= BSDB_STAGE_PUBLISH && progress->total_known <= 1);
    CHECK(progress->total_known || progress->total == 0);
    l->calls++;
    return l->go_on;
}

static bsdb_build_options *build_options(const char *layout) {
    bsdb_build_options *options = bsdb_build_options_new();
    CHECK(options != NULL);
    CHECK(bsdb_build_options_set(options, "layout", layout, NULL) == BSDB_OK);
    CHECK(bsdb_build_options_set(options, "threads", "2", NULL) == BSDB_OK);
    CHECK(bsdb_build_options_set(options, "memory_bytes", "4194304", NULL) == BSDB_OK);
    return options;
}

static void test_build_misuse(const char *work) {
    bsdb_error *error = NULL, **e = &error;
    bsdb_build_options *options = bsdb_build_options_new();
    bsdb_builder *builder = (bsdb_builder *) &error;
    char path[1024];
    size_t added = 99;
    join(path, sizeof path, "%s/misused", work);
    say("misuse of builders");
    invalid(bsdb_build_options_set(NULL, "layout", "packed", e), e);
    invalid(bsdb_build_options_set(options, NULL, "packed", e), e);
    invalid(bsdb_build_options_set(options, "layout", NULL, e), e);
    invalid(bsdb_build_options_set(options, "layout", "loose", e), e);
    invalid(bsdb_build_options_set(options, "lay\xff", "packed", e), e);
    invalid(bsdb_build_options_set(options, "colour", "red", e), e);
    invalid(bsdb_build_options_set(options, "threads", "0", e), e);
    invalid(bsdb_build_options_set(options, "value_elements", "f31 2", e), e);
    invalid(bsdb_builder_create(NULL, options, NULL, NULL, &builder, e), e);
    CHECK(builder == NULL);
    invalid(bsdb_builder_create(path, options, NULL, NULL, NULL, e), e);
    /* A filter does not go with this layout. */
    CHECK(bsdb_build_options_set(options, "layout", "blocked", e) == BSDB_OK && error == NULL);
    CHECK(bsdb_build_options_set(options, "filter_bits", "8", e) == BSDB_OK && error == NULL);
    invalid(bsdb_builder_create(path, options, NULL, NULL, &builder, e), e);
    invalid(bsdb_builder_add(NULL, "k", 1, "v", 1, e), e);
    invalid(bsdb_builder_sample(NULL, "k", 1, "v", 1, e), e);
    invalid(bsdb_builder_add_many(NULL, NULL, NULL, NULL, NULL, 0, &added, e), e);
    CHECK(added == 0);
    invalid(bsdb_builder_finish(NULL, NULL, e), e);
    CHECK(bsdb_builder_record_count(NULL) == 0);
    CHECK(!bsdb_error_duplicate(NULL, NULL, NULL, NULL, NULL));
    CHECK(bsdb_value_elements(NULL, &added) == NULL && added == 0);
    bsdb_builder_close(NULL);
    bsdb_build_options_free(NULL);
    bsdb_build_options_free(options);
}

/* Builds a database of the records, and reads it back. */
static void test_build(const char *work, const char *layout, const truth *t) {
    const void *keys[MOST_KEYS], *values[MOST_KEYS];
    size_t key_lengths[MOST_KEYS], value_lengths[MOST_KEYS], i, count = 0, added = 0;
    bsdb_build_options *options = build_options(layout);
    bsdb_builder *builder;
    bsdb_database *db;
    bsdb_error *error;
    bsdb_built built;
    bsdb_status status;
    listened l = {0, true};
    char path[1024];
    join(path, sizeof path, "%s/built-%s", work, layout);
    say("a build, %s", path);
    for (i = 0; i < t->count; i++) {
        const entry *e = &t->entries[i];
        if (e->value != NULL) {
            keys[count] = e->key;
            key_lengths[count] = e->key_length;
            values[count] = e->value;
            value_lengths[count++] = e->value_length;
        }
    }
    CHECK(count > 1 && count == t->present);
    CHECK(bsdb_builder_create(path, options, listener, &l, &builder, &error) == BSDB_OK && error == NULL);
    CHECK(bsdb_builder_sample(builder, "k", 1, "v", 1, NULL) == BSDB_OK);
    CHECK(bsdb_builder_add(builder, keys[0], key_lengths[0], values[0], value_lengths[0], &error) == BSDB_OK);
    invalid(bsdb_builder_add(builder, NULL, 1, "v", 1, &error), &error);
    invalid(bsdb_builder_add(builder, "k", 1, NULL, 1, &error), &error);
    invalid(bsdb_builder_add(builder, "k", SIZE_MAX, "v", 1, &error), &error);
    {
        char *large = allocated(65536);
        invalid(bsdb_builder_add(builder, large, 65536, "v", 1, &error), &error);
        free(large);
    }
    invalid(bsdb_builder_add_many(builder, keys, NULL, values, value_lengths, 1, &added, &error), &error);
    CHECK(bsdb_builder_add_many(builder, NULL, NULL, NULL, NULL, 0, &added, &error) == BSDB_OK && added == 0);
    status = bsdb_builder_add_many(builder, keys + 1, key_lengths + 1, values + 1, value_lengths + 1, count - 1, &added,
                                   &error);
    CHECK(status == BSDB_OK && error == NULL);
    CHECK(added == count - 1 && bsdb_builder_record_count(builder) == count);
    built.size = 0;
    invalid(bsdb_builder_finish(builder, &built, &error), &error);
    built.size = sizeof built;
    CHECK(bsdb_builder_finish(builder, &built, &error) == BSDB_OK && error == NULL);
    CHECK(built.records == count && built.duplicates_dropped == 0 && built.size == sizeof built);
    CHECK(strlen(built.id) == 32 && l.calls > 1);
    invalid(bsdb_builder_add(builder, "k", 1, "v", 1, &error), &error);
    invalid(bsdb_builder_finish(builder, NULL, &error), &error);
    db = opened(path, BSDB_ACCESS_MAPPED);
    CHECK(strcmp(bsdb_id(db), built.id) == 0 && strcmp(bsdb_layout(db), layout) == 0);
    CHECK(bsdb_value_elements(db, NULL) == NULL);
    CHECK(bsdb_verify(db, NULL, &error) == BSDB_OK && error == NULL);
    ask_all(db, t, NO_ERRORS);
    bsdb_close(db);
    bsdb_builder_close(builder);

    /* What exists is replaced only if the options say so. */
    CHECK(bsdb_builder_create(path, options, NULL, NULL, &builder, &error) == BSDB_ERROR_EXISTS && builder == NULL);
    CHECK(bsdb_error_path(error) != NULL && strcmp(bsdb_status_name(BSDB_ERROR_EXISTS), "exists") == 0);
    bsdb_error_free(error);
    CHECK(bsdb_build_options_set(options, "overwrite", "true", NULL) == BSDB_OK);
    CHECK(bsdb_build_options_set(options, "value_elements", "i16 2", NULL) == BSDB_OK);
    CHECK(bsdb_builder_create(path, options, NULL, NULL, &builder, NULL) == BSDB_OK);
    invalid(bsdb_builder_add(builder, "k", 1, "v", 1, &error), &error);
    CHECK(bsdb_builder_add(builder, "k", 1, "1234", 4, NULL) == BSDB_OK);
    CHECK(bsdb_builder_finish(builder, NULL, NULL) == BSDB_OK);
    bsdb_builder_close(builder);
    db = opened(path, BSDB_ACCESS_MAPPED);
    CHECK(bsdb_record_count(db) == 1 && strcmp(bsdb_value_elements(db, &i), "i16") == 0 && i == 2);
    bsdb_close(db);
    bsdb_build_options_free(options);
}

/* A signed database is opened by those who trust the key. The key is the first of RFC 8032, section 7.1. */
static void test_signatures(const char *old, const char *work) {
    static const char private_key[] = "-----BEGIN PRIVATE KEY-----\n"
                                      "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
                                      "-----END PRIVATE KEY-----\n";
    static const char public_key[] = "-----BEGIN PUBLIC KEY-----\n"
                                     "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
                                     "-----END PUBLIC KEY-----\n";
    bsdb_build_options *build = bsdb_build_options_new();
    bsdb_options options = BSDB_OPTIONS;
    bsdb_verified verified;
    bsdb_builder *builder;
    bsdb_database *db;
    bsdb_error *error;
    char path[1024], secret[1024], trusted[1024];
    int pass;
    join(path, sizeof path, "%s/signed", work);
    join(secret, sizeof secret, "%s/key.pem", work);
    join(trusted, sizeof trusted, "%s/key.pub", work);
    say("signatures, %s", path);
    write_file(secret, private_key, strlen(private_key));
    write_file(trusted, public_key, strlen(public_key));
    CHECK(bsdb_build_options_set(build, "overwrite", "true", NULL) == BSDB_OK);
    options.trust = trusted;
    for (pass = 0; pass < 2; pass++) {
        CHECK(bsdb_builder_create(path, build, NULL, NULL, &builder, NULL) == BSDB_OK);
        CHECK(bsdb_builder_add(builder, "k", 1, "v", 1, NULL) == BSDB_OK);
        CHECK(bsdb_builder_finish(builder, NULL, NULL) == BSDB_OK);
        bsdb_builder_close(builder);
        if (pass == 0) {
            CHECK(bsdb_open(path, &options, &db, &error) == BSDB_ERROR_UNTRUSTED && db == NULL);
            CHECK(strstr(bsdb_error_message(error), "is not signed, but a trusted signature is required") != NULL);
            CHECK(strcmp(bsdb_status_name(BSDB_ERROR_UNTRUSTED), "untrusted") == 0);
            bsdb_error_free(error);
            CHECK(bsdb_sign(path, secret, &error) == BSDB_OK && error == NULL);
        }
        CHECK(bsdb_open(path, &options, &db, &error) == BSDB_OK && error == NULL);
        memset(&verified, 0, sizeof verified);
        verified.size = sizeof verified;
        CHECK(bsdb_verify_content(db, &verified, &error) == BSDB_OK && error == NULL);
        CHECK(verified.records == 0 && verified.pages > 0 && verified.content_checked == 1);
        bsdb_close(db);
        CHECK(bsdb_build_options_set(build, "sign_key", secret, &error) == BSDB_OK && error == NULL);
    }
    bsdb_build_options_free(build);
    options.trust = secret;
    invalid(bsdb_open(path, &options, &db, &error), &error);
    invalid(bsdb_sign(path, trusted, &error), &error);
    invalid(bsdb_sign(path, NULL, &error), &error);
    invalid(bsdb_sign(NULL, secret, &error), &error);
    db = opened(old, BSDB_ACCESS_MAPPED);
    CHECK(bsdb_verify_content(db, NULL, &error) == BSDB_ERROR_IMPOSSIBLE);
    bsdb_error_free(error);
    bsdb_close(db);
}

/* Builds that fail, or are given up, leave nothing. */
static void test_build_failures(const char *work) {
    bsdb_builder *builder;
    bsdb_error *error;
    bsdb_status status;
    listened l = {0, false};
    const uint8_t *key;
    size_t length;
    uint64_t first, second;
    char path[1024];
    join(path, sizeof path, "%s/unbuilt", work);
    say("failed builds, %s", path);
    CHECK(bsdb_builder_create(path, NULL, NULL, NULL, &builder, NULL) == BSDB_OK);
    CHECK(bsdb_builder_add(builder, "a", 1, "1", 1, NULL) == BSDB_OK);
    CHECK(bsdb_builder_add(builder, "twice", 5, "2", 1, NULL) == BSDB_OK);
    CHECK(bsdb_builder_add(builder, "twice", 5, "3", 1, NULL) == BSDB_OK);
    status = bsdb_builder_finish(builder, NULL, &error);
    CHECK(status == BSDB_ERROR_DUPLICATE && strcmp(bsdb_status_name(status), "duplicate") == 0);
    CHECK(bsdb_error_duplicate(error, &key, &length, &first, &second) && first == 1 && second == 2);
    CHECK(length == 5 && memcmp(key, "twice", 5) == 0);
    CHECK(bsdb_error_duplicate(error, NULL, NULL, NULL, NULL));
    bsdb_builder_close(builder);
    bsdb_error_free(error);
    CHECK(access(path, F_OK) != 0);

    CHECK(bsdb_builder_create(path, NULL, NULL, NULL, &builder, NULL) == BSDB_OK);
    CHECK(bsdb_builder_add(builder, "a", 1, "1", 1, NULL) == BSDB_OK);
    bsdb_builder_close(builder);
    CHECK(access(path, F_OK) != 0);

    CHECK(bsdb_builder_create(path, NULL, listener, &l, &builder, NULL) == BSDB_OK);
    CHECK(bsdb_builder_add(builder, "a", 1, "1", 1, NULL) == BSDB_OK);
    status = bsdb_builder_finish(builder, NULL, &error);
    CHECK(status == BSDB_ERROR_STOPPED && strcmp(bsdb_status_name(status), "stopped") == 0 && l.calls == 1);
    bsdb_error_free(error);
    bsdb_builder_close(builder);
    CHECK(access(path, F_OK) != 0);

    /* Neither a directory with other files nor a path below a file can be a target. */
    {
        bsdb_build_options *options = build_options("packed");
        char other[1024];
        FILE *file;
        CHECK(mkdir(path, 0777) == 0);
        join(other, sizeof other, "%s/notes.txt", path);
        file = fopen(other, "w");
        CHECK(file != NULL && fclose(file) == 0);
        CHECK(bsdb_build_options_set(options, "overwrite", "true", NULL) == BSDB_OK);
        CHECK(bsdb_builder_create(path, options, NULL, NULL, &builder, &error) == BSDB_ERROR_EXISTS);
        CHECK(builder == NULL && strstr(bsdb_error_message(error), path) != NULL);
        bsdb_error_free(error);
        join(other, sizeof other, "%s/notes.txt/db", path);
        CHECK(bsdb_builder_create(other, options, NULL, NULL, &builder, &error) == BSDB_ERROR_IO);
        CHECK(builder == NULL && strstr(bsdb_error_message(error), "notes.txt: not a directory") != NULL);
        bsdb_error_free(error);
        CHECK(bsdb_build_options_set(options, "temporary_directory", other, NULL) == BSDB_OK);
        join(other, sizeof other, "%s/unbuilt-2", work);
        CHECK(bsdb_builder_create(other, options, NULL, NULL, &builder, &error) == BSDB_ERROR_IO);
        CHECK(builder == NULL && bsdb_error_os_code(error) == ENOTDIR);
        CHECK(bsdb_error_path(error) != NULL && strcmp(bsdb_error_path(error) + strlen(path), "/notes.txt/db") == 0);
        bsdb_error_free(error);
        CHECK(access(other, F_OK) != 0);
        bsdb_build_options_free(options);
    }
}

int main(int argc, char **argv) {
    DIR *directory;
    struct dirent *found;
    size_t step, databases = 0;
    char path[1024], other[1024];
    truth *t;
    if (argc < 4) {
        fprintf(stderr, "usage: %s GOLDEN RECORDS WORK [STEP [URL]]\n", argv[0]);
        return 2;
    }
    step = argc > 4 ? (size_t) strtoul(argv[4], NULL, 10) : 31;
    CHECK(step > 0);
    directory = opendir(argv[1]);
    say("the directory %s", argv[1]);
    CHECK(directory != NULL);
    while ((found = readdir(directory)) != NULL) {
        uint32_t access;
        if (found->d_name[0] == '.') {
            continue;
        }
        databases++;
        join(path, sizeof path, "%s/%s", argv[1], found->d_name);
        t = read_truth(argv[2], found->d_name);
        for (access = BSDB_ACCESS_MAPPED; access <= BSDB_ACCESS_DIRECT; access++) {
            job j;
            say("%s, access %u", path, access);
            test_facts(path, t, access);
            test_lifetimes(path, t, access);
            j.db = opened(path, access);
            j.t = t;
            j.store = NULL;
            ask_all(j.db, t, NO_ERRORS);
            run_threads(work, &j, NULL);
            bsdb_close(j.db);
        }
        test_damage(path, argv[3], t, step);
        if (argc > 5) {
            join(path, sizeof path, "%s/%s", argv[5], found->d_name);
            test_elsewhere(path, t);
        }
        free_truth(t);
    }
    closedir(directory);
    CHECK(databases > 0);

    join(path, sizeof path, "%s/v1-blocked", argv[1]);
    join(other, sizeof other, "%s/v1-packed-zstd", argv[1]);
    say("misuse");
    test_misuse(path);
    test_not_databases(argv[3]);
    t = read_truth(argv[2], "v1-blocked");
    test_store(path, other, argv[3], t);
    free_truth(t);
    join(path, sizeof path, "%s/v1-sharded", argv[1]);
    t = read_truth(argv[2], "v1-sharded");
    test_shards(path, t);
    free_truth(t);
    test_build_misuse(argv[3]);
    test_build_failures(argv[3]);
    join(path, sizeof path, "%s/v1-blocked", argv[1]);
    test_signatures(path, argv[3]);
    t = read_truth(argv[2], "v1-blocked");
    test_build(argv[3], "packed", t);
    test_build(argv[3], "blocked", t);
    test_build(argv[3], "compressed", t);
    free_truth(t);
    printf("bsdb %s: %lu databases, all well\n", bsdb_version(), (unsigned long) databases);
    return 0;
}
