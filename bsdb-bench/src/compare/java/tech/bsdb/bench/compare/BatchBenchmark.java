package tech.bsdb.bench.compare;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.OpenOptions;

/** Batch lookups compared with single ones, on mapped files: nanoseconds per key. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx1g")
public class BatchBenchmark {
  private static final int QUERIES = 1 << 20;
  private static final int KEYS = 1024;

  /** The number of records. */
  @Param("10000000")
  public int records;

  /** A layout. */
  @Param({"blocked", "packed", "packed_compressed"})
  public String layout = "";

  /** Keys per batch; 1 means single gets. */
  @Param({"1", "64", "256", "1024"})
  public int batch;

  private final byte[][] keys = new byte[QUERIES][];
  private Database database = null;
  private LookupBatch together = null;
  private int next;

  /** Opens the database. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    database =
        Database.open(
            NumberedDatabase.of(records, layout),
            OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED));
    together = database.batch();
    int[] order = DataSet.shuffled(records);
    SplittableRandom random = new SplittableRandom(records);
    for (int i = 0; i < QUERIES; i++) {
      keys[i] = DataSet.key(order[random.nextInt(records)]);
    }
  }

  /** Closes the database. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    database.close();
  }

  /** Looks up as many keys as the largest batch has, in batches or one by one. */
  @Benchmark
  @OperationsPerInvocation(KEYS)
  public long get() throws IOException {
    next = next + KEYS & QUERIES - 1;
    long bytes = 0;
    if (batch == 1) {
      for (int i = 0; i < KEYS; i++) {
        byte[] value = database.get(keys[next + i]);
        bytes += value == null ? 0 : value.length;
      }
      return bytes;
    }
    for (int from = 0; from < KEYS; from += batch) {
      together.clear();
      for (int i = 0; i < batch; i++) {
        together.add(keys[next + from + i]);
      }
      together.get();
      for (int i = 0; i < batch; i++) {
        bytes += together.length(i);
      }
    }
    return bytes;
  }
}
