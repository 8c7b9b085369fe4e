package tech.bsdb.directory;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.Resources;
import tech.bsdb.io.Window;

/**
 * Files of a database kept open, one descriptor each, so that they can be scanned later even if
 * their directory has been replaced or deleted. They close once this and all scans of them are
 * closed; a scan may outlive this. Thread-safe.
 */
public final class HeldFiles implements Closeable {
  private final DatabaseDirectory directory;
  private final Map<FileEntry, PageSource> held = new HashMap<>();
  private final Resources opened = new Resources();

  /** This, until it is closed, and the open views. */
  private int users = 1;

  private boolean closed;

  private HeldFiles(DatabaseDirectory directory) {
    this.directory = directory;
  }

  /**
   * Opens the files. If one fails, closes those already opened.
   *
   * @param elsewhere opens those that are not here
   */
  public static HeldFiles open(
      DatabaseDirectory directory, List<FileEntry> entries, Engine elsewhere) throws IOException {
    HeldFiles files = new HeldFiles(directory);
    try {
      for (FileEntry entry : entries) {
        Path file = directory.file(entry);
        PageSource pages =
            directory.isHere(entry)
                ? new BufferedEngine().openForOne(file)
                : elsewhere.open(file, entry.length());
        files.held.put(entry, files.opened.add(pages));
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
    return dataFiles(reads, this::view);
  }

  /**
   * Returns the data files in the same manner.
   *
   * @param opening opens their pages by {@link #view}
   */
  public List<DataFile> dataFiles(ReadCount reads, Function<FileEntry, PageSource> opening)
      throws IOException {
    return directory.dataFiles(
        entry -> {
          PageSource pages = opening.apply(entry);
          return new CheckedPages(pages, entry.pages(), directory.pageCheck(entry), false, reads);
        });
  }

  /**
   * Returns one of the files without verification; the caller closes it.
   *
   * @throws IllegalStateException if this is closed
   */
  public synchronized PageSource view(FileEntry entry) {
    PageSource pages = Objects.requireNonNull(held.get(entry));
    if (closed) {
      throw new IllegalStateException("the database is closed");
    }
    users++;
    return new View(pages);
  }

  private final class View implements PageSource {
    private final PageSource pages;
    private boolean ended;

    View(PageSource pages) {
      this.pages = pages;
    }

    @Override
    public void read(long first, int count, Window window) throws IOException {
      pages.read(first, count, window);
    }

    @Override
    public void soon(long first, long count) {
      pages.soon(first, count);
    }

    @Override
    public void close() throws IOException {
      if (!ended) {
        ended = true;
        leave();
      }
    }
  }

  /** Closes the files, unless scans read them. A second call does nothing. */
  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      leave();
    }
  }

  private synchronized void leave() throws IOException {
    users--;
    if (users == 0) {
      opened.close();
    }
  }
}
