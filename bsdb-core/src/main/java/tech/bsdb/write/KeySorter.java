package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Turns;

/**
 * Writes entries in the order of their keys. Several threads sort a partition each, and each
 * partition is written by the thread that sorted it, in turns: first its entries, then their places
 * while the entries of the next one are written. A partition that is too large is divided again.
 * Neither the memory nor the number of threads affects what is written. Not thread-safe.
 */
final class KeySorter<D extends KeySorter.Divided<D>> {
  private final SortLimits limits;
  private final Function<D, Run> runs;
  private final AssemblyProgress progress;
  private long done;

  /**
   * Creates a sorter.
   *
   * @param runs creates empty runs for partitions
   */
  KeySorter(SortLimits limits, Function<D, Run> runs, AssemblyProgress progress) {
    this.limits = limits;
    this.runs = runs;
    this.progress = progress;
  }

  /** Entries in partitions, whose keys are all less than those of the next. */
  interface Divided<D extends Divided<D>> extends Closeable {
    /** The number of partitions. */
    int partitions();

    /** Memory that it takes to sort a partition. */
    long memory(int partition);

    /**
     * Divides a partition that is too large to be sorted, or writes it, if it needs no sorting.
     *
     * @param sorter is told what is written
     * @return its entries, to be {@linkplain #finish finished}, or null if they were written
     */
    @Nullable D divide(int partition, KeySorter<D> sorter) throws IOException;

    /** Ends the division: no entry may be added afterwards. */
    void finish() throws IOException;

    /** Deletes the entries of a partition, which were written or divided. */
    void drop(int partition) throws IOException;
  }

  /** The entries of a partition in memory. Used by one thread at a time. */
  interface Run {
    /** Reserves memory for the entries of a partition, and drops those before. */
    void reserve(int partition);

    /** Reads the entries of a partition, instead of those before, and sorts them. */
    void sort(int partition) throws IOException;

    /** Writes the entries, after those of all partitions before. */
    void write() throws IOException;

    /** Passes on where the entries were written, after those of all partitions before. */
    default void writePlaces() throws IOException {}

    /** The number of entries. */
    int count();
  }

  /**
   * Writes all entries.
   *
   * @param divided is finished
   * @throws java.util.concurrent.CancellationException if the build was cancelled
   */
  void write(D divided) throws IOException {
    try (OrderedTasks<Integer> tasks =
            new OrderedTasks<>(
                "bsdb-order", limits.threads(), 2 * limits.threads(), this::written);
        Writer writer = new Writer(divided)) {
      int number = 0;
      for (int i = 0; i < divided.partitions(); i++) {
        int partition = i;
        if (divided.memory(i) <= limits.runBytes()) {
          int turn = number++;
          tasks.submit(() -> writer.write(partition, turn));
          continue;
        }
        tasks.drain();
        writer.free.clear();
        D smaller = divided.divide(i, this);
        try (smaller) {
          divided.drop(i);
          if (smaller != null) {
            smaller.finish();
            write(smaller);
          }
        }
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
  }

  /** Reports entries that were written. Called by the thread that calls {@link #write}. */
  void written(int entries) {
    done += entries;
    checkNotCancelled();
    progress.progress(Stage.ORDER, done);
  }

  /** Throws if the build was cancelled. Thread-safe. */
  void checkNotCancelled() {
    progress.checkNotCancelled();
  }

  /** Writes partitions. Thread-safe. */
  private final class Writer implements AutoCloseable {
    private final D divided;

    /** The largest partition that is sorted, for which each run has memory from the start. */
    private int largest;

    private final Queue<Run> free = new ConcurrentLinkedQueue<>();
    private final Turns entries = new Turns();
    private final Turns places = new Turns();

    Writer(D divided) {
      this.divided = divided;
      for (int i = 1; i < divided.partitions(); i++) {
        long memory = divided.memory(i);
        if (memory <= limits.runBytes() && memory > divided.memory(largest)
            || divided.memory(largest) > limits.runBytes()) {
          largest = i;
        }
      }
    }

    /**
     * Sorts a partition, waits for its turn, writes and drops it.
     *
     * @param turn how many partitions are written before; threads begin with them in this order
     * @return the number of its entries
     */
    int write(int partition, int turn) throws IOException {
      boolean written = false;
      try {
        Run last = free.poll();
        Run run = last == null ? runs.apply(divided) : last;
        if (last == null) {
          run.reserve(largest);
        }
        run.sort(partition);
        entries.await(turn);
        run.write();
        divided.drop(partition);
        entries.pass();
        places.await(turn);
        run.writePlaces();
        places.pass();
        written = true;
        free.add(run);
        return run.count();
      } finally {
        if (!written) {
          entries.end(turn);
          places.end(turn);
        }
      }
    }

    /** Ends all waits for a turn; what is not written then will not be. */
    @Override
    public void close() {
      entries.close();
      places.close();
    }
  }
}
