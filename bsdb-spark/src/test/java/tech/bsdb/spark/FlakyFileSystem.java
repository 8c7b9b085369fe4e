package tech.bsdb.spark;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.util.Progressable;

/** The local disk as {@code flaky:///}, on which some files of some name cannot be created. */
public final class FlakyFileSystem extends RawLocalFileSystem {
  /** How many of them fail. */
  static final AtomicInteger FAILURES = new AtomicInteger();

  /** The start of their names. */
  static volatile String start = "";

  /** Whether they fail for a reason that lasts, so that no attempt follows. */
  static volatile boolean full;

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
    return super.create(file, overwrite, bufferSize, replication, blockSize, progress);
  }
}
