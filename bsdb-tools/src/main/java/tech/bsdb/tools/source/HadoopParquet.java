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
 * A file of one of Hadoop's file systems as Parquet reads it.
 *
 * @param status as it was when the inputs were looked at
 */
record HadoopParquet(FileSystem fileSystem, FileStatus status) implements InputFile {
  /** How it is read, for stores that can use the hint: the first that they know. */
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
