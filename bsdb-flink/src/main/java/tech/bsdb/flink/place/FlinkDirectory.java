package tech.bsdb.flink.place;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import tech.bsdb.tools.source.DistantDirectory;

/** A directory on a file system of Flink, such as those of its plugins for object stores. */
record FlinkDirectory(FileSystem fileSystem, Path root) implements DistantDirectory {
  /**
   * Opens a directory.
   *
   * @throws org.apache.flink.core.fs.UnsupportedFileSystemSchemeException if Flink has no file
   *     system of the scheme
   */
  static FlinkDirectory of(URI location) throws IOException {
    return new FlinkDirectory(FileSystem.get(location), new Path(location));
  }

  private Path path(String file) {
    if (file.isEmpty()) {
      return root;
    }
    Path parent = root.getParent();
    return file.startsWith("../") && parent != null
        ? new Path(parent, file.substring(3))
        : new Path(root, file);
  }

  @Override
  public String location(String file) {
    return path(file).toString();
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    FSDataInputStream stream;
    try {
      stream = fileSystem.open(path(file));
    } catch (FileNotFoundException e) {
      throw missing(file, e);
    }
    try {
      if (from > 0) {
        stream.seek(from);
      }
      return stream;
    } catch (IOException | RuntimeException e) {
      stream.close();
      throw e;
    }
  }

  private NoSuchFileException missing(String file, FileNotFoundException cause) {
    NoSuchFileException missing = new NoSuchFileException(location(file));
    missing.initCause(cause);
    return missing;
  }

  @Override
  public List<Entry> list(String directory) throws IOException {
    FileStatus[] found;
    try {
      if (!fileSystem.getFileStatus(path(directory)).isDir()) {
        throw new NotDirectoryException(location(directory));
      }
      found = fileSystem.listStatus(path(directory));
    } catch (FileNotFoundException e) {
      throw missing(directory, e);
    }
    if (found == null) {
      throw new NoSuchFileException(location(directory));
    }
    List<Entry> entries = new ArrayList<>();
    for (FileStatus each : found) {
      entries.add(
          new Entry(
              each.getPath().getName(),
              each.getLen(),
              each.isDir(),
              Instant.ofEpochMilli(each.getModificationTime())));
    }
    return entries;
  }

  @Override
  public void write(String file, InputStream content) throws IOException {
    Path target = path(file);
    try (OutputStream out = fileSystem.create(target, WriteMode.OVERWRITE)) {
      content.transferTo(out);
    } catch (IOException | RuntimeException e) {
      try {
        delete(file);
      } catch (IOException stays) {
        e.addSuppressed(stays);
      }
      throw e;
    }
  }

  /**
   * Writes it in place: the file systems of plugins show files when they are complete. After a
   * failure, the file is what it was.
   */
  @Override
  public void replace(String file, byte[] content) throws IOException {
    try (OutputStream out = fileSystem.create(path(file), WriteMode.OVERWRITE)) {
      out.write(content);
    }
  }

  @Override
  public boolean create(String file, byte[] content) throws IOException {
    if (exists(file)) {
      return false;
    }
    try (OutputStream out = fileSystem.create(path(file), WriteMode.NO_OVERWRITE)) {
      out.write(content);
      return true;
    } catch (IOException e) {
      if (exists(file)) {
        return false; // by another, or by an attempt of this
      }
      throw e;
    }
  }

  private boolean exists(String file) throws IOException {
    try {
      return !fileSystem.getFileStatus(path(file)).isDir();
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  @Override
  public boolean isComplete(String file) {
    return true; // files appear when they are complete
  }

  @Override
  public void delete(String file) throws IOException {
    try {
      boolean unused = fileSystem.delete(path(file), /* recursive= */ true);
    } catch (FileNotFoundException gone) {
      // as it should be
    }
  }

  @Override
  public void close() {
    // Flink keeps its file systems
  }
}
