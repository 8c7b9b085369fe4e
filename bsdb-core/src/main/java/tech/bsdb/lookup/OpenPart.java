package tech.bsdb.lookup;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.CompressedBinReader;
import tech.bsdb.data.CompressedReader;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.Memory;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.Resources;
import tech.bsdb.io.ShownFile;
import tech.bsdb.order.OrderIndex;

/**
 * One database of an open lookup: its locator, which depends on its kind, its data files held for
 * scans, and the order of its keys. Thread-safe.
 */
final class OpenPart {
  /** Its directory. */
  final DatabaseDirectory directory;

  /** Finds its keys. */
  final Locator locator;

  /** The order of its keys, or null if there is none. */
  final @Nullable OrderIndex order;

  private final HeldFiles scanned;
  private final byte @Nullable [] dictionary;
  private final Facts facts;
  private final SignatureFunction function;
  private final EngineChoice.Chosen engines;
  private final boolean verify;
  private final ReadCount reads;

  /**
   * Opens the files of a database.
   *
   * @param engines open the files that lookups read
   * @param verify whether to verify each page at its first touch
   * @param reads counts the reads that engines make
   * @param opened receives everything that was opened, even if a later file fails; the caller
   *     closes it
   */
  OpenPart(
      DatabaseDirectory directory,
      EngineChoice.Chosen engines,
      boolean verify,
      ReadCount reads,
      Resources opened)
      throws IOException {
    this.directory = directory;
    this.facts = directory.facts();
    this.function = SignatureFunction.of(facts);
    this.engines = engines;
    this.verify = verify;
    this.reads = reads;
    this.dictionary = facts.compressed() ? directory.dictionary() : null;
    if (facts.approximate()) {
      this.locator = inline(opened);
    } else {
      this.locator = facts.packed() ? packed(opened) : addressed(opened);
    }
    List<FileEntry> data = directory.manifest().files(FileKind.DATA);
    this.scanned = opened.add(HeldFiles.open(directory, data, engines.data()));
    this.order = facts.order() == null ? null : order(facts.order(), opened);
  }

  private Locator inline(Resources opened) throws IOException {
    int width = facts.approximateWidth();
    HashFunction hash = hash(opened);
    CheckedPages pages = indexPages(ValueIndex.entryWidth(width), opened);
    PageCheck check = directory.check(directory.first(FileKind.INDEX));
    return new InlineLocator(function, hash, new ValueIndex(pages, width, check));
  }

  private Locator addressed(Resources opened) throws IOException {
    HashFunction hash = hash(opened);
    AddressIndex index = new AddressIndex(indexPages(AddressIndex.WIDTH, opened));
    return new AddressedLocator(function, hash, index, records(opened));
  }

  private Locator packed(Resources opened) throws IOException {
    BinIndex index = bins();
    SignatureFilter filter = filter(opened);
    List<DataFile> files = directory.dataFiles(engines.data(), verify, reads);
    PackedReader reader = opened.add(new PackedReader(files));
    return new PackedLocator(function, index, filter, reader, compressed(reader, files, opened));
  }

  private @Nullable CompressedBinReader compressed(
      PackedReader pages, List<DataFile> files, Resources opened) throws IOException {
    if (!facts.compressed()) {
      return null;
    }
    try {
      return opened.add(new CompressedBinReader(pages, dictionary));
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  /** Reads the index of bins once, whatever the engine: it is small, and every lookup needs it. */
  private BinIndex bins() throws IOException {
    Facts.Bins bins = facts.requireBins();
    long pages = directory.manifest().dataPages();
    FileEntry entry = directory.first(FileKind.INDEX);
    try (CheckedPages file =
        directory.pages(entry, new BufferedEngine(), verify, new ReadCount())) {
      return BinIndex.read(file, directory.check(entry), bins.count(), pages, bins.spanning());
    }
  }

  /** Loads the filter, or returns null if there is none or lookups do without it. */
  private @Nullable SignatureFilter filter(Resources opened) throws IOException {
    Facts.Filter filter = facts.filter();
    LoadedEngine loader = engines.filterLoader();
    if (filter == null || loader == null) {
      return null;
    }
    FileEntry entry = directory.first(FileKind.FILTER);
    if (!directory.isHere(entry)) {
      return null;
    }
    Memory.require(directory.file(entry), entry.length(), "be loaded");
    ShownFile file = opened.add(directory.load(entry, loader, verify));
    return SignatureFilter.of(file, directory.check(entry), entry.pages(), filter, facts.records());
  }

  private HashFunction hash(Resources opened) throws IOException {
    FileEntry entry = directory.first(FileKind.HASH);
    return opened.add(
        directory.hashKind().open(directory.file(entry), entry, facts, verify, engines.loader()));
  }

  private CheckedPages indexPages(int entryWidth, Resources opened) throws IOException {
    FileEntry entry = directory.first(FileKind.INDEX);
    long pages = AddressIndex.pagesFor(facts.records(), entryWidth);
    if (pages != entry.pages()) {
      throw directory
          .check(entry)
          .corrupt(0, "an index of " + pages + " pages", entry.pages() + "");
    }
    return opened.add(directory.pages(entry, engines.index(), verify, reads));
  }

  private RecordReader records(Resources opened) throws IOException {
    List<DataFile> files = directory.dataFiles(engines.data(), verify, reads);
    if (!facts.compressed()) {
      return opened.add(new PlainReader(files, facts.addresses()));
    }
    try {
      return opened.add(
          new CompressedReader(files, facts.addresses(), dictionary, facts.zstdLongest()));
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  private OrderIndex order(Facts.Order levels, Resources opened) throws IOException {
    FileEntry entry = directory.first(FileKind.ORDER);
    // Never loaded: lookups do not need it.
    Engine engine = engines.data() instanceof LoadedEngine ? new BufferedEngine() : engines.data();
    CheckedPages pages = opened.add(directory.pages(entry, engine, verify, reads));
    return new OrderIndex(pages, directory.check(entry), levels, facts.records());
  }

  /**
   * Opens the data files for a scan, through the descriptors held; each page is verified at its
   * first touch. The caller closes them.
   */
  List<DataFile> dataFiles() throws IOException {
    return scanned.dataFiles(reads);
  }

  /** Scans some of the records of {@link #dataFiles}, which the scanner closes. */
  RecordScanner scan(List<DataFile> files, boolean values, List<FileRange> ranges) {
    long longest = RecordFrame.WIDE + (long) facts.longestKey() + facts.longestValue();
    return new RecordScanner(
            files, facts.requireLayout(), facts.addresses(), dictionary, values, ranges)
        .withLongestBlock(Math.max(facts.zstdBlock(), longest)); // FORMAT.md §4
  }

  /** Whether the data files contain records that were dropped as duplicates. */
  boolean holdsDropped() {
    return facts.duplicatesDropped() > 0 && !facts.packed();
  }
}
