package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * The pages of one immutable file, by one of the ways to read them. Thread-safe, except that
 * nothing may be read while {@link #close} runs or later: the owner sees to that.
 */
public interface PageSource extends Closeable {
  /** Bytes of a page. */
  int PAGE = 4096;

  /** The most pages that one read gives. */
  int MAX_RUN = 256;

  /**
   * Shows pages {@code first} to {@code first + count - 1} in the window.
   *
   * @param first the first page
   * @param count 1 to {@link #MAX_RUN}; less than the whole file
   * @param window where to show them
   * @throws java.io.EOFException if the file is shorter than it was
   */
  void read(long first, int count, Window window) throws IOException;

  /**
   * Asks the memory for the cache line at a byte offset of the file, where windows show memory;
   * elsewhere it does nothing. Nothing is verified.
   *
   * @return a number that means nothing; the caller keeps it, so that the load is not left out
   */
  default long touch(long position) {
    return 0;
  }

  /** Releases the file. */
  @Override
  void close() throws IOException;
}
