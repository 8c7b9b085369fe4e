package tech.bsdb.bench.compare;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.MemoryUse;
import tech.bsdb.OpenOptions.Engine;

/**
 * Compares stores of the same numbered records in one process. Short laps alternate between the
 * stores, so that other load on the machine affects all equally. Every answer is checked; an
 * approximate database may answer anything for an absent key. Prints the median lap in nanoseconds
 * of the measuring threads' CPU time per key.
 *
 * <p>Arguments: the number of records, the number of rounds, and the stores; the first one is the
 * baseline. A store is one of:
 *
 * <ul>
 *   <li>{@code ENGINE:DATABASE}, a bsdb database;
 *   <li>{@code NAME:DIRECTORY}, a store of {@link Stores}, which is built there if the directory
 *       does not exist;
 *   <li>{@code NAME}, the same in the directory where {@link CompareStores} builds it;
 *   <li>{@code --all}, all names whose answers are exact.
 * </ul>
 *
 * A store that this machine or JDK does not support is left out with a warning.
 */
final class LapsInTurn implements AutoCloseable {
  private static final int LAP = 200_000;
  private static final int WARMUP = 6;
  private static final int QUERIES = 1 << 21;
  private static final int ALL_RECORDS = 10_000_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final PrintStream PROGRESS = System.err;

  private final int records;
  private final int[] order;
  private final List<Contender> contenders = new ArrayList<>();
  private final ExecutorService twoThreads = Executors.newFixedThreadPool(2);
  private int next;

  /** The sums of the ranges that stores have read, by what was asked. */
  private final Map<List<Object>, Integer> rangeSums = new HashMap<>();

  private LapsInTurn(int records) {
    this.records = records;
    this.order = Arrays.copyOf(DataSet.shuffled(records), Math.min(records, QUERIES));
  }

  /**
   * An open store.
   *
   * @param name the argument that names it
   * @param place its files
   * @param width the length to which values are truncated; see {@link ComparedStore#width}
   * @param reader a reader
   * @param other a reader of the same store for a second thread
   */
  private record Contender(
      String name,
      Path place,
      int width,
      ComparedStore.Reader reader,
      ComparedStore.Reader other) {
    void check(byte @Nullable [] value, int number) {
      if (number < 0 && width < Integer.MAX_VALUE) {
        return;
      }
      byte[] expected = number < 0 ? null : DataSet.value(number);
      if (expected != null && expected.length > width) {
        expected = Arrays.copyOf(expected, width);
      }
      if (!Arrays.equals(value, expected)) {
        throw new IllegalStateException("wrong answer for number " + number + ": " + name);
      }
    }
  }

  /** Runs the comparison. */
  public static void main(String[] args) throws Exception {
    if (args.length < 3) {
      throw new IllegalArgumentException("usage: RECORDS ROUNDS STORE...");
    }
    try (LapsInTurn laps = new LapsInTurn(Integer.parseInt(args[0]))) {
      for (String each : Arrays.asList(args).subList(2, args.length)) {
        if (each.equals("--all")) {
          for (String name : Stores.names()) {
            if (Stores.of(name).width() == Integer.MAX_VALUE) {
              laps.open(name);
            }
          }
        } else {
          laps.open(each);
        }
      }
      if (laps.contenders.isEmpty()) {
        throw new IllegalArgumentException("no store is left");
      }
      for (Contender each : laps.contenders) {
        laps.touchAll(each);
        printMemory(each);
      }
      laps.run(Integer.parseInt(args[1]));
    }
  }

  private void open(String argument) throws IOException {
    String[] parts = argument.split(":", 2);
    @Nullable Engine engine =
        Arrays.stream(Engine.values())
            .filter(one -> one.name().equals(parts[0].toUpperCase(Locale.ROOT)))
            .findFirst()
            .orElse(null);
    try {
      if (engine != null && parts.length == 2) {
        Path database = Path.of(parts[1]);
        BsdbStore.BsdbReader reader = BsdbStore.open(database, engine);
        add(argument, database, reader.width(), reader);
      } else {
        ComparedStore store = Stores.of(parts[0]);
        Path place =
            parts.length == 2
                ? Path.of(parts[1])
                : data().resolve("stores").resolve(Stores.directory(parts[0]));
        if (!Files.exists(place)) {
          build(store, argument, place);
        }
        add(argument, place, store.width(), store.open(place, store.readings().get(0)));
      }
    } catch (UnsupportedOperationException e) {
      PROGRESS.println(argument + " is left out: " + e.getMessage());
    }
  }

  private void add(String name, Path place, int width, ComparedStore.Reader reader)
      throws IOException {
    contenders.add(new Contender(name, place, width, reader, reader.forAnotherThread()));
  }

  /** The directory of the data set, which {@link CompareStores} shares if it has all records. */
  private Path data() {
    return Path.of(
            System.getProperty("bsdb.bench.work", System.getProperty("java.io.tmpdir")), "compare")
        .resolve(records == ALL_RECORDS ? "10m" : "first-" + records);
  }

  /** Builds a store under another name, which it has only until it is complete. */
  private void build(ComparedStore store, String name, Path place) throws IOException {
    PROGRESS.println("building " + name + " in " + place);
    Path part = Path.of(place + ".part");
    CompareStores.delete(part);
    Files.createDirectories(part);
    try {
      store.build(DataSet.numbered(data(), records), part);
      Files.move(part, place);
    } finally {
      CompareStores.delete(part);
    }
  }

  private void touchAll(Contender contender) throws IOException {
    for (int number = 0; number < records; number++) {
      contender.check(contender.reader.get(DataSet.key(number)), number);
    }
  }

  /** Prints how much of a store is in memory; for other stores than bsdb, how much is mapped. */
  private static void printMemory(Contender contender) throws IOException {
    long huge = 0;
    long resident = 0;
    if (contender.reader instanceof BsdbStore.BsdbReader bsdb) {
      MemoryUse use = bsdb.memoryUse();
      huge = use.hugePageBytes();
      resident = use.residentBytes();
    } else {
      boolean within = false;
      String place = contender.place.toRealPath() + "/";
      try (Stream<String> lines = Files.lines(Path.of("/proc/self/smaps"))) {
        for (String line : (Iterable<String>) lines::iterator) {
          if (Character.isLowerCase(line.charAt(0)) || Character.isDigit(line.charAt(0))) {
            within = line.contains(place);
          } else if (within && line.startsWith("Rss:")) {
            resident += kibibytes(line);
          } else if (within && line.startsWith("FilePmdMapped:")) {
            huge += kibibytes(line);
          }
        }
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%,d of %,d bytes in memory are in huge pages: %s%n",
        huge,
        resident,
        contender.name);
  }

  private static long kibibytes(String line) {
    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
  }

  /** A kind of lap: which keys are looked up, and how. */
  private enum Kind {
    PRESENT("single, present", 1, 1),
    HALF("single, half absent", 1, 1),
    BATCH("batches of 64", 64, 1),
    LARGE_BATCH("batches of 256", 256, 1),
    TWO_THREADS("two threads, present", 1, 2),
    RANGES("ranges of 100", 100, 1),
    KEYS("keys of ranges of 100", 100, 1);

    private final String title;
    private final int batch;
    private final int threads;

    Kind(String title, int batch, int threads) {
      this.title = title;
      this.batch = batch;
      this.threads = threads;
    }

    boolean suits(Contender contender) {
      if (this == RANGES || this == KEYS) {
        return contender.reader.hasRanges();
      }
      return batch == 1 || contender.reader.hasBatches();
    }
  }

  private void run(int rounds) throws Exception {
    int count = contenders.size();
    Map<Kind, double[][]> nanos = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      nanos.put(kind, new double[count][rounds]);
    }
    for (int round = -WARMUP; round < rounds; round++) {
      for (Kind kind : Kind.values()) {
        int from = next;
        for (int i = 0; i < count; i++) {
          int turn = Math.floorMod(round + i, count);
          if (!kind.suits(contenders.get(turn))) {
            continue;
          }
          next = from; // the same keys for all
          double lap = lap(contenders.get(turn), kind);
          if (round >= 0) {
            nanos.get(kind)[turn][round] = lap;
          }
        }
      }
    }
    for (Kind kind : Kind.values()) {
      // A baseline without batches is represented by its single lookups.
      Kind baseline = kind.suits(contenders.get(0)) ? kind : Kind.PRESENT;
      for (int i = 0; i < count; i++) {
        if (kind.suits(contenders.get(i))) {
          print(kind, nanos.get(kind)[i], nanos.get(baseline)[0], contenders.get(i).name);
        }
      }
    }
  }

  private static void print(Kind kind, double[] laps, double[] baseline, String name) {
    int rounds = laps.length;
    double[] ratios = new double[rounds];
    Arrays.setAll(ratios, round -> baseline[round] / laps[round]);
    double[] sorted = laps.clone();
    Arrays.sort(sorted);
    Arrays.sort(ratios);
    System.out.printf(
        Locale.ROOT,
        "%-20s %6.0f ns (%5.0f to %5.0f)  %.2f times the first (%.2f to %.2f)  %s%n",
        kind.title,
        sorted[rounds / 2],
        sorted[rounds / 10],
        sorted[rounds - 1 - rounds / 10],
        ratios[rounds / 2],
        ratios[rounds / 10],
        ratios[rounds - 1 - rounds / 10],
        name);
  }

  private double lap(Contender contender, Kind kind) throws Exception {
    Queries queries = new Queries(kind == Kind.HALF);
    if (kind == Kind.RANGES || kind == Kind.KEYS) {
      return queries.measureRanges(contender, kind.batch, kind == Kind.RANGES);
    }
    if (kind.threads == 1) {
      return queries.measure(contender, contender.reader, kind.batch);
    }
    Queries others = new Queries(false);
    CyclicBarrier start = new CyclicBarrier(2);
    Future<Double> one =
        twoThreads.submit(
            () -> {
              start.await();
              return queries.measure(contender, contender.reader, kind.batch);
            });
    Future<Double> other =
        twoThreads.submit(
            () -> {
              start.await();
              return others.measure(contender, contender.other, kind.batch);
            });
    return (one.get() + other.get()) / 2;
  }

  /** The keys of one thread's lap, and the numbers whose values they have, or -1. */
  private final class Queries {
    private final byte[][] keys = new byte[LAP][];
    private final int[] numbers = new int[LAP];

    Queries(boolean halfAbsent) {
      for (int i = 0; i < LAP; i++) {
        next = (next + 1) % order.length;
        boolean absent = halfAbsent && (i & 1) == 1;
        numbers[i] = absent ? -1 : order[next];
        keys[i] = DataSet.key(absent ? records + order[next] : order[next]);
      }
    }

    /**
     * Reads a range from each of some of the keys on, compares the answers with those of the other
     * contenders and returns this thread's CPU time per record.
     */
    double measureRanges(Contender contender, int length, boolean withValues) throws IOException {
      byte[][][] ranges = new byte[LAP / length][length][];
      byte[][][] values = new byte[LAP / length][length][];
      long records = 0;
      long began = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < ranges.length; i++) {
        records += contender.reader.range(keys[i], ranges[i], withValues ? values[i] : null);
      }
      double nanos = (double) (THREADS.getCurrentThreadCpuTime() - began) / records;
      int sum = 31 * Arrays.deepHashCode(ranges) + Arrays.deepHashCode(values);
      List<Object> asked = List.of(next, length, withValues);
      Integer known = rangeSums.putIfAbsent(asked, sum);
      if (known != null && known != sum) {
        throw new IllegalStateException("other ranges than the first store: " + contender.name);
      }
      return nanos;
    }

    /** Looks up the keys, checks the answers and returns this thread's CPU time per key. */
    double measure(Contender contender, ComparedStore.Reader reader, int batch)
        throws IOException {
      byte[][] values = new byte[LAP][];
      long began = THREADS.getCurrentThreadCpuTime();
      if (batch == 1) {
        for (int i = 0; i < LAP; i++) {
          values[i] = reader.get(keys[i]);
        }
      } else {
        for (int from = 0; from < LAP; from += batch) {
          reader.getBatch(keys, from, Math.min(LAP, from + batch), values);
        }
      }
      double nanos = (double) (THREADS.getCurrentThreadCpuTime() - began) / LAP;
      for (int i = 0; i < LAP; i++) {
        contender.check(values[i], numbers[i]);
      }
      return nanos;
    }
  }

  @Override
  public void close() throws IOException {
    twoThreads.shutdownNow();
    for (Contender each : contenders) {
      if (each.other != each.reader) {
        each.other.close();
      }
      each.reader.close();
    }
  }
}
