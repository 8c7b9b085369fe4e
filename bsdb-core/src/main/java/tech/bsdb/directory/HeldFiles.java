package tech.bsdb.directory;

import java.io.Closeable;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.Resources;
import tech.bsdb.io.SharedPages;

/**
 * Files of a database kept open, one descriptor each, so that they can be scanned later even if
 * their directory has been replaced or deleted. Scans in progress outlive a {@link #close}.
 * Thread-safe.
 */
public final class HeldFiles implements Closeable {
  private final DatabaseDirectory directory;
  private final Map<FileEntry, SharedPages> held = new LinkedHashMap<>();
  private final Resources opened = new Resources();

  private HeldFiles(DatabaseDirectory directory) {
    this.directory = directory;
  }

  /** Opens the files. If one fails, closes those already opened. */
  public static HeldFiles open(DatabaseDirectory directory, List<FileEntry> entries)
      throws IOException {
    HeldFiles files = new HeldFiles(directory);
    try {
      for (FileEntry entry : entries) {
        PageSource pages = new BufferedEngine().openForOne(directory.file(entry));
        files.held.put(entry, files.opened.add(new SharedPages(pages)));
      }
      return files;
    } catch (IOException | RuntimeException e) {
      files.opened.closeAfter(e);
      throw e;
    }
  }

  /**
   * Returns the data files for a scan, which verifies each page at its first touch and closes the
   * files.
   *
   * @param reads counts the reads
   * @throws IllegalStateException if this is closed
   */
  public List<DataFile> dataFiles(ReadCount reads) throws IOException {
    return directory.dataFiles(
        entry ->
            new CheckedPages(view(entry), entry.pages(), directory.pageCheck(entry), false, reads));
  }

  /**
   * Returns one of the files without verification; the caller closes it.
   *
   * @throws IllegalStateException if this is closed, or the file is not one of these
   */
  public PageSource view(FileEntry entry) {
    SharedPages pages = held.get(entry);
    if (pages == null) {
      throw new IllegalStateException(entry.file() + " is not held");
    }
    return pages.view();
  }

  /** Closes the files that no scan reads; the others close with their last scan. */
  @Override
  public synchronized void close() throws IOException {
    opened.close();
  }
}
