package tech.bsdb.format;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The content hash of a file (FORMAT.md §8), of whose content pages it receives one after the
 * other: a SHA-256 over those of pieces of 1 MiB. Not thread-safe.
 */
public final class ContentHash {
  /** Pages of a piece, the header included. */
  private static final int PIECE_PAGES = 256;

  private static final int LENGTH = 32;

  private final MessageDigest piece = sha256();
  private byte[] pieces = new byte[4 * LENGTH];
  private int ended;
  private long next = 1;
  private @Nullable String finished;

  /** A new SHA-256. */
  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Whether a text is the form of a content hash in the manifest. */
  static boolean isForm(String text) {
    return text.length() == 2 * LENGTH
        && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }

  /** Receives the next page. */
  public void add(byte[] bytes, int offset) {
    piece.update(bytes, offset, Page.SIZE);
    next++;
    if (next % PIECE_PAGES == 0) {
      endPiece();
    }
  }

  private void endPiece() {
    int end = ended * LENGTH;
    if (end == pieces.length) {
      pieces = Arrays.copyOf(pieces, 2 * end);
    }
    System.arraycopy(piece.digest(), 0, pieces, end, LENGTH);
    ended++;
  }

  /**
   * Forgets a page, those after it, and those of its piece.
   *
   * @param page its number
   * @return the number of the page to receive next, which is the first of the piece
   */
  public long backTo(long page) {
    ended = (int) (page / PIECE_PAGES);
    piece.reset();
    next = Math.max(1, (long) ended * PIECE_PAGES);
    finished = null;
    return next;
  }

  /** The hash of all pages, as 64 hexadecimal digits; no page is received afterwards. */
  public String finish() {
    if (finished == null) {
      if (next > 1 && next % PIECE_PAGES > 0) {
        endPiece();
      }
      piece.update(pieces, 0, ended * LENGTH);
      finished = HexFormat.of().formatHex(piece.digest());
    }
    return finished;
  }
}
