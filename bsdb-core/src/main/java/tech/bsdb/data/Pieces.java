package tech.bsdb.data;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Page;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.ShownFile;

/**
 * The pieces of data files in memory, numbered across all files, so that one number is a place in
 * any of them. There are none of files that are not in memory. Thread-safe.
 */
final class Pieces {
  private static final int PAGE_BITS = ShownFile.PIECE_SHIFT - Page.SHIFT;

  /** For each file the number of its first piece. */
  private final int[] firsts;

  private final @Nullable ByteBuffer[] all;

  /** For each piece its file. */
  private final CheckedPages[] files;

  /** For each piece the number of pages in the pieces of the files before its own. */
  private final long[] before;

  /** Numbers the pieces of files. */
  Pieces(DataFile[] data) {
    this.firsts = new int[data.length];
    List<ByteBuffer> pieces = new ArrayList<>();
    List<CheckedPages> of = new ArrayList<>();
    for (int i = 0; i < data.length; i++) {
      CheckedPages pages = data[i].pages();
      firsts[i] = pieces.size();
      pieces.addAll(pages.pieces());
      of.addAll(Collections.nCopies(pages.pieces().size(), pages));
    }
    this.all = pieces.toArray(ByteBuffer[]::new);
    this.files = of.toArray(CheckedPages[]::new);
    this.before = new long[all.length];
    for (int i = 0; i < data.length; i++) {
      Arrays.fill(before, firsts[i], all.length, (long) firsts[i] << PAGE_BITS);
    }
  }

  /** The place of a position in a file: the number of a piece, and the offset there. */
  long place(int file, long position) {
    return ((long) firsts[file] << ShownFile.PIECE_SHIFT) + position;
  }

  /** The piece of a place. */
  @Nullable ByteBuffer piece(long place) {
    return all[ShownFile.piece(place)];
  }

  /** Whether the page of a place needs no verification. */
  boolean isKnown(long place) {
    int piece = ShownFile.piece(place);
    return files[piece].isKnown((place >>> Page.SHIFT) - before[piece]);
  }

  /** All pieces, little-endian; each null once they were dropped. */
  @Nullable ByteBuffer[] all() {
    return all;
  }

  /** Drops the pieces, which would keep their memory on Java 17 to 21. */
  void drop() {
    Arrays.fill(all, null);
  }
}
