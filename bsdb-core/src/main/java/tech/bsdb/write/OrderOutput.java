package tech.bsdb.write;

import java.io.IOException;
import java.util.List;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.data.CompressedWriter;
import tech.bsdb.data.DataFiles;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.write.Assembled.Content;

/** Writes the order of the keys while the records are written, in this order. Not thread-safe. */
final class OrderOutput {
  private final OutputFile file;
  private final RecordAddress addresses;
  private final AddressBits bits;
  private final boolean keepsLast;
  private final OrderWriter writer;

  /**
   * Creates an output without keys.
   *
   * @param file a new file, which the caller closes
   * @param totals all records that will be added
   */
  OrderOutput(OutputFile file, BuildOptions options, RecordAddress addresses, RecordTotals totals) {
    this.file = file;
    this.addresses = addresses;
    long longest = RecordFrame.length(totals.longestKey(), totals.longestValue());
    this.bits = bits(options, addresses, totals.records(), totals.recordBytes(), longest);
    this.keepsLast = options.duplicates() == DuplicatePolicy.LAST;
    this.writer = new OrderWriter(file.pages(), bits.all());
  }

  /**
   * The bits that addresses will need at most.
   *
   * @param bytes bytes of all records with their headers
   * @param longest bytes of the longest record
   */
  static AddressBits bits(
      BuildOptions options, RecordAddress addresses, long records, long bytes, long longest) {
    boolean compressed = options.layout() == Layout.COMPRESSED;
    long pages =
        compressed
            ? CompressedWriter.mostPages(records, bytes, options.blockSize())
            : PlainWriter.mostPages(options.layout(), bytes, longest);
    long longestPages = Math.max(longest, options.blockSize()) / Page.PAYLOAD + 2;
    long detail =
        switch (options.layout()) {
          case BLOCKED -> (longest - 1) / Page.PAYLOAD;
          case COMPACT -> (longest + Page.PAYLOAD - 2) / Page.PAYLOAD;
          default -> options.blockSize() - 1L;
        };
    long position = DataFiles.mostPosition(pages, longestPages, options.dataFiles());
    return new AddressBits(
        AddressBits.of(options.dataFiles() - 1L),
        AddressBits.of(Math.min(position, addresses.maxPosition())),
        AddressBits.of(compressed ? detail : Math.min(detail, RecordAddress.MOST_SPAN)));
  }

  /**
   * Adds the key of a record. Of records with the same key, which follow each other, the one that
   * is kept counts.
   */
  void add(FramedRecord record, long address) throws IOException {
    int from = record.keyStart();
    long place = bits.shorten(address, addresses);
    if (bits.address(place, addresses) != address) {
      throw new IllegalStateException("the address " + address + " has more bits than " + bits);
    }
    if (!writer.add(record.head, from, from + record.keyLength, record.sharedWithLast, place)
        && keepsLast) {
      writer.replaceLast(place);
    }
  }

  /** The number of different keys. */
  long keys() {
    return writer.records();
  }

  /** Writes the rest; returns what the manifest says of the order. */
  Facts.Order finish() throws IOException {
    List<Long> levels = writer.finish();
    file.finish();
    return new Facts.Order(levels, bits);
  }

  /** The finished file. */
  Content content() {
    return new Content(file, file.pages().position());
  }
}
