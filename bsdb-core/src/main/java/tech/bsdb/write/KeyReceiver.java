package tech.bsdb.write;

import java.io.IOException;

/** Receives the keys of records that are packed in the order of their signatures. Thread-safe. */
@FunctionalInterface
interface KeyReceiver {
  /** Ignores the keys. */
  KeyReceiver NONE = pass -> {};

  /** Receives the keys of a pass, on the thread that sorted it. Passes come in any order. */
  void add(SortedBins pass) throws IOException;
}
