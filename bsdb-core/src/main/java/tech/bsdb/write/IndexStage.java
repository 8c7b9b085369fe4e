package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
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
 * pass are a contiguous range of the index. Passes run on all threads and are written in order, so
 * files are written sequentially, the data files are never read again, and the output depends
 * neither on the memory nor on the number of threads.
 */
public final class IndexStage {
  /** Memory that a pass needs per entry, in bytes, in addition to the entry itself. */
  private static final int WORKING_BYTES = 64;

  private final SignatureSpill spill;
  private final HashConstruction hash;
  private final int threads;
  private final @Nullable LongBinaryOperator kept;
  private final BooleanSupplier cancelled;
  private final List<Pass> passes = new ArrayList<>();
  private final int concurrent;
  private final Queue<PassEntries> freeEntries = new ConcurrentLinkedQueue<>();
  private final Queue<Slots> freeSlots = new ConcurrentLinkedQueue<>();

  /**
   * A range of buckets in a range of partitions, and the number of its distinct entries once
   * counted.
   */
  private static final class Pass {
    final int fromPartition;
    final int toPartition;
    final long fromBucket;
    final long toBucket;
    long distinct = -1;

    Pass(int fromPartition, int toPartition, long fromBucket, long toBucket) {
      this.fromPartition = fromPartition;
      this.toPartition = toPartition;
      this.fromBucket = fromBucket;
      this.toBucket = toBucket;
    }
  }

  /** The result of a pass: buckets in order, and index entries in slot order. */
  private record Solved(List<HashConstruction.Solution> buckets, Slots slots) {}

  /**
   * Plans the passes.
   *
   * @param spill all signatures; the first 8 bytes of a payload are an address
   * @param hash the construction of the function for these signatures and their partitions
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   * @param threads the number of threads
   * @param kept chooses which of two addresses with the same signature to keep, or null if
   *     duplicates are an error
   * @param cancelled polled; true ends the stage with a {@link CancellationException}
   */
  public IndexStage(
      SignatureSpill spill,
      HashConstruction hash,
      long memoryBytes,
      int threads,
      @Nullable LongBinaryOperator kept,
      BooleanSupplier cancelled) {
    this.spill = spill;
    this.hash = hash;
    this.threads = threads;
    this.kept = kept;
    this.cancelled = cancelled;
    long buckets = hash.buckets();
    long largest = 1;
    if (partitionsPerBucket(buckets) > 0) {
      int perBucket = partitionsPerBucket(buckets);
      for (int bucket = 0; bucket < buckets; bucket++) {
        Pass pass = new Pass(bucket * perBucket, (bucket + 1) * perBucket, bucket, bucket + 1);
        passes.add(pass);
        long count = 0;
        for (int i = pass.fromPartition; i < pass.toPartition; i++) {
          count += spill.count(i);
        }
        if (kept == null) {
          pass.distinct = count;
        }
        largest = Math.max(largest, count);
      }
    } else if (buckets < SignatureSpill.PARTITIONS) {
      passes.add(new Pass(0, SignatureSpill.PARTITIONS, 0, buckets));
      largest = spill.total();
    } else {
      long perPartition = buckets / SignatureSpill.PARTITIONS;
      for (int partition = 0; partition < SignatureSpill.PARTITIONS; partition++) {
        long bytes = spill.count(partition) * (WORKING_BYTES + 2L * spill.entryBytes());
        long parts = Math.max(1, Math.min(perPartition, (bytes + memoryBytes - 1) / memoryBytes));
        for (long part = 0; part < parts; part++) {
          long from = partition * perPartition + perPartition * part / parts;
          long to = partition * perPartition + perPartition * (part + 1) / parts;
          Pass pass = new Pass(partition, partition + 1, from, to);
          passes.add(pass);
          if (parts == 1 && kept == null) {
            pass.distinct = spill.count(partition);
          }
        }
        largest = Math.max(largest, spill.count(partition) / parts);
      }
    }
    if (passes.size() == 1 && kept == null) {
      passes.get(0).distinct = spill.total();
    }
    long passBytes = largest * (WORKING_BYTES + 2L * spill.entryBytes());
    this.concurrent =
        (int) Math.max(1, Math.min(threads + 1L, memoryBytes / Math.max(1, passBytes)));
  }

  /** The number of partitions of a bucket, or 0 if buckets do not consist of whole partitions. */
  private static int partitionsPerBucket(long buckets) {
    return buckets < SignatureSpill.PARTITIONS && Long.bitCount(buckets) == 1
        ? (int) (SignatureSpill.PARTITIONS / buckets)
        : 0;
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
    long each = WORKING_BYTES + 2 * entryBytes;
    long pass;
    if (partitionsPerBucket(buckets) > 0) {
      pass = Math.max(1, (records + buckets - 1) / buckets * each);
    } else if (buckets < SignatureSpill.PARTITIONS) {
      return records * each;
    } else {
      long partition = (records + SignatureSpill.PARTITIONS - 1) / SignatureSpill.PARTITIONS * each;
      long parts = Math.max(1, (partition + memoryBytes - 1) / memoryBytes);
      pass = Math.max(1, partition / parts);
    }
    return pass * Math.max(1, Math.min(Math.min(threads + 1L, buckets), memoryBytes / pass));
  }

  /** Whether {@link #count} has work to do. */
  public boolean mustCount() {
    return passes.stream().anyMatch(pass -> pass.distinct < 0);
  }

  /**
   * Counts the distinct signatures, which determines the slots of every pass, and returns their
   * number.
   */
  public long count(LongConsumer progress)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    List<Callable<Pass>> tasks = new ArrayList<>();
    for (Pass pass : passes) {
      if (pass.distinct < 0) {
        tasks.add(
            () -> {
              PassEntries entries = load(pass);
              pass.distinct = kept == null ? entries.size() : entries.distinct(kept);
              freeEntries.add(entries);
              return pass;
            });
      }
    }
    inOrder(tasks, pass -> progress.accept(pass.distinct));
    return passes.stream().mapToLong(pass -> pass.distinct).sum();
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
    List<Callable<Solved>> tasks = new ArrayList<>();
    long first = 0;
    for (Pass pass : passes) {
      long start = first;
      tasks.add(() -> solve(pass, start, entryBytes));
      first += pass.distinct;
    }
    inOrder(
        tasks,
        solved -> {
          for (HashConstruction.Solution bucket : solved.buckets) {
            hashWriter.add(bucket);
          }
          slots.add(solved.slots.entries, solved.slots.done);
          progress.accept(solved.slots.done);
          freeSlots.add(solved.slots);
        });
    hashWriter.finish();
    slots.finish();
  }

  private Solved solve(Pass pass, long first, int entryBytes)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    PassEntries entries = load(pass);
    int count = entries.distinct(kept);
    if (count != pass.distinct) {
      throw new IllegalStateException("a pass of " + count + " keys, not " + pass.distinct);
    }
    Slots slots = Objects.requireNonNullElseGet(freeSlots.poll(), Slots::new);
    slots.begin(first, count, entryBytes);
    List<HashConstruction.Solution> solutions = new ArrayList<>();
    for (int bucket = 0; bucket < entries.buckets(); bucket++) {
      int from = entries.start(bucket);
      HashConstruction.Solution solution =
          hash.solve(entries.high(), entries.low(), from, entries.size(bucket), first + slots.done);
      slots.fill(entries, from, solution.slots());
      solutions.add(solution);
    }
    if (slots.done != count) {
      throw new IllegalStateException(slots.done + " of " + count + " slots filled");
    }
    freeEntries.add(entries);
    return new Solved(solutions, slots);
  }

  private PassEntries load(Pass pass) throws IOException {
    PassEntries free = freeEntries.poll();
    PassEntries entries = free != null ? free : new PassEntries(spill.entryBytes());
    entries.load(spill, pass.fromPartition, pass.toPartition, hash, pass.fromBucket, pass.toBucket);
    return entries;
  }

  /** The slots of a pass, filled bucket by bucket. */
  private static final class Slots {
    byte[] entries = new byte[0];
    private boolean[] filled = new boolean[0];
    private long first;
    private int entryBytes;
    int done;

    /** Begins a pass of so many slots. */
    void begin(long first, int count, int entryBytes) {
      this.first = first;
      this.entryBytes = entryBytes;
      this.done = 0;
      int bytes = Math.multiplyExact(count, entryBytes);
      if (entries.length < bytes || filled.length < count) {
        entries = new byte[bytes];
        filled = new boolean[count];
      } else {
        Arrays.fill(filled, 0, count, false);
      }
    }

    /**
     * Fills the slots of the next bucket.
     *
     * @param from the entries of the pass
     * @param start the bucket's first entry
     * @param given the slot of each entry, relative to the bucket's first
     */
    void fill(PassEntries from, int start, int[] given) {
      for (int i = 0; i < given.length; i++) {
        int slot = done + given[i];
        if (filled[slot]) {
          throw new IllegalStateException("slot " + (first + slot) + " given twice");
        }
        filled[slot] = true;
        from.copyTail(start + i, entries, slot * entryBytes, entryBytes);
      }
      done += given.length;
    }
  }

  /**
   * Runs tasks on all threads and passes their results to the taker in the order of the tasks. At
   * most {@link #concurrent} tasks or results are in memory. No task is running when this method
   * returns, so the spill can be deleted.
   */
  private <T> void inOrder(List<Callable<T>> tasks, OrderedTasks.Taker<T> taker)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    OrderedTasks.Taker<T> unlessCancelled =
        result -> {
          checkNotCancelled();
          taker.take(result);
        };
    try (OrderedTasks<T> running =
        new OrderedTasks<>(
            "bsdb-index", Math.min(threads, concurrent), concurrent, unlessCancelled)) {
      for (Callable<T> task : tasks) {
        checkNotCancelled();
        running.submit(task);
      }
      running.drain();
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

  private void checkNotCancelled() {
    if (cancelled.getAsBoolean()) {
      throw new CancellationException("the build was cancelled");
    }
  }
}
