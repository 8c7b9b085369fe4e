package tech.bsdb.tools.source;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * A local file, as a Parquet input. It does not use a channel, which an interrupt would close
 * permanently.
 *
 * @param length the length in bytes when the inputs were listed
 * @param modified the modification time when the inputs were listed
 * @param key the file system's key for the file, if it has one
 */
record LocalParquet(Path path, long length, FileTime modified, @Nullable Object key)
    implements InputFile {
  /**
   * Maximum bytes per system call: Java allocates as much off-heap memory for each reading thread.
   */
  private static final int MAX_READ = 1 << 18;

  static SourceFile of(Path path, List<String> partitions) throws IOException {
    if (!Files.isRegularFile(path)) {
      throw new InputException(
          path + ": a pipe, a socket or a device; only files can be read from any position");
    }
    if (!Files.exists(path.toFile().toPath())) {
      throw new InputException(
          path + ": the name is not UTF-8, and Java cannot open it: rename the file");
    }
    LocalParquet file = inspect(path);
    return new SourceFile(path.toString(), file.length, file, path, partitions);
  }

  private static LocalParquet inspect(Path path) throws IOException {
    BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
    return new LocalParquet(path, now.size(), now.lastModifiedTime(), now.fileKey());
  }

  /** Whether it is the same file and has not been modified since the inputs were listed. */
  boolean isUnchanged() {
    try {
      return equals(inspect(path));
    } catch (IOException e) {
      return false;
    }
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
      throw FileSources.explain(path.toString(), failure);
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
      return file.read(to, from, Math.min(length, MAX_READ));
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
