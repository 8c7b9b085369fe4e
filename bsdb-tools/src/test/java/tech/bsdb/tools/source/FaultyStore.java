package tech.bsdb.tools.source;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * An object store in this process: objects appear when they are complete, and directories are the
 * beginnings of their names. Any of its operations can be made to fail.
 */
public final class FaultyStore extends FileSystem {
  /** The objects by path. */
  public static final NavigableMap<String, byte[]> FILES = new ConcurrentSkipListMap<>();

  /** How many operations were begun. */
  public static final AtomicInteger STEPS = new AtomicInteger();

  /** How many bytes were written, those of failed attempts included. */
  public static final AtomicLong WRITTEN = new AtomicLong();

  /** How many streams that read are open. */
  public static final AtomicInteger OPEN = new AtomicInteger();

  private static final Map<String, AtomicInteger> KINDS = new ConcurrentHashMap<>();
  private static final AtomicInteger HELD = new AtomicInteger();

  private static volatile CountDownLatch gate = new CountDownLatch(0);
  private static volatile boolean cutting;
  private static volatile IntPredicate failing = step -> false;
  private static volatile long room = Long.MAX_VALUE;
  private static volatile boolean conditional = true;

  private URI uri = URI.create("faulty://store");

  /** Empties the store, which then works. */
  public static void reset() {
    FILES.clear();
    conditional = true;
    gate.countDown();
    gate = new CountDownLatch(0);
    repair();
  }

  /** Works from now on. */
  public static void repair() {
    fail(step -> false);
    room = Long.MAX_VALUE;
    cutting = false;
  }

  /** Holds reads of ranges until the latch is counted down, or the store is reset. */
  public static CountDownLatch hold() {
    CountDownLatch closed = new CountDownLatch(1);
    gate = closed;
    return closed;
  }

  /** Ends answers early until it is repaired. */
  public static void cutAnswers() {
    cutting = true;
  }

  /** Waits until at least so many reads are held, or none for 0. */
  public static void awaitHeld(int count) throws InterruptedException {
    while (count == 0 ? HELD.get() > 0 : HELD.get() < count) {
      Thread.sleep(1);
    }
  }

  /** Waits until so many streams are open. */
  public static void awaitOpen(int count) throws InterruptedException {
    while (OPEN.get() != count) {
      Thread.sleep(1);
    }
  }

  /** How many operations of a kind were begun: the first word of what they are called. */
  public static int steps(String kind) {
    return KINDS.getOrDefault(kind, new AtomicInteger()).get();
  }

  /** Has no conditional writes until it is reset: a new file replaces another. */
  public static void ignoreConditions() {
    conditional = false;
  }

  /** Fails the operations of which this is true, counted from 1. */
  public static void fail(IntPredicate which) {
    failing = which;
    STEPS.set(0);
    KINDS.clear();
    WRITTEN.set(0);
  }

  /** Fails writes beyond so many bytes from now on. */
  public static void fill(long bytes) {
    room = WRITTEN.get() + bytes;
  }

  /** The options that reach it. */
  public static FileSourceOptions options() {
    return new FileSourceOptions(
        null, null, Map.of("fs.faulty.impl", FaultyStore.class.getName()), null, null);
  }

  private static void step(String what) throws IOException {
    int step = STEPS.incrementAndGet();
    KINDS
        .computeIfAbsent(what.substring(0, (what + " ").indexOf(' ')), none -> new AtomicInteger())
        .incrementAndGet();
    if (failing.test(step)) {
      throw new IOException("connection reset at step " + step + ": " + what);
    }
  }

  @Override
  public void initialize(URI name, Configuration configuration) throws IOException {
    super.initialize(name, configuration);
    uri = URI.create(name.getScheme() + "://" + name.getAuthority());
  }

  @Override
  public String getScheme() {
    return "faulty";
  }

  @Override
  public URI getUri() {
    return uri;
  }

  private static String key(Path path) {
    return path.toUri().getPath();
  }

  private static byte[] found(Path path) throws FileNotFoundException {
    byte[] bytes = FILES.get(key(path));
    if (bytes == null) {
      throw new FileNotFoundException(path + " is not an object");
    }
    return bytes;
  }

  @Override
  public FSDataInputStream open(Path path, int buffer) throws IOException {
    step("open " + path);
    byte[] bytes = found(path);
    return new FSDataInputStream(new Reading(path, bytes.length));
  }

  /**
   * As S3's connector: asks for the length unless it is given, and for the object when it is read.
   */
  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    long length = parameters.getOptions().getLong("fs.option.openfile.length", -1);
    FileStatus status = length < 0 ? getFileStatus(path) : null;
    if (status != null && status.isDirectory()) {
      throw new FileNotFoundException(path + " is a directory");
    }
    long known = status == null ? length : status.getLen();
    step("open " + path);
    return CompletableFuture.completedFuture(new FSDataInputStream(new Reading(path, known)));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int buffer,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    step("create " + path);
    return new FSDataOutputStream(new Writing(path, overwrite || !conditional), null);
  }

  @Override
  public FSDataOutputStream append(Path path, int buffer, Progressable progress) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean rename(Path from, Path to) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    step("delete " + path);
    boolean deleted = FILES.remove(key(path)) != null;
    return FILES.keySet().removeIf(name -> name.startsWith(key(path) + "/")) || deleted;
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    step("list " + path);
    byte[] bytes = FILES.get(key(path));
    if (bytes != null) {
      return new FileStatus[] {file(path, bytes)};
    }
    String prefix = key(path).equals("/") ? "/" : key(path) + "/";
    TreeSet<String> names = new TreeSet<>();
    for (String name : FILES.keySet()) {
      if (name.startsWith(prefix)) {
        names.add(name.substring(prefix.length()).replaceFirst("/.*", ""));
      }
    }
    if (names.isEmpty()) {
      throw new FileNotFoundException(path + " has no objects");
    }
    names.remove(""); // as S3's connector, which shows no object whose name has an empty part
    List<FileStatus> statuses = new ArrayList<>();
    for (String name : names) {
      Path child = new Path(uri.getScheme(), uri.getAuthority(), prefix + name);
      byte[] object = FILES.get(key(child));
      statuses.add(object == null ? new FileStatus(0, true, 1, 1, 0, child) : file(child, object));
    }
    return statuses.toArray(FileStatus[]::new);
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listFiles(Path path, boolean recursive) {
    List<LocatedFileStatus> all = new ArrayList<>();
    FILES.forEach(
        (name, bytes) -> {
          if (name.startsWith(key(path) + "/")) {
            Path file = new Path(uri.getScheme(), uri.getAuthority(), name);
            all.add(new LocatedFileStatus(file(file, bytes), null));
          }
        });
    return RemoteIterators.remoteIteratorFromIterable(all);
  }

  private static FileStatus file(Path path, byte[] bytes) {
    return new FileStatus(bytes.length, false, 1, 1, System.currentTimeMillis(), path);
  }

  @Override
  public void setWorkingDirectory(Path path) {}

  @Override
  public Path getWorkingDirectory() {
    return new Path("/");
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) {
    return true;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    step("status of " + path);
    String prefix = key(path).equals("/") ? "/" : key(path) + "/";
    if (!FILES.containsKey(key(path))
        && FILES.keySet().stream().anyMatch(f -> f.startsWith(prefix))) {
      return new FileStatus(0, true, 1, 1, 0, path);
    }
    return file(path, found(path));
  }

  /** Asks for the object at each read. */
  private static final class Reading extends FSInputStream implements CanUnbuffer {
    private final Path path;
    private final long length;
    private boolean closed;
    private long at;

    Reading(Path path, long length) {
      this.path = path;
      this.length = length;
      OPEN.incrementAndGet();
    }

    @Override
    public void seek(long to) throws IOException {
      if (to > length) {
        throw new EOFException("beyond the end");
      }
      at = to;
    }

    @Override
    public long getPos() {
      return at;
    }

    @Override
    public boolean seekToNewSource(long to) {
      return false;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] some, int offset, int most) throws IOException {
      if (most == 0) {
        return 0;
      }
      if (at >= length) {
        return -1;
      }
      byte[] bytes = found(path);
      int count = (int) Math.min(Math.min(most, length - at), bytes.length - at);
      if (count <= 0) {
        return -1;
      }
      System.arraycopy(bytes, (int) at, some, offset, count);
      at += count;
      return count;
    }

    @Override
    public void readFully(long from, byte[] some, int offset, int count) throws IOException {
      step("read " + path);
      HELD.incrementAndGet();
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new InterruptedIOException("interrupted");
      } finally {
        HELD.decrementAndGet();
      }
      byte[] bytes = found(path);
      if (cutting || from + count > bytes.length) {
        throw new EOFException("the end");
      }
      System.arraycopy(bytes, (int) from, some, offset, count);
    }

    @Override
    public void unbuffer() {}

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        OPEN.decrementAndGet();
      }
    }
  }

  private static final class Writing extends OutputStream implements Abortable, StreamCapabilities {
    private final Path path;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final boolean overwrite;
    private boolean closed;

    Writing(Path path, boolean overwrite) {
      this.path = path;
      this.overwrite = overwrite;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] some, int offset, int length) throws IOException {
      step("write " + path);
      if (WRITTEN.addAndGet(length) > room) {
        throw new IOException("the store is full");
      }
      bytes.write(some, offset, length);
    }

    @Override
    public boolean hasCapability(String capability) {
      return capability.equals(StreamCapabilities.ABORTABLE_STREAM);
    }

    @Override
    public Abortable.AbortableResult abort() {
      closed = true;
      return new Abortable.AbortableResult() {
        @Override
        public boolean alreadyClosed() {
          return false;
        }

        @Override
        public IOException anyCleanupException() {
          return null;
        }
      };
    }

    @Override
    public void close() throws IOException {
      if (!closed) {
        closed = true;
        step("complete " + path);
        byte[] object = Arrays.copyOf(bytes.toByteArray(), bytes.size());
        if (overwrite) {
          FILES.put(key(path), object);
        } else if (FILES.putIfAbsent(key(path), object) != null) {
          throw new IOException("precondition failed: " + path);
        }
      }
    }
  }
}
