package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Lookups of all kinds by all engines for a long time, while readers are opened and closed: every
 * answer is right, and nothing is left behind. {@code ./mvnw verify -Psoak}; an hour, or {@code
 * -Dbsdb.soak.minutes=}.
 */
@Tag("soak")
class SoakTest {
  private static final long MINUTES = Long.getLong("bsdb.soak.minutes", 60);
  private static final int RECORDS = 100_000;

  /**
   * Memory in and outside of the heap may each grow by so much after the first tenth of the time.
   */
  private static final long SLACK_BYTES = 100L << 20;

  @TempDir Path directory;
  private final AtomicLong answers = new AtomicLong();
  private long end;

  @Test
  void everyAnswerIsRightAndNothingLeaks() throws Exception {
    Truth truth = Truth.random(Seeds.random("SoakTest"), RECORDS, 200);
    List<Path> targets = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      Path target = directory.resolve(layout.name().toLowerCase(java.util.Locale.ROOT));
      truth.build(target, BuildOptions.defaults().withLayout(layout).withDataFiles(2));
      targets.add(target);
    }
    long begin = System.nanoTime();
    end = begin + TimeUnit.MINUTES.toNanos(MINUTES);
    ExecutorService pool = Executors.newCachedThreadPool();
    List<Future<Void>> workers = new ArrayList<>();
    Memory early = null;
    try {
      for (OpenOptions.Engine engine : Offered.engines()) {
        workers.add(pool.submit(worker(truth, targets, engine)));
      }
      workers.add(pool.submit(worker(truth, targets, OpenOptions.Engine.AUTO)));
      while (System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(500);
        if (early == null && System.nanoTime() - begin > (end - begin) / 10) {
          early = Memory.now();
        }
        for (Future<Void> worker : workers) {
          if (worker.isDone()) {
            worker.get(); // fails now, not in an hour
          }
        }
      }
      for (Future<Void> worker : workers) {
        worker.get();
      }
    } finally {
      end = System.nanoTime();
      pool.shutdown();
    }
    Memory late = Memory.now();
    System.out.printf(
        "soak: %d minutes, %d right answers, early %s, late %s%n",
        MINUTES, answers.get(), early, late);
    assertThat(early).isNotNull();
    assertThat(late.heap()).as("heap").isLessThan(early.heap() + SLACK_BYTES);
    assertThat(late.outside()).as("outside the heap").isLessThan(early.outside() + SLACK_BYTES);
    Leaks.assertNone(directory);
  }

  private Callable<Void> worker(Truth truth, List<Path> targets, OpenOptions.Engine engine) {
    SplittableRandom random = Seeds.random("SoakTest " + engine);
    return () -> {
      while (System.nanoTime() - end < 0) {
        Path target = targets.get(random.nextInt(targets.size()));
        OpenOptions options =
            OpenOptions.defaults().withEngine(engine).withIndexInMemory(random.nextInt(4) == 0);
        try (Database database = Database.open(target, options)) {
          for (int i = random.nextInt(20); i >= 0; i--) {
            some(database, truth, random);
          }
        }
      }
      return null;
    };
  }

  private void some(Database database, Truth truth, SplittableRandom random) throws Exception {
    List<byte[]> keys = new ArrayList<>();
    List<byte[]> expected = new ArrayList<>();
    for (int i = 1 + random.nextInt(300); i > 0; i--) {
      if (random.nextInt(3) == 0) {
        keys.add(Truth.bytes(random, 33)); // longer than all that are there
        expected.add(null);
      } else {
        Truth.Entry record = truth.records().get(random.nextInt(RECORDS));
        keys.add(record.key());
        expected.add(record.value());
      }
    }
    List<byte[]> found =
        switch (random.nextInt(3)) {
          case 0 -> database.getAll(keys);
          case 1 -> later(database, keys);
          default -> single(database, keys);
        };
    for (int i = 0; i < keys.size(); i++) {
      Truth.same(found.get(i), expected.get(i), "value");
    }
    answers.addAndGet(keys.size());
  }

  private static List<byte[]> single(Database database, List<byte[]> keys) throws IOException {
    List<byte[]> found = new ArrayList<>();
    for (byte[] key : keys) {
      found.add(database.get(key));
    }
    return found;
  }

  private static List<byte[]> later(Database database, List<byte[]> keys) throws Exception {
    List<CompletableFuture<byte[]>> futures = new ArrayList<>();
    for (byte[] key : keys) {
      futures.add(database.getAsync(key));
    }
    List<byte[]> found = new ArrayList<>();
    for (CompletableFuture<byte[]> future : futures) {
      found.add(await(future, database));
    }
    return found;
  }

  /** A lookup that takes so long on any machine will never end; the stacks say where it hangs. */
  private static byte[] await(CompletableFuture<byte[]> future, Database database)
      throws Exception {
    try {
      return future.get(10, TimeUnit.MINUTES);
    } catch (TimeoutException e) {
      StringBuilder stacks = new StringBuilder();
      Thread.getAllStackTraces()
          .forEach(
              (thread, stack) ->
                  stacks.append(thread).append("\n  ").append(List.of(stack)).append('\n'));
      throw new AssertionError(
          "no answer from " + database.statistics().engine() + "\n" + stacks, e);
    }
  }

  /**
   * What the process needs, in bytes. The heap's own growth up to its limit is the collector's
   * choice and counts as neither.
   *
   * @param heap what is reachable on the heap, and a little more
   * @param outside resident memory without what the heap has taken
   */
  private record Memory(long heap, long outside) {
    static Memory now() throws IOException {
      System.gc();
      MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          long resident = Long.parseLong(line.replaceAll("\\D", "")) << 10;
          return new Memory(heap.getUsed(), resident - heap.getCommitted());
        }
      }
      throw new IOException("/proc/self/status has no VmRSS");
    }

    @Override
    public String toString() {
      return (heap >> 20) + " MiB of heap and " + (outside >> 20) + " MiB outside";
    }
  }
}
