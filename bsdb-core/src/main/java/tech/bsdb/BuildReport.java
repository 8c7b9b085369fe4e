package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The result of a finished build. */
public final class BuildReport {
  record Facts(
      Path directory,
      String databaseId,
      long records,
      long duplicatesDropped,
      long valuesCut,
      long keyBytes,
      long valueBytes,
      long databaseBytes,
      Map<String, Long> fileBytes,
      int dictionaryBytes,
      Map<BuildListener.Stage, Double> stageSeconds,
      List<String> warnings,
      @Nullable ChangeCounts changes) {}

  private final Facts facts;

  BuildReport(Facts facts) {
    this.facts = facts;
  }

  /** The database directory. */
  public Path directory() {
    return facts.directory;
  }

  /** The database id, 32 hexadecimal digits derived from content and options. */
  public String databaseId() {
    return facts.databaseId;
  }

  /** Number of records that lookups can find. */
  public long records() {
    return facts.records;
  }

  /** Records dropped because another record has the same key. */
  public long duplicatesDropped() {
    return facts.duplicatesDropped;
  }

  /** Values truncated to the width of an approximate database. */
  public long valuesCut() {
    return facts.valuesCut;
  }

  /** Total size of the keys added, in bytes. */
  public long keyBytes() {
    return facts.keyBytes;
  }

  /** Total size of the values added, in bytes. */
  public long valueBytes() {
    return facts.valueBytes;
  }

  /** Total size of all files, in bytes. */
  public long databaseBytes() {
    return facts.databaseBytes;
  }

  /**
   * Size of each file in bytes, by name, in the order written. The names of a shard's files start
   * with that of its directory: {@code shard-00003-1a2b3c4d/data-000-1a2b3c4d.bsdb}.
   */
  public Map<String, Long> fileBytes() {
    return facts.fileBytes;
  }

  /**
   * Size of the trained dictionary in bytes, or of those of all shards, at most 2^31 - 1; 0 for
   * none.
   */
  public int dictionaryBytes() {
    return facts.dictionaryBytes;
  }

  /** Seconds spent in each stage, in stage order. */
  public Map<BuildListener.Stage, Double> stageSeconds() {
    return facts.stageSeconds;
  }

  /** Cleanup or sync failures after the database was published; empty if there were none. */
  public List<String> warnings() {
    return facts.warnings;
  }

  /** What a build {@linkplain DatabaseBuilder#from from a base} changed; otherwise null. */
  public @Nullable ChangeCounts changes() {
    return facts.changes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof BuildReport that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "BuildReport" + facts.toString().substring("Facts".length());
  }
}
