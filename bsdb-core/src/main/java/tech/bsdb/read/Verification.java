package tech.bsdb.read;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.hash.BucketHash;
import tech.bsdb.io.BufferedEngine;
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

  private Verification() {}

  /** Pages that a verification of the directory will read. */
  public static long pages(DatabaseDirectory directory) {
    return directory.manifest().files().stream().mapToLong(FileEntry::pages).sum()
        + (directory.manifestBytes() >>> Page.SHIFT);
  }

  /**
   * Verifies a database.
   *
   * @param path its directory
   * @param progress hears how many more pages were verified
   * @throws tech.bsdb.format.CorruptDatabaseException at the first damage
   */
  public static Result run(Path path, LongConsumer progress) throws IOException {
    return DatabaseDirectory.withOpened(path, directory -> run(directory, progress));
  }

  private static Result run(DatabaseDirectory directory, LongConsumer progress) throws IOException {
    for (FileEntry entry : directory.manifest().files()) {
      verifyPages(directory, entry, progress);
    }
    progress.accept(directory.manifestBytes() >>> Page.SHIFT);
    long bytes =
        directory.manifest().files().stream().mapToLong(FileEntry::length).sum()
            + directory.manifestBytes();
    try (Lookup lookup = Lookup.open(directory.path(), EngineChoice.auto(), true)) {
      if (!lookup.directory().id().equals(directory.id())) {
        throw new NoSuchFileException(
            directory.path().toString(), null, "the database was replaced while it was verified");
      }
      boolean exact = directory.approximateWidth() == 0;
      long records = exact ? verifyKeys(lookup) : directory.manifest().number("records");
      return new Result(records, pages(directory), bytes, exact);
    }
  }

  private static void verifyPages(
      DatabaseDirectory directory, FileEntry entry, LongConsumer progress) throws IOException {
    PageCheck check = directory.check(entry);
    boolean hash = entry.file().kind() == FileKind.HASH;
    long tableStart = hash ? BucketHash.tablePage(entry.pages()) : 1;
    Window window = new Window();
    Window table = new Window();
    long digest = 0;
    try (PageSource source = new BufferedEngine().open(directory.file(entry), entry.length())) {
      for (long page = 0; page < entry.pages(); page += PageSource.MAX_RUN) {
        int count = (int) Math.min(PageSource.MAX_RUN, entry.pages() - page);
        source.read(page, count, window);
        for (int i = 0; i < count; i++) {
          long number = page + i;
          int checksum =
              number > 0 && number < tableStart
                  ? BucketHash.checkBodyPage(
                      source, table, window.buffer(), i * Page.SIZE, number, tableStart, check)
                  : check.check(window.buffer(), i * Page.SIZE, number);
          if (number > 0 && number < entry.pages() - 1) {
            digest = PageEncoder.fold(digest, checksum);
          }
        }
        progress.accept(count);
      }
    }
    if (digest != entry.digest()) {
      throw check.corrupt(
          entry.length() - Page.SIZE,
          "digest " + Long.toHexString(entry.digest()),
          Long.toHexString(digest));
    }
  }

  private static long verifyKeys(Lookup lookup) throws IOException {
    DatabaseDirectory directory = lookup.directory();
    long found = 0;
    long lost = 0;
    try (RecordScanner scanner = lookup.scan()) {
      while (scanner.next()) {
        if (lookup.leadsTo(scanner.key(), scanner.address())) {
          found++;
        } else {
          lost++;
        }
      }
    }
    long records = directory.manifest().number("records");
    long dropped = directory.manifest().number("duplicates.dropped");
    if (found != records || lost != dropped) {
      FileEntry index = directory.manifest().files(FileKind.INDEX).get(0);
      throw directory
          .check(index)
          .corrupt(
              0,
              records + " records found through the index and " + dropped + " dropped duplicates",
              found + " and " + lost);
    }
    return found;
  }
}
