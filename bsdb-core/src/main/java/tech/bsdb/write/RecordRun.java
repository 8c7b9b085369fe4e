package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * Spilled records in memory, which are sorted there by their keys. Records with the same key stay
 * in the order in which they were added. Not thread-safe.
 */
final class RecordRun implements KeySorter.Run {
  private final RecordSpill spill;
  private final RecordWriter to;

  /** The receiver if it can take records and then their addresses; otherwise null. */
  private final @Nullable PlainWriter plain;

  private final boolean rejects;
  private final SignatureFunction function;
  private final Runnable checkRunning;
  private final SpilledRecord view;
  private final KeyRun keys = new KeyRun(0, 0);
  private byte[] bytes = new byte[0];
  private int used;

  /** Where each record starts. */
  private int[] starts = new int[0];

  /** The signatures of the sorted records, in two halves each. */
  private long[] signatures = new long[0];

  /** Bytes that the key of each sorted record has in common with that before it. */
  private char[] shared = new char[0];

  /** The addresses of the sorted records. */
  private long[] addresses = new long[0];

  /**
   * Creates an empty run.
   *
   * @param to receives the records
   * @param rejects whether two records with the same key are an error
   * @param function gives the signatures
   * @param checkRunning is called after long values; throws an exception to end the build
   */
  RecordRun(
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
    this.view = new SpilledRecord(spill);
  }

  /** Memory of a run, about. */
  static long memory(long records, long entryBytes) {
    return 2 * entryBytes
        + records * (KeyRun.OVERHEAD + Integer.BYTES + 3L * Long.BYTES + Character.BYTES);
  }

  @Override
  public void sort(int partition) throws IOException {
    read(partition);
    keys.sort();
    sign();
    shared = keys.sharedWithLast(shared);
    byte[] repeated = rejects ? repeatedKey() : null;
    if (repeated != null) {
      throw duplicate(spill, partition, repeated);
    }
  }

  @Override
  public void reserve(int partition) {
    int records = Math.toIntExact(spill.count(partition));
    int end = Math.toIntExact(spill.bytes(partition));
    keys.clear(records, end / 2);
    if (starts.length < records) {
      starts = new int[records];
      signatures = new long[2 * records];
      addresses = new long[records];
    }
    if (bytes.length < end) {
      bytes = new byte[0]; // so that only one of both is in memory
      bytes = new byte[end];
    }
  }

  private void read(int partition) throws IOException {
    reserve(partition);
    used = 0;
    spill.read(
        partition,
        (number, from, at, keyAt, keyLength, length) -> {
          System.arraycopy(from, at, bytes, used, length);
          starts[keys.count()] = used;
          used += length;
          keys.add(from, keyAt, keyAt + keyLength);
        });
  }

  private void sign() {
    byte[] from = keys.bytes();
    Signature signature = new Signature();
    for (int i = 0; i < keys.count(); i++) {
      int start = keys.start(i);
      function.sign(from, start, keys.end(i) - start, signature);
      signatures[2 * i] = signature.high;
      signatures[2 * i + 1] = signature.low;
    }
  }

  private byte @Nullable [] repeatedKey() {
    for (int i = 1; i < keys.count(); i++) {
      int length = keys.end(i) - keys.start(i);
      if (shared[i] == length && length == keys.end(i - 1) - keys.start(i - 1)) {
        return Arrays.copyOfRange(keys.bytes(), keys.start(i), keys.end(i));
      }
    }
    return null;
  }

  @Override
  public int count() {
    return keys.count();
  }

  @Override
  public void write() throws IOException {
    for (int i = 0; i < keys.count(); i++) {
      FramedRecord record =
          compared(i, view.of(bytes, start(i), signatures[2 * i], signatures[2 * i + 1]));
      if (plain == null) {
        to.add(record);
      } else {
        addresses[i] = plain.place(record);
      }
      if (isLong(record)) {
        record.value = bytes; // as each thread has a run, it must not keep the value
        checkRunning.run();
      }
    }
  }

  /** Passes keys and addresses on, without the values: a long one need not be read. */
  @Override
  public void writePlaces() throws IOException {
    if (plain == null) {
      return;
    }
    for (int i = 0; i < keys.count(); i++) {
      FramedRecord key =
          compared(i, view.keyOf(bytes, start(i), signatures[2 * i], signatures[2 * i + 1]));
      plain.placed(key, addresses[i]);
    }
  }

  private int start(int position) {
    return starts[keys.number(position)];
  }

  private FramedRecord compared(int position, FramedRecord record) {
    if (position > 0) {
      record.sharedWithLast = shared[position];
    }
    return record;
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
