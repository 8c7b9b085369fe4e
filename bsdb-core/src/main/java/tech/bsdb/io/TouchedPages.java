package tech.bsdb.io;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which pages of a file were verified since it was opened: a bit each, in pieces that are
 * made when they are first needed, so that opening costs the same for every size.
 *
 * <p>Thread-safe. A bit that is read too early as unset costs a second verification, nothing else.
 */
public final class TouchedPages {
  private static final int PIECE_SHIFT = 18;
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] @Nullable [] pieces;

  /** For a file of that many pages. */
  public TouchedPages(long pages) {
    int count = Math.toIntExact((pages >>> PIECE_SHIFT) + 1);
    pieces = new long[count][];
  }

  /** Whether the page was verified. */
  public boolean contains(long page) {
    long[] piece = pieces[(int) (page >>> PIECE_SHIFT)];
    return piece != null
        && (piece[(int) page >>> 6 & (1 << PIECE_SHIFT - 6) - 1] & 1L << page) != 0;
  }

  /** Notes that the page was verified. */
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
