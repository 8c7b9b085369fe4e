package tech.bsdb.tools.source;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.viewfs.ViewFileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.web.WebHdfsFileSystem;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.functional.FutureIO;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.ChangedException;

/**
 * A directory on a file system of Hadoop, which is opened for it alone.
 *
 * @param shown the path as users know it, which matters if a view of file systems leads elsewhere
 */
record HadoopDirectory(FileSystem fileSystem, HadoopRanges ranges, Path path, Path shown)
    implements RangeDirectory {
  private HadoopDirectory(FileSystem fileSystem, Path path, Path shown) {
    this(fileSystem, new HadoopRanges(fileSystem), path, shown);
  }

  /** A hint to stores: one request for all that follows, instead of one for each range. */
  private static final String READ_POLICY = "whole-file, sequential";

  private static final int CHUNK = 1 << 18;

  /** What the first request for a file on S3 asks for. */
  private static final int START = 1 << 16;

  /** No object on S3 is longer. */
  private static final long LONGEST = 1L << 50;

  private static final byte[] NOTHING = {};

  static HadoopDirectory of(String location, FileSourceOptions options) throws IOException {
    return of(location, options, UnaryOperator.identity());
  }

  /** Opens a directory for those who make further attempts themselves. */
  static HadoopDirectory forRanges(String location, FileSourceOptions options) throws IOException {
    return of(location, options, HadoopConfiguration::once);
  }

  private static HadoopDirectory of(
      String location, FileSourceOptions options, UnaryOperator<Configuration> adapted)
      throws IOException {
    try {
      Login login = Login.of(options);
      Path given = HadoopFiles.path(location);
      URI uri = HadoopFiles.uri(location, given, login.configuration());
      login.require(uri.getScheme());
      return at(given, uri, adapted.apply(login.configuration()));
    } catch (IOException | RuntimeException | LinkageError failure) {
      throw FileSources.explain(location, failure);
    }
  }

  /**
   * Opens a directory with the configuration and the login of this process.
   *
   * @param location a URI, or a path on the default file system
   */
  static DistantDirectory of(String location, Configuration configuration) throws IOException {
    try {
      Path given = HadoopFiles.path(location);
      URI uri = given.getFileSystem(configuration).makeQualified(given).toUri();
      if ("file".equals(uri.getScheme())) {
        return LocalDirectory.of(uri.getPath());
      }
      return at(given, uri, HadoopConfiguration.resuming(configuration));
    } catch (IOException | RuntimeException | LinkageError failure) {
      throw FileSources.explain(location, failure);
    }
  }

  private static HadoopDirectory at(Path given, URI uri, Configuration configuration)
      throws IOException {
    FileSystem fileSystem = FileSystem.newInstance(uri, configuration);
    try {
      Path path = fileSystem.makeQualified(given);
      return fileSystem instanceof ViewFileSystem
          ? behind(fileSystem, path, configuration)
          : new HadoopDirectory(fileSystem, path, path);
    } catch (IOException | RuntimeException | LinkageError failure) {
      fileSystem.close();
      throw failure;
    }
  }

  /** The directory that a view shows; only its own file system can rename over another file. */
  private static HadoopDirectory behind(FileSystem view, Path path, Configuration configuration)
      throws IOException {
    Path real = resolve(view, path);
    FileSystem fileSystem = FileSystem.newInstance(real.toUri(), configuration);
    view.close();
    return new HadoopDirectory(fileSystem, real, path);
  }

  private static Path resolve(FileSystem view, Path path) throws IOException {
    try {
      return view.resolvePath(path);
    } catch (FileNotFoundException missing) {
      Path parent = path.getParent();
      if (parent == null) {
        throw missing;
      }
      return new Path(resolve(view, parent), path.getName());
    }
  }

  @Override
  public String location(String file) {
    return path(shown, file).toString();
  }

  private Path path(String file) {
    return path(path, file);
  }

  private static Path path(Path directory, String file) {
    return file.isEmpty() ? directory : new Path(directory, file);
  }

  /** An operation on a file. */
  @FunctionalInterface
  private interface Operation<T> {
    T run(Path path) throws IOException;
  }

  private <T> T on(String file, Operation<T> operation) throws IOException {
    try {
      return operation.run(path(file));
    } catch (IOException e) {
      throw known(file, e);
    } catch (RuntimeException | LinkageError e) {
      throw explain(file, e);
    }
  }

  /** The failure as an {@link tech.bsdb.transfer.Origin} throws it. */
  private IOException known(String file, IOException e) {
    // S3's connector reports a missing bucket as a missing file, and throws the JDK's exceptions
    boolean bucket = e.getClass().getSimpleName().equals("UnknownStoreException");
    boolean denied = e instanceof AccessControlException || e instanceof AccessDeniedException;
    if (bucket || denied) {
      String words = String.valueOf(explain(file, e).getMessage());
      String location = location(file) + ": ";
      return caused(
          new AccessDeniedException(
              location(file),
              null,
              words.startsWith(location) ? words.substring(location.length()) : words),
          e);
    }
    return e instanceof FileNotFoundException
        ? caused(new NoSuchFileException(location(file)), e)
        : e;
  }

  private static FileSystemException caused(FileSystemException failure, IOException cause) {
    failure.initCause(cause);
    return failure;
  }

  private boolean isS3() {
    return "s3a".equals(path.toUri().getScheme());
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    return from == 0 && isS3() ? whole(file) : opened(file, from, -1, NOTHING);
  }

  /**
   * Opens a file on S3 from its first byte, without a request for its length: it is read as one
   * that is longer, and ends sooner. Its start is asked for first, so that the connection is free
   * again if there is no more, as of most files. If it is missing, the answer tells whether its
   * bucket is, too.
   */
  private InputStream whole(String file) throws IOException {
    byte[] start;
    try (InputStream in = opened(file, 0, START, NOTHING)) {
      start = in.readNBytes(START);
    }
    return start.length < START
        ? new ByteArrayInputStream(start)
        : opened(file, START, LONGEST, start);
  }

  /**
   * Opens a file.
   *
   * @param length its length, or a longer one; -1 to ask for it
   * @param before what the stream has before these bytes
   */
  private InputStream opened(String file, long from, long length, byte[] before)
      throws IOException {
    return on(
        file,
        found -> {
          FutureDataInputStreamBuilder builder =
              fileSystem
                  .openFile(found)
                  .opt(Options.OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY, READ_POLICY);
          if (length >= 0) {
            builder.opt(Options.OpenFileOptions.FS_OPTION_OPENFILE_LENGTH, String.valueOf(length));
          }
          FSDataInputStream in = FutureIO.awaitFuture(builder.build());
          try {
            if (from > 0) {
              in.seek(from);
            }
            return new HadoopStream(before, in, failure -> known(file, failure));
          } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
          }
        });
  }

  @Override
  public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
    HadoopRanges.Source source = new HadoopRanges.Source(path(file), size);
    return ranges.read(source, from, length, failure -> reading(file, source, failure));
  }

  /** The failure as {@link tech.bsdb.remote.RangeOrigin} throws it. */
  private Throwable reading(String file, HadoopRanges.Source source, Throwable failure) {
    if (failure instanceof EOFException end) {
      return ended(file, source, end);
    }
    if (failure.getClass().getSimpleName().equals("RemoteFileChangedException")) {
      return changed(file, "was replaced", failure);
    }
    if (failure instanceof IOException e) {
      return known(file, e);
    }
    return failure instanceof VirtualMachineError ? failure : explain(file, failure);
  }

  /** Servers that fail may also end a stream early, so that only the length tells. */
  private Throwable ended(String file, HadoopRanges.Source source, EOFException end) {
    try {
      long length = fileSystem.getFileStatus(source.path()).getLen();
      return length == source.size()
          ? new IOException(location(file) + ": the answer ended early", end)
          : changed(
              file, "was cut short: it has %,d of %,d bytes".formatted(length, source.size()), end);
    } catch (IOException e) {
      return known(file, e);
    }
  }

  private ChangedException changed(String file, String how, Throwable cause) {
    ChangedException changed =
        new ChangedException(
            location(file) + " " + how + " while the database was open; open it again");
    changed.initCause(cause);
    return changed;
  }

  @Override
  public List<Entry> list(String directory) throws IOException {
    return on(
        directory,
        found -> {
          List<Entry> entries = new ArrayList<>();
          RemoteIterator<FileStatus> all = fileSystem.listStatusIterator(found);
          while (all.hasNext()) {
            FileStatus one = all.next();
            if (one.getPath().toUri().getPath().equals(found.toUri().getPath())) {
              throw new NotDirectoryException(location(directory));
            }
            entries.add(
                new Entry(
                    one.getPath().getName(),
                    one.getLen(),
                    one.isDirectory(),
                    Instant.ofEpochMilli(one.getModificationTime())));
          }
          return entries;
        });
  }

  @Override
  public void write(String file, InputStream content) throws IOException {
    on(
        file,
        target -> {
          write(target, content);
          return target;
        });
  }

  private void write(Path target, InputStream content) throws IOException {
    FSDataOutputStream out = fileSystem.create(target, true);
    try {
      byte[] chunk = new byte[CHUNK];
      int count;
      while ((count = content.readNBytes(chunk, 0, CHUNK)) > 0) {
        out.write(chunk, 0, count);
      }
    } catch (IOException | RuntimeException | Error e) {
      abandon(target, out, e);
      throw e;
    }
    try {
      out.close();
    } catch (IOException | RuntimeException e) {
      delete(target, e);
      throw e;
    }
  }

  /** Discards a file; to close it would complete it. */
  private void abandon(Path target, FSDataOutputStream out, Throwable why) {
    if (out.hasCapability(StreamCapabilities.ABORTABLE_STREAM)
        && out.getWrappedStream() instanceof Abortable abortable) {
      try {
        abortable.abort();
        return;
      } catch (RuntimeException e) {
        why.addSuppressed(e);
      }
    }
    try {
      out.close();
    } catch (IOException | RuntimeException e) {
      why.addSuppressed(e);
    }
    delete(target, why);
  }

  private void delete(Path target, Throwable why) {
    try {
      boolean unused = fileSystem.delete(target, false);
    } catch (IOException | RuntimeException e) {
      why.addSuppressed(e);
    }
  }

  @Override
  public void replace(String file, byte[] content) throws IOException {
    on(
        file,
        target -> {
          if (!canReplace(fileSystem)) {
            write(target, new ByteArrayInputStream(content));
            return target;
          }
          Path next = new Path(target.getParent(), "." + target.getName() + ".new");
          write(next, new ByteArrayInputStream(content));
          try {
            Renaming.over(fileSystem, next, target);
          } catch (IOException | RuntimeException e) {
            delete(next, e);
            throw e;
          }
          return target;
        });
  }

  @Override
  public boolean create(String file, byte[] content) throws IOException {
    return on(
        file,
        target -> {
          try {
            createNew(target, content);
            return true;
          } catch (IOException refused) {
            if (exists(target)) {
              return false;
            }
            throw refused;
          }
        });
  }

  /** Each file system has its own exception for a file that is there; S3 tells at the close. */
  private void createNew(Path target, byte[] content) throws IOException {
    FSDataOutputStreamBuilder<?, ?> builder = fileSystem.createFile(target);
    builder.recursive();
    builder.overwrite(false);
    builder.opt(Options.CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, true);
    FSDataOutputStream out = (FSDataOutputStream) builder.build();
    try {
      out.write(content);
    } catch (IOException | RuntimeException e) {
      abandon(target, out, e);
      throw e;
    }
    boolean appearsWhole = out.hasCapability(StreamCapabilities.ABORTABLE_STREAM);
    try {
      out.close();
    } catch (IOException | RuntimeException e) {
      if (!appearsWhole) { // otherwise what is there is another's
        delete(target, e);
      }
      throw e;
    }
  }

  private boolean exists(Path path) throws IOException {
    try {
      FileStatus unused = fileSystem.getFileStatus(path);
      return true;
    } catch (FileNotFoundException none) {
      return false;
    }
  }

  /**
   * Whether a file system renames one file over another in one step. Others delete the other first,
   * so that there is none for a moment.
   */
  private static boolean canReplace(FileSystem fileSystem) {
    return fileSystem instanceof DistributedFileSystem || fileSystem instanceof WebHdfsFileSystem;
  }

  /** Calls the rename that file systems offer to each other only. */
  private static final class Renaming extends FilterFileSystem {
    private Renaming(FileSystem fileSystem) {
      super(fileSystem);
    }

    @SuppressWarnings("deprecation") // the other API is not that of every file system
    static void over(FileSystem fileSystem, Path from, Path to) throws IOException {
      new Renaming(fileSystem).rename(from, to, Options.Rename.OVERWRITE);
    }
  }

  @Override
  public boolean isComplete(String file) throws IOException {
    return on(
        file,
        found -> !(fileSystem instanceof DistributedFileSystem hdfs) || hdfs.isFileClosed(found));
  }

  @Override
  public void delete(String file) throws IOException {
    try {
      boolean unused = on(file, found -> fileSystem.delete(found, true));
    } catch (NoSuchFileException missing) {
      // nothing to delete
    }
  }

  @Override
  public void close() throws IOException {
    ranges.close();
    fileSystem.close();
  }

  @Override
  public String toString() {
    return shown.toString();
  }

  /**
   * A stream of Hadoop that any thread may close at any time. Hadoop's own streams make a close
   * wait for the read that another thread is in, which may take minutes. Here the thread in the
   * read is interrupted, and closes the stream once the read returns.
   */
  private static final class HadoopStream extends InputStream {
    private final ByteArrayInputStream before;
    private final FSDataInputStream in;
    private final UnaryOperator<IOException> known;
    private @Nullable Thread reader;
    private boolean closed;

    HadoopStream(byte[] before, FSDataInputStream in, UnaryOperator<IOException> known) {
      this.before = new ByteArrayInputStream(before);
      this.in = in;
      this.known = known;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      enter();
      try {
        int count = before.read(bytes, offset, length);
        return count < 0 ? in.read(bytes, offset, length) : count;
      } catch (IOException e) {
        throw known.apply(e);
      } finally {
        leave();
      }
    }

    private synchronized void enter() throws IOException {
      if (closed) {
        throw new IOException("the stream is closed");
      }
      reader = Thread.currentThread();
    }

    private void leave() throws IOException {
      synchronized (this) {
        reader = null;
        if (!closed) {
          return;
        }
      }
      boolean unused = Thread.interrupted(); // it was meant for the read
      in.close();
    }

    @Override
    public void close() throws IOException {
      synchronized (this) {
        if (closed) {
          return;
        }
        closed = true;
        if (reader != null) {
          reader.interrupt();
          return;
        }
      }
      in.close();
    }
  }
}
