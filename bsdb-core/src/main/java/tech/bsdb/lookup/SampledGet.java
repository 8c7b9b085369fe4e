package tech.bsdb.lookup;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.BinSample;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;

/**
 * Looks for one key of a packed database without the index, by one read of the few pages in which
 * its bin probably is (FORMAT.md §12).
 */
public final class SampledGet {
  /** More pages than these are more than the lookup is worth. */
  private static final int MOST_PAGES = 128;

  private SampledGet() {}

  /**
   * Looks for a key.
   *
   * @param opened one database, of which only the data files need be there
   * @param choice chooses the engine that reads them
   * @return the value, or null, which says nothing
   */
  public static byte @Nullable [] value(DataSet opened, EngineChoice choice, byte[] key)
      throws IOException {
    DatabaseDirectory database = opened.single();
    Facts facts = database.facts();
    if (facts.layout() != Layout.PACKED || facts.records() == 0) {
      return null;
    }
    Facts.Bins bins = facts.requireBins();
    BinSample sample = BinSample.read(bins.count(), database.manifest().dataPages(), bins.sample());
    if (sample == null) {
      return null;
    }
    Signature signature = new Signature();
    SignatureFunction.of(facts).sign(key, 0, key.length, signature);
    BinSample.Pages near = sample.near(BinIndex.bin(signature.high, bins.count()), facts.records());
    long before = 0;
    for (FileEntry file : database.manifest().files(FileKind.DATA)) {
      long behind = before + file.pages() - 2;
      if (near.centre() < behind) {
        long first = Math.max(near.first(), before) - before + 1;
        long last = Math.min(near.last(), behind - 1) - before + 1;
        return last - first < MOST_PAGES
            ? value(database, file, first, last, choice.choose(opened).data(), key)
            : null;
      }
      before = behind;
    }
    return null;
  }

  /** Looks for a key in a run of pages of a file, which is read as if it ended with them. */
  private static byte @Nullable [] value(
      DatabaseDirectory database, FileEntry file, long first, long last, Engine engine, byte[] key)
      throws IOException {
    PageSource source = engine.open(database.file(file), file.length());
    CheckedPages pages = new CheckedPages(source, last + 2, database.pageCheck(file), true, null);
    List<DataFile> files = List.of(new DataFile(pages, database.check(file), file.end()));
    FileRange run = new FileRange(first << Page.SHIFT, last + 1 << Page.SHIFT);
    try (RecordScanner records =
        new RecordScanner(files, Layout.PACKED, null, null, true, List.of(run))) {
      while (records.next()) {
        int from = records.keyFrom();
        if (Arrays.equals(records.bytes(), from, from + records.keyLength(), key, 0, key.length)) {
          return records.value();
        }
      }
      return null;
    } catch (CorruptDatabaseException e) { // or a record that goes on behind the last page
      return null;
    }
  }
}
