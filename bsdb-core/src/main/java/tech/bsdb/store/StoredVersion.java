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

  /** Its name. */
  public String name() {
    return facts.name;
  }

  /** The database. */
  public Path directory() {
    return facts.directory;
  }

  /** Whether it is the current one. */
  public boolean current() {
    return facts.current;
  }

  /** When its directory was last changed: when it came there. */
  public Instant modified() {
    return facts.modified;
  }

  /** Its records, or -1 if it cannot be opened. */
  public long records() {
    return facts.records;
  }

  /** Bytes of its files. */
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
