package tech.bsdb.lookup;

import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;

/** The working memory of one lookup, reused by the next. Used by one thread at a time. */
final class Probe {
  final Signature signature = new Signature();
  final Values values = Values.separate();

  /** For a value that is shown where it lies. */
  final Values shown = Values.inPlace();

  final Scratch scratch = new Scratch();

  /** For reads before the final one. */
  final Extent before = new Extent();

  /** For the final read. */
  final Extent last = new Extent();

  /** Releases arrays longer than {@code most} bytes. */
  void trim(int most) {
    before.trim(most);
    last.trim(most);
    scratch.trim(most);
    shown.trim(most);
  }

  /** Frees native memory. */
  void close() {
    scratch.close();
  }
}
