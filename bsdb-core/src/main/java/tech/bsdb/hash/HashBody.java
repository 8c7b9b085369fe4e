package tech.bsdb.hash;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.Faults;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.TouchedPages;
import tech.bsdb.io.Touches;

/**
 * The body of a hash function's file in memory, mapped or loaded: contiguous bytes over many pages,
 * followed by a table of the pages' checksums (FORMAT.md §5). {@link HashWriter} writes it.
 *
 * <p>Pages are verified 2 MiB at a time on first touch, or while loading. Thread-safe.
 */
final class HashBody implements Closeable {
  /** Bytes that are verified together, so that a lookup checks few marks: 2 MiB. */
  private static final int PIECE_SHIFT = 21;

  /** Nobody has read the piece. */
  private static final byte UNKNOWN = 0;

  /** Someone is verifying the piece, or it has a damaged page. */
  private static final byte MIXED = 1;

  /** All pages of the piece have been verified. */
  private static final byte SOUND = 2;

  private static final int PIECE_PAGES = 1 << PIECE_SHIFT - Page.SHIFT;

  private final ShownFile file;
  private final PageCheck check;
  private final boolean verify;
  private final TouchedPages touched;

  /** For each piece {@link #UNKNOWN}, {@link #MIXED} or {@link #SOUND}. */
  private final byte[] pieces;

  private final long tablePage;

  private HashBody(ShownFile file, PageCheck check, boolean verify, long pages) {
    this.file = file;
    this.check = check;
    this.verify = verify;
    this.touched = new TouchedPages(pages);
    this.pieces = new byte[(int) (pages / PIECE_PAGES) + 1];
    this.tablePage = ChecksumTable.firstPage(pages);
  }

  /**
   * Opens a body.
   *
   * @param path its file, whose frame has been verified
   * @param entry the file's entry in the manifest
   * @param check the check of the file
   * @param verify whether to verify pages, on first touch or while loading
   * @param loader loads the whole file; null to map it
   */
  static HashBody open(
      Path path, FileEntry entry, PageCheck check, boolean verify, @Nullable LoadedEngine loader)
      throws IOException {
    long pages = entry.pages();
    if (loader == null) {
      ShownFile file = ShownFile.mapSoonNeeded(path, entry.length());
      return new HashBody(file, check, verify, pages);
    }
    ShownFile file = loader.open(path, entry.length());
    try {
      if (verify) {
        new HashBody(file, check, true, pages).verifyAll(entry);
      }
      return new HashBody(file, check, false, pages);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** The number of pages that hold {@code bytes} bytes of a body. */
  static long pages(long bytes) {
    return (bytes + Page.SIZE - 1) / Page.SIZE;
  }

  /** The buffer that contains the byte at {@code position} of the file; see {@link ShownFile}. */
  ByteBuffer buffer(long position) {
    return file.buffer(position);
  }

  /** Loads a cache line at each of some positions; see {@link Touches}. */
  void touch(long[] positions, int count) {
    Touches.load(file.pieces(), positions, count);
  }

  /**
   * Verifies the pieces that contain a run of bytes, unless they have been verified. If a piece has
   * a damaged page, only the runs that need that page fail.
   */
  void verify(long from, long to) throws IOException {
    if (verify) {
      int piece = (int) (from >>> PIECE_SHIFT);
      int last = (int) (to - 1 >>> PIECE_SHIFT);
      if (pieces[piece] != SOUND || pieces[last] != SOUND) {
        verifyPages(from >>> Page.SHIFT, to - 1 >>> Page.SHIFT);
        for (; piece <= last; piece++) {
          if (pieces[piece] == UNKNOWN) {
            verifyPiece(piece);
          }
        }
      }
    }
  }

  private void verifyPages(long first, long last) throws IOException {
    for (long page = first; page <= last; page++) {
      if (!touched.contains(page)) {
        verifyPage(page);
      }
    }
  }

  /** Verifies the pages of a piece, once: if one is damaged, those that are needed from then on. */
  private void verifyPiece(int piece) throws IOException {
    pieces[piece] = MIXED;
    Faults.surface();
    boolean all = true;
    long end = Math.min((piece + 1L) * PIECE_PAGES, tablePage);
    for (long page = Math.max(1, (long) piece * PIECE_PAGES); page < end; page++) {
      try {
        verifyPages(page, page);
        Faults.surface();
      } catch (CorruptDatabaseException | InternalError e) {
        all = false; // who needs the page will meet that again
      }
    }
    if (all) {
      pieces[piece] = SOUND;
    }
  }

  /** Verifies the pages that contain a run of bytes, even if they have been verified. */
  void verifyAgain(long from, long to) throws IOException {
    for (long page = from >>> Page.SHIFT; page <= to - 1 >>> Page.SHIFT; page++) {
      verifyPage(page);
    }
  }

  /** Verifies every page and the file's digest. */
  private void verifyAll(FileEntry entry) throws IOException {
    long digest = 0;
    for (long page = 1; page < entry.pages() - 1; page++) {
      long position = page << Page.SHIFT;
      int checksum =
          page < tablePage
              ? verifyPage(page)
              : check.check(file.buffer(position), ShownFile.offset(position), page);
      digest = PageEncoder.fold(digest, checksum);
    }
    check.checkDigest(entry, digest);
  }

  private int verifyPage(long page) throws IOException {
    long table = tablePage + (page - 1) / ChecksumTable.PER_PAGE;
    long at = table << Page.SHIFT;
    ByteBuffer checksums = file.buffer(at);
    if (!touched.contains(table)) {
      check.check(checksums, ShownFile.offset(at), table);
      touched.add(table);
    }
    int stored =
        checksums.getInt(
            ShownFile.offset(at) + (int) ((page - 1) % ChecksumTable.PER_PAGE) * Integer.BYTES);
    long position = page << Page.SHIFT;
    check.checkAgainst(file.buffer(position), ShownFile.offset(position), Page.SIZE, page, stored);
    touched.add(page);
    return stored;
  }

  @Override
  public void close() {
    file.close();
  }
}
