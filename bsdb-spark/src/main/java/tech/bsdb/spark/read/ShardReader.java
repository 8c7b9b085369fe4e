package tech.bsdb.spark.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.spark.read.RecordRows.RowPlan;
import tech.bsdb.spark.read.ShardCache.OpenShard.ShardOpener;
import tech.bsdb.spark.rows.ColumnPath;
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
    private final List<KeyTexts> texts = new ArrayList<>();

    private KeyCheck(RowPlan plan) {
      this.plan = plan;
      this.rows =
          new RecordRows(new RowPlan(plan.rows(), plan.declared(), List.of(), "", plan.declared()));
      for (String name : plan.keyColumns()) {
        ColumnPath path = ColumnPath.all(plan.declared(), name).get(0);
        parts.add(path);
        texts.add(new KeyTexts(path.type(), name));
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
          List<byte[]> made;
          try {
            made = made(records.value());
          } catch (BadRowException damaged) {
            continue; // which a query tells if it reads the row
          }
          byte[] key = records.key();
          if (made == null || made.stream().noneMatch(each -> Arrays.equals(key, each))) {
            throw new IOException(
                ("%s: key %s is not made of %s%s; correct the option key (and keyJoin), or omit it to"
                        + " scan")
                    .formatted(
                        place,
                        DuplicateKeyException.show(key),
                        String.join(", ", plan.keyColumns()),
                        made == null
                            ? ""
                            : ", which would be " + DuplicateKeyException.show(made.get(0))));
          }
        }
      }
    }

    /**
     * The keys that a row may have; null if it has none.
     *
     * @throws BadRowException if they cannot be told
     */
    private @Nullable List<byte[]> made(byte[] value) throws BadRowException {
      InternalRow row = rows.row(value, value);
      List<byte[]> keys = List.of(new byte[0]);
      for (int i = 0; i < parts.size(); i++) {
        ColumnPath part = parts.get(i);
        InternalRow holder = part.holder(row);
        if (holder == null || holder.isNullAt(part.ordinal())) {
          return null;
        }
        List<byte[]> more = texts.get(i).of(holder.get(part.ordinal(), part.type()));
        if (more == null || more.isEmpty()) {
          throw new BadRowException("column " + part + " has no text that can be told");
        }
        keys = joined(keys, i == 0 ? "" : plan.keyJoin(), more);
      }
      return keys;
    }

    private static List<byte[]> joined(List<byte[]> heads, String join, List<byte[]> tails) {
      List<byte[]> keys = new ArrayList<>();
      for (byte[] head : heads) {
        for (byte[] tail : tails) {
          RowBuffer key = new RowBuffer();
          key.put(head);
          key.putText(join);
          key.put(tail);
          keys.add(key.copy());
        }
      }
      return keys;
    }
  }
}
