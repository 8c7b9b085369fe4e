package tech.bsdb.spark.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.spark.rows.ColumnPath;
import tech.bsdb.spark.rows.KeyWriter;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * Compares the keys of a few records with those that their rows would have, since lookups and
 * ranges that rely on a wrong option {@code key} would find nothing, or something else. Not
 * thread-safe.
 */
final class KeyCheck {
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
                      made == null ? "" : ", which would be " + DuplicateKeyException.show(made)));
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
