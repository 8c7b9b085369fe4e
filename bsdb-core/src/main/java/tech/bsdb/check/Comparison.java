package tech.bsdb.check;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import tech.bsdb.DiffListener;
import tech.bsdb.DiffOptions;
import tech.bsdb.DiffReport;
import tech.bsdb.KeyRange;
import tech.bsdb.Layout;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Page;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedWalk;

/**
 * Compares the records of two open databases. If both have the packed layout, the same shards and
 * the same seeds, their records lie in the same order, and one pass over both joins them: {@link
 * JoinedComparison}. So it does if the records of both are stored in the order of their keys:
 * {@link #compareInKeyOrder}. Otherwise the keys of each are looked up in the other: {@link
 * LookupComparison}.
 *
 * <p>Memory does not depend on the number of records or differences. Values longer than {@link
 * tech.bsdb.data.RecordScanner#LONG_VALUE} are compared in parts by the join, and loaded only to be
 * reported.
 */
public final class Comparison {
  /** How many records of ordered databases pass between two reports of progress. */
  private static final int REPORT = 1000;

  private Comparison() {}

  /**
   * Compares two databases.
   *
   * @throws UnsupportedOperationException if one is approximate: it holds no keys
   * @throws IllegalArgumentException if one is a part of a set, and the other is not the same part
   * @throws CorruptDatabaseException if bytes are damaged, records are not in order, or there are
   *     not as many as the manifest says
   * @throws java.io.InterruptedIOException if this thread is interrupted; it stays interrupted
   * @throws IllegalStateException if one of the databases is closed
   */
  public static DiffReport run(
      Lookup before, Lookup after, DiffOptions options, DiffListener listener) throws IOException {
    requireKeys(before);
    requireKeys(after);
    requireSameShards(before, after);
    Reporter reporter =
        new Reporter(
            options.detail(), listener, before.opened().records() + after.opened().records());
    if (areInSignatureOrder(before, after)) {
      return new JoinedComparison(before, after, reporter).run(options.threads());
    }
    return areInKeyOrder(before) && areInKeyOrder(after)
        ? compareInKeyOrder(before, after, reporter)
        : new LookupComparison(before, after, reporter).run();
  }

  private static void requireKeys(Lookup database) {
    if (database.opened().facts().approximate()) {
      throw new UnsupportedOperationException(
          database.opened().location()
              + " is approximate: it keeps no keys, so it cannot be compared");
    }
  }

  private static void requireSameShards(Lookup before, Lookup after) {
    if ((before.isShard() || after.isShard()) && !shards(before).equals(shards(after))) {
      throw new IllegalArgumentException(
          before.opened().location()
              + " has "
              + shown(before)
              + ", but "
              + after.opened().location()
              + " has "
              + shown(after)
              + "; parts of sets can be compared only if both hold the same shards");
    }
  }

  /** The count of shards, and the numbers of those that are held. */
  private static List<Integer> shards(Lookup database) {
    return Stream.concat(
            Stream.of(database.opened().facts().shards()),
            database.opened().databases().stream().map(each -> each.facts().shard()))
        .toList();
  }

  private static String shown(Lookup database) {
    List<DatabaseDirectory> held = database.opened().databases();
    int shards = database.opened().facts().shards();
    if (held.size() == shards) {
      return shards == 1 ? "no shards" : "all " + shards + " shards";
    }
    return held.size() == 1
        ? "shard " + held.get(0).facts().shard() + " of " + shards
        : held.size() + " of " + shards + " shards";
  }

  /** Whether the records of both lie in the same order, so that one pass compares them. */
  public static boolean haveSameOrder(Lookup before, Lookup after) {
    return areInSignatureOrder(before, after) || areInKeyOrder(before) && areInKeyOrder(after);
  }

  /** Whether the records of a database, or of each shard, are stored in the order of their keys. */
  private static boolean areInKeyOrder(Lookup database) {
    return database.opened().databases().stream()
        .map(DatabaseDirectory::facts)
        .allMatch(facts -> facts.order() != null && !facts.packed());
  }

  private static boolean areInSignatureOrder(Lookup before, Lookup after) {
    if (!shards(before).equals(shards(after))) {
      return false;
    }
    for (int i = 0; i < before.opened().databases().size(); i++) {
      Facts one = facts(before, i);
      Facts other = facts(after, i);
      if (one.layout() != Layout.PACKED
          || other.layout() != Layout.PACKED
          || !SignatureFunction.of(one).equals(SignatureFunction.of(other))) {
        return false;
      }
    }
    return true;
  }

  /** The facts of one of the databases. */
  static Facts facts(Lookup database, int number) {
    return database.opened().databases().get(number).facts();
  }

  /** Fails if a comparison found another number of records than the manifests say. */
  static void requireCounted(Lookup database, long found) throws CorruptDatabaseException {
    long expected = database.opened().records();
    if (found != expected) {
      throw miscounted(database, database.opened().path(), expected, found);
    }
  }

  /** Describes a wrong number of records in a database or set, or in one of its shards. */
  static CorruptDatabaseException miscounted(
      Lookup database, Path directory, long expected, long found) {
    Path manifest = directory.resolve(Manifest.FILE_NAME);
    return new CorruptDatabaseException(
            manifest, Page.SIZE, found + " records, as many as there are", expected + "")
        .at(database.opened().location(manifest));
  }

  /**
   * Compares two databases whose records are stored in the order of their keys: walks over both in
   * this order, and joins them.
   */
  private static DiffReport compareInKeyOrder(Lookup before, Lookup after, Reporter reporter)
      throws IOException {
    Tally tally = new Tally(reporter);
    long reported = 0;
    try (OrderedWalk old = all(before);
        OrderedWalk now = all(after)) {
      boolean oldLeft = old.next();
      boolean nowLeft = now.next();
      while (oldLeft || nowLeft) {
        int order = !nowLeft ? -1 : !oldLeft ? 1 : Arrays.compareUnsigned(old.key(), now.key());
        if (order > 0) {
          tally.added(Tally.Copy.of(now.key(), now.value()));
        } else {
          tally.old(old.key(), old.value(), order < 0 ? null : now.value());
        }
        tally.report();
        oldLeft = order <= 0 ? old.next() : oldLeft;
        nowLeft = order >= 0 ? now.next() : nowLeft;
        long unreported = tally.ofFirst() + tally.ofSecond() - reported;
        if (unreported >= REPORT) {
          reporter.progress(unreported);
          reported += unreported;
        }
      }
    }
    requireCounted(before, tally.ofFirst());
    requireCounted(after, tally.ofSecond());
    reporter.progress(tally.ofFirst() + tally.ofSecond() - reported);
    return tally.counts();
  }

  private static OrderedWalk all(Lookup database) {
    return new OrderedWalk(database, KeyRange.all(), false, true, Long.MAX_VALUE);
  }
}
