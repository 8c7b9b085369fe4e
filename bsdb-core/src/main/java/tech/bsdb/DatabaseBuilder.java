package tech.bsdb;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.build.DuplicateSignatureException;
import tech.bsdb.build.IndexStage;
import tech.bsdb.build.OutputFile;
import tech.bsdb.build.SignatureSpill;
import tech.bsdb.build.ValueSpill;
import tech.bsdb.build.Workspace;
import tech.bsdb.data.CompressedWriter;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.DataFiles;
import tech.bsdb.data.DictionaryTrainer;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.hash.BucketOverflowException;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.HashKind;
import tech.bsdb.hash.HashKinds;
import tech.bsdb.hash.Signature;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.SlotWriter;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
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
  /** Advice for keys that were made to collide. */
  private static final String OTHER_SEED =
      "build with another seed (--seed random, or BuildOptions.withSeed)";

  /** Bytes of individually added records to collect before they are added as a batch. */
  private static final long OWN_BATCH_BYTES = 1 << 20;

  /** Maximum bytes of records held in memory until the dictionary is trained. */
  private static final long MAX_HELD_BYTES = 32 << 20;

  private final BuildOptions options;
  private final HashKind hashKind = HashKinds.CURRENT;
  private final BuildListener listener;
  private final Workspace workspace;
  private final ReentrantLock turn = new ReentrantLock();
  private final List<Closeable> opened = new ArrayList<>();
  private final List<OutputFile> dataOutputs = new ArrayList<>();

  /** Write buffer of all files except the index; they share it because they are written in turn. */
  private final ChunkBuffer chunk = ChunkBuffer.huge();

  private final ChunkBuffer indexChunk = ChunkBuffer.huge();
  private final DataFiles dataFiles;
  private final RecordAddress addresses;
  private final SignatureSpill spill;
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
  private long valuesCut;
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
    this.options = options;
    this.own = newBatch();
    this.held = newBatch();
    this.listener = listener;
    this.workspace = Workspace.create(target, options.overwrite(), options.temporaryDirectory());
    try {
      boolean approximate = options.approximateWidth() > 0;
      this.addresses = RecordAddress.of(layout(), options.blockSize());
      Path directory = approximate ? workspace.temporaryDirectory() : workspace.directory();
      int files = approximate ? 1 : options.dataFiles();
      opened(chunk);
      opened(indexChunk);
      for (int i = 0; i < files; i++) {
        dataOutputs.add(
            opened(new OutputFile(directory, new FileIdentity(FileKind.DATA, i), chunk)));
      }
      this.dataFiles = new DataFiles(dataOutputs.stream().map(OutputFile::pages).toList());
      int payload =
          Long.BYTES + (approximate ? ValueIndex.entryWidth(options.approximateWidth()) : 0);
      this.spill =
          opened(
              new SignatureSpill(
                  workspace.temporaryDirectory().resolve("signatures.part"), payload));
      if (layout() == RecordLayout.COMPRESSED
          && options.dictionaryBytes() > 0
          && options.sampleRecords() > 0) {
        this.trainer = new DictionaryTrainer(options.blockSize(), options.dictionaryBytes());
      }
    } catch (IOException | RuntimeException | Error e) {
      try {
        closeFiles();
      } finally {
        workspace.close();
      }
      throw e;
    }
  }

  private <T extends Closeable> T opened(T resource) {
    opened.add(resource);
    return resource;
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

  /** The layout of the data files. In approximate mode they are temporary and hold the keys. */
  private RecordLayout layout() {
    if (options.approximateWidth() > 0) {
      return RecordLayout.COMPACT;
    }
    return switch (options.layout()) {
      case BLOCKED -> RecordLayout.BLOCKED;
      case COMPACT -> RecordLayout.COMPACT;
      case COMPRESSED -> RecordLayout.COMPRESSED;
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
      if (options.approximateWidth() > 0) {
        current = new ValueSpill(spill, options.approximateWidth(), dataFiles, addresses);
      } else if (layout() == RecordLayout.COMPRESSED) {
        current =
            new CompressedWriter(
                dataFiles,
                addresses,
                spill::add,
                options.blockSize(),
                options.compressionLevel(),
                dictionary,
                options.threads());
      } else {
        current = new PlainWriter(dataFiles, layout(), addresses, spill::add);
      }
      writer = opened(current);
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
      RecordWriter records = writer();
      records.finish();
      for (OutputFile output : dataOutputs) {
        output.finish();
      }
      spill.seal();
      endStage(Stage.RECORDS);
      return publish(index());
    } catch (IOException e) {
      throw interruptedOr(e);
    } finally {
      turn.unlock();
    }
  }

  /** The result of the index stage. */
  private record Indexed(long buckets, long keys, OutputFile hashFile, OutputFile indexFile) {}

  private Indexed index() throws IOException {
    boolean approximate = options.approximateWidth() > 0;
    FutureTask<Void> forced = new FutureTask<>(this::forceData);
    if (!approximate) {
      Thread thread = new Thread(forced, "bsdb-force");
      thread.setDaemon(true);
      thread.start();
    }
    try {
      for (int attempt = 0; ; attempt++) {
        try {
          return index(attempt);
        } catch (BucketOverflowException e) {
          if (attempt + 1 == hashKind.attempts()) {
            throw new IOException(
                "the keys' signatures are not evenly distributed: "
                    + e.getMessage()
                    + "; "
                    + OTHER_SEED,
                e);
          }
        }
      }
    } catch (DuplicateSignatureException e) {
      throw duplicate(e);
    } finally {
      if (!approximate) {
        await(forced);
      }
    }
  }

  private Indexed index(int attempt)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    OutputFile hashFile = new OutputFile(workspace.directory(), HashFunction.identity(), chunk);
    OutputFile indexFile = null;
    try {
      indexFile = new OutputFile(workspace.directory(), AddressIndex.identity(), indexChunk);
      HashConstruction hash =
          hashKind.construct(
              spill.total(), options.checksumBits(), SignatureSpill.PARTITIONS, attempt);
      IndexStage stage =
          new IndexStage(
              spill,
              hash,
              options.memoryBytes(),
              options.threads(),
              keptAddress(),
              () -> cancelled);
      long keys = records;
      if (stage.mustCount()) {
        keys = stage.count(new Progress(Stage.COUNT));
        endStage(Stage.COUNT);
      }
      boolean approximate = options.approximateWidth() > 0;
      int width =
          approximate ? ValueIndex.entryWidth(options.approximateWidth()) : AddressIndex.WIDTH;
      stage.write(
          hash.writer(hashFile.pages(), keys),
          new SlotWriter(indexFile.pages(), width),
          width,
          new Progress(Stage.INDEX));
      hashFile.finish();
      indexFile.finish();
      endStage(Stage.INDEX);
      return new Indexed(hash.buckets(), keys, opened(hashFile), opened(indexFile));
    } catch (IOException
        | DuplicateSignatureException
        | BucketOverflowException
        | RuntimeException e) {
      hashFile.close();
      if (indexFile != null) {
        indexFile.close();
      }
      throw e;
    }
  }

  private Void forceData() throws IOException {
    for (OutputFile output : dataOutputs) {
      output.force();
    }
    return null;
  }

  private static void await(FutureTask<Void> task) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          task.get();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Reports the records processed by a stage to the listener. */
  private final class Progress implements LongConsumer {
    private final Stage stage;
    private long done;

    Progress(Stage stage) {
      this.stage = stage;
    }

    @Override
    public void accept(long more) {
      done += more;
      report(stage, done, records);
    }
  }

  private @Nullable LongBinaryOperator keptAddress() {
    return switch (options.duplicates()) {
      case ERROR -> null;
      case FIRST -> (a, b) -> addresses.compare(a, b) <= 0 ? a : b;
      case LAST -> (a, b) -> addresses.compare(a, b) <= 0 ? b : a;
    };
  }

  /**
   * Finds the key that two records share, and the numbers of the first two records with that key.
   */
  private IOException duplicate(DuplicateSignatureException pair) throws IOException {
    byte @Nullable [] key = null;
    try (RecordScanner scanner = scanOwnFiles()) {
      while (scanner.next()) {
        if (scanner.address() == pair.first() || scanner.address() == pair.second()) {
          if (key == null) {
            key = scanner.key();
          } else if (!Arrays.equals(key, scanner.key())) {
            return collision(key, scanner.key());
          }
        }
      }
    }
    if (key != null) {
      try (RecordScanner scanner = scanOwnFiles()) {
        long first = -1;
        for (long number = 0; scanner.next(); number++) {
          if (Arrays.equals(key, scanner.key())) {
            if (first >= 0) {
              return new DuplicateKeyException(key, first, number);
            }
            first = number;
          }
        }
      }
    }
    return new IOException(
        "two records have the same signature, but rereading the records did not find them: "
            + pair.getMessage());
  }

  private RecordScanner scanOwnFiles() throws IOException {
    List<DataFile> files = new ArrayList<>();
    BufferedEngine engine = new BufferedEngine();
    for (int i = 0; i < dataOutputs.size(); i++) {
      OutputFile output = dataOutputs.get(i);
      PageCheck check = new PageCheck(output.path(), new FileIdentity(FileKind.DATA, i));
      long pages = output.pages().pages();
      CheckedPages checked =
          new CheckedPages(engine.open(output.path(), pages * CheckedPages.PAGE), pages + 1, null);
      files.add(new DataFile(checked, check, dataFiles.end(i)));
    }
    return new RecordScanner(files, layout(), addresses, dictionary);
  }

  private BuildReport publish(Indexed indexed) throws IOException {
    long keys = indexed.keys;
    OutputFile hashFile = indexed.hashFile;
    OutputFile indexFile = indexed.indexFile;
    boolean approximate = options.approximateWidth() > 0;
    boolean compressed = layout() == RecordLayout.COMPRESSED;
    RecordWriter current = writer();
    Facts facts =
        new Facts(
            approximate ? RecordLayout.NONE : layout(),
            keys,
            records - keys,
            keyBytes,
            valueBytes,
            longestKey,
            longestValue,
            options.seed(),
            indexed.buckets,
            options.checksumBits(),
            options.approximateWidth(),
            0,
            1,
            compressed ? options.blockSize() : 0,
            compressed ? options.compressionLevel() : 0,
            current instanceof CompressedWriter w ? w.longestFrame() : 0,
            options.valueSchema());
    if (current instanceof ValueSpill cutting) {
      valuesCut = cutting.cut();
    }
    List<OutputFile> outputs = new ArrayList<>();
    List<Manifest.FileEntry> entries = new ArrayList<>();
    if (!approximate) {
      for (int i = 0; i < dataOutputs.size(); i++) {
        outputs.add(dataOutputs.get(i));
        entries.add(dataOutputs.get(i).entry(dataFiles.end(i)));
      }
    }
    byte[] learned = dictionary;
    if (learned != null) {
      OutputFile file =
          opened(
              new OutputFile(
                  workspace.directory(), new FileIdentity(FileKind.DICTIONARY, 0), chunk));
      file.pages().put(learned, 0, learned.length);
      outputs.add(file);
      long end = file.pages().position();
      file.finish();
      entries.add(file.entry(end));
    }
    outputs.add(hashFile);
    entries.add(hashFile.entry(hashFile.pages().position()));
    outputs.add(indexFile);
    entries.add(indexFile.entry(indexFile.pages().position()));
    Manifest.Builder stated = facts.manifest(hashKind.name());
    entries.forEach(stated::file);
    byte[] text = stated.build().encode();
    DatabaseId id = DatabaseId.derive(text);
    Map<String, Long> fileBytes = new LinkedHashMap<>();
    for (int i = 0; i < outputs.size(); i++) {
      report(Stage.PUBLISH, i, outputs.size() + 1L);
      outputs.get(i).seal(id, entries.get(i).name(id));
      fileBytes.put(entries.get(i).name(id), entries.get(i).length());
    }
    OutputFile manifest =
        opened(
            new OutputFile(workspace.directory(), new FileIdentity(FileKind.MANIFEST, 0), chunk));
    manifest.pages().put(text, 0, text.length);
    manifest.finish();
    manifest.seal(id, Manifest.FILE_NAME);
    fileBytes.put(Manifest.FILE_NAME, manifest.entry(0).length());
    closeFiles();
    if (!approximate && keys < records) {
      requireNoLostKeys();
    }
    checkNotCancelled();
    workspace.publish(this::checkNotCancelled);
    endStage(Stage.PUBLISH);
    workspace.close();
    return new BuildReport(
        new BuildReport.Facts(
            workspace.target(),
            id.toString(),
            keys,
            records - keys,
            valuesCut,
            keyBytes,
            valueBytes,
            fileBytes.values().stream().mapToLong(Long::longValue).sum(),
            fileBytes,
            learned == null ? 0 : learned.length,
            stageSeconds,
            workspace.warnings()));
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
          throw collision(scanner.key(), keyWithSignatureOf(scanner.key()));
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

  private static IOException collision(byte[] key, byte[] other) {
    return new IOException(
        "the keys "
            + DuplicateKeyException.show(key)
            + " and "
            + DuplicateKeyException.show(other)
            + " have the same 128-bit signature; "
            + OTHER_SEED);
  }

  private void checkNotCancelled() {
    if (cancelled) {
      throw new CancellationException("the build was cancelled");
    }
  }

  private void closeFiles() throws IOException {
    IOException failure = null;
    for (int i = opened.size() - 1; i >= 0; i--) {
      try {
        opened.get(i).close();
      } catch (IOException | RuntimeException e) {
        failure = new IOException("a file of the build could not be closed: " + e.getMessage(), e);
      }
    }
    opened.clear();
    if (failure != null) {
      throw failure;
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
      try {
        closeFiles();
      } finally {
        workspace.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      turn.unlock();
    }
  }
}
