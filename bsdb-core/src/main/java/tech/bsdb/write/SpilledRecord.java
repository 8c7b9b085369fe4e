package tech.bsdb.write;

import java.io.IOException;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.order.OrderWriter;

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
    show(bytes, from, high, low);
    int valueFrom = from + record.headLength;
    if (record.valueLength > RecordSpill.LONG_VALUE) {
      record.value = longValue(bytes, valueFrom, record.valueLength);
      record.valueStart = 0;
    } else {
      record.value = bytes;
      record.valueStart = valueFrom;
    }
    return record;
  }

  /** The same without the value, which is empty. */
  FramedRecord keyOf(byte[] bytes, int from, long high, long low) {
    show(bytes, from, high, low);
    record.valueLength = 0;
    record.value = bytes;
    record.valueStart = from + record.headLength;
    return record;
  }

  private void show(byte[] bytes, int from, long high, long low) {
    long header = RecordFrame.header(bytes, from);
    int keyLength = RecordFrame.keyLength(header);
    record.high = high;
    record.low = low;
    record.head = bytes;
    record.headStart = from;
    record.headLength = RecordFrame.headLengthAt(bytes, from) + keyLength;
    record.keyLength = keyLength;
    record.sharedWithLast = OrderWriter.UNKNOWN;
    record.valueLength = RecordFrame.valueLength(header);
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
