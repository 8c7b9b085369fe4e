package tech.bsdb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.Engines;
import tech.bsdb.io.HugePages;
import tech.bsdb.io.ReadCount;
import tech.bsdb.lookup.DatabaseDirectory;
import tech.bsdb.lookup.EngineChoice;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.RecordWalk;
import tech.bsdb.lookup.Verification;
import tech.bsdb.lookup.Warming;

/**
 * An open database. Thread-safe; one instance serves any number of threads.
 *
 * <p>Opening takes the same time and memory whatever the size of the database; the files are shared
 * with other readers and processes through the page cache.
 *
 * <pre>{@code
 * try (Database database = Database.open(Path.of("./rdb"))) {
 *   byte[] value = database.get(key); // null when absent
 * }
 * }</pre>
 */
public final class Database implements AutoCloseable {
  private final Lookup lookup;

  private Database(Lookup lookup) {
    this.lookup = lookup;
  }

  /** Opens a database with {@link OpenOptions#defaults}. */
  public static Database open(Path directory) throws IOException {
    return open(directory, OpenOptions.defaults());
  }

  /**
   * Opens a database.
   *
   * @param directory its directory
   * @param options how it is read
   * @throws java.nio.file.NoSuchFileException if there is nothing
   * @throws java.nio.file.NotDirectoryException if it is not a database
   * @throws tech.bsdb.error.CorruptDatabaseException if a file is missing bytes, damaged in its
   *     header or footer, or of another database
   * @throws tech.bsdb.error.UnsupportedFormatException if it is of a format that this version does
   *     not read, or one shard of many
   */
  public static Database open(Path directory, OpenOptions options) throws IOException {
    EngineChoice choice =
        EngineChoice.named(name(options.index()), name(options.data()), options.indexInMemory());
    return new Database(Lookup.open(directory, choice, options.verify()));
  }

  /**
   * Why an engine cannot be used.
   *
   * @param directory the directory of the files to read; null for the machine as such, whose file
   *     systems may differ
   * @return the reason, or null if the engine is available
   */
  public static @Nullable String unavailable(OpenOptions.Engine engine, @Nullable Path directory) {
    String name = name(engine);
    return name == null ? null : Engines.unavailable(name, directory);
  }

  /** The file that makes a directory a database: its manifest, which a build writes last. */
  public static Path manifest(Path directory) {
    return directory.resolve(Manifest.FILE_NAME);
  }

  /** The name of an engine, or null if it is to be chosen. */
  private static @Nullable String name(OpenOptions.Engine engine) {
    return engine == OpenOptions.Engine.AUTO ? null : engine.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value of a key.
   *
   * @param key 0 to 65,535 bytes; a longer key is absent
   * @return the value, of length 0 if it is empty; null if the key is absent. An approximate
   *     database cuts long values, and gives some value for a share of absent keys (2 to the power
   *     of minus its checksum bits)
   * @throws IOException if it cannot be read
   * @throws tech.bsdb.error.CorruptDatabaseException if bytes on the way are damaged
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] get(byte[] key) throws IOException {
    return lookup.get(key);
  }

  /**
   * As {@link #get(byte[])}, asking a budget for memory before it is taken.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  public byte @Nullable [] get(byte[] key, MemoryBudget budget) throws IOException {
    return lookup.get(key, budget::reserve);
  }

  /**
   * The values of many keys. That is quicker than one after the other: reads, or the cache misses
   * of mapped files, overlap.
   *
   * @param keys the keys; one may come several times
   * @return the values in the order of the keys, null for each absent one
   * @throws IOException if one of them cannot be read
   * @throws tech.bsdb.error.CorruptDatabaseException if bytes on the way are damaged
   * @throws IllegalStateException if the database is closed
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    return lookup.getAll(keys);
  }

  /**
   * The value of a key, later.
   *
   * <p>What is in memory is there at once; what must be read goes through io_uring where that is
   * the engine, else through a pool of threads. Dependent stages never run on a thread that reads
   * depend on: they may block, throw, or ask again. A caller waits while very many lookups are
   * under way, unless it is itself such a stage.
   *
   * @param key must stay as it is until the future is complete
   * @return completed exactly once: with the value, with null if the key is absent, or
   *     exceptionally with an {@link IOException}, or with an {@link IllegalStateException} if the
   *     database is closed
   */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key) {
    return lookup.getAsync(Objects.requireNonNull(key, "key"));
  }

  /**
   * As {@link #getAsync(byte[])}, asking a budget for memory before it is taken; completed with
   * {@link MemoryBudgetExceededException} if the budget has no room.
   */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key, MemoryBudget budget) {
    return lookup.getAsync(Objects.requireNonNull(key, "key"), budget::reserve);
  }

  /** A batch of keys that its caller uses again and again, so that nothing is allocated. */
  public LookupBatch batch() {
    return new LookupBatch(lookup.batch());
  }

  /** Walks all records in the order in which they were added. Not thread-safe; close it. */
  public interface RecordCursor extends AutoCloseable {
    /**
     * Goes to the next record.
     *
     * @return false at the end
     */
    boolean next() throws IOException;

    /** The key of the record. */
    byte[] key();

    /** The value of the record. */
    byte[] value();

    @Override
    void close() throws IOException;
  }

  /**
   * Begins a walk over all records. It reads the files as they were when the database was opened,
   * even if its directory was replaced or deleted since. It may outlive this object, unless
   * duplicates were dropped from the database ({@link Statistics#duplicatesDropped}): then it looks
   * each key up, and fails with an {@link IllegalStateException} once this is closed.
   *
   * @throws UnsupportedOperationException if the database is approximate: it keeps no keys
   */
  public RecordCursor scan() throws IOException {
    RecordWalk walk = new RecordWalk(lookup);
    return new RecordCursor() {
      @Override
      public boolean next() throws IOException {
        return walk.next();
      }

      @Override
      public byte[] key() {
        return walk.key();
      }

      @Override
      public byte[] value() {
        return walk.value();
      }

      @Override
      public void close() throws IOException {
        walk.close();
      }
    };
  }

  /** The figures of this database. */
  public Statistics statistics() {
    return statistics(lookup.directory(), lookup.engine(), lookup.readsMemory());
  }

  /** The figures of a database, without opening it for reading. */
  public static Statistics statistics(Path directory) throws IOException {
    return statistics(DatabaseDirectory.open(directory), "not opened", false);
  }

  /**
   * The reads that lookups and {@link #scan scans} of this database have made since it was opened.
   * Exact once they have ended; also when the database is closed.
   */
  public IoCounters ioCounters() {
    ReadCount reads = lookup.reads();
    return new IoCounters(new IoCounters.Facts(reads.reads(), reads.bytes()));
  }

  /**
   * How much of the files that are mapped or loaded is in memory, and in huge pages there. Takes
   * milliseconds, for the kernel goes through all that this process maps; a database that is open
   * twice in it counts twice. Knows only Linux; elsewhere, and of what Java 17 to 21 have loaded,
   * it says nothing.
   */
  public MemoryUse memoryUse() throws IOException {
    return memoryUse(lookup.memoryUse());
  }

  /** How much of a database's files is in the page cache, without opening it for reading. */
  public static MemoryUse memoryUse(Path directory) throws IOException {
    return memoryUse(Warming.look(DatabaseDirectory.open(directory)));
  }

  private static MemoryUse memoryUse(HugePages.Use use) {
    return new MemoryUse(new MemoryUse.Facts(use.mapped(), use.resident(), use.huge()));
  }

  /**
   * Reads all files of a database into the page cache, so that mapped lookups are quick at once. On
   * Linux and Java 22 or newer, what does not lie in huge pages yet is dropped from the page cache
   * first and read again from the device, into huge pages where the file system can: ext4 from
   * Linux 6.16 on, and XFS.
   *
   * @param progress hears how many more bytes were read
   * @return what is in memory then
   * @throws IOException if memory has no room for all, or a file cannot be read
   */
  public static MemoryUse warm(Path directory, LongConsumer progress) throws IOException {
    return memoryUse(Warming.run(directory, progress));
  }

  private static Statistics statistics(
      DatabaseDirectory directory, String engine, boolean readsMemory) {
    Manifest manifest = directory.manifest();
    Facts facts = directory.facts();
    Map<String, Long> files = new LinkedHashMap<>();
    long dictionaryBytes = 0;
    for (FileEntry entry : manifest.files()) {
      files.put(entry.name(directory.id()), entry.length());
      if (entry.file().kind() == FileKind.DICTIONARY) {
        dictionaryBytes = entry.payloadBytes();
      }
    }
    files.put(Manifest.FILE_NAME, directory.manifestBytes());
    return new Statistics(
        new Statistics.Facts(
            directory.path(),
            directory.id().toString(),
            FileFrame.VERSION,
            facts.layout().id(),
            facts.approximateWidth(),
            facts.records(),
            facts.duplicatesDropped(),
            facts.checksumBits(),
            facts.hashSeed(),
            facts.keyBytes(),
            facts.valueBytes(),
            facts.longestKey(),
            facts.longestValue(),
            facts.zstdBlock(),
            facts.zstdLevel(),
            Math.toIntExact(dictionaryBytes),
            facts.shard(),
            facts.shards(),
            bytes(manifest, FileKind.HASH),
            bytes(manifest, FileKind.INDEX),
            bytes(manifest, FileKind.DATA),
            files.values().stream().mapToLong(Long::longValue).sum(),
            files,
            facts.valueSchema(),
            engine,
            readsMemory));
  }

  private static long bytes(Manifest manifest, FileKind kind) {
    return manifest.files(kind).stream().mapToLong(FileEntry::length).sum();
  }

  /** Hears how far a verification is. */
  @FunctionalInterface
  public interface VerifyListener {
    /** Says how many pages of how many were verified. */
    void progress(long donePages, long totalPages);
  }

  /**
   * Verifies a database without its source: every checksum, and every key through the index. All
   * files are opened first; if the directory is replaced or deleted meanwhile, what was opened is
   * verified to the end.
   *
   * @return what was found right
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage, with file and offset
   * @throws tech.bsdb.error.UnsupportedFormatException if {@link #open open} would not read it
   */
  public static VerifyReport verify(Path directory, VerifyListener listener) throws IOException {
    Verification.Result result = Verification.run(directory, listener::progress);
    return new VerifyReport(
        new VerifyReport.Facts(
            result.records(), result.pages(), result.bytes(), result.keysChecked()));
  }

  /** Waits for running lookups and releases everything; a second call does nothing. */
  @Override
  public void close() throws IOException {
    lookup.close();
  }
}
