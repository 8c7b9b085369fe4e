package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.Offered;
import tech.bsdb.OpenOptions;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** A steady lookup allocates the value that it returns, and nothing else. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AllocationTest {
  private static final int RECORDS = 500;

  /** Less than the smallest object for each lookup, so that one per lookup is too many. */
  private static final int SLACK_PER_LOOKUP = 7;

  /** What a profiler, a compiler or the bean itself may cost this thread once. */
  private static final int SLACK = 4096;

  /** Until when it must be compiled, which ends the first rounds; it takes a second or two. */
  private static final long GUARD_NANOS = 90_000_000_000L;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir Path directory;

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (OpenOptions.Engine engine : Offered.engines()) {
      for (Layout layout : new Layout[] {Layout.BLOCKED, Layout.COMPACT, Layout.COMPRESSED}) {
        cases.add(Arguments.of(engine, layout, 0));
      }
      cases.add(Arguments.of(engine, Layout.BLOCKED, 8));
    }
    return cases;
  }

  /*
   * A round counts only what this thread allocates. One in which the compiler threw code away may run it by the
   * interpreter, where the JDK's own methods allocate what compiled code does not; so the best round counts.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void aSteadyGetAllocatesTheValueAndNothingElse(
      OpenOptions.Engine engine, Layout layout, int width) throws Exception {
    SplittableRandom random = Seeds.random("AllocationTest");
    Truth truth = Truth.random(random, RECORDS, 600);
    for (int length : new int[] {3000, 5000, 20_000}) { // more than a page
      truth.add("large" + length, "v".repeat(length));
    }
    Path target = directory.resolve("db");
    truth.build(
        target,
        BuildOptions.defaults()
            .withLayout(layout)
            .withApproximateWidth(width)
            .withDictionaryBytes(4096));
    byte[][] keys = keys(truth);
    try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
      long values = 0;
      for (byte[] key : keys) {
        byte[] value = database.get(key);
        values += value == null ? 0 : 16 + value.length + 7 & -8;
      }
      long most = values + (long) SLACK_PER_LOOKUP * keys.length + SLACK;
      long least = Long.MAX_VALUE;
      long begin = System.nanoTime();
      while (least > most && System.nanoTime() - begin < GUARD_NANOS) {
        least = Math.min(least, allocated(database, keys));
      }
      assertThat(least)
          .as("bytes allocated by %d lookups that return %d bytes", keys.length, values)
          .isBetween(values, most);
    }
  }

  private static long allocated(Database database, byte[][] keys) throws Exception {
    long thread = Thread.currentThread().getId();
    long before = THREADS.getThreadAllocatedBytes(thread);
    for (byte[] key : keys) {
      database.get(key);
    }
    return THREADS.getThreadAllocatedBytes(thread) - before;
  }

  /** Present and absent keys, in turns. */
  private static byte[][] keys(Truth truth) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < truth.records().size(); i++) {
      keys.add(truth.records().get(i).key());
      keys.add(Truth.utf8("absent " + i));
    }
    return keys.toArray(new byte[0][]);
  }
}
