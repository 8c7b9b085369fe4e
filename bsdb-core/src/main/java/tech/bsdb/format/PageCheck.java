package tech.bsdb.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import tech.bsdb.error.CorruptDatabaseException;

/** Verifies the pages of one file. Thread-safe. */
public final class PageCheck {
  private final Path path;
  private final String location;
  private final FileIdentity file;

  /** Creates a check for a file; messages name its {@code path}. */
  public PageCheck(Path path, FileIdentity file) {
    this(path, path.toString(), file);
  }

  /**
   * Creates a check for a file that may lie elsewhere.
   *
   * @param path the path that it has, or would have here
   * @param location where it lies, for messages
   */
  public PageCheck(Path path, String location, FileIdentity file) {
    this.path = path;
    this.location = location;
    this.file = file;
  }

  /** The identity of the file. */
  public FileIdentity file() {
    return file;
  }

  /**
   * Verifies one page and returns its checksum.
   *
   * @param buffer a little-endian buffer that holds the page
   * @param offset where the page starts in the buffer
   * @param number the page's number in the file
   * @throws CorruptDatabaseException if its checksum is wrong
   */
  public int check(ByteBuffer buffer, int offset, long number) throws CorruptDatabaseException {
    int stored = little(buffer.getInt(offset + Page.PAYLOAD), buffer);
    checkAgainst(buffer, offset, Page.PAYLOAD, number, stored);
    return stored;
  }

  /**
   * Verifies a page, or another run of bytes, given only its CRC32C.
   *
   * @param crc the CRC32C of the bytes
   * @param stored the stored checksum
   * @param number the page's number in the file
   * @throws CorruptDatabaseException if they do not match
   */
  public void check(int crc, int stored, long number) throws CorruptDatabaseException {
    int actual = Page.checksum(crc, file, number);
    if (actual != stored) {
      throw corrupt(number << Page.SHIFT, "page checksum " + hex(stored), hex(actual));
    }
  }

  /** Verifies {@code length} bytes at {@code offset} against a checksum stored elsewhere. */
  public void checkAgainst(ByteBuffer buffer, int offset, int length, long number, int stored)
      throws CorruptDatabaseException {
    // Copy to an array first: a truncated mapped file then raises an error instead of crashing the
    // JVM.
    byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    check((int) crc.getValue(), stored, number);
  }

  /** Fails unless the digest of all pages between header and footer matches the manifest's. */
  public void checkDigest(Manifest.FileEntry entry, long digest) throws CorruptDatabaseException {
    checkDigest(entry.length() - Page.SIZE, entry.digest(), digest);
  }

  private void checkDigest(long offset, long expected, long found) throws CorruptDatabaseException {
    require(
        found == expected, offset, "digest " + Long.toHexString(expected), Long.toHexString(found));
  }

  /**
   * Returns the verified payload of all pages between the header and footer of a whole file.
   *
   * @param file the file's bytes
   * @param digest the digest in the footer
   * @throws CorruptDatabaseException if a page or the digest is wrong
   */
  public byte[] payload(byte[] file, long digest) throws CorruptDatabaseException {
    ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    int pages = file.length / Page.SIZE;
    byte[] payload = new byte[(pages - 2) * Page.PAYLOAD];
    long found = 0;
    for (int number = 1; number < pages - 1; number++) {
      found = PageEncoder.fold(found, check(bytes, number * Page.SIZE, number));
      bytes.get(number * Page.SIZE, payload, (number - 1) * Page.PAYLOAD, Page.PAYLOAD);
    }
    checkDigest((long) (pages - 1) << Page.SHIFT, digest, found);
    return payload;
  }

  /**
   * Fails for damage at {@code offset} of this check's file unless what was found there is right.
   */
  public void require(boolean right, long offset, String expected, Object found)
      throws CorruptDatabaseException {
    if (!right) {
      throw corrupt(offset, expected, found.toString());
    }
  }

  /** Creates an exception for damage at {@code offset} of this check's file. */
  public CorruptDatabaseException corrupt(long offset, String expected, String actual) {
    return new CorruptDatabaseException(path, offset, expected, actual).at(location);
  }

  private static int little(int value, ByteBuffer buffer) {
    return buffer.order() == ByteOrder.LITTLE_ENDIAN ? value : Integer.reverseBytes(value);
  }

  private static String hex(int value) {
    return HexFormat.of().toHexDigits(value);
  }
}
