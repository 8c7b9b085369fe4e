package tech.bsdb.trino;

import io.trino.spi.Page;
import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import io.trino.spi.type.TypeUtils;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.trino.OpenTables.Use;
import tech.bsdb.trino.RecordPages.BadRecordException;

/**
 * Compares the keys of records with those that their rows would have, since lookups that rely on
 * wrong key columns would find nothing, or something else.
 */
final class KeyCheck {
  /** Enough to notice that the key columns are the wrong ones. */
  static final long FEW = 100;

  /** Enough to know that lookups by the key columns find what a scan finds. */
  static final long ALL = Long.MAX_VALUE;

  private static final int BATCH = 1_000;

  private KeyCheck() {}

  /**
   * Checks the first records of a database, unless as many were checked before, nothing tells what
   * keys are made of, or they are not stored.
   *
   * @param records how many
   * @throws TrinoException if the key of one is not made of the columns
   */
  static void check(BsdbTable table, Use use, RowTypes types, long records) throws IOException {
    if (!table.keyColumns().isEmpty() && !table.approximate()) {
      use.check(records, () -> compare(table, use, types, records));
    }
  }

  private static void compare(BsdbTable table, Use use, RowTypes types, long records)
      throws IOException {
    PageRows rows = new PageRows(table, use, types, table.keyColumns());
    KeyFinder finder = new KeyFinder(table);
    List<byte[]> keys = new ArrayList<>();
    try (RecordCursor cursor = use.database().scan()) {
      for (long i = 0; i < records && cursor.next(); i++) {
        byte[] value = cursor.value();
        try {
          rows.add(cursor.key(), value, 0, value.length);
        } catch (BadRowException e) {
          if (records < ALL) {
            return; // a query that reads the row fails
          }
          throw BadRecordException.of(cursor.key(), e);
        }
        keys.add(cursor.key());
        if (keys.size() == BATCH) {
          compare(table, finder, keys, rows.take());
          keys.clear();
        }
      }
    }
    compare(table, finder, keys, rows.take());
  }

  private static void compare(BsdbTable table, KeyFinder finder, List<byte[]> keys, Page rows) {
    for (int row = 0; row < keys.size(); row++) {
      byte[] made = made(table, finder, rows, row);
      if (!Arrays.equals(made, keys.get(row))) {
        throw new TrinoException(
            StandardErrorCode.CONFIGURATION_INVALID,
            "%s: key %s is not made of %s%s; correct bsdb.table.%s.key (and key-join), or leave it out and use %s"
                .formatted(
                    table.describe(),
                    DuplicateKeyException.show(keys.get(row)),
                    String.join(", ", table.keyColumns().stream().map(BsdbColumn::name).toList()),
                    made == null ? "" : ", which would be " + DuplicateKeyException.show(made),
                    table.name(),
                    table.key().name()));
      }
    }
  }

  private static byte @Nullable [] made(BsdbTable table, KeyFinder finder, Page rows, int row) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < table.keyColumns().size(); i++) {
      Object value =
          TypeUtils.readNativeValue(table.keyColumns().get(i).type(), rows.getBlock(i), row);
      if (value == null) {
        return null;
      }
      values.add(value);
    }
    return finder.key(table.keyColumns(), values);
  }
}
