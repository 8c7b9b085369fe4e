package tech.bsdb.mirror;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.io.PageFile;
import tech.bsdb.io.PageFill;
import tech.bsdb.io.Ranges;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;

/**
 * A database or a set of shards at an origin. It is opened once; this is closed after what was
 * opened. Thread-safe.
 */
public final class RemoteDatabase implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteDatabase.class);
  private static final int ATTEMPTS = 20;

  private final CountedRanges origin;
  private final RangeReads reads;
  private final RemoteOptions options;
  private @Nullable CacheDirectory cache;
  private volatile @Nullable Offer first;
  private @Nullable Path held;
  private @Nullable PageFile disk;
  private @Nullable Opened opened;
  private @Nullable PageFill fill;
  private boolean closed;

  private RemoteDatabase(RangeOrigin place, RemoteOptions options) throws IOException {
    RangeOrigin own = place.afresh();
    this.origin = new CountedRanges(own);
    this.reads = new RangeReads(own, options);
    this.options = options;
  }

  /** Asks nothing of the origin yet. */
  public static RemoteDatabase of(RangeOrigin origin, RemoteOptions options) throws IOException {
    return new RemoteDatabase(origin, options);
  }

  /** An operation on what an origin offers. */
  @FunctionalInterface
  public interface Use<T> {
    /** Uses the files. Closes what it opened if it fails. */
    T with(DataSet opened, EngineChoice choice) throws IOException;
  }

  /**
   * Opens what the origin offers now. If it offers something else meanwhile and a file is missing,
   * or if another process drops files from the cache, starts again.
   *
   * @throws java.nio.file.NotDirectoryException if it offers neither a database nor a store
   * @throws NoSuchFileException if the origin lacks a file
   * @throws CorruptDatabaseException if a file is damaged there
   */
  public <T> T withOpened(Use<T> use) throws IOException {
    return opened(true, use);
  }

  /** Reads the manifests alone. */
  public DataSet manifests() throws IOException {
    return opened(false, (opened, choice) -> opened);
  }

  /** Looks for the value of a key in a database none of whose files is here. */
  @FunctionalInterface
  public interface Attempt {
    /** Returns the value, or null if that must be looked for in another way. */
    byte @Nullable [] value(DataSet opened, EngineChoice choice) throws IOException;
  }

  /**
   * Looks for a value by the manifest of its database alone. If it is not found, opening goes on
   * from the same manifest.
   *
   * @return the value; null if the attempt does not find it, or if files are missing, damaged or in
   *     another format, since opening tells more
   * @throws java.nio.file.NotDirectoryException if the origin offers neither a database nor a store
   */
  public byte @Nullable [] attempt(byte[] key, Attempt attempt) throws IOException {
    Offer offer = Offer.readOnce(origin, options);
    first = offer;
    try {
      DataSet database = offer.database(key, origin, options);
      return database == null
          ? null
          : attempt.value(
              database, EngineChoice.remote(ranges(Offer::name), options.memoryBytes(), null));
    } catch (NoSuchFileException
        | ChangedException
        | CorruptDatabaseException
        | UnsupportedFormatException e) {
      first = null; // perhaps there is another version by now
      return null;
    }
  }

  /** Where that lies of which {@link #attempt} found a value, as people write it. */
  public String location() {
    Offer known = first;
    return origin.location(known == null ? "" : known.directory());
  }

  /** The cache; one value alone needs none. */
  private synchronized CacheDirectory cache() throws IOException {
    if (cache == null) {
      cache = CacheDirectory.open(options);
    }
    return cache;
  }

  private <T> T opened(boolean files, Use<T> use) throws IOException {
    CacheDirectory cache = cache();
    Offer before = null;
    for (int attempt = 1; ; attempt++) {
      Offer known = attempt == 1 ? first : null;
      Offer offer = known == null ? Offer.read(origin, options) : known;
      Path directory = cache.hold(offer.manifest().stated().id());
      boolean done = false;
      try {
        Mirror mirror = new Mirror(origin, options, cache, offer, directory);
        T result = opened(mirror, directory, files, use);
        done = true;
        synchronized (this) {
          held = directory;
        }
        cache.trim(options.cacheBytes());
        return result;
      } catch (Mirror.GoneException e) {
        if (attempt == ATTEMPTS || offer.isSame(before)) {
          throw e.missing();
        }
      } catch (NoSuchFileException | FileNotFoundException e) { // another process trims the cache
        if (attempt == ATTEMPTS) {
          throw e;
        }
      } finally {
        before = offer;
        if (!done) {
          cache.release(directory);
        }
      }
    }
  }

  private <T> T opened(Mirror mirror, Path directory, boolean files, Use<T> use)
      throws IOException {
    mirror.bring(files);
    Ranges ranges = ranges(mirror::file);
    DataSet found = DataSet.mirror(directory, mirror, files);
    T result = use.with(found, EngineChoice.remote(ranges, options.memoryBytes(), disk()));
    synchronized (this) {
      opened = new Opened(found, ranges);
    }
    return result;
  }

  /** Reads files by their names at the origin. */
  private Ranges ranges(Function<Path, String> names) {
    return (file, size, from, length) -> reads.read(names.apply(file), size, from, length);
  }

  /** What was opened, and how its files are read. */
  private record Opened(DataSet found, Ranges ranges) {}

  /**
   * Starts to bring the files to the pages on disk.
   *
   * @param data whether those of the data, too
   * @throws IllegalStateException if the options allow no pages on disk, or this was done before
   */
  public synchronized CompletableFuture<Long> preload(boolean data, PageFill.Progress progress) {
    if (disk == null || opened == null || fill != null || closed) {
      throw new IllegalStateException(
          disk == null ? "the options allow no pages on disk" : "closed, or preloaded before");
    }
    fill = new PageFill(disk, opened.ranges, opened.found.ranged(data), progress);
    return fill.result();
  }

  /** The pages kept on disk, or null if the options allow none. */
  private synchronized @Nullable PageFile disk() throws IOException {
    if (disk == null && options.pageBytes() > 0) {
      disk = PageFile.open(cache().pages(), options.pageBytes(), LOG::warn);
    }
    return disk;
  }

  /** What was asked for so far. */
  public RemoteTraffic traffic() {
    return reads.counters().plus(origin.traffic());
  }

  /** Lets the cache drop the files. A second call does nothing. */
  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      if (fill != null) {
        fill.close();
      }
      if (cache != null && held != null) {
        cache.release(held);
      }
      if (disk != null) {
        disk.close();
      }
    }
  }
}
