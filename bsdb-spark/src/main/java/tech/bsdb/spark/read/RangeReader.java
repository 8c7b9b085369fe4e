package tech.bsdb.spark.read;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;

/**
 * Reads the records of a range of keys. If these are a large part of the database, it reads all
 * records as they are stored instead of looking up each of them.
 */
final class RangeReader extends ShardReader {
  /**
   * A range with more than one of so many records is large. A record of a range took the time of 1
   * to 23 records of a scan, depending on the layout, and of 0.9 to 7 when warm; on a device it
   * takes a read.
   */
  private static final int LARGE_PART = 8;

  /** So many records outside of the range are read between two looks at whether the task runs. */
  private static final int UNCHECKED = 1_024;

  private final ShardPlace place;
  private final OpenShard opened;
  private final RecordCursor records;

  /** The range if the records are all of the database; otherwise null. */
  private final @Nullable KeyRange wanted;

  RangeReader(
      RangeSplit split,
      RecordRows rows,
      @Nullable KeyCheck check,
      Configuration configuration,
      long cacheBytes,
      @Nullable TaskContext task)
      throws IOException {
    super(rows, task);
    place = split.place();
    opened = OpenShard.open(place, configuration, cacheBytes, this::checkRunning);
    try {
      Database database = opened.database();
      if (check != null) {
        check.check(place, database);
      }
      KeyRange range = split.interval().range();
      if (readsValues() && database.count(range) > place.records() / LARGE_PART) {
        wanted = range;
        records = database.scan();
      } else {
        wanted = null;
        records = database.range(range, RangeOptions.defaults().withValues(readsValues()));
      }
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  @Override
  boolean advance() throws IOException {
    int passed = 0;
    while (records.next()) {
      if (wanted == null || wanted.contains(records.key())) {
        show(place, records);
        return true;
      }
      if (++passed % UNCHECKED == 0) {
        checkRunning();
      }
    }
    return false;
  }

  @Override
  public void close() throws IOException {
    try {
      records.close();
    } finally {
      opened.close();
    }
  }
}
