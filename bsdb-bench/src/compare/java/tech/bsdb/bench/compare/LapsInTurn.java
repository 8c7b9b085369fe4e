package tech.bsdb.bench.compare;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.MemoryUse;
import tech.bsdb.OpenOptions;

/**
 * Compares databases of the same numbered records in one process. Short laps alternate between the
 * databases, so that other load on the machine affects all equally. Every answer is checked. Prints
 * the median lap in nanoseconds of CPU time per key.
 *
 * <p>Arguments: the number of records, the number of rounds, and the databases, each as {@code
 * ENGINE:DIRECTORY}. The first database is the baseline.
 */
final class LapsInTurn {
  private static final int LAP = 200_000;
  private static final int WARMUP = 6;
  private static final int BATCH = 64;
  private static final int QUERIES = 1 << 21;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final int records;
  private final int[] order;
  private final List<String> names = new ArrayList<>();
  private final List<Database> databases = new ArrayList<>();
  private int next;

  private LapsInTurn(int records) {
    this.records = records;
    this.order = Arrays.copyOf(DataSet.shuffled(records), Math.min(records, QUERIES));
  }

  /** Runs the comparison. */
  public static void main(String[] args) throws IOException {
    if (args.length < 3) {
      throw new IllegalArgumentException("usage: RECORDS ROUNDS ENGINE:DIRECTORY...");
    }
    LapsInTurn laps = new LapsInTurn(Integer.parseInt(args[0]));
    try {
      for (String each : Arrays.asList(args).subList(2, args.length)) {
        String[] parts = each.split(":", 2);
        OpenOptions.Engine engine = OpenOptions.Engine.valueOf(parts[0].toUpperCase(Locale.ROOT));
        laps.names.add(each);
        laps.databases.add(
            Database.open(Path.of(parts[1]), OpenOptions.defaults().withEngine(engine)));
      }
      for (int i = 0; i < laps.databases.size(); i++) {
        laps.touchAll(laps.databases.get(i));
        MemoryUse use = laps.databases.get(i).memoryUse();
        System.out.printf(
            Locale.ROOT,
            "%,d of %,d bytes in memory are in huge pages: %s%n",
            use.hugePageBytes(),
            use.residentBytes(),
            laps.names.get(i));
      }
      laps.run(Integer.parseInt(args[1]));
    } finally {
      for (Database database : laps.databases) {
        database.close();
      }
    }
  }

  private void touchAll(Database database) throws IOException {
    for (int number = 0; number < records; number++) {
      check(database.get(DataSet.key(number)), number);
    }
  }

  /** A kind of lap: which keys are looked up. */
  private enum Kind {
    PRESENT("single, present"),
    HALF("single, half absent"),
    BATCH("batches of 64");

    private final String title;

    Kind(String title) {
      this.title = title;
    }
  }

  private void run(int rounds) throws IOException {
    for (Kind kind : Kind.values()) {
      double[][] nanos = new double[databases.size()][rounds];
      for (int round = -WARMUP; round < rounds; round++) {
        int from = next;
        for (int i = 0; i < databases.size(); i++) {
          int turn = Math.floorMod(round + i, databases.size());
          next = from; // the same keys for all
          double lap = lap(databases.get(turn), kind);
          if (round >= 0) {
            nanos[turn][round] = lap;
          }
        }
      }
      double[] medians = new double[nanos.length];
      for (int i = 0; i < nanos.length; i++) {
        Arrays.sort(nanos[i]);
        medians[i] = nanos[i][rounds / 2];
        System.out.printf(
            Locale.ROOT,
            "%-20s %6.0f ns (%5.0f to %5.0f)  %.2f times the first  %s%n",
            kind.title,
            medians[i],
            nanos[i][rounds / 10],
            nanos[i][rounds - 1 - rounds / 10],
            medians[0] / medians[i],
            names.get(i));
      }
    }
  }

  private double lap(Database database, Kind kind) throws IOException {
    byte[][] keys = new byte[LAP][];
    int[] numbers = new int[LAP];
    for (int i = 0; i < LAP; i++) {
      next = (next + 1) % order.length;
      boolean absent = kind == Kind.HALF && (i & 1) == 1;
      numbers[i] = absent ? -1 : order[next];
      keys[i] = DataSet.key(absent ? records + order[next] : order[next]);
    }
    byte[][] values = new byte[LAP][];
    long began = THREADS.getCurrentThreadCpuTime();
    if (kind == Kind.BATCH) {
      LookupBatch batch = database.batch();
      for (int from = 0; from < LAP; from += BATCH) {
        batch.clear();
        for (int i = from; i < Math.min(LAP, from + BATCH); i++) {
          batch.add(keys[i]);
        }
        batch.get();
        for (int i = 0; i < batch.size(); i++) {
          values[from + i] = batch.value(i);
        }
      }
    } else {
      for (int i = 0; i < LAP; i++) {
        values[i] = database.get(keys[i]);
      }
    }
    double nanos = (double) (THREADS.getCurrentThreadCpuTime() - began) / LAP;
    for (int i = 0; i < LAP; i++) {
      check(values[i], numbers[i]);
    }
    return nanos;
  }

  private static void check(byte[] value, int number) {
    if (!Arrays.equals(value, number < 0 ? null : DataSet.value(number))) {
      throw new IllegalStateException("wrong answer for number " + number);
    }
  }
}
