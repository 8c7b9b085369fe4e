package tech.bsdb.bench.compare;

import java.io.IOException;
import java.util.BitSet;
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
import org.openjdk.jmh.infra.Blackhole;
import tech.bsdb.hash.HashFunction;

/**
 * Queries of a mapped hash function alone, from signature to slot: nanoseconds per present key.
 * Keys come in random order.
 *
 * <p>Before it measures, a trial checks the function in full: all keys have different slots, and
 * the false positives are counted. It prints them and the size of the function.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx1g")
public class HashBenchmark {
  private static final int QUERIES = 1 << 20;
  private static final int BATCH = 256;

  /** The kind of the function. */
  @Param({"gov", "ptr"})
  public String hash = "";

  /** The number of keys. */
  @Param("10000000")
  public int keys;

  private final long[] high = new long[QUERIES];
  private final long[] low = new long[QUERIES];
  private final long[] highs = new long[BATCH];
  private final long[] lows = new long[BATCH];
  private final long[] slots = new long[BATCH];
  private final long[] scratch = new long[BATCH];
  private HashedSignatures signatures = null;
  private HashFunction function = null;
  private int next;
  private long last;

  /** Builds, opens and checks the function. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    signatures = new HashedSignatures(keys);
    HashedSignatures.Built built = signatures.build(HashedSignatures.kind(hash));
    function = built.open();
    System.out.printf(
        "%s: %,d keys, %.2f bits each with %d checksum bits; %.5f false positives%n",
        hash, keys, 8.0 * built.bytes() / keys, HashedSignatures.CHECKSUM_BITS, check());
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < QUERIES; i++) {
      int key = random.nextInt(keys);
      high[i] = HashedSignatures.high(key);
      low[i] = HashedSignatures.low(key);
    }
  }

  /** Checks the slots of all keys, and returns the share of as many absent keys that have one. */
  private double check() throws IOException {
    BitSet given = new BitSet(keys);
    long found = 0;
    for (int i = 0; i < keys; i++) {
      long slot = function.slot(HashedSignatures.high(i), HashedSignatures.low(i));
      if (slot < 0 || slot >= keys || given.get((int) slot)) {
        throw new IllegalStateException("key " + i + " has slot " + slot);
      }
      given.set((int) slot);
      long absent = (long) keys + i;
      long its = function.slot(HashedSignatures.high(absent), HashedSignatures.low(absent));
      found += its == HashFunction.ABSENT ? 0 : 1;
    }
    return (double) found / keys;
  }

  /** Closes the function and deletes its files. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    function.close();
    signatures.close();
  }

  private int step() {
    next = next + 1 & QUERIES - 1;
    return next;
  }

  /** Single queries; the processor overlaps successive ones. */
  @Benchmark
  public long single() throws IOException {
    int i = step();
    return function.slot(high[i], low[i]);
  }

  /** Single queries, each of which waits for the slot of the one before. */
  @Benchmark
  public long dependent() throws IOException {
    int i = step() ^ (int) (last & 1);
    last = function.slot(high[i], low[i]);
    return last;
  }

  /** Staged queries of 256 keys, as in a batch. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void batch(Blackhole blackhole) throws IOException {
    int from = next;
    next = next + BATCH & QUERIES - 1;
    System.arraycopy(high, from, highs, 0, BATCH);
    System.arraycopy(low, from, lows, 0, BATCH);
    function.touch(highs, scratch, 0, BATCH);
    function.candidates(highs, lows, slots, scratch, 0, BATCH);
    function.confirm(highs, lows, slots, 0, BATCH);
    blackhole.consume(slots);
  }
}
