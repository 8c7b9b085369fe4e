package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a finished build made. */
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
      List<String> warnings) {}

  private final Facts facts;

  BuildReport(Facts facts) {
    this.facts = facts;
  }

  /** The database. */
  public Path directory() {
    return facts.directory;
  }

  /** Its id, 32 hexadecimal digits, derived from content and options. */
  public String databaseId() {
    return facts.databaseId;
  }

  /** Records that can be found. */
  public long records() {
    return facts.records;
  }

  /** Records that lost to another with the same key. */
  public long duplicatesDropped() {
    return facts.duplicatesDropped;
  }

  /** Values that were longer than an approximate database keeps. */
  public long valuesCut() {
    return facts.valuesCut;
  }

  /** Bytes of all keys added. */
  public long keyBytes() {
    return facts.keyBytes;
  }

  /** Bytes of all values added. */
  public long valueBytes() {
    return facts.valueBytes;
  }

  /** Bytes of all files. */
  public long databaseBytes() {
    return facts.databaseBytes;
  }

  /** Bytes of each file by name, in the order of writing. */
  public Map<String, Long> fileBytes() {
    return facts.fileBytes;
  }

  /** Size of the trained dictionary, 0 for none. */
  public int dictionaryBytes() {
    return facts.dictionaryBytes;
  }

  /** Seconds spent in each stage, in their order. */
  public Map<BuildListener.Stage, Double> stageSeconds() {
    return facts.stageSeconds;
  }

  /**
   * What could not be cleaned up or synced after the database was published; empty if all went
   * well.
   */
  public List<String> warnings() {
    return facts.warnings;
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
