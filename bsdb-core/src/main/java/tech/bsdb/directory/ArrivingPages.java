package tech.bsdb.directory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.ContentHash;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;

/**
 * Verifies the pages of one file from front to back as they arrive: each page's checksum, the
 * database id in the header, and with the footer the length and the digest (FORMAT.md §2). Not
 * thread-safe.
 */
public final class ArrivingPages {
  private final Path shown;
  private final String location;
  private final FileEntry entry;
  private final DatabaseId id;
  private byte[] header = new byte[0];

  /** The checksums of the body of a hash function, which its table repeats. */
  private final int[] body;

  /** The first page of that table, 0 if there is none. */
  private final long table;

  private final @Nullable ContentHash hash;
  private long next;
  private long digest;

  /**
   * Creates a check of a file's pages.
   *
   * @param shown the file, for messages
   * @param entry what the manifest says of it
   * @param id the id of its database
   */
  public ArrivingPages(Path shown, FileEntry entry, DatabaseId id) {
    this(shown, shown.toString(), entry, id);
  }

  /**
   * Creates a check of the pages of a file that may lie elsewhere.
   *
   * @param shown the path that it has, or would have here
   * @param location where it lies, for messages
   */
  public ArrivingPages(Path shown, String location, FileEntry entry, DatabaseId id) {
    this.shown = shown;
    this.location = location;
    this.entry = entry;
    this.id = id;
    this.table =
        ChecksumTable.isIn(entry.file().kind()) ? ChecksumTable.firstPage(entry.pages()) : 0;
    this.body = new int[(int) Math.max(0, table - 1)];
    this.hash = entry.sha256() == null ? null : new ContentHash();
  }

  /** The number of verified pages. */
  public long verified() {
    return next;
  }

  /** Whether the whole file is verified. */
  public boolean complete() {
    return next == entry.pages();
  }

  /** Forgets all pages. */
  public void restart() {
    next = 0;
    digest = 0;
    if (hash != null) {
      hash.backTo(1);
    }
  }

  /**
   * Verifies the next page; a page that fails counts as not arrived, and so do those after it. The
   * checksums of a hash function's pages come last: its pages may fail once that of the table is
   * there.
   *
   * @throws CorruptDatabaseException if it, or an earlier one, is not the page that was written
   *     there
   */
  public void accept(byte[] bytes, int offset)
      throws CorruptDatabaseException, UnsupportedFormatException {
    if (next > 0 && next < table) {
      int checksum = Page.checksum(bytes, offset, Page.SIZE, entry.file(), next);
      body[(int) (next - 1)] = checksum;
      arrived(bytes, offset, checksum);
      next++;
      return;
    }
    int stored = little(bytes, offset + Page.PAYLOAD);
    int actual = Page.checksum(bytes, offset, Page.PAYLOAD, entry.file(), next);
    if (stored != actual) {
      throw damagedPage(next, stored, actual);
    }
    if (next == 0) {
      DatabaseId found = DatabaseId.read(bytes, offset + 16);
      if (!found.equals(id)) {
        throw damaged(0, 16, "database id " + id, found.toString());
      }
      header = Arrays.copyOfRange(bytes, offset, offset + Page.SIZE);
    } else if (next < entry.pages() - 1) {
      if (table > 0) {
        compare(bytes, offset);
      }
      arrived(bytes, offset, stored);
    } else {
      byte[] footer = Arrays.copyOfRange(bytes, offset, offset + Page.SIZE);
      FileFrame frame = frame(footer);
      if (frame.digest() != entry.digest() || digest != entry.digest()) {
        throw damaged(
            next, 40, "digest " + Long.toHexString(entry.digest()), Long.toHexString(digest));
      }
      requireHash();
    }
    next++;
  }

  private void arrived(byte[] bytes, int offset, int checksum) {
    digest = PageEncoder.fold(digest, checksum);
    if (hash != null) {
      hash.add(bytes, offset);
    }
  }

  private void requireHash() throws CorruptDatabaseException {
    if (hash != null && entry.sha256() != null) {
      String found = hash.finish();
      if (!found.equals(entry.sha256())) {
        throw damaged(0, 0, "content with the hash " + entry.sha256(), found);
      }
    }
  }

  private FileFrame frame(byte[] footer)
      throws CorruptDatabaseException, UnsupportedFormatException {
    try {
      return FileFrame.decode(shown, entry.file(), header, footer, entry.length());
    } catch (CorruptDatabaseException e) {
      throw e.at(location);
    }
  }

  /** Compares the checksums in a page of the table with those of the pages that arrived. */
  private void compare(byte[] bytes, int offset) throws CorruptDatabaseException {
    int first = (int) (next - table) * ChecksumTable.PER_PAGE;
    int end = Math.min(first + ChecksumTable.PER_PAGE, body.length);
    for (int i = first; i < end; i++) {
      int stored = little(bytes, offset + (i - first) * Integer.BYTES);
      int actual = body[i];
      if (stored != actual) {
        CorruptDatabaseException damaged = damagedPage(1L + i, stored, actual);
        backTo(i);
        throw damaged;
      }
    }
  }

  /**
   * Forgets all but the header and the first pages of the body; maybe fewer of them, so that the
   * content hash can go on.
   */
  private void backTo(int bodyPages) {
    next = 1L + bodyPages;
    if (hash != null) {
      next = hash.backTo(next);
    }
    digest = 0;
    for (int i = 0; i < next - 1; i++) {
      digest = PageEncoder.fold(digest, body[i]);
    }
  }

  private CorruptDatabaseException damagedPage(long page, int stored, int actual) {
    HexFormat digits = HexFormat.of();
    return damaged(
        page, 0, "page checksum " + digits.toHexDigits(stored), digits.toHexDigits(actual));
  }

  private CorruptDatabaseException damaged(long page, int offset, String expected, String found) {
    return new CorruptDatabaseException(shown, (page << Page.SHIFT) + offset, expected, found)
        .at(location);
  }

  private static int little(byte[] bytes, int offset) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(offset);
  }
}
