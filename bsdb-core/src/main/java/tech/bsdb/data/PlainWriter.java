package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.Layout;
import tech.bsdb.data.RecordWriter.RecordSink;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordAddress;

/**
 * Writes uncompressed records, kept within pages (blocked layout) or not (compact layout); see
 * FORMAT.md §4.
 */
public final class PlainWriter implements RecordWriter {
  private final DataFiles files;
  private final boolean blocked;
  private final RecordAddress addresses;
  private final RecordSink sink;

  /** Creates a writer for {@link Layout#BLOCKED} or {@link Layout#COMPACT}. */
  public PlainWriter(DataFiles files, Layout layout, RecordAddress addresses, RecordSink sink) {
    this.files = files;
    this.blocked = layout == Layout.BLOCKED;
    this.addresses = addresses;
    this.sink = sink;
  }

  /**
   * The number of content pages of records of equal length in one file.
   *
   * @param records the number of records
   * @param length the length of a record, with its header
   */
  public static long pages(Layout layout, long records, long length) {
    if (layout == Layout.COMPACT) {
      return ceiling(records * length, Page.PAYLOAD);
    }
    return length > Page.PAYLOAD
        ? records * ceiling(length, Page.PAYLOAD)
        : ceiling(records, Page.PAYLOAD / length);
  }

  /**
   * The most content pages of records of any length, in all files.
   *
   * @param bytes bytes of all records with their headers
   * @param longest bytes of the longest record
   */
  public static long mostPages(Layout layout, long bytes, long longest) {
    if (layout == Layout.COMPACT) {
      return ceiling(bytes, Page.PAYLOAD) + 1;
    }
    // A page ends before a record that it has no room for. If that record is longer than half a
    // page, it makes up for the page before it, and a record of several pages for that and for its
    // last page.
    return ceiling(bytes, Math.max(Page.PAYLOAD / 3, Page.PAYLOAD - longest + 1)) + 1;
  }

  private static long ceiling(long dividend, long divisor) {
    return (dividend + divisor - 1) / divisor;
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    placed(record, place(record));
  }

  /**
   * Appends a record without passing it on: {@link #placed} must follow, with all records in the
   * same order. Another thread may do that meanwhile.
   *
   * @return its address
   */
  public long place(FramedRecord record) throws IOException {
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
    return addresses.pack(files.current(), position, span);
  }

  /** Passes on a record, whose value may be missing, and its address. */
  public void placed(FramedRecord record, long address) throws IOException {
    sink.placed(record, address);
  }

  @Override
  public void finish() {}

  @Override
  public void close() {}
}
