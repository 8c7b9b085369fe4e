package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;

/** A way to read files. Thread-safe. Tests bring their own, which fail. */
public interface Engine {
  /** The name that options and statistics use. */
  String name();

  /** Opens a file of {@code length} bytes, a whole number of pages. */
  PageSource open(Path file, long length) throws IOException;

  /**
   * A queue for reads of sources that this engine opened; close it before them.
   *
   * @param depth the most reads pending at a time, 1 to {@link ReadQueue#MAX_DEPTH}
   * @param oneThread true if only the calling thread will ever use it (but for {@link
   *     ReadQueue#wake}), which is cheaper; false if it is lent from thread to thread, never to two
   *     at a time
   * @throws IOException if the system refuses it, with the reason
   */
  default ReadQueue queue(int depth, boolean oneThread) throws IOException {
    return new ImmediateQueue(depth);
  }

  /**
   * Whether each read brings the bytes from the device anew, so that each must be verified; else
   * the first touch of each page is enough.
   */
  default boolean verifiesEveryRead() {
    return false;
  }

  /** Whether windows show the file's bytes where they lie in memory, until the source is closed. */
  default boolean showsMemory() {
    return false;
  }
}
