package tech.bsdb.verify;

import java.io.IOException;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder.PageSink;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Compares the pages of a file that is written anew, from the records of the data files, with those
 * of the file. Not thread-safe.
 */
final class FileComparison implements PageSink {
  private final String what;
  private final FileEntry entry;
  private final PageSource source;
  private final PageCheck check;
  private final Window window = new Window();
  private final byte[] stored = new byte[Page.SIZE];
  private long next = 1;

  /**
   * Creates a comparison with a file, which the caller closes.
   *
   * @param what what the file holds, such as {@code filter}
   */
  FileComparison(String what, FileEntry entry, PageSource source, PageCheck check) {
    this.what = what;
    this.entry = entry;
    this.source = source;
    this.check = check;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (next == entry.pages() - 1) {
      throw check.corrupt(next << Page.SHIFT, "a longer " + what + " for these records", "its end");
    }
    source.read(next, 1, window);
    window.buffer().get(window.offset(), stored);
    for (int i = 0; i < length; i++) {
      if (bytes[offset + i] != stored[i]) {
        throw check.corrupt(
            (next << Page.SHIFT) + i,
            "the " + what + " of the records in the data files",
            "another");
      }
    }
    next++;
  }

  /** Fails unless all pages of the file were compared. */
  void finish() throws IOException {
    if (next != entry.pages() - 1) {
      throw check.corrupt(
          next << Page.SHIFT, "the end of the " + what + " of these records", "more");
    }
  }
}
