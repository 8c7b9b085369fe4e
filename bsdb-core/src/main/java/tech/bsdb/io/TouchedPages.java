package tech.bsdb.io;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Records which pages of a file have been verified since it was opened. Uses one bit per page, in
 * pieces allocated on first use, so that opening costs the same for every file size.
 *
 * <p>Thread-safe. Reading a stale unset bit only costs a second verification.
 */
public final class TouchedPages {
  private static final int PIECE_SHIFT = 18;
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] @Nullable [] pieces;

  /** Creates the record for a file of {@code pages} pages. */
  public TouchedPages(long pages) {
    int count = Math.toIntExact((pages >>> PIECE_SHIFT) + 1);
    pieces = new long[count][];
  }

  /** Whether the page has been verified. */
  public boolean contains(long page) {
    long[] piece = pieces[(int) (page >>> PIECE_SHIFT)];
    return piece != null
        && (piece[(int) page >>> 6 & (1 << PIECE_SHIFT - 6) - 1] & 1L << page) != 0;
  }

  /** Marks the page as verified. */
  public void add(long page) {
    int at = (int) (page >>> PIECE_SHIFT);
    long[] piece = pieces[at];
    if (piece == null) {
      synchronized (this) {
        piece = pieces[at];
        if (piece == null) {
          piece = new long[1 << PIECE_SHIFT - 6];
          pieces[at] = piece;
        }
      }
    }
    WORDS.getAndBitwiseOr(piece, (int) page >>> 6 & (1 << PIECE_SHIFT - 6) - 1, 1L << page);
  }
}
