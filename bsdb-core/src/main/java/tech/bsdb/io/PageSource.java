package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * The pages of one immutable file. Thread-safe, except that the owner must ensure that nothing is
 * read during or after {@link #close}, unless windows show memory: the use of a buffer after {@code
 * close} then reads the same bytes or throws an {@link IllegalStateException}.
 */
public interface PageSource extends Closeable {
  /** Bytes of a page. */
  int PAGE = 4096;

  /** The maximum number of pages per read. */
  int MAX_RUN = 256;

  /**
   * Shows pages {@code first} to {@code first + count - 1} in the window.
   *
   * @param first the first page
   * @param count 1 to {@link #MAX_RUN}, within the file
   * @param window where to show them
   * @throws java.io.EOFException if the file was cut short
   */
  void read(long first, int count, Window window) throws IOException;

  /**
   * Takes note that pages will be read soon, in their order. A source that answers slowly starts to
   * fetch the first of them. Never waits.
   *
   * @param first the first page
   * @param count how many follow from there on, or more
   */
  default void soon(long first, long count) {}

  /** Releases the file. */
  @Override
  void close() throws IOException;
}
