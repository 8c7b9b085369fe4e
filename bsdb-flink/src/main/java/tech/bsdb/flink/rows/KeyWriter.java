package tech.bsdb.flink.rows;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.LogicalType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.KeyText;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Writes the key of a row, as {@code bsdb build-parquet} does: text and bytes as they are,
 * everything else in its JSON form without quotes, with a text between several columns. Not
 * thread-safe.
 */
public final class KeyWriter {
  private final List<RowData.FieldGetter> getters = new ArrayList<>();
  private final List<CellWriter> parts = new ArrayList<>();
  private final String join;

  /** The bytes of the text between two columns, one a character. */
  private final String raw;

  private final RowBuffer key = new RowBuffer();

  /**
   * Creates a writer.
   *
   * @param places the places of the key columns in the rows that are written
   * @param types the types of the key columns
   * @param names their names, for messages
   * @param join the text between two columns
   * @throws IllegalArgumentException if values of a type cannot be keys
   */
  public KeyWriter(List<Integer> places, List<LogicalType> types, List<String> names, String join) {
    this.join = join;
    this.raw = new String(join.getBytes(UTF_8), ISO_8859_1);
    for (int i = 0; i < places.size(); i++) {
      getters.add(RowData.createFieldGetter(types.get(i).copy(true), places.get(i)));
      parts.add(part(types.get(i), names.get(i)));
    }
  }

  private static CellWriter part(LogicalType type, String name) {
    Scalar scalar = ColumnTypes.scalar(type, name);
    CellWriter cell = CellWriter.of(type);
    return switch (scalar.kind()) {
      case STRING -> (value, out) -> out.put(((StringData) value).toBytes());
      case BYTES -> (value, out) -> out.put((byte[]) value);
      case INT, LONG -> (value, out) -> out.putNumber(((Number) value).longValue());
      default -> {
        KeyText text = new KeyText(scalar);
        RowBuffer encoded = new RowBuffer();
        yield (value, out) -> {
          encoded.reset();
          cell.write(value, encoded);
          text.write(encoded, out);
        };
      }
    };
  }

  /**
   * Writes the key of a row that is stored, which no other row may have.
   *
   * @return the key, or null if one of its columns is null
   * @throws BadRowException if one has no text, or one before the last contains what joins them
   */
  public byte @Nullable [] writeUnique(RowData row) throws BadRowException {
    for (int i = 0; i < parts.size() - 1; i++) {
      Object value = getters.get(i).getFieldOrNull(row);
      if (value instanceof StringData text && text.toString().contains(join)
          || value instanceof byte[] bytes && new String(bytes, ISO_8859_1).contains(raw)) {
        throw new BadRowException(
            "a part before the last contains '%s', so that another row could have the same key; choose"
                    .formatted(join)
                + " another 'key-join'");
      }
    }
    return write(row);
  }

  /**
   * Writes the key of a row.
   *
   * @return the key, or null if one of its columns is null
   * @throws BadRowException if one has no text
   */
  public byte @Nullable [] write(RowData row) throws BadRowException {
    key.reset();
    for (int i = 0; i < parts.size(); i++) {
      Object value = getters.get(i).getFieldOrNull(row);
      if (value == null) {
        return null;
      }
      if (i > 0) {
        key.putText(join);
      }
      parts.get(i).write(value, key);
    }
    return key.copy();
  }
}
