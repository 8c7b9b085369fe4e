package tech.bsdb.data;

import java.util.Collections;
import java.util.List;
import tech.bsdb.format.Page;

/**
 * The records of a data file that start in a range of bytes. Immutable.
 *
 * @param from a byte offset: that of a record or of its block; of a packed layout, that of a page,
 *     the first bin of which may have started before
 * @param to where the next range starts
 */
public record FileRange(long from, long to) {
  private static final FileRange WHOLE = new FileRange(Page.SIZE, Long.MAX_VALUE);

  /** The ranges of all records of some files. */
  public static List<FileRange> whole(int files) {
    return Collections.nCopies(files, WHOLE);
  }
}
