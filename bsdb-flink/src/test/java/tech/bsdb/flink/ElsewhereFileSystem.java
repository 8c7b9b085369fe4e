package tech.bsdb.flink;

import java.io.IOException;
import java.net.URI;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/**
 * The local disk under the scheme {@code elsewhere}, as a plugin of Flink would provide a store.
 */
public final class ElsewhereFileSystem implements FileSystemFactory {
  /** Called by Flink. */
  public ElsewhereFileSystem() {}

  @Override
  public String getScheme() {
    return "elsewhere";
  }

  @Override
  public FileSystem create(URI location) {
    return new Elsewhere();
  }

  private static final class Elsewhere extends FileSystem {
    private final LocalFileSystem local = new LocalFileSystem();

    private static Path here(Path path) {
      return new Path(path.toUri().getPath());
    }

    @Override
    public Path getWorkingDirectory() {
      return local.getWorkingDirectory();
    }

    @Override
    public Path getHomeDirectory() {
      return local.getHomeDirectory();
    }

    @Override
    public URI getUri() {
      return URI.create("elsewhere:///");
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return local.getFileStatus(here(path));
    }

    @Override
    public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
        throws IOException {
      return local.getFileBlockLocations(file, start, length);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      return local.open(here(path), bufferSize);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
      return local.open(here(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return local.listStatus(here(path));
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      return local.delete(here(path), recursive);
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
      return local.mkdirs(here(path));
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
      return local.create(here(path), mode);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
      return local.rename(here(from), here(to));
    }

    @Override
    public boolean isDistributedFS() {
      return true;
    }
  }
}
