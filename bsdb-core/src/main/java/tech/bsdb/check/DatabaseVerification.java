package tech.bsdb.check;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.check.OrderVerification.FileComparison;
import tech.bsdb.check.SlotBatch.AddressSum;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;
import tech.bsdb.lookup.AddressedLocator;
import tech.bsdb.lookup.Locator;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.PackedLocator;

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

  /**
   * Creates a verification.
   *
   * @param lookup the open lookup
   * @param number the number of the database in it
   * @param files all files of the database
   * @param follower receives how many more pages were verified, maybe none; throws a {@link
   *     java.util.concurrent.CancellationException} if the verification is to stop
   */
  DatabaseVerification(Lookup lookup, int number, HeldFiles files, LongConsumer follower) {
    this.lookup = lookup;
    this.number = number;
    this.directory = lookup.opened().databases().get(number);
    this.files = files;
    this.follower = follower;
    this.records = directory.facts().records();
    this.exact = !directory.facts().approximate();
  }

  /**
   * Verifies all files and keys.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage
   */
  void run() throws IOException {
    for (FileEntry entry : directory.manifest().files()) {
      verifyPages(entry);
    }
    follower.accept(directory.manifestBytes() >>> Page.SHIFT);
    if (exact) {
      lookup.withLocators(
          route -> {
            Locator locator = route.locator(number);
            return locator instanceof PackedLocator packed
                ? verifyBins(packed)
                : verifyKeys((AddressedLocator) locator);
          });
    }
    if (directory.facts().order() != null) {
      verifyOrder();
    }
  }

  private void verifyPages(FileEntry entry) throws IOException {
    boolean entries = exact && !directory.facts().packed() && entry.file().kind() == FileKind.INDEX;
    Window window = new Window();
    long digest = 0;
    try (PageSource source = files.view(entry)) {
      CheckedPages.Check check = directory.pageCheck(entry, source);
      for (long page = 0; page < entry.pages(); page += PageSource.MAX_RUN) {
        int count = (int) Math.min(PageSource.MAX_RUN, entry.pages() - page);
        source.read(page, count, window);
        for (int i = 0; i < count; i++) {
          long number = page + i;
          int offset = window.offset() + i * Page.SIZE;
          int checksum = check.check(window, offset, number);
          if (number > 0 && number < entry.pages() - 1) {
            digest = PageEncoder.fold(digest, checksum);
            if (entries) {
              AddressIndex.forEach(window.buffer(), offset, number, records, inIndex::add);
            }
          }
        }
        follower.accept(count);
      }
    }
    directory.check(entry).checkDigest(entry, digest);
  }

  /*
   * If no duplicates were dropped, the (slot, address) pairs of all records must equal those of the index. Both sets
   * are summed, each in its own order, without looking up any index entry. Each key is followed to its entry only if
   * the sums differ, or if duplicates were dropped, because their records have no entry in the index.
   */
  private boolean verifyKeys(AddressedLocator locator) throws IOException {
    SlotBatch batch = new SlotBatch(directory, locator);
    long dropped = directory.facts().duplicatesDropped();
    if (dropped == 0 && sumsAgree(batch)) {
      return true;
    }
    long found = 0;
    long all = 0;
    try (RecordScanner scanner = lookup.scan(number, false)) {
      while (batch.take(scanner)) {
        follower.accept(0);
        all += batch.count();
        found += batch.countLeading();
      }
    }
    if (found != records || all - found != dropped) {
      FileEntry index = directory.manifest().files(FileKind.INDEX).get(0);
      throw directory
          .check(index)
          .corrupt(
              0,
              records + " records found through the index and " + dropped + " dropped duplicates",
              found + " and " + (all - found));
    }
    return true;
  }

  /**
   * Checks that every record of a packed database lies in its own bin, in order, and that the
   * filter, if there is one, is that of the records.
   */
  private boolean verifyBins(PackedLocator locator) throws IOException {
    Facts.Filter filter = directory.facts().filter();
    if (filter == null) {
      return verifyBins(locator, null);
    }
    FileEntry entry = directory.manifest().files(FileKind.FILTER).get(0);
    PageCheck check = directory.check(entry);
    SignatureFilter.requirePages(check, entry.pages(), filter, records);
    try (PageSource source = files.view(entry)) {
      FileComparison comparison = new FileComparison("filter", entry, source, check);
      FilterWriter writer =
          new FilterWriter(new PageEncoder(comparison, FilterWriter.identity()), filter);
      verifyBins(locator, writer);
      writer.finish();
      comparison.finish();
    }
    return true;
  }

  private boolean verifyBins(PackedLocator locator, @Nullable FilterWriter filter)
      throws IOException {
    try (RecordScanner bins = lookup.scan(number, false)) {
      long found = new PackedOrder(bins, directory, locator, filter).check();
      if (found != records) {
        FileEntry data = directory.manifest().files(FileKind.DATA).get(0);
        throw directory.check(data).corrupt(0, records + " records", found + "");
      }
    }
    return true;
  }

  private void verifyOrder() throws IOException {
    FileEntry entry = directory.manifest().files(FileKind.ORDER).get(0);
    try (PageSource source = files.view(entry)) {
      new OrderVerification(lookup, number, entry, source).run(follower);
    }
  }

  private boolean sumsAgree(SlotBatch batch) throws IOException {
    AddressSum inData = inIndex.another();
    long scanned = 0;
    try (RecordScanner scanner = lookup.scan(number, false)) {
      while (batch.take(scanner)) {
        follower.accept(0);
        scanned += batch.count();
        if (!batch.addTo(inData)) {
          return false;
        }
      }
    }
    return scanned == records && inData.agreesWith(inIndex);
  }
}
