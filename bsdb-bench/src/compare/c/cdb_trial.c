/*
 * One trial of tinycdb, the comparison's only store outside the JVM. Takes the arguments of
 * tech.bsdb.bench.compare.Trial and writes the same results. Values are copied into the caller's buffer, as in a
 * typical C program.
 */
#include <cdb.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STRIDE = 256, MOST = 1 << 22 };

struct keys {
  int count;
  unsigned char **bytes;
  unsigned short *length;
};

struct asker {
  struct cdb *store;
  struct keys *keys;
  int from;
  double seconds, elapsed, cpu;
  long asked, found, bytes;
};

static char *result_path;
static FILE *results;

static void fail(const char *what) {
  fprintf(stderr, "Error: %s\n", what);
  exit(1);
}

static void *must(void *pointer, const char *what) {
  if (pointer == NULL) fail(what);
  return pointer;
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void put(const char *name, double value) {
  if (results == NULL) results = must(fopen(result_path, "w"), result_path);
  fprintf(results, "%s=%.17g\n", name, value);
}

static long status(const char *name) {
  char line[256];
  long kib = 0;
  FILE *file = must(fopen("/proc/self/status", "r"), "/proc/self/status");
  while (fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) kib = atol(line + strlen(name) + 1);
  fclose(file);
  return kib << 10;
}

static void build(const char *text, const char *path) {
  double start = now(CLOCK_MONOTONIC);
  struct cdb_make make;
  struct stat st;
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  FILE *in = must(fopen(text, "r"), text);
  if (fd < 0 || cdb_make_start(&make, fd) < 0) fail(path);
  while ((length = getline(&line, &room, in)) > 0) {
    char *tab = must(memchr(line, '\t', length), "no tab");
    if (cdb_make_add(&make, line, tab - line, tab + 1, line + length - 1 - (tab + 1)) < 0) fail("add");
  }
  if (cdb_make_finish(&make) < 0 || close(fd) < 0) fail("finish");
  fclose(in);
  put("build.seconds", now(CLOCK_MONOTONIC) - start);
  stat(path, &st);
  put("disk.bytes", st.st_size);
}

static int look_up(struct cdb *store, const void *key, unsigned length, unsigned char *value) {
  if (cdb_find(store, key, length) <= 0) return -1;
  int got = cdb_datalen(store);
  memcpy(value, cdb_getdata(store), got);
  return got;
}

static int number(FILE *in, int bytes) {
  int value = 0;
  while (bytes-- > 0) value = value << 8 | getc(in);
  return value;
}

static struct keys load(const char *directory, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *in = must(fopen(path, "r"), path);
  struct keys keys = {number(in, 4), NULL, NULL};
  keys.bytes = must(calloc(keys.count, sizeof *keys.bytes), "memory");
  keys.length = must(calloc(keys.count, sizeof *keys.length), "memory");
  for (int i = 0; i < keys.count; i++) {
    keys.length[i] = number(in, 2);
    keys.bytes[i] = must(malloc(keys.length[i]), "memory");
    if (fread(keys.bytes[i], 1, keys.length[i], in) != keys.length[i]) fail(path);
  }
  fclose(in);
  return keys;
}

static void open_store(struct cdb *store, const char *path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0 || cdb_init(store, fd) < 0) fail(path);
}

static void verify(const char *text, const char *path, struct keys absent) {
  struct cdb store;
  unsigned char *value = must(malloc(MOST), "memory");
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  long right = 0;
  open_store(&store, path);
  FILE *in = must(fopen(text, "r"), text);
  while ((length = getline(&line, &room, in)) > 0) {
    char *tab = must(memchr(line, '\t', length), "no tab");
    int expected = line + length - 1 - (tab + 1);
    if (look_up(&store, line, tab - line, value) != expected || memcmp(value, tab + 1, expected) != 0) fail(line);
    right++;
  }
  for (int i = 0; i < absent.count; i++)
    if (look_up(&store, absent.bytes[i], absent.length[i], value) >= 0) fail("an absent key has a value");
  put("verified.records", right);
  put("absent.answered.share", 0);
}

static void *ask(void *argument) {
  struct asker *asker = argument;
  unsigned char *value = must(malloc(MOST), "memory");
  double cpu = now(CLOCK_THREAD_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
  int next = asker->from;
  do {
    for (int i = 0; i < STRIDE; i++) {
      int got = look_up(asker->store, asker->keys->bytes[next], asker->keys->length[next], value);
      if (got >= 0) {
        asker->found++;
        asker->bytes += got + (got > 0 ? value[0] & 1 : 0);
      }
      next = next + 1 == asker->keys->count ? 0 : next + 1;
    }
    asker->asked += STRIDE;
    asker->elapsed = now(CLOCK_MONOTONIC) - start;
  } while (asker->elapsed < asker->seconds);
  asker->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
  free(value);
  return NULL;
}

static void run(const char *name, const char *path, struct keys *keys, int threads, double seconds, double found) {
  struct cdb stores[2];
  struct asker askers[2];
  pthread_t ids[2];
  long asked = 0, bytes = 0;
  double elapsed = 0, cpu = 0;
  for (int i = 0; i < threads; i++) {
    open_store(&stores[i], path);
    askers[i] = (struct asker){&stores[i], keys, i * (keys->count / 2), seconds, 0, 0, 0, 0, 0};
    if (pthread_create(&ids[i], NULL, ask, &askers[i]) != 0) fail("thread");
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(ids[i], NULL);
    if (askers[i].found != found * askers[i].asked) fail("a present key is absent, or an absent one present");
    asked += askers[i].asked;
    bytes += askers[i].bytes;
    cpu += askers[i].cpu;
    if (askers[i].elapsed > elapsed) elapsed = askers[i].elapsed;
    close(cdb_fileno(&stores[i]));
    cdb_free(&stores[i]);
  }
  if (name != NULL) {
    char full[64];
    snprintf(full, sizeof full, "%s.rate", name);
    put(full, asked / elapsed);
    snprintf(full, sizeof full, "%s.cpu.rate", name);
    put(full, asked / cpu * threads);
    snprintf(full, sizeof full, "%s.bytes", name);
    put(full, bytes);
  }
}

static void read_store(const char *path, struct keys *present, struct keys *absent, double seconds) {
  long before = status("RssAnon");
  double start = now(CLOCK_MONOTONIC);
  struct cdb store;
  open_store(&store, path);
  put("open.ms", (now(CLOCK_MONOTONIC) - start) * 1e3);
  run(NULL, path, present, 1, seconds * 2 / 3, 1);
  run("present", path, present, 1, seconds, 1);
  run(NULL, path, absent, 1, seconds / 3, 0);
  run("absent", path, absent, 1, seconds, 0);
  run("present.2", path, present, 2, seconds, 1);
  put("heap.bytes", 0);
  put("anonymous.bytes", status("RssAnon") - before);
}

int main(int argc, char **argv) {
  if (argc < 11) fail("expected the arguments of Trial");
  char path[4096];
  snprintf(path, sizeof path, "%s/store.cdb", argv[3]);
  result_path = argv[8];
  if (strcmp(argv[1], "build") == 0) {
    build(argv[6], path);
  } else {
    struct keys absent = load(argv[5], "absent.keys");
    if (strcmp(argv[1], "verify") == 0) {
      verify(argv[6], path, absent);
    } else {
      struct keys present = load(argv[5], "present.keys");
      read_store(path, &present, &absent, atof(argv[10]));
    }
  }
  put("peak.rss.bytes", status("VmHWM"));
  return results == NULL || fclose(results) != 0;
}
