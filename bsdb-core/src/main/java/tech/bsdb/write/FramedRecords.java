package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * Records in memory, framed and with computed signatures, in the order in which they were added.
 * Not thread-safe; can be reused after {@link #clear}.
 */
public final class FramedRecords {
  private static final byte[] NOTHING = new byte[0];

  /** Stands for the length of a value where there is none, but a deletion. */
  private static final int DELETION = -1;

  /** Longer values are stored in separate arrays. */
  private static final int LARGE_VALUE = 1 << 16;

  private final SignatureFunction function;
  private final Signature signature = new Signature();
  private final List<byte[]> large = new ArrayList<>();
  private byte[] bytes = new byte[1 << 16];
  private int used;
  private long[] signatures = new long[1024];
  private int[] starts = new int[512];
  private int[] valueLengths = new int[512];
  private int records;
  private long contentBytes;
  private boolean deletes;

  /** Creates an empty batch of records whose signatures a function gives. */
  public FramedRecords(SignatureFunction function) {
    this.function = function;
  }

  /**
   * Adds a record, copying its key and value.
   *
   * @param key the array that holds the key, of 0 to {@link RecordFrame#MAX_KEY} bytes
   * @param value the array that holds the value, of 0 to {@link RecordFrame#MAX_VALUE} bytes
   * @throws IndexOutOfBoundsException if a range lies outside its array
   * @throws IllegalArgumentException if the key or the value is too long, or the batch would exceed
   *     2 GiB
   */
  public void add(
      byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength) {
    Objects.checkFromIndexSize(keyFrom, keyLength, key.length);
    Objects.checkFromIndexSize(valueFrom, valueLength, value.length);
    if (keyLength > RecordFrame.MAX_KEY) {
      throw new IllegalArgumentException(
          "a key of " + keyLength + " bytes; at most " + RecordFrame.MAX_KEY + " fit");
    }
    if (valueLength > RecordFrame.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a value of " + valueLength + " bytes; at most " + RecordFrame.MAX_VALUE + " fit");
    }
    boolean separate = valueLength > LARGE_VALUE;
    byte[] ownValue =
        separate ? Arrays.copyOfRange(value, valueFrom, valueFrom + valueLength) : value;
    int inline = RecordFrame.WIDE + keyLength + (separate ? 0 : valueLength);
    reserve(inline);
    if (records == starts.length - 1) {
      int more = 2 * starts.length;
      starts = Arrays.copyOf(starts, more);
      valueLengths = Arrays.copyOf(valueLengths, more);
      signatures = Arrays.copyOf(signatures, 2 * more);
    }
    function.sign(key, keyFrom, keyLength, signature);
    signatures[2 * records] = signature.high;
    signatures[2 * records + 1] = signature.low;
    starts[records] = used;
    valueLengths[records] = valueLength;
    used = RecordFrame.put(bytes, used, keyLength, valueLength);
    System.arraycopy(key, keyFrom, bytes, used, keyLength);
    used += keyLength;
    if (separate) {
      large.add(ownValue);
    } else {
      System.arraycopy(value, valueFrom, bytes, used, valueLength);
      used += valueLength;
    }
    records++;
    starts[records] = used;
    contentBytes += keyLength + (long) valueLength;
  }

  /**
   * Adds the deletion of a key.
   *
   * @param key the array that holds the key, of 0 to {@link RecordFrame#MAX_KEY} bytes
   * @throws IndexOutOfBoundsException if the range lies outside the array
   * @throws IllegalArgumentException if the key is too long, or the batch would exceed 2 GiB
   */
  public void delete(byte[] key, int keyFrom, int keyLength) {
    add(key, keyFrom, keyLength, NOTHING, 0, 0);
    valueLengths[records - 1] = DELETION;
    deletes = true;
  }

  /** Whether there are deletions among the records. */
  public boolean deletes() {
    return deletes;
  }

  private void reserve(int more) {
    if (bytes.length - used < more) {
      long capacity =
          Math.max((long) used + more, Math.min(2L * bytes.length, bytes.length + (1L << 26)));
      if (capacity > Integer.MAX_VALUE - 8) {
        throw new IllegalArgumentException("a batch of more than 2 GiB; clear it more often");
      }
      bytes = Arrays.copyOf(bytes, (int) capacity);
    }
  }

  /** The number of records in the batch, and of deletions. */
  public int records() {
    return records;
  }

  /** Total size of keys and values in the batch, in bytes. */
  public long bytes() {
    return contentBytes;
  }

  /** Removes all records. */
  public void clear() {
    records = 0;
    used = 0;
    contentBytes = 0;
    deletes = false;
    large.clear();
  }

  /** Receives records. */
  @FunctionalInterface
  public interface RecordConsumer {
    /** Receives one record; the view is valid only until the call returns. */
    void accept(FramedRecord record) throws IOException;
  }

  /** Passes all records to a receiver, in order. */
  public void forEach(RecordConsumer consumer) throws IOException {
    FramedRecord record = new FramedRecord();
    int nextLarge = 0;
    for (int i = 0; i < records; i++) {
      int valueLength = Math.max(0, valueLengths[i]);
      record.deletion = valueLengths[i] == DELETION;
      boolean separate = valueLength > LARGE_VALUE;
      record.high = signatures[2 * i];
      record.low = signatures[2 * i + 1];
      record.head = bytes;
      record.headStart = starts[i];
      record.headLength = starts[i + 1] - starts[i] - (separate ? 0 : valueLength);
      record.keyLength = record.headLength - RecordFrame.headLengthAt(bytes, starts[i]);
      record.value = separate ? large.get(nextLarge++) : bytes;
      record.valueStart = separate ? 0 : starts[i + 1] - valueLength;
      record.valueLength = valueLength;
      consumer.accept(record);
    }
  }
}
