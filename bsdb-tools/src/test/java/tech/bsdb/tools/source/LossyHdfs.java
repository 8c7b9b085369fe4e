package tech.bsdb.tools.source;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/** HDFS, with something that happens when so many files were opened. */
public final class LossyHdfs extends DistributedFileSystem {
  private static final AtomicInteger LEFT = new AtomicInteger();
  private static volatile Runnable loss = () -> {};

  /** Sets up what happens when the n-th file from now is opened. */
  static void lose(int n, Runnable what) {
    loss = what;
    LEFT.set(n);
  }

  @Override
  public FSDataInputStream open(Path file, int bufferSize) throws IOException {
    FSDataInputStream in = super.open(file, bufferSize);
    if (LEFT.decrementAndGet() == 0) {
      loss.run();
    }
    return in;
  }
}
