package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;

/** A method of reading files. Thread-safe. Tests substitute engines that fail. */
public interface Engine {
  /** The name that options and statistics use. */
  String name();

  /** Opens a file of {@code length} bytes, a whole number of pages. */
  PageSource open(Path file, long length) throws IOException;

  /**
   * Creates a queue for reads of sources that this engine opened. Close the queue before the
   * sources. Only engines that {@linkplain #verifiesEveryRead read from the device} have queues;
   * others gain nothing from them.
   *
   * @param depth the maximum number of pending reads, 1 to {@link ReadQueue#MAX_DEPTH}
   * @param oneThread true if only the calling thread will ever use it (except for {@link
   *     ReadQueue#wake}), which is cheaper; false if it passes from thread to thread, used by one
   *     at a time
   * @throws IOException if the system refuses, with the reason
   */
  default ReadQueue queue(int depth, boolean oneThread) throws IOException {
    throw new UnsupportedOperationException("the engine " + name() + " has no queues");
  }

  /**
   * Whether each read fetches the bytes from the device again, so that it must be verified, and may
   * overlap with others in a {@link #queue}. Otherwise, verifying each page at its first touch is
   * enough.
   */
  default boolean verifiesEveryRead() {
    return false;
  }

  /** The depth of queues that keeps this engine busy. */
  default int depth() {
    /*
     * At depth 64 the device idles while answers are processed. Measured with 10M records on a device where fio reaches
     * 89,000 reads/s: 31,700 asynchronous lookups/s at 64, 44,600 at 128 (docs/BENCHMARKS.md).
     */
    return 128;
  }

  /** Whether one thread can have many reads in flight in a {@link #queue} without other threads. */
  default boolean hasRings() {
    return verifiesEveryRead();
  }

  /**
   * Whether a read takes so long that no thread should wait for a single one, if it can do else.
   */
  default boolean isDistant() {
    return false;
  }

  /** Whether windows show the file's bytes in place in memory, valid until the source is closed. */
  default boolean showsMemory() {
    return false;
  }
}
