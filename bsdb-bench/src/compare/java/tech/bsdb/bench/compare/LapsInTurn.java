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
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
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
 * stores, so that other load on the machine affects all equally. Every record is checked once
 * before; each lap adds up its answers ({@link ValueSum}) and checks the sum. An approximate
 * database may answer anything for an absent key. Prints the median lap in nanoseconds of the
 * measuring threads' CPU time per key.
 *
 * <p>A lap writes its keys into the same arrays, a block at a time, and does not measure that. So
 * the keys are in the second-level cache, and the misses that remain are those of the stores.
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
  private static final int BLOCK = 4096;
  private static final int BLOCKS = 49;
  private static final int LAP = BLOCK * BLOCKS;
  private static final int WARMUP = 6;
  private static final int QUERIES = 1 << 21;
  private static final int ALL_RECORDS = 10_000_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final PrintStream PROGRESS = System.err;

  private final int records;
  private final Path data;
  private final @Nullable PageSize pages;
  private final int[] order;
  private final List<Contender> contenders = new ArrayList<>();
  private final List<Path> copies = new ArrayList<>();
  private final ExecutorService twoThreads = Executors.newFixedThreadPool(2);
  private final Queries queries = new Queries();
  private final Queries others = new Queries();

  /** The sums of the ranges that stores have read, by what was asked. */
  private final Map<List<Object>, Integer> rangeSums = new HashMap<>();

  /**
   * Prepares a comparison.
   *
   * @param work the directory of data sets
   * @param pages the pages in which all files are to lie: those of stores that have a name are
   *     written again, and databases are copied; null to leave files as they are
   */
  LapsInTurn(int records, Path work, @Nullable PageSize pages) {
    this.records = records;
    this.data = work.resolve(records == ALL_RECORDS ? "10m" : "first-" + records);
    this.pages = pages;
    this.order =
        records > QUERIES
            ? Arrays.copyOf(DataSet.shuffled(records), QUERIES)
            : DataSet.drawn(QUERIES, records);
  }

  /**
   * An open store.
   *
   * @param name the argument that names it
   * @param place its files
   * @param width the length to which values are truncated; see {@link ComparedStore#width}
   * @param reader a reader
   * @param other a reader of the same store for a second thread
   * @param loops the loops that look up keys
   */
  record Contender(
      String name,
      Path place,
      int width,
      ComparedStore.Reader reader,
      ComparedStore.Reader other,
      LapLoops loops) {
    /** Returns the answer that a number's key has, or null for a negative number. */
    byte @Nullable [] answer(int number) {
      byte[] value = number < 0 ? null : DataSet.value(number);
      return value == null || value.length <= width ? value : Arrays.copyOf(value, width);
    }

    private boolean isExact() {
      return width == Integer.MAX_VALUE;
    }
  }

  /** Runs the comparison. */
  public static void main(String[] args) throws Exception {
    if (args.length < 3) {
      throw new IllegalArgumentException("usage: RECORDS ROUNDS STORE...");
    }
    Path work =
        Path.of(System.getProperty("bsdb.bench.work", System.getProperty("java.io.tmpdir")));
    try (LapsInTurn laps =
        new LapsInTurn(Integer.parseInt(args[0]), work.resolve("compare"), null)) {
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
      for (String line : laps.checkAll()) {
        System.out.println(line);
      }
      laps.print(laps.run(EnumSet.complementOf(Kind.OF_DUELS), Integer.parseInt(args[1])));
    }
  }

  /** The stores that were opened, in order. */
  List<Contender> contenders() {
    return contenders;
  }

  /**
   * Checks every record of every store.
   *
   * @return what to say about each store's pages
   */
  List<String> checkAll() throws IOException {
    if (contenders.isEmpty()) {
      throw new IllegalArgumentException("no store is left");
    }
    List<String> lines = new ArrayList<>();
    for (Contender each : contenders) {
      for (int number = 0; number < records; number++) {
        if (!Arrays.equals(each.reader.get(DataSet.key(number)), each.answer(number))) {
          throw new IllegalStateException("wrong answer for number " + number + ": " + each.name);
        }
      }
      lines.add(memory(each));
    }
    return lines;
  }

  /** Opens a store, or warns that it is left out. */
  void open(String argument) throws IOException {
    String[] parts = argument.split(":", 2);
    @Nullable Engine engine =
        Arrays.stream(Engine.values())
            .filter(one -> one.name().equals(parts[0].toUpperCase(Locale.ROOT)))
            .findFirst()
            .orElse(null);
    try {
      if (engine != null && parts.length == 2) {
        Path database = Path.of(parts[1]);
        if (pages != null) {
          Path copy = data.resolve("copy-" + contenders.size());
          copies.add(copy);
          pages.copy(database, copy);
          database = copy;
        }
        BsdbStore.BsdbReader reader = BsdbStore.open(database, engine);
        add(argument, database, reader.width(), reader);
      } else {
        ComparedStore store = Stores.of(parts[0]);
        Path place =
            parts.length == 2
                ? Path.of(parts[1])
                : data.resolve("stores").resolve(Stores.directory(parts[0]));
        if (!Files.exists(place)) {
          build(store, argument, place);
        }
        if (pages != null) {
          pages.copy(place, place);
        }
        add(argument, place, store.width(), store.open(place, store.readings().get(0)));
      }
    } catch (UnsupportedOperationException e) {
      PROGRESS.println(argument + " is left out: " + e.getMessage());
    }
  }

  private void add(String name, Path place, int width, ComparedStore.Reader reader)
      throws IOException {
    contenders.add(
        new Contender(name, place, width, reader, reader.forAnotherThread(), LapLoops.copy()));
  }

  /** Builds a store under another name, which it has only until it is complete. */
  private void build(ComparedStore store, String name, Path place) throws IOException {
    PROGRESS.println("building " + name + " in " + place);
    Path part = Path.of(place + ".part");
    CompareStores.delete(part);
    Files.createDirectories(part);
    try {
      store.build(DataSet.numbered(data, records), part);
      Files.move(part, place);
    } finally {
      CompareStores.delete(part);
    }
  }

  /** Says how much of a store is in memory; for other stores than bsdb, how much is mapped. */
  private static String memory(Contender contender) throws IOException {
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
    return String.format(
        Locale.ROOT,
        "%,d of %,d bytes in memory are in huge pages: %s",
        huge,
        resident,
        contender.name);
  }

  private static long kibibytes(String line) {
    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
  }

  /** A way to look up keys. */
  private enum Way {
    GET,
    READ,
    BATCH,
    READ_BATCH,
    RANGES,
    KEYS
  }

  /** A kind of lap: which keys are looked up, and how. */
  enum Kind {
    HOT("the same keys, get", Way.GET, 1),
    HOT_READ("the same keys, in place", Way.READ, 1),
    PRESENT("single, present", Way.GET, 1),
    READ("in place, present", Way.READ, 1),
    HALF("single, half absent", Way.GET, 1),
    BATCH("batches of 64", Way.BATCH, 64),
    LARGE_BATCH("batches of 256", Way.BATCH, 256),
    READ_BATCH("batches of 256, in place", Way.READ_BATCH, 256),
    HALF_BATCH("batches, half absent", Way.BATCH, 256),
    TWO_THREADS("two threads, present", Way.GET, 1),
    RANGES("ranges of 100", Way.RANGES, 100),
    KEYS("keys of ranges of 100", Way.KEYS, 100);

    /** The kinds that only {@link Duel} measures. */
    static final EnumSet<Kind> OF_DUELS = EnumSet.of(HOT, HOT_READ, READ, READ_BATCH, HALF_BATCH);

    private final String title;
    private final Way way;
    private final int length;

    Kind(String title, Way way, int length) {
      this.title = title;
      this.way = way;
      this.length = length;
    }

    String title() {
      return title;
    }

    /** Whether a block of keys is looked up over and over. */
    boolean isHot() {
      return this == HOT || this == HOT_READ;
    }

    private boolean isHalfAbsent() {
      return this == HALF || this == HALF_BATCH;
    }

    /** The kind to compare with in another store: this one, or else single gets. */
    Kind counterpart(Contender other) {
      return suits(other) ? this : isHot() ? HOT : isHalfAbsent() ? HALF : PRESENT;
    }

    boolean suits(Contender contender) {
      return switch (way) {
        case GET -> true;
        case READ -> contender.reader.hasReads();
        case BATCH, READ_BATCH -> contender.reader.hasBatches();
        case RANGES, KEYS -> contender.reader.hasRanges();
      };
    }
  }

  /** Returns the nanoseconds per key of each kind, store and round. */
  Map<Kind, double[][]> run(Set<Kind> kinds, int rounds) throws Exception {
    int count = contenders.size();
    Map<Kind, double[][]> nanos = new EnumMap<>(Kind.class);
    for (Kind kind : kinds) {
      nanos.put(kind, new double[count][rounds]);
    }
    int from = 0;
    for (int round = -WARMUP; round < rounds; round++) {
      for (Kind kind : kinds) {
        for (int i = 0; i < count; i++) {
          int turn = Math.floorMod(round + i, count);
          if (!kind.suits(contenders.get(turn))) {
            continue;
          }
          double lap = lap(contenders.get(turn), kind, from); // the same keys for all
          if (round >= 0) {
            nanos.get(kind)[turn][round] = lap;
          }
        }
        from = (from + 2 * LAP) % QUERIES;
      }
    }
    return nanos;
  }

  private void print(Map<Kind, double[][]> nanos) {
    nanos.forEach(
        (kind, laps) -> {
          Kind baseline = kind.counterpart(contenders.get(0));
          for (int i = 0; i < laps.length; i++) {
            if (kind.suits(contenders.get(i))) {
              Spread lap = Spread.of(laps[i]);
              Spread ratio = Spread.ofRates(laps[i], nanos.get(baseline)[0]);
              System.out.printf(
                  Locale.ROOT,
                  "%-20s %6.0f ns (%5.0f to %5.0f)  %.2f times the first (%.2f to %.2f)  %s%n",
                  kind.title,
                  lap.median(),
                  lap.low(),
                  lap.high(),
                  ratio.median(),
                  ratio.low(),
                  ratio.high(),
                  contenders.get(i).name);
            }
          }
        });
  }

  private double lap(Contender contender, Kind kind, int from) throws Exception {
    if (kind != Kind.TWO_THREADS) {
      return queries.measure(contender, contender.reader, kind, from);
    }
    CyclicBarrier start = new CyclicBarrier(2);
    Future<Double> one =
        twoThreads.submit(
            () -> {
              start.await();
              return queries.measure(contender, contender.reader, kind, from);
            });
    Future<Double> other =
        twoThreads.submit(
            () -> {
              start.await();
              return others.measure(contender, contender.other, kind, from + LAP);
            });
    return (one.get() + other.get()) / 2;
  }

  /** The block of keys of one thread. */
  private final class Queries {
    private final byte[][] keys = new byte[BLOCK][DataSet.KEY];
    private final byte[][] values = new byte[BLOCK][];

    /** Looks up a lap's keys, checks the answers and returns this thread's CPU time per key. */
    double measure(Contender contender, ComparedStore.Reader reader, Kind kind, int from)
        throws IOException {
      boolean halfAbsent = kind.isHalfAbsent();
      long expected = fill(contender, from, halfAbsent);
      if (kind.way == Way.RANGES || kind.way == Way.KEYS) {
        return measureRanges(contender, from, kind.length, kind.way == Way.RANGES);
      }
      long nanos = 0;
      for (int block = 0; block < BLOCKS; block++) {
        if (block > 0 && !kind.isHot()) {
          expected = fill(contender, from + block * BLOCK, halfAbsent);
        }
        long began = THREADS.getCurrentThreadCpuTime();
        long sum =
            switch (kind.way) {
              case READ -> contender.loops.reads(reader, keys);
              case BATCH -> contender.loops.batches(reader, keys, values, kind.length);
              case READ_BATCH -> contender.loops.readBatches(reader, keys, kind.length);
              default -> contender.loops.gets(reader, keys);
            };
        nanos += THREADS.getCurrentThreadCpuTime() - began;
        if (sum != expected && (contender.isExact() || !halfAbsent)) {
          throw new IllegalStateException("wrong answers: " + contender.name);
        }
      }
      return (double) nanos / LAP;
    }

    /** Writes a block of keys, and returns the sum of the answers that they have. */
    private long fill(Contender contender, int from, boolean halfAbsent) {
      long expected = 0;
      for (int i = 0; i < BLOCK; i++) {
        int number = order[(from + i) % QUERIES];
        boolean absent = halfAbsent && (number & 1) == 1;
        DataSet.writeKey(absent ? records + number : number, keys[i]);
        expected += ValueSum.of(contender.answer(absent ? -1 : number));
      }
      return expected;
    }

    /**
     * Reads a range from each of some of the keys on, compares the answers with those of the other
     * contenders and returns this thread's CPU time per record.
     */
    private double measureRanges(Contender contender, int from, int length, boolean withValues)
        throws IOException {
      byte[][][] ranges = new byte[LAP / length][length][];
      byte[][][] values = new byte[LAP / length][length][];
      long records = 0;
      long began = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < ranges.length; i++) {
        records += contender.reader.range(keys[i], ranges[i], withValues ? values[i] : null);
      }
      double nanos = (double) (THREADS.getCurrentThreadCpuTime() - began) / records;
      int sum = 31 * Arrays.deepHashCode(ranges) + Arrays.deepHashCode(values);
      List<Object> asked = List.of(from, length, withValues);
      Integer known = rangeSums.putIfAbsent(asked, sum);
      if (known != null && known != sum) {
        throw new IllegalStateException("other ranges than the first store: " + contender.name);
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
    for (Path copy : copies) {
      CompareStores.delete(copy);
    }
  }
}
