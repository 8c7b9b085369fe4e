package tech.bsdb.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads through the page cache: by {@code pread} on Java 22 and newer, where native access is
 * allowed; otherwise by {@link RandomAccessFile}, with each file opened once per core, up to 8
 * times, and one lock per opening. It does not use a channel, because interrupting one reading
 * thread would close it for all of them, and a file that a newer build has replaced could not be
 * reopened.
 */
public final class BufferedEngine implements Engine {
  private static final int MAX_STRIPES = 8;

  private final @Nullable SystemCalls calls;

  /** Creates the engine. */
  public BufferedEngine() {
    this(LinuxCalls.instance());
  }

  /** Creates the engine with other system calls, or without any. */
  BufferedEngine(@Nullable SystemCalls calls) {
    this.calls = calls;
  }

  @Override
  public String name() {
    return "buffered";
  }

  @Override
  public PageSource open(Path file, long length) throws IOException {
    int cores = Runtime.getRuntime().availableProcessors();
    return calls == null
        ? opened(file, Integer.highestOneBit(Math.min(MAX_STRIPES, cores)))
        : NativeFile.open(calls, file, false);
  }

  /** Opens a file with a single descriptor, for files that few threads read at the same time. */
  public PageSource openForOne(Path file) throws IOException {
    return calls == null ? opened(file, 1) : NativeFile.open(calls, file, false);
  }

  private static PageSource opened(Path file, int stripes) throws IOException {
    RandomAccessFile[] openings = new RandomAccessFile[stripes];
    Resources opened = new Resources();
    try {
      for (int i = 0; i < stripes; i++) {
        openings[i] = opened.add(new RandomAccessFile(file.toFile(), "r"));
      }
    } catch (IOException | RuntimeException e) {
      opened.closeAfter(e);
      throw e;
    }
    return new BufferedPages(file, openings, opened);
  }

  private record BufferedPages(Path file, RandomAccessFile[] openings, Resources opened)
      implements PageSource {

    @Override
    public void read(long first, int count, Window window) throws IOException {
      byte[] bytes = window.prepare(count * PAGE);
      RandomAccessFile opening =
          openings[(int) Thread.currentThread().getId() & (openings.length - 1)];
      try {
        synchronized (opening) {
          opening.seek(first * PAGE);
          opening.readFully(bytes, 0, count * PAGE);
        }
      } catch (EOFException e) {
        throw NativeFile.cutShort(file, (first + count) * PAGE);
      } catch (IOException e) {
        throw new IOException(
            file + ": cannot be read at byte " + first * PAGE + ": " + e.getMessage(), e);
      }
    }

    @Override
    public void close() throws IOException {
      opened.close();
    }
  }
}
