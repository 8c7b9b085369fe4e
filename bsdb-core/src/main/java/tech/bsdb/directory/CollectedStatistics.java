package tech.bsdb.directory;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import tech.bsdb.Statistics;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ShardSet;

/** Collects statistics from the manifests of a directory. */
public final class CollectedStatistics {
  private CollectedStatistics() {}

  /** Collects the statistics of a database or of a set of shards. */
  public static Statistics of(DataSet opened, String engine, boolean readsMemory) {
    Facts first = opened.facts();
    Facts.Filter filter = first.filter();
    Manifest manifest = opened.databases().get(0).manifest();
    Map<String, Long> files = fileBytes(opened);
    boolean set = opened.isSet();
    ShardSet partial = opened.partialSet();
    return new Statistics(
        opened.path(),
        opened.id().toString(),
        first.format(),
        first.layoutId(),
        first.approximateWidth(),
        sum(opened, Facts::records),
        sum(opened, Facts::duplicatesDropped),
        first.checksumBits(),
        first.signature().id(),
        first.hashSeed(),
        sum(opened, Facts::keyBytes),
        sum(opened, Facts::valueBytes),
        most(opened, Facts::longestKey),
        most(opened, Facts::longestValue),
        first.zstdBlock(),
        first.zstdLevel(),
        Math.toIntExact(payloadBytes(opened, FileKind.DICTIONARY)),
        set ? -1 : first.shard(),
        first.shards(),
        bytes(opened, FileKind.HASH),
        bytes(opened, FileKind.INDEX),
        bytes(opened, FileKind.DATA),
        files.values().stream().mapToLong(Long::longValue).sum(),
        files,
        first.valueSchema(),
        first.packed() ? sum(opened, each -> each.requireBins().count()) : 0,
        first.packed() && first.requireBins().spanning(),
        filter == null ? 0 : filter.bits(),
        bytes(opened, FileKind.FILTER),
        first.order() != null,
        bytes(opened, FileKind.ORDER),
        first.packed() ? "none" : Facts.hashKind(manifest),
        opened.databases().stream().map(each -> each.facts().records()).toList(),
        opened.databases().stream().map(each -> each.facts().shard()).toList(),
        partial == null ? null : String.valueOf(partial.whole()),
        engine,
        readsMemory);
  }

  /** The sizes of all files, by their paths in the directory; each manifest after its files. */
  private static Map<String, Long> fileBytes(DataSet opened) {
    Map<String, Long> files = new LinkedHashMap<>();
    for (DatabaseDirectory database : opened.databases()) {
      String prefix = opened.isSet() ? database.path().getFileName() + "/" : "";
      for (FileEntry entry : database.manifest().files()) {
        files.put(prefix + entry.name(database.id()), entry.length());
      }
      files.put(prefix + Manifest.FILE_NAME, database.manifestBytes());
    }
    if (opened.isSet()) {
      files.put(Manifest.FILE_NAME, opened.setManifestBytes());
    }
    return files;
  }

  private static long sum(DataSet opened, ToLongFunction<Facts> fact) {
    return opened.databases().stream().map(DatabaseDirectory::facts).mapToLong(fact).sum();
  }

  private static long most(DataSet opened, ToLongFunction<Facts> fact) {
    return opened.databases().stream()
        .map(DatabaseDirectory::facts)
        .mapToLong(fact)
        .max()
        .orElse(0);
  }

  private static long bytes(DataSet opened, FileKind kind) {
    return entries(opened, kind).mapToLong(FileEntry::length).sum();
  }

  private static long payloadBytes(DataSet opened, FileKind kind) {
    return entries(opened, kind).mapToLong(FileEntry::payloadBytes).sum();
  }

  private static Stream<FileEntry> entries(DataSet opened, FileKind kind) {
    return opened.files().stream()
        .map(DataSet.Located::entry)
        .filter(entry -> entry.file().kind() == kind);
  }
}
