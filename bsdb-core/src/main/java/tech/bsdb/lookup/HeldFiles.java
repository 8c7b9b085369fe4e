package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.SharedPages;

/**
 * Files of a database that stay open, one descriptor each, so that they can be read from front to
 * back later, even if their directory was replaced or deleted meanwhile. What was begun lives on
 * when this is closed. Thread-safe.
 */
final class HeldFiles implements Closeable {
  private record Held(FileEntry entry, SharedPages pages) {}

  private final DatabaseDirectory directory;
  private final List<Held> held = new ArrayList<>();

  private HeldFiles(DatabaseDirectory directory) {
    this.directory = directory;
  }

  /** Opens the files; when one fails, those before it are closed. */
  static HeldFiles open(DatabaseDirectory directory, List<FileEntry> entries) throws IOException {
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
   * The files as a scan reads them, each page verified at its first touch. The scan closes them.
   *
   * @param reads counts the reads
   * @throws IllegalStateException if this is closed
   */
  List<DataFile> dataFiles(ReadCount reads) throws IOException {
    List<DataFile> files = new ArrayList<>();
    try {
      for (Held each : held) {
        FileEntry entry = each.entry;
        CheckedPages pages =
            new CheckedPages(
                each.pages.view(), entry.pages(), directory.pageCheck(entry), false, reads);
        files.add(new DataFile(pages, directory.check(entry), entry.end()));
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
   * One of the files, as it is; close it.
   *
   * @throws IllegalStateException if this is closed, or the file is not one of these
   */
  PageSource view(FileEntry entry) {
    for (Held each : held) {
      if (each.entry.equals(entry)) {
        return each.pages.view();
      }
    }
    throw new IllegalStateException(entry.file() + " is not held");
  }

  /** Closes the files that no scan reads any more; the others go with their last scan. */
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
