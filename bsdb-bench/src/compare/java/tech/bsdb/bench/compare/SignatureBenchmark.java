package tech.bsdb.bench.compare;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** Signatures of random keys in the cache: nanoseconds per key. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SignatureBenchmark {
  private static final int KEYS = 1024;

  /** The algorithm. */
  @Param({"SPOOKY", "MUM"})
  public SignatureAlgorithm algorithm = SignatureAlgorithm.MUM;

  /** Bytes of the shortest and the longest key. */
  @Param({"1-1", "4-4", "8-8", "13-13", "16-16", "24-24", "32-32", "48-48", "64-64", "0-16", "0-64"})
  public String lengths = "";

  private final byte[][] keys = new byte[KEYS][];
  private final Signature signature = new Signature();
  private SignatureFunction function = SignatureFunction.of(algorithm, 0);
  private int next;
  private long last;

  /** Makes the keys. */
  @Setup
  public void make() {
    function = SignatureFunction.of(algorithm, 7);
    SplittableRandom random = new SplittableRandom(1);
    String[] ends = lengths.split("-", -1);
    for (int i = 0; i < KEYS; i++) {
      keys[i] = new byte[random.nextInt(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]) + 1)];
      random.nextBytes(keys[i]);
    }
  }

  private long sign(int number) {
    byte[] key = keys[number & KEYS - 1];
    function.sign(key, 0, key.length, signature);
    return signature.high ^ signature.low;
  }

  /** Single keys; the processor overlaps successive ones. */
  @Benchmark
  public long single() {
    return sign(next++);
  }

  /** Single keys, each of which waits for the signature of the one before. */
  @Benchmark
  public long dependent() {
    last = sign(next++ ^ (int) (last & 1));
    return last;
  }
}
