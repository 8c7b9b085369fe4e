package tech.bsdb;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.build.AddressedAssembly;
import tech.bsdb.build.Assembled;
import tech.bsdb.build.Assembly;
import tech.bsdb.build.AssemblyProgress;
import tech.bsdb.build.BuildResources;
import tech.bsdb.build.DuplicateRule;
import tech.bsdb.build.OutputFile;
import tech.bsdb.build.PackedAssembly;
import tech.bsdb.build.SignatureCollisions;
import tech.bsdb.build.Workspace;
import tech.bsdb.data.DictionaryTrainer;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.hash.HashKind;
import tech.bsdb.hash.HashKinds;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.lookup.Lookup;

/**
 * Builds a database: accepts all its records, then writes the hash function and the index, and
 * publishes the directory in one step.
 *
 * <p>A build is a transaction: {@link #close} without a successful {@link #finish} removes all
 * files of the build and leaves an existing database unchanged. Builds of the same target may
 * overlap: each is either published as a whole or rejected. If the building thread is interrupted,
 * the running call throws an {@link InterruptedIOException} and the thread stays interrupted. Once
 * the database is published, problems no longer fail the build; they are reported in {@link
 * BuildReport#warnings}. Records may be added by one thread at a time. {@link #close} may be called
 * from any thread at any time; a running call then throws a {@link CancellationException}.
 *
 * <pre>{@code
 * try (DatabaseBuilder builder = DatabaseBuilder.create(target, BuildOptions.defaults())) {
 *   for (Profile profile : profiles) {
 *     builder.add(profile.id(), profile.bytes());
 *   }
 *   BuildReport report = builder.finish();
 * }
 * }</pre>
 */
public final class DatabaseBuilder implements AutoCloseable {
  /** Bytes of individually added records to collect before they are added as a batch. */
  private static final long OWN_BATCH_BYTES = 1 << 20;

  /** Maximum bytes of records held in memory until the dictionary is trained. */
  private static final long MAX_HELD_BYTES = 32 << 20;

  private final BuildOptions options;
  private final BuildListener listener;
  private final Workspace workspace;
  private final ReentrantLock turn = new ReentrantLock();
  private final BuildResources opened = new BuildResources();

  /** Write buffer of the manifest and of the assembly's files; they are written in turn. */
  private final ChunkBuffer chunk;

  private final Assembly assembly;
  private final RecordBatch own;
  private final Map<Stage, Double> stageSeconds = new EnumMap<>(Stage.class);
  private final byte[] keyFrame = new byte[RecordFrame.WIDE + RecordFrame.MAX_KEY];
  private @Nullable DictionaryTrainer trainer;
  private RecordBatch held;
  private byte @Nullable [] dictionary;
  private @Nullable RecordWriter writer;
  private boolean sampled;
  private int learned;
  private long learnedBytes;
  private long records;
  private long keyBytes;
  private long valueBytes;
  private int longestKey;
  private int longestValue;
  private long stageStart = System.nanoTime();

  /**
   * Set while records are written. If it is still set afterwards, a write failed and the state of
   * the files is unknown.
   */
  private boolean writing;

  private volatile boolean cancelled;
  private boolean ended;

  private DatabaseBuilder(Path target, BuildOptions options, BuildListener listener)
      throws IOException {
    requirePlaceForFilter(options);
    this.options = options;
    this.own = newBatch();
    this.held = newBatch();
    this.listener = listener;
    this.workspace = Workspace.create(target, options.overwrite(), options.temporaryDirectory());
    try {
      this.chunk = opened.add(ChunkBuffer.huge());
      this.assembly = opened.add(assembly());
      if (layout().compressed() && options.dictionaryBytes() > 0 && options.sampleRecords() > 0) {
        this.trainer = new DictionaryTrainer(options.blockSize(), options.dictionaryBytes());
      }
    } catch (IOException | RuntimeException | Error e) {
      try (workspace) {
        opened.closeAfter(e);
      } catch (IOException | RuntimeException | Error cleanup) {
        e.addSuppressed(cleanup);
      }
      throw e;
    }
  }

  private Assembly assembly() throws IOException {
    return layout().packed()
        ? new PackedAssembly(workspace, chunk, packed(options))
        : new AddressedAssembly(workspace, chunk, addressed(options));
  }

  /** The settings of a packed database. */
  static PackedAssembly.Settings packed(BuildOptions options) {
    return new PackedAssembly.Settings(
        layout(options),
        options.dataFiles(),
        options.blockSize(),
        options.compressionLevel(),
        options.filterBits(),
        options.seed(),
        duplicates(options),
        options.memoryBytes(),
        options.threads());
  }

  /** Fails if the layout has no place for a filter. */
  static void requirePlaceForFilter(BuildOptions options) {
    if (options.filterBits() > 0 && !layout(options).packed()) {
      String kind =
          options.approximateWidth() > 0
              ? "an approximate database"
              : "the layout " + layout(options).id();
      throw new IllegalArgumentException(
          "filterBits is "
              + options.filterBits()
              + ", but "
              + kind
              + " has checksum bits in its hash function instead: set checksumBits, or choose a"
              + " packed layout");
    }
  }

  /** The settings of a database with a hash function and an index. */
  static AddressedAssembly.Settings addressed(BuildOptions options) {
    return new AddressedAssembly.Settings(
        layout(options),
        options.dataFiles(),
        options.approximateWidth(),
        hashKind(options.hash()),
        options.checksumBits(),
        options.blockSize(),
        options.compressionLevel(),
        duplicates(options),
        options.memoryBytes(),
        options.threads());
  }

  private static HashKind hashKind(HashAlgorithm hash) {
    return switch (hash) {
      case GOV -> HashKinds.GOV;
      case PTR -> HashKinds.PTR;
    };
  }

  private static DuplicateRule duplicates(BuildOptions options) {
    return switch (options.duplicates()) {
      case ERROR -> DuplicateRule.REJECT;
      case FIRST -> DuplicateRule.KEEP_FIRST;
      case LAST -> DuplicateRule.KEEP_LAST;
    };
  }

  /** Starts a build without a listener; see {@link #create(Path, BuildOptions, BuildListener)}. */
  public static DatabaseBuilder create(Path target, BuildOptions options) throws IOException {
    return create(target, options, (stage, done, total) -> {});
  }

  /**
   * Starts a build.
   *
   * @param target the directory of the new database
   * @param options the database to produce and the resources to use
   * @param listener receives the progress
   * @throws java.nio.file.FileAlreadyExistsException if the target exists and the options do not
   *     allow replacing it
   * @throws IllegalArgumentException if the options ask for a filter, and the layout is not packed
   */
  public static DatabaseBuilder create(Path target, BuildOptions options, BuildListener listener)
      throws IOException {
    try {
      return new DatabaseBuilder(target, options, listener);
    } catch (IOException e) {
      throw interruptedOr(e);
    }
  }

  /**
   * Converts the exception of a file that an interrupt closed, which does not mention the
   * interrupt.
   */
  private static IOException interruptedOr(IOException e) {
    boolean closed = e instanceof ClosedChannelException;
    if (e instanceof InterruptedIOException || (closed && Thread.currentThread().isInterrupted())) {
      InterruptedIOException interrupted =
          new InterruptedIOException(
              "the building thread was interrupted; nothing was published, and closing the builder"
                  + " removes what was written");
      interrupted.initCause(e);
      return interrupted;
    }
    return e;
  }

  private RecordLayout layout() {
    return layout(options);
  }

  /** The layout of records in the database, which an approximate one does not store. */
  static RecordLayout layout(BuildOptions options) {
    if (options.approximateWidth() > 0) {
      return RecordLayout.NONE;
    }
    return switch (options.layout()) {
      case BLOCKED -> RecordLayout.BLOCKED;
      case COMPACT -> RecordLayout.COMPACT;
      case COMPRESSED -> RecordLayout.COMPRESSED;
      case PACKED -> RecordLayout.PACKED;
      case PACKED_COMPRESSED -> RecordLayout.PACKED_COMPRESSED;
    };
  }

  /** Creates an empty batch for this build; any thread may fill it. */
  public RecordBatch newBatch() {
    return new RecordBatch(options.seed());
  }

  /**
   * Adds a sample record for training the ZSTD dictionary. All samples must be added before the
   * first record. Samples from all parts of the input make a better dictionary than the first
   * records, which are used if there are no samples.
   */
  public void sample(byte[] key, byte[] value) {
    begin();
    try {
      if (writer != null || records > 0) {
        throw new IllegalStateException("samples come before the records");
      }
      DictionaryTrainer learner = trainer;
      if (learner != null && !learner.full()) {
        int head = RecordFrame.put(keyFrame, 0, key.length, value.length);
        learner.add(keyFrame, 0, head, false);
        learner.add(key, 0, key.length, false);
        learner.add(value, 0, value.length, true);
        sampled = true;
      }
    } finally {
      turn.unlock();
    }
  }

  /**
   * Adds a record.
   *
   * @param key 0 to {@link RecordBatch#MAX_KEY_LENGTH} bytes
   * @param value 0 to {@link RecordBatch#MAX_VALUE_LENGTH} bytes
   */
  public void add(byte[] key, byte[] value) throws IOException {
    begin();
    try {
      own.add(key, 0, key.length, value, 0, value.length);
      if (own.bytes() >= OWN_BATCH_BYTES) {
        writing = true;
        addOwn();
        writing = false;
      }
    } catch (IOException e) {
      throw interruptedOr(e);
    } finally {
      turn.unlock();
    }
  }

  /**
   * Adds the records of a batch. The caller may reuse the batch once the call returns.
   *
   * @throws IllegalArgumentException if the batch was created for a build with another seed
   */
  public void add(RecordBatch batch) throws IOException {
    begin();
    try {
      if (batch.seed() != options.seed()) {
        throw new IllegalArgumentException(
            "a batch for seed "
                + batch.seed()
                + ", but this build's is "
                + options.seed()
                + "; take batches from newBatch()");
      }
      writing = true;
      addOwn();
      take(batch);
      writing = false;
    } catch (IOException e) {
      throw interruptedOr(e);
    } finally {
      turn.unlock();
    }
  }

  private void report(Stage stage, long done, long total) {
    listener.progress(stage, done, total);
    checkNotCancelled();
  }

  private void addOwn() throws IOException {
    if (own.records() > 0) {
      take(own);
      own.clear();
    }
  }

  private void take(RecordBatch batch) throws IOException {
    keyBytes += batch.keyBytes();
    valueBytes += batch.valueBytes();
    longestKey = Math.max(longestKey, batch.longestKey());
    longestValue = Math.max(longestValue, batch.longestValue());
    records += batch.records();
    DictionaryTrainer learner = trainer;
    if (writer == null && learner != null && !sampled) {
      hold(batch, learner);
    } else {
      batch.forEach(writer()::add);
    }
    report(Stage.RECORDS, records, -1);
  }

  /**
   * Holds records until there are enough to train a dictionary. Which records are used for training
   * depends only on the records, not on how they are batched.
   */
  private void hold(RecordBatch batch, DictionaryTrainer learner) throws IOException {
    batch.forEach(
        record -> {
          if (!heldEnough(learner)) {
            learner.add(record.head, record.headStart, record.headLength, false);
            learner.add(record.value, record.valueStart, record.valueLength, true);
            learned++;
            learnedBytes += record.headLength + record.valueLength;
          }
          held.add(
              record.head,
              record.keyStart(),
              record.keyLength,
              record.value,
              record.valueStart,
              record.valueLength);
        });
    if (heldEnough(learner)) {
      writer();
    }
  }

  private boolean heldEnough(DictionaryTrainer learner) {
    return learned >= options.sampleRecords() || learnedBytes >= MAX_HELD_BYTES || learner.full();
  }

  /**
   * Returns the record writer. The first call trains the dictionary, if there is a trainer, and
   * writes the held records.
   */
  private RecordWriter writer() throws IOException {
    RecordWriter current = writer;
    if (current == null) {
      if (trainer != null) {
        dictionary = trainer.train();
        trainer = null;
      }
      current = assembly.writer(dictionary);
      writer = current;
      held.forEach(current::add);
      held = newBatch();
    }
    return current;
  }

  /** Acquires the lock, and throws if the build cannot continue. */
  private void begin() {
    turn.lock();
    try {
      checkNotCancelled();
      if (ended) {
        throw new IllegalStateException("the build has ended");
      }
      if (writing) {
        throw new IllegalStateException("the build has failed; close it");
      }
    } catch (RuntimeException e) {
      turn.unlock();
      throw e;
    }
  }

  private void endStage(Stage stage) {
    long now = System.nanoTime();
    stageSeconds.merge(stage, (now - stageStart) / 1e9, Double::sum);
    stageStart = now;
  }

  /**
   * Writes the hash function and the index, forces all files to the device and publishes the
   * database.
   *
   * @return a report on the database
   * @throws DuplicateKeyException if a key was added twice and the options do not say which record
   *     to keep
   * @throws InterruptedIOException if the thread is interrupted before the database is published
   * @throws CancellationException if {@link #close} is called during the call
   */
  public BuildReport finish() throws IOException {
    begin();
    try {
      writing = true;
      addOwn();
      ended = true;
      writer();
      return publish(assembly.complete(new Completion()));
    } catch (IOException e) {
      throw interruptedOr(e);
    } finally {
      turn.unlock();
    }
  }

  /** Passes the progress of the assembly on to the listener and to the figures. */
  private final class Completion implements AssemblyProgress {
    @Override
    public void progress(Phase phase, long done) {
      report(stage(phase), done, records);
    }

    @Override
    public void ended(Phase phase) {
      endStage(stage(phase));
    }

    @Override
    public boolean cancelled() {
      return cancelled;
    }

    private static Stage stage(Phase phase) {
      return switch (phase) {
        case RECORDS -> Stage.RECORDS;
        case COUNT -> Stage.COUNT;
        case INDEX -> Stage.INDEX;
      };
    }
  }

  private BuildReport publish(Assembled assembled) throws IOException {
    long keys = assembled.keys();
    List<Assembled.Content> contents = assembled.contents();
    List<Manifest.FileEntry> entries = contents.stream().map(Assembled.Content::entry).toList();
    Manifest.Builder stated = facts(assembled).manifest(assembled.storage().hashKind());
    entries.forEach(stated::file);
    byte[] text = stated.build().encode();
    DatabaseId id = DatabaseId.derive(text);
    Map<String, Long> fileBytes = new LinkedHashMap<>();
    for (int i = 0; i < contents.size(); i++) {
      report(Stage.PUBLISH, i, contents.size() + 1L);
      contents.get(i).file().seal(id, entries.get(i).name(id));
      fileBytes.put(entries.get(i).name(id), entries.get(i).length());
    }
    OutputFile manifest =
        opened.add(
            new OutputFile(workspace.directory(), new FileIdentity(FileKind.MANIFEST, 0), chunk));
    manifest.pages().put(text, 0, text.length);
    manifest.finish();
    manifest.seal(id, Manifest.FILE_NAME);
    fileBytes.put(Manifest.FILE_NAME, manifest.entry(0).length());
    closeFiles();
    if (layout() != RecordLayout.NONE && !layout().packed() && keys < records) {
      requireNoLostKeys();
    }
    checkNotCancelled();
    workspace.publish(this::checkNotCancelled);
    endStage(Stage.PUBLISH);
    workspace.close();
    byte[] learned = dictionary;
    return new BuildReport(
        new BuildReport.Facts(
            workspace.target(),
            id.toString(),
            keys,
            records - keys,
            assembled.valuesCut(),
            keyBytes,
            valueBytes,
            fileBytes.values().stream().mapToLong(Long::longValue).sum(),
            fileBytes,
            learned == null ? 0 : learned.length,
            stageSeconds,
            workspace.warnings()));
  }

  private Facts facts(Assembled assembled) {
    Assembled.Storage storage = assembled.storage();
    return new Facts(
        storage.layout(),
        assembled.keys(),
        records - assembled.keys(),
        keyBytes,
        valueBytes,
        longestKey,
        longestValue,
        options.seed(),
        storage.hashBuckets(),
        storage.checksumBits(),
        storage.approximateWidth(),
        0,
        1,
        storage.zstdBlock(),
        storage.zstdLevel(),
        storage.zstdLongest(),
        options.valueSchema(),
        storage.bins(),
        storage.filter());
  }

  /**
   * Checks that the key of every record can be found after duplicates were dropped. Otherwise a
   * record whose signature equals that of another key, which only happens with forged keys, would
   * be dropped silently.
   */
  private void requireNoLostKeys() throws IOException {
    try (Lookup lookup = Lookup.open(workspace.directory(), EngineChoice.auto(), true);
        RecordScanner scanner = lookup.scan()) {
      while (scanner.next()) {
        if (!lookup.leadsTo(scanner.key(), scanner.address())
            && lookup.get(scanner.key()) == null) {
          throw SignatureCollisions.between(scanner.key(), keyWithSignatureOf(scanner.key()));
        }
        checkNotCancelled();
      }
    }
  }

  private byte[] keyWithSignatureOf(byte[] lost) throws IOException {
    Signature wanted = new Signature();
    wanted.compute(lost, 0, lost.length, options.seed());
    Signature found = new Signature();
    try (Lookup lookup = Lookup.open(workspace.directory(), EngineChoice.auto(), true);
        RecordScanner scanner = lookup.scan()) {
      while (scanner.next()) {
        byte[] key = scanner.key();
        found.compute(key, 0, key.length, options.seed());
        if (found.high == wanted.high && found.low == wanted.low && !Arrays.equals(key, lost)) {
          return key;
        }
      }
    }
    return lost;
  }

  private void checkNotCancelled() {
    if (cancelled) {
      throw new CancellationException("the build was cancelled");
    }
  }

  private void closeFiles() throws IOException {
    try {
      opened.close();
    } catch (IOException | RuntimeException e) {
      throw new IOException("a file of the build could not be closed: " + e.getMessage(), e);
    }
  }

  /**
   * Ends the build and removes all its files unless it was finished.
   *
   * @throws java.io.UncheckedIOException if a file could not be removed
   */
  @Override
  public void close() {
    cancelled = true;
    if (turn.isHeldByCurrentThread()) {
      return; // called by the listener: the outer call throws, and its caller closes the builder
    }
    turn.lock();
    try {
      ended = true;
      try (workspace) {
        closeFiles();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      turn.unlock();
    }
  }
}
