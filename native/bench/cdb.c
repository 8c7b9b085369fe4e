/*
 * cdb for scripts/compare-native, with the library tinycdb:
 *
 *   cdb build FILE RECORDS    reads lines of key, blank and value
 *   cdb lookups FILE QUERIES  takes laps; see rounds.py
 *
 * Lookups use the mapped file, and values where they lie in it.
 */
#include <cdb.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY = 13 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void build(const char *path, const char *text) {
  struct cdb_make make;
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  FILE *in = fopen(text, "r");
  if (in == NULL) fail(text);
  if (fd < 0 || cdb_make_start(&make, fd) < 0) fail(path);
  while ((length = getline(&line, &room, in)) > KEY + 1)
    if (cdb_make_add(&make, line, KEY, line + KEY + 1, length - KEY - 2) < 0) fail(path);
  if (cdb_make_finish(&make) < 0 || close(fd) < 0) fail(path);
}

static unsigned char *read_all(const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &st) < 0) fail(path);
  unsigned char *bytes = malloc(st.st_size);
  if (bytes == NULL) fail("memory");
  for (off_t got = 0; got < st.st_size;) {
    ssize_t more = read(fd, bytes + got, st.st_size - got);
    if (more <= 0) fail(path);
    got += more;
  }
  close(fd);
  return bytes;
}

static void lookups(const char *path, const char *queries) {
  unsigned char *keys = read_all(queries);
  double start = now(CLOCK_MONOTONIC);
  struct cdb store;
  int fd = open(path, O_RDONLY);
  if (fd < 0 || cdb_init(&store, fd) < 0) fail(path);
  printf("open %g\n", (now(CLOCK_MONOTONIC) - start) / 1e6);
  fflush(stdout);
  size_t from, count;
  while (scanf("%*s %zu %zu", &from, &count) == 2) {
    unsigned long found = 0, sum = 0;
    start = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned char *key = keys + KEY * from, *end = key + KEY * count; key < end; key += KEY) {
      if (cdb_find(&store, key, KEY) > 0) {
        const unsigned char *value = cdb_getdata(&store);
        unsigned length = cdb_datalen(&store);
        found++;
        if (length > 0) sum += value[0] + value[length - 1];
      }
    }
    printf("%.0f %lu %lu\n", now(CLOCK_THREAD_CPUTIME_ID) - start, found, sum);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "build") == 0) {
    build(argv[2], argv[3]);
  } else if (argc == 4 && strcmp(argv[1], "lookups") == 0) {
    lookups(argv[2], argv[3]);
  } else {
    fprintf(stderr, "usage: cdb build FILE RECORDS | lookups FILE QUERIES\n");
    return 2;
  }
  return 0;
}
