package tech.bsdb.write;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * Spilled records in memory, which are sorted there by their keys. Records with the same key stay
 * in the order in which they were added. Not thread-safe.
 */
final class RecordRun {
  private final KeyRun keys;
  private byte[] bytes = new byte[0];
  private int used;

  /** Where each record starts. */
  private int[] starts;

  /** The signatures of the sorted records, in two halves each. */
  private long[] signatures = new long[0];

  /** Bytes that the key of each sorted record has in common with that before it. */
  private char[] shared = new char[0];

  /** The addresses of the sorted records. */
  private long[] addresses = new long[0];

  /**
   * Creates an empty run.
   *
   * @param records the number of records to expect
   * @param entryBytes bytes of their entries
   */
  RecordRun(long records, long entryBytes) {
    this.keys = new KeyRun((int) records, entryBytes / 2);
    this.starts = new int[(int) records];
  }

  /** Memory of a run, about. */
  static long memory(long records, long entryBytes) {
    return 2 * entryBytes
        + records * (KeyRun.OVERHEAD + Integer.BYTES + 3L * Long.BYTES + Character.BYTES);
  }

  /** Reads the records of a partition, instead of those before. */
  void read(RecordSpill spill, int partition) throws IOException {
    keys.clear();
    int records = Math.toIntExact(spill.count(partition));
    if (starts.length < records) {
      starts = new int[records + records / 8];
    }
    int end = Math.toIntExact(spill.bytes(partition));
    if (bytes.length < end) {
      bytes = new byte[end + Math.min(end / 8, Integer.MAX_VALUE - 8 - end)];
    }
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

  /**
   * Sorts the records by their keys.
   *
   * @param function gives their signatures
   * @return the least key of more than one of them, or null if there is none
   */
  byte @Nullable [] sort(SignatureFunction function) {
    keys.sort();
    sign(function);
    shared = keys.sharedWithLast(shared);
    if (addresses.length < keys.count()) {
      addresses = new long[keys.count() + keys.count() / 8];
    }
    return repeatedKey();
  }

  private void sign(SignatureFunction function) {
    if (signatures.length < 2 * keys.count()) {
      signatures = new long[2 * keys.count() + keys.count() / 4];
    }
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

  /** The number of records. */
  int count() {
    return keys.count();
  }

  /** Returns a sorted record, which is valid until the view shows another. */
  FramedRecord sorted(int position, SpilledRecord view) throws IOException {
    return compared(
        position,
        view.of(bytes, start(position), signatures[2 * position], signatures[2 * position + 1]));
  }

  /** The same without the value, which is empty: a long one need not be read. */
  FramedRecord sortedKey(int position, SpilledRecord view) {
    return compared(
        position,
        view.keyOf(bytes, start(position), signatures[2 * position], signatures[2 * position + 1]));
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

  /** Notes the address of a sorted record. */
  void setAddress(int position, long address) {
    addresses[position] = address;
  }

  /** The address of a sorted record. */
  long address(int position) {
    return addresses[position];
  }
}
