package tech.bsdb;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;

/**
 * Records made ready for a build: framed, and with their signatures.
 *
 * <p>Filling a batch is the larger part of the work for small records, so that many threads can
 * fill batches while one adds them to the builder in their order. A batch belongs to one thread at
 * a time, and can be used again after {@link #clear}.
 */
public final class RecordBatch {
  /** The longest key, in bytes. */
  public static final int MAX_KEY_LENGTH = RecordFrame.MAX_KEY;

  /** The longest value, in bytes. */
  public static final int MAX_VALUE_LENGTH = RecordFrame.MAX_VALUE;

  /** A longer value is kept by itself, not copied together with others. */
  private static final int LARGE_VALUE = 1 << 16;

  private final long seed;
  private final Signature signature = new Signature();
  private final List<byte[]> large = new ArrayList<>();
  private byte[] bytes = new byte[1 << 16];
  private int used;
  private long[] signatures = new long[1024];
  private int[] starts = new int[512];
  private int[] valueLengths = new int[512];
  private int records;
  private long keyBytes;
  private long valueBytes;
  private int longestKey;
  private int longestValue;

  /** An empty batch for a build whose {@link BuildOptions#seed() seed} is 0. */
  public RecordBatch() {
    this(0);
  }

  /** An empty batch for a build with that seed; {@link DatabaseBuilder#newBatch} makes it. */
  RecordBatch(long seed) {
    this.seed = seed;
  }

  /** The seed of the signatures. */
  long seed() {
    return seed;
  }

  /**
   * Adds a record; the arrays are copied from.
   *
   * @param key holds the key, 0 to {@link #MAX_KEY_LENGTH} bytes of it
   * @param value holds the value, 0 to {@link #MAX_VALUE_LENGTH} bytes of it
   * @throws IndexOutOfBoundsException if a range lies outside of its array
   * @throws IllegalArgumentException if the key or the value is too long, or the batch would exceed
   *     2 GiB
   */
  public void add(
      byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength) {
    Objects.checkFromIndexSize(keyFrom, keyLength, key.length);
    Objects.checkFromIndexSize(valueFrom, valueLength, value.length);
    if (keyLength > MAX_KEY_LENGTH) {
      throw new IllegalArgumentException(
          "a key of " + keyLength + " bytes; at most " + MAX_KEY_LENGTH + " fit");
    }
    if (valueLength > MAX_VALUE_LENGTH) {
      throw new IllegalArgumentException(
          "a value of " + valueLength + " bytes; at most " + MAX_VALUE_LENGTH + " fit");
    }
    boolean apart = valueLength > LARGE_VALUE;
    byte[] ownValue = apart ? Arrays.copyOfRange(value, valueFrom, valueFrom + valueLength) : value;
    int inline = RecordFrame.WIDE + keyLength + (apart ? 0 : valueLength);
    reserve(inline);
    if (records == starts.length - 1) {
      int more = 2 * starts.length;
      starts = Arrays.copyOf(starts, more);
      valueLengths = Arrays.copyOf(valueLengths, more);
      signatures = Arrays.copyOf(signatures, 2 * more);
    }
    signature.compute(key, keyFrom, keyLength, seed);
    signatures[2 * records] = signature.high;
    signatures[2 * records + 1] = signature.low;
    starts[records] = used;
    valueLengths[records] = valueLength;
    used = RecordFrame.put(bytes, used, keyLength, valueLength);
    System.arraycopy(key, keyFrom, bytes, used, keyLength);
    used += keyLength;
    if (apart) {
      large.add(ownValue);
    } else {
      System.arraycopy(value, valueFrom, bytes, used, valueLength);
      used += valueLength;
    }
    records++;
    starts[records] = used;
    keyBytes += keyLength;
    valueBytes += valueLength;
    longestKey = Math.max(longestKey, keyLength);
    longestValue = Math.max(longestValue, valueLength);
  }

  private void reserve(int more) {
    if (bytes.length - used < more) {
      long wanted =
          Math.max((long) used + more, Math.min(2L * bytes.length, bytes.length + (1L << 26)));
      if (wanted > Integer.MAX_VALUE - 8) {
        throw new IllegalArgumentException("a batch of more than 2 GiB; clear it more often");
      }
      bytes = Arrays.copyOf(bytes, (int) wanted);
    }
  }

  /** Records in the batch. */
  public int records() {
    return records;
  }

  /** Bytes of all keys and values in the batch. */
  public long bytes() {
    return keyBytes + valueBytes;
  }

  /** Removes all records. */
  public void clear() {
    records = 0;
    used = 0;
    keyBytes = 0;
    valueBytes = 0;
    longestKey = 0;
    longestValue = 0;
    large.clear();
  }

  long keyBytes() {
    return keyBytes;
  }

  long valueBytes() {
    return valueBytes;
  }

  int longestKey() {
    return longestKey;
  }

  int longestValue() {
    return longestValue;
  }

  /** Takes records. */
  @FunctionalInterface
  interface Taker {
    /** Takes one record; the view moves on when the call returns. */
    void take(FramedRecord record) throws IOException;
  }

  /** Gives all records, in their order. */
  void forEach(Taker taker) throws IOException {
    FramedRecord record = new FramedRecord();
    int nextLarge = 0;
    for (int i = 0; i < records; i++) {
      int valueLength = valueLengths[i];
      boolean apart = valueLength > LARGE_VALUE;
      record.high = signatures[2 * i];
      record.low = signatures[2 * i + 1];
      record.head = bytes;
      record.headStart = starts[i];
      record.headLength = starts[i + 1] - starts[i] - (apart ? 0 : valueLength);
      record.keyLength = record.headLength - RecordFrame.headLengthAt(bytes, starts[i]);
      record.value = apart ? large.get(nextLarge++) : bytes;
      record.valueStart = apart ? 0 : starts[i + 1] - valueLength;
      record.valueLength = valueLength;
      taker.take(record);
    }
  }
}
