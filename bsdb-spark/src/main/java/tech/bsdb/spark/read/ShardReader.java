package tech.bsdb.spark.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.ScanOptions;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.spark.read.RecordRows.RowPlan;
import tech.bsdb.spark.read.ShardCache.OpenShard;
import tech.bsdb.spark.read.ShardCache.OpenShard.ShardOpener;
import tech.bsdb.spark.read.TableScan.RowReaders.KeySplit;
import tech.bsdb.spark.read.TableScan.RowReaders.KeysOfShard;
import tech.bsdb.spark.read.TableScan.RowReaders.RangeSplit;
import tech.bsdb.spark.read.TableScan.RowReaders.RecordSplit;
import tech.bsdb.spark.rows.ColumnPath;
import tech.bsdb.spark.rows.KeyWriter;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

/** Reads the rows of a part of a table, one after another. Not thread-safe. */
abstract class ShardReader implements PartitionReader<InternalRow> {
  /** How many records are read between two looks at whether the task still runs. */
  private static final int UNCHECKED = 128;

  private static final byte[] NOTHING = {};

  private final RecordRows rows;

  /** Opens databases, and tells whether the task still runs. */
  final ShardOpener opener;

  private @Nullable InternalRow row;
  private int unchecked;

  ShardReader(RecordRows rows, ShardOpener opener) {
    this.rows = rows;
    this.opener = opener;
  }

  /** Makes the row of the record at a cursor, which reads values if they are needed. */
  final void show(ShardPlace place, RecordCursor records) throws IOException {
    show(place, records.key(), rows.readsValues() ? records.value() : NOTHING);
  }

  /** Makes the row of a record. */
  final void show(ShardPlace place, byte[] key, byte[] value) throws IOException {
    try {
      row = rows.row(key, value);
    } catch (BadRowException e) {
      throw new IOException(
          ("%s: the value of key %s cannot be read as a row: %s; if bsdb verify finds no damage, it"
                  + " was written so")
              .formatted(place, DuplicateKeyException.show(key), e.getMessage()),
          e);
    }
  }

  /** Advances to the next record and {@link #show shows} it; false at the end. */
  abstract boolean advance() throws IOException;

  @Override
  public final boolean next() throws IOException {
    if (--unchecked < 0) {
      unchecked = UNCHECKED;
      opener.checkRunning();
    }
    return advance();
  }

  @Override
  public final InternalRow get() {
    InternalRow current = row;
    if (current == null) {
      throw new IllegalStateException("no row was read");
    }
    return current;
  }

  /** Looks up keys, one database after another. */
  static final class LookupReader extends ShardReader {
    private static final int AT_ONCE = 256;

    private final Iterator<KeysOfShard> shards;
    private final @Nullable KeyCheck check;
    private @Nullable KeysOfShard shard;
    private @Nullable OpenShard opened;

    /** The next keys of the shard, and the values that were found for those before. */
    private int next;

    private List<byte[]> asked = List.of();
    private List<byte @Nullable []> found = List.of();
    private int at;

    LookupReader(KeySplit split, RecordRows rows, @Nullable KeyCheck check, ShardOpener opener) {
      super(rows, opener);
      this.shards = split.shards().iterator();
      this.check = check;
    }

    @Override
    boolean advance() throws IOException {
      while (true) {
        KeysOfShard current = shard;
        if (current == null) {
          return false;
        }
        while (at < found.size()) {
          byte[] value = found.get(at++);
          if (value != null) {
            show(current.place(), asked.get(at - 1), value);
            return true;
          }
        }
        fetch(current);
      }
    }

    /** Opens the first database; called before the first row. */
    LookupReader begin() throws IOException {
      openNext();
      return this;
    }

    private void fetch(KeysOfShard current) throws IOException {
      OpenShard source = opened;
      if (source == null || next == current.keys().size()) {
        openNext();
        return;
      }
      opener.checkRunning();
      int end = Math.min(current.keys().size(), next + AT_ONCE);
      asked = current.keys().subList(next, end);
      found = source.database().getAll(asked);
      at = 0;
      next = end;
    }

    private void openNext() throws IOException {
      close();
      asked = List.of();
      found = List.of();
      at = 0;
      next = 0;
      if (!shards.hasNext()) {
        shard = null;
        return;
      }
      KeysOfShard following = shards.next();
      shard = following;
      OpenShard source = opener.open(following.place());
      opened = source;
      if (check != null) {
        check.check(following.place(), source.database());
      }
    }

    @Override
    public void close() throws IOException {
      OpenShard source = opened;
      opened = null;
      if (source != null) {
        source.close();
      }
    }
  }

  /** Reads the records of a part of a database, or of a range of its keys. */
  static final class CursorReader extends ShardReader {
    /**
     * A range with more than one of so many records is large. A record of a range took the time of
     * 1 to 23 records of a scan, depending on the layout, and of 0.9 to 7 when warm; on a device it
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

  /**
   * Compares the keys of a few records with those that their rows would have, since lookups and
   * ranges that rely on a wrong option {@code key} would find nothing, or something else. Not
   * thread-safe.
   */
  static final class KeyCheck {
    private static final int RECORDS = 100;

    private final RowPlan plan;
    private final RecordRows rows;
    private final List<ColumnPath> parts = new ArrayList<>();
    private final List<KeyWriter> writers = new ArrayList<>();

    private KeyCheck(RowPlan plan) {
      this.plan = plan;
      this.rows =
          new RecordRows(new RowPlan(plan.rows(), plan.declared(), List.of(), "", plan.declared()));
      for (String name : plan.keyColumns()) {
        ColumnPath path = ColumnPath.all(plan.declared(), name).get(0);
        parts.add(path);
        writers.add(KeyWriter.of(path.type(), name));
      }
    }

    /** The check that a plan needs; null if it does not rely on what keys were made of. */
    static @Nullable KeyCheck of(RowPlan plan) {
      return plan.keyColumns().isEmpty() ? null : new KeyCheck(plan);
    }

    /**
     * Checks the first records of a database.
     *
     * @throws IOException if the key of one is not made of the columns
     */
    void check(ShardPlace place, Database database) throws IOException {
      try (RecordCursor records = database.scan()) {
        for (int i = 0; i < RECORDS && records.next(); i++) {
          byte[] made;
          try {
            made = made(records.value());
          } catch (BadRowException damaged) {
            continue; // which a query tells if it reads the row
          }
          if (!Arrays.equals(records.key(), made)) {
            throw new IOException(
                ("%s: key %s is not made of %s%s; correct the option key (and keyJoin), or omit it to"
                        + " scan")
                    .formatted(
                        place,
                        DuplicateKeyException.show(records.key()),
                        String.join(", ", plan.keyColumns()),
                        made == null
                            ? ""
                            : ", which would be " + DuplicateKeyException.show(made)));
          }
        }
      }
    }

    /** The key of a row; null if it has none. */
    private byte @Nullable [] made(byte[] value) throws BadRowException {
      InternalRow row = rows.row(value, value);
      RowBuffer key = new RowBuffer();
      for (int i = 0; i < parts.size(); i++) {
        if (i > 0) {
          key.putText(plan.keyJoin());
        }
        InternalRow holder = parts.get(i).holder(row);
        if (holder == null || holder.isNullAt(parts.get(i).ordinal())) {
          return null;
        }
        writers.get(i).write(holder, parts.get(i).ordinal(), key);
      }
      return key.copy();
    }
  }
}
