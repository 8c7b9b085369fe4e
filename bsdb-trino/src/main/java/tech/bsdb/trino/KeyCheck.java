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

/**
 * Compares the keys of a few records with those that their rows would have, since lookups that rely
 * on wrong key columns would find nothing, or something else.
 */
final class KeyCheck {
  private static final int RECORDS = 100;

  private KeyCheck() {}

  /**
   * Checks the first records of a database, unless nothing tells what keys are made of, or they are
   * not stored.
   *
   * @throws TrinoException if the key of one is not made of the columns
   */
  static void check(BsdbTable table, Use use, RowTypes types) throws IOException {
    if (table.keyColumns().isEmpty() || table.approximate() || use.isChecked()) {
      return;
    }
    PageRows rows = new PageRows(table, use, types, table.keyColumns());
    KeyFinder finder = new KeyFinder(table);
    try (RecordCursor records = use.database().scan()) {
      for (int i = 0; i < RECORDS && records.next(); i++) {
        byte[] value = records.value();
        try {
          rows.add(records.key(), value, 0, value.length);
        } catch (BadRowException damaged) {
          return; // which a query tells if it reads the row
        }
        byte[] made = made(table, finder, rows.take());
        if (!Arrays.equals(made, records.key())) {
          throw new TrinoException(
              StandardErrorCode.CONFIGURATION_INVALID,
              "%s: key %s is not made of %s%s; correct bsdb.table.%s.key (and key-join), or leave it out and use %s"
                  .formatted(
                      table.describe(),
                      DuplicateKeyException.show(records.key()),
                      String.join(", ", table.keyColumns().stream().map(BsdbColumn::name).toList()),
                      made == null ? "" : ", which would be " + DuplicateKeyException.show(made),
                      table.name(),
                      table.key().name()));
        }
      }
    }
    use.setChecked();
  }

  private static byte @Nullable [] made(BsdbTable table, KeyFinder finder, Page row) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < table.keyColumns().size(); i++) {
      Object value =
          TypeUtils.readNativeValue(table.keyColumns().get(i).type(), row.getBlock(i), 0);
      if (value == null) {
        return null;
      }
      values.add(value);
    }
    return finder.key(table.keyColumns(), values);
  }
}
