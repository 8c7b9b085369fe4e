package tech.bsdb.build;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.build.Assembled.Content;
import tech.bsdb.build.AssemblyProgress.Phase;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.ChunkBuffer;

/**
 * Assembles a database whose records lie in the order of their signatures. Records are spilled
 * until all are known, then sorted and packed into bins and pages. Not thread-safe.
 */
public final class PackedAssembly implements Assembly {
  /**
   * The database to assemble and the resources to use.
   *
   * @param dataFiles the number of data files
   * @param seed the seed of the signatures
   * @param duplicates what to do with records that have the same key
   * @param memoryBytes the memory limit for concurrent passes
   * @param threads the number of threads
   */
  public record Settings(
      int dataFiles, long seed, DuplicateRule duplicates, long memoryBytes, int threads) {}

  private final Settings settings;
  private final BuildResources resources = new BuildResources();
  private final List<OutputFile> dataOutputs = new ArrayList<>();
  private final OutputFile indexFile;
  private final RecordSpill spill;

  /**
   * Creates the files and the temporary files.
   *
   * @param chunk write buffer of all files, which are written in turn. The caller closes it, after
   *     the assembly.
   */
  public PackedAssembly(Workspace workspace, ChunkBuffer chunk, Settings settings)
      throws IOException {
    this.settings = settings;
    try {
      for (int i = 0; i < settings.dataFiles(); i++) {
        FileIdentity identity = new FileIdentity(FileKind.DATA, i);
        dataOutputs.add(resources.add(new OutputFile(workspace.directory(), identity, chunk)));
      }
      this.indexFile =
          resources.add(new OutputFile(workspace.directory(), BinIndex.identity(), chunk));
      this.spill = resources.add(new RecordSpill(workspace.temporaryDirectory()));
    } catch (IOException | RuntimeException | Error e) {
      resources.closeAfter(e);
      throw e;
    }
  }

  @Override
  public RecordWriter writer(byte @Nullable [] dictionary) {
    return spill;
  }

  @Override
  public Assembled complete(AssemblyProgress progress) throws IOException {
    spill.finish();
    progress.ended(Phase.RECORDS);
    PackedShape shape = PackedShape.of(spill.records(), spill.recordBytes());
    PackStage stage =
        new PackStage(
            spill,
            shape,
            settings.memoryBytes(),
            settings.threads(),
            settings.duplicates(),
            settings.seed(),
            progress::cancelled);
    List<PageEncoder> files = dataOutputs.stream().map(OutputFile::pages).toList();
    BinIndex index = stage.write(files, done -> progress.progress(Phase.INDEX, done));
    List<Content> contents = new ArrayList<>();
    for (OutputFile output : dataOutputs) {
      output.finish();
      contents.add(new Content(output, output.pages().position()));
    }
    index.write(indexFile.pages());
    indexFile.finish();
    contents.add(new Content(indexFile, indexFile.pages().position()));
    progress.ended(Phase.INDEX);
    return new Assembled(
        stage.records(),
        0,
        new Assembled.Storage(
            RecordLayout.PACKED,
            Facts.NO_HASH,
            0,
            0,
            0,
            0,
            0,
            0,
            new Facts.Bins(shape.bins(), shape.spanning())),
        contents);
  }

  @Override
  public void close() throws IOException {
    resources.close();
  }
}
