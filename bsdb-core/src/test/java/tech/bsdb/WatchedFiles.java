package tech.bsdb;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The files of the machine, seen through a file system that tells of every change before it is. */
public final class WatchedFiles extends FileSystemProvider {
  /** A change of a file or directory. */
  public sealed interface Change {}

  /** A file or directory is opened; what is done with it names the handle. */
  public record Open(int handle, Path path, Set<OpenOption> options) implements Change {}

  /** Bytes are written. */
  public record Write(int handle, long position, byte[] bytes) implements Change {}

  /** A file is cut. */
  public record Cut(int handle, long size) implements Change {}

  /** A file or directory is forced to the device. */
  public record Force(int handle) implements Change {}

  /** A directory is made. */
  public record Make(Path path) implements Change {}

  /** A file or directory gets another name. */
  public record Move(Path from, Path to) implements Change {}

  /** A file gets a second name. */
  public record Link(Path link, Path existing) implements Change {}

  /** A file or directory is deleted. */
  public record Delete(Path path) implements Change {}

  /** Hears of changes; what it throws, the change fails with. */
  @FunctionalInterface
  public interface Watcher {
    /** Called before a change. */
    void before(Change change) throws IOException;
  }

  private static final AtomicInteger HANDLES = new AtomicInteger();

  private final Watcher watcher;
  private final Watched system = new Watched();

  private WatchedFiles(Watcher watcher) {
    this.watcher = watcher;
  }

  /** A path of the machine whose changes the watcher hears of, as those of all paths below it. */
  public static Path watch(Path path, Watcher watcher) {
    return new WatchedFiles(watcher).wrap(path);
  }

  private void tell(Change change) throws IOException {
    synchronized (watcher) {
      watcher.before(change);
    }
  }

  private Path wrap(Path real) {
    return new WatchedPath(real);
  }

  private static Path real(Path path) {
    return path instanceof WatchedPath watched ? watched.real : path;
  }

  @Override
  public String getScheme() {
    return "watched";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return system;
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    boolean writes =
        options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND);
    if (!writes && !Files.isDirectory(real(path))) {
      return FileChannel.open(real(path), options, attributes); // changes nothing
    }
    int handle = HANDLES.incrementAndGet();
    boolean made = options.contains(StandardOpenOption.CREATE_NEW);
    if (made && Files.exists(real(path), LinkOption.NOFOLLOW_LINKS)) {
      return FileChannel.open(real(path), options, attributes); // fails
    }
    tell(new Open(handle, real(path), Set.copyOf(options)));
    return new Channel(handle, FileChannel.open(real(path), options, attributes));
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream =
        Files.newDirectoryStream(real(directory), entry -> filter.accept(wrap(entry)))) {
      stream.forEach(entry -> entries.add(wrap(entry)));
    }
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return entries.iterator();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    if (!Files.exists(real(directory), LinkOption.NOFOLLOW_LINKS)) {
      tell(new Make(real(directory)));
    }
    Files.createDirectory(real(directory), attributes);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    tell(new Link(real(link), real(existing)));
    Files.createLink(real(link), real(existing));
  }

  @Override
  public void delete(Path path) throws IOException {
    Path file = real(path);
    boolean there = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    boolean full = false;
    if (there && Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      try (var entries = Files.list(file)) {
        full = entries.findAny().isPresent();
      }
    }
    if (there && !full) {
      tell(new Delete(file));
    }
    Files.delete(file);
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    tell(new Move(real(source), real(target)));
    Files.move(real(source), real(target), options);
  }

  @Override
  public boolean isSameFile(Path one, Path other) throws IOException {
    return Files.isSameFile(real(one), real(other));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return Files.isHidden(real(path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return Files.getFileStore(real(path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    real(path).getFileSystem().provider().checkAccess(real(path), modes);
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return Files.getFileAttributeView(real(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return Files.readAttributes(real(path), type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    return Files.readAttributes(real(path), attributes, options);
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
      throws IOException {
    Files.setAttribute(real(path), attribute, value, options);
  }

  private final class Watched extends FileSystem {
    @Override
    public FileSystemProvider provider() {
      return WatchedFiles.this;
    }

    @Override
    public void close() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public boolean isReadOnly() {
      return false;
    }

    @Override
    public String getSeparator() {
      return File.separator;
    }

    @Override
    public Iterable<Path> getRootDirectories() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
      return Set.of("basic");
    }

    @Override
    public Path getPath(String first, String... more) {
      return wrap(Path.of(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
      throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
      throw new UnsupportedOperationException();
    }

    @Override
    public WatchService newWatchService() {
      throw new UnsupportedOperationException();
    }
  }

  private final class WatchedPath implements Path {
    private final Path real;

    WatchedPath(Path real) {
      this.real = real;
    }

    private @Nullable Path wrapOrNull(@Nullable Path path) {
      return path == null ? null : wrap(path);
    }

    @Override
    public FileSystem getFileSystem() {
      return system;
    }

    @Override
    public boolean isAbsolute() {
      return real.isAbsolute();
    }

    @Override
    public @Nullable Path getRoot() {
      return wrapOrNull(real.getRoot());
    }

    @Override
    public @Nullable Path getFileName() {
      return wrapOrNull(real.getFileName());
    }

    @Override
    public @Nullable Path getParent() {
      return wrapOrNull(real.getParent());
    }

    @Override
    public int getNameCount() {
      return real.getNameCount();
    }

    @Override
    public Path getName(int index) {
      return wrap(real.getName(index));
    }

    @Override
    public Path subpath(int from, int to) {
      return wrap(real.subpath(from, to));
    }

    @Override
    public boolean startsWith(Path other) {
      return real.startsWith(real(other));
    }

    @Override
    public boolean endsWith(Path other) {
      return real.endsWith(real(other));
    }

    @Override
    public Path normalize() {
      return wrap(real.normalize());
    }

    @Override
    public Path resolve(Path other) {
      return wrap(real.resolve(real(other)));
    }

    @Override
    public Path relativize(Path other) {
      return wrap(real.relativize(real(other)));
    }

    @Override
    public URI toUri() {
      return real.toUri();
    }

    @Override
    public Path toAbsolutePath() {
      return wrap(real.toAbsolutePath());
    }

    @Override
    public Path toRealPath(LinkOption... options) throws IOException {
      return wrap(real.toRealPath(options));
    }

    @Override
    public File toFile() {
      return real.toFile();
    }

    @Override
    public WatchKey register(
        WatchService service, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int compareTo(Path other) {
      return real.compareTo(real(other));
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof WatchedPath path && real.equals(path.real);
    }

    @Override
    public int hashCode() {
      return real.hashCode();
    }

    @Override
    public String toString() {
      return real.toString();
    }
  }

  private final class Channel extends FileChannel {
    private final int handle;
    private final FileChannel real;

    Channel(int handle, FileChannel real) {
      this.handle = handle;
      this.real = real;
    }

    private void tellWrite(ByteBuffer bytes, long position) throws IOException {
      byte[] written = new byte[bytes.remaining()];
      bytes.duplicate().get(written);
      tell(new Write(handle, position, written));
    }

    private static void all(int written, int asked) throws IOException {
      if (written != asked) {
        throw new IOException("a short write: the disk of the test is full");
      }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return real.read(into);
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
      return real.read(into, offset, length);
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
      return real.read(into, position);
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
      int asked = bytes.remaining();
      tellWrite(bytes, real.position());
      all(real.write(bytes), asked);
      return asked;
    }

    @Override
    public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
      long sum = 0;
      for (int i = offset; i < offset + length; i++) {
        sum += write(bytes[i]);
      }
      return sum;
    }

    @Override
    public int write(ByteBuffer bytes, long position) throws IOException {
      int asked = bytes.remaining();
      tellWrite(bytes, position);
      all(real.write(bytes, position), asked);
      return asked;
    }

    @Override
    public long position() throws IOException {
      return real.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
      real.position(position);
      return this;
    }

    @Override
    public long size() throws IOException {
      return real.size();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
      tell(new Cut(handle, size));
      real.truncate(size);
      return this;
    }

    @Override
    public void force(boolean metadata) throws IOException {
      tell(new Force(handle));
      real.force(metadata);
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target)
        throws IOException {
      ByteBuffer part = ByteBuffer.allocate((int) Math.min(count, 1 << 16));
      int read = real.read(part, position);
      return read <= 0 ? 0 : target.write(part.flip());
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count)
        throws IOException {
      ByteBuffer part = ByteBuffer.allocate((int) Math.min(count, 1 << 16));
      int read = source.read(part);
      return read <= 0 ? 0 : write(part.flip(), position);
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
      if (mode != MapMode.READ_ONLY) {
        throw new UnsupportedOperationException("changes by mappings would not be seen");
      }
      return real.map(mode, position, size);
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) throws IOException {
      return real.lock(position, size, shared);
    }

    @Override
    public @Nullable FileLock tryLock(long position, long size, boolean shared) throws IOException {
      return real.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
      real.close();
    }
  }
}
