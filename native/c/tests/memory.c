/* A value that does not fit in memory is an error, and the database lives on: memory DATABASE. Linux only.
 *
 * The database has the keys "small", with the value "value", and "long", whose value has 70 MiB.
 */
#define _POSIX_C_SOURCE 200809L
#include <bsdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LONG ((size_t)70 << 20)

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

/* Lets the process grow by so many bytes; by any number if they are 0. */
static void limit(size_t more) {
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = more == 0 ? limit.rlim_max : pages * (size_t)sysconf(_SC_PAGESIZE) + more;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void visit(void *context, size_t index, const uint8_t *value, size_t length) {
    (void)index;
    (void)value;
    *(size_t *)context += length;
}

static const void *const keys[] = {"small", "long"};
static const size_t lengths[] = {5, 4};

/* Asks for the long value in every way. Each call succeeds or says that there is no memory. */
static void ask(const bsdb_database *db, void *buffer, bsdb_status expected) {
    size_t length = 0;
    bsdb_view views[2];
    bsdb_scan *scan;
    bsdb_record record;
    bsdb_error *error;
    bsdb_status status = bsdb_get(db, "long", 4, buffer, LONG, &length, &error);
    CHECK(status == expected && length == (status == BSDB_OK ? LONG : 0));
    if (status != BSDB_OK) {
        CHECK(bsdb_error_status(error) == status && bsdb_error_path(error) != NULL);
        CHECK(strstr(bsdb_error_message(error), "no memory for ") != NULL);
        CHECK(strcmp(bsdb_status_name(status), "no memory") == 0);
        bsdb_error_free(error);
    }
    CHECK(bsdb_get_view(db, "long", 4, views, NULL) == expected);
    CHECK(views[0].length == (expected == BSDB_OK ? LONG : 0));
    bsdb_release_views(views, 1);
    CHECK(bsdb_get_batch(db, keys, lengths, 2, views, NULL) == expected);
    CHECK((views[0].data != NULL) == (expected == BSDB_OK));
    bsdb_release_views(views, 2);
    length = 0;
    CHECK(bsdb_visit_batch(db, keys, lengths, 2, visit, &length, NULL) == expected);
    CHECK(expected != BSDB_OK || length == LONG + 5);
    CHECK(bsdb_scan_open(db, &scan, NULL) == BSDB_OK);
    while ((status = bsdb_scan_next(scan, &record, NULL)) == BSDB_OK) {
        length += record.value_length;
    }
    CHECK(status == (expected == BSDB_OK ? BSDB_END : expected));
    CHECK(bsdb_scan_next(scan, &record, NULL) == status);
    bsdb_scan_close(scan);
}

int main(int argc, char **argv) {
    int access;
    void *buffer = malloc(LONG);
    CHECK(argc == 2 && buffer != NULL);
    for (access = BSDB_ACCESS_MAPPED; access <= BSDB_ACCESS_DIRECT; access++) {
        bsdb_options options = BSDB_OPTIONS;
        bsdb_database *db;
        options.access = access;
        CHECK(bsdb_open(argv[1], &options, &db, NULL) == BSDB_OK);
        limit((size_t)10 << 20);
        ask(db, buffer, BSDB_ERROR_NO_MEMORY);
        limit(0);
        ask(db, buffer, BSDB_OK);
        CHECK(bsdb_verify(db, NULL, NULL) == BSDB_OK);
        bsdb_close(db);
    }
    free(buffer);
    puts("values that do not fit in memory: well");
    return 0;
}
