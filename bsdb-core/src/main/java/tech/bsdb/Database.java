package tech.bsdb;

import java.io.IOException;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.check.Comparison;
import tech.bsdb.check.Verification;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.Manifest;
import tech.bsdb.io.Engines;
import tech.bsdb.io.ReadCount;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedKeys;
import tech.bsdb.lookup.OrderedWalk;
import tech.bsdb.lookup.RecordWalk;
import tech.bsdb.lookup.SampledGet;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;
import tech.bsdb.write.Signing;

/**
 * An open database, or an open set of shards, which answers for all of them. Thread-safe; one
 * instance serves any number of threads.
 *
 * <p>Opening takes constant time and memory regardless of the size of the database, except for the
 * index and the filter of the packed layout. The files are shared with other readers and processes
 * through the page cache.
 *
 * <pre>{@code
 * try (Database database = Database.open(Path.of("./rdb"))) {
 *   byte[] value = database.get(key); // null when absent
 * }
 * }</pre>
 */
public final class Database implements AutoCloseable {
  private static final String NOT_OPENED = "not opened";

  private final Lookup lookup;

  /** Where it is if remote, and what to close with it; otherwise null. */
  private final @Nullable Distant distant;

  /** Takes what was opened in a directory. */
  Database(Lookup lookup) {
    this(lookup, null);
  }

  private Database(Lookup lookup, @Nullable Distant distant) {
    this.lookup = lookup;
    this.distant = distant;
  }

  /** Opens a database with {@link OpenOptions#defaults}. */
  public static Database open(Path directory) throws IOException {
    return open(directory, OpenOptions.defaults());
  }

  /**
   * Opens a database, a set of shards ({@link BuildOptions#withShards}), or one or some shards of a
   * set. Shards answer their own keys; lookups of others throw a {@link WrongShardException}.
   *
   * @param directory the directory of the database, the set or the shard
   * @param options how to open it
   * @throws java.nio.file.NoSuchFileException if the directory does not exist
   * @throws java.nio.file.NotDirectoryException if it is not a database
   * @throws tech.bsdb.error.CorruptDatabaseException if a file is truncated, has a damaged header
   *     or footer, or belongs to another database
   * @throws tech.bsdb.error.UntrustedException if no trusted key has signed it, although the
   *     options have some
   * @throws tech.bsdb.error.UnsupportedFormatException if this version cannot read its format
   */
  public static Database open(Path directory, OpenOptions options) throws IOException {
    EngineChoice choice =
        EngineChoice.named(name(options.index()), name(options.data()), options.indexInMemory());
    return new Database(
        DataSet.withOpened(
            directory, options.trusted(), opened -> Lookup.open(opened, choice, options.verify())));
  }

  /** Opens a database in place with {@link RemoteOptions#defaults}. */
  public static Database open(URI location) throws IOException {
    return open(location, RemoteOptions.defaults());
  }

  /**
   * Opens a database in place: on a web server, an object store or a distributed file system. The
   * location is that of a database, of a set of shards, of one or some shards, or of a store, whose
   * current version is opened. A location with the scheme {@code file} is that of a directory,
   * which is opened like {@link #open(Path)}.
   *
   * <p>The schemes {@code http} and {@code https} are always available; others come with an {@link
   * tech.bsdb.remote.OriginProvider}. See {@link #open(RangeOrigin, RemoteOptions)} for what
   * opening reads and how lookups fail.
   *
   * @throws IllegalArgumentException if nothing reads the scheme of the location
   */
  public static Database open(URI location, RemoteOptions options) throws IOException {
    return Distant.isHere(location)
        ? open(Path.of(location), here(options))
        : open(Distant.of(location, options));
  }

  /** How to open a database here, given the options for those elsewhere. */
  private static OpenOptions here(RemoteOptions options) {
    return OpenOptions.defaults().withTrusted(options.trusted());
  }

  /**
   * Opens a database in place. Copies its small files to the {@linkplain RemoteOptions#cache
   * cache}, which later openings use: the manifests; of a packed database the index, and the filter
   * if it has at most 8 MiB; of others the hash function, which may be large, and the dictionary.
   * Lookups and scans read the other files in ranges. They verify every page.
   *
   * <p>A lookup makes one request in the packed layout, and two in other layouts. To look up many
   * keys, call {@link #getAll} or {@link #getAsync}, whose requests overlap; each {@link #get}
   * waits for its own. All methods work as for a directory. If files are removed or replaced there
   * while the database is open, reads of them fail with a {@link java.nio.file.NoSuchFileException}
   * or a {@link tech.bsdb.remote.ChangedException}; what is in memory is still answered. Then open
   * it again. If a new version of a store becomes current, this keeps reading the one that it
   * opened.
   *
   * @param origin where it is; not closed by this
   * @throws java.nio.file.NotDirectoryException if the origin is neither a database nor a store
   * @throws java.nio.file.AccessDeniedException if it must not be read
   * @throws java.nio.file.NoSuchFileException if the origin lacks a file
   * @throws tech.bsdb.error.CorruptDatabaseException if a file that was read is damaged there
   * @throws tech.bsdb.error.UnsupportedFormatException if this version cannot read its format
   * @throws IOException if the origin cannot be reached within the attempts and the deadline, or if
   *     the cache cannot be used
   */
  public static Database open(RangeOrigin origin, RemoteOptions options) throws IOException {
    return open(new Distant(origin, options, null));
  }

  /**
   * Looks up one key of a database in place, without opening it if possible. In the layout packed,
   * a present key usually takes two requests, regardless of the size of the database: the manifest,
   * which samples the index, and the few pages that probably contain the key; a set of shards takes
   * three, and a store two more. For other layouts, long records, absent keys, and a few of a
   * thousand present ones, this opens the database and closes it again. To look up several keys,
   * open the database.
   *
   * @return the value, or null if the key is absent, as {@link #get} of the open database
   * @throws IOException as {@link #open(RangeOrigin, RemoteOptions)} and {@link #get}
   * @throws IllegalArgumentException if nothing reads the scheme of the location
   */
  public static byte @Nullable [] getOnce(URI location, byte[] key, RemoteOptions options)
      throws IOException {
    if (Distant.isHere(location)) {
      try (Database database = open(Path.of(location), here(options))) {
        return database.get(key);
      }
    }
    return getOnce(() -> Distant.of(location, options), key, read -> {});
  }

  /**
   * Looks up one key of a database in place, like {@link #getOnce(URI, byte[], RemoteOptions)}.
   *
   * @param origin where it is; not closed by this
   * @param location receives the location of what was read: of a store, that of its current version
   */
  public static byte @Nullable [] getOnce(
      RangeOrigin origin, byte[] key, RemoteOptions options, Consumer<String> location)
      throws IOException {
    return getOnce(() -> new Distant(origin, options, null), key, location);
  }

  /** Finds a remote database. */
  @FunctionalInterface
  private interface Finding {
    Distant find() throws IOException;
  }

  private static byte @Nullable [] getOnce(Finding finding, byte[] key, Consumer<String> location)
      throws IOException {
    try {
      return getOnce(finding.find(), key, location);
    } catch (NoSuchFileException | ChangedException e) { // perhaps there is a new version
      return getOnce(finding.find(), key, location);
    }
  }

  private static byte @Nullable [] getOnce(Distant distant, byte[] key, Consumer<String> location)
      throws IOException {
    byte[] value;
    try {
      value =
          distant.database.attempt(key, (found, choice) -> SampledGet.value(found, choice, key));
      if (value != null) {
        location.accept(distant.database.location());
      }
    } catch (IOException | RuntimeException e) {
      distant.closeAfter(e);
      throw e;
    }
    if (value != null) {
      distant.close();
      return value;
    }
    try (Database database = open(distant)) {
      location.accept(database.lookup.opened().location());
      return database.get(key);
    }
  }

  private static Database open(Distant distant) throws IOException {
    try {
      return new Database(
          distant.database.withOpened((found, choice) -> Lookup.open(found, choice, true)),
          distant);
    } catch (IOException | RuntimeException e) {
      distant.closeAfter(e);
      throw e;
    }
  }

  /**
   * Explains why an engine is unavailable.
   *
   * @param directory the directory of the files to read; null to check the machine only, regardless
   *     of file system
   * @return the reason, or null if the engine is available
   */
  public static @Nullable String unavailable(OpenOptions.Engine engine, @Nullable Path directory) {
    String name = name(engine);
    return name == null ? null : Engines.unavailable(name, directory);
  }

  /**
   * Returns the path of a database's manifest, the file that marks a directory as a database. A
   * build writes it last.
   */
  public static Path manifest(Path directory) {
    return directory.resolve(Manifest.FILE_NAME);
  }

  /** Returns the name of an engine, or null for {@code AUTO}. */
  private static @Nullable String name(OpenOptions.Engine engine) {
    return engine == OpenOptions.Engine.AUTO ? null : engine.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Looks up a key.
   *
   * @param key 0 to 65,535 bytes; a longer key is absent
   * @return the value, possibly of length 0, or null if the key is absent. An approximate database
   *     truncates long values and returns an arbitrary value for a fraction of absent keys (2 to
   *     the power of minus its checksum bits)
   * @throws IOException if a read fails
   * @throws tech.bsdb.error.CorruptDatabaseException if the lookup meets damaged bytes
   * @throws WrongShardException if the key belongs to a shard that this does not hold, see {@link
   *     #isShard}. All lookups throw it
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] get(byte[] key) throws IOException {
    return lookup.get(key);
  }

  /**
   * Whether this answers only some keys of a set, because it is one of its shards, opened alone, or
   * a directory that holds only some of them. It then refuses the keys of other shards with a
   * {@link WrongShardException}.
   */
  public boolean isShard() {
    return lookup.isShard();
  }

  /**
   * Checks that a key belongs here; reads nothing.
   *
   * @throws WrongShardException if the key belongs to a shard that this does not hold
   */
  public void requireOwn(byte[] key) throws WrongShardException {
    int unused = lookup.database(key);
  }

  /**
   * Looks up a key like {@link #get(byte[])}, but reserves memory from a budget before allocating
   * it.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  public byte @Nullable [] get(byte[] key, MemoryBudget budget) throws IOException {
    return lookup.get(key, budget::reserve);
  }

  /**
   * Looks up a key and shows its value to a reader in place: in the mapped or loaded file, in the
   * page just read, or in the block just decompressed. Only a value that spans pages is copied
   * first. In steady state, a call allocates the slice that it shows, and nothing else unless the
   * copy or the block exceeds 64 KiB.
   *
   * <p>The slice is valid until the reader returns. Using it later does not crash the virtual
   * machine, but may show other bytes, and after {@link #close} may throw an {@link
   * IllegalStateException}. On Java 22 and newer, closing releases mapped and loaded files at once,
   * and slices of them throw. On Java 17 to 21, the garbage collector releases the files once no
   * slice of them is left.
   *
   * <p>The reader runs on the calling thread and may look up other keys. It must not close this
   * database; {@link #close} on another thread waits for it. If a mapped file is truncated
   * meanwhile, gets from the slice fail, but channels, checksums and native code that are given the
   * slice crash the virtual machine, as they do with any mapped buffer.
   *
   * @param key 0 to 65,535 bytes; a longer key is absent
   * @param reader reads the value; not called if the key is absent
   * @return what the reader returns, or null if the key is absent. A null that the reader returns
   *     looks the same, so a reader that must distinguish them returns something else
   * @throws IOException if a read fails, or if the reader throws it. Any exception of the reader
   *     arrives unchanged, except an {@link InternalError}, by which the virtual machine reports an
   *     unreadable mapped page; it becomes the cause of an {@code IOException}
   * @throws tech.bsdb.error.CorruptDatabaseException if the lookup meets damaged bytes
   * @throws IllegalStateException if the database is closed
   */
  public <R> @Nullable R read(byte[] key, ValueReader<R> reader) throws IOException {
    return lookup.show(key, Objects.requireNonNull(reader, "reader"), ValueReader::read);
  }

  /**
   * Looks up many keys. This is faster than separate lookups because reads, or the cache misses of
   * mapped files, overlap.
   *
   * @param keys the keys; duplicates are allowed
   * @return the values in key order, null for each absent key
   * @throws IOException if any read fails
   * @throws tech.bsdb.error.CorruptDatabaseException if a lookup meets damaged bytes
   * @throws IllegalStateException if the database is closed
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    return lookup.getAll(keys);
  }

  /**
   * Looks up a key asynchronously.
   *
   * <p>Data already in memory is returned immediately. Other reads go through io_uring if that is
   * the engine, otherwise through a thread pool. Dependent stages never run on a thread that reads
   * depend on, so they may block, throw, or start further lookups. The call blocks while too many
   * lookups are in flight, unless it is made from such a stage.
   *
   * @param key must not change until the future completes
   * @return a future that completes exactly once: with the value, with null if the key is absent,
   *     or exceptionally with an {@link IOException}, or an {@link IllegalStateException} if the
   *     database is closed
   */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key) {
    return lookup.getAsync(Objects.requireNonNull(key, "key"), null);
  }

  /**
   * Looks up a key like {@link #getAsync(byte[])}, but reserves memory from a budget before
   * allocating it. The future fails with {@link MemoryBudgetExceededException} if the budget has no
   * room.
   */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key, MemoryBudget budget) {
    return lookup.getAsync(Objects.requireNonNull(key, "key"), budget::reserve);
  }

  /** Creates a batch of keys, which the caller reuses to avoid allocation. */
  public LookupBatch batch() {
    return new LookupBatch(lookup);
  }

  /** Iterates over records. Not thread-safe; must be closed. */
  public interface RecordCursor extends AutoCloseable {
    /**
     * Advances to the next record.
     *
     * @return false at the end
     */
    boolean next() throws IOException;

    /** Returns the current record's key. */
    byte[] key();

    /**
     * Returns the current record's value.
     *
     * @throws IllegalStateException if the scan reads no values
     */
    byte[] value();

    @Override
    void close() throws IOException;
  }

  /**
   * Starts a scan of all records, in the order in which they were added, or in that of their keys
   * if it was stored; in the packed layout, in the order of their signatures; in a set, shard by
   * shard. The scan reads the files as they were when the database was opened, even if the
   * directory has since been replaced or deleted. The cursor may outlive this object, unless the
   * build dropped duplicates ({@link Statistics#duplicatesDropped}): the scan then looks up each
   * key and fails with an {@link IllegalStateException} once this database is closed.
   *
   * @throws UnsupportedOperationException if the database is approximate and thus stores no keys
   */
  public RecordCursor scan() throws IOException {
    return scan(ScanOptions.defaults());
  }

  /**
   * Starts a scan like {@link #scan()} with other options.
   *
   * @throws IOException if a read fails; finding a part of the records takes some reads
   * @throws tech.bsdb.error.CorruptDatabaseException if these meet damaged bytes
   * @throws UnsupportedOperationException if the database is approximate and thus stores no keys
   */
  public RecordCursor scan(ScanOptions options) throws IOException {
    return new RecordWalk(lookup, options.values(), options.part(), options.parts());
  }

  /**
   * Whether the order of the keys was stored ({@link BuildOptions#withOrderedKeys}), so that {@link
   * #range range} and the other methods that need it work.
   */
  public boolean isOrdered() {
    return lookup.isOrdered();
  }

  /**
   * Iterates over the records of a range in ascending order of their keys; see {@link
   * #range(KeyRange, RangeOptions)}.
   */
  public RecordCursor range(KeyRange range) {
    return range(range, RangeOptions.defaults());
  }

  /**
   * Iterates over the records of a range in the order of their keys, which are compared byte by
   * byte, unsigned; in a set, over those of all shards, merged.
   *
   * <p>The cursor reads in batches, which grow up to 128 records. Finding the start reads one leaf
   * of the order; each batch reads its leaves and its records. Without values, it reads no records.
   * Unlike that of a {@link #scan scan}, this cursor ends with the database: once it is closed,
   * {@link RecordCursor#next} throws an {@link IllegalStateException}, as it does after a failure.
   *
   * @throws UnsupportedOperationException if the order of the keys was not stored, see {@link
   *     #isOrdered}
   */
  public RecordCursor range(KeyRange range, RangeOptions options) {
    return new OrderedWalk(lookup, range, options.descending(), options.values(), options.limit());
  }

  /**
   * Counts the keys in a range, from the order of the keys alone: reads two of its leaves at most,
   * in a set of each shard.
   *
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws tech.bsdb.error.CorruptDatabaseException if this meets damaged bytes
   * @throws IllegalStateException if the database is closed
   */
  public long count(KeyRange range) throws IOException {
    return ordered().count(range);
  }

  /**
   * Returns the first key in the order of unsigned bytes, or null if there are no records.
   *
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] firstKey() throws IOException {
    return ordered().first();
  }

  /**
   * Returns the last key in the order of unsigned bytes, or null if there are no records.
   *
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] lastKey() throws IOException {
    return ordered().last();
  }

  /**
   * Returns the greatest key that is less than or equal to the given one, or null if there is none.
   *
   * @param key of any length
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] floorKey(byte[] key) throws IOException {
    return ordered().floor(Objects.requireNonNull(key, "key"));
  }

  /**
   * Returns the least key that is greater than or equal to the given one, or null if there is none.
   *
   * @param key of any length
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] ceilingKey(byte[] key) throws IOException {
    return ordered().ceiling(Objects.requireNonNull(key, "key"));
  }

  /**
   * Returns the number of a key. The keys have the numbers from 0 to {@link Statistics#records
   * records} - 1: each the number of smaller keys; in a set, of the smaller keys of its shard and
   * all keys of the shards before it. A number thus stands for a key in any copy of this database,
   * and {@link #range range} continues after that key.
   *
   * @param key of any length
   * @return its number, or -1 if it is absent
   * @throws WrongShardException if the key belongs to a shard that this does not hold
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws IllegalStateException if the database is closed
   */
  public long keyNumber(byte[] key) throws IOException {
    return ordered().number(Objects.requireNonNull(key, "key"));
  }

  /**
   * Returns the key with a number; reads up to ten leaves of the order.
   *
   * @param number see {@link #keyNumber}
   * @throws IllegalArgumentException if no key has this number
   * @throws UnsupportedOperationException if the order of the keys was not stored
   * @throws IllegalStateException if the database is closed
   */
  public byte[] keyAt(long number) throws IOException {
    return ordered().key(number);
  }

  private OrderedKeys ordered() {
    return new OrderedKeys(lookup);
  }

  /** The lookups in this database. */
  Lookup lookup() {
    return lookup;
  }

  /** Returns the statistics of this database. */
  public Statistics statistics() {
    return Statistics.of(lookup.opened(), lookup.engine(), lookup.readsMemory());
  }

  /** Returns the statistics of a database without opening it for lookups. */
  public static Statistics statistics(Path directory) throws IOException {
    return statistics(directory, List.of());
  }

  /**
   * Returns the statistics of a database without opening it for lookups.
   *
   * @param trusted the keys of which one must have signed it, none to require no signature
   * @throws tech.bsdb.error.UntrustedException if none of them has
   */
  public static Statistics statistics(Path directory, List<PublicKey> trusted) throws IOException {
    return DataSet.withOpened(
        directory, trusted, opened -> Statistics.of(opened, NOT_OPENED, false));
  }

  /**
   * Returns the statistics of a database in place. Reads only manifests.
   *
   * @throws IllegalArgumentException if nothing reads the scheme of the location
   * @throws IOException as {@link #open(URI, RemoteOptions)}
   */
  public static Statistics statistics(URI location, RemoteOptions options) throws IOException {
    if (Distant.isHere(location)) {
      return statistics(Path.of(location), options.trusted());
    }
    try (Distant distant = Distant.of(location, options)) {
      return Statistics.of(distant.database.manifests(), NOT_OPENED, false);
    }
  }

  /**
   * Returns the statistics of a database in place. Reads only manifests.
   *
   * @throws IOException as {@link #open(RangeOrigin, RemoteOptions)}
   */
  public static Statistics statistics(RangeOrigin origin, RemoteOptions options)
      throws IOException {
    try (Distant distant = new Distant(origin, options, null)) {
      return Statistics.of(distant.database.manifests(), NOT_OPENED, false);
    }
  }

  /** Returns the remote requests of this, including opening; null if opened in a directory. */
  public @Nullable RemoteTraffic remoteTraffic() {
    return distant == null ? null : distant.database.traffic();
  }

  /**
   * Returns the number and size of reads made by lookups and {@link #scan scans} since the database
   * was opened. Exact once they have ended, including after close.
   */
  public IoCounters ioCounters() {
    ReadCount reads = lookup.reads();
    return new IoCounters(reads.reads(), reads.bytes());
  }

  /**
   * Returns how much of the mapped or loaded files is in memory, and how much of that in huge
   * pages. Takes milliseconds because the kernel walks all mappings of this process; a database
   * opened twice counts twice. Works on Linux only; reports nothing elsewhere, nor for files loaded
   * by Java 17 to 21.
   */
  public MemoryUse memoryUse() throws IOException {
    return lookup.memoryUse();
  }

  /**
   * Returns how much of a database's files is in the page cache, without opening it for lookups.
   */
  public static MemoryUse memoryUse(Path directory) throws IOException {
    return DataSet.open(directory).memoryUse();
  }

  /**
   * Reads all files of a database into the page cache, so that mapped lookups are fast from the
   * start. On Linux with Java 22 or newer, data not yet in huge pages is first dropped from the
   * page cache, then reread from the device, into huge pages where the file system supports them:
   * ext4 since Linux 6.16, and XFS.
   *
   * @param progress receives the number of bytes read since the last call
   * @return what is in memory afterwards
   * @throws IOException if the files do not fit in memory or a read fails
   */
  public static MemoryUse warm(Path directory, LongConsumer progress) throws IOException {
    return DataSet.open(directory).warm(progress);
  }

  /** Receives the progress of preloading. */
  @FunctionalInterface
  public interface PreloadListener {
    /**
     * Reports how many of the bytes to be kept on disk are there. Called by the thread that fetches
     * them, which must not be made to wait.
     */
    void progress(long bytes, long all);
  }

  /**
   * Starts to copy the files of a remote database to the pages on disk ({@link
   * RemoteOptions#pageBytes}), so that lookups need no requests, and does not wait. They come front
   * to back by at most two requests of 1 MiB at a time, beside lookups, whose pages stay. This ends
   * when all are there, or as many as the pages on disk hold, or when the database is closed. Files
   * that lookups need whole are on disk in any case.
   *
   * @param data whether to copy the data files too, or only those of the index
   * @return completes with the bytes that are on disk then, or with the {@link IOException} that
   *     ended it; is cancelled if the database is closed first
   * @throws IllegalStateException if the database is local or keeps no pages on disk, if it is
   *     closed, or if this was called before
   */
  public CompletableFuture<Long> preload(boolean data, PreloadListener listener) {
    if (distant == null) {
      throw new IllegalStateException("the database is here; warm() preloads its files");
    }
    return distant.database.preload(data, listener::progress);
  }

  /** Receives the progress of a verification. */
  @FunctionalInterface
  public interface VerifyListener {
    /** Reports the number of pages verified so far and in total. */
    void progress(long donePages, long totalPages);
  }

  /**
   * Verifies a database without its source: checks every checksum and looks up every key through
   * the index. All files are opened first; if the directory is replaced or deleted meanwhile,
   * verification continues on the open files.
   *
   * @return what was verified
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage, with file and offset
   * @throws tech.bsdb.error.UnsupportedFormatException if {@link #open open} would reject the
   *     format
   */
  public static VerifyReport verify(Path directory, VerifyListener listener) throws IOException {
    return verify(directory, VerifyScope.ALL, List.of(), listener);
  }

  /**
   * Verifies a database like {@link #verify(Path, VerifyListener)}, or only its content.
   *
   * @param trusted the keys of which one must have signed it, none to require no signature
   * @throws tech.bsdb.error.UntrustedException if none of them has
   * @throws IllegalArgumentException if only the content is verified, and the database has no
   *     content hashes because an older version wrote it
   */
  public static VerifyReport verify(
      Path directory, VerifyScope scope, List<PublicKey> trusted, VerifyListener listener)
      throws IOException {
    return Verification.run(directory, scope, trusted, listener);
  }

  /**
   * Verifies a database in place like {@link #verify(Path, VerifyListener)}, without a copy. Reads
   * each page of the data once.
   *
   * @throws IllegalArgumentException if nothing reads the scheme of the location
   * @throws IOException as {@link #open(URI, RemoteOptions)}
   */
  public static VerifyReport verify(URI location, RemoteOptions options, VerifyListener listener)
      throws IOException {
    if (Distant.isHere(location)) {
      return verify(Path.of(location), VerifyScope.ALL, options.trusted(), listener);
    }
    try (Distant distant = Distant.of(location, options)) {
      return verify(distant, VerifyScope.ALL, listener);
    }
  }

  /**
   * Verifies a database in place like {@link #verify(Path, VerifyScope, List, VerifyListener)},
   * without a copy. Reads each page of the data once.
   *
   * @throws IOException as {@link #open(RangeOrigin, RemoteOptions)}
   */
  public static VerifyReport verify(
      RangeOrigin origin, RemoteOptions options, VerifyScope scope, VerifyListener listener)
      throws IOException {
    try (Distant distant = new Distant(origin, options, null)) {
      return verify(distant, scope, listener);
    }
  }

  private static VerifyReport verify(Distant distant, VerifyScope scope, VerifyListener listener)
      throws IOException {
    try (Verification all =
        distant.database.withOpened(
            (found, choice) -> Verification.open(found, choice, scope, listener))) {
      return all.run();
    }
  }

  /**
   * Signs the manifest of a database, or those of a set and its shards, replacing existing
   * signatures (docs/FORMAT.md §18). Replaces the file of a manifest in one step, and waits for
   * builds that replace the database; the database id and all other files stay. Sign before the
   * database is copied anywhere: copies of it count as the same database.
   *
   * @param key a private key of Ed25519 ({@link KeyFiles})
   * @throws IllegalArgumentException if it is not one, or the database has no content hashes
   *     because an older version wrote it
   */
  public static void sign(Path directory, PrivateKey key) throws IOException {
    DataSet.open(directory);
    Signing.sign(directory, key);
  }

  /**
   * Counts the records by which two databases differ; see {@link #diff(Database, Database,
   * DiffOptions, DiffListener)}.
   */
  public static DiffReport diff(Database before, Database after) throws IOException {
    return diff(before, after, DiffOptions.defaults(), DiffListener.NONE);
  }

  /**
   * Whether the records of two databases are in the same order: that of their signatures if both
   * have the layout {@link Layout#PACKED}, the same seed and the same shards; that of their keys if
   * both {@linkplain #isOrdered are ordered} and have layouts that are not packed. {@linkplain
   * #diff(Database, Database) Comparing} them then takes no lookups. Reads nothing.
   */
  public static boolean haveSameOrder(Database one, Database other) {
    return Comparison.haveSameOrder(one.lookup, other.lookup);
  }

  /**
   * Compares the records of two databases, whose layouts, seeds and numbers of shards may differ.
   *
   * <p>If both {@linkplain #haveSameOrder have the same order}, this reads each of them once, from
   * front to back, and differences are received in this order. Otherwise the keys of the first
   * database are looked up in the second; then, if the second has others and {@link
   * DiffOptions#detail} asks for them, its keys in the first. Memory does not depend on the number
   * of records: it is tens of MiB and the values of one record.
   *
   * <p>Both databases must stay open. Any number of threads may use them meanwhile.
   *
   * @param before the first database
   * @param after the second database, whose records count as added if the first lacks them
   * @param listener receives the differing records and the progress
   * @throws UnsupportedOperationException if one is approximate and thus stores no keys
   * @throws IllegalArgumentException if one is a {@linkplain #isShard part} of a set of shards, and
   *     the other does not hold the same shards of as many
   * @throws tech.bsdb.error.CorruptDatabaseException if the comparison meets damaged bytes, records
   *     in a wrong order or a wrong number of records, with the file
   * @throws java.io.InterruptedIOException if this thread is interrupted; it stays interrupted
   * @throws IllegalStateException if one is closed
   */
  public static DiffReport diff(
      Database before, Database after, DiffOptions options, DiffListener listener)
      throws IOException {
    return Comparison.run(before.lookup, after.lookup, options, listener);
  }

  /**
   * Releases all resources. A second call does nothing. Waits for value readers, for batches, and
   * for lookups that read a device, verify pages, or decompress. Other lookups under way, in mapped
   * or loaded files, return their answer or throw an {@link IllegalStateException}. On Java 17 to
   * 21, mapped and loaded files stay in memory until the next garbage collection.
   *
   * @throws IllegalStateException if a {@link ValueReader} calls this, for which it would have to
   *     wait; the database stays open
   */
  @Override
  public void close() throws IOException {
    try {
      lookup.close();
    } catch (IOException e) {
      if (distant != null) {
        distant.closeAfter(e);
      }
      throw e;
    }
    if (distant != null) {
      distant.close();
    }
  }
}
