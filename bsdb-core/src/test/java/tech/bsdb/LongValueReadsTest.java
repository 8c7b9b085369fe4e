package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.OpenOptions.Engine;

/** A long value takes one read for each MiB, and one more where its length is not known before. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LongValueReadsTest {
  private static final int MIB = 1 << 20;
  private static final int PAGE = 4096;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("LongValueReadsTest");

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Engine engine : Offered.engines()) {
      if (engine == Engine.BUFFERED || engine == Engine.DIRECT || engine == Engine.IO_URING) {
        for (Layout layout : Layout.values()) {
          cases.add(Arguments.of(engine, layout));
        }
      }
    }
    return cases;
  }

  /** Bytes that compress to about a third. */
  private byte[] compressible(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) ('a' + random.nextInt(6));
    }
    return bytes;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void readsAreFewAndNoLongerThanNeeded(Engine engine, Layout layout) throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 300; i++) {
      truth.add(Truth.utf8("filler " + i), Truth.bytes(random, 100));
    }
    List<Truth.Entry> longs = new ArrayList<>();
    for (int length : new int[] {20_000, 100_000, MIB - 8192, MIB, 3 * MIB}) {
      for (int copy = 0; copy < 2; copy++) {
        byte[] value = copy == 0 ? Truth.bytes(random, length) : compressible(length);
        byte[] key = Truth.utf8("long " + length + " " + copy);
        truth.add(key, value);
        longs.add(new Truth.Entry(key, value));
      }
    }
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout));
    try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
      for (Truth.Entry record : longs) {
        IoCounters before = database.ioCounters();
        Truth.same(database.get(record.key()), record.value(), "value");
        IoCounters after = database.ioCounters();
        assertReads(layout, record, after.reads() - before.reads(), after.bytes() - before.bytes());
      }
    }
  }

  private static void assertReads(Layout layout, Truth.Entry record, long reads, long bytes) {
    int length = record.value().length;
    if (layout.isPacked()) { // other long values may lie in its bin
      assertThat(reads)
          .as("reads of %,d bytes, %s", length, layout)
          .isBetween(1L, 2L + length / MIB);
      return;
    }
    int unknown = layout == Layout.COMPRESSED ? 1 : 0; // its first pages tell the length
    assertThat(reads)
        .as("reads of %,d bytes, %s", length, layout)
        .isBetween(2L, 2L + unknown + length / MIB);
    assertThat(bytes)
        .as("bytes of %,d, %s", length, layout)
        .isLessThan(length + length / 100 + 8 * PAGE);
  }
}
