package tech.bsdb.tools.table;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.KeyText;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.where.Cells;

/**
 * The value that all rows of a file have in a column from a directory. Immutable, except for its
 * arrays.
 *
 * @param inRow the value as a nullable column of a row
 * @param inKey the value as a key; null if it is null
 */
public record PartitionValue(Column column, byte[] inRow, byte @Nullable [] inKey)
    implements KeyPart {
  /**
   * Creates the value of a text.
   *
   * @param text a text from which {@link PartitionType} inferred the column's type; null for null
   */
  public static PartitionValue of(Column column, @Nullable String text) {
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
    row.put(value.bytes(), 0, value.length());
    if (type.kind() == Kind.STRING) {
      key.putText(text);
    } else {
      write(type, value, key);
    }
    return new PartitionValue(column, row.copy(), key.copy());
  }

  private static void write(Scalar type, RowBuffer value, RowBuffer out) {
    try {
      new KeyText(type).write(value, out);
    } catch (BadRowException e) {
      throw new IllegalArgumentException(e); // it was made from a text of the type
    }
  }

  /** Returns the non-null type. */
  public Scalar type() {
    return (Scalar) column.type();
  }

  /** Returns it as a column that a condition is about, which writes it in Avro's encoding. */
  public Cell cell() {
    return new Cell(name(), inKey == null ? null : Arrays.copyOfRange(inRow, 1, inRow.length));
  }

  /** Returns the value as conditions see it. */
  public RowBuffer value() {
    RowBuffer value = new RowBuffer();
    return cell().write(value) ? value : Cells.NULL;
  }

  /**
   * A column that a condition is about, with one value for all rows.
   *
   * @param encoded the value in Avro's encoding, or null
   */
  public record Cell(String name, byte @Nullable [] encoded) implements KeyPart {
    @Override
    public boolean write(RowBuffer out) {
      if (encoded != null) {
        out.put(encoded);
      }
      return encoded != null;
    }

    @Override
    public void next() {}
  }

  /** Returns the column's name. */
  @Override
  public String name() {
    return column.name();
  }

  /** Writes it as a key, or as a raw value. */
  @Override
  public boolean write(RowBuffer out) {
    if (inKey != null) {
      out.put(inKey);
    }
    return inKey != null;
  }

  @Override
  public void next() {}
}
