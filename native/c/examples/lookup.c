/*
 * Looks up keys in a bsdb database: lookup DIRECTORY KEY...
 *
 * Shows the functions that most programs need: opening, a lookup into a buffer, a lookup without a copy, a
 * batch, a scan, and errors.
 */
#include <bsdb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints an error, frees it and gives the exit code. */
static int report(const char *what, bsdb_error *error) {
    uint64_t offset;
    fprintf(stderr, "%s: %s: %s\n", what, bsdb_status_name(bsdb_error_status(error)), bsdb_error_message(error));
    if (bsdb_error_offset(error, &offset)) {
        fprintf(stderr, "damaged file: %s, byte %llu\n", bsdb_error_path(error), (unsigned long long) offset);
    }
    bsdb_error_free(error);
    return 1;
}

static void print(const char *key, const void *value, size_t length) {
    printf("%s = ", key);
    fwrite(value, 1, length, stdout);
    putchar('\n');
}

/* Copies a value to a buffer, and to a larger one if it does not fit. */
static int get(const bsdb_database *db, const char *key) {
    char small[16];
    size_t length;
    bsdb_error *error;
    bsdb_status status = bsdb_get(db, key, strlen(key), small, sizeof small, &length, &error);
    if (status < 0) {
        return report("get", error);
    }
    if (status == BSDB_OK) {
        print(key, small, length);
    } else if (status == BSDB_ABSENT) {
        printf("%s is absent\n", key);
    } else { /* BSDB_TOO_SMALL: databases never change, so a buffer of this length suffices. */
        char *large = malloc(length);
        if (large == NULL) {
            fprintf(stderr, "out of memory\n");
            return 1;
        }
        status = bsdb_get(db, key, strlen(key), large, length, &length, &error);
        if (status == BSDB_OK) {
            print(key, large, length);
        }
        free(large);
        if (status < 0) {
            return report("get", error);
        }
    }
    return 0;
}

/* Reads a value where it lies in the mapped file. */
static int view(const bsdb_database *db, const char *key) {
    bsdb_view value;
    bsdb_error *error;
    bsdb_status status = bsdb_get_view(db, key, strlen(key), &value, &error);
    if (status < 0) {
        return report("view", error);
    }
    if (status == BSDB_OK) {
        printf("%s has %lu bytes, %s\n", key, (unsigned long) value.length, value.owner ? "copied" : "mapped");
        bsdb_release_views(&value, 1);
    }
    return 0;
}

/* Looks all keys up at once. */
static int batch(const bsdb_database *db, char **names, size_t count) {
    const void **keys = calloc(count + 1, sizeof *keys);
    size_t *lengths = calloc(count + 1, sizeof *lengths);
    bsdb_view *values = calloc(count + 1, sizeof *values);
    bsdb_error *error = NULL;
    int exit_code = 0;
    if (keys == NULL || lengths == NULL || values == NULL) {
        fprintf(stderr, "out of memory\n");
        exit_code = 1;
    } else {
        size_t i, found = 0;
        for (i = 0; i < count; i++) {
            keys[i] = names[i];
            lengths[i] = strlen(names[i]);
        }
        if (bsdb_get_batch(db, keys, lengths, count, values, &error) < 0) {
            exit_code = report("batch", error);
        } else {
            for (i = 0; i < count; i++) {
                found += values[i].data != NULL;
            }
            printf("%lu of %lu keys found\n", (unsigned long) found, (unsigned long) count);
            bsdb_release_views(values, count);
        }
    }
    free(values);
    free(lengths);
    free(keys);
    return exit_code;
}

/* Adds up the bytes of all records. */
static int scan(const bsdb_database *db) {
    bsdb_scan *records;
    bsdb_record record;
    bsdb_error *error;
    unsigned long long bytes = 0;
    bsdb_status status = bsdb_scan_open(db, &records, &error);
    if (status == BSDB_ERROR_IMPOSSIBLE) { /* An approximate database keeps no keys. */
        bsdb_error_free(error);
        return 0;
    }
    if (status < 0) {
        return report("scan", error);
    }
    while ((status = bsdb_scan_next(records, &record, &error)) == BSDB_OK) {
        bytes += record.key_length + record.value_length;
    }
    bsdb_scan_close(records);
    if (status < 0) {
        return report("scan", error);
    }
    printf("%llu bytes in all records\n", bytes);
    return 0;
}

int main(int argc, char **argv) {
    bsdb_options options = BSDB_OPTIONS;
    bsdb_database *db;
    bsdb_error *error;
    int i, exit_code = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: %s DIRECTORY KEY...\n", argv[0]);
        return 2;
    }
    options.access = BSDB_ACCESS_MAPPED; /* The default: NULL instead of &options does the same. */
    if (bsdb_open(argv[1], &options, &db, &error) < 0) {
        return report("open", error);
    }
    printf("%llu records, layout %s\n", (unsigned long long) bsdb_record_count(db), bsdb_layout(db));
    for (i = 2; i < argc; i++) {
        exit_code |= get(db, argv[i]);
        exit_code |= view(db, argv[i]);
    }
    exit_code |= batch(db, argv + 2, (size_t) (argc - 2));
    exit_code |= scan(db);
    bsdb_close(db);
    return exit_code;
}
