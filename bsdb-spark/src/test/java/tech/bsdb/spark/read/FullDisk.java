package tech.bsdb.spark.read;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
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

/**
 * The local disk, full for some files: they are created, but nothing can be written to them, for
 * they are the device {@code /dev/full}.
 */
final class FullDisk extends FileSystemProvider {
  private static final Path DEVICE = Path.of("/dev/full");

  private final FileSystem system = new Delegate();
  private final String start;
  private volatile boolean full = true;

  /**
   * Creates a disk.
   *
   * @param start the start of the names of files that there is no room for
   */
  FullDisk(String start) {
    this.start = start;
  }

  /** Whether this machine has the device. */
  static boolean works() {
    return Files.isWritable(DEVICE);
  }

  /** From now on, there is room. */
  void makeRoom() {
    full = false;
  }

  /** A path of the local disk on this one. */
  Path of(Path path) {
    return (Path)
        Proxy.newProxyInstance(
            FullDisk.class.getClassLoader(),
            new Class<?>[] {Path.class},
            (proxy, method, arguments) -> call(path, method, arguments));
  }

  private Object call(Path path, Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("getFileSystem")) {
      return system;
    }
    Object[] local = arguments == null ? new Object[0] : arguments.clone();
    for (int i = 0; i < local.length; i++) {
      local[i] = local[i] instanceof Path argument ? local(argument) : local[i];
    }
    try {
      Object result = method.invoke(path, local);
      return result instanceof Path found ? of(found) : result;
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private Path local(Path path) {
    return path.getFileSystem() == system ? Path.of(path.toString()) : path;
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    FileChannel channel = FileChannel.open(local(path), options, attributes);
    boolean writes = options.contains(StandardOpenOption.WRITE);
    if (!full || !writes || !path.getFileName().toString().startsWith(start)) {
      return channel;
    }
    channel.close();
    return FileChannel.open(DEVICE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return Files.newByteChannel(local(path), options, attributes);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(local(directory))) {
      found.forEach(entry -> entries.add(of(entry)));
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
  public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
    Files.createDirectory(local(path), attributes);
  }

  @Override
  public void delete(Path path) throws IOException {
    Files.delete(local(path));
  }

  @Override
  public void copy(Path from, Path to, CopyOption... options) throws IOException {
    Files.copy(local(from), local(to), options);
  }

  @Override
  public void move(Path from, Path to, CopyOption... options) throws IOException {
    Files.move(local(from), local(to), options);
  }

  @Override
  public boolean isSameFile(Path one, Path other) throws IOException {
    return Files.isSameFile(local(one), local(other));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return Files.isHidden(local(path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return Files.getFileStore(local(path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    Path file = local(path);
    file.getFileSystem().provider().checkAccess(file, modes);
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return Files.getFileAttributeView(local(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return Files.readAttributes(local(path), type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String names, LinkOption... options)
      throws IOException {
    return Files.readAttributes(local(path), names, options);
  }

  @Override
  public void setAttribute(Path path, String name, Object value, LinkOption... options)
      throws IOException {
    Files.setAttribute(local(path), name, value, options);
  }

  @Override
  public String getScheme() {
    return "full";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return system;
  }

  @Override
  public Path getPath(URI uri) {
    return of(Path.of(uri.getPath()));
  }

  /** The local file system, by the name of this one. */
  private final class Delegate extends FileSystem {
    @Override
    public FileSystemProvider provider() {
      return FullDisk.this;
    }

    @Override
    public Path getPath(String first, String... more) {
      return of(Path.of(first, more));
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
      return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
      return List.of(getPath("/"));
    }

    @Override
    public Iterable<FileStore> getFileStores() {
      return DEVICE.getFileSystem().getFileStores();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
      return DEVICE.getFileSystem().supportedFileAttributeViews();
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
      PathMatcher matcher = DEVICE.getFileSystem().getPathMatcher(pattern);
      return path -> matcher.matches(local(path));
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
      return DEVICE.getFileSystem().getUserPrincipalLookupService();
    }

    @Override
    public WatchService newWatchService() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }
}
