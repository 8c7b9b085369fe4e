package tech.bsdb.lookup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Fork;
import tech.bsdb.Layout;
import tech.bsdb.Offered;
import tech.bsdb.OpenOptions;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.ValueReader;

/**
 * A steady lookup allocates the value that it returns, or the slice that it shows: no page, buffer,
 * session or context.
 */
@Tag("jdk")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AllocationTest {
  private static final int RECORDS = 500;

  /** Values are half as long on average, much more than the slack, so that a copy is noticed. */
  private static final int LONGEST = 2000;

  /**
   * What the optimizing compiler may leave of small objects that it usually removes, such as the
   * memory segments of system calls and of zstd-jni on Java 22 and newer. Far less than a page, a
   * buffer, a session or a ZSTD context.
   */
  private static final int SLACK_PER_LOOKUP = 256;

  /** What a profiler, a compiler or the bean itself may cost this thread once. */
  private static final int SLACK = 4096;

  /** Until when it must be compiled, which ends the first rounds; it takes a second or two. */
  private static final long GUARD_NANOS = 60_000_000_000L;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir Path directory;

  /** All, or each engine, layout and width at least once. */
  private static List<Case> cases(boolean all) {
    List<Case> cases = cases();
    int engines = Offered.engines().size();
    int kinds = cases.size() / engines;
    List<Case> few = new ArrayList<>();
    for (int i = 0; i < Math.max(engines, kinds); i++) {
      few.add(cases.get(i % engines * kinds + i % kinds));
    }
    return all ? cases : few;
  }

  private static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (OpenOptions.Engine engine : Offered.engines()) {
      for (Layout layout : Layout.values()) {
        cases.add(new Case(engine, layout, 0));
      }
      cases.add(new Case(engine, Layout.BLOCKED, 8));
    }
    return cases;
  }

  /**
   * All cases, or a few, in a process of their own. In one that has run other tests the compiler
   * has seen so many kinds of readers that it no longer removes what a lookup allocates for itself.
   */
  @Test
  void aSteadyGetAllocatesItsValue() throws Exception {
    boolean all = Rounds.everything();
    List<String> command =
        new ArrayList<>(Fork.command(AllocationTest.class, "" + directory, "" + all));
    command.remove("-XX:TieredStopAtLevel=1"); // it is the optimizing compiler's work
    Process process = Fork.start(command);
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).as("the cases that ran").contains("cases: " + cases(all).size());
  }

  /** Runs all cases below the directory that is its argument. */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    List<Case> cases = cases(Boolean.parseBoolean(arguments[1]));
    int failed = 0;
    for (Case each : cases) {
      String failure = each.run(directory.resolve(each.name()));
      if (failure != null) {
        System.out.println(each.name() + ": " + failure);
        failed++;
      }
    }
    System.out.println("cases: " + cases.size());
    System.exit(failed);
  }

  private record Case(OpenOptions.Engine engine, Layout layout, int width) {
    String name() {
      return engine + "-" + layout + "-" + width;
    }

    /*
     * A round counts only what this thread allocates. One in which the compiler threw code away may run it by the
     * interpreter, where the JDK's own methods allocate what compiled code does not; so the best round counts.
     */
    @Nullable String run(Path target) throws Exception {
      SplittableRandom random = Seeds.random("AllocationTest " + name());
      Truth truth = Truth.random(random, RECORDS, LONGEST);
      for (int length : new int[] {3000, 5000, 20_000}) { // more than a page
        truth.add("large" + length, "v".repeat(length));
      }
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
        long least = least(keys, most, database::get);
        if (least < values || least > most) {
          return least
              + " bytes allocated by "
              + keys.length
              + " lookups that return "
              + values
              + " bytes";
        }
        long slices = (long) SLACK_PER_LOOKUP * keys.length + SLACK;
        long shown = least(keys, slices, key -> database.read(key, READER));
        return shown <= slices
            ? null
            : shown + " bytes allocated by " + keys.length / 2 + " lookups that show slices";
      }
    }
  }

  private static final ValueReader<Object> READER =
      value -> value.limit() == 1 ? AllocationTest.class : null;

  /** A lookup of a key. */
  private interface Step {
    @Nullable Object with(byte[] key) throws IOException;
  }

  /** What a round allocates once it is compiled, or after a long time. */
  private static long least(byte[][] keys, long enough, Step lookup) throws IOException {
    long least = Long.MAX_VALUE;
    long begin = System.nanoTime();
    while (least > enough && System.nanoTime() - begin < GUARD_NANOS) {
      least = Math.min(least, allocated(keys, lookup));
    }
    return least;
  }

  private static long allocated(byte[][] keys, Step lookup) throws IOException {
    long thread = Thread.currentThread().getId();
    long before = THREADS.getThreadAllocatedBytes(thread);
    for (byte[] key : keys) {
      lookup.with(key);
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
