package tech.bsdb.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/**
 * The header page and footer page of every file (FORMAT.md §2).
 *
 * <pre>
 * offset  size  header                      footer
 *      0     8  "BSDBFILE"                  "BSDBTAIL"
 *      8     2  format version              the same
 *     10     2  kind of file                the same
 *     12     4  number within its kind      the same
 *     16    16  database id                 the same
 *     32     8  zero                        pages of the file, header and footer included
 *     40     8  zero                        digest over the checksums of the pages between
 *   4092     4  page checksum               page checksum
 * </pre>
 *
 * @param file the file's identity
 * @param databaseId 16 bytes
 * @param pages pages of the file, header and footer included
 * @param digest digest over the checksums of the pages between header and footer
 */
public record FileFrame(FileIdentity file, DatabaseId databaseId, long pages, long digest) {
  /** The format version that this code writes, and the only one it reads. */
  public static final int VERSION = 1;

  private static final long HEADER_MAGIC = magic("BSDBFILE");
  private static final long FOOTER_MAGIC = magic("BSDBTAIL");

  private static long magic(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII))
        .order(ByteOrder.LITTLE_ENDIAN)
        .getLong();
  }

  /** Whether these first 8 bytes of a file are those of a database file. */
  public static boolean startsAsHeader(byte[] start) {
    return start.length == Long.BYTES
        && ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN).getLong() == HEADER_MAGIC;
  }

  /** The header page. */
  public byte[] header() {
    byte[] page = common(HEADER_MAGIC);
    Page.seal(page, 0, file, 0);
    return page;
  }

  /** The footer page. */
  public byte[] footer() {
    byte[] page = common(FOOTER_MAGIC);
    ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN).putLong(32, pages).putLong(40, digest);
    Page.seal(page, 0, file, pages - 1);
    return page;
  }

  private byte[] common(long magic) {
    byte[] page = new byte[Page.SIZE];
    ByteBuffer.wrap(page)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(magic)
        .putShort((short) VERSION)
        .putShort((short) file.kind().code())
        .putInt(file.number())
        .put(databaseId.bytes());
    return page;
  }

  /**
   * Decodes and verifies a file's frame.
   *
   * @param path the file, for messages
   * @param file the expected identity
   * @param header its first page
   * @param footer its last page
   * @param length its length in bytes
   * @throws CorruptDatabaseException if the file is damaged, truncated, or another file
   * @throws UnsupportedFormatException if the format version is another
   */
  public static FileFrame decode(
      Path path, FileIdentity file, byte[] header, byte[] footer, long length)
      throws CorruptDatabaseException, UnsupportedFormatException {
    PageCheck check = new PageCheck(path, file);
    ByteBuffer first = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    check.require(
        first.getLong(0) == HEADER_MAGIC,
        0,
        "a bsdb file (\"BSDBFILE\")",
        HexFormat.of().formatHex(header, 0, 8));
    int version = Short.toUnsignedInt(first.getShort(8));
    if (version != VERSION
        && Page.checksum(header, 0, Page.PAYLOAD, file, 0) == first.getInt(Page.PAYLOAD)) {
      throw new UnsupportedFormatException(path, "format version " + version, "version " + VERSION);
    }
    check.check(first, 0, 0);
    int kind = file.kind().code();
    check.require(kind == first.getShort(10), 10, "kind " + kind, first.getShort(10));
    int number = file.number();
    check.require(number == first.getInt(12), 12, "file number " + number, first.getInt(12));
    long last = (length >>> Page.SHIFT) - 1;
    long at = last << Page.SHIFT;
    ByteBuffer tail = ByteBuffer.wrap(footer).order(ByteOrder.LITTLE_ENDIAN);
    check.require(
        tail.getLong(0) == FOOTER_MAGIC,
        at,
        "the file's footer (\"BSDBTAIL\")",
        "other bytes: the file was cut short or not copied whole");
    check.check(tail, 0, last);
    DatabaseId id = DatabaseId.read(header, 16);
    DatabaseId repeated = DatabaseId.read(footer, 16);
    check.require(id.equals(repeated), at + 16, "database id " + id, repeated);
    long pages = tail.getLong(32);
    check.require(
        pages << Page.SHIFT == length,
        at + 32,
        "a length of " + (pages << Page.SHIFT) + " bytes",
        length + " bytes");
    return new FileFrame(file, id, pages, tail.getLong(40));
  }
}
