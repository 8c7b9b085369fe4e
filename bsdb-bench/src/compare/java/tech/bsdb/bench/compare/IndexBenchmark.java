package tech.bsdb.bench.compare;

import java.io.IOException;
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

/**
 * The index stage of a build, on two threads: reads the signatures from the spill, sorts them,
 * solves the hash function, and writes it and the index. Nanoseconds per key.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 5)
@Fork(value = 1, jvmArgs = "-Xmx1g")
public class IndexBenchmark {
  private static final int KEYS = 10_000_000;

  /** The kind of the function. */
  @Param({"gov", "ptr"})
  public String hash = "";

  private HashedSignatures signatures = null;

  /** Spills the signatures. */
  @Setup(Level.Trial)
  public void spill() throws IOException {
    signatures = new HashedSignatures(KEYS);
  }

  /** Deletes the files. */
  @TearDown(Level.Trial)
  public void delete() throws IOException {
    signatures.close();
  }

  /** The whole stage. */
  @Benchmark
  @OperationsPerInvocation(KEYS)
  public void index() throws IOException {
    signatures.index(HashedSignatures.kind(hash));
  }
}
