package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.CompressedWriter;
import tech.bsdb.data.DataFiles;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.hash.BucketOverflowException;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.HashKind;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.SlotWriter;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.write.Assembled.Content;
import tech.bsdb.write.AssemblyProgress.Phase;

/**
 * Assembles a database whose records are located by a hash function and an index. Records are
 * written in the order in which they are added. Their signatures and addresses, or values in
 * approximate mode, are spilled until all are known; then the hash function and the index are
 * written, while the data files are forced to the device. Not thread-safe.
 */
public final class AddressedAssembly implements Assembly {
  /**
   * The database to assemble and the resources to use.
   *
   * @param layout the layout of the data files, {@link RecordLayout#NONE} in approximate mode
   * @param dataFiles the number of data files of an exact database
   * @param approximateWidth bytes kept of each value in approximate mode, otherwise 0
   * @param hashKind the kind of the hash function
   * @param checksumBits checksum bits per slot, 0 to 32
   * @param blockSize raw bytes per compressed block
   * @param compressionLevel the ZSTD compression level
   * @param duplicates what to do with records that have the same key
   * @param memoryBytes the memory limit for concurrent passes
   * @param threads the number of threads
   * @param orderedKeys whether records will be added in the order of their keys, which is to be
   *     written; all are known before the first one is written
   */
  public record Settings(
      RecordLayout layout,
      int dataFiles,
      int approximateWidth,
      HashKind hashKind,
      int checksumBits,
      int blockSize,
      int compressionLevel,
      DuplicateRule duplicates,
      long memoryBytes,
      int threads,
      boolean orderedKeys) {
    boolean approximate() {
      return layout == RecordLayout.NONE;
    }
  }

  private final Settings settings;
  private final Path directory;
  private final ChunkBuffer chunk;
  private final BuildResources resources = new BuildResources();
  private final ChunkBuffer indexChunk;

  /** The layout of the data file that is written: in approximate mode, a temporary one of keys. */
  private final RecordLayout dataLayout;

  private final RecordAddress addresses;
  private final RecordTotals totals;
  private final List<OutputFile> dataOutputs = new ArrayList<>();
  private final DataFiles dataFiles;
  private final SignatureSpill spill;
  private byte @Nullable [] dictionary;
  private @Nullable RecordWriter writer;

  /** The order of the keys, from the first record on. */
  private @Nullable OrderOutput order;

  /**
   * Creates the data files and the temporary files.
   *
   * @param chunk write buffer of all files except index and order; they share it because they are
   *     written in turn. The caller closes it, after the assembly.
   * @param totals the records to add; they may become known later, but before the first one is
   *     written if keys are ordered
   */
  public AddressedAssembly(
      BuildPlace place, ChunkBuffer chunk, Settings settings, RecordTotals totals)
      throws IOException {
    this.settings = settings;
    this.totals = totals;
    this.directory = place.directory();
    this.chunk = chunk;
    this.indexChunk = resources.add(ChunkBuffer.huge());
    boolean approximate = settings.approximate();
    this.dataLayout = approximate ? RecordLayout.COMPACT : settings.layout();
    this.addresses = RecordAddress.of(dataLayout, settings.blockSize());
    try {
      Path dataDirectory = approximate ? place.temporaryDirectory() : directory;
      int files = approximate ? 1 : settings.dataFiles();
      for (int i = 0; i < files; i++) {
        dataOutputs.add(
            resources.add(
                new OutputFile(dataDirectory, new FileIdentity(FileKind.DATA, i), chunk)));
      }
      this.dataFiles = new DataFiles(dataOutputs.stream().map(OutputFile::pages).toList());
      int payload =
          Long.BYTES + (approximate ? ValueIndex.entryWidth(settings.approximateWidth()) : 0);
      this.spill =
          resources.add(
              new SignatureSpill(place.temporaryDirectory().resolve("signatures.part"), payload));
    } catch (IOException | RuntimeException | Error e) {
      resources.closeAfter(e);
      throw e;
    }
  }

  @Override
  public RecordWriter writer(byte @Nullable [] dictionary) {
    if (writer != null) {
      throw new IllegalStateException("the writer was created before");
    }
    this.dictionary = dictionary;
    RecordWriter created;
    if (settings.approximate()) {
      created = new ValueSpill(spill, settings.approximateWidth(), dataFiles, addresses);
    } else if (dataLayout == RecordLayout.COMPRESSED) {
      created =
          new CompressedWriter(
              dataFiles,
              addresses,
              this::placed,
              settings.blockSize(),
              settings.compressionLevel(),
              dictionary,
              settings.threads());
    } else {
      created = new PlainWriter(dataFiles, dataLayout, addresses, this::placed);
    }
    writer = resources.add(created);
    return created;
  }

  private void placed(FramedRecord record, long address) throws IOException {
    spill.add(record.high, record.low, address);
    if (settings.orderedKeys()) {
      order().add(record, address);
    }
  }

  /** The order of the keys; the first call creates its file. */
  private OrderOutput order() throws IOException {
    OrderOutput current = order;
    if (current == null) {
      OutputFile file =
          resources.add(new OutputFile(directory, OrderWriter.identity(), indexChunk));
      current = new OrderOutput(file, settings, addresses, totals);
      order = current;
    }
    return current;
  }

  @Override
  public Assembled complete(AssemblyProgress progress) throws IOException {
    RecordWriter records = writer;
    if (records == null) {
      throw new IllegalStateException("no writer was created");
    }
    records.finish();
    for (OutputFile output : dataOutputs) {
      output.finish();
    }
    spill.seal();
    progress.ended(Phase.RECORDS);
    Facts.Order ordered = settings.orderedKeys() ? order().finish() : null;
    Indexed indexed = index(progress);
    boolean compressed = settings.layout() == RecordLayout.COMPRESSED;
    Assembled.Storage storage =
        new Assembled.Storage(
            settings.layout(),
            settings.hashKind().name(),
            indexed.buckets,
            settings.checksumBits(),
            settings.approximateWidth(),
            compressed ? settings.blockSize() : 0,
            compressed ? settings.compressionLevel() : 0,
            records instanceof CompressedWriter blocks ? blocks.longestFrame() : 0,
            null,
            null,
            ordered);
    if (ordered != null) {
      requireAll(indexed.keys);
    }
    long valuesCut = records instanceof ValueSpill cutting ? cutting.cut() : 0;
    return new Assembled(indexed.keys, valuesCut, storage, contents(indexed));
  }

  private List<Content> contents(Indexed indexed) throws IOException {
    List<Content> contents = new ArrayList<>();
    if (!settings.approximate()) {
      for (int i = 0; i < dataOutputs.size(); i++) {
        contents.add(new Content(dataOutputs.get(i), dataFiles.end(i)));
      }
    }
    byte[] learned = dictionary;
    if (learned != null) {
      FileIdentity identity = new FileIdentity(FileKind.DICTIONARY, 0);
      OutputFile file = resources.add(new OutputFile(directory, identity, chunk));
      contents.add(Content.written(file, learned));
    }
    for (OutputFile file : List.of(indexed.hashFile, indexed.indexFile)) {
      contents.add(new Content(file, file.pages().position()));
    }
    OrderOutput ordered = order;
    if (ordered != null) {
      contents.add(ordered.content());
    }
    return contents;
  }

  /**
   * Checks that the order has all keys. If records were dropped, the database may lack one of two
   * keys with the same signature, taken for one key given twice; the build finds that out when it
   * looks for all keys, and fails.
   */
  private void requireAll(long keys) throws IOException {
    if (order().keys() != keys && keys == totals.records()) {
      throw new IllegalStateException(
          order().keys() + " keys in order, but " + keys + " in the database");
    }
  }

  /** The hash function and the index, both finished. */
  private record Indexed(long buckets, long keys, OutputFile hashFile, OutputFile indexFile) {}

  private Indexed index(AssemblyProgress progress) throws IOException {
    FutureTask<Void> forced = new FutureTask<>(this::forceData);
    if (settings.approximate()) {
      return indexInAttempts(progress);
    }
    Thread thread = new Thread(forced, "bsdb-force");
    thread.setDaemon(true);
    thread.start();
    Indexed indexed;
    try {
      indexed = indexInAttempts(progress);
    } catch (IOException | RuntimeException | Error e) {
      try {
        await(forced);
      } catch (IOException failure) {
        e.addSuppressed(failure);
      }
      throw e;
    }
    await(forced);
    return indexed;
  }

  private Indexed indexInAttempts(AssemblyProgress progress) throws IOException {
    try {
      for (int attempt = 0; ; attempt++) {
        try {
          return index(attempt, progress);
        } catch (BucketOverflowException e) {
          if (attempt + 1 == settings.hashKind().attempts()) {
            throw SignatureCollisions.uneven(e);
          }
        }
      }
    } catch (DuplicateSignatureException e) {
      throw DuplicateSearch.find(e, this::scan);
    }
  }

  private Indexed index(int attempt, AssemblyProgress progress)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    BuildResources files = new BuildResources();
    try {
      OutputFile hashFile = files.add(new OutputFile(directory, HashFunction.identity(), chunk));
      OutputFile indexFile =
          files.add(new OutputFile(directory, AddressIndex.identity(), indexChunk));
      HashConstruction hash =
          settings
              .hashKind()
              .construct(
                  spill.total(), settings.checksumBits(), SignatureSpill.PARTITIONS, attempt);
      IndexStage stage =
          new IndexStage(
              spill,
              hash,
              settings.memoryBytes(),
              settings.threads(),
              keptAddress(),
              progress::cancelled);
      long keys = spill.total();
      if (stage.mustCount()) {
        keys = stage.count(advancing(Phase.COUNT, progress));
        progress.ended(Phase.COUNT);
      }
      int width =
          settings.approximate()
              ? ValueIndex.entryWidth(settings.approximateWidth())
              : AddressIndex.WIDTH;
      stage.write(
          hash.writer(hashFile.pages(), keys),
          new SlotWriter(indexFile.pages(), width),
          width,
          advancing(Phase.INDEX, progress));
      hashFile.finish();
      indexFile.finish();
      progress.ended(Phase.INDEX);
      resources.add(files);
      return new Indexed(hash.buckets(), keys, hashFile, indexFile);
    } catch (IOException
        | DuplicateSignatureException
        | BucketOverflowException
        | RuntimeException
        | Error e) {
      files.closeAfter(e);
      throw e;
    }
  }

  /** Adds up the records processed by a phase. */
  private static LongConsumer advancing(Phase phase, AssemblyProgress progress) {
    return new LongConsumer() {
      private long done;

      @Override
      public void accept(long more) {
        done += more;
        progress.progress(phase, done);
      }
    };
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

  private @Nullable LongBinaryOperator keptAddress() {
    return switch (settings.duplicates()) {
      case REJECT -> null;
      case KEEP_FIRST -> (a, b) -> addresses.compare(a, b) <= 0 ? a : b;
      case KEEP_LAST -> (a, b) -> addresses.compare(a, b) <= 0 ? b : a;
    };
  }

  /** Scans the data files, which must be finished but need not be sealed. */
  private RecordScanner scan() throws IOException {
    List<Content> written = new ArrayList<>();
    for (int i = 0; i < dataOutputs.size(); i++) {
      written.add(new Content(dataOutputs.get(i), dataFiles.end(i)));
    }
    return new RecordScanner(FinishedFiles.open(written), dataLayout, addresses, dictionary);
  }

  @Override
  public void close() throws IOException {
    resources.close();
  }
}
