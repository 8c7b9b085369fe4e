package tech.bsdb.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/** The bytes of a local file of a database, verified as they are read. Not thread-safe. */
final class CheckedSource extends InputStream {
  private final DatabaseDirectory database;
  private final FileEntry entry;
  private final PageSource source;
  private final PageCheck check;
  private final CheckedPages.Check verifier;
  private final Window window = new Window();

  /** The next page to read. */
  private long page;

  private long digest;
  private byte[] header = new byte[0];

  /** Verified bytes of the window that were not returned yet. */
  private int at;

  private int end;

  private CheckedSource(DatabaseDirectory database, FileEntry entry, PageSource source) {
    this.database = database;
    this.entry = entry;
    this.source = source;
    this.check = database.check(entry);
    this.verifier = database.pageCheck(entry, source);
  }

  static CheckedSource open(DatabaseDirectory database, FileEntry entry) throws IOException {
    PageSource source = new BufferedEngine().openForOne(database.file(entry));
    return new CheckedSource(database, entry, source);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (at == end && page == entry.pages()) {
      return -1;
    }
    if (at == end) {
      fill();
    }
    int count = Math.min(length, end - at);
    window.buffer().get(at, bytes, offset, count);
    at += count;
    return count;
  }

  /** Reads and verifies the next pages. */
  private void fill() throws IOException {
    int count = (int) Math.min(PageSource.MAX_RUN, entry.pages() - page);
    try {
      source.read(page, count, window);
    } catch (EOFException e) {
      throw new CorruptDatabaseException(
          database.file(entry),
          page << Page.SHIFT,
          "a length of " + entry.length() + " bytes",
          "fewer: the file was cut short");
    }
    for (int i = 0; i < count; i++) {
      long number = page + i;
      int offset = window.offset() + i * Page.SIZE;
      int checksum = verifier.check(window, offset, number);
      if (number == 0) {
        header = bytes(offset);
      } else if (number < entry.pages() - 1) {
        digest = PageEncoder.fold(digest, checksum);
      } else {
        checkWhole(bytes(offset));
      }
    }
    page += count;
    at = window.offset();
    end = at + count * Page.SIZE;
  }

  private byte[] bytes(int offset) {
    byte[] bytes = new byte[Page.SIZE];
    window.buffer().get(offset, bytes);
    return bytes;
  }

  private void checkWhole(byte[] footer) throws IOException {
    FileFrame frame =
        FileFrame.decode(database.file(entry), entry.file(), header, footer, entry.length());
    if (!frame.databaseId().equals(database.id())) {
      throw check.corrupt(16, "database id " + database.id(), frame.databaseId().toString());
    }
    check.checkDigest(entry, digest);
    check.checkDigest(entry, frame.digest());
  }

  @Override
  public void close() throws IOException {
    source.close();
  }
}
