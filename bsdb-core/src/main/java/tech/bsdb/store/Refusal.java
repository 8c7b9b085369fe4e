package tech.bsdb.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Why a version does not go live. */
public final class Refusal {
  record Facts(String version, String reason, Instant at) {}

  private final Facts facts;

  Refusal(Facts facts) {
    this.facts = facts;
  }

  /** Its name; for a plain database the directory's name; empty where nothing is named. */
  public String version() {
    return facts.version;
  }

  /** What is wrong, in one line that names the file where one is at fault. */
  public String reason() {
    return facts.reason;
  }

  /** When that was first found. */
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
