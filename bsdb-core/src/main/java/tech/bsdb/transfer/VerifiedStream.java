package tech.bsdb.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import tech.bsdb.directory.ArrivingPages;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * The bytes of a local file of a database, verified as they are read: fails before it returns a
 * byte of a damaged page, except in the body of a hash function, which is verified by the table at
 * the end of the file. Not thread-safe.
 */
final class VerifiedStream extends InputStream {
  /** 256 KiB at once. */
  private static final int MOST_PAGES = 64;

  private final Path file;
  private final FileEntry entry;
  private final ArrivingPages pages;
  private final Window window = new Window();
  private final byte[] chunk;
  private final PageSource source;

  /** Verified bytes of the chunk that were not returned yet. */
  private int at;

  private int end;

  VerifiedStream(Path file, FileEntry entry, DatabaseId id) throws IOException {
    this.file = file;
    this.entry = entry;
    this.pages = new ArrivingPages(file, entry, id);
    this.chunk = new byte[(int) Math.min(MOST_PAGES, entry.pages()) * Page.SIZE];
    this.source = new BufferedEngine().openForOne(file);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length > 0 && at == end) {
      if (pages.complete()) {
        return -1;
      }
      fill();
    }
    int count = Math.min(length, end - at);
    System.arraycopy(chunk, at, bytes, offset, count);
    at += count;
    return count;
  }

  private void fill() throws IOException {
    long page = pages.verified();
    int count = (int) Math.min(chunk.length / Page.SIZE, entry.pages() - page);
    try {
      source.read(page, count, window);
    } catch (EOFException e) {
      throw new CorruptDatabaseException(
          file,
          page << Page.SHIFT,
          "a length of " + entry.length() + " bytes",
          "fewer: the file was cut short");
    }
    int bytes = count * Page.SIZE;
    window.buffer().get(window.offset(), chunk, 0, bytes);
    for (int offset = 0; offset < bytes; offset += Page.SIZE) {
      pages.accept(chunk, offset);
    }
    at = 0;
    end = bytes;
  }

  @Override
  public void close() throws IOException {
    source.close();
  }
}
