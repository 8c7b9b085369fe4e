/*
 * Looks up keys in a bsdb database elsewhere: remote URL [NAME=VALUE]... -- KEY...
 *
 * Shows how to read a database where it lies: options, lookups that are under way at once without a thread for each, and
 * what they took.
 */
#define _POSIX_C_SOURCE 200809L

#include <bsdb.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints an error, frees it and gives the exit code. */
static int report(const char *what, bsdb_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, bsdb_status_name(bsdb_error_status(error)), bsdb_error_message(error));
    bsdb_error_free(error);
    return 1;
}

/* Sets an option that is given as NAME=VALUE. */
static int set(bsdb_remote *remote, char *word) {
    bsdb_error *error;
    char *value = strchr(word, '=');
    if (value == NULL) {
        fprintf(stderr, "not NAME=VALUE: %s\n", word);
        return 1;
    }
    *value++ = '\0';
    return bsdb_remote_set(remote, word, value, &error) < 0 ? report("options", error) : 0;
}

/* Lookups that are under way. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_answered;
    size_t waiting;
} lookups;

/* A lookup, and its answer. */
typedef struct {
    lookups *all;
    bsdb_status status;
    bsdb_view value;
    bsdb_error *error;
} lookup;

/* Keeps an answer. Runs in a thread of the library, which must not wait for long. */
static void answered(void *context, bsdb_status status, const bsdb_view *value, bsdb_error *error) {
    lookup *one = context;
    lookups *all = one->all;
    one->status = status;
    one->value = *value;
    one->error = error;
    pthread_mutex_lock(&all->lock);
    if (--all->waiting == 0) {
        pthread_cond_signal(&all->all_answered);
    }
    pthread_mutex_unlock(&all->lock);
}

/* Looks all keys up at once. */
static int get(const bsdb_database *db, char **keys, size_t count) {
    lookups all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    lookup *each = calloc(count + 1, sizeof *each);
    size_t i;
    int exit_code = 0;
    if (each == NULL) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    all.waiting = count;
    for (i = 0; i < count; i++) {
        bsdb_error *error;
        each[i].all = &all;
        if (bsdb_get_async(db, keys[i], strlen(keys[i]), answered, &each[i], &error) < 0) {
            bsdb_view none = {NULL, 0, NULL};
            answered(&each[i], bsdb_error_status(error), &none, error);
        }
    }
    pthread_mutex_lock(&all.lock);
    while (all.waiting > 0) {
        pthread_cond_wait(&all.all_answered, &all.lock);
    }
    pthread_mutex_unlock(&all.lock);
    for (i = 0; i < count; i++) {
        if (each[i].status < 0) {
            exit_code = report(keys[i], each[i].error);
        } else if (each[i].status == BSDB_ABSENT) {
            printf("%s is absent\n", keys[i]);
        } else {
            printf("%s = ", keys[i]);
            fwrite(each[i].value.data, 1, each[i].value.length, stdout);
            putchar('\n');
        }
        bsdb_release_views(&each[i].value, 1);
    }
    free(each);
    return exit_code;
}

int main(int argc, char **argv) {
    bsdb_options options = BSDB_OPTIONS;
    bsdb_remote *remote;
    bsdb_database *db = NULL;
    bsdb_traffic traffic;
    bsdb_error *error;
    int i, exit_code = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: %s URL [NAME=VALUE]... -- KEY...\n", argv[0]);
        return 2;
    }
    remote = bsdb_remote_new();
    options.remote = remote; /* Without options, such as with credentials in the environment: NULL, as in BSDB_OPTIONS. */
    for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        exit_code |= set(remote, argv[i]);
    }
    if (exit_code == 0 && bsdb_open(argv[1], &options, &db, &error) < 0) {
        exit_code = report("open", error);
    }
    bsdb_remote_free(remote);
    if (exit_code != 0) {
        return exit_code;
    }
    printf("%llu records in %s\n", (unsigned long long) bsdb_record_count(db), bsdb_path(db));
    exit_code = i < argc ? get(db, argv + i + 1, (size_t) (argc - i - 1)) : 0;
    traffic.size = sizeof traffic;
    if (bsdb_get_traffic(db, &traffic, &error) < 0) {
        exit_code |= report("traffic", error);
    } else {
        printf("%llu requests, %llu bytes\n", (unsigned long long) traffic.requests, (unsigned long long) traffic.bytes);
    }
    bsdb_close(db);
    return exit_code;
}
