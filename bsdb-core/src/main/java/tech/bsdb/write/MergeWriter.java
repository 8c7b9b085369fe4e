package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.io.Resources;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedKeys;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.RecordWalk;

/**
 * Writes a database, which may be a shard, from a base and changes. The changes first become a
 * temporary database. In the layout packed, both are then merged in the order of their signatures;
 * in other layouts, the records of the base are written anew, with a lookup of each among the
 * changes. Not thread-safe.
 */
final class MergeWriter implements BuildOutput {
  /** Records of the base to look up at once among the changes, and their bytes, at most. */
  private static final int BATCH = 512;

  private static final long BATCH_BYTES = 1 << 20;

  /** Bytes of the changes of a batch, at most. */
  private static final long CHANGED_BYTES = 64 << 20;

  /** Parts of the base, in records and bytes, of which changes are one at most if they are few. */
  private static final int FEW = 8;

  /** So many that hardly any record of the base that is not changed causes a read. */
  private static final int CHECKSUM_BITS = 16;

  private final Lookup base;
  private final int number;
  private final BuildOptions options;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final Path directory;
  private final Resources opened = new Resources();
  private final DatabaseWriter changes;
  private final TaggedChange tagged = new TaggedChange();
  private long changesAdded;
  private boolean deletions;

  /**
   * Creates the files.
   *
   * @param base the base; the caller closes it, after the writer
   * @param number the number of the database in the base, 0 unless it is a whole set of shards
   * @param chunk write buffer. The caller closes it, after the writer
   */
  MergeWriter(Lookup base, int number, BuildOptions options, BuildPlace place, ChunkBuffer chunk)
      throws IOException {
    this.base = base;
    this.number = number;
    this.options = options;
    this.place = place;
    this.chunk = chunk;
    this.directory = place.temporaryDirectory().resolve(WorkDirectory.CHANGES);
    Files.createDirectory(directory);
    opened.add(this::removeChanges);
    try {
      BuildPlace inside = new BuildPlace(directory, place.temporaryDirectory(), false);
      this.changes = opened.add(new DatabaseWriter(ofChanges(options), inside, chunk, 0));
    } catch (IOException | RuntimeException | Error e) {
      opened.closeAfter(e);
      throw e;
    }
  }

  private static BuildOptions ofChanges(BuildOptions options) {
    boolean packed = options.layout() == Layout.PACKED;
    return BuildOptions.defaults()
        .withLayout(packed ? Layout.PACKED : Layout.COMPACT)
        .withOrderedKeys(packed && options.orderedKeys())
        .withChecksumBits(packed ? BuildOptions.defaults().checksumBits() : CHECKSUM_BITS)
        .withSignature(options.signature())
        .withSeed(options.seed())
        .withDuplicates(options.duplicates())
        .withMemoryBytes(options.memoryBytes())
        .withThreads(options.threads());
  }

  /** Deletes the temporary database, of which only files of a database are expected. */
  private void removeChanges() throws IOException {
    for (Path file : DurableFiles.list(directory)) {
      Files.deleteIfExists(file);
    }
    Files.deleteIfExists(directory);
  }

  private DatabaseDirectory ofBase() {
    return base.opened().databases().get(number);
  }

  private Facts facts() {
    return ofBase().facts();
  }

  /** Does nothing: the dictionary, if there is one, is trained on records of the result. */
  @Override
  public void sample(byte[] key, byte[] value) {}

  @Override
  public void add(FramedRecord change) throws IOException {
    if (facts().shards() > 1) {
      OneShardWriter.requireOwn(change, changesAdded++, facts().shard(), facts().shards());
    }
    addTagged(tagged.of(change));
  }

  /** Adds a change of this database as a {@link TaggedChange}. */
  void addTagged(FramedRecord change) throws IOException {
    deletions |= TaggedChange.isDeletion(change.value[change.valueStart]);
    changes.add(change);
  }

  @Override
  public Written finish(AssemblyProgress progress) throws IOException {
    Written added = changes.finish(new AssemblyProgress.OfPart(progress));
    Written written;
    try (Lookup changed = Lookup.open(directory, EngineChoice.auto(), true)) {
      written =
          options.layout() == Layout.PACKED
              ? merge(changed, added, progress)
              : rebuild(changed, added, progress);
    }
    close();
    return written;
  }

  private static long superseded(Written changes) {
    return changes.records() - changes.keys();
  }

  /** Merges in the order of signatures. */
  private Written merge(Lookup changed, Written added, AssemblyProgress progress)
      throws IOException {
    progress.ended(Stage.RECORDS);
    try (PackedSource from = PackedSource.open(base, number);
        PackedSource with = PackedSource.open(changed, 0);
        CollectedKeys keys = collectsKeys(added) ? collectedKeys(changed) : null;
        PackedMerge merging = new PackedMerge(place, chunk, from, with, options, keys)) {
      PackedMerge.Merged merged = merging.complete(progress);
      MergeCount count = merged.count();
      RecordTotals totals = count.totals();
      Assembled assembled = merged.assembled();
      if (options.orderedKeys()) {
        OrderStage order = new OrderStage(assembled, totals, place, chunk, options, progress);
        assembled =
            keys != null ? order.add(opened, keys) : joined(order, changed, totals.records());
      }
      Assembled.Sealed sealed =
          assembled.seal(totals, options, facts().shard(), place, chunk, progress);
      return new Written(
          sealed.id(),
          totals.records(),
          totals.records(),
          0,
          totals.keyBytes(),
          totals.valueBytes(),
          sealed.fileBytes(),
          0,
          count.report(superseded(added)));
    }
  }

  /**
   * Whether the order of the keys is made by sorting them, rather than from the orders of base and
   * changes: if the base has none or so much is changed that it takes longer to tell which changes
   * are deletions.
   */
  private boolean collectsKeys(Written added) {
    return options.orderedKeys() && (facts().order() == null || deletions && !areFew(added));
  }

  private CollectedKeys collectedKeys(Lookup changed) {
    CollectedKeys keys = new CollectedKeys(place, options.memoryBytes(), options.threads());
    Facts changes = changed.opened().facts();
    keys.expect(facts().records() + changes.records(), facts().keyBytes() + changes.keyBytes());
    return keys;
  }

  /** Adds the order of the keys, from the orders of base and changes. */
  private Assembled joined(OrderStage order, Lookup changed, long expected) throws IOException {
    try (MergedKeys keys = new MergedKeys(base, number, changed, deletions, expected)) {
      return order.add(opened, keys);
    }
  }

  private boolean areFew(Written added) {
    long bytes =
        ofBase().manifest().files(FileKind.DATA).stream()
            .mapToLong(file -> file.payloadBytes())
            .sum();
    return added.keys() <= facts().records() / FEW && added.valueBytes() <= bytes / FEW;
  }

  /** Writes all records of the result anew. */
  private Written rebuild(Lookup changed, Written added, AssemblyProgress progress)
      throws IOException {
    MergeCount counts = new MergeCount(progress);
    BuildOptions distinct = options.withDuplicates(DuplicatePolicy.ERROR);
    try (BuildOutput output =
        facts().shards() == 1
            ? new DatabaseWriter(distinct, place, chunk, 0)
            : new OneShardWriter(distinct, place, chunk, facts().shard())) {
      long longest = changed.opened().facts().longestValue() + 1L;
      int batch = (int) Math.max(1, Math.min(BATCH, CHANGED_BYTES / longest));
      sampleBase(output);
      carryOver(changed, batch, output, counts, progress);
      if (counts.ofBase() != facts().records()) {
        throw ofBase()
            .check(ofBase().first(FileKind.DATA))
            .corrupt(0, facts().records() + " records", counts.ofBase() + "");
      }
      if (counts.replaced + counts.deleted < added.keys()) {
        addNew(changed, output, counts, progress);
      }
      return output.finish(progress).with(counts.report(superseded(added)));
    }
  }

  /**
   * Takes samples for the dictionary from everywhere in a base with an order: there, the first
   * records have the least keys, which may have little in common with the others.
   */
  private void sampleBase(BuildOutput output) throws IOException {
    long records = facts().records();
    boolean trains = options.layout() == Layout.COMPRESSED && options.dictionaryBytes() > 0;
    if (facts().order() == null || !trains) {
      return;
    }
    long first = 0;
    for (int i = 0; i < number; i++) {
      first += base.opened().databases().get(i).facts().records();
    }
    OrderedKeys keys = new OrderedKeys(base);
    long samples = Math.min(records, options.sampleRecords());
    for (long i = 0; i < samples; i++) {
      byte[] key = keys.key(first + i * records / samples);
      byte[] value = base.get(key);
      if (value != null) { // otherwise the base is damaged, which the walk over its records finds
        output.sample(key, value);
      }
    }
  }

  /** Writes the records of the base that stay, and in their places those that replace others. */
  private void carryOver(
      Lookup changed, int batch, BuildOutput output, MergeCount counts, AssemblyProgress progress)
      throws IOException {
    List<byte[]> keys = new ArrayList<>();
    List<byte[]> values = new ArrayList<>();
    long collected = 0;
    FramedRecords records = new FramedRecords(SignatureFunction.of(options));
    try (RecordWalk walk = new RecordWalk(base, number)) {
      boolean more = true;
      while (more) {
        more = walk.next();
        if (more) {
          keys.add(walk.key());
          values.add(walk.value());
          collected += walk.key().length + (long) walk.value().length;
        }
        if (!more || keys.size() == batch || collected > BATCH_BYTES) {
          collect(keys, values, changed.getAll(keys), records, counts);
          records.forEach(output::add);
          records.clear();
          keys.clear();
          values.clear();
          collected = 0;
          progress.progress(Stage.RECORDS, counts.ofBase());
        }
      }
    }
  }

  private static void collect(
      List<byte[]> keys,
      List<byte[]> values,
      List<byte @Nullable []> changed,
      FramedRecords records,
      MergeCount counts) {
    for (int i = 0; i < keys.size(); i++) {
      byte[] key = keys.get(i);
      byte[] change = changed.get(i);
      if (change == null) {
        counts.kept++;
        records.add(key, 0, key.length, values.get(i), 0, values.get(i).length);
      } else if (TaggedChange.isDeletion(change[0])) {
        counts.deleted++;
      } else {
        counts.replaced++;
        records.add(key, 0, key.length, change, TaggedChange.TAG, change.length - TaggedChange.TAG);
      }
    }
  }

  /** Writes the changed records whose keys are not in the base. */
  private void addNew(
      Lookup changed, BuildOutput output, MergeCount counts, AssemblyProgress progress)
      throws IOException {
    FramedRecords records = new FramedRecords(SignatureFunction.of(options));
    try (RecordWalk walk = new RecordWalk(changed, 0)) {
      while (walk.next()) {
        progress.checkNotCancelled();
        byte[] key = walk.key();
        if (base.get(key) != null) {
          continue;
        }
        byte[] change = walk.value();
        if (TaggedChange.isDeletion(change[0])) {
          counts.deletedAbsent++;
          continue;
        }
        counts.added++;
        records.add(key, 0, key.length, change, TaggedChange.TAG, change.length - TaggedChange.TAG);
        records.forEach(output::add);
        records.clear();
      }
    }
  }

  @Override
  public void close() throws IOException {
    BuildOutput.closeFiles(opened);
  }
}
