package tech.bsdb.write;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.data.DictionaryTrainer;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;
import tech.bsdb.lookup.Lookup;

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
  private final Resources opened = new Resources();
  private final @Nullable CollectedKeys collected;
  private final Assembly assembly;
  private final byte[] keyFrame = new byte[RecordFrame.WIDE + RecordFrame.MAX_KEY];
  private @Nullable DictionaryTrainer trainer;
  private FramedRecords held;
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
   */
  DatabaseWriter(BuildOptions options, BuildPlace place, ChunkBuffer chunk, int shard)
      throws IOException {
    this.options = options;
    this.place = place;
    this.chunk = chunk;
    this.shard = shard;
    this.held = new FramedRecords(SignatureFunction.of(options));
    this.collected =
        options.orderedKeys() && BuildOutput.isPacked(options) ? collectedKeys() : null;
    this.assembly = opened.add(assembly());
    if (BuildOutput.isCompressed(options)
        && options.dictionaryBytes() > 0
        && options.sampleRecords() > 0) {
      this.trainer = new DictionaryTrainer(options.blockSize(), options.dictionaryBytes());
    }
  }

  private CollectedKeys collectedKeys() {
    return opened.add(new CollectedKeys(place, options.memoryBytes(), options.threads()));
  }

  private Assembly assembly() throws IOException {
    return BuildOutput.isPacked(options)
        ? new PackedAssembly(place, chunk, options, collected)
        : new AddressedAssembly(place, chunk, options, totals);
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
      held = new FramedRecords(SignatureFunction.of(options));
    }
    return current;
  }

  /** A writer that puts the records in order first, if that is asked for and not done anyway. */
  private RecordWriter inOrder(RecordWriter records) throws IOException {
    if (BuildOutput.isPacked(options)) {
      return records;
    }
    if (options.orderedKeys()) {
      return opened.add(
          new KeyOrder(
              place.temporaryDirectory(),
              records,
              options.duplicates(),
              SignatureFunction.of(options),
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
            options.duplicates(),
            SignatureFunction.of(options),
            options.memoryBytes(),
            options.threads()));
  }

  @Override
  public Written finish(AssemblyProgress progress) throws IOException {
    if (writer() instanceof RecordOrder order) {
      order.finish();
      order.write(progress);
    }
    if (collected != null) {
      collected.expect(totals.records(), totals.keyBytes());
    }
    Assembled assembled = assembly.complete(progress);
    if (collected != null) {
      OrderStage order = new OrderStage(assembled, totals, place, chunk, options, progress);
      assembled = order.add(opened, collected);
    }
    Assembled.Sealed sealed = assembled.seal(totals, options, shard, place, chunk, progress);
    close();
    long keys = assembled.keys();
    boolean exact = options.approximateWidth() == 0;
    if (exact && !options.layout().isPacked() && keys < totals.records()) {
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

  /**
   * Checks that the key of every record can be found after duplicates were dropped. Otherwise a
   * record whose signature equals that of another key, which only happens with forged keys, would
   * be dropped silently.
   */
  private void requireNoLostKeys(AssemblyProgress progress) throws IOException {
    try (Lookup lookup = Lookup.open(place.directory(), EngineChoice.auto(), true);
        RecordScanner scanner = lookup.scan(0, true)) {
      while (scanner.next()) {
        byte[] key = scanner.key();
        if (!lookup.leadsTo(key, scanner.address()) && lookup.get(key) == null) {
          throw SignatureCollisions.between(
              key, keyWithSignatureOf(key), SignatureFunction.of(options));
        }
        progress.checkNotCancelled();
      }
    }
  }

  private byte[] keyWithSignatureOf(byte[] lost) throws IOException {
    SignatureFunction function = SignatureFunction.of(options);
    Signature wanted = new Signature();
    function.sign(lost, 0, lost.length, wanted);
    Signature found = new Signature();
    try (Lookup lookup = Lookup.open(place.directory(), EngineChoice.auto(), true);
        RecordScanner scanner = lookup.scan(0, true)) {
      while (scanner.next()) {
        byte[] key = scanner.key();
        function.sign(key, 0, key.length, found);
        if (found.high == wanted.high && found.low == wanted.low && !Arrays.equals(key, lost)) {
          return key;
        }
      }
    }
    return lost;
  }

  @Override
  public void close() throws IOException {
    BuildOutput.closeFiles(opened);
  }
}
