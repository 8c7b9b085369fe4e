package tech.bsdb.write;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.data.BlockCompressor;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;
import tech.bsdb.write.PackStage.KeyReceiver;

/**
 * Assembles a database whose records lie in the order of their signatures. Records are spilled
 * until all are known, then sorted and packed into bins and pages. Not thread-safe.
 */
final class PackedAssembly implements Assembly {
  private final BuildOptions options;
  private final @Nullable CollectedKeys keys;
  private final Resources resources = new Resources();
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
  PackedAssembly(
      BuildPlace place, ChunkBuffer chunk, BuildOptions options, @Nullable CollectedKeys keys)
      throws IOException {
    this.options = options;
    this.keys = keys;
    try {
      this.files =
          resources.add(
              new PackedFiles(place.directory(), chunk, options.dataFiles(), options.filterBits()));
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
    progress.ended(Stage.RECORDS);
    boolean compressed = options.layout().isCompressed();
    PackedShape shape =
        compressed
            ? PackedShape.compressed(spill.records(), spill.recordBytes(), options.blockSize())
            : PackedShape.of(spill.records(), spill.recordBytes());
    PackStage stage =
        new PackStage(
            spill,
            shape,
            keys == null ? options.memoryBytes() : keys.packBytes(),
            options.threads(),
            options.duplicates(),
            SignatureFunction.of(options),
            progress::cancelled,
            compressed ? compression() : null,
            keys == null ? KeyReceiver.NONE : keys);
    BinIndex index =
        stage.write(
            files.data(),
            files.filter(spill.records()),
            done -> progress.progress(Stage.INDEX, done));
    Assembled assembled = files.finish(stage.records(), shape, index, dictionary, options.layout());
    progress.ended(Stage.INDEX);
    return assembled;
  }

  /** Its native memory is freed with the assembly, when no thread compresses any more. */
  private CompressedBins.Rule compression() {
    BlockCompressor compressor =
        resources.add(new BlockCompressor(options.compressionLevel(), dictionary));
    return new CompressedBins.Rule(compressor, options.blockSize());
  }

  @Override
  public void close() throws IOException {
    resources.close();
  }
}
