package tech.bsdb.store;

import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A version in a store. */
public final class StoredVersion {
  record Facts(
      String name, Path directory, boolean current, Instant modified, long records, long bytes) {}

  private final Facts facts;

  StoredVersion(Facts facts) {
    this.facts = facts;
  }

  /** The version's name. */
  public String name() {
    return facts.name;
  }

  /** The database directory. */
  public Path directory() {
    return facts.directory;
  }

  /** Whether this version is current. */
  public boolean current() {
    return facts.current;
  }

  /** When the directory was last modified, that is, when the version was published. */
  public Instant modified() {
    return facts.modified;
  }

  /** The number of records, or -1 if the version cannot be opened. */
  public long records() {
    return facts.records;
  }

  /** Total size of the files in bytes. */
  public long bytes() {
    return facts.bytes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StoredVersion that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "StoredVersion" + facts.toString().substring("Facts".length());
  }
}
