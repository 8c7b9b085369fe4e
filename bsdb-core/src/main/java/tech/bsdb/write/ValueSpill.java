package tech.bsdb.write;

import java.io.IOException;
import tech.bsdb.Layout;
import tech.bsdb.data.DataFiles;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;

/**
 * Writes the records of an approximate database: each value, truncated to the width, is spilled
 * with its signature until its slot is known. Keys go to a temporary file, from which duplicates
 * are reported. Not thread-safe.
 */
final class ValueSpill implements RecordWriter {
  private final SignatureSpill spill;
  private final int width;
  private final PlainWriter keys;
  private final FramedRecord keyOnly = new FramedRecord();
  private final byte[] head = new byte[RecordFrame.WIDE + RecordFrame.MAX_KEY];
  private long address;
  private long cut;

  /**
   * Creates a writer that spills values of at most {@code width} bytes and writes keys to the
   * files.
   */
  ValueSpill(SignatureSpill spill, int width, DataFiles files, RecordAddress addresses) {
    this.spill = spill;
    this.width = width;
    this.keys = new PlainWriter(files, Layout.COMPACT, addresses, (placed, at) -> address = at);
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    int keyAt = RecordFrame.put(head, 0, record.keyLength, 0);
    System.arraycopy(record.head, record.keyStart(), head, keyAt, record.keyLength);
    keyOnly.head = head;
    keyOnly.headLength = keyAt + record.keyLength;
    keyOnly.keyLength = record.keyLength;
    keys.add(keyOnly);
    spill.add(
        record.high,
        record.low,
        address,
        record.value,
        record.valueStart,
        Math.min(width, record.valueLength));
    if (record.valueLength > width) {
      cut++;
    }
  }

  /** The number of values longer than the width. */
  long cut() {
    return cut;
  }

  @Override
  public void finish() {
    keys.finish();
  }

  @Override
  public void close() {
    keys.close();
  }
}
