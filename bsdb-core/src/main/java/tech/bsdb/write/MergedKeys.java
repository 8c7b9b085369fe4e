package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageCheck;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedWalk;

/**
 * The keys of the result of a merge in order, from the order of its base and that of its changes.
 * Not thread-safe.
 */
final class MergedKeys implements OrderStage.SortedKeys, Closeable {
  private final OrderedWalk base;
  private final PageCheck ofBase;
  private final OrderedWalk changes;
  private final boolean deletions;
  private final long expected;
  private long passed;
  private boolean atBase;
  private boolean atChange;

  /**
   * Starts at the first key.
   *
   * @param number the number of the database in the base
   * @param changes records of {@link TaggedChange}
   * @param deletions whether any of them may be a deletion
   * @param expected how many keys the result has
   */
  MergedKeys(Lookup base, int number, Lookup changes, boolean deletions, long expected)
      throws IOException {
    DatabaseDirectory directory = base.opened().databases().get(number);
    this.ofBase = directory.check(directory.first(FileKind.ORDER));
    this.base = OrderedWalk.ofOne(base, number, false);
    this.changes = OrderedWalk.ofOne(changes, 0, deletions);
    this.deletions = deletions;
    this.expected = expected;
    this.atBase = this.base.next();
    this.atChange = this.changes.next();
  }

  @Override
  public byte @Nullable [] next() throws IOException {
    byte[] next = join();
    if (next != null) {
      passed++;
    } else if (passed != expected) {
      throw ofBase.corrupt(0, expected + " keys after the merge", passed + "");
    }
    return next;
  }

  private byte @Nullable [] join() throws IOException {
    while (atChange) {
      byte[] change = changes.key();
      int compared = atBase ? Arrays.compareUnsigned(base.key(), change) : 1;
      if (compared < 0) {
        return nextOfBase();
      }
      if (compared == 0) {
        atBase = base.next();
      }
      boolean deletion = deletions && TaggedChange.isDeletion(changes.value()[0]);
      atChange = changes.next();
      if (!deletion) {
        return change;
      }
    }
    return atBase ? nextOfBase() : null;
  }

  private byte[] nextOfBase() throws IOException {
    byte[] key = base.key();
    atBase = base.next();
    if (atBase && Arrays.compareUnsigned(base.key(), key) <= 0) {
      throw ofBase.corrupt(0, "keys in ascending order", "one that is not greater than the last");
    }
    return key;
  }

  @Override
  public void close() {
    base.close();
    changes.close();
  }
}
