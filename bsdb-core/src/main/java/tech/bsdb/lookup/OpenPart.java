package tech.bsdb.lookup;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.BinScanner;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.ReadCount;

/**
 * One database of an open lookup, and its data files held for scans. Thread-safe.
 *
 * @param directory its directory
 * @param scanned its data files; the lookup closes them
 * @param dictionary the ZSTD dictionary, or null if there is none
 */
record OpenPart(DatabaseDirectory directory, HeldFiles scanned, byte @Nullable [] dictionary) {
  /** Opens the data files. */
  static OpenPart open(DatabaseDirectory directory, byte @Nullable [] dictionary)
      throws IOException {
    HeldFiles held = HeldFiles.open(directory, directory.manifest().files(FileKind.DATA));
    return new OpenPart(directory, held, dictionary);
  }

  /** Scans the records of data files that {@link HeldFiles#dataFiles} returned. */
  RecordScanner scan(List<DataFile> files, boolean values) throws IOException {
    return scan(files, values, FileRange.whole(files.size()));
  }

  /** Scans some of the records of data files that {@link HeldFiles#dataFiles} returned. */
  RecordScanner scan(List<DataFile> files, boolean values, List<FileRange> ranges)
      throws IOException {
    try {
      return new RecordScanner(
          files,
          directory.facts().layout(),
          directory.facts().addresses(),
          dictionary,
          values,
          ranges);
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  /** Scans the bins of a packed database. */
  BinScanner scanBins(ReadCount reads) throws IOException {
    List<DataFile> files = scanned.dataFiles(reads);
    try {
      return new BinScanner(files, directory.facts().layout(), dictionary);
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  /** Whether the data files contain records that were dropped as duplicates. */
  boolean holdsDropped() {
    return directory.facts().duplicatesDropped() > 0 && !directory.facts().packed();
  }
}
