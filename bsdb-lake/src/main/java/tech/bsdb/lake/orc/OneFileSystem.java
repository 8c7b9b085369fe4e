package tech.bsdb.lake.orc;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.source.SourceInput;

/** A file system of one file, which may be anywhere; only for reading it. */
final class OneFileSystem extends FileSystem {
  /** The path of the file. */
  static final Path PATH = new Path("one:/file");

  private final SourceFile file;

  OneFileSystem(SourceFile file) {
    this.file = file;
    setConf(new Configuration(/* loadDefaults= */ false));
  }

  @Override
  public URI getUri() {
    return PATH.toUri();
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(new Input(file.open()));
  }

  @Override
  public FileStatus getFileStatus(Path path) {
    return new FileStatus(file.length(), false, 1, 1 << 26, 0, path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws FileNotFoundException {
    throw new FileNotFoundException(path.toString());
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    throw new IOException("only for reading");
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    throw new IOException("only for reading");
  }

  @Override
  public boolean rename(Path from, Path to) {
    return false;
  }

  @Override
  public boolean delete(Path path, boolean recursive) {
    return false;
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) {
    return false;
  }

  @Override
  public void setWorkingDirectory(Path path) {}

  @Override
  public Path getWorkingDirectory() {
    return PATH;
  }

  /** The bytes as Hadoop's libraries read them. */
  private static final class Input extends InputStream implements Seekable, PositionedReadable {
    private final SourceInput in;

    Input(SourceInput in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      return in.read();
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      return in.read(to, from, length);
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.position();
    }

    @Override
    public boolean seekToNewSource(long position) {
      return false;
    }

    @Override
    public int read(long position, byte[] to, int from, int length) throws IOException {
      in.seek(position);
      return in.read(to, from, length);
    }

    @Override
    public void readFully(long position, byte[] to, int from, int length) throws IOException {
      in.seek(position);
      int read = in.readNBytes(to, from, length);
      if (read < length) {
        throw new IllegalStateException("it ends at byte " + (position + read));
      }
    }

    @Override
    public void readFully(long position, byte[] to) throws IOException {
      readFully(position, to, 0, to.length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
