package tech.bsdb.io;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a file, read by direct I/O through a channel where {@link LinuxCalls} are not
 * available.
 *
 * <p>The channel is an asynchronous one, because interrupting a thread that reads from any other
 * closes it for all its users. The thread that asks for a read also performs it. On macOS, such a
 * channel would read through the page cache, so there is no direct I/O.
 */
final class DirectChannel implements PageSource {
  /**
   * O_DIRECT, {@code com.sun.nio.file.ExtendedOpenOption.DIRECT}, or null in a runtime without the
   * module jdk.unsupported. Loaded by name, because newer compilers warn about the package.
   */
  private static final @Nullable OpenOption DIRECT = direct();

  /** Runs tasks on the thread that submits them. */
  static final ExecutorService HERE =
      new ThreadPoolExecutor(0, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>()) {
        @Override
        public void execute(Runnable task) {
          task.run();
        }
      };

  private final Path file;
  private final AsynchronousFileChannel channel;

  private DirectChannel(Path file, AsynchronousFileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  private static @Nullable OpenOption direct() {
    try {
      for (Object option :
          Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants()) {
        if (option.toString().equals("DIRECT")) {
          return (OpenOption) option;
        }
      }
    } catch (ClassNotFoundException e) {
      // A Java runtime built without the module.
    }
    return null;
  }

  static DirectChannel open(Path file) throws IOException {
    if (DIRECT == null) {
      throw new IOException(file + ": this Java has no direct I/O (module jdk.unsupported)");
    }
    if (System.getProperty("os.name").startsWith("Mac")) {
      throw new IOException(file + ": " + DirectEngine.NOT_HERE);
    }
    try {
      Set<OpenOption> options = Set.of(StandardOpenOption.READ, DIRECT);
      return new DirectChannel(file, AsynchronousFileChannel.open(file, options, HERE));
    } catch (UnsupportedOperationException e) {
      throw new IOException(file + ": " + DirectEngine.REFUSED, e);
    } catch (FileSystemException e) {
      if (Errno.text(Errno.EINVAL).equals(e.getReason())) {
        throw new IOException(file + ": " + DirectEngine.REFUSED, e);
      }
      throw e;
    }
  }

  @Override
  public void read(long first, int count, Window window) throws IOException {
    long position = first * PAGE;
    ByteBuffer buffer = window.prepareAligned(count * PAGE);
    try {
      buffer.limit(count * PAGE).position(0);
      while (buffer.hasRemaining()) {
        int got = channel.read(buffer, position + buffer.position()).get();
        if (got < 0 || buffer.position() % PAGE != 0) {
          throw NativeFile.cutShort(file, position + buffer.limit());
        }
      }
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      throw new IOException(file + ": cannot be read at byte " + position + ": " + cause, cause);
    } catch (InterruptedException e) { // not thrown for a read that has been performed
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(file + ": interrupted at byte " + position);
    } finally {
      buffer.clear();
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
