package tech.bsdb.remote;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import tech.bsdb.transfer.Origin;

/** A remote directory whose files can be read in ranges. Thread-safe. */
public interface RangeOrigin extends Origin {
  /**
   * Starts to read a range of a file, by one request. Does not wait, and makes no second attempt.
   *
   * @param file its path below the directory, with slashes
   * @param size the length of the whole file in bytes, as its manifest states it
   * @param from the first byte
   * @param length how many bytes, 1 or more; the range is within the file
   * @return completes with exactly these bytes, or with an {@link IOException}: a {@link
   *     java.nio.file.NoSuchFileException} or a {@link java.nio.file.AccessDeniedException} as in
   *     {@link #open}, a {@link ChangedException} if the file is not the one that was read before
   *     or not of this size. Cancelling it gives up the request
   */
  CompletableFuture<byte[]> read(String file, long size, long from, int length);

  /**
   * Opens a file for reading, and fails if nothing arrives for a time.
   *
   * @param leftNanos how much longer nothing may arrive; asked by the thread that waits. An origin
   *     that cannot limit that ignores it
   */
  default InputStream open(String file, long from, LongSupplier leftNanos) throws IOException {
    return open(file, from);
  }

  /**
   * Returns the same directory for another opening of its database: what earlier ones found out
   * about its files does not apply, since these may have been replaced.
   */
  default RangeOrigin afresh() {
    return this;
  }
}
