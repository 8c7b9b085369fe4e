package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Pages of files that lie elsewhere, kept in one file of a fixed size on the disk, which processes
 * share without locks. docs/REMOTE.md ("The page file") describes its bytes. Thread-safe.
 *
 * <p>A page can be in one of the 8 slots of its set, and replaces the one there that was read least
 * recently, in steps of about a minute. Nothing that comes from the file is trusted: what a process
 * that was killed, a power cut or two writers of one slot leave fails the checksum of the page, or
 * is not what its entry states of both the page and its hash, and counts as absent.
 */
public final class PageFile implements Closeable {
  private static final int PAGE = PageSource.PAGE;
  private static final int WAYS = 8;
  private static final int ENTRY = 16;

  /** Bytes of the entries and pages of a set. */
  private static final long SET = (long) WAYS * (PAGE + ENTRY);

  /** The least size that can be asked for, in bytes. */
  public static final long LEAST = 1 << 20;

  /** The greatest size that can be asked for, in bytes. */
  public static final long MOST = 1L << 38;

  private static final long MAGIC = 0x5347_5042_4453_4201L; // 1, "BSDBPGS"
  private static final int CHECKSUMMED = 16;

  /** How long closing waits for pages that were not written yet. */
  private static final int SECONDS_TO_CLOSE = 10;

  /** The most pages that wait to be written. */
  private static final int WAITING = 4096;

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final Path path;
  private final AsynchronousFileChannel channel;
  private final ByteBuffer entries;
  private final long sets;
  private final Consumer<String> warning;
  private final ThreadPoolExecutor writer =
      new ThreadPoolExecutor(
          0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), PageFile::thread);
  private final Semaphore room = new Semaphore(WAITING);
  private volatile boolean refused;

  private PageFile(
      Path path,
      AsynchronousFileChannel channel,
      ByteBuffer entries,
      long sets,
      Consumer<String> warning) {
    this.path = path;
    this.channel = channel;
    this.entries = entries;
    this.sets = sets;
    this.warning = warning;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "bsdb-pages");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Opens a file, and makes it if there is none of this size: in place of one of another size,
   * which other processes then use until they end.
   *
   * @param path the file, in a directory to which nobody else can write
   * @param bytes the most bytes it may take, {@link #LEAST} to {@link #MOST}
   * @param warning is told once if the file cannot be written any more
   */
  public static PageFile open(Path path, long bytes, Consumer<String> warning) throws IOException {
    if (bytes < LEAST || bytes > MOST) {
      throw new IllegalArgumentException("bytes is " + bytes);
    }
    long sets = (bytes - PAGE) / SET;
    ByteBuffer header = header(sets);
    if (!holds(path, header, pagesFrom(sets) + sets * WAYS * PAGE)) {
      make(path, header, sets);
    }
    MappedByteBuffer entries;
    try (FileChannel mapped =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      entries = mapped.map(FileChannel.MapMode.READ_WRITE, PAGE, sets * WAYS * ENTRY);
    }
    AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(
            path, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE), DirectChannel.HERE);
    return new PageFile(path, channel, entries, sets, warning);
  }

  private static ByteBuffer header(long sets) {
    ByteBuffer header = ByteBuffer.allocate(PAGE).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(0, MAGIC).putLong(CHECKSUMMED, sets);
    CRC32C crc = new CRC32C();
    crc.update(header.array(), CHECKSUMMED, PAGE - CHECKSUMMED);
    return header.putInt(8, (int) crc.getValue());
  }

  /** Where the pages begin: at a multiple of a page. */
  private static long pagesFrom(long sets) {
    return PAGE + (sets * WAYS * ENTRY + PAGE - 1) / PAGE * PAGE;
  }

  private static boolean holds(Path path, ByteBuffer header, long length) throws IOException {
    if (!Files.isRegularFile(path)) {
      return false; // or a pipe, which would be waited for
    }
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      ByteBuffer found = ByteBuffer.allocate(PAGE);
      return file.size() == length
          && file.read(found, 0) == PAGE
          && found.flip().equals(header.duplicate());
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /**
   * Makes an empty file. The entries, which are mapped, get their room at once: on a full disk, an
   * access to mapped memory without room would fail in whatever code comes next. The pages take no
   * room until they are written.
   */
  private static void make(Path path, ByteBuffer header, long sets) throws IOException {
    Path directory = Objects.requireNonNull(path.toAbsolutePath().getParent());
    Path made = Files.createTempFile(directory, ".pages", "");
    try {
      try (FileChannel file = FileChannel.open(made, StandardOpenOption.WRITE)) {
        file.write(header.duplicate(), 0);
        ByteBuffer zeros = ByteBuffer.allocate(1 << 20);
        for (long at = PAGE; at < pagesFrom(sets); at += zeros.position()) {
          zeros.clear().limit((int) Math.min(zeros.capacity(), pagesFrom(sets) - at));
          file.write(zeros, at);
        }
        file.write(zeros.clear().limit(1), pagesFrom(sets) + sets * WAYS * PAGE - 1);
      }
      Files.move(made, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException e) { // of the system, which names no file
      throw (FileSystemException)
          new FileSystemException(path.toString(), null, e.getMessage()).initCause(e);
    } finally {
      Files.deleteIfExists(made);
    }
  }

  /**
   * Returns the number that stands for a file of a database.
   *
   * @param id the 16 bytes of the database id
   * @param file 256 times the kind of the file, plus its number
   */
  public static long identity(byte[] id, int file) {
    ByteBuffer words = ByteBuffer.wrap(id).order(ByteOrder.LITTLE_ENDIAN);
    return mix(mix(mix(words.getLong(0)) ^ words.getLong(8)) ^ file);
  }

  /** The finalizer of SplitMix64. */
  private static long mix(long bits) {
    long mixed = (bits ^ bits >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    return mixed ^ mixed >>> 31;
  }

  /** The hash of a page, never 0. */
  static long hash(long identity, long page) {
    long hash = mix(identity ^ page + 0x9e3779b97f4a7c15L);
    return hash == 0 ? 1 : hash;
  }

  /**
   * What an entry states of its page and its hash together. Of two writers of one slot, one may
   * write the page last and the other one the hash, and the checksum of a page does not tell its
   * database.
   */
  private static int bound(byte[] page, int at, long hash) {
    return (int) INTS.get(ByteBuffer.wrap(page), at + PAGE - 4) ^ (int) hash;
  }

  /** The first slot of the set of a page. */
  private int first(long hash) {
    return (int) ((hash >>> 32) * sets >>> 32) * WAYS;
  }

  /** Now, in steps of 64 seconds. */
  static int now() {
    return (int) (System.currentTimeMillis() >>> 16);
  }

  /**
   * Copies a page to an array, if it seems to be here. The caller must verify it.
   *
   * @param identity the {@link #identity} of its file
   * @param at where to begin in the array
   * @return whether there is something that may be the page
   */
  boolean read(long identity, long page, byte[] target, int at) {
    long hash = hash(identity, page);
    int first = first(hash);
    for (int slot = first; slot < first + WAYS; slot++) {
      if ((long) LONGS.getAcquire(entries, slot * ENTRY) == hash) {
        int bound = (int) INTS.get(entries, slot * ENTRY + 8);
        if (fill(slot, target, at)
            && bound(target, at, hash) == bound
            && (long) LONGS.getAcquire(entries, slot * ENTRY) == hash) {
          int now = now();
          if ((int) INTS.get(entries, slot * ENTRY + 12) != now) { // do not dirty it at each read
            INTS.set(entries, slot * ENTRY + 12, now);
          }
          return true;
        }
        return false;
      }
    }
    return false;
  }

  /**
   * Writes a verified page soon; does nothing while too many wait, or if the disk is full.
   *
   * @param source has the page at {@code at}; must not change
   */
  void write(long identity, long page, byte[] source, int at) {
    if (!refused && room.tryAcquire()) {
      writer.execute(
          () -> {
            try {
              put(identity, page, source, at, Integer.MAX_VALUE);
            } finally {
              room.release();
            }
          });
    }
  }

  /** Fails if the file cannot be written any more. */
  void requireWritable() throws IOException {
    if (refused) {
      throw new IOException(path + ": cannot be written");
    }
  }

  /** How many pages there can be. */
  long pages() {
    return sets * WAYS;
  }

  /** Whether there is an entry of a page. */
  boolean holds(long identity, long page) {
    long hash = hash(identity, page);
    int first = first(hash);
    for (int slot = first; slot < first + WAYS; slot++) {
      if ((long) LONGS.getAcquire(entries, slot * ENTRY) == hash) {
        return true;
      }
    }
    return false;
  }

  /**
   * Writes a verified page, unless the disk is full.
   *
   * @param source has the page at {@code at}
   * @param before a page that was read at this time or later stays, and this one is not written
   */
  void put(long identity, long page, byte[] source, int at, int before) {
    long hash = hash(identity, page);
    int first = first(hash);
    int chosen = first;
    int oldest = Integer.MAX_VALUE;
    int any = (int) System.nanoTime(); // of several that were read in the same minute
    for (int way = 0; way < WAYS; way++) {
      int slot = first + (way + any & WAYS - 1);
      long holds = (long) LONGS.getAcquire(entries, slot * ENTRY);
      int used = holds == 0 ? Integer.MIN_VALUE : (int) INTS.get(entries, slot * ENTRY + 12);
      if (holds == hash || used < oldest) {
        chosen = slot;
        oldest = holds == hash ? Integer.MIN_VALUE : used;
      }
    }
    if (refused || oldest >= before) {
      return;
    }
    try {
      LONGS.setRelease(entries, chosen * ENTRY, 0L);
      VarHandle.fullFence();
      ByteBuffer bytes = ByteBuffer.wrap(source, at, PAGE);
      for (long to = place(chosen); bytes.hasRemaining(); ) {
        to += channel.write(bytes, to).get();
      }
      INTS.set(entries, chosen * ENTRY + 8, bound(source, at, hash));
      INTS.set(entries, chosen * ENTRY + 12, now());
      LONGS.setRelease(entries, chosen * ENTRY, hash);
    } catch (ExecutionException | InterruptedException | InternalError e) { // a full disk
      refused = true;
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      String why = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
      warning.accept(path + ": cannot be written, so no more pages are kept there: " + why);
    }
  }

  private long place(int slot) {
    return pagesFrom(sets) + (long) slot * PAGE;
  }

  private boolean fill(int slot, byte[] target, int at) {
    ByteBuffer bytes = ByteBuffer.wrap(target, at, PAGE);
    try {
      for (long from = place(slot); bytes.hasRemaining(); ) {
        int got = channel.read(bytes, from).get();
        if (got < 0) {
          return false;
        }
        from += got;
      }
      return true;
    } catch (ExecutionException e) {
      return false; // fetched anew
    } catch (InterruptedException e) { // not thrown for a read that has been performed
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Writes what waits, unless that takes long, and closes the file. Nothing may be read or written
   * afterwards.
   */
  @Override
  public void close() throws IOException {
    writer.shutdown();
    try {
      if (!writer.awaitTermination(SECONDS_TO_CLOSE, TimeUnit.SECONDS)) {
        refused = true; // of what waits, nothing more is written
      }
      while (!writer.awaitTermination(1, TimeUnit.MINUTES)) {
        warning.accept(path + ": is still being written");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(path + ": interrupted while it was written");
    } finally {
      channel.close();
    }
  }
}
