package tech.bsdb.transfer;

import java.io.IOException;
import java.io.InputStream;

/**
 * A remote directory, such as on HDFS or S3, that holds a database, a set of shards or a store.
 * Thread-safe; opens nothing until it is asked to.
 */
public interface Origin {
  /**
   * Opens a file for reading.
   *
   * @param file its path below the directory, with slashes, such as {@code
   *     20261121T151400Z/manifest.bsdb}
   * @param from the byte to start at, from 0 to the length of the file; reading fails or ends at
   *     once if the file is shorter
   * @throws java.nio.file.NoSuchFileException if there is no such file
   * @throws java.nio.file.AccessDeniedException if it must not be read
   * @throws RefusedException if another attempt would fail in the same way for another reason
   * @throws BusyException if it cannot be opened for a time
   * @throws IOException if it cannot be opened now; another attempt may succeed
   */
  InputStream open(String file, long from) throws IOException;

  /** The location of a file as people write it, for messages; {@code ""} is the directory. */
  String location(String file);

  /**
   * Why a file could not be opened or read, as people say it; without the location.
   *
   * @param failure what {@link #open} or the stream threw
   */
  default String reason(IOException failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }
}
