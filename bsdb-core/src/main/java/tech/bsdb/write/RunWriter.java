package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.Turns;

/**
 * Sorts partitions of spilled records by their keys, on several threads. Each partition is written
 * by the thread that sorted it, in turns: first its records, then their signatures, addresses and
 * keys, while the records of the next one are written. Thread-safe.
 */
final class RunWriter implements AutoCloseable {
  private final RecordSpill spill;
  private final RecordWriter to;

  /** The receiver if it can take records and then their addresses; otherwise null. */
  private final @Nullable PlainWriter plain;

  private final boolean rejects;
  private final SignatureFunction function;
  private final Runnable checkRunning;
  private final Queue<RecordRun> free = new ConcurrentLinkedQueue<>();
  private final Turns records = new Turns();
  private final Turns places = new Turns();

  /** The view of the thread whose turn it is to write records. */
  private final SpilledRecord record;

  /** The view of the thread whose turn it is to pass on where they are. */
  private final SpilledRecord placed;

  /**
   * Creates a writer of partitions.
   *
   * @param to receives the records in order
   * @param rejects whether two records with the same key are an error
   * @param function gives the signatures
   * @param checkRunning is called after long values; throws an exception to end the build
   */
  RunWriter(
      RecordSpill spill,
      RecordWriter to,
      boolean rejects,
      SignatureFunction function,
      Runnable checkRunning) {
    this.spill = spill;
    this.to = to;
    this.plain = to instanceof PlainWriter writer ? writer : null;
    this.rejects = rejects;
    this.function = function;
    this.checkRunning = checkRunning;
    this.record = new SpilledRecord(spill);
    this.placed = new SpilledRecord(spill);
  }

  /**
   * Sorts a partition, waits for its turn, writes and drops it.
   *
   * @param turn how many partitions are written before; threads begin with them in this order
   * @return the number of its records
   */
  int write(int partition, int turn) throws IOException {
    boolean written = false;
    try {
      RecordRun last = free.poll();
      RecordRun run =
          last == null ? new RecordRun(spill.count(partition), spill.bytes(partition)) : last;
      run.read(spill, partition);
      byte[] repeated = run.sort(function);
      if (rejects && repeated != null) {
        throw duplicate(spill, partition, repeated);
      }
      records.await(turn);
      writeRecords(run);
      spill.drop(partition);
      records.pass();
      places.await(turn);
      passOnPlaces(run);
      places.pass();
      written = true;
      free.add(run);
      return run.count();
    } finally {
      if (!written) {
        records.end(turn);
        places.end(turn);
      }
    }
  }

  /** Frees the memory of all runs; none may be in use. */
  void freeRuns() {
    free.clear();
  }

  /** Ends all waits for a turn; what is not written then will not be. */
  @Override
  public void close() {
    records.close();
    places.close();
  }

  private void writeRecords(RecordRun run) throws IOException {
    for (int i = 0; i < run.count(); i++) {
      FramedRecord framed = run.sorted(i, record);
      if (plain == null) {
        to.add(framed);
      } else {
        run.setAddress(i, plain.place(framed));
      }
      if (isLong(framed)) {
        checkRunning.run();
      }
    }
  }

  private void passOnPlaces(RecordRun run) throws IOException {
    if (plain != null) {
      for (int i = 0; i < run.count(); i++) {
        plain.placed(run.sortedKey(i, placed), run.address(i));
      }
    }
  }

  /** Whether writing a record takes so long that a cancelled build should notice. */
  static boolean isLong(FramedRecord record) {
    return record.valueLength > RecordSpill.LONG_VALUE;
  }

  /** The error for a key of which a partition has several records: names the first two. */
  static DuplicateKeyException duplicate(RecordSpill spill, int partition, byte[] key)
      throws IOException {
    List<Long> numbers = new ArrayList<>();
    spill.read(
        partition,
        (number, bytes, from, keyFrom, keyLength, length) -> {
          if (numbers.size() < 2
              && Arrays.equals(key, 0, key.length, bytes, keyFrom, keyFrom + keyLength)) {
            numbers.add(number);
          }
        });
    return new DuplicateKeyException(key, numbers.get(0), numbers.get(1));
  }
}
