package tech.bsdb;

import org.jspecify.annotations.Nullable;

/**
 * What a build {@linkplain DatabaseBuilder#from from a base} did with the records of the base and
 * with the changes. Of several changes of one key, only the last counts; the others are {@link
 * #superseded}.
 */
public final class ChangeCounts {
  record Facts(
      long kept, long replaced, long added, long deleted, long deletedAbsent, long superseded) {
    static final Facts NONE = new Facts(0, 0, 0, 0, 0, 0);

    Facts plus(Facts other) {
      return new Facts(
          kept + other.kept,
          replaced + other.replaced,
          added + other.added,
          deleted + other.deleted,
          deletedAbsent + other.deletedAbsent,
          superseded + other.superseded);
    }
  }

  private final Facts facts;

  ChangeCounts(Facts facts) {
    this.facts = facts;
  }

  /** Records of the base that were carried over. */
  public long kept() {
    return facts.kept;
  }

  /** Records of the base that got another value, or the same one again. */
  public long replaced() {
    return facts.replaced;
  }

  /** Records whose key was not in the base. */
  public long added() {
    return facts.added;
  }

  /** Records of the base that were deleted. */
  public long deleted() {
    return facts.deleted;
  }

  /** Deletions of keys that were not in the base. */
  public long deletedAbsent() {
    return facts.deletedAbsent;
  }

  /** Changes that another change of the same key made void. */
  public long superseded() {
    return facts.superseded;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ChangeCounts that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "ChangeCounts" + facts.toString().substring("Facts".length());
  }
}
