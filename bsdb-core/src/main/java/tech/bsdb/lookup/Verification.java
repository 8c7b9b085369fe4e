package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.hash.BucketHash;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Reads all of a database: every page's checksum, every file's digest, and every record's key
 * through the hash function and the index to the record's own address.
 */
public final class Verification {
  /**
   * What was found right.
   *
   * @param records records found through the index
   * @param pages pages verified
   * @param bytes bytes of all files
   * @param keysChecked false for an approximate database, which keeps no keys
   */
  public record Result(long records, long pages, long bytes, boolean keysChecked) {}

  /** Hears how far a verification is. */
  @FunctionalInterface
  public interface Progress {
    /** Says how many pages of how many were verified. */
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

  /** Everything that is verified, open before the first page is read. */
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
   * Verifies a database. All its files are opened first, so that it is verified to the end even if
   * its directory is replaced or deleted meanwhile.
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
      verifyKeys();
    }
    return new Result(records, pages, bytes, exact);
  }

  private void verified(long more) {
    done += more;
    progress.pages(done, pages);
  }

  private void verifyPages(DatabaseDirectory directory, FileEntry entry) throws IOException {
    PageCheck check = directory.check(entry);
    boolean hash = entry.file().kind() == FileKind.HASH;
    boolean entries = exact && entry.file().kind() == FileKind.INDEX;
    long tableStart = hash ? BucketHash.tablePage(entry.pages()) : 1;
    Window window = new Window();
    Window table = new Window();
    long digest = 0;
    try (PageSource source = files.view(entry)) {
      for (long page = 0; page < entry.pages(); page += PageSource.MAX_RUN) {
        int count = (int) Math.min(PageSource.MAX_RUN, entry.pages() - page);
        source.read(page, count, window);
        for (int i = 0; i < count; i++) {
          long number = page + i;
          int checksum =
              number > 0 && number < tableStart
                  ? BucketHash.checkBodyPage(
                      source, table, window, i * Page.SIZE, number, tableStart, check)
                  : checkPage(window, i * Page.SIZE, number, check);
          if (number > 0 && number < entry.pages() - 1) {
            digest = PageEncoder.fold(digest, checksum);
            if (entries) {
              AddressIndex.forEach(
                  window.buffer(), window.offset() + i * Page.SIZE, number, records, inIndex::add);
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
   * Where no duplicates were dropped, the pairs of slot and address of all records must be those of the index: both are
   * summed, each in its own order, and no entry of the index is looked up. Only if the sums differ, or lost duplicates
   * are to be found nowhere, each key is followed to its entry.
   */
  private void verifyKeys() throws IOException {
    long dropped = lookup.directory().facts().duplicatesDropped();
    if (dropped == 0 && sumsAgree()) {
      return;
    }
    long found = 0;
    long all = 0;
    SlotBatch batch = lookup.slotBatch();
    try (RecordScanner scanner = lookup.scan(false)) {
      while (batch.take(scanner)) {
        all += batch.count();
        found += lookup.countLeading(batch);
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
  }

  private boolean sumsAgree() throws IOException {
    AddressSum inData = inIndex.another();
    long scanned = 0;
    SlotBatch batch = lookup.slotBatch();
    try (RecordScanner scanner = lookup.scan(false)) {
      while (batch.take(scanner)) {
        scanned += batch.count();
        lookup.findSlots(batch);
        if (!batch.addTo(inData)) {
          return false;
        }
      }
    }
    return scanned == records && inData.agreesWith(inIndex);
  }
}
