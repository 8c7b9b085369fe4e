package tech.bsdb;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;
import tech.bsdb.write.AssemblyProgress;
import tech.bsdb.write.BuildOutput;
import tech.bsdb.write.BuildPlace;
import tech.bsdb.write.MergeBase;
import tech.bsdb.write.Workspace;

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

  /** The most such records, or deletions, to collect. */
  private static final int OWN_BATCH_RECORDS = 1 << 16;

  private final BuildOptions options;
  private final boolean hasBase;
  private final long recordsOfBase;
  private final BuildListener listener;
  private final Workspace workspace;
  private final ReentrantLock turn = new ReentrantLock();
  private final Resources opened = new Resources();

  private final BuildOutput output;
  private final RecordBatch own;
  private final Map<Stage, Double> stageSeconds = new EnumMap<>(Stage.class);
  private long records;
  private long stageStart = System.nanoTime();

  /**
   * Set while records are written. If it is still set afterwards, a write failed and the state of
   * the files is unknown.
   */
  private boolean writing;

  private volatile boolean cancelled;
  private boolean ended;

  private DatabaseBuilder(
      Path target, BuildOptions options, BuildListener listener, @Nullable MergeBase base)
      throws IOException {
    BuildOutput.requirePlaces(options);
    BuildOutput.requireOrder(options);
    BuildOutput.requireKeysForOrder(options);
    if (options.onlyShard().orElse(0) >= options.shards()) {
      throw new IllegalArgumentException(
          "onlyShard is "
              + options.onlyShard().getAsInt()
              + ", not in 0 to "
              + (options.shards() - 1)
              + ", of "
              + options.shards()
              + " shards");
    }
    this.options = options;
    this.hasBase = base != null;
    this.recordsOfBase = base == null ? 0 : base.records();
    this.own = newBatch();
    this.listener = listener;
    this.workspace = Workspace.create(target, options.overwrite(), options.temporaryDirectory());
    try {
      ChunkBuffer chunk = opened.add(ChunkBuffer.huge());
      BuildPlace place = new BuildPlace(workspace.directory(), workspace.temporaryDirectory());
      this.output =
          opened.add(
              base == null
                  ? BuildOutput.of(options, place, chunk)
                  : base.output(options, place, chunk));
    } catch (IOException | RuntimeException | Error e) {
      try (workspace) {
        opened.closeAfter(e);
      } catch (IOException | RuntimeException | Error cleanup) {
        e.addSuppressed(cleanup);
      }
      throw e;
    }
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
   * @throws IllegalArgumentException if the options request a filter, and the layout is not packed,
   *     for the order of signatures, and the layout compresses records, or for a shard that the set
   *     does not have
   */
  public static DatabaseBuilder create(Path target, BuildOptions options, BuildListener listener)
      throws IOException {
    try {
      return new DatabaseBuilder(target, options, listener, null);
    } catch (IOException e) {
      throw interruptedOr(e);
    }
  }

  /**
   * Starts a build from a base: the database will have the records of the base, except those that
   * are {@linkplain #delete deleted} or replaced, since {@linkplain #add added} records replace
   * those with the same key. The last change of a key wins, unless the options say otherwise. The
   * base may be closed after {@link #finish}, not before.
   *
   * <p>The result has the same bytes as a build of all its records with the same options. The
   * packed layout stores them in the order of their signatures. Other layouts keep the order of the
   * base, where replaced records stay in their places, and then have the added ones in their order.
   *
   * @param base a database, a whole set of shards, or one shard of a set
   * @param target the directory of the new database, not that of the base
   * @param options {@link BuildOptions#of} the base, with other resources
   * @param listener receives the progress
   * @throws IllegalArgumentException if the base is approximate or a part of a set, the options are
   *     those of another kind of database, or the target is the directory of the base
   */
  public static DatabaseBuilder from(
      Database base, Path target, BuildOptions options, BuildListener listener) throws IOException {
    try {
      MergeBase from = MergeBase.of(base.lookup(), options, target);
      return new DatabaseBuilder(target, options, listener, from);
    } catch (IOException e) {
      throw interruptedOr(e);
    }
  }

  /**
   * Starts a build from a base with {@link BuildOptions#of its options} and without a listener; see
   * {@link #from(Database, Path, BuildOptions, BuildListener)}.
   */
  public static DatabaseBuilder from(Database base, Path target) throws IOException {
    return from(base, target, BuildOptions.of(base), (stage, done, total) -> {});
  }

  /**
   * Deletes a key, in a build {@linkplain #from from a base}.
   *
   * @param key 0 to {@link RecordBatch#MAX_KEY_LENGTH} bytes
   * @throws IllegalStateException if the build has no base
   */
  public void delete(byte[] key) throws IOException {
    addOwn(key, null);
  }

  /** Adds a record to this builder's own batch, or a deletion if the value is null. */
  private void addOwn(byte[] key, byte @Nullable [] value) throws IOException {
    begin();
    try {
      if (value != null) {
        own.add(key, 0, key.length, value, 0, value.length);
      } else {
        requireBase();
        own.delete(key, 0, key.length);
      }
      if (own.bytes() >= OWN_BATCH_BYTES || own.records() >= OWN_BATCH_RECORDS) {
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

  private void requireBase() {
    if (!hasBase) {
      throw new IllegalStateException("a build without a base has nothing to delete");
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

  /** Creates an empty batch for this build; any thread may fill it. */
  public RecordBatch newBatch() {
    return new RecordBatch(options);
  }

  /**
   * Adds a sample record for training the ZSTD dictionary. All samples must be added before the
   * first record. Samples from all parts of the input make a better dictionary than the first
   * records, which are used if there are no samples.
   *
   * <p>A build of several shards does not use the samples: each shard trains its own dictionary on
   * up to {@link BuildOptions#sampleRecords} of its own records, evenly spaced over all of them.
   */
  public void sample(byte[] key, byte[] value) {
    begin();
    try {
      output.sample(key, value);
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
    addOwn(key, Objects.requireNonNull(value, "value"));
  }

  /**
   * Adds the records of a batch. The caller may reuse the batch once the call returns.
   *
   * @throws IllegalArgumentException if the batch was created for a build with another seed or
   *     another form of values
   * @throws tech.bsdb.error.ForeignRecordException if only one shard is built and a record belongs
   *     to another
   * @throws IllegalStateException if there are deletions in the batch, but the build has no base
   */
  public void add(RecordBatch batch) throws IOException {
    begin();
    try {
      if (!batch.purpose().equals(own.purpose())) {
        throw new IllegalArgumentException(
            "a batch for "
                + batch.purpose()
                + ", but this build's is for "
                + own.purpose()
                + "; take batches from newBatch()");
      }
      if (batch.framed().deletes()) {
        requireBase();
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
    batch.framed().forEach(output::add);
    records += batch.records();
    report(Stage.RECORDS, records, -1);
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
      return publish(output.finish(new Completion()));
    } catch (IOException e) {
      throw interruptedOr(e);
    } finally {
      turn.unlock();
    }
  }

  /** Passes the writer's progress on to the listener and the report. */
  private final class Completion implements AssemblyProgress {
    @Override
    public void progress(Stage stage, long done) {
      report(stage, done, recordsOfBase + records);
    }

    @Override
    public void ended(Stage stage) {
      endStage(stage);
    }

    @Override
    public void sealed(long done, long total) {
      report(Stage.PUBLISH, done, total);
    }

    @Override
    public boolean cancelled() {
      return cancelled;
    }
  }

  private BuildReport publish(BuildOutput.Written written) throws IOException {
    opened.close();
    checkNotCancelled();
    workspace.publish(this::checkNotCancelled);
    endStage(Stage.PUBLISH);
    workspace.close();
    return new BuildReport(
        workspace.target(),
        written.id().toString(),
        written.keys(),
        written.records() - written.keys(),
        written.valuesCut(),
        written.keyBytes(),
        written.valueBytes(),
        written.fileBytes().values().stream().mapToLong(Long::longValue).sum(),
        written.fileBytes(),
        (int) Math.min(Integer.MAX_VALUE, written.dictionaryBytes()),
        stageSeconds,
        workspace.warnings(),
        written.changes());
  }

  private void checkNotCancelled() {
    if (cancelled) {
      throw new CancellationException("the build was cancelled");
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
        opened.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      turn.unlock();
    }
  }
}
