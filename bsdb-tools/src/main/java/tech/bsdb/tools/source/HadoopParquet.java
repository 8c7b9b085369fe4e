package tech.bsdb.tools.source;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.parquet.hadoop.util.HadoopStreams;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;

/**
 * A file on a Hadoop file system, as a Parquet input.
 *
 * @param status the file's status when the inputs were listed
 */
record HadoopParquet(FileSystem fileSystem, FileStatus status) implements InputFile {
  /** The read policy, a hint to stores: the first one they support applies. */
  private static final String READ_POLICY = "parquet, columnar, vector, random, adaptive";

  SourceFile named(List<String> partitions) {
    return new SourceFile(toString(), getLength(), this, null, partitions);
  }

  @Override
  public long getLength() {
    return status.getLen();
  }

  @Override
  public SeekableInputStream newStream() throws IOException {
    try {
      return HadoopStreams.wrap(open());
    } catch (IOException | RuntimeException failure) {
      throw FileSources.explain(toString(), failure);
    }
  }

  private FSDataInputStream open() throws IOException {
    try {
      return fileSystem
          .openFile(status.getPath())
          .withFileStatus(status)
          .opt("fs.option.openfile.read.policy", READ_POLICY)
          .build()
          .get();
    } catch (ExecutionException failure) {
      throw FileSources.explain(toString(), failure);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(this + ": interrupted");
    }
  }

  @Override
  public String toString() {
    return status.getPath().toString();
  }
}
