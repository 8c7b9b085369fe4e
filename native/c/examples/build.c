/*
 * Builds a bsdb database from lines KEY<TAB>VALUE of standard input: build DIRECTORY [NAME=VALUE]...
 *
 * Shows the functions that build: options by name, a listener, records, and what was built.
 */
#define _POSIX_C_SOURCE 200809L

#include <bsdb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints an error, frees it and gives the exit code. */
static int report(const char *what, bsdb_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, bsdb_status_name(bsdb_error_status(error)), bsdb_error_message(error));
    bsdb_error_free(error);
    return 1;
}

/* Says how far the build is. */
static bool listen(void *context, const bsdb_progress *progress) {
    (void) context;
    fprintf(stderr, "stage %u: %llu done\n", (unsigned) progress->stage, (unsigned long long) progress->done);
    return true;
}

/* Sets an option that is given as NAME=VALUE. */
static int set(bsdb_build_options *options, char *word) {
    bsdb_error *error;
    char *value = strchr(word, '=');
    if (value == NULL) {
        fprintf(stderr, "not NAME=VALUE: %s\n", word);
        return 1;
    }
    *value++ = '\0';
    return bsdb_build_options_set(options, word, value, &error) < 0 ? report("options", error) : 0;
}

/* Adds the records of standard input. */
static int add_lines(bsdb_builder *builder) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    unsigned long number = 0;
    int failed = 0;
    while (!failed && (length = getline(&line, &room, stdin)) >= 0) {
        bsdb_error *error;
        char *tab = memchr(line, '\t', (size_t) length);
        number++;
        if (length > 0 && line[length - 1] == '\n') {
            length--;
        }
        if (tab == NULL) {
            fprintf(stderr, "line %lu: no tab between key and value\n", number);
            failed = 1;
        } else {
            char *value = tab + 1;
            size_t value_length = (size_t) (line + length - value);
            if (bsdb_builder_add(builder, line, (size_t) (tab - line), value, value_length, &error) < 0) {
                failed = report("add", error);
            }
        }
    }
    if (!failed && ferror(stdin)) {
        perror("standard input");
        failed = 1;
    }
    free(line);
    return failed;
}

int main(int argc, char **argv) {
    bsdb_build_options *options;
    bsdb_builder *builder;
    bsdb_error *error;
    bsdb_built built;
    int i, failed = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: %s DIRECTORY [NAME=VALUE]...\n", argv[0]);
        return 2;
    }
    options = bsdb_build_options_new();
    for (i = 2; i < argc && !failed; i++) {
        failed = set(options, argv[i]);
    }
    if (!failed && bsdb_builder_create(argv[1], options, listen, NULL, &builder, &error) < 0) {
        failed = report("create", error);
    }
    bsdb_build_options_free(options);
    if (failed) {
        return 1;
    }
    failed = add_lines(builder);
    if (!failed) {
        built.size = sizeof built;
        if (bsdb_builder_finish(builder, &built, &error) < 0) {
            failed = report("finish", error);
        } else {
            printf("%llu records in %s, id %s\n", (unsigned long long) built.records, built.path, built.id);
            if (built.warnings != NULL) {
                fprintf(stderr, "%s\n", built.warnings);
            }
        }
    }
    bsdb_builder_close(builder); /* Removes what was written, unless the build is finished. */
    return failed;
}
