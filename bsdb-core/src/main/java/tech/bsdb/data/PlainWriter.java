package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordLayout;

/**
 * Writes uncompressed records, kept within pages (blocked layout) or not (compact layout); see
 * FORMAT.md §4.
 */
public final class PlainWriter implements RecordWriter {
  private final DataFiles files;
  private final boolean blocked;
  private final RecordAddress addresses;
  private final RecordSink sink;

  /** Creates a writer for {@link RecordLayout#BLOCKED} or {@link RecordLayout#COMPACT}. */
  public PlainWriter(
      DataFiles files, RecordLayout layout, RecordAddress addresses, RecordSink sink) {
    this.files = files;
    this.blocked = layout == RecordLayout.BLOCKED;
    this.addresses = addresses;
    this.sink = sink;
  }

  /**
   * The number of content pages of records of equal length in one file.
   *
   * @param records the number of records
   * @param length the length of a record, with its header
   */
  public static long pages(RecordLayout layout, long records, long length) {
    if (layout == RecordLayout.COMPACT) {
      return ceiling(records * length, Page.PAYLOAD);
    }
    return length > Page.PAYLOAD
        ? records * ceiling(length, Page.PAYLOAD)
        : ceiling(records, Page.PAYLOAD / length);
  }

  private static long ceiling(long dividend, long divisor) {
    return (dividend + divisor - 1) / divisor;
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    PageEncoder pages = files.next();
    long length = record.length();
    while (blocked && length > pages.room() && pages.room() < Page.PAYLOAD) {
      pages.pad();
      pages = files.next();
    }
    long position = pages.position();
    long span =
        length <= pages.room() ? 0 : (length - pages.room() + Page.PAYLOAD - 1) / Page.PAYLOAD;
    record.put(pages);
    files.wrote();
    if (blocked && length > Page.PAYLOAD) {
      pages.pad();
    }
    sink.placed(record.high, record.low, addresses.pack(files.current(), position, span));
  }

  @Override
  public void finish() {}

  @Override
  public void close() {}
}
