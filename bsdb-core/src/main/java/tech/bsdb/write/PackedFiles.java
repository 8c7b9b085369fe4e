package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
import tech.bsdb.format.BinSample;
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
  private final @Nullable OutputFile filterFile;
  private Facts.@Nullable Filter filterFacts;
  private @Nullable FilterWriter filter;

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
      this.filterFile = filterBits > 0 ? filterFile() : null;
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
   * Begins the filter.
   *
   * @param records the number of records, including duplicates
   * @return receives the signatures of all records, in order; null if there is no filter
   */
  @Nullable FilterWriter filter(long records) {
    if (filterFile != null) {
      filterFacts = FilterWriter.facts(filterBits, records);
      filter = new FilterWriter(filterFile.pages(), filterFacts);
    }
    return filter;
  }

  /**
   * Writes what is left once the data files and the filter have all records.
   *
   * @param records the number of records, without duplicates
   * @param bins the index of the pages
   * @param dictionary the dictionary to store, or null
   * @param layout the layout of the bins
   */
  Assembled finish(
      long records, PackedShape shape, BinIndex bins, byte @Nullable [] dictionary, Layout layout)
      throws IOException {
    List<Content> contents = new ArrayList<>();
    for (OutputFile file : data) {
      contents.add(finished(file));
    }
    if (dictionary != null) {
      FileIdentity identity = new FileIdentity(FileKind.DICTIONARY, 0);
      OutputFile file = resources.add(new OutputFile(directory, identity, chunk));
      contents.add(Content.written(file, dictionary));
    }
    bins.write(index.pages());
    contents.add(finished(index));
    if (filterFile != null && filter != null) {
      filter.finish();
      contents.add(finished(filterFile));
    }
    String sample = null;
    if (layout == Layout.PACKED) {
      sample = BinSample.write(bins.bins(), bins.pages(), bins::page);
    }
    Facts.Bins facts = new Facts.Bins(shape.bins(), shape.spanning(), sample);
    return new Assembled(records, 0, 0, 0, facts, filterFacts, null, contents);
  }

  private static Content finished(OutputFile file) throws IOException {
    file.finish();
    return new Content(file, file.pages().position());
  }

  /** Closes the files, and deletes those that were not sealed. */
  @Override
  public void close() throws IOException {
    resources.close();
  }
}
