package tech.bsdb.io;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** Reads ranges of files that lie elsewhere. Thread-safe. */
@FunctionalInterface
public interface Ranges {
  /**
   * Starts to read a range of a file, and does not wait.
   *
   * @param file the path that the file would have here
   * @param size its length in bytes
   * @param from the first byte
   * @param length how many bytes, 1 or more; the range lies within the file
   * @return completes with exactly these bytes, or with an {@link java.io.IOException}, within the
   *     deadline of whoever made this; on any thread, which must not be made to wait
   */
  CompletableFuture<byte[]> read(Path file, long size, long from, int length);
}
