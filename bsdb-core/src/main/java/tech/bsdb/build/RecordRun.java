package tech.bsdb.build;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.hash.Signature;

/**
 * Spilled records in memory, which are sorted there by their keys. Records with the same key stay
 * in the order in which they were added. Not thread-safe.
 */
final class RecordRun {
  private final KeyRun keys;
  private byte[] bytes;
  private int[] starts;

  /** Records in the order of their keys, until they are replaced by others. */
  static final class Sorted {
    private byte[] bytes = new byte[0];
    private long[] signatures = new long[0];
    private int count;

    /** The entries of the records, one after the other. */
    byte[] bytes() {
      return bytes;
    }

    /** The first half of the signature of a record. */
    long high(int record) {
      return signatures[2 * record];
    }

    /** The second half of the signature of a record. */
    long low(int record) {
      return signatures[2 * record + 1];
    }

    /** The number of records. */
    int count() {
      return count;
    }
  }

  /**
   * Creates an empty run.
   *
   * @param records the number of records to expect
   * @param entryBytes bytes of their entries
   */
  RecordRun(long records, long entryBytes) {
    this.keys = new KeyRun((int) records, entryBytes / 2);
    this.bytes = new byte[(int) entryBytes];
    this.starts = new int[(int) records + 1];
  }

  /** Memory of a run and of what becomes of it, about. */
  static long memory(long records, long entryBytes) {
    return 3 * entryBytes + records * (KeyRun.OVERHEAD + Integer.BYTES + 2L * Long.BYTES);
  }

  /** Adds the records of a partition. */
  void read(RecordSpill spill, int partition) throws IOException {
    spill.read(
        partition,
        (number, from, at, keyAt, keyLength, length) -> add(from, at, keyAt, keyLength, length));
  }

  private void add(byte[] from, int at, int keyAt, int keyLength, int length) {
    int number = keys.count();
    int start = starts[number];
    if (bytes.length - start < length) {
      bytes = Arrays.copyOf(bytes, Math.max(start + length, start + start / 2));
    }
    if (number + 1 == starts.length) {
      starts = Arrays.copyOf(starts, 2 * starts.length);
    }
    System.arraycopy(from, at, bytes, start, length);
    starts[number + 1] = start + length;
    keys.add(from, keyAt, keyAt + keyLength);
  }

  /** Sorts the records by their keys. */
  void sort() {
    keys.sort();
  }

  /** The least key of more than one of the sorted records, or null if there is none. */
  byte @Nullable [] repeatedKey() {
    byte[] in = keys.bytes();
    for (int i = 1; i < keys.count(); i++) {
      if (Arrays.equals(in, keys.start(i - 1), keys.end(i - 1), in, keys.start(i), keys.end(i))) {
        return Arrays.copyOfRange(in, keys.start(i), keys.end(i));
      }
    }
    return null;
  }

  /** Moves the sorted records. */
  void moveSorted(long seed, Sorted to) {
    gather(to);
    sign(seed, to);
    to.count = keys.count();
    keys.clear();
  }

  private void gather(Sorted to) {
    int count = keys.count();
    if (to.bytes.length < starts[count]) {
      to.bytes = new byte[starts[count] + starts[count] / 8];
    }
    byte[] target = to.bytes;
    int used = 0;
    for (int i = 0; i < count; i++) {
      int number = keys.number(i);
      int start = starts[number];
      int length = starts[number + 1] - start;
      System.arraycopy(bytes, start, target, used, length);
      used += length;
    }
  }

  private void sign(long seed, Sorted to) {
    int count = keys.count();
    if (to.signatures.length < 2 * count) {
      to.signatures = new long[2 * count + count / 4];
    }
    long[] signatures = to.signatures;
    byte[] from = keys.bytes();
    Signature signature = new Signature();
    for (int i = 0; i < count; i++) {
      int start = keys.start(i);
      signature.compute(from, start, keys.end(i) - start, seed);
      signatures[2 * i] = signature.high;
      signatures[2 * i + 1] = signature.low;
    }
  }
}
