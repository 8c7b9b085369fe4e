package tech.bsdb.check;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.PageEncoder.PageSink;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedWalk;
import tech.bsdb.order.OrderWriter;

/**
 * Verifies that the order of keys of a database is, byte for byte, that of its records: as many
 * different keys as there are records, in ascending order, each of which leads to its record, are
 * all keys; and a tree of them that is written anew equals the file. Not thread-safe.
 */
final class OrderVerification {
  /** How many keys pass between two reports. */
  private static final int REPORT = 1 << 12;

  private final Lookup lookup;
  private final int number;
  private final DatabaseDirectory directory;
  private final FileEntry entry;
  private final PageSource source;
  private final PageCheck check;

  /**
   * Creates a verification.
   *
   * @param number the number of the database in the lookup
   * @param entry the file of the order
   * @param source its pages; the caller closes it
   */
  OrderVerification(Lookup lookup, int number, FileEntry entry, PageSource source) {
    this.lookup = lookup;
    this.number = number;
    this.directory = lookup.opened().databases().get(number);
    this.entry = entry;
    this.source = source;
    this.check = directory.check(entry);
  }

  /**
   * Verifies the order of keys.
   *
   * @throws CorruptDatabaseException if it is not the order of the keys
   */
  void run(LongConsumer follower) throws IOException {
    Facts.Order facts = Objects.requireNonNull(directory.facts().order());
    AddressBits bits = facts.place();
    RecordAddress addresses = directory.facts().addresses();
    FileComparison comparison = new FileComparison("order of keys", entry, source, check);
    OrderWriter writer =
        new OrderWriter(new PageEncoder(comparison, OrderWriter.identity()), bits.all());
    byte[] last = new byte[0];
    OrderedWalk walk = OrderedWalk.ofOne(lookup, number, true);
    while (walk.next()) {
      byte[] key = walk.key();
      if (writer.records() > 0 && Arrays.compareUnsigned(last, key) >= 0) {
        throw check.corrupt(0, "keys in ascending order", "another order");
      }
      last = key;
      long address = bits.all() == 0 ? 0 : bits.shorten(walk.address(), addresses);
      writer.add(key, 0, key.length, address);
      if (writer.records() % REPORT == 0) {
        follower.accept(0);
      }
    }
    long records = directory.facts().records();
    if (writer.records() != records) {
      throw check.corrupt(0, records + " keys in order", writer.records() + "");
    }
    List<Long> levels = writer.finish();
    comparison.finish();
    if (!levels.equals(facts.levels())) {
      throw check.corrupt(0, "levels of " + levels + " pages", facts.levels() + "");
    }
  }

  /**
   * Compares the pages of a file that is written anew, from the records of the data files, with
   * those of the file. Not thread-safe.
   */
  static final class FileComparison implements PageSink {
    private final String what;
    private final FileEntry entry;
    private final PageSource source;
    private final PageCheck check;
    private final Window window = new Window();
    private final byte[] stored = new byte[Page.SIZE];
    private long next = 1;

    /**
     * Creates a comparison with a file, which the caller closes.
     *
     * @param what what the file holds, such as {@code filter}
     */
    FileComparison(String what, FileEntry entry, PageSource source, PageCheck check) {
      this.what = what;
      this.entry = entry;
      this.source = source;
      this.check = check;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (next == entry.pages() - 1) {
        throw check.corrupt(
            next << Page.SHIFT, "a longer " + what + " for these records", "its end");
      }
      source.read(next, 1, window);
      window.buffer().get(window.offset(), stored);
      for (int i = 0; i < length; i++) {
        if (bytes[offset + i] != stored[i]) {
          throw check.corrupt(
              (next << Page.SHIFT) + i,
              "the " + what + " of the records in the data files",
              "another");
        }
      }
      next++;
    }

    /** Fails unless all pages of the file were compared. */
    void finish() throws IOException {
      if (next != entry.pages() - 1) {
        throw check.corrupt(
            next << Page.SHIFT, "the end of the " + what + " of these records", "more");
      }
    }
  }
}
