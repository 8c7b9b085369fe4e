package tech.bsdb.tools.parquet;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.parquet.RowType.Column;
import tech.bsdb.tools.parquet.RowType.Kind;
import tech.bsdb.tools.parquet.RowType.Scalar;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * What all rows of a file have in a column that is a directory's. Immutable, but for its arrays.
 */
final class PartitionValue {
  private final Column column;
  private final byte[] inRow;
  private final byte @Nullable [] inKey;

  private PartitionValue(Column column, byte[] inRow, byte @Nullable [] inKey) {
    this.column = column;
    this.inRow = inRow;
    this.inKey = inKey;
  }

  /**
   * The value of a text.
   *
   * @param text what {@link PartitionType} found the column's type for; null for null
   */
  static PartitionValue of(Column column, @Nullable String text) {
    RowBuffer row = new RowBuffer();
    if (text == null) {
      row.putLong(0);
      return new PartitionValue(column, row.copy(), null);
    }
    Scalar type = (Scalar) column.type();
    RowBuffer key = new RowBuffer();
    RowBuffer value = new RowBuffer();
    PartitionType.write(text, type, value);
    row.putLong(1);
    row.putFixed(value.bytes(), 0, value.length());
    if (type.kind() == Kind.STRING) {
      key.putText(text);
    } else {
      KeyColumn.write(type, value, key);
    }
    return new PartitionValue(column, row.copy(), key.copy());
  }

  Column column() {
    return column;
  }

  /** The type, nulls apart. */
  Scalar type() {
    return (Scalar) column.type();
  }

  /** Writes it as a column of a row, which may be null there. */
  Encoder encoder() {
    return new Encoder.Same(inRow);
  }

  /** Writes it as a key, or as a value that is bytes. */
  KeyPart keyPart() {
    return new KeyPart() {
      @Override
      public String name() {
        return column.name();
      }

      @Override
      public boolean write(RowBuffer out) {
        if (inKey != null) {
          out.putFixed(inKey, 0, inKey.length);
        }
        return inKey != null;
      }

      @Override
      public void next() {}
    };
  }
}
