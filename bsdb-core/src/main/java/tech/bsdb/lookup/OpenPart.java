package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ReadCount;
import tech.bsdb.order.OrderIndex;

/**
 * One database of an open lookup, and its data files held for scans. Thread-safe.
 *
 * @param directory its directory
 * @param scanned its data files; the lookup closes them
 * @param order the order of its keys, or null if there is none; the lookup closes it
 * @param dictionary the ZSTD dictionary, or null if there is none
 */
record OpenPart(
    DatabaseDirectory directory,
    HeldFiles scanned,
    @Nullable OrderIndex order,
    byte @Nullable [] dictionary)
    implements Closeable {
  /**
   * Opens the data files and the order of the keys.
   *
   * @param engine reads the order
   */
  static OpenPart open(
      DatabaseDirectory directory,
      byte @Nullable [] dictionary,
      Engine engine,
      boolean verify,
      ReadCount reads)
      throws IOException {
    HeldFiles held = HeldFiles.open(directory, directory.manifest().files(FileKind.DATA));
    try {
      return new OpenPart(directory, held, order(directory, engine, verify, reads), dictionary);
    } catch (IOException | RuntimeException e) {
      try {
        held.close();
      } catch (IOException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  private static @Nullable OrderIndex order(
      DatabaseDirectory directory, Engine engine, boolean verify, ReadCount reads)
      throws IOException {
    Facts.Order facts = directory.facts().order();
    if (facts == null) {
      return null;
    }
    FileEntry entry = directory.manifest().files(FileKind.ORDER).get(0);
    // Never loaded: lookups do not need it.
    Engine own = engine instanceof LoadedEngine ? new BufferedEngine() : engine;
    CheckedPages pages = directory.pages(entry, own, verify, reads);
    try {
      return new OrderIndex(pages, directory.check(entry), facts, directory.facts().records());
    } catch (IOException | RuntimeException e) {
      pages.close();
      throw e;
    }
  }

  /** Scans some of the records of data files that {@link HeldFiles#dataFiles} returned. */
  RecordScanner scan(List<DataFile> files, boolean values, List<FileRange> ranges)
      throws IOException {
    try {
      return new RecordScanner(
          files,
          directory.facts().requireLayout(),
          directory.facts().addresses(),
          dictionary,
          values,
          ranges);
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      scanned.close();
    } finally {
      if (order != null) {
        order.close();
      }
    }
  }

  /** Whether the data files contain records that were dropped as duplicates. */
  boolean holdsDropped() {
    return directory.facts().duplicatesDropped() > 0 && !directory.facts().packed();
  }
}
