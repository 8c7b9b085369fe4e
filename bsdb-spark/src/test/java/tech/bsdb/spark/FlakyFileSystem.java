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
      throw new IOException("the disk of this test is full");
    }
    return super.create(file, overwrite, bufferSize, replication, blockSize, progress);
  }
}
