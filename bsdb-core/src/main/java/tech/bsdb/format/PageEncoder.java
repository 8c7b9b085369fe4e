package tech.bsdb.format;

import java.io.IOException;
import java.util.Arrays;

/**
 * Encodes a stream of payload bytes as sealed pages, starting at page 1 (page 0 is the header).
 *
 * <p>Not thread-safe.
 */
public final class PageEncoder {
  /** Receives finished pages, in order. */
  @FunctionalInterface
  public interface PageSink {
    /**
     * Receives {@code length} bytes of {@code bytes}, which the caller may reuse once the call
     * returns.
     */
    void write(byte[] bytes, int offset, int length) throws IOException;
  }

  private static final long DIGEST_PRIME = 0x9e3779b97f4a7c15L;

  private final PageSink sink;
  private final FileIdentity file;
  private final byte[] page = new byte[Page.SIZE];
  private int used;
  private long number = 1;
  private long digest;

  /** Creates an encoder for the pages of {@code file}. */
  public PageEncoder(PageSink sink, FileIdentity file) {
    this.sink = sink;
    this.file = file;
  }

  /** Folds one page's checksum into a file's digest; order matters. */
  public static long fold(long digest, int checksum) {
    long z = (digest ^ Integer.toUnsignedLong(checksum)) * DIGEST_PRIME;
    return z ^ (z >>> 29);
  }

  /** The file offset of the next payload byte. */
  public long position() {
    return (number << Page.SHIFT) + used;
  }

  /** Payload bytes left in the current page, 1 to {@link Page#PAYLOAD}. */
  public int room() {
    return Page.PAYLOAD - used;
  }

  /** Appends payload, continuing on further pages as needed. */
  public void put(byte[] bytes, int offset, int length) throws IOException {
    int from = offset;
    int left = length;
    while (left > 0) {
      int part = Math.min(left, Page.PAYLOAD - used);
      System.arraycopy(bytes, from, page, used, part);
      used += part;
      from += part;
      left -= part;
      if (used == Page.PAYLOAD) {
        flush();
      }
    }
  }

  /** Fills the current page with zeros, unless it has no payload yet. */
  public void pad() throws IOException {
    if (used > 0) {
      flush();
    }
  }

  /**
   * Writes a page of 4,096 bytes of content whose checksum is stored elsewhere. Allowed only at a
   * page boundary.
   */
  public int putUnsealed(byte[] content, int offset) throws IOException {
    if (used != 0) {
      throw new IllegalStateException("a page is open");
    }
    int checksum = Page.checksum(content, offset, Page.SIZE, file, number);
    sink.write(content, offset, Page.SIZE);
    digest = fold(digest, checksum);
    number++;
    return checksum;
  }

  private void flush() throws IOException {
    Arrays.fill(page, used, Page.PAYLOAD, (byte) 0);
    digest = fold(digest, Page.seal(page, 0, file, number));
    sink.write(page, 0, Page.SIZE);
    used = 0;
    number++;
  }

  /** The number of the next page; all pages before it except the header have been written. */
  public long pages() {
    return number;
  }

  /** The digest of the checksums of all pages from page 1 on. */
  public long digest() {
    return digest;
  }
}
