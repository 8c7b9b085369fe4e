package tech.bsdb.directory;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.SharedPages;

/**
 * Files of a database kept open, one descriptor each, so that they can be scanned later even if
 * their directory has been replaced or deleted. Scans in progress outlive a {@link #close}.
 * Thread-safe.
 */
public final class HeldFiles implements Closeable {
  private record Held(FileEntry entry, SharedPages pages) {}

  private final DatabaseDirectory directory;
  private final List<Held> held = new ArrayList<>();

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
        files.held.add(new Held(entry, new SharedPages(pages)));
      }
      return files;
    } catch (IOException | RuntimeException e) {
      try {
        files.close();
      } catch (IOException close) {
        e.addSuppressed(close);
      }
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
    List<DataFile> files = new ArrayList<>();
    try {
      for (Held each : held) {
        FileEntry entry = each.entry;
        if (entry.file().kind() == FileKind.DATA) {
          CheckedPages pages =
              new CheckedPages(
                  each.pages.view(), entry.pages(), directory.pageCheck(entry), false, reads);
          files.add(new DataFile(pages, directory.check(entry), entry.end()));
        }
      }
      return files;
    } catch (RuntimeException | Error e) {
      for (DataFile file : files) {
        file.close();
      }
      throw e;
    }
  }

  /**
   * Returns one of the files without verification; the caller closes it.
   *
   * @throws IllegalStateException if this is closed, or the file is not one of these
   */
  public PageSource view(FileEntry entry) {
    for (Held each : held) {
      if (each.entry.equals(entry)) {
        return each.pages.view();
      }
    }
    throw new IllegalStateException(entry.file() + " is not held");
  }

  /** Closes the files that no scan reads; the others close with their last scan. */
  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (Held each : held) {
      try {
        each.pages.close();
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
