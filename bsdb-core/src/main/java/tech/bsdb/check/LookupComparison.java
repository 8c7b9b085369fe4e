package tech.bsdb.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffReport;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.lookup.KeyBatch;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.RecordWalk;

/**
 * Compares any two databases: scans the first and looks up its keys in the second; then, if keys
 * that the second adds are to be reported, the other way round. Not thread-safe.
 */
final class LookupComparison {
  private static final int BATCH = 1000;

  /** The most bytes of the records of a batch, and of their values in the other database. */
  private static final long BATCH_BYTES = 16 << 20;

  private final Lookup before;
  private final Lookup after;
  private final Reporter reporter;
  private final Tally tally;

  LookupComparison(Lookup before, Lookup after, Reporter reporter) {
    this.before = before;
    this.after = after;
    this.reporter = reporter;
    this.tally = new Tally(reporter);
  }

  DiffReport run() throws IOException {
    new Pass(before, after, true, tally::old).run();
    Comparison.requireCounted(before, tally.ofFirst());
    long records = after.opened().records();
    long added = records - tally.inBoth();
    if (added < 0) {
      throw Comparison.miscounted(after, after.opened().path(), records, tally.inBoth());
    }
    if (added == 0 || !reporter.wantsKeys()) {
      reporter.progress(records);
      return tally.counts(added);
    }
    Answers lacking =
        (key, value, other) -> {
          if (other == null) {
            tally.added(Tally.Copy.of(key, value));
          }
        };
    new Pass(after, before, reporter.wantsValues(), lacking).run();
    Comparison.requireCounted(after, tally.ofSecond());
    return tally.counts();
  }

  /** Takes the records of one database. */
  @FunctionalInterface
  private interface Answers {
    /** Takes a record and the value of its key in the other database, or null. */
    void take(byte[] key, byte[] value, byte @Nullable [] other);
  }

  /** Looks up the keys of one database in another one. */
  private final class Pass {
    private final Lookup scanned;
    private final Lookup asked;
    private final boolean readsValues;
    private final Answers answers;
    private final KeyBatch batch = new KeyBatch();
    private final List<byte[]> keys = new ArrayList<>();
    private final List<byte[]> values = new ArrayList<>();
    private long batchBytes;
    private long reserved;

    Pass(Lookup scanned, Lookup asked, boolean readsValues, Answers answers) {
      this.scanned = scanned;
      this.asked = asked;
      this.readsValues = readsValues;
      this.answers = answers;
    }

    void run() throws IOException {
      batch.use(this::reserve);
      try (RecordWalk walk = new RecordWalk(scanned, readsValues, 0, 1)) {
        while (walk.next()) {
          byte[] key = walk.key();
          byte[] value = readsValues ? walk.value() : key;
          keys.add(key);
          values.add(value);
          batchBytes += key.length + value.length;
          if (keys.size() == BATCH || batchBytes >= BATCH_BYTES) {
            flush();
          }
        }
      }
      flush();
    }

    private boolean reserve(long bytes) {
      reserved += bytes;
      return reserved <= BATCH_BYTES;
    }

    private void flush() throws IOException {
      if (!keys.isEmpty()) {
        answer(0, keys.size());
      }
      reporter.progress(keys.size());
      keys.clear();
      values.clear();
      batchBytes = 0;
    }

    /** Looks up some keys of the batch; fewer at once if their values take too much memory. */
    private void answer(int from, int to) throws IOException {
      if (to - from == 1) {
        answers.take(keys.get(from), values.get(from), asked.get(keys.get(from)));
        tally.report();
        return;
      }
      batch.clear();
      keys.subList(from, to).forEach(batch::add);
      reserved = 0;
      try {
        asked.getAll(batch);
      } catch (MemoryBudgetExceededException e) {
        int middle = from + to >>> 1;
        answer(from, middle);
        answer(middle, to);
        return;
      }
      for (int i = from; i < to; i++) {
        answers.take(keys.get(i), values.get(i), batch.value(i - from));
        tally.report();
      }
    }
  }
}
