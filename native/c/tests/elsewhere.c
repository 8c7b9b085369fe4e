/*
 * Tests databases elsewhere: elsewhere URL SERVED
 *
 * URL is that of an object store (native/bsdb/examples/objects.rs) that serves the directory SERVED. Builds databases
 * there. Without URL and SERVED, tests that a build of the library that cannot read URLs says so.
 *
 * Exits with 0 if all is well, otherwise says what is not and exits with 1.
 */
#define _XOPEN_SOURCE 700

#include <bsdb.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS 3000
#define VALUE 200
#define BATCH 64
#define ASKED 100

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static const char *server, *served;

/* ---- The server ---- */

/* Asks the server for something and gives the whole answer, which the next call replaces. */
static const char *control(const char *request) {
    static char answer[1 << 16];
    char text[512];
    struct sockaddr_in address;
    size_t length = 0;
    ssize_t more;
    int at = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(at >= 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t) atoi(strrchr(server, ':') + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(at, (struct sockaddr *) &address, sizeof address) == 0);
    snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", request);
    CHECK(write(at, text, strlen(text)) == (ssize_t) strlen(text));
    CHECK(shutdown(at, SHUT_WR) == 0);
    while ((more = read(at, answer + length, sizeof answer - 1 - length)) > 0) {
        length += (size_t) more;
    }
    close(at);
    answer[length] = '\0';
    CHECK(strncmp(answer, "HTTP/1.1 200", 12) == 0);
    return answer;
}

/* The requests since the last reset. */
static unsigned long requests(void) {
    const char *counts = strstr(control("_counts"), "\"requests\":");
    CHECK(counts != NULL);
    return strtoul(counts + strlen("\"requests\":"), NULL, 10);
}

/* ---- Databases ---- */

static void key_of(char *key, int i) {
    sprintf(key, "key %d", i);
}

/* Values differ from version to version, and do not compress into a few pages. */
static void value_of(char *value, int i, int version) {
    uint32_t random = (uint32_t) (i * 1000 + version);
    int at = sprintf(value, "value %d of version %d ", i, version);
    for (; at < VALUE; at++) {
        random = random * 1664525u + 1013904223u;
        value[at] = (char) ('0' + (random >> 24) % 64);
    }
}

/* A database in the directory that is served. */
static void build(const char *name, int version) {
    char path[1024], key[32], value[VALUE + 64];
    bsdb_build_options *options = bsdb_build_options_new();
    bsdb_builder *builder;
    int i;
    snprintf(path, sizeof path, "%s/%s", served, name);
    CHECK(bsdb_build_options_set(options, "layout", "packed", NULL) == BSDB_OK);
    CHECK(bsdb_build_options_set(options, "ordered", "true", NULL) == BSDB_OK);
    CHECK(bsdb_build_options_set(options, "overwrite", "true", NULL) == BSDB_OK);
    CHECK(bsdb_builder_create(path, options, NULL, NULL, &builder, NULL) == BSDB_OK);
    bsdb_build_options_free(options);
    for (i = 0; i < RECORDS; i++) {
        key_of(key, i);
        value_of(value, i, version);
        CHECK(bsdb_builder_add(builder, key, strlen(key), value, VALUE, NULL) == BSDB_OK);
    }
    CHECK(bsdb_builder_finish(builder, NULL, NULL) == BSDB_OK);
    bsdb_builder_close(builder);
}

static void set(bsdb_remote *remote, const char *name, const char *value) {
    CHECK(bsdb_remote_set(remote, name, value, NULL) == BSDB_OK);
}

/* Options with which s3://bucket is the server. */
static bsdb_remote *s3(void) {
    bsdb_remote *remote = bsdb_remote_new();
    set(remote, "endpoint_url", server);
    set(remote, "region_name", "eu-central-1");
    set(remote, "key", "id");
    set(remote, "secret", "hidden");
    set(remote, "deadline_ms", "1500");
    return remote;
}

static bsdb_status try_open(const char *url, const bsdb_remote *remote, bsdb_database **db, bsdb_error **error) {
    bsdb_options options = BSDB_OPTIONS;
    options.remote = remote;
    return bsdb_open(url, &options, db, error);
}

static bsdb_database *opened(const char *url) {
    bsdb_remote *remote = s3();
    bsdb_database *db;
    bsdb_error *error;
    if (try_open(url, remote, &db, &error) < 0) {
        fprintf(stderr, "%s: %s\n", url, bsdb_error_message(error));
        exit(1);
    }
    bsdb_remote_free(remote);
    return db;
}

static bsdb_traffic traffic_of(const bsdb_database *db) {
    bsdb_traffic traffic;
    traffic.size = sizeof traffic;
    CHECK(bsdb_get_traffic(db, &traffic, NULL) == BSDB_OK);
    return traffic;
}

static bool is_value(const void *data, size_t length, int i, int version) {
    char value[VALUE + 64];
    value_of(value, i, version);
    return data != NULL && length == VALUE && memcmp(data, value, VALUE) == 0;
}

/* Looks a key up. */
static bsdb_status get(const bsdb_database *db, int i, int version, bsdb_error **error) {
    char key[32];
    bsdb_view view;
    bsdb_status status;
    key_of(key, i);
    status = bsdb_get_view(db, key, strlen(key), &view, error);
    CHECK(status != BSDB_OK || (view.owner != NULL && is_value(view.data, view.length, i, version)));
    bsdb_release_views(&view, 1);
    return status;
}

/* A failure says what it is about and what to do, and no secret. Frees it. */
static void says(bsdb_status status, bsdb_status expected, bsdb_error *error, const char *path, const char *text) {
    if (status != expected || error == NULL || strstr(bsdb_error_message(error), text) == NULL) {
        fprintf(stderr, "%s instead of %s: %s\n", bsdb_status_name(status), bsdb_status_name(expected),
                error == NULL ? "" : bsdb_error_message(error));
        exit(1);
    }
    CHECK(bsdb_error_status(error) == status);
    CHECK(strcmp(bsdb_status_name(status), "unknown") != 0);
    CHECK(strstr(bsdb_error_message(error), "hidden") == NULL);
    if (path == NULL) {
        CHECK(bsdb_error_path(error) == NULL);
    } else {
        CHECK(strncmp(bsdb_error_path(error), path, strlen(path)) == 0);
        CHECK(strncmp(bsdb_error_message(error), path, strlen(path)) == 0);
    }
    bsdb_error_free(error);
}

/* ---- The tests ---- */

static void test_lookups(void) {
    bsdb_database *db;
    bsdb_traffic before, after;
    bsdb_error *error;
    unsigned long asked;
    char small[8], large[VALUE];
    size_t length;
    control("_reset");
    db = opened("s3://bucket/rdb/");
    CHECK(requests() <= 5);
    CHECK(strcmp(bsdb_path(db), "s3://bucket/rdb") == 0 && bsdb_record_count(db) == RECORDS);

    /* One request a lookup, and none for a page that was read. */
    control("_reset");
    before = traffic_of(db);
    CHECK(get(db, 17, 1, &error) == BSDB_OK && error == NULL);
    after = traffic_of(db);
    CHECK(requests() == 1 && after.requests - before.requests == 1 && after.retries == 0);
    CHECK(after.bytes - before.bytes >= 4096 && after.pages_received > before.pages_received);
    CHECK(get(db, 17, 1, NULL) == BSDB_OK && bsdb_contains(db, "key 17", 6, NULL) == BSDB_OK);
    CHECK(bsdb_get(db, "key 17", 6, small, sizeof small, &length, NULL) == BSDB_TOO_SMALL && length == VALUE);
    CHECK(bsdb_get(db, "key 17", 6, large, sizeof large, &length, NULL) == BSDB_OK && is_value(large, length, 17, 1));
    CHECK(requests() == 1 && traffic_of(db).pages_cached > after.pages_cached);
    control("_reset");
    CHECK(bsdb_contains(db, "absent", 6, &error) == BSDB_ABSENT && error == NULL && requests() <= 1);
    /* A key that is too long for any database. */
    asked = requests();
    CHECK(bsdb_contains(db, large, 70000, NULL) == BSDB_ABSENT && requests() == asked);
    bsdb_close(db);
}

static void visited(void *context, size_t index, const uint8_t *value, size_t length) {
    size_t *next = context;
    CHECK(index == (*next)++);
    CHECK(index == 5 ? value == NULL : is_value(value, length, (int) index * 40, 1));
}

static void test_batches_and_scans(void) {
    bsdb_database *db = opened("s3://bucket/rdb");
    char texts[BATCH][32];
    const void *keys[BATCH];
    size_t lengths[BATCH], next = 0, i;
    bsdb_view views[BATCH];
    bsdb_range range = BSDB_RANGE;
    bsdb_scan *scan;
    bsdb_record record;
    bsdb_status status;
    uint64_t count;
    int found, number;
    for (i = 0; i < BATCH; i++) {
        key_of(texts[i], (int) i * 40);
        keys[i] = texts[i];
        lengths[i] = strlen(texts[i]);
    }
    keys[5] = "absent";
    lengths[5] = 6;
    control("_reset");
    CHECK(bsdb_get_batch(db, keys, lengths, BATCH, views, NULL) == BSDB_OK);
    CHECK(requests() >= 1 && requests() <= BATCH);
    for (i = 0; i < BATCH; i++) {
        CHECK(i == 5 ? views[i].data == NULL : is_value(views[i].data, views[i].length, (int) i * 40, 1));
    }
    control("_reset");
    CHECK(bsdb_visit_batch(db, keys, lengths, BATCH, visited, &next, NULL) == BSDB_OK && next == BATCH);
    CHECK(requests() == 0);

    CHECK(bsdb_scan_open(db, &scan, NULL) == BSDB_OK);
    bsdb_close(db);
    for (found = 0; (status = bsdb_scan_next(scan, &record, NULL)) == BSDB_OK; found++) {
        CHECK(sscanf((const char *) record.value, "value %d ", &number) == 1);
        CHECK(is_value(record.value, record.value_length, number, 1));
    }
    CHECK(status == BSDB_END && found == RECORDS && requests() < 20);
    bsdb_scan_close(scan);
    /* Copies outlive the database. */
    CHECK(is_value(views[7].data, views[7].length, 7 * 40, 1));
    bsdb_release_views(views, BATCH);

    db = opened("s3://bucket/rdb");
    range.prefix = "key 29";
    range.prefix_length = 6;
    CHECK(bsdb_count(db, &range, &count, NULL) == BSDB_OK && count == 111);
    CHECK(bsdb_scan_range(db, &range, &scan, NULL) == BSDB_OK);
    for (found = 0; (status = bsdb_scan_next(scan, &record, NULL)) == BSDB_OK; found++) {
        CHECK(record.key_length >= 6 && memcmp(record.key, "key 29", 6) == 0);
    }
    CHECK(status == BSDB_END && found == 111);
    bsdb_scan_close(scan);
    CHECK(bsdb_verify(db, NULL, NULL) == BSDB_OK);
    bsdb_close(db);
}

/* What came of lookups that nobody waited for. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int answered, found, absent, denied;
} answers;

typedef struct {
    answers *all;
    int number; /* -1 if the key is absent */
    pthread_t asker;
} question;

static void answered(void *context, bsdb_status status, const bsdb_view *view, bsdb_error *error) {
    question *asked = context;
    answers *all = asked->all;
    bsdb_view value = *view;
    CHECK((status < 0) == (error != NULL) && (status == BSDB_OK) == (value.data != NULL));
    CHECK(status != BSDB_OK || is_value(value.data, value.length, asked->number, 1));
    CHECK(status != BSDB_ABSENT || asked->number == -1);
    CHECK(!pthread_equal(pthread_self(), asked->asker));
    bsdb_release_views(&value, 1);
    CHECK(pthread_mutex_lock(&all->lock) == 0);
    all->answered++;
    all->found += status == BSDB_OK;
    all->absent += status == BSDB_ABSENT;
    all->denied += status == BSDB_ERROR_REMOTE_DENIED;
    CHECK(pthread_cond_signal(&all->more) == 0);
    CHECK(pthread_mutex_unlock(&all->lock) == 0);
    bsdb_error_free(error);
}

static void await(answers *all, int number) {
    CHECK(pthread_mutex_lock(&all->lock) == 0);
    while (all->answered < number) {
        CHECK(pthread_cond_wait(&all->more, &all->lock) == 0);
    }
    CHECK(all->answered == number);
    all->answered = 0;
    CHECK(pthread_mutex_unlock(&all->lock) == 0);
}

/* Lookups that are all under way at once, while the database is closed. */
static void test_asynchronous(const char *url) {
    static char long_key[70000];
    static question asked[ASKED];
    answers all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0};
    bsdb_database *db = opened(url);
    bsdb_error *error;
    char key[32];
    int i;
    for (i = 0; i < ASKED; i++) {
        asked[i].all = &all;
        asked[i].number = i == 7 || i == 8 ? -1 : i * 29;
        asked[i].asker = pthread_self();
    }
    control("_fault?latency=20ms");
    for (i = 0; i < ASKED; i++) {
        const void *at = i == 7 ? (const void *) "absent" : i == 8 ? (const void *) long_key : key;
        key_of(key, i * 29);
        CHECK(bsdb_get_async(db, at, i == 7 ? 6 : i == 8 ? sizeof long_key : strlen(key), answered, &asked[i], &error)
              == BSDB_OK);
        CHECK(error == NULL);
    }
    bsdb_close(db);
    await(&all, ASKED);
    CHECK(all.found == ASKED - 2 && all.absent == 2);
    control("_fault?latency=0ms");

    db = opened(url);
    if (traffic_of(db).requests > 0) {
        control("_fault?is=status=403&on=data-");
        CHECK(bsdb_get_async(db, "key 1", 5, answered, &asked[0], NULL) == BSDB_OK);
        await(&all, 1);
        CHECK(all.denied == 1);
        control("_reset");
    }
    CHECK(bsdb_get_async(NULL, "key 1", 5, answered, NULL, NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    CHECK(bsdb_get_async(db, NULL, 5, answered, NULL, NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    CHECK(bsdb_get_async(db, "key 1", 5, NULL, NULL, &error) == BSDB_ERROR_INVALID_ARGUMENT);
    bsdb_error_free(error);
    bsdb_close(db);
    CHECK(all.answered == 0);
}

/* Faults of the server, what they lead to, and that the database can be used afterwards. */
static void test_faults(void) {
    static const struct {
        const char *fault, *text;
        bsdb_status status;
    } faults[] = {
        {"status=403", "s3:GetObject", BSDB_ERROR_REMOTE_DENIED},
        {"status=404", "open it again", BSDB_ERROR_REMOTE_MISSING},
        {"other-tag", "was replaced while the database was open", BSDB_ERROR_REMOTE_CHANGED},
        {"status=503", "with fewer requests at once", BSDB_ERROR_REMOTE_BUSY},
        {"silence", "with a later deadline", BSDB_ERROR_REMOTE_LATE},
        {"close", "check the URL and the network", BSDB_ERROR_REMOTE_UNREACHABLE},
        {"whole", "the server must send ranges", BSDB_ERROR_REMOTE_SERVER},
        {"flip=77", "copy the database again", BSDB_ERROR_DAMAGED},
    };
    size_t i;
    for (i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        bsdb_database *db = opened("s3://bucket/rdb");
        bsdb_error *error;
        bsdb_status status;
        bsdb_view views[2];
        const void *keys[] = {"key 1", "key 2"};
        const size_t lengths[] = {5, 5};
        uint64_t offset = UINT64_MAX;
        char request[128];
        /* So that the ETag of the file is known. */
        CHECK(get(db, 2000, 1, NULL) == BSDB_OK);
        snprintf(request, sizeof request, "_fault?is=%s&on=data-", faults[i].fault);
        control(request);
        status = get(db, 1, 1, &error);
        CHECK(bsdb_error_offset(error, &offset) == (status == BSDB_ERROR_DAMAGED));
        CHECK(bsdb_error_os_code(error) == 0);
        says(status, faults[i].status, error, "s3://bucket/rdb/data-000-", faults[i].text);
        status = bsdb_get_batch(db, keys, lengths, 2, views, &error);
        CHECK(views[0].data == NULL && views[1].data == NULL);
        says(status, faults[i].status, error, "s3://bucket/rdb/data-000-", faults[i].text);
        control("_reset");
        CHECK(get(db, 1, 1, NULL) == BSDB_OK);
        bsdb_close(db);
    }
    /* One that passes is not seen. */
    {
        bsdb_database *db = opened("s3://bucket/rdb");
        control("_fault?is=status=503&on=data-&times=2");
        CHECK(get(db, 2, 1, NULL) == BSDB_OK && traffic_of(db).retries == 2);
        bsdb_close(db);
        control("_reset");
    }
}

/* Places where no database can be opened. */
static void test_opening(void) {
    static const char *const urls[] = {"s3://bucket/nothing", "s3://bucket"};
    bsdb_remote *remote = s3();
    bsdb_database *db;
    bsdb_error *error;
    bsdb_status status;
    char url[256];
    size_t i;
    for (i = 0; i < 2; i++) {
        status = try_open(urls[i], remote, &db, &error);
        CHECK(db == NULL);
        says(status, BSDB_ERROR_NOT_A_DATABASE, error, urls[i], "check the URL");
    }
    snprintf(url, sizeof url, "%s/nothing", server);
    status = try_open(url, NULL, &db, &error);
    says(status, BSDB_ERROR_NOT_A_DATABASE, error, url, "check the URL");
    control("_fault?is=status=403");
    status = try_open("s3://bucket/rdb", remote, &db, &error);
    says(status, BSDB_ERROR_REMOTE_DENIED, error, "s3://bucket/rdb/", "s3:GetObject");
    control("_reset");

    /* Nobody listens on port 1. */
    set(remote, "deadline_ms", "300");
    status = try_open("http://127.0.0.1:1/rdb", remote, &db, &error);
    says(status, BSDB_ERROR_REMOTE_UNREACHABLE, error, "http://127.0.0.1:1/rdb/", "check the URL and the network");
    /* A name that is not one. */
    status = try_open("http://nowhere.invalid/rdb", remote, &db, &error);
    says(status, BSDB_ERROR_REMOTE_UNREACHABLE, error, "http://nowhere.invalid/rdb/", "check the URL and the network");

    status = try_open("s3://bucket/rdb?token=hidden", remote, &db, &error);
    says(status, BSDB_ERROR_INVALID_ARGUMENT, error, NULL, "as options or in the environment");
    status = try_open("hdfs://host/rdb", remote, &db, &error);
    says(status, BSDB_ERROR_NOT_A_DATABASE, error, "hdfs://host/rdb", "bsdb pull hdfs://host/rdb DIR");
    set(remote, "aws_colour", "hidden");
    status = try_open("s3://bucket/rdb", remote, &db, &error);
    says(status, BSDB_ERROR_INVALID_ARGUMENT, error, NULL, "aws_colour");
    /* Another kind of store ignores it, and so does a directory. */
    snprintf(url, sizeof url, "%s/rdb", server);
    CHECK(try_open(url, remote, &db, NULL) == BSDB_OK && get(db, 3, 1, NULL) == BSDB_OK);
    bsdb_close(db);
    snprintf(url, sizeof url, "%s/rdb", served);
    CHECK(try_open(url, remote, &db, NULL) == BSDB_OK && traffic_of(db).requests == 0);
    bsdb_close(db);
    bsdb_remote_free(remote);
}

static void test_options(void) {
    static const struct {
        const char *name, *value, *text;
    } wrong[] = {
        {"colour", "hidden", "known are requests, deadline_ms, "},
        {"requests", "0", "from 1 to 4096"},
        {"deadline_ms", "soon", "from 10 to "},
        {"memory_bytes", "64M", "from 0 to "},
        {"endpoint_url", "http://user:hidden@host", "must not have a user"},
        {"key", "\xff", "not UTF-8"},
        {NULL, "1", "name is NULL"},
        {"requests", NULL, "value is NULL"},
    };
    bsdb_remote *remote = bsdb_remote_new();
    bsdb_error *error;
    size_t i;
    bsdb_traffic traffic;
    /* The options of a program that was built before there were databases elsewhere. */
    struct {
        size_t size;
        uint32_t access, flags;
        void *beyond;
    } earlier = {0, BSDB_ACCESS_READ, 0, &earlier};
    bsdb_database *db;
    char path[1024];
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bsdb_status status = bsdb_remote_set(remote, wrong[i].name, wrong[i].value, &error);
        says(status, BSDB_ERROR_INVALID_ARGUMENT, error, NULL, wrong[i].text);
    }
    CHECK(bsdb_remote_set(NULL, "requests", "1", NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    bsdb_remote_free(remote);
    bsdb_remote_free(NULL);
    earlier.size = (size_t) ((char *) &earlier.beyond - (char *) &earlier);
    snprintf(path, sizeof path, "%s/rdb", served);
    CHECK(bsdb_open(path, (const bsdb_options *) (const void *) &earlier, &db, NULL) == BSDB_OK);
    CHECK(bsdb_get_traffic(db, NULL, NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    traffic.size = 3;
    CHECK(bsdb_get_traffic(db, &traffic, NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    traffic.size = sizeof traffic;
    CHECK(bsdb_get_traffic(NULL, &traffic, NULL) == BSDB_ERROR_INVALID_ARGUMENT);
    bsdb_close(db);
}

/* A database that is built again under the same name while it is open. */
static void test_replaced(void) {
    bsdb_database *db;
    bsdb_error *error;
    bsdb_status status;
    build("replaced", 1);
    db = opened("s3://bucket/replaced");
    CHECK(get(db, 5, 1, NULL) == BSDB_OK);
    build("replaced", 2);
    status = get(db, 6, 1, &error);
    says(status, BSDB_ERROR_REMOTE_MISSING, error, "s3://bucket/replaced/data-000-", "open it again");
    CHECK(get(db, 5, 1, NULL) == BSDB_OK);
    bsdb_close(db);
    db = opened("s3://bucket/replaced");
    CHECK(get(db, 6, 2, NULL) == BSDB_OK);
    bsdb_close(db);
}

/* Bytes of a file that lie wrong in the store. */
static void test_damaged(void) {
    bsdb_database *db;
    bsdb_error *error;
    bsdb_status status;
    uint64_t offset;
    char path[2048];
    const char *name;
    FILE *file;
    int i, damaged = 0;
    build("damaged", 1);
    db = opened("s3://bucket/damaged");
    /* The error of the server's fault names the file. */
    control("_fault?is=status=404&on=data-");
    CHECK(get(db, 0, 1, &error) == BSDB_ERROR_REMOTE_MISSING);
    name = strrchr(bsdb_error_path(error), '/');
    snprintf(path, sizeof path, "%s/damaged%s", served, name);
    bsdb_error_free(error);
    control("_reset");
    bsdb_close(db);
    file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, 5 * 4096 + 100, SEEK_SET) == 0);
    i = fgetc(file);
    CHECK(i != EOF && fseek(file, 5 * 4096 + 100, SEEK_SET) == 0 && fputc(i ^ 1, file) != EOF && fclose(file) == 0);
    db = opened("s3://bucket/damaged");
    for (i = 0; i < RECORDS; i++) {
        status = get(db, i, 1, &error);
        if (status == BSDB_OK) {
            continue;
        }
        CHECK(bsdb_error_offset(error, &offset) && offset / 4096 == 5);
        says(status, BSDB_ERROR_DAMAGED, error, "s3://bucket/damaged/data-000-", "copy the database again");
        damaged++;
    }
    CHECK(damaged > 0 && damaged < 100);
    status = bsdb_verify(db, NULL, &error);
    says(status, BSDB_ERROR_DAMAGED, error, "s3://bucket/damaged/data-000-", "copy the database again");
    bsdb_close(db);
}

static void set_current(const char *version) {
    char path[1024], temporary[1100];
    FILE *file;
    snprintf(path, sizeof path, "%s/store/CURRENT", served);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    file = fopen(temporary, "w");
    CHECK(file != NULL && fprintf(file, "%s\n", version) > 0 && fclose(file) == 0);
    CHECK(rename(temporary, path) == 0);
}

static void test_store(void) {
    bsdb_options options = BSDB_OPTIONS;
    bsdb_remote *remote = s3();
    bsdb_store *store;
    bsdb_database *one, *two;
    bsdb_error *error;
    bsdb_status status;
    bool changed;
    char path[1024];
    snprintf(path, sizeof path, "%s/store", served);
    CHECK(mkdir(path, 0777) == 0);
    build("store/v1", 1);
    build("store/v2", 2);
    set_current("v1");
    options.remote = remote;
    CHECK(bsdb_store_open("s3://bucket/store", &options, &store, NULL) == BSDB_OK);
    bsdb_remote_free(remote);
    CHECK(bsdb_store_refresh(store, &changed, NULL) == BSDB_OK && !changed);
    CHECK(bsdb_store_acquire(store, &one, NULL) == BSDB_OK && strcmp(bsdb_path(one), "s3://bucket/store/v1") == 0);
    set_current("v2");
    CHECK(bsdb_store_refresh(store, &changed, NULL) == BSDB_OK && changed);
    CHECK(bsdb_store_acquire(store, &two, NULL) == BSDB_OK && strcmp(bsdb_path(two), "s3://bucket/store/v2") == 0);
    CHECK(get(one, 9, 1, NULL) == BSDB_OK && get(two, 9, 2, NULL) == BSDB_OK);
    /* The server is gone for a while: the version before stays. */
    control("_fault?is=close&on=CURRENT");
    status = bsdb_store_refresh(store, &changed, &error);
    CHECK(!changed);
    says(status, BSDB_ERROR_REMOTE_UNREACHABLE, error, "s3://bucket/store/CURRENT", "check the URL");
    control("_reset");
    CHECK(get(two, 10, 2, NULL) == BSDB_OK);
    CHECK(bsdb_store_refresh(store, NULL, NULL) == BSDB_OK);
    bsdb_store_close(store);
    CHECK(get(one, 11, 1, NULL) == BSDB_OK);
    bsdb_close(one);
    bsdb_close(two);
    /* The URL of a store is also that of a database. */
    one = opened("s3://bucket/store");
    CHECK(strcmp(bsdb_path(one), "s3://bucket/store/v2") == 0);
    bsdb_close(one);
    remote = s3();
    options.remote = remote;
    status = bsdb_store_open("s3://bucket/rdb", &options, &store, &error);
    CHECK(store == NULL);
    says(status, BSDB_ERROR_NOT_A_DATABASE, error, "s3://bucket/rdb", "no store");
    bsdb_remote_free(remote);
}

/* A build that reads only directories. */
static void test_without(void) {
    static const char *const urls[] = {"s3://bucket/rdb", "https://localhost/rdb"};
    bsdb_remote *remote = bsdb_remote_new();
    bsdb_database *db;
    bsdb_store *store;
    bsdb_error *error;
    bsdb_status status;
    size_t i;
    CHECK(remote != NULL);
    for (i = 0; i < 2; i++) {
        status = try_open(urls[i], remote, &db, &error);
        CHECK(db == NULL);
        says(status, BSDB_ERROR_NOT_A_DATABASE, error, urls[i], "native/c/install.sh without --no-remote");
        status = bsdb_store_open(urls[i], NULL, &store, &error);
        says(status, BSDB_ERROR_NOT_A_DATABASE, error, urls[i], "native/c/install.sh without --no-remote");
    }
    status = bsdb_remote_set(remote, "requests", "1", &error);
    says(status, BSDB_ERROR_UNSUPPORTED, error, NULL, "native/c/install.sh without --no-remote");
    bsdb_remote_free(remote);
}

int main(int argc, char **argv) {
    char url[1024];
    if (argc == 1) {
        CHECK(!bsdb_has_remote());
        test_without();
        return 0;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: %s [URL SERVED]\n", argv[0]);
        return 2;
    }
    CHECK(bsdb_has_remote());
    server = argv[1];
    served = argv[2];
    build("rdb", 1);
    test_options();
    test_lookups();
    test_batches_and_scans();
    test_asynchronous("s3://bucket/rdb");
    snprintf(url, sizeof url, "%s/rdb", served);
    test_asynchronous(url);
    test_opening();
    test_faults();
    test_replaced();
    test_damaged();
    test_store();
    printf("databases elsewhere: all well\n");
    return 0;
}
