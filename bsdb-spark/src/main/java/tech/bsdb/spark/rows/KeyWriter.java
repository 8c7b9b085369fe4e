package tech.bsdb.spark.rows;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.KeyText;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Writes a value as a key or a part of one, as {@code bsdb build-parquet} does: text and binary as
 * their bytes, everything else in its JSON form without quotes. Not thread-safe.
 */
@FunctionalInterface
public interface KeyWriter {
  /**
   * Writes the value at a place, which must not be null.
   *
   * @throws BadRowException if it has no text
   */
  void write(SpecializedGetters from, int ordinal, RowBuffer out) throws BadRowException;

  /**
   * Returns the writer of a column's values.
   *
   * @param column the name of the column, for messages
   * @throws IllegalArgumentException if values of the type cannot be keys
   */
  static KeyWriter of(DataType type, String column) {
    Scalar scalar = ColumnTypes.scalar(type, column);
    CellWriter cell = CellWriter.of(type);
    return switch (scalar.kind()) {
      case STRING -> (from, ordinal, out) -> out.put(from.getUTF8String(ordinal).getByteBuffer());
      case BYTES ->
          (from, ordinal, out) -> {
            byte[] bytes = from.getBinary(ordinal);
            out.put(bytes);
          };
      case LONG -> (from, ordinal, out) -> out.putNumber(from.getLong(ordinal));
      default -> {
        KeyText text = new KeyText(scalar);
        RowBuffer value = new RowBuffer();
        yield (from, ordinal, out) -> {
          value.reset();
          cell.write(from, ordinal, value);
          text.write(value, out);
        };
      }
    };
  }
}
