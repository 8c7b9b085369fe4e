package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.OpenOptions.Engine;

/** What the counters say is what lookups must have read, by every engine. */
class IoCountersTest {
  private static final int RECORDS = 500;
  private static final int PAGE = 4096;
  private static final int THREADS = 4;

  @TempDir Path directory;

  private final Truth truth = Truth.random(Seeds.random("IoCountersTest"), RECORDS, 100);
  private Path exact;

  @BeforeEach
  void build() throws Exception {
    exact = directory.resolve("exact");
    truth.build(exact, BuildOptions.defaults().withChecksumBits(32));
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private static Database open(Path path, OpenOptions options) throws Exception {
    return Database.open(path, options);
  }

  /** Reads of one file for a lookup: none where its pages are memory. */
  private static int each(Database database) {
    String engine = database.statistics().engine();
    return engine.startsWith("mapped") || engine.startsWith("memory") ? 0 : 1;
  }

  private static void assertReads(Database database, long reads) {
    assertThat(database.ioCounters())
        .as(database.statistics().engine())
        .isEqualTo(new IoCounters(reads, reads * PAGE));
  }

  private void getAll(Database database) throws Exception {
    for (Truth.Entry record : truth.records()) {
      Truth.same(database.get(record.key()), record.value(), "value");
    }
  }

  @Test
  void aPresentKeyTakesTwoReadsAndAnAbsentOneNone() throws Exception {
    for (Engine engine : Offered.engines()) {
      for (boolean verify : new boolean[] {true, false}) {
        OpenOptions options = OpenOptions.defaults().withEngine(engine).withVerify(verify);
        try (Database database = open(exact, options)) {
          assertReads(database, 0);
          getAll(database);
          assertReads(database, 2L * each(database) * RECORDS);
          assertThat(database.get(Truth.utf8("a key that has more bytes than any"))).isNull();
          assertReads(database, 2L * each(database) * RECORDS);
        }
      }
    }
  }

  /** The index of a packed database lies in memory, and says nothing about absent keys. */
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED"})
  void aKeyOfAPackedDatabaseTakesOneRead(Layout layout) throws Exception {
    Path packed = directory.resolve("packed");
    truth.build(packed, BuildOptions.defaults().withLayout(layout));
    for (Engine engine : Offered.engines()) {
      try (Database database = open(packed, OpenOptions.defaults().withEngine(engine))) {
        long opened = database.ioCounters().reads();
        getAll(database);
        assertThat(database.get(Truth.utf8("a key that has more bytes than any"))).isNull();
        assertThat(database.ioCounters().reads() - opened)
            .as(database.statistics().engine())
            .isEqualTo((long) each(database) * (RECORDS + 1));
      }
    }
  }

  @Test
  void manyKeysTakeAsManyReadsAsOneAfterTheOther() throws Exception {
    List<byte[]> keys = truth.records().stream().map(Truth.Entry::key).toList();
    for (Engine engine : Offered.engines()) {
      try (Database database = open(exact, OpenOptions.defaults().withEngine(engine))) {
        assertThat(database.getAll(keys)).doesNotContainNull();
        assertReads(database, 2L * each(database) * RECORDS);
      }
    }
  }

  @Test
  void laterAnswersCountToo() throws Exception {
    for (Engine engine : Offered.engines()) {
      if (Offered.readsDevice(engine)) {
        try (Database database = open(exact, OpenOptions.defaults().withEngine(engine))) {
          List<CompletableFuture<byte[]>> answers = new ArrayList<>();
          for (Truth.Entry record : truth.records()) {
            answers.add(database.getAsync(record.key()));
          }
          for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get(60, TimeUnit.SECONDS)).isNotNull();
          }
          assertReads(database, 2L * RECORDS);
        }
      }
    }
  }

  @Test
  void noReadOfSeveralThreadsIsLost() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      for (Engine engine : Offered.engines()) {
        try (Database database = open(exact, OpenOptions.defaults().withEngine(engine))) {
          List<Future<?>> runs = new ArrayList<>();
          for (int i = 0; i < THREADS; i++) {
            runs.add(
                threads.submit(
                    () -> {
                      getAll(database);
                      return null;
                    }));
          }
          for (Future<?> run : runs) {
            run.get(60, TimeUnit.SECONDS);
          }
          assertReads(database, 2L * each(database) * RECORDS * THREADS);
        }
      }
    } finally {
      threads.shutdown();
      assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void oneReadWhereTheOtherIsSpared() throws Exception {
    Path approximate = directory.resolve("approximate");
    truth.build(
        approximate, BuildOptions.defaults().withApproximateWidth(100).withChecksumBits(32));
    for (Engine engine : Offered.engines()) {
      OpenOptions options = OpenOptions.defaults().withEngine(engine);
      try (Database database = open(approximate, options)) {
        getAll(database);
        assertReads(database, (long) each(database) * RECORDS);
      }
      if (engine == Engine.BUFFERED || Offered.readsDevice(engine)) {
        try (Database database = open(exact, options.withIndexInMemory(true))) {
          getAll(database);
          assertReads(database, RECORDS);
        }
        try (Database database = open(exact, options.withIndexEngine(Engine.MAPPED))) {
          getAll(database);
          assertReads(database, RECORDS);
        }
      }
    }
  }

  @Test
  void aLongValueTakesItsBytes() throws Exception {
    Path large = directory.resolve("large");
    byte[] value = new byte[3_000_000];
    new Truth()
        .add(Truth.utf8("k"), value)
        .build(large, BuildOptions.defaults().withLayout(Layout.BLOCKED));
    for (Engine engine : Offered.engines()) {
      if (engine == Engine.BUFFERED || Offered.readsDevice(engine)) {
        try (Database database = open(large, OpenOptions.defaults().withEngine(engine))) {
          assertThat(database.get(Truth.utf8("k"))).isEqualTo(value);
          assertThat(database.ioCounters().bytes()).isBetween(3_000_000L, 3_200_000L);
          assertThat(database.ioCounters().reads()).isBetween(3L, 10L);
        }
      }
    }
  }

  @Test
  void aScanReadsAndCountsStayWhenAllIsClosed() throws Exception {
    Database database = open(exact, OpenOptions.defaults().withEngine(Engine.MAPPED));
    try (database) {
      try (Database.RecordCursor records = database.scan()) {
        while (records.next()) {
          assertThat(records.key()).isNotNull();
        }
      }
      long dataBytes = database.statistics().dataBytes();
      assertThat(database.ioCounters().bytes()).isBetween(dataBytes / 2, 2 * dataBytes);
    }
    assertThat(database.ioCounters().reads()).isPositive();
  }
}
