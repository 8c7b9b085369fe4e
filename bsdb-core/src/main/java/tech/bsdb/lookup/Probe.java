package tech.bsdb.lookup;

import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;

/** The working memory of one lookup, reused by the next. Used by one thread at a time. */
final class Probe {
  /** The number of databases with extents of their own. */
  private static final int MOST = 32;

  final Signature signature = new Signature();
  final Values values = Values.separate();

  /** For a value that is shown where it lies. */
  final Values shown = Values.inPlace();

  final Scratch scratch = new Scratch();

  /*
   * Changing the file of an extent costs time: a barrier of the garbage collector for each reference. So each kind of
   * read has an extent of its own, and so has each of the first shards in memory.
   */

  /** For reads before the final one. */
  final Extent before = new Extent();

  /** For the final read. */
  final Extent last = new Extent();

  private final @Nullable Extent[] befores = new Extent[MOST];
  private final @Nullable Extent[] lasts = new Extent[MOST];

  /** For reads before the final one in a database whose files are in memory. */
  Extent before(int database) {
    return database == 0 ? before : own(befores, database, before);
  }

  /** For the final read in a database whose files are in memory. */
  Extent last(int database) {
    return database == 0 ? last : own(lasts, database, last);
  }

  private static Extent own(@Nullable Extent[] extents, int database, Extent shared) {
    if (database >= MOST) {
      return shared;
    }
    Extent own = extents[database];
    if (own == null) {
      own = new Extent();
      extents[database] = own;
    }
    return own;
  }

  /** Releases arrays longer than {@code most} bytes. */
  void trim(int most) {
    before.trim(most);
    last.trim(most);
    trim(befores, most);
    trim(lasts, most);
    scratch.trim(most);
    shown.trim(most);
  }

  private static void trim(@Nullable Extent[] extents, int most) {
    for (Extent extent : extents) {
      if (extent != null) {
        extent.trim(most);
      }
    }
  }

  /** Frees native memory. */
  void close() {
    scratch.close();
  }
}
