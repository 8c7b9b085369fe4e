package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.rows.KeyWriter;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * The texts that a column's value may have in keys. A key has the text of the type in its own file,
 * which may be narrower than the column: a double may have been a float, and both may have been
 * integers. Not thread-safe.
 */
final class KeyTexts {
  /** The first whole numbers that may stand for several integers. */
  private static final double MOST_FLOAT = 0x1p24;

  private static final double MOST_DOUBLE = 0x1p53;

  private final KeyWriter own;
  private final KeyWriter narrow = KeyWriter.of(DataTypes.FloatType, "float");

  KeyTexts(DataType type, String column) {
    own = KeyWriter.of(type, column);
  }

  /** Returns the texts of a value, first that of its own type; null if they cannot be told. */
  @Nullable List<byte[]> of(Object value) {
    List<byte[]> texts = new ArrayList<>();
    if (!(value instanceof Float || value instanceof Double)) {
      add(own, value, texts);
      return texts;
    }
    double number = ((Number) value).doubleValue();
    boolean whole = number == Math.rint(number) && !Double.isInfinite(number);
    if (whole && Math.abs(number) >= (value instanceof Float ? MOST_FLOAT : MOST_DOUBLE)) {
      return null;
    }
    add(own, value, texts);
    for (double same : number == 0 ? new double[] {0.0, -0.0} : new double[] {number}) {
      if (value instanceof Double) {
        add(own, same, texts);
      }
      if ((float) same == same || Double.isNaN(same)) {
        add(narrow, (float) same, texts);
      }
    }
    if (whole) {
      texts.add(Long.toString((long) number).getBytes(US_ASCII));
    }
    return texts;
  }

  private static void add(KeyWriter writer, Object value, List<byte[]> texts) {
    RowBuffer out = new RowBuffer();
    try {
      writer.write(new GenericInternalRow(new Object[] {value}), 0, out);
    } catch (BadRowException noText) {
      return;
    }
    texts.add(out.copy());
  }
}
