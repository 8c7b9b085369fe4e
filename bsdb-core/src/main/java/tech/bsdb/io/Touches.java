package tech.bsdb.io;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Loads cache lines that later steps will need. The processor looks ahead by a number of
 * instructions, so the fewer there are between two loads, the more cache misses overlap: steps
 * collect positions, and a loop that does nothing else loads them. Verifies nothing, so what it
 * reads must not lead to an answer.
 */
public final class Touches {
  /** Bytes of a cache line. */
  public static final int LINE = 64;

  private Touches() {}

  /**
   * Loads a cache line at each of the first {@code count} positions.
   *
   * @param pieces the pieces of one or more {@linkplain ShownFile files in memory}
   * @param positions places in them: the number of the piece, then {@link ShownFile#PIECE_SHIFT}
   *     bits of the offset there
   * @throws IndexOutOfBoundsException if a position is not in a piece
   */
  public static void load(@Nullable ByteBuffer[] pieces, long[] positions, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      long position = positions[i];
      sum += pieces[ShownFile.piece(position)].get(ShownFile.offset(position));
    }
    keep(sum);
  }

  /** Like {@link #load}, but loads two cache lines for each position: the next one, too. */
  public static void loadTwo(@Nullable ByteBuffer[] pieces, long[] positions, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      long position = positions[i];
      ByteBuffer piece = pieces[ShownFile.piece(position)];
      int at = ShownFile.offset(position);
      sum += piece.get(at) + piece.get(at + LINE);
    }
    keep(sum);
  }

  /** Uses a meaningless number, so that the loads behind it are not optimized away. */
  public static void keep(long sum) {
    if (sum == -1) {
      Thread.onSpinWait();
    }
  }
}
