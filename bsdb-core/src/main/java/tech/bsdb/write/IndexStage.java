package tech.bsdb.write;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.hash.BucketOverflowException;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashWriter;
import tech.bsdb.index.SlotWriter;
import tech.bsdb.io.OrderedTasks;

/**
 * Builds the hash function and the index from the signatures, in passes of bounded memory.
 *
 * <p>A pass covers a range of buckets: it reads their entries from the spill, sorts them, checks
 * them for duplicates, solves the buckets and arranges the entries in slot order. The slots of a
 * pass are a contiguous range of the index. {@link Passes} run on all threads and are written in
 * order, so files are written sequentially, the data files are never read again, and the output
 * depends neither on the memory nor on the number of threads.
 */
public final class IndexStage {
  /** Memory that a pass needs per entry, in bytes, in addition to the entry itself. */
  private static final int WORKING_BYTES = 64;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final SignatureSpill spill;
  private final HashConstruction hash;
  private final Passes<SolvedBuckets> passes;

  /** The number of distinct entries of each pass; -1 until it is counted. */
  private final long[] distinct;

  /**
   * Plans the passes.
   *
   * @param spill all signatures; the first 8 bytes of a payload are an address
   * @param hash the construction of the function for these signatures and their partitions
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   * @param threads the number of threads
   * @param keep which of several entries with the same signature to keep
   * @param cancelled polled; true ends the stage with a {@link CancellationException}
   */
  public IndexStage(
      SignatureSpill spill,
      HashConstruction hash,
      long memoryBytes,
      int threads,
      DuplicatePolicy keep,
      BooleanSupplier cancelled) {
    this.spill = spill;
    this.hash = hash;
    long each = WORKING_BYTES + 2L * spill.entryBytes();
    this.passes =
        new Passes<>(
            () -> new SolvedBuckets(keep),
            hash.buckets(),
            units(hash.buckets()),
            partition -> each * spill.count(partition),
            passBytes(hash.buckets(), memoryBytes),
            memoryBytes,
            threads,
            cancelled);
    this.distinct =
        passes.ranges().stream()
            .mapToLong(
                range -> keep == DuplicatePolicy.ERROR && range.parts() == 1 ? entries(range) : -1)
            .toArray();
  }

  private long entries(Passes.Range range) {
    long entries = 0;
    for (int i = range.fromPartition(); i < range.toPartition(); i++) {
      entries += spill.count(i);
    }
    return entries;
  }

  /** The number of ranges of buckets that consist of whole partitions. */
  private static int units(long buckets) {
    if (buckets >= SignatureSpill.PARTITIONS) {
      return SignatureSpill.PARTITIONS;
    }
    return Long.bitCount(buckets) == 1 ? (int) buckets : 1;
  }

  /**
   * The memory that a pass should take; where buckets end within partitions, one takes them all.
   */
  private static long passBytes(long buckets, long memoryBytes) {
    return units(buckets) == 1 ? Long.MAX_VALUE : memoryBytes;
  }

  /**
   * The memory of all passes.
   *
   * @param records the number of entries, with random signatures
   * @param buckets the number of buckets
   * @param entryBytes bytes of an entry in the spill
   * @param memoryBytes the memory limit for concurrent passes
   */
  static long passBytes(
      long records, long buckets, long entryBytes, long memoryBytes, int threads) {
    long need = records * (WORKING_BYTES + 2 * entryBytes);
    long passBytes = passBytes(buckets, memoryBytes);
    return Passes.bytes(need, units(buckets), passBytes, memoryBytes, threads);
  }

  /** Whether {@link #count} has work to do. */
  public boolean mustCount() {
    return LongStream.of(distinct).anyMatch(count -> count < 0);
  }

  /**
   * Counts the distinct signatures, which determines the slots of every pass, and returns their
   * number.
   */
  public long count(LongConsumer progress)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    List<Passes.Range> uncounted =
        passes.ranges().stream().filter(range -> distinct[range.number()] < 0).toList();
    run(
        uncounted,
        (pass, range) -> {
          pass.load(range);
          return pass.records();
        },
        (count, range) -> {
          distinct[range.number()] = count;
          progress.accept(count);
        });
    return LongStream.of(distinct).sum();
  }

  /**
   * Solves all buckets and writes the hash function and the index.
   *
   * @param hashWriter writes the function under construction
   * @param entryBytes width of an index entry, which is the end of a payload
   * @param progress receives the number of slots written by each pass
   */
  public void write(HashWriter hashWriter, SlotWriter slots, int entryBytes, LongConsumer progress)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    long[] first = new long[distinct.length + 1];
    for (int i = 0; i < distinct.length; i++) {
      first[i + 1] = first[i] + distinct[i];
    }
    run(
        passes.ranges(),
        (pass, range) -> {
          pass.load(range);
          pass.solve(first[range.number()], distinct[range.number()], entryBytes);
          return pass;
        },
        (pass, range) -> {
          for (HashConstruction.Solution bucket : pass.solutions) {
            hashWriter.add(bucket);
          }
          slots.add(pass.slots, pass.done);
          progress.accept(pass.done);
        });
    hashWriter.finish();
    slots.finish();
  }

  private <T> void run(
      List<Passes.Range> ranges, Passes.Work<SolvedBuckets, T> work, Passes.Taker<T> taker)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    try {
      passes.run("bsdb-index", ranges, work, taker);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof DuplicateSignatureException duplicate) {
        throw duplicate;
      }
      if (e.getCause() instanceof BucketOverflowException overflow) {
        throw overflow;
      }
      throw OrderedTasks.failure(e);
    }
  }

  /** The payloads of a range of buckets, then their solutions and the slots of the index. */
  private final class SolvedBuckets extends SignatureRun {
    final List<HashConstruction.Solution> solutions = new ArrayList<>();

    /** The entries of the index, in the order of the slots. */
    byte[] slots = new byte[0];

    /** The number of slots filled. */
    int done;

    private boolean[] filled = new boolean[0];
    private long[] high = new long[0];
    private long[] low = new long[0];

    SolvedBuckets(DuplicatePolicy keep) {
      super(keep);
    }

    /** Reads the entries of a range of buckets. */
    void load(Passes.Range range) throws IOException {
      int entryBytes = spill.entryBytes();
      int payloadBytes = entryBytes - 2 * Long.BYTES;
      long entries = entries(range);
      begin(hash.buckets(), range, entries, entries * payloadBytes);
      for (int i = range.fromPartition(); i < range.toPartition(); i++) {
        spill.read(
            i,
            (chunk, from, to) -> {
              for (int at = from; at < to; at += entryBytes) {
                long first = (long) LONGS.get(chunk, at);
                long second = (long) LONGS.get(chunk, at + Long.BYTES);
                add(first, second, chunk, at + 2 * Long.BYTES, payloadBytes);
              }
            });
      }
      sort();
    }

    /**
     * Solves the buckets.
     *
     * @param first the first slot
     * @param count the number of slots
     * @param width bytes of an index entry
     */
    void solve(long first, long count, int width)
        throws DuplicateSignatureException, BucketOverflowException {
      Refused refused = refused();
      if (refused != null) {
        throw new DuplicateSignatureException(
            (long) LONGS.get(refused.first(), 0), (long) LONGS.get(refused.second(), 0));
      }
      if (records() != count) {
        throw new IllegalStateException("a pass of " + records() + " keys, not " + count);
      }
      begin(records(), width);
      for (int bucket = 0; bucket < bins(); bucket++) {
        int from = start(bucket);
        int size = start(bucket + 1) - from;
        if (high.length < size) {
          high = new long[size];
          low = new long[size];
        }
        for (int i = 0; i < size; i++) {
          high[i] = high(from + i);
          low[i] = low(from + i);
        }
        HashConstruction.Solution solution = hash.solve(high, low, 0, size, first + done);
        fill(from, solution.slots(), first, width);
        solutions.add(solution);
      }
      if (done != count) {
        throw new IllegalStateException(done + " of " + count + " slots filled");
      }
    }

    private void begin(int count, int width) {
      solutions.clear();
      done = 0;
      int slotBytes = Math.multiplyExact(count, width);
      if (slots.length < slotBytes || filled.length < count) {
        slots = new byte[slotBytes];
        filled = new boolean[count];
      } else {
        Arrays.fill(filled, 0, count, false);
      }
    }

    /**
     * Fills the slots of the next bucket.
     *
     * @param from the position of its first entry
     * @param given the slot of each entry, relative to the bucket's first
     */
    private void fill(int from, int[] given, long first, int width) {
      byte[] payloads = bytes();
      for (int i = 0; i < given.length; i++) {
        int slot = done + given[i];
        if (filled[slot]) {
          throw new IllegalStateException("slot " + (first + slot) + " given twice");
        }
        filled[slot] = true;
        System.arraycopy(payloads, recordEnd(from + i) - width, slots, slot * width, width);
      }
      done += given.length;
    }
  }
}
