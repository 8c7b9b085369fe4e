package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.List;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.ScanOptions;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/**
 * Which records a scan reads, and in which order: the options {@code --prefix}, {@code --from},
 * {@code --after}, {@code --to}, {@code --sorted}, {@code --reverse} and {@code --full-scan}.
 *
 * @param given those of the options that need the order of the keys
 * @param range the keys of the records
 * @param bounded whether bounds of the range are given
 * @param fullScan whether all records are read in the order in which they are stored
 */
record KeyBounds(List<String> given, KeyRange range, boolean bounded, boolean fullScan) {
  private static final String PREFIX = "--prefix";
  private static final String FROM = "--from";
  private static final String AFTER = "--after";
  private static final String TO = "--to";
  private static final String SORTED = "--sorted";
  private static final String REVERSE = "--reverse";
  private static final String FULL_SCAN = "--full-scan";

  /**
   * Reads the options.
   *
   * @param form how keys are typed
   */
  static KeyBounds of(Arguments arguments, RecordForm form) throws UsageException {
    KeyRange range =
        arguments.has(PREFIX) ? KeyRange.prefix(key(PREFIX, arguments, form)) : KeyRange.all();
    if (arguments.has(FROM)) {
      range = range.from(key(FROM, arguments, form));
    }
    if (arguments.has(AFTER)) {
      range = range.after(key(AFTER, arguments, form));
    }
    if (arguments.has(TO)) {
      range = range.to(key(TO, arguments, form));
    }
    boolean fullScan = arguments.has(FULL_SCAN);
    for (String option : List.of(SORTED, REVERSE)) {
      arguments.refuseTogether(
          FULL_SCAN,
          option,
          "a full scan prints records in the order in which they are stored; leave one out");
    }
    List<String> given =
        List.of(REVERSE, SORTED, PREFIX, FROM, AFTER, TO).stream().filter(arguments::has).toList();
    boolean bounded = List.of(PREFIX, FROM, AFTER, TO).stream().anyMatch(arguments::has);
    return new KeyBounds(given, range, bounded, fullScan);
  }

  private static byte[] key(String option, Arguments arguments, RecordForm form)
      throws UsageException {
    return form.keyOf(option, arguments.text(option, ""));
  }

  /**
   * Opens a cursor over the records.
   *
   * @param values whether values are read
   * @throws FileSystemException if the database lacks the order of the keys that this needs
   */
  RecordCursor records(Database database, boolean values) throws IOException {
    if (needsOrder()) {
      requireOrder(database);
      return database.range(
          range,
          RangeOptions.defaults().withValues(values).withDescending(given.contains(REVERSE)));
    }
    RecordCursor all = database.scan(ScanOptions.defaults().withValues(values));
    return bounded ? new InRange(all, range) : all;
  }

  /**
   * Counts the records, but not beyond a limit.
   *
   * @throws FileSystemException if the database lacks the order of the keys that this needs
   */
  long count(Database database, long limit) throws IOException {
    if (needsOrder()) {
      requireOrder(database);
      return Math.min(limit, database.count(range));
    }
    if (!bounded) {
      return Math.min(limit, database.statistics().records());
    }
    long count = 0;
    try (RecordCursor records = records(database, false)) {
      while (count < limit && records.next()) {
        count++;
      }
    }
    return count;
  }

  private boolean needsOrder() {
    return !given.isEmpty() && !fullScan;
  }

  private void requireOrder(Database database) throws FileSystemException {
    if (database.isOrdered()) {
      return;
    }
    String option = given.get(0);
    boolean sorts = option.equals(REVERSE) || option.equals(SORTED);
    throw DatabaseOption.unfit(
        database.statistics(),
        option
            + " needs the order of the keys, which this database does not store; build it with"
            + " bsdb build --ordered, or "
            + (sorts ? "replace " + option + " by --full-scan" : "add --full-scan")
            + " to read all records in the order in which they are stored");
  }

  /** The records of a cursor whose keys are in a range. */
  private record InRange(RecordCursor all, KeyRange range) implements RecordCursor {
    @Override
    public boolean next() throws IOException {
      while (all.next()) {
        if (range.contains(all.key())) {
          return true;
        }
      }
      return false;
    }

    @Override
    public byte[] key() {
      return all.key();
    }

    @Override
    public byte[] value() {
      return all.value();
    }

    @Override
    public void close() throws IOException {
      all.close();
    }
  }
}
