package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.CompressedBinReader;
import tech.bsdb.data.CompressedReader;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.Memory;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.ShownFile;

/** Opens the locator of a database, which depends on its kind. */
final class LocatorFactory {
  private final DatabaseDirectory directory;
  private final Facts facts;
  private final EngineChoice.Chosen engines;
  private final byte @Nullable [] dictionary;
  private final boolean verify;
  private final ReadCount reads;
  private final List<Closeable> opened;

  /**
   * Creates a factory.
   *
   * @param engines open the files that lookups read
   * @param dictionary the ZSTD dictionary, or null if there is none
   * @param verify whether to verify each page at its first touch
   * @param reads counts the reads that engines make
   * @param opened receives everything that was opened, even if a later file fails; the caller
   *     closes it, the last first
   */
  LocatorFactory(
      DatabaseDirectory directory,
      EngineChoice.Chosen engines,
      byte @Nullable [] dictionary,
      boolean verify,
      ReadCount reads,
      List<Closeable> opened) {
    this.directory = directory;
    this.facts = directory.facts();
    this.engines = engines;
    this.dictionary = dictionary;
    this.verify = verify;
    this.reads = reads;
    this.opened = opened;
  }

  /** Opens the files that lookups read. */
  Locator open() throws IOException {
    if (facts.approximate()) {
      return inline();
    }
    return facts.packed() ? packed() : addressed();
  }

  private <T extends Closeable> T toClose(T resource) {
    opened.add(resource);
    return resource;
  }

  private Locator inline() throws IOException {
    int width = facts.approximateWidth();
    HashFunction hash = hash();
    CheckedPages pages = indexPages(ValueIndex.entryWidth(width));
    ValueIndex index = new ValueIndex(pages, width, directory.check(only(FileKind.INDEX)));
    return new InlineLocator(SignatureFunction.of(facts), hash, index);
  }

  private Locator addressed() throws IOException {
    HashFunction hash = hash();
    AddressIndex index = new AddressIndex(indexPages(AddressIndex.WIDTH));
    return new AddressedLocator(SignatureFunction.of(facts), hash, index, records());
  }

  private Locator packed() throws IOException {
    Facts.Bins bins = facts.requireBins();
    long pages = 0;
    for (FileEntry entry : directory.manifest().files(FileKind.DATA)) {
      pages += entry.pages() - 2;
    }
    FileEntry entry = only(FileKind.INDEX);
    BinIndex index;
    // Read once, whatever the engine: it is small, and every lookup needs it.
    try (CheckedPages file =
        directory.pages(entry, new BufferedEngine(), verify, new ReadCount())) {
      index = BinIndex.read(file, directory.check(entry), bins.count(), pages, bins.spanning());
    }
    SignatureFilter filter = filter();
    List<DataFile> files = directory.dataFiles(engines.data(), verify, reads);
    PackedReader reader = toClose(new PackedReader(files));
    if (!facts.compressed()) {
      return new PackedLocator(SignatureFunction.of(facts), index, filter, reader);
    }
    try {
      CompressedBinReader records = toClose(new CompressedBinReader(reader, dictionary));
      return new CompressedBinLocator(SignatureFunction.of(facts), index, filter, reader, records);
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  /** Loads the filter, or returns null if there is none or lookups do without it. */
  private @Nullable SignatureFilter filter() throws IOException {
    Facts.Filter filter = facts.filter();
    LoadedEngine loader = engines.filterLoader();
    if (filter == null || loader == null) {
      return null;
    }
    FileEntry entry = only(FileKind.FILTER);
    Memory.require(directory.file(entry), entry.length(), "be loaded");
    ShownFile file = toClose(directory.load(entry, loader, verify));
    return SignatureFilter.of(file, directory.check(entry), entry.pages(), filter, facts.records());
  }

  private HashFunction hash() throws IOException {
    FileEntry entry = only(FileKind.HASH);
    return toClose(
        directory.hashKind().open(directory.file(entry), entry, facts, verify, engines.loader()));
  }

  private CheckedPages indexPages(int entryWidth) throws IOException {
    FileEntry entry = only(FileKind.INDEX);
    long pages = AddressIndex.pagesFor(facts.records(), entryWidth);
    if (pages != entry.pages()) {
      throw directory
          .check(entry)
          .corrupt(0, "an index of " + pages + " pages", entry.pages() + "");
    }
    return toClose(directory.pages(entry, engines.index(), verify, reads));
  }

  private RecordReader records() throws IOException {
    List<DataFile> files = directory.dataFiles(engines.data(), verify, reads);
    if (!facts.compressed()) {
      return toClose(new PlainReader(files, facts.addresses()));
    }
    try {
      return toClose(
          new CompressedReader(files, facts.addresses(), dictionary, facts.zstdLongest()));
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  private FileEntry only(FileKind kind) throws IOException {
    List<FileEntry> entries = directory.manifest().files(kind);
    if (entries.size() != 1) {
      throw new CorruptDatabaseException(
          directory.path().resolve(Manifest.FILE_NAME),
          4096,
          "one " + kind.label() + " file",
          entries.size() + "");
    }
    return entries.get(0);
  }
}
