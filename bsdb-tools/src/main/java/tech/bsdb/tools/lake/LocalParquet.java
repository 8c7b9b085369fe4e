package tech.bsdb.tools.lake;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;

/**
 * A local file as Parquet reads it. Not by a channel, which an interrupt closes for good.
 *
 * @param length in bytes when the inputs were looked at
 */
record LocalParquet(Path path, long length) implements InputFile {
  /** In one system call: Java takes as much memory beside the heap for each reading thread. */
  private static final int MOST_AT_ONCE = 1 << 18;

  static LakeFile of(Path path) throws IOException {
    LocalParquet file = new LocalParquet(path, Files.size(path));
    return new LakeFile(path.toString(), file.length, file, path);
  }

  @Override
  public long getLength() {
    return length;
  }

  @Override
  public SeekableInputStream newStream() throws IOException {
    try {
      return new Stream(new RandomAccessFile(path.toFile(), "r"));
    } catch (IOException failure) {
      throw Lake.explain(path.toString(), failure);
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }

  private static final class Stream extends DelegatingSeekableInputStream {
    private final RandomAccessFile file;

    Stream(RandomAccessFile file) {
      super(new Bytes(file));
      this.file = file;
    }

    @Override
    public long getPos() throws IOException {
      return file.getFilePointer();
    }

    @Override
    public void seek(long position) throws IOException {
      file.seek(position);
    }
  }

  private static final class Bytes extends InputStream {
    private final RandomAccessFile file;

    Bytes(RandomAccessFile file) {
      this.file = file;
    }

    @Override
    public int read() throws IOException {
      return file.read();
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      return file.read(to, from, Math.min(length, MOST_AT_ONCE));
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
