package tech.bsdb.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The reason that a version does not go live. */
public final class Refusal {
  record Facts(String version, String reason, Instant at) {}

  private final Facts facts;

  Refusal(Facts facts) {
    this.facts = facts;
  }

  /**
   * The version's name, or the directory name of a plain database; empty if no version is named.
   */
  public String version() {
    return facts.version;
  }

  /** What is wrong, in one line that names the file at fault, if any. */
  public String reason() {
    return facts.reason;
  }

  /** When the problem was first found. */
  public Instant at() {
    return facts.at;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Refusal that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "Refusal" + facts.toString().substring("Facts".length());
  }
}
