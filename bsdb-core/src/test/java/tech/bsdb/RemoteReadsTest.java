package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.LocalRanges;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.RemoteEngine;
import tech.bsdb.lookup.Lookup;

/** Databases whose index and data files lie elsewhere: every answer, and what it costs. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemoteReadsTest {
  private static final long MEMORY = 1 << 20;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("RemoteReadsTest");
  private final ExecutorService threads = Executors.newFixedThreadPool(3);
  private final LocalRanges ranges = new LocalRanges(threads);
  private Truth truth = new Truth();
  private Path target;

  @AfterEach
  void nothingIsLeft() throws Exception {
    threads.shutdown();
    ranges.close();
    Leaks.assertNone(directory);
  }

  private void build(int count, int longestValue, BuildOptions options) throws IOException {
    truth = Truth.random(random, count, longestValue);
    target = directory.resolve("db");
    truth.build(target, options);
  }

  private static RemoteEngine engine(LocalRanges ranges, DataSet opened, long memory) {
    Map<Path, CheckedPages.Check> checks = new HashMap<>();
    for (DataSet.Located file : opened.files()) {
      PageCheck check = file.database().check(file.entry());
      checks.put(file.path(), (window, offset, page) -> check.check(window.buffer(), offset, page));
    }
    return new RemoteEngine(ranges, checks::get, memory);
  }

  private Lookup lookup(LocalRanges of, long memory) throws IOException {
    EngineChoice choice = opened -> EngineChoice.always(engine(of, opened, memory)).choose(opened);
    return Lookup.open(target, choice, true);
  }

  private Database open(long memory) throws IOException {
    return new Database(lookup(ranges, memory));
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 1, 1, false",
    "BLOCKED, 3, 1, true",
    "COMPACT, 1, 4, false",
    "COMPRESSED, 2, 1, true",
    "PACKED, 1, 1, false",
    "PACKED, 2, 2, true",
    "PACKED_COMPRESSED, 2, 1, false"
  })
  void everyAnswerIsRight(Layout layout, int files, int shards, boolean ordered) throws Exception {
    build(
        Rounds.longOrShort(3000, 900),
        random.nextBoolean() ? 60 : 9000,
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(files)
            .withShards(shards)
            .withOrderedKeys(ordered));
    for (long memory : new long[] {0, 1 << 16, MEMORY}) {
      try (Database database = open(memory)) {
        truth.checkGets(database);
        truth.checkBatches(database);
        if (shards == 1) {
          truth.checkScan(database);
        }
        truth.checkOrder(database);
      }
    }
  }

  @Test
  void approximateAnswersAreRight() throws Exception {
    build(3000, 1, BuildOptions.defaults().withApproximateWidth(1));
    try (Database near = Database.open(target);
        Database far = open(MEMORY)) {
      for (Truth.Entry record : truth.records()) {
        Truth.same(far.get(record.key()), near.get(record.key()), "value");
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void valuesLongerThanARead(Layout layout) throws Exception {
    truth = new Truth();
    for (int i = 0; i < 20; i++) {
      truth.add("key " + i, "").add(Truth.utf8("long " + i), Truth.bytes(random, i * 150_000));
    }
    target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout));
    try (Database database = open(MEMORY)) {
      truth.checkGets(database);
      truth.checkBatches(database);
      truth.checkScan(database);
    }
  }

  @ParameterizedTest
  @CsvSource({"PACKED, 1", "PACKED_COMPRESSED, 1", "BLOCKED, 2"})
  void aPresentKeyCostsItsReads(Layout layout, int reads) throws Exception {
    build(2000, 60, BuildOptions.defaults().withLayout(layout));
    try (Database database = open(0)) {
      ranges.take();
      for (Truth.Entry record : truth.records()) {
        Truth.same(database.get(record.key()), record.value(), "value");
        assertThat(ranges.take()).hasSize(reads);
      }
      for (Truth.Entry record : truth.records().subList(0, 200)) {
        Truth.same(database.getAsync(record.key()).get(), record.value(), "value");
        assertThat(ranges.take()).hasSize(reads);
      }
      for (byte[] key : truth.absentKeys()) {
        database.get(key);
        assertThat(ranges.take()).hasSizeLessThanOrEqualTo(reads);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsInMemoryCostsNothing(Layout layout) throws Exception {
    build(2000, 60, BuildOptions.defaults().withLayout(layout));
    try (Database database = open(MEMORY)) {
      truth.checkGets(database);
      ranges.take();
      truth.checkGets(database);
      truth.checkBatches(database);
      assertThat(ranges.take()).isEmpty();
    }
  }

  /** The reads of a batch are all requested before the first of them is answered. */
  @Test
  void aBatchIsOneWave() throws Exception {
    build(20_000, 600, BuildOptions.defaults().withLayout(Layout.PACKED));
    List<byte[]> keys = truth.records().subList(5000, 5256).stream().map(Truth.Entry::key).toList();
    int requests;
    try (Database database = open(0)) {
      ranges.take();
      database.getAll(keys);
      requests = ranges.take().size();
    }
    assertThat(requests).isBetween(20, 256);
    ConcurrentLinkedQueue<Runnable> held = new ConcurrentLinkedQueue<>();
    try (LocalRanges holding = new LocalRanges(held::add);
        Lookup lookup = lookup(holding, 0)) {
      CompletableFuture<List<byte[]>> answers =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return lookup.getAll(keys);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              },
              threads);
      while (held.size() < requests) {
        Thread.onSpinWait();
      }
      held.forEach(Runnable::run);
      List<byte[]> found = answers.get();
      for (int i = 0; i < keys.size(); i++) {
        Truth.same(found.get(i), truth.records().get(5000 + i).value(), "value");
      }
      assertThat(holding.take()).hasSize(requests);
    }
  }

  /** No thread waits for a lookup that was asked for asynchronously. */
  @Test
  void asynchronousLookupsWaitTogether() throws Exception {
    build(5000, 60, BuildOptions.defaults().withLayout(Layout.PACKED));
    ConcurrentLinkedQueue<Runnable> held = new ConcurrentLinkedQueue<>();
    try (LocalRanges holding = new LocalRanges(held::add);
        Lookup lookup = lookup(holding, 0)) {
      List<CompletableFuture<byte[]>> answers = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        answers.add(lookup.getAsync(truth.records().get(i).key(), null));
        if (i == 0) {
          while (held.isEmpty()) {
            Thread.onSpinWait();
          }
          assertThat(waiting()).as("threads that wait for one lookup").isEmpty();
        }
      }
      for (int i = 0; i < 200; i++) {
        while (!answers.get(i).isDone()) {
          for (Runnable next = held.poll(); next != null; next = held.poll()) {
            next.run();
          }
        }
        Truth.same(answers.get(i).get(), truth.records().get(i).value(), "value");
      }
    }
  }

  private static List<String> waiting() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("bsdb-lookup") || name.startsWith("bsdb-read"))
        .toList();
  }

  @ParameterizedTest
  @EnumSource
  void aScanIsReadAhead(Layout layout) throws Exception {
    build(12_000, 1500, BuildOptions.defaults().withLayout(layout).withDataFiles(2));
    try (Database database = open(MEMORY)) {
      Truth.same(database.get(truth.records().get(0).key()), truth.records().get(0).value(), "");
      List<byte[]> keys = truth.records().subList(0, 50).stream().map(Truth.Entry::key).toList();
      database.getAll(keys);
      DataSet opened = DataSet.open(target);
      DatabaseDirectory single = opened.single();
      RemoteEngine scanning = engine(ranges, opened, MEMORY);
      List<FileRange> whole = FileRange.whole(2);
      ranges.take();
      List<Truth.Entry> expected = Truth.inScanOrder(truth.records(), database);
      try (RecordScanner scanner =
          new RecordScanner(
              single.dataFiles(scanning, true, new ReadCount()),
              single.facts().requireLayout(),
              single.facts().addresses(),
              single.dictionary(),
              true,
              whole)) {
        for (Truth.Entry record : expected) {
          assertThat(scanner.next()).isTrue();
          Truth.same(scanner.key(), record.key(), "key");
          Truth.same(scanner.value(), record.value(), "value");
        }
        assertThat(scanner.next()).isFalse();
      }
      List<LocalRanges.Request> requests = ranges.take();
      long pages =
          single.manifest().files(FileKind.DATA).stream().mapToLong(file -> file.pages()).sum();
      assertThat(requests.stream().mapToLong(LocalRanges.Request::count).sum())
          .as("each page of content once")
          .isEqualTo(pages - 4);
      assertThat((long) requests.size())
          .as("large pieces")
          .isLessThanOrEqualTo(pages / PageSource.MAX_RUN + 2 + 2);
    }
  }

  /** Fails or damages every n-th request, but pages only once if it is not every one. */
  private void fault(String kind, int every) {
    AtomicInteger requests = new AtomicInteger();
    Set<List<Object>> damaged = ConcurrentHashMap.newKeySet();
    ranges.change(
        (request, bytes) -> {
          if (requests.incrementAndGet() % every != 0) {
            return bytes;
          }
          if (kind.equals("FAILS")) {
            throw new IOException("the network failed");
          }
          for (int i = 0; i < request.count(); i++) {
            if (damaged.add(List.of(request.file(), request.first() + i)) || every == 1) {
              bytes[i * PageSource.PAGE + 1000] ^= 1;
            }
          }
          return bytes;
        });
  }

  /** Of failing requests, each that fails reaches its lookups; damage on the way is repaired. */
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, FAILS, 7",
    "BLOCKED, FAILS, 1",
    "BLOCKED, GARBAGE, 2",
    "PACKED, FAILS, 7",
    "PACKED, GARBAGE, 7",
    "PACKED, GARBAGE, 1",
    "PACKED_COMPRESSED, FAILS, 7",
    "PACKED_COMPRESSED, GARBAGE, 1"
  })
  void faultsOnTheWay(Layout layout, String kind, int every) throws Exception {
    build(3000, 900, BuildOptions.defaults().withLayout(layout).withDataFiles(2));
    int failed = 0;
    List<byte[]> keys = truth.records().stream().map(Truth.Entry::key).toList();
    try (Lookup lookup = lookup(ranges, 1 << 16)) {
      fault(kind, every);
      List<CompletableFuture<byte[]>> futures = new ArrayList<>();
      for (byte[] key : keys) {
        futures.add(lookup.getAsync(key, null));
      }
      for (int i = 0; i < futures.size(); i++) {
        try {
          byte[] found = futures.get(i).get(60, TimeUnit.SECONDS);
          Truth.same(found, truth.records().get(i).value(), "value");
        } catch (ExecutionException e) {
          expect(kind, every, e.getCause());
          failed++;
        }
      }
      assertThat(failed > 0).isEqualTo(every == 1 || kind.equals("FAILS"));
      assertThat(failed == keys.size()).isEqualTo(every == 1);
      for (int from = 0; from + 20 <= keys.size(); from += 20) {
        try {
          List<byte[]> found = lookup.getAll(keys.subList(from, from + 20));
          for (int i = 0; i < 20; i++) {
            Truth.same(found.get(i), truth.records().get(from + i).value(), "value");
          }
        } catch (IOException e) {
          expect(kind, every, e);
        }
      }
      ranges.change((request, bytes) -> bytes);
      for (Truth.Entry record : truth.records()) {
        Truth.same(lookup.get(record.key()), record.value(), "value after the faults");
      }
    }
  }

  private static void expect(String kind, int every, Throwable found) {
    if (kind.equals("FAILS")) {
      assertThat(found).isInstanceOf(IOException.class).hasMessageContaining("the network failed");
    } else {
      assertThat(every).as("damage that is not there the second time").isEqualTo(1);
      assertThat(found).isInstanceOf(CorruptDatabaseException.class);
    }
  }

  @Test
  void damageThatStaysIsNamed() throws Exception {
    build(500, 60, BuildOptions.defaults().withLayout(Layout.PACKED));
    try (Database database = open(MEMORY)) {
      fault("GARBAGE", 1);
      assertThatThrownBy(() -> database.get(truth.records().get(3).key()))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("data");
    }
  }
}
