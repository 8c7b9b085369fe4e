package tech.bsdb.write;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.BlockCompressor;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.Facts;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.write.Assembled.Content;
import tech.bsdb.write.AssemblyProgress.Phase;

/**
 * Assembles a database whose records lie in the order of their signatures. Records are spilled
 * until all are known, then sorted and packed into bins and pages. Not thread-safe.
 */
public final class PackedAssembly implements Assembly {
  /**
   * The database to assemble and the resources to use.
   *
   * @param layout one of the packed layouts
   * @param dataFiles the number of data files
   * @param blockSize raw bytes per compressed block
   * @param compressionLevel the ZSTD compression level
   * @param filterBits bits of a filter's remainders, 0 for no filter
   * @param seed the seed of the signatures
   * @param duplicates what to do with records that have the same key
   * @param memoryBytes the memory limit for concurrent passes
   * @param threads the number of threads
   */
  public record Settings(
      RecordLayout layout,
      int dataFiles,
      int blockSize,
      int compressionLevel,
      int filterBits,
      long seed,
      DuplicateRule duplicates,
      long memoryBytes,
      int threads) {}

  private final Settings settings;
  private final @Nullable CollectedKeys keys;
  private final BuildResources resources = new BuildResources();
  private final PackedFiles files;
  private final RecordSpill spill;
  private byte @Nullable [] dictionary;

  /**
   * Creates the files and the temporary files.
   *
   * @param chunk write buffer of all files, which are written in turn. The caller closes it, after
   *     the assembly.
   * @param keys collects all keys, or null. The caller closes it, after the assembly
   */
  public PackedAssembly(
      BuildPlace place, ChunkBuffer chunk, Settings settings, @Nullable CollectedKeys keys)
      throws IOException {
    this.settings = settings;
    this.keys = keys;
    try {
      this.files =
          resources.add(
              new PackedFiles(
                  place.directory(), chunk, settings.dataFiles(), settings.filterBits()));
      this.spill = resources.add(new RecordSpill(place.temporaryDirectory()));
    } catch (IOException | RuntimeException | Error e) {
      resources.closeAfter(e);
      throw e;
    }
  }

  @Override
  public RecordWriter writer(byte @Nullable [] dictionary) {
    this.dictionary = dictionary;
    return spill;
  }

  @Override
  public Assembled complete(AssemblyProgress progress) throws IOException {
    spill.finish();
    progress.ended(Phase.RECORDS);
    boolean compressed = settings.layout().compressed();
    PackedShape shape =
        compressed
            ? PackedShape.compressed(spill.records(), spill.recordBytes(), settings.blockSize())
            : PackedShape.of(spill.records(), spill.recordBytes());
    PackStage stage =
        new PackStage(
            spill,
            shape,
            keys == null ? settings.memoryBytes() : keys.packBytes(),
            settings.threads(),
            settings.duplicates(),
            settings.seed(),
            progress::cancelled,
            compressed ? compression() : null,
            keys == null ? KeyReceiver.NONE : keys);
    Facts.Filter filter = files.filterFacts(spill.records());
    FilterWriter filtered = files.filterWriter(filter);
    BinIndex index =
        stage.write(files.data(), filtered, done -> progress.progress(Phase.INDEX, done));
    List<Content> contents = files.finish(index, filtered, dictionary);
    progress.ended(Phase.INDEX);
    return new Assembled(
        stage.records(),
        0,
        new Assembled.Storage(
            settings.layout(),
            Facts.NO_HASH,
            0,
            0,
            0,
            compressed ? settings.blockSize() : 0,
            compressed ? settings.compressionLevel() : 0,
            0,
            new Facts.Bins(shape.bins(), shape.spanning()),
            filter,
            null),
        contents);
  }

  /** Its native memory is freed with the assembly, when no thread compresses any more. */
  private CompressedBins.Rule compression() {
    BlockCompressor compressor =
        resources.add(new BlockCompressor(settings.compressionLevel(), dictionary));
    return new CompressedBins.Rule(compressor, settings.blockSize());
  }

  @Override
  public void close() throws IOException {
    resources.close();
  }
}
