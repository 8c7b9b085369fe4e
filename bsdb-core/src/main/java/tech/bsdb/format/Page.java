package tech.bsdb.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The unit of every file (FORMAT.md §2): 4,092 bytes of payload and their CRC32C, mixed with the
 * page's position so that a misplaced page fails verification.
 *
 * <pre>
 * offset  size  meaning
 *      0  4092  payload
 *   4092     4  CRC32C(payload) ^ mix(kind, file number, page number), little-endian
 * </pre>
 */
public final class Page {
  /** Page size in bytes. */
  public static final int SIZE = 4096;

  /** log2 of {@link #SIZE}. */
  public static final int SHIFT = 12;

  /** Payload bytes per page. */
  public static final int PAYLOAD = SIZE - Integer.BYTES;

  private Page() {}

  /** Writes and returns the checksum of the page that starts at {@code offset}. */
  static int seal(byte[] page, int offset, FileIdentity file, long number) {
    int checksum = checksum(page, offset, PAYLOAD, file, number);
    ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN).putInt(offset + PAYLOAD, checksum);
    return checksum;
  }

  /** The checksum of {@code length} bytes stored as page {@code number} of {@code file}. */
  public static int checksum(byte[] bytes, int offset, int length, FileIdentity file, long number) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return checksum((int) crc.getValue(), file, number);
  }

  /** The checksum of bytes with the given CRC32C stored as page {@code number} of {@code file}. */
  static int checksum(int crc, FileIdentity file, long number) {
    return crc ^ place(file, number);
  }

  /**
   * Hashes a page's position with the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
   */
  private static int place(FileIdentity file, long number) {
    long z =
        number
            + ((long) file.kind().code() << 56)
            + ((long) file.number() << 44)
            + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return (int) (z ^ (z >>> 31));
  }
}
