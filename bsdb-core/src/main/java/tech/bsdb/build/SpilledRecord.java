package tech.bsdb.build;

import java.io.IOException;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;

/** Shows entries of a {@link RecordSpill} as records, one at a time. Not thread-safe. */
final class SpilledRecord {
  /** Bytes of a value to keep an array for. */
  private static final int KEPT_VALUE = 1 << 20;

  private static final int VALUE_PART = 1 << 16;

  private final RecordSpill spill;
  private final FramedRecord record = new FramedRecord();
  private byte[] part = new byte[0];
  private byte[] kept = new byte[0];
  private int used;

  SpilledRecord(RecordSpill spill) {
    this.spill = spill;
  }

  /**
   * Returns the record whose frame starts at {@code from}; it is valid until the next call.
   *
   * @param high the first half of its signature
   * @param low the second half
   */
  FramedRecord of(byte[] bytes, int from, long high, long low) throws IOException {
    long header = RecordFrame.header(bytes, from);
    int keyLength = RecordFrame.keyLength(header);
    int valueLength = RecordFrame.valueLength(header);
    int headLength = RecordFrame.headLengthAt(bytes, from) + keyLength;
    record.high = high;
    record.low = low;
    record.head = bytes;
    record.headStart = from;
    record.headLength = headLength;
    record.keyLength = keyLength;
    record.valueLength = valueLength;
    if (valueLength > RecordSpill.LONG_VALUE) {
      record.value = longValue(bytes, from + headLength, valueLength);
      record.valueStart = 0;
    } else {
      record.value = bytes;
      record.valueStart = from + headLength;
    }
    return record;
  }

  /** Bytes of the entry of a record, from its frame on. */
  static int length(FramedRecord record) {
    return record.headLength
        + (record.valueLength > RecordSpill.LONG_VALUE
            ? RecordSpill.REFERENCE
            : record.valueLength);
  }

  /** Reads a long value back, to the start of an array that is valid until the next call. */
  private byte[] longValue(byte[] reference, int at, int length) throws IOException {
    byte[] value = kept.length >= length ? kept : new byte[length];
    if (length <= KEPT_VALUE) {
      kept = value;
    }
    if (part.length == 0) {
      part = new byte[VALUE_PART];
    }
    used = 0;
    spill.readLong(
        reference,
        at,
        length,
        part,
        (read, count) -> {
          System.arraycopy(read, 0, value, used, count);
          used += count;
        });
    return value;
  }
}
