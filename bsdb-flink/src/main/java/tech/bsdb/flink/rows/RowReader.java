package tech.bsdb.flink.rows;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowDecoder;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType.Column;

/**
 * Makes rows of a table from the records of one version. A column comes from the value; a key
 * column that the value lacks, from the row that was looked up. Not thread-safe.
 */
public final class RowReader {
  private static final int FROM_KEY = -1;
  private static final int WHOLE_VALUE = -2;

  private final int[] sources;
  private final StoredCell[] cells;
  private final RowData.FieldGetter[] fromKey;
  private final @Nullable RowDecoder decoder;
  private final boolean[] text;

  /**
   * Creates a reader.
   *
   * @param stored the schema of the rows; null if values are plain bytes
   * @param declared the wanted columns, with their types
   * @param keys the names of the table's key columns
   * @param askedKeys the names of the columns in the rows that are looked up, in order
   * @throws IllegalArgumentException if the version does not have the columns
   */
  public RowReader(
      @Nullable RowSchema stored, RowType declared, List<String> keys, List<String> askedKeys) {
    List<String> names = declared.getFieldNames();
    int count = names.size();
    sources = new int[count];
    cells = new StoredCell[count];
    fromKey = new RowData.FieldGetter[count];
    text = new boolean[count];
    List<Column> columns = stored == null ? List.of() : stored.types();
    List<String> all = columns.stream().map(Column::name).toList();
    List<String> decoded = new ArrayList<>(all);
    decoded.retainAll(names);
    for (int i = 0; i < count; i++) {
      String name = names.get(i);
      LogicalType type = declared.getTypeAt(i);
      cells[i] = StoredCell.AS_IS;
      if (all.contains(name)) {
        sources[i] = decoded.indexOf(name);
        cells[i] = StoredCell.of(columns.get(all.indexOf(name)), type, name);
      } else if (keys.contains(name)) {
        sources[i] = FROM_KEY;
        fromKey[i] = RowData.createFieldGetter(type.copy(true), askedKeys.indexOf(name));
      } else if (stored == null) {
        sources[i] = WHOLE_VALUE;
        text[i] = type.is(LogicalTypeFamily.CHARACTER_STRING);
        if (!text[i] && !type.is(LogicalTypeFamily.BINARY_STRING)) {
          throw new IllegalArgumentException(
              "values are plain bytes, which column %s cannot be read from as %s; declare it STRING"
                      .formatted(name, type.asSummaryString())
                  + " or BYTES");
        }
      } else {
        throw new IllegalArgumentException(
            "there is no column %s%s; the columns are %s"
                .formatted(
                    name,
                    NearestName.to(name, all)
                        .map(near -> ", did you mean " + near + "?")
                        .orElse(""),
                    String.join(", ", all)));
      }
    }
    if (stored == null && names.stream().filter(name -> !keys.contains(name)).count() > 1) {
      throw new IllegalArgumentException(
          "values are plain bytes, so that a table has one column besides the key");
    }
    decoder =
        stored == null || decoded.isEmpty()
            ? null
            : new RowDecoder(RowForm.of(stored).withColumns(decoded), new FlinkValues());
  }

  /**
   * Makes a row.
   *
   * @param asked the row that was looked up, which may be reused
   * @throws BadRowException if the value is not a row of the schema, or has no form in the table
   */
  public RowData read(RowData asked, byte[] value) throws BadRowException {
    @Nullable Object[] decoded =
        decoder == null ? new @Nullable Object[0] : decoder.decode(value, 0, value.length);
    GenericRowData row = new GenericRowData(sources.length);
    for (int i = 0; i < sources.length; i++) {
      row.setField(
          i,
          switch (sources[i]) {
            case FROM_KEY -> kept(fromKey[i].getFieldOrNull(asked));
            case WHOLE_VALUE -> text[i] ? StringData.fromBytes(value) : value;
            default -> cells[i].orNull(decoded[sources[i]]);
          });
    }
    return row;
  }

  /** A value that stays when the row that it is from is reused. */
  private static @Nullable Object kept(@Nullable Object value) {
    return value instanceof StringData text ? StringData.fromBytes(text.toBytes()) : value;
  }
}
