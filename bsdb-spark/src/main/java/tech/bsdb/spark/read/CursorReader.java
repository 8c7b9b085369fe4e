package tech.bsdb.spark.read;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.ScanOptions;
import tech.bsdb.spark.read.RowReaders.RangeSplit;
import tech.bsdb.spark.read.RowReaders.RecordSplit;
import tech.bsdb.spark.read.ShardCache.OpenShard;
import tech.bsdb.spark.read.ShardCache.OpenShard.ShardOpener;
import tech.bsdb.spark.read.ShardReader.KeyCheck;

/** Reads the records of a part of a database, or of a range of its keys. */
final class CursorReader extends ShardReader {
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

  private CursorReader(
      RecordRows rows,
      ShardOpener opener,
      ShardPlace place,
      OpenShard opened,
      RecordCursor records,
      @Nullable KeyRange wanted) {
    super(rows, opener);
    this.place = place;
    this.opened = opened;
    this.records = records;
    this.wanted = wanted;
  }

  /** Opens a part of a database. */
  static CursorReader scan(RecordSplit split, RecordRows rows, ShardOpener opener)
      throws IOException {
    OpenShard opened = opener.open(split.place());
    try {
      ScanOptions options = ScanOptions.defaults().withPart(split.part(), split.parts());
      RecordCursor records = opened.database().scan(options.withValues(rows.readsValues()));
      return new CursorReader(rows, opener, split.place(), opened, records, null);
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  /**
   * Opens a range. If its records are a large part of the database, all records are read as they
   * are stored instead of looking up each of the range.
   */
  static CursorReader range(
      RangeSplit split, RecordRows rows, @Nullable KeyCheck check, ShardOpener opener)
      throws IOException {
    ShardPlace place = split.place();
    OpenShard opened = opener.open(place);
    try {
      Database database = opened.database();
      if (check != null) {
        check.check(place, database);
      }
      KeyRange range = split.interval().range();
      boolean values = rows.readsValues();
      if (values && database.count(range) > place.records() / LARGE_PART) {
        return new CursorReader(rows, opener, place, opened, database.scan(), range);
      }
      RecordCursor records = database.range(range, RangeOptions.defaults().withValues(values));
      return new CursorReader(rows, opener, place, opened, records, null);
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
        opener.checkRunning();
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
