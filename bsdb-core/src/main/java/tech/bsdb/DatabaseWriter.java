package tech.bsdb;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.DictionaryTrainer;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.hash.HashKind;
import tech.bsdb.hash.HashKinds;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.write.AddressedAssembly;
import tech.bsdb.write.Assembled;
import tech.bsdb.write.Assembly;
import tech.bsdb.write.BuildPlace;
import tech.bsdb.write.BuildResources;
import tech.bsdb.write.CollectedKeys;
import tech.bsdb.write.DuplicateRule;
import tech.bsdb.write.KeyOrder;
import tech.bsdb.write.OrderStage;
import tech.bsdb.write.PackedAssembly;
import tech.bsdb.write.RecordOrder;
import tech.bsdb.write.RecordTotals;
import tech.bsdb.write.SignatureCollisions;
import tech.bsdb.write.SignatureOrder;

/**
 * Writes one database, which may be a shard of a set, into a directory: its files, and the manifest
 * last. Not thread-safe.
 */
final class DatabaseWriter implements BuildOutput {
  /** Maximum bytes of records held in memory until the dictionary is trained. */
  private static final long MAX_HELD_BYTES = 32 << 20;

  private final BuildOptions options;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final int shard;
  private final int shards;
  private final BuildResources opened = new BuildResources();
  private final @Nullable CollectedKeys collected;
  private final Assembly assembly;
  private final byte[] keyFrame = new byte[RecordFrame.WIDE + RecordFrame.MAX_KEY];
  private @Nullable DictionaryTrainer trainer;
  private RecordBatch held;
  private byte @Nullable [] dictionary;
  private @Nullable RecordWriter writer;
  private boolean sampled;
  private int learned;
  private long learnedBytes;
  private final RecordTotals totals = new RecordTotals();

  /**
   * Creates the files.
   *
   * @param chunk write buffer of the manifest and of the assembly's files; they are written in
   *     turn. The caller closes it, after the writer.
   * @param shard the number of the shard
   * @param shards the number of shards, 1 for a whole database
   */
  DatabaseWriter(BuildOptions options, BuildPlace place, ChunkBuffer chunk, int shard, int shards)
      throws IOException {
    this.options = options;
    this.place = place;
    this.chunk = chunk;
    this.shard = shard;
    this.shards = shards;
    this.held = new RecordBatch(options.seed());
    this.collected = options.orderedKeys() && layout(options).packed() ? collectedKeys() : null;
    this.assembly = opened.add(assembly());
    if (layout(options).compressed()
        && options.dictionaryBytes() > 0
        && options.sampleRecords() > 0) {
      this.trainer = new DictionaryTrainer(options.blockSize(), options.dictionaryBytes());
    }
  }

  private CollectedKeys collectedKeys() {
    return opened.add(new CollectedKeys(place, totals, options.memoryBytes(), options.threads()));
  }

  private Assembly assembly() throws IOException {
    return layout(options).packed()
        ? new PackedAssembly(place, chunk, packed(options), collected)
        : new AddressedAssembly(place, chunk, addressed(options), totals);
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

  /** Fails if the order of keys is to be stored of an approximate database, which has no keys. */
  static void requireKeysForOrder(BuildOptions options) {
    if (options.orderedKeys() && options.approximateWidth() > 0) {
      throw new IllegalArgumentException(
          "orderedKeys is set, but an approximate database keeps no keys that could be ordered");
    }
  }

  /** Fails if records are to be in the order of their signatures, but also to be compressed. */
  static void requireOrder(BuildOptions options) {
    if (options.signatureOrder() && layout(options).compressed()) {
      throw new IllegalArgumentException(
          "signatureOrder goes with layouts that do not compress records, but the layout is "
              + layout(options).id());
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
        options.threads(),
        options.orderedKeys());
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

  @Override
  public void sample(byte[] key, byte[] value) {
    if (writer != null || totals.records() > 0) {
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
  }

  /** Adds a sample record, before the first record. */
  void sample(FramedRecord record) {
    DictionaryTrainer learner = trainer;
    if (learner != null && !learner.full()) {
      learn(record, learner);
      sampled = true;
    }
  }

  private static void learn(FramedRecord record, DictionaryTrainer learner) {
    learner.add(record.head, record.headStart, record.headLength, false);
    learner.add(record.value, record.valueStart, record.valueLength, true);
  }

  /** Whether a dictionary is to be trained. */
  boolean trains() {
    return trainer != null;
  }

  /**
   * The distance of the records to sample, evenly spaced, if all records are known; 0 if there is
   * no dictionary to train.
   *
   * @param all the number of all records
   * @param bytes their bytes that a dictionary would be trained on
   */
  long sampleStep(long all, long bytes) {
    DictionaryTrainer learner = trainer;
    if (learner == null || all == 0) {
      return 0;
    }
    return Math.max(ceiling(all, options.sampleRecords()), ceiling(bytes, learner.enough()));
  }

  private static long ceiling(long dividend, long divisor) {
    return (dividend + divisor - 1) / divisor;
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    totals.add(record.keyLength, record.valueLength);
    RecordWriter current = writer;
    DictionaryTrainer learner = trainer;
    if (current != null) {
      current.add(record);
    } else if (learner != null && !sampled) {
      hold(record, learner);
    } else {
      writer().add(record);
    }
  }

  /** Holds a record; once there are enough, trains the dictionary on them. */
  private void hold(FramedRecord record, DictionaryTrainer learner) throws IOException {
    learn(record, learner);
    learned++;
    learnedBytes += record.headLength + (long) record.valueLength;
    held.add(
        record.head,
        record.keyStart(),
        record.keyLength,
        record.value,
        record.valueStart,
        record.valueLength);
    if (learned >= options.sampleRecords() || learnedBytes >= MAX_HELD_BYTES || learner.full()) {
      writer();
    }
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
      current = inOrder(assembly.writer(dictionary));
      writer = current;
      held.forEach(current::add);
      held = new RecordBatch(options.seed());
    }
    return current;
  }

  /** A writer that puts the records in order first, if that is asked for and not done anyway. */
  private RecordWriter inOrder(RecordWriter records) throws IOException {
    if (layout(options).packed()) {
      return records;
    }
    if (options.orderedKeys()) {
      return opened.add(
          new KeyOrder(
              place.temporaryDirectory(),
              records,
              duplicates(options),
              options.seed(),
              options.memoryBytes(),
              options.threads()));
    }
    if (!options.signatureOrder()) {
      return records;
    }
    return opened.add(
        new SignatureOrder(
            place.temporaryDirectory(),
            records,
            duplicates(options),
            options.seed(),
            options.memoryBytes(),
            options.threads()));
  }

  @Override
  public Written finish(WriterProgress progress) throws IOException {
    if (writer() instanceof RecordOrder order) {
      order.finish();
      order.write(progress);
    }
    Assembled assembled = assembly.complete(progress);
    if (collected != null) {
      OrderStage order = order(assembled, totals, options, place, chunk, progress);
      assembled = order.add(opened, collected);
    }
    SealedFiles sealed =
        SealedFiles.of(assembled, totals, options, shard, shards, place, chunk, progress);
    close();
    long keys = assembled.keys();
    RecordLayout layout = assembled.storage().layout();
    if (layout != RecordLayout.NONE && !layout.packed() && keys < totals.records()) {
      requireNoLostKeys(progress);
    }
    byte[] learnedDictionary = dictionary;
    return new Written(
        sealed.id(),
        totals.records(),
        keys,
        assembled.valuesCut(),
        totals.keyBytes(),
        totals.valueBytes(),
        sealed.fileBytes(),
        learnedDictionary == null ? 0 : learnedDictionary.length,
        null);
  }

  /** Creates the stage that adds the order of the keys to the finished files of a packed layout. */
  static OrderStage order(
      Assembled assembled,
      RecordTotals totals,
      BuildOptions options,
      BuildPlace place,
      ChunkBuffer chunk,
      WriterProgress progress) {
    return new OrderStage(
        assembled, totals, place, chunk, options.memoryBytes(), options.threads(), progress);
  }

  /**
   * Checks that the key of every record can be found after duplicates were dropped. Otherwise a
   * record whose signature equals that of another key, which only happens with forged keys, would
   * be dropped silently.
   */
  private void requireNoLostKeys(WriterProgress progress) throws IOException {
    try (Lookup lookup = Lookup.open(place.directory(), EngineChoice.auto(), true);
        RecordScanner scanner = lookup.scan()) {
      while (scanner.next()) {
        if (!lookup.leadsTo(scanner.key(), scanner.address())
            && lookup.get(scanner.key()) == null) {
          throw SignatureCollisions.between(scanner.key(), keyWithSignatureOf(scanner.key()));
        }
        if (progress.cancelled()) {
          throw new CancellationException("the build was cancelled");
        }
      }
    }
  }

  private byte[] keyWithSignatureOf(byte[] lost) throws IOException {
    Signature wanted = new Signature();
    wanted.compute(lost, 0, lost.length, options.seed());
    Signature found = new Signature();
    try (Lookup lookup = Lookup.open(place.directory(), EngineChoice.auto(), true);
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

  @Override
  public void close() throws IOException {
    try {
      opened.close();
    } catch (IOException | RuntimeException e) {
      throw new IOException("a file of the build could not be closed: " + e.getMessage(), e);
    }
  }
}
