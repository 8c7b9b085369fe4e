package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;
import tech.bsdb.write.Assembled.Content;

/** The content files of a packed database. Not thread-safe. */
final class PackedFiles implements Closeable {
  private final Path directory;
  private final ChunkBuffer chunk;
  private final int filterBits;
  private final Resources resources = new Resources();
  private final List<OutputFile> data = new ArrayList<>();
  private final OutputFile index;
  private final @Nullable OutputFile filter;

  /**
   * Creates the files.
   *
   * @param chunk write buffer of all files, which are written in turn. The caller closes it, after
   *     the files
   * @param filterBits bits of the filter's remainders, 0 for no filter
   */
  PackedFiles(Path directory, ChunkBuffer chunk, int dataFiles, int filterBits) throws IOException {
    this.directory = directory;
    this.chunk = chunk;
    this.filterBits = filterBits;
    try {
      for (int i = 0; i < dataFiles; i++) {
        FileIdentity identity = new FileIdentity(FileKind.DATA, i);
        data.add(resources.add(new OutputFile(directory, identity, chunk)));
      }
      this.index = resources.add(new OutputFile(directory, BinIndex.identity(), chunk));
      this.filter = filterBits > 0 ? filterFile() : null;
    } catch (IOException | RuntimeException | Error e) {
      resources.closeAfter(e);
      throw e;
    }
  }

  /** Creates the file of the filter, with its own buffer: it is written beside the data files. */
  private OutputFile filterFile() throws IOException {
    ChunkBuffer own = resources.add(ChunkBuffer.huge());
    return resources.add(new OutputFile(directory, FilterWriter.identity(), own));
  }

  /** The encoders of the data files. */
  List<PageEncoder> data() {
    return data.stream().map(OutputFile::pages).toList();
  }

  /** One of the data files. */
  OutputFile dataFile(int number) {
    return data.get(number);
  }

  /**
   * The facts of the filter, or null if there is none.
   *
   * @param records the number of records, including duplicates
   */
  Facts.@Nullable Filter filterFacts(long records) {
    return filter == null ? null : FilterWriter.facts(filterBits, records);
  }

  /** The writer of the filter, or null if there is none. */
  @Nullable FilterWriter filterWriter(Facts.@Nullable Filter facts) {
    return filter == null || facts == null ? null : new FilterWriter(filter.pages(), facts);
  }

  /**
   * Writes what is left once the data files and the filter have all records.
   *
   * @param bins the index of the pages
   * @param filterWriter the writer of the filter, or null
   * @param dictionary the dictionary to store, or null
   * @return the files, in the order of the manifest
   */
  List<Content> finish(
      BinIndex bins, @Nullable FilterWriter filterWriter, byte @Nullable [] dictionary)
      throws IOException {
    List<Content> contents = new ArrayList<>();
    for (OutputFile file : data) {
      file.finish();
      contents.add(new Content(file, file.pages().position()));
    }
    if (dictionary != null) {
      FileIdentity identity = new FileIdentity(FileKind.DICTIONARY, 0);
      OutputFile file = resources.add(new OutputFile(directory, identity, chunk));
      contents.add(Content.written(file, dictionary));
    }
    bins.write(index.pages());
    index.finish();
    contents.add(new Content(index, index.pages().position()));
    if (filter != null && filterWriter != null) {
      filterWriter.finish();
      filter.finish();
      contents.add(new Content(filter, filter.pages().position()));
    }
    return contents;
  }

  /** Closes the files, and deletes those that were not sealed. */
  @Override
  public void close() throws IOException {
    resources.close();
  }
}
