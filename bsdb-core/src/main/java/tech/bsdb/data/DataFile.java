package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;

/**
 * An open data file.
 *
 * @param pages its pages, closed with it
 * @param place identifies the file in exceptions
 * @param end the byte offset after its last payload byte
 */
public record DataFile(CheckedPages pages, PageCheck place, long end) implements Closeable {
  CorruptDatabaseException corrupt(long offset, String expected, String actual) {
    return place.corrupt(offset, expected, actual);
  }

  @Override
  public void close() throws IOException {
    pages.close();
  }

  /** Closes all files, then fails if any could not be closed. */
  public static void closeAll(List<DataFile> files) throws IOException {
    IOException failure = null;
    for (DataFile file : files) {
      try {
        file.close();
      } catch (IOException | RuntimeException e) {
        if (failure == null) {
          failure = new IOException("a data file could not be closed: " + e.getMessage(), e);
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
