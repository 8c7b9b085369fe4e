package tech.bsdb.tools.source;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.transfer.Origin;

/**
 * A directory on any file system of Hadoop, such as HDFS and S3, or on local disks, to read from
 * and to write to. Thread-safe; each file is written by one thread at a time.
 *
 * <p>Failures are those of {@link Origin#open}: a missing file is a {@link
 * java.nio.file.NoSuchFileException}, one that must not be touched a {@link
 * java.nio.file.AccessDeniedException}. {@link #explain} turns any of them into a message for
 * users.
 */
public interface DistantDirectory extends Origin, AutoCloseable {
  /**
   * An entry of a directory.
   *
   * @param name its name
   * @param length its length in bytes if it is a file, as far as it is known while it is written
   * @param directory whether it is a directory
   * @param modified when it was written; for a directory, meaningless on object stores
   */
  record Entry(String name, long length, boolean directory, Instant modified) {}

  /**
   * Opens a directory, which need not exist: a URI such as {@code hdfs://host/path}, or a path,
   * which is on the name node of the options if they name one, and local otherwise. Logs in if the
   * options have a keytab.
   *
   * @throws InputException if its file system cannot be reached, for whatever reason
   */
  static DistantDirectory open(String location, FileSourceOptions options) throws IOException {
    Matcher file = LocalDirectory.FILE_URI.matcher(location);
    if (file.matches()) {
      return LocalDirectory.of(file.group(3));
    }
    if (options.nameNode() != null || Pattern.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*", location)) {
      FileSources.requireHadoop(
          DistantDirectory.class.getClassLoader(), location + " cannot be reached without it");
      return HadoopDirectory.of(location, options);
    }
    return LocalDirectory.of(location);
  }

  /**
   * Opens a directory, which need not exist, with the configuration and the login of this process.
   *
   * @param location a URI, or a path on the default file system of the configuration
   * @throws InputException if its file system cannot be reached, for whatever reason
   */
  static DistantDirectory open(String location, Configuration configuration) throws IOException {
    return HadoopDirectory.of(location, configuration);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The stream is made for reading to the end. Any thread may close it at any time; closing
   * waits for nobody and reads nothing more.
   */
  @Override
  InputStream open(String file, long from) throws IOException;

  /** Its path if it is on a local disk or a mounted file system; otherwise null. */
  default @Nullable Path local() {
    return null;
  }

  /**
   * Lists a directory.
   *
   * @param directory its path below this directory; {@code ""} is this directory
   * @throws java.nio.file.NoSuchFileException if there is no such directory
   * @throws java.nio.file.NotDirectoryException if it is a file
   */
  List<Entry> list(String directory) throws IOException;

  /**
   * Writes a file, in place of the one that has this name, and creates its directories. Where files
   * appear when they are complete, as on S3, a file that could not be written does not appear.
   * Elsewhere, as on HDFS, it grows under its name, and is deleted if it cannot be completed; only
   * a process that is killed leaves a part of it ({@link #isComplete}).
   *
   * @param content what to write, which is not closed; what it throws is thrown
   */
  void write(String file, InputStream content) throws IOException;

  /**
   * Writes a small file at once: readers see what it held before or what it holds then, if the file
   * system can rename one file over another, as HDFS and local disks can, or shows files when they
   * are complete, as object stores do. Elsewhere it may be empty for a moment.
   */
  void replace(String file, byte[] content) throws IOException;

  /**
   * Writes a small file if there is none of this name, in one step: of several that do this at the
   * same time, one succeeds. On object stores without conditional writes, several may succeed, and
   * the file is that of the last.
   *
   * @return whether it was written; if not, there may be what an earlier attempt wrote
   */
  boolean create(String file, byte[] content) throws IOException;

  /** Whether a file has been closed by its writer, as far as the file system tells. */
  boolean isComplete(String file) throws IOException;

  /** Deletes a file, or a directory with all that is below it; does nothing if it is missing. */
  void delete(String file) throws IOException;

  /** Explains to users what went wrong with a file. */
  default InputException explain(String file, Throwable failure) {
    return FileSources.explain(location(file), failure);
  }

  @Override
  default String reason(IOException failure) {
    String location = location("");
    String message = String.valueOf(explain("", failure).getMessage());
    return message.startsWith(location + ": ") ? message.substring(location.length() + 2) : message;
  }

  /** Closes the connections. */
  @Override
  void close() throws IOException;
}
