package tech.bsdb.bench.compare;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;

/**
 * Measures the CPU time of a lookup with 64 platform threads and with 10,000 virtual ones, in
 * alternating laps. Needs Java 21.
 *
 * <pre>
 * ThreadCosts RECORDS LAYOUT ENGINE LOOKUPS PAUSE
 * </pre>
 *
 * A thread yields after every {@code PAUSE} lookups to let the others run; 0 for never.
 */
final class ThreadCosts {
  private static final int PLATFORM = 64;
  private static final int VIRTUAL = 10_000;
  private static final int LAPS = 9;
  private static final int KEYS = 1 << 18;
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final Database database;
  private final byte[][] keys;
  private final int pause;

  private ThreadCosts(Database database, byte[][] keys, int pause) {
    this.database = database;
    this.keys = keys;
    this.pause = pause;
  }

  /** Prints each lap and the medians. */
  public static void main(String[] args) throws Exception {
    int records = Integer.parseInt(args[0]);
    OpenOptions.Engine engine = OpenOptions.Engine.valueOf(args[2].toUpperCase(Locale.ROOT));
    int lookups = Integer.parseInt(args[3]);
    byte[][] keys = new byte[KEYS][];
    int[] order = DataSet.shuffled(records);
    for (int i = 0; i < KEYS; i++) {
      keys[i] = DataSet.key(order[i % records]);
    }
    try (Database database =
        Database.open(
            NumberedDatabase.of(records, args[1]), OpenOptions.defaults().withEngine(engine))) {
      ThreadCosts costs = new ThreadCosts(database, keys, Integer.parseInt(args[4]));
      Executor virtual = task -> start(task, true);
      Executor platform = task -> start(task, false);
      double[] platformNanos = new double[LAPS];
      double[] virtualNanos = new double[LAPS];
      for (int lap = -2; lap < LAPS; lap++) {
        double one = costs.lap(platform, PLATFORM, lookups);
        double other = costs.lap(virtual, VIRTUAL, lookups);
        if (lap >= 0) {
          platformNanos[lap] = one;
          virtualNanos[lap] = other;
          System.out.printf(
              "%d platform %.0f ns, %d virtual %.0f ns%n", PLATFORM, one, VIRTUAL, other);
        }
      }
      Arrays.sort(platformNanos);
      Arrays.sort(virtualNanos);
      System.out.printf(
          "Java %d, %s %s, pause %s: medians %.0f and %.0f ns of processor time a lookup, ratio"
              + " %.2f%n",
          Runtime.version().feature(),
          args[1],
          args[2],
          args[4],
          platformNanos[LAPS / 2],
          virtualNanos[LAPS / 2],
          virtualNanos[LAPS / 2] / platformNanos[LAPS / 2]);
    }
  }

  private static void start(Runnable task, boolean virtual) {
    try {
      if (virtual) {
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
      } else {
        new Thread(task).start();
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("virtual threads need Java 21", e);
    }
  }

  /**
   * Returns the CPU nanoseconds of the whole process per lookup, excluding the start of the
   * threads.
   */
  private double lap(Executor executor, int threads, int lookups) throws Exception {
    int each = Math.max(1, lookups / threads);
    CountDownLatch started = new CountDownLatch(threads);
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(threads);
    AtomicLong found = new AtomicLong();
    AtomicReference<IOException> failure = new AtomicReference<>();
    for (int thread = 0; thread < threads; thread++) {
      int first = (int) ((long) thread * keys.length / threads);
      executor.execute(
          () -> {
            started.countDown();
            try {
              begin.await();
              found.addAndGet(lookUp(first, each));
            } catch (IOException e) {
              failure.set(e);
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            } finally {
              ended.countDown();
            }
          });
    }
    started.await();
    long before = SYSTEM.getProcessCpuTime();
    begin.countDown();
    ended.await();
    long nanos = SYSTEM.getProcessCpuTime() - before;
    if (failure.get() != null || found.get() != (long) each * threads) {
      throw new IllegalStateException("lookups failed", failure.get());
    }
    return (double) nanos / each / threads;
  }

  @SuppressWarnings("ThreadPriorityCheck") // the pause of a virtual thread that waits for others
  private long lookUp(int first, int count) throws IOException {
    long found = 0;
    for (int i = 0; i < count; i++) {
      if (database.get(keys[first + i & KEYS - 1]) != null) {
        found++;
      }
      if (pause > 0 && i % pause == pause - 1) {
        Thread.yield();
      }
    }
    return found;
  }
}
