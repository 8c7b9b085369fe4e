package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.data.CompressedWriter;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.DataFiles;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.PlainWriter;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.hash.BucketOverflowException;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.HashKind;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.SlotWriter;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.write.Assembled.Content;

/**
 * Assembles a database whose records are located by a hash function and an index. Records are
 * written in the order in which they are added. Their signatures and addresses, or values in
 * approximate mode, are spilled until all are known; then the hash function and the index are
 * written, while the data files are forced to the device. Not thread-safe.
 */
final class AddressedAssembly implements Assembly {
  private final BuildOptions options;
  private final boolean approximate;

  /** Whether the data files are forced to the device early. */
  private final boolean forces;

  private final HashKind hashKind;
  private final Path directory;
  private final ChunkBuffer chunk;
  private final Resources resources = new Resources();
  private final ChunkBuffer indexChunk;

  /** The layout of the data file that is written: in approximate mode, a temporary one of keys. */
  private final Layout dataLayout;

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
  AddressedAssembly(BuildPlace place, ChunkBuffer chunk, BuildOptions options, RecordTotals totals)
      throws IOException {
    this.options = options;
    this.approximate = options.approximateWidth() > 0;
    this.forces = !approximate && place.lasting();
    this.hashKind = HashKind.of(options.hash());
    this.totals = totals;
    this.directory = place.directory();
    this.chunk = chunk;
    this.indexChunk = resources.add(ChunkBuffer.huge());
    this.dataLayout = approximate ? Layout.COMPACT : options.layout();
    this.addresses = RecordAddress.of(dataLayout, options.blockSize());
    try {
      Path dataDirectory = approximate ? place.temporaryDirectory() : directory;
      int files = approximate ? 1 : options.dataFiles();
      for (int i = 0; i < files; i++) {
        dataOutputs.add(
            resources.add(
                new OutputFile(dataDirectory, new FileIdentity(FileKind.DATA, i), chunk)));
      }
      this.dataFiles = new DataFiles(dataOutputs.stream().map(OutputFile::pages).toList());
      int payload =
          Long.BYTES + (approximate ? ValueIndex.entryWidth(options.approximateWidth()) : 0);
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
    if (approximate) {
      created = new ValueSpill(spill, options.approximateWidth(), dataFiles, addresses);
    } else if (dataLayout == Layout.COMPRESSED) {
      created =
          new CompressedWriter(
              dataFiles,
              addresses,
              this::placed,
              options.blockSize(),
              options.compressionLevel(),
              dictionary,
              options.threads());
    } else {
      created = new PlainWriter(dataFiles, dataLayout, addresses, this::placed);
    }
    writer = resources.add(created);
    return created;
  }

  private void placed(FramedRecord record, long address) throws IOException {
    spill.add(record.high, record.low, address);
    if (options.orderedKeys()) {
      order().add(record, address);
    }
  }

  /** The order of the keys; the first call creates its file. */
  private OrderOutput order() throws IOException {
    OrderOutput current = order;
    if (current == null) {
      OutputFile file =
          resources.add(new OutputFile(directory, OrderWriter.identity(), indexChunk));
      current = new OrderOutput(file, options, addresses, totals);
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
    progress.ended(Stage.RECORDS);
    Facts.Order ordered = options.orderedKeys() ? order().finish() : null;
    Indexed indexed = index(progress);
    if (ordered != null) {
      requireAll(indexed.keys);
    }
    long valuesCut = records instanceof ValueSpill cutting ? cutting.cut() : 0;
    int longest = records instanceof CompressedWriter blocks ? blocks.longestFrame() : 0;
    return new Assembled(
        indexed.keys, valuesCut, indexed.buckets, longest, null, null, ordered, contents(indexed));
  }

  private List<Content> contents(Indexed indexed) throws IOException {
    List<Content> contents = new ArrayList<>();
    if (!approximate) {
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
    if (!forces) {
      return indexInAttempts(progress);
    }
    try (EarlyForce force = new EarlyForce()) {
      force.start(dataOutputs);
      return indexInAttempts(progress);
    }
  }

  private Indexed indexInAttempts(AssemblyProgress progress) throws IOException {
    try {
      for (int attempt = 0; ; attempt++) {
        try {
          return index(attempt, progress);
        } catch (BucketOverflowException e) {
          if (attempt + 1 == hashKind.attempts()) {
            throw SignatureCollisions.uneven(e);
          }
        }
      }
    } catch (DuplicateSignatureException e) {
      throw SignatureCollisions.find(e, this::scan, SignatureFunction.of(options));
    }
  }

  private Indexed index(int attempt, AssemblyProgress progress)
      throws IOException, DuplicateSignatureException, BucketOverflowException {
    Resources files = new Resources();
    try {
      OutputFile hashFile = files.add(new OutputFile(directory, HashFunction.identity(), chunk));
      OutputFile indexFile =
          files.add(new OutputFile(directory, AddressIndex.identity(), indexChunk));
      HashConstruction hash =
          hashKind.construct(
              spill.total(), options.checksumBits(), SignatureSpill.PARTITIONS, attempt);
      IndexStage stage =
          new IndexStage(
              spill,
              hash,
              options.memoryBytes(),
              options.threads(),
              options.duplicates(),
              progress::cancelled);
      long keys = spill.total();
      if (stage.mustCount()) {
        keys = stage.count(advancing(Stage.COUNT, progress));
        progress.ended(Stage.COUNT);
      }
      int width =
          approximate ? ValueIndex.entryWidth(options.approximateWidth()) : AddressIndex.WIDTH;
      stage.write(
          hash.writer(hashFile.pages(), keys),
          new SlotWriter(indexFile.pages(), width),
          width,
          advancing(Stage.INDEX, progress));
      hashFile.finish();
      indexFile.finish();
      progress.ended(Stage.INDEX);
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

  /** Adds up the records processed by a stage. */
  private static LongConsumer advancing(Stage stage, AssemblyProgress progress) {
    return new LongConsumer() {
      private long done;

      @Override
      public void accept(long more) {
        done += more;
        progress.progress(stage, done);
      }
    };
  }

  /** Scans the data files, which must be finished but need not be sealed. */
  private RecordScanner scan() throws IOException {
    List<Content> written = new ArrayList<>();
    for (int i = 0; i < dataOutputs.size(); i++) {
      written.add(new Content(dataOutputs.get(i), dataFiles.end(i)));
    }
    List<DataFile> files = Content.open(written);
    List<FileRange> all = FileRange.whole(files.size());
    return new RecordScanner(files, dataLayout, addresses, dictionary, true, all);
  }

  @Override
  public void close() throws IOException {
    resources.close();
  }
}
