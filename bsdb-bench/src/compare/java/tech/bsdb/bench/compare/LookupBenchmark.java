package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;

/** The whole lookup, {@link Database#get}, for every layout, engine and share of present keys. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx1g")
public class LookupBenchmark {
  private static final int QUERIES = 1 << 20;

  /** The number of records. */
  @Param("10000000")
  public int records;

  /** A layout, or approximate. */
  @Param({"blocked", "compact", "compressed", "packed", "packed_compressed", "approximate"})
  public String layout = "";

  /** The engine that reads pages. */
  @Param({"mapped", "buffered"})
  public String engine = "";

  /** The share of keys that are present. */
  @Param({"1.0", "0.5", "0.0"})
  public double hits;

  private final byte[][] keys = new byte[QUERIES][];
  private Database database = null;

  /** A thread's position in the keys. */
  @State(Scope.Thread)
  public static class Place {
    private int next = (int) Thread.currentThread().getId() * (QUERIES / 7);
  }

  /** Opens the database and looks up every key once. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    Path path = NumberedDatabase.of(records, layout);
    OpenOptions.Engine chosen = OpenOptions.Engine.valueOf(engine.toUpperCase(Locale.ROOT));
    database = Database.open(path, OpenOptions.defaults().withEngine(chosen));
    int[] order = DataSet.shuffled(records);
    SplittableRandom random = new SplittableRandom(records);
    for (int i = 0; i < QUERIES; i++) {
      boolean hit = random.nextDouble() < hits;
      keys[i] = DataSet.key(order[i % records] + (hit ? 0 : records));
      if (hit && database.get(keys[i]) == null) {
        throw new IllegalStateException("a key is absent");
      }
    }
  }

  /** Closes the database. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    database.close();
  }

  /** One lookup. */
  @Benchmark
  public byte @Nullable [] get(Place place) throws IOException {
    place.next = place.next + 1 & QUERIES - 1;
    return database.get(keys[place.next]);
  }
}
