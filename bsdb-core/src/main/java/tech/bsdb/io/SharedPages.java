package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * One open file shared by several users, each with its own view. The file is closed once the owner
 * and all views are closed; a view may outlive the owner. As thread-safe as {@link PageSource}.
 */
public final class SharedPages implements Closeable {
  private final PageSource source;
  private int users = 1;
  private boolean closed;

  /** Takes over an open file. */
  public SharedPages(PageSource source) {
    this.source = source;
  }

  /**
   * Opens a view of the file, which the caller closes.
   *
   * @throws IllegalStateException if the owner has closed this
   */
  public synchronized PageSource view() {
    if (closed) {
      throw new IllegalStateException("the database is closed");
    }
    users++;
    return new View();
  }

  private final class View implements PageSource {
    private boolean ended;

    @Override
    public void read(long first, int count, Window window) throws IOException {
      source.read(first, count, window);
    }

    @Override
    public void close() throws IOException {
      if (!ended) {
        ended = true;
        leave();
      }
    }
  }

  /** Closes the owner's use. A second call does nothing. */
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
      source.close();
    }
  }
}
