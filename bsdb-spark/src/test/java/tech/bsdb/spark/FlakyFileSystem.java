package tech.bsdb.spark;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.util.Progressable;
import org.jspecify.annotations.Nullable;

/**
 * The local disk as {@code flaky:///}, on which some files of some name cannot be created, and
 * those of others are waited for without end.
 */
public final class FlakyFileSystem extends RawLocalFileSystem {
  /** How many of them fail. */
  static final AtomicInteger FAILURES = new AtomicInteger();

  /** The start of their names. */
  static volatile String start = "";

  /** Whether they fail for a reason that lasts, so that no attempt follows. */
  static volatile boolean full;

  /** A part of the paths of files that are never created. */
  static volatile @Nullable String stalled;

  /** Another write, which creates the marker of a version just before the test's write does. */
  static volatile @Nullable String rival;

  /** As that of HDFS, by its name. */
  private static final class QuotaExceededException extends IOException {
    private static final long serialVersionUID = 1L;

    QuotaExceededException() {
      super("the disk of this test is full");
    }
  }

  /** Called by Hadoop. */
  public FlakyFileSystem() {}

  @Override
  public String getScheme() {
    return "flaky";
  }

  @Override
  public URI getUri() {
    return URI.create("flaky:///");
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> createFile(Path file) {
    String other = rival;
    if (other != null && file.getName().equals(".pushing")) {
      java.nio.file.Path here = java.nio.file.Path.of(file.toUri().getPath());
      try {
        Files.createDirectories(here.getParent());
        Files.writeString(here, other);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return super.createFile(file);
  }

  @Override
  public FSDataOutputStream create(
      Path file,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    if (file.getName().startsWith(start) && FAILURES.getAndDecrement() > 0) {
      throw full ? new QuotaExceededException() : new IOException("this fails once in a while");
    }
    String never = stalled;
    if (never != null && file.toString().contains(never)) {
      stall();
    }
    return super.create(file, overwrite, bufferSize, replication, blockSize, progress);
  }

  private static void stall() throws IOException {
    try {
      while (true) {
        Thread.sleep(60_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the wait of this test was interrupted");
    }
  }
}
