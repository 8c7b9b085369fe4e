package tech.bsdb.tools.inspect;

import static tech.bsdb.tools.cli.FileTotals.count;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.MemoryUse;
import tech.bsdb.OpenOptions;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.FileTotals;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.rows.RowSchema;

/**
 * {@code bsdb stat}: prints the figures of a database, or the I/O engines that this machine offers.
 */
public final class StatCommand extends Command {
  /** For the service loader. */
  public StatCommand() {
    super("stat", "print a database's figures");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    if (arguments.has("--engines")) {
      arguments.refuse(
          arguments.optionsIn(PlaceOptions.TEXT),
          "is not for the engines of this machine; omit it");
      Path directory = arguments.has("-d") ? DatabaseOption.current(arguments) : null;
      print(engines(directory, arguments.has("--json")), arguments.has("--json"), console);
    } else {
      Statistics statistics = statistics(arguments);
      if (arguments.has("--schema")) {
        console.print(schema(statistics));
      } else if (arguments.has("--json")) {
        JsonReport.print(console, forPrograms(statistics));
      } else {
        print(forPeople(statistics), false, console);
      }
    }
    return OK;
  }

  private static Statistics statistics(Arguments arguments) throws UsageException, IOException {
    try (Place place = PlaceOptions.of(arguments)) {
      return place.statistics();
    }
  }

  private static void print(Map<String, ?> lines, boolean json, Console console)
      throws IOException {
    if (json) {
      JsonReport.print(console, lines);
      return;
    }
    for (Map.Entry<String, ?> line : lines.entrySet()) {
      console.print(String.format(Locale.ROOT, "%-27s %s", line.getKey(), line.getValue()));
    }
  }

  /** Whether each engine is available, or why not; for the directory, if one is given. */
  private static Map<String, Object> engines(@Nullable Path directory, boolean json)
      throws IOException {
    Map<String, Object> engines = new LinkedHashMap<>();
    for (OpenOptions.Engine engine : OpenOptions.Engine.values()) {
      if (engine != OpenOptions.Engine.AUTO) {
        String reason = Database.unavailable(engine, directory);
        engines.put(engine.name().toLowerCase(Locale.ROOT), reason == null ? "available" : reason);
      }
    }
    if (directory != null && Files.exists(Database.manifest(directory))) {
      MemoryUse use = Database.memoryUse(directory);
      if (json) {
        engines.put("bytes", use.bytes());
        engines.put("residentBytes", use.residentBytes());
        engines.put("hugePageBytes", use.hugePageBytes());
      } else {
        engines.put("page cache", WarmCommand.forPeople(use));
      }
    }
    return engines;
  }

  private static String schema(Statistics statistics) throws IOException {
    String schema = statistics.valueSchema();
    if (schema == null) {
      throw DatabaseOption.unfit(statistics, "the values are plain bytes, so no schema is stored");
    }
    return schema;
  }

  static Map<String, @Nullable Object> forPrograms(Statistics s) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("directory", s.location());
    json.put("databaseId", s.databaseId());
    json.put("formatVersion", s.formatVersion());
    json.putAll(figures(s));
    json.put("duplicatesDropped", s.duplicatesDropped());
    json.put("hash", s.hash());
    json.put("signature", s.signature());
    json.put("seed", s.seed());
    json.put("blockSize", s.blockSize());
    json.put("compressionLevel", s.compressionLevel());
    json.put("dictionaryBytes", s.dictionaryBytes());
    String schema = s.valueSchema();
    json.put("valueSchema", schema == null ? null : JsonReport.text(schema));
    json.put("valueElements", s.valueElements() == null ? null : s.valueElements().toString());
    json.put("bins", s.bins());
    json.put("spanning", s.spanning());
    if (s.isSet()) {
      json.put("shardRecords", s.shardRecords());
    }
    json.put("fileBytes", s.fileBytes());
    return json;
  }

  /** Returns the figures that servers show, too, by their names for programs. */
  public static Map<String, @Nullable Object> figures(Statistics s) {
    Map<String, @Nullable Object> figures = new LinkedHashMap<>();
    figures.put("records", s.records());
    figures.put("layout", s.layout());
    figures.put("approximateWidth", s.approximateWidth());
    figures.put("checksumBits", s.checksumBits());
    figures.put("filterBits", s.filterBits());
    figures.put("filterBytes", s.filterBytes());
    figures.put("ordered", s.ordered());
    figures.put("orderBytes", s.orderBytes());
    figures.put("shard", s.isSet() ? null : s.shard());
    figures.put("shards", s.shards());
    figures.put("heldShards", s.isPartialSet() ? s.heldShardRanges() : null);
    figures.put("wholeSetId", s.wholeSetId());
    figures.put("keyBytes", s.keyBytes());
    figures.put("valueBytes", s.valueBytes());
    figures.put("longestKey", s.longestKey());
    figures.put("longestValue", s.longestValue());
    figures.put("hashBytes", s.hashBytes());
    figures.put("indexBytes", s.indexBytes());
    figures.put("dataBytes", s.dataBytes());
    figures.put("databaseBytes", s.databaseBytes());
    return figures;
  }

  static Map<String, String> forPeople(Statistics s) {
    Map<String, String> lines = new LinkedHashMap<>();
    lines.put("database", ArgumentText.shown(s.location()));
    lines.put("id", s.databaseId());
    lines.put("format", String.valueOf(s.formatVersion()));
    lines.put("kind", kind(s));
    lines.put("records", count(s.records()));
    lines.put("duplicates dropped", count(s.duplicatesDropped()));
    if (s.bins() == 0) {
      lines.put("checksum bits", s.checksumBits() + " a key");
    }
    lines.put("signatures", s.signature() + ", seed " + s.seed());
    lines.put("keys", count(s.keyBytes()) + " bytes, the longest " + count(s.longestKey()));
    lines.put("values", count(s.valueBytes()) + " bytes, the longest " + count(s.longestValue()));
    if (s.valueSchema() != null) {
      lines.put("typed rows", columns(s));
    }
    if (s.valueElements() != null) {
      lines.put("elements of a value", s.valueElements().toString());
    }
    if (s.isSet()) {
      lines.put(
          "shards",
          (s.isPartialSet() ? s.heldShardRanges() + " of " : "")
              + count(s.shards())
              + ", of "
              + count(Collections.min(s.shardRecords()))
              + " to "
              + count(Collections.max(s.shardRecords()))
              + " records");
      String whole = s.wholeSetId();
      if (whole != null) {
        lines.put("whole set", whole);
      }
    } else if (s.shards() > 1) {
      lines.put("shard", s.shard() + " of " + s.shards());
    }
    if (s.bins() == 0) {
      lines.put("hash function", s.hash() + ", " + sized(s.hashBytes(), s.records()));
    } else {
      lines.put("bins", count(s.bins()) + (s.spanning() ? ", spanning pages" : ", within pages"));
    }
    lines.put("index", sized(s.indexBytes(), s.records()));
    if (s.filterBits() > 0) {
      lines.put("filter", s.filterBits() + " bits a key, " + sized(s.filterBytes(), s.records()));
    }
    if (s.ordered()) {
      lines.put("order of keys", sized(s.orderBytes(), s.records()));
    }
    lines.put("data", sized(s.dataBytes(), s.records()));
    lines.put("all files", sized(s.databaseBytes(), s.records()));
    FileTotals.forPeople(s.fileBytes()).forEach((file, bytes) -> lines.put("  " + file, bytes));
    return lines;
  }

  private static String kind(Statistics s) {
    if (s.approximateWidth() > 0) {
      return "approximate, at most " + s.approximateWidth() + " bytes of each value";
    }
    if (s.blockSize() == 0) {
      return "exact, " + s.layout();
    }
    String dictionary =
        s.dictionaryBytes() == 0 ? "no dictionary" : "dictionary of " + count(s.dictionaryBytes());
    return "exact, %s: ZSTD level %s, blocks of %s, %s"
        .formatted(s.layout(), s.compressionLevel(), count(s.blockSize()), dictionary);
  }

  private static String columns(Statistics s) {
    try {
      RowSchema schema = RowSchema.stored(s);
      int columns = schema == null ? 0 : schema.columns().size();
      return count(columns) + (columns == 1 ? " column" : " columns");
    } catch (IllegalArgumentException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static String sized(long bytes, long records) {
    String each =
        records == 0 ? "" : String.format(Locale.ROOT, ", %.2f a record", (double) bytes / records);
    return count(bytes) + " bytes" + each;
  }
}
