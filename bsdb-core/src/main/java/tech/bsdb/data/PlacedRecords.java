package tech.bsdb.data;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.RecordFrame;

/** Records of one database at known addresses, whose values are read together. Not thread-safe. */
public final class PlacedRecords {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[][] keys;
  private final long[] addresses;
  private final byte[] @Nullable [] values;
  private final int size;

  /**
   * Shows the first entries of some arrays.
   *
   * @param keys their keys
   * @param addresses where their records are
   * @param values receives their values
   * @param size how many
   */
  public PlacedRecords(byte[][] keys, long[] addresses, byte[] @Nullable [] values, int size) {
    this.keys = keys;
    this.addresses = addresses;
    this.values = values;
    this.size = size;
  }

  /** The number of records. */
  int size() {
    return size;
  }

  /** The address of a record. */
  long address(int number) {
    return addresses[number];
  }

  /** The key of a record. */
  byte[] key(int number) {
    return keys[number];
  }

  /** Notes a value, or null if the record at the address has another key. */
  void note(int number, byte @Nullable [] value) {
    values[number] = value;
  }

  /**
   * Takes the value of a record that lies in an array, or null if it has another key.
   *
   * @param at where the record starts
   * @param end the end of the bytes that may hold it
   * @return whether there is a record that ends by {@code end}
   */
  boolean take(int number, byte[] bytes, int at, int end) {
    byte[] key = keys[number];
    int keyLength = key.length;
    if (at <= end - Integer.BYTES && keyLength != 0) {
      int header = (int) INTS.get(bytes, at);
      if ((header & 0xFF) == keyLength) { // not a wide one: that has a zero there
        int valueAt = at + RecordFrame.SHORT + keyLength;
        int to = valueAt + (header >>> 8 & 0xFFFF);
        if (to > end) {
          return false;
        }
        boolean same = RecordBytes.equal(bytes, at + RecordFrame.SHORT, key);
        values[number] = same ? Arrays.copyOfRange(bytes, valueAt, to) : null;
        return true;
      }
    }
    return takeAny(number, bytes, at, end);
  }

  private boolean takeAny(int number, byte[] bytes, int at, int end) {
    byte[] key = keys[number];
    long header = RecordFrame.decode(bytes, at, end);
    if (header < 0) {
      return false;
    }
    int keyAt = at + RecordFrame.headerLength(header);
    int valueAt = keyAt + RecordFrame.keyLength(header);
    boolean same = Arrays.equals(bytes, keyAt, valueAt, key, 0, key.length);
    values[number] =
        same ? Arrays.copyOfRange(bytes, valueAt, valueAt + RecordFrame.valueLength(header)) : null;
    return true;
  }
}
