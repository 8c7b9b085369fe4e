package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * One open file for several users, each with a view of its own. The file is closed once the owner
 * and all views are closed, so that a view outlives the owner. Thread-safe as {@link PageSource}
 * says.
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
   * A view of the file; close it.
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
    public long touch(long position) {
      return source.touch(position);
    }

    @Override
    public void close() throws IOException {
      if (!ended) {
        ended = true;
        leave();
      }
    }
  }

  /** Ends the owner's use; a second call does nothing. */
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
