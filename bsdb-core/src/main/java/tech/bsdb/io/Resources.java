package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** What was opened in steps. It is closed in reverse order of opening. Not thread-safe. */
public final class Resources implements Closeable {
  private final Deque<Closeable> opened = new ArrayDeque<>();

  /** Takes over a resource, and returns it. */
  public <T extends Closeable> T add(T resource) {
    opened.add(resource);
    return resource;
  }

  /**
   * Closes all resources because of a failure, which the caller rethrows. Failures to close become
   * suppressed exceptions of it.
   */
  public void closeAfter(Throwable failure) {
    closeAll(failure);
  }

  /**
   * Closes all resources, even if some fail. Throws the first failure, with the others as
   * suppressed exceptions.
   */
  @Override
  public void close() throws IOException {
    Throwable failure = closeAll(null);
    if (failure instanceof IOException e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
  }

  /** Returns the first failure, which is the given one unless that is null. */
  private @Nullable Throwable closeAll(@Nullable Throwable failure) {
    Throwable first = failure;
    while (!opened.isEmpty()) {
      try {
        opened.removeLast().close();
      } catch (IOException | RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    return first;
  }
}
