package tech.bsdb.write;

import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;

/**
 * Changes as records of a temporary database: the value of a change is preceded by a byte that
 * tells whether it is a value at all, or a deletion. Not thread-safe.
 */
final class TaggedChange {
  /** The bytes by which values of changes are longer. */
  static final int TAG = 1;

  private static final byte DELETION = 0;
  private static final byte VALUE = 1;

  private final FramedRecord tagged = new FramedRecord();
  private byte[] bytes = new byte[1 << 10];

  /**
   * Returns a change as a record, valid until the next call.
   *
   * @throws IllegalArgumentException if its value is as long as an array can be
   */
  FramedRecord of(FramedRecord change) {
    if (change.valueLength == RecordFrame.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a changed value of " + change.valueLength + " bytes; at most one less fits");
    }
    int valueLength = TAG + change.valueLength;
    long length = RecordFrame.length(change.keyLength, valueLength);
    if (bytes.length < Math.min(length, RecordFrame.MAX_VALUE)) {
      bytes = new byte[(int) Math.min(length + length / 2, RecordFrame.MAX_VALUE)];
    }
    tagged.high = change.high;
    tagged.low = change.low;
    tagged.keyLength = change.keyLength;
    tagged.valueLength = valueLength;
    int keyFrom = RecordFrame.put(bytes, 0, change.keyLength, valueLength);
    System.arraycopy(change.head, change.keyStart(), bytes, keyFrom, change.keyLength);
    tagged.head = bytes;
    tagged.headStart = 0;
    tagged.headLength = keyFrom + change.keyLength;
    int valueFrom = tagged.headLength;
    byte[] value = bytes;
    if (length > bytes.length) { // a key and a value that do not fit in one array
      value = new byte[valueLength];
      valueFrom = 0;
    }
    value[valueFrom] = change.deletion ? DELETION : VALUE;
    System.arraycopy(change.value, change.valueStart, value, valueFrom + TAG, change.valueLength);
    tagged.value = value;
    tagged.valueStart = valueFrom;
    return tagged;
  }

  /** Whether a change is a deletion, given the first byte of its tagged value. */
  static boolean isDeletion(byte tag) {
    return tag == DELETION;
  }
}
