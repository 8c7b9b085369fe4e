package tech.bsdb.check;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.ValueElements;
import tech.bsdb.VerifyScope;
import tech.bsdb.check.OrderVerification.FileComparison;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.BinSample;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.hash.Signature;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.lookup.AddressedLocator;
import tech.bsdb.lookup.Locator;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.PackedLocator;
import tech.bsdb.lookup.SignatureCursor;

/** Verifies one of the databases that were opened together. Not thread-safe. */
final class DatabaseVerification {
  private final Lookup lookup;
  private final int number;
  private final DatabaseDirectory directory;
  private final HeldFiles files;
  private final LongConsumer follower;
  private final AddressSum inIndex = AddressSum.random();
  private final long records;
  private final boolean exact;
  private final boolean keys;

  /**
   * Creates a verification.
   *
   * @param lookup the open lookup
   * @param number the number of the database in it
   * @param files all files of the database
   * @param scope what to verify
   * @param follower receives how many more pages were verified, maybe none; throws a {@link
   *     java.util.concurrent.CancellationException} if the verification is to stop
   */
  DatabaseVerification(
      Lookup lookup, int number, HeldFiles files, VerifyScope scope, LongConsumer follower) {
    this.lookup = lookup;
    this.number = number;
    this.directory = lookup.opened().databases().get(number);
    this.files = files;
    this.follower = follower;
    this.records = directory.facts().records();
    this.exact = !directory.facts().approximate();
    this.keys = exact && scope == VerifyScope.ALL;
  }

  /**
   * Verifies all files, and all keys if they are asked for.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage
   */
  void run() throws IOException {
    for (FileEntry entry : directory.manifest().files()) {
      if (!keys || entry.file().kind() != FileKind.DATA) {
        verifyPages(entry);
      }
    }
    follower.accept(directory.manifestBytes() >>> Page.SHIFT);
    if (!keys) {
      return;
    }
    lookup.withLocator(number, this::verifyRecords);
    if (directory.facts().order() != null) {
      verifyOrder();
    }
  }

  private void verifyRecords(Locator locator) throws IOException {
    if (locator instanceof PackedLocator packed) {
      verifyBins(packed);
    } else {
      verifyKeys((AddressedLocator) locator);
    }
  }

  private void verifyPages(FileEntry entry) throws IOException {
    boolean entries = keys && !directory.facts().packed() && entry.file().kind() == FileKind.INDEX;
    try (VerifiedPages pages =
        verified(
            entry,
            (window, offset, page) -> {
              if (entries) {
                AddressIndex.forEach(window.buffer(), offset, page, records, inIndex::add);
              }
            })) {
      pages.finish();
    }
  }

  private VerifiedPages verified(FileEntry entry, VerifiedPages.Visitor visitor) {
    return new VerifiedPages(files, directory, entry, follower, visitor);
  }

  /** Does something with all records. */
  @FunctionalInterface
  private interface Scan {
    void with(RecordScanner scanner) throws IOException;
  }

  /**
   * Scans the records, and verifies all pages of the data files while it reads them. Damage of a
   * page, or other pages than those that were written, are reported before what is wrong with the
   * records.
   */
  private void scan(Scan scan) throws IOException {
    List<VerifiedPages> pages = new ArrayList<>();
    List<DataFile> data =
        files.dataFiles(
            new ReadCount(),
            entry -> {
              VerifiedPages added = verified(entry, (window, offset, page) -> {});
              pages.add(added);
              return added;
            });
    try (RecordScanner scanner = lookup.scan(number, data, false)) {
      try {
        scan.with(scanner);
      } catch (CorruptDatabaseException e) {
        finish(pages);
        throw e;
      }
      finish(pages);
    }
  }

  private static void finish(List<VerifiedPages> all) throws IOException {
    for (VerifiedPages pages : all) {
      pages.finish();
    }
  }

  /*
   * If no duplicates were dropped, the (slot, address) pairs of all records must equal those of the index. Both sets
   * are summed, each in its own order, without looking up any index entry. Otherwise each key is followed to its entry,
   * because the records of dropped duplicates have none.
   */
  private void verifyKeys(AddressedLocator locator) throws IOException {
    SlotBatch batch = new SlotBatch(directory, locator);
    AddressSum inData = inIndex.another();
    long dropped = directory.facts().duplicatesDropped();
    long[] counts = new long[2];
    scan(
        scanner -> {
          while (batch.take(scanner)) {
            follower.accept(0);
            counts[0] += dropped == 0 ? batch.addTo(inData) : batch.countLeading();
            counts[1] += batch.count();
          }
        });
    long found = counts[0];
    long all = counts[1];
    boolean counted = found == records && all - found == dropped;
    if (!counted || dropped == 0 && !inData.agreesWith(inIndex)) {
      throw directory
          .check(directory.first(FileKind.INDEX))
          .corrupt(
              0,
              records + " records found through the index and " + dropped + " dropped duplicates",
              counted ? "other addresses" : found + " and " + (all - found));
    }
  }

  /*
   * A lookup finds every key if every bin is where the index says, and holds the records whose signatures lead to it, by
   * ascending signature and with different keys.
   */
  private void verifyBins(PackedLocator locator) throws IOException {
    verifySample(locator.index());
    Facts.Filter filter = directory.facts().filter();
    if (filter == null) {
      verifyBins(locator.index(), null);
      return;
    }
    FileEntry entry = directory.first(FileKind.FILTER);
    PageCheck check = directory.check(entry);
    SignatureFilter.requirePages(check, entry.pages(), filter, records);
    try (PageSource source = files.view(entry)) {
      FileComparison comparison = new FileComparison("filter", entry, source, check);
      FilterWriter writer =
          new FilterWriter(new PageEncoder(comparison, FilterWriter.identity()), filter);
      verifyBins(locator.index(), writer);
      writer.finish();
      comparison.finish();
    }
  }

  private void verifySample(BinIndex index) throws IOException {
    String stated = directory.facts().requireBins().sample();
    String own = BinSample.write(index.bins(), index.pages(), index::page);
    if (stated != null && !stated.equals(own)) {
      Path manifest = directory.path().resolve(Manifest.FILE_NAME);
      throw new CorruptDatabaseException(
              manifest, Page.SIZE, "the sample of the index", "another sample")
          .at(directory.location(manifest));
    }
  }

  /**
   * Verifies all bins.
   *
   * @param written receives the signatures of all records, in order, unless it is null
   */
  private void verifyBins(BinIndex index, @Nullable FilterWriter written) throws IOException {
    long[] found = {0};
    scan(scanner -> found[0] = verifyBins(scanner, index, written));
    if (found[0] != records) {
      FileEntry data = directory.first(FileKind.DATA);
      throw directory.check(data).corrupt(0, records + " records", found[0] + "");
    }
  }

  /** Verifies all bins; returns the number of records in them. */
  private long verifyBins(RecordScanner scanner, BinIndex index, @Nullable FilterWriter written)
      throws IOException {
    long found = 0;
    SignatureCursor cursor = SignatureCursor.inBins(scanner, index, directory.facts());
    long bin = 0;
    while (scanner.nextBin()) {
      if (bin == index.bins()) {
        throw scanner.corrupt(index.bins() + " bins", "more");
      }
      long place = index.placeOf(bin);
      if (BinIndex.firstPage(place) != scanner.firstPage()
          || BinIndex.slot(place) != scanner.slot()) {
        throw scanner.corrupt(
            "bin " + bin + " in page " + BinIndex.firstPage(place) + ", as the index says",
            "page " + scanner.firstPage());
      }
      int filter = 0;
      while (cursor.nextInBin()) {
        verifyPlace(scanner, bin, cursor.high(), index.bins());
        filter |= PackedPage.filterBit(cursor.low());
        if (written != null) {
          written.add(cursor.high(), cursor.low());
        }
        found++;
      }
      if (scanner.filter() != 0 && scanner.filter() != filter) {
        throw scanner.corrupt("the filter " + filter + " of bin " + bin, scanner.filter() + "");
      }
      int pages = BinIndex.pages(place);
      if (scanner.page() - scanner.firstPage() >= pages && pages < BinIndex.MOST_PAGES) {
        throw scanner.corrupt(
            "bin " + bin + " to end within " + pages + " pages, as the index says",
            "page " + scanner.page());
      }
      bin++;
    }
    if (bin != index.bins()) {
      throw scanner.corrupt(index.bins() + " bins", bin + "");
    }
    return found;
  }

  /** Checks that a lookup of a record, given the first half of its signature, looks where it is. */
  private void verifyPlace(RecordScanner record, long bin, long high, long bins)
      throws IOException {
    directory.requireRoutedHere(record.key());
    verifyLength(directory.facts(), record);
    long own = BinIndex.bin(high, bins);
    if (own != bin) {
      throw record.corrupt("a record of bin " + bin, "one of bin " + own);
    }
    int part = BinIndex.part(high, bins);
    if (!record.leadsTo(part)) {
      throw record.corrupt("a block with a record in part " + part, "another block");
    }
  }

  /** Checks that a value consists of the elements that the manifest states. */
  private static void verifyLength(Facts facts, RecordScanner record) throws IOException {
    ValueElements elements = facts.valueElements();
    if (elements != null && record.valueLength() != elements.bytes()) {
      throw record.corrupt(
          "a value of " + elements.bytes() + " bytes, " + elements, record.valueLength() + "");
    }
  }

  private void verifyOrder() throws IOException {
    FileEntry entry = directory.first(FileKind.ORDER);
    try (PageSource source = files.view(entry)) {
      new OrderVerification(lookup, number, entry, source).run(follower);
    }
  }

  /**
   * A batch of records of a scan, whose slots are found together so that the cache misses of the
   * hash function overlap. Not thread-safe.
   */
  private static final class SlotBatch {
    /** Few enough that what one step touches is still cached in the next. */
    private static final int MOST = 128;

    private final DatabaseDirectory directory;
    private final AddressedLocator locator;
    private final Signature signature = new Signature();
    private final Extent extent = new Extent();
    private final long[] highs = new long[MOST];
    private final long[] lows = new long[MOST];
    private final long[] slots = new long[MOST];
    private final long[] scratch = new long[MOST];
    private final long[] addresses = new long[MOST];
    private int count;

    /** Creates an empty batch. */
    SlotBatch(DatabaseDirectory directory, AddressedLocator locator) {
      this.directory = directory;
      this.locator = locator;
    }

    /** Takes the next records and finds their slots; returns false if there are none. */
    boolean take(RecordScanner scanner) throws IOException {
      count = 0;
      while (count < MOST && scanner.next()) {
        byte[] key = scanner.key();
        directory.requireRoutedHere(key);
        verifyLength(directory.facts(), scanner);
        locator.sign(key, signature);
        highs[count] = signature.high;
        lows[count] = signature.low;
        addresses[count++] = scanner.address();
      }
      locator.findSlots(highs, lows, slots, scratch, count);
      return count > 0;
    }

    /** The number of records in the batch. */
    int count() {
      return count;
    }

    /** Adds the (slot, address) pairs to a sum; returns the number of records that have a slot. */
    int addTo(AddressSum sum) {
      int added = 0;
      for (int i = 0; i < count; i++) {
        if (slots[i] != Locator.ABSENT) {
          sum.add(slots[i], addresses[i]);
          added++;
        }
      }
      return added;
    }

    /** Counts the slots that hold their record's address. */
    int countLeading() throws IOException {
      int leading = 0;
      for (int i = 0; i < count; i++) {
        if (locator.leadsTo(slots[i], addresses[i], extent)) {
          leading++;
        }
      }
      return leading;
    }
  }

  /**
   * An order-independent sum over (slot, address) pairs. Two sets with equal sums are equal, except
   * with probability about 2^-120; random numbers in every sum keep anyone from provoking a
   * collision. Not thread-safe.
   */
  static final class AddressSum {
    private final long first;
    private final long second;
    private long low;
    private long high;

    private AddressSum(long first, long second) {
      this.first = first;
      this.second = second;
    }

    /** Creates an empty sum with new random numbers. */
    static AddressSum random() {
      SplittableRandom random = new SplittableRandom(new java.security.SecureRandom().nextLong());
      return new AddressSum(random.nextLong(), random.nextLong());
    }

    /** Creates an empty sum that can be compared with this one. */
    AddressSum another() {
      return new AddressSum(first, second);
    }

    /** Adds a pair. */
    void add(long slot, long address) {
      long pair = mixed(mixed(slot + first) ^ address);
      low += pair;
      high += mixed(pair + second);
    }

    /** Whether the same pairs were added to both. */
    boolean agreesWith(AddressSum other) {
      return low == other.low && high == other.high;
    }

    /** The finisher of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
    private static long mixed(long number) {
      long z = (number ^ number >>> 30) * 0xbf58476d1ce4e5b9L;
      z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
      return z ^ z >>> 31;
    }
  }
}
