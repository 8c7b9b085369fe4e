package tech.bsdb.verify;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.BinScanner;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.hash.HashKind.PageVerifier;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;
import tech.bsdb.locate.AddressedLocator;
import tech.bsdb.locate.Locator;
import tech.bsdb.locate.PackedLocator;
import tech.bsdb.lookup.Lookup;

/**
 * Verifies a whole database: every page's checksum, every file's digest, and that every record's
 * key leads through the hash function and the index to the record's own address. In the packed
 * layout, that every record lies in its own bin, and that the filter is that of the records.
 */
public final class Verification {
  /**
   * The result of a successful verification.
   *
   * @param records records found through the index
   * @param pages pages verified
   * @param bytes total size of all files
   * @param keysChecked false for an approximate database, which keeps no keys
   */
  public record Result(long records, long pages, long bytes, boolean keysChecked) {}

  /** Receives the progress of a verification. */
  @FunctionalInterface
  public interface Progress {
    /** Reports how many pages of the total have been verified. */
    void pages(long done, long total);
  }

  private final Lookup lookup;
  private final HeldFiles files;
  private final Progress progress;
  private final AddressSum inIndex = AddressSum.random();
  private final long records;
  private final boolean exact;
  private final long pages;
  private long done;

  private Verification(Opened opened, Progress progress) {
    this.lookup = opened.lookup;
    this.files = opened.files;
    this.progress = progress;
    this.records = lookup.directory().facts().records();
    this.exact = !lookup.directory().facts().approximate();
    this.pages = pages(lookup.directory());
  }

  /** Everything to verify, opened before the first page is read. */
  private record Opened(Lookup lookup, HeldFiles files) implements Closeable {
    static Opened open(DatabaseDirectory directory) throws IOException {
      HeldFiles files = HeldFiles.open(directory, directory.manifest().files());
      try {
        return new Opened(Lookup.open(directory, EngineChoice.auto(), true), files);
      } catch (IOException | RuntimeException e) {
        files.close();
        throw e;
      }
    }

    @Override
    public void close() throws IOException {
      try {
        lookup.close();
      } finally {
        files.close();
      }
    }
  }

  private static long pages(DatabaseDirectory directory) {
    return directory.manifest().files().stream().mapToLong(FileEntry::pages).sum()
        + (directory.manifestBytes() >>> Page.SHIFT);
  }

  /**
   * Verifies a database. Opens all its files first, so that verification completes even if the
   * directory is replaced or deleted meanwhile.
   *
   * @param path its directory
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage
   */
  public static Result run(Path path, Progress progress) throws IOException {
    try (Opened opened = DatabaseDirectory.withOpened(path, Opened::open)) {
      return new Verification(opened, progress).run();
    }
  }

  private Result run() throws IOException {
    DatabaseDirectory directory = lookup.directory();
    for (FileEntry entry : directory.manifest().files()) {
      verifyPages(directory, entry);
    }
    verified(directory.manifestBytes() >>> Page.SHIFT);
    long bytes =
        directory.manifest().files().stream().mapToLong(FileEntry::length).sum()
            + directory.manifestBytes();
    if (exact) {
      lookup.withLocator(
          locator ->
              locator instanceof PackedLocator packed ? verifyBins(packed) : verifyKeys(locator));
    }
    return new Result(records, pages, bytes, exact);
  }

  private void verified(long more) {
    done += more;
    progress.pages(done, pages);
  }

  private void verifyPages(DatabaseDirectory directory, FileEntry entry) throws IOException {
    PageCheck check = directory.check(entry);
    boolean entries = exact && !directory.facts().packed() && entry.file().kind() == FileKind.INDEX;
    Window window = new Window();
    long digest = 0;
    try (PageSource source = files.view(entry)) {
      PageVerifier verifier =
          entry.file().kind() == FileKind.HASH
              ? directory.hashKind().verifier(entry, source, check)
              : (shown, offset, number) -> checkPage(shown, offset, number, check);
      for (long page = 0; page < entry.pages(); page += PageSource.MAX_RUN) {
        int count = (int) Math.min(PageSource.MAX_RUN, entry.pages() - page);
        source.read(page, count, window);
        for (int i = 0; i < count; i++) {
          long number = page + i;
          int offset = window.offset() + i * Page.SIZE;
          int checksum = verifier.verify(window, offset, number);
          if (number > 0 && number < entry.pages() - 1) {
            digest = PageEncoder.fold(digest, checksum);
            if (entries) {
              AddressIndex.forEach(window.buffer(), offset, number, records, inIndex::add);
            }
          }
        }
        verified(count);
      }
    }
    check.checkDigest(entry, digest);
  }

  private static int checkPage(Window window, int offset, long number, PageCheck check)
      throws IOException {
    int stored = window.buffer().getInt(offset + Page.PAYLOAD);
    check.check(window.crc32c(offset, Page.PAYLOAD), stored, number);
    return stored;
  }

  /*
   * If no duplicates were dropped, the (slot, address) pairs of all records must equal those of the index. Both sets
   * are summed, each in its own order, without looking up any index entry. Each key is followed to its entry only if
   * the sums differ, or if duplicates were dropped, because their records have no entry in the index.
   */
  private boolean verifyKeys(Locator locator) throws IOException {
    SlotBatch batch = new SlotBatch((AddressedLocator) locator);
    long dropped = lookup.directory().facts().duplicatesDropped();
    if (dropped == 0 && sumsAgree(batch)) {
      return true;
    }
    long found = 0;
    long all = 0;
    try (RecordScanner scanner = lookup.scan(false)) {
      while (batch.take(scanner)) {
        all += batch.count();
        found += batch.countLeading();
      }
    }
    if (found != records || all - found != dropped) {
      FileEntry index = lookup.directory().manifest().files(FileKind.INDEX).get(0);
      throw lookup
          .directory()
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
    Facts.Filter filter = lookup.directory().facts().filter();
    if (filter == null) {
      return verifyBins(locator, null);
    }
    FileEntry entry = lookup.directory().manifest().files(FileKind.FILTER).get(0);
    PageCheck check = lookup.directory().check(entry);
    SignatureFilter.requirePages(check, entry.pages(), filter, records);
    try (PageSource source = files.view(entry)) {
      FilterComparison comparison = new FilterComparison(entry, source, check);
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
    DatabaseDirectory directory = lookup.directory();
    try (BinScanner bins = lookup.scanBins()) {
      long found = new PackedOrder(bins, locator, filter).check();
      if (found != records) {
        FileEntry data = directory.manifest().files(FileKind.DATA).get(0);
        throw directory.check(data).corrupt(0, records + " records", found + "");
      }
    }
    return true;
  }

  private boolean sumsAgree(SlotBatch batch) throws IOException {
    AddressSum inData = inIndex.another();
    long scanned = 0;
    try (RecordScanner scanner = lookup.scan(false)) {
      while (batch.take(scanner)) {
        scanned += batch.count();
        if (!batch.addTo(inData)) {
          return false;
        }
      }
    }
    return scanned == records && inData.agreesWith(inIndex);
  }
}
