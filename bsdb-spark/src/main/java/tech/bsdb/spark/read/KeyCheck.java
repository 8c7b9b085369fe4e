package tech.bsdb.spark.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
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
  private final List<Part> parts = new ArrayList<>();

  /** A part of the key: the column at an index, or a field of it. */
  private record Part(int[] path, int[] widths, KeyWriter writer) {
    boolean write(InternalRow row, RowBuffer out) throws BadRowException {
      InternalRow at = row;
      for (int i = 0; i < path.length - 1; i++) {
        if (at.isNullAt(path[i])) {
          return false;
        }
        at = at.getStruct(path[i], widths[i]);
      }
      int last = path[path.length - 1];
      if (at.isNullAt(last)) {
        return false;
      }
      writer.write(at, last, out);
      return true;
    }
  }

  private KeyCheck(RowPlan plan) {
    this.plan = plan;
    this.rows =
        new RecordRows(new RowPlan(plan.rows(), plan.declared(), List.of(), "", plan.declared()));
    for (String name : plan.keyColumns()) {
      parts.add(part(plan.declared(), name));
    }
  }

  /** The check that a plan needs; null if it does not rely on what keys were made of. */
  static @Nullable KeyCheck of(RowPlan plan) {
    return plan.keyColumns().isEmpty() ? null : new KeyCheck(plan);
  }

  private static Part part(StructType columns, String name) {
    List<Integer> path = new ArrayList<>();
    List<Integer> widths = new ArrayList<>();
    StructType at = columns;
    String left = name;
    while (true) {
      String wanted = left;
      StructField[] fields = at.fields();
      int index = 0;
      while (!wanted.equals(fields[index].name())
          && !(wanted.startsWith(fields[index].name() + ".")
              && fields[index].dataType() instanceof StructType)) {
        index++;
      }
      path.add(index);
      if (wanted.equals(fields[index].name())) {
        return new Part(
            path.stream().mapToInt(Integer::intValue).toArray(),
            widths.stream().mapToInt(Integer::intValue).toArray(),
            KeyWriter.of(fields[index].dataType(), name));
      }
      at = (StructType) fields[index].dataType();
      widths.add(at.length());
      left = wanted.substring(fields[index].name().length() + 1);
    }
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
              place
                  + ": key "
                  + DuplicateKeyException.show(records.key())
                  + " is not made of "
                  + String.join(", ", plan.keyColumns())
                  + (made == null ? "" : ", which would be " + DuplicateKeyException.show(made))
                  + "; correct the option key (and keyJoin), or omit it to scan");
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
      if (!parts.get(i).write(row, key)) {
        return null;
      }
    }
    return key.copy();
  }
}
