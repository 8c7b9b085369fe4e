package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.ChangeCounts;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ShardSet;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.DurableFiles;

/**
 * Writes a set of shards: routes all records first, then writes the shards one after another, and
 * the manifest of the set last. Not thread-safe.
 *
 * <p>The directory of a shard gets its final name when the shard is complete. The bytes of a shard
 * depend only on its own records and on the options.
 */
final class ShardSetWriter implements BuildOutput {
  /** Writes the shards of a set. */
  interface Shards {
    /** What to route and spill of a record; valid until the next call. */
    FramedRecord toRoute(FramedRecord record);

    /** Writes a shard, whose records {@code records} reads. */
    Written write(int number, BuildPlace place, Routed records, AssemblyProgress progress)
        throws IOException;
  }

  /**
   * Writes the shards of a new set from their records.
   *
   * @param chunk write buffer of all files
   */
  record NewShards(BuildOptions options, ChunkBuffer chunk) implements Shards {
    @Override
    public FramedRecord toRoute(FramedRecord record) {
      return record;
    }

    @Override
    public Written write(int number, BuildPlace place, Routed records, AssemblyProgress progress)
        throws IOException {
      try (DatabaseWriter writer = new DatabaseWriter(options, place, chunk, number)) {
        long step = writer.sampleStep(records.records(), records.sampleBytes());
        if (step > 0) {
          records.read(step, writer::sample);
        }
        records.read(1, writer::add);
        return writer.finish(progress);
      }
    }
  }

  private final int count;
  private final @Nullable PrivateKey signingKey;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final Shards writers;
  private final ShardSpill routed;
  private final List<ShardSet.Shard> shards = new ArrayList<>();
  private final Map<String, Long> fileBytes = new LinkedHashMap<>();
  private long records;
  private long keys;
  private long valuesCut;
  private long keyBytes;
  private long valueBytes;
  private long dictionaryBytes;
  private @Nullable ChangeCounts changes;

  /**
   * Creates the temporary files.
   *
   * @param writers writes the shards
   * @param chunk write buffer of the shards and of the manifest. The caller closes it, after the
   *     writer.
   */
  ShardSetWriter(BuildOptions options, BuildPlace place, ChunkBuffer chunk, Shards writers)
      throws IOException {
    this.count = options.shards();
    this.signingKey = options.signingKey();
    this.writers = writers;
    this.place = place;
    this.chunk = chunk;
    this.routed =
        new ShardSpill(
            place.temporaryDirectory(), "routed", options.shards(), SignatureFunction.of(options));
  }

  /** Only checks that no record was added: each shard takes samples of its own records. */
  @Override
  public void sample(byte[] key, byte[] value) {
    if (routed.records() > 0) {
      throw new IllegalStateException("samples come before the records");
    }
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    routed.add(writers.toRoute(record));
  }

  @Override
  public Written finish(AssemblyProgress progress) throws IOException {
    routed.finish();
    progress.ended(Stage.RECORDS);
    ShardProgress shown = new ShardProgress(progress);
    for (int i = 0; i < count; i++) {
      write(i, shown);
      routed.drop(i);
    }
    progress.ended(Stage.INDEX);
    close();
    progress.sealed(0, 1);
    byte[] text = ShardSet.of(shards).manifest().encode();
    DatabaseId id = DatabaseId.derive(text);
    fileBytes.put(
        Manifest.FILE_NAME,
        OutputFile.writeManifest(place.directory(), text, signingKey, chunk, true));
    return new Written(
        id, records, keys, valuesCut, keyBytes, valueBytes, fileBytes, dictionaryBytes, changes);
  }

  private void write(int number, ShardProgress progress) throws IOException {
    Path directory = place.directory().resolve(Manifest.shardDirectory(number) + ".part");
    Files.createDirectory(directory);
    Written written = write(number, directory, progress);
    ShardSet.Shard shard = new ShardSet.Shard(number, written.id(), written.keys());
    DurableFiles.force(directory);
    Files.move(directory, directory.resolveSibling(shard.directoryName()));
    progress.shardEnded(written.records());
    shards.add(shard);
    written
        .fileBytes()
        .forEach((name, bytes) -> fileBytes.put(shard.directoryName() + "/" + name, bytes));
    records += written.records();
    keys += written.keys();
    valuesCut += written.valuesCut();
    keyBytes += written.keyBytes();
    valueBytes += written.valueBytes();
    dictionaryBytes += written.dictionaryBytes();
    changes = sum(changes, written.changes());
  }

  private static @Nullable ChangeCounts sum(
      @Nullable ChangeCounts one, @Nullable ChangeCounts other) {
    return one == null || other == null
        ? other
        : new ChangeCounts(
            one.kept() + other.kept(),
            one.replaced() + other.replaced(),
            one.added() + other.added(),
            one.deleted() + other.deleted(),
            one.deletedAbsent() + other.deletedAbsent(),
            one.superseded() + other.superseded());
  }

  private Written write(int number, Path directory, ShardProgress progress) throws IOException {
    BuildPlace inside = new BuildPlace(directory, place.temporaryDirectory());
    try {
      return writers.write(number, inside, new Routed(routed, number, progress), progress);
    } catch (DuplicateKeyException e) {
      throw amongAll(number, e);
    }
  }

  /** The records routed to a shard. */
  static final class Routed {
    private final ShardSpill all;
    private final int number;
    private final AssemblyProgress progress;

    private Routed(ShardSpill all, int number, AssemblyProgress progress) {
      this.all = all;
      this.number = number;
      this.progress = progress;
    }

    /** The number of records. */
    long records() {
      return all.records(number);
    }

    /** Bytes of the records that a dictionary would be trained on. */
    long sampleBytes() {
      return all.sampleBytes(number);
    }

    /**
     * Passes on all records in the order in which they were added, or every {@code step}-th one.
     */
    void read(long step, ShardSpill.Records receiver) throws IOException {
      all.read(
          number,
          step,
          record -> {
            progress.checkNotCancelled();
            receiver.take(record);
          });
    }
  }

  /** The error with the numbers that the records have among those of all shards. */
  private DuplicateKeyException amongAll(int number, DuplicateKeyException inShard)
      throws IOException {
    DuplicateKeyException found =
        new DuplicateKeyException(
            inShard.key(),
            routed.number(number, inShard.first()),
            routed.number(number, inShard.second()));
    for (Throwable suppressed : inShard.getSuppressed()) {
      found.addSuppressed(suppressed);
    }
    return found;
  }

  /** Shows the progress of the shards as that of the index, which never goes back. */
  private static final class ShardProgress extends AssemblyProgress.OfPart {
    private final AssemblyProgress all;
    private long ended;
    private long most;

    ShardProgress(AssemblyProgress all) {
      super(all);
      this.all = all;
    }

    @Override
    public void progress(Stage stage, long done) {
      if (stage == Stage.INDEX) {
        most = Math.max(most, ended + done);
      }
      all.progress(Stage.INDEX, most);
    }

    void shardEnded(long records) {
      ended += records;
      most = ended;
      all.progress(Stage.INDEX, most);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      routed.close();
    } catch (RuntimeException e) {
      throw new IOException("a file of the build could not be closed: " + e.getMessage(), e);
    }
  }
}
