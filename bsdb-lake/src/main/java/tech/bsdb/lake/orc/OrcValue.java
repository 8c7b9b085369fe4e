package tech.bsdb.lake.orc;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.orc.TypeDescription;
import org.apache.orc.storage.ql.exec.vector.BytesColumnVector;
import org.apache.orc.storage.ql.exec.vector.ColumnVector;
import org.apache.orc.storage.ql.exec.vector.DecimalColumnVector;
import org.apache.orc.storage.ql.exec.vector.DoubleColumnVector;
import org.apache.orc.storage.ql.exec.vector.ListColumnVector;
import org.apache.orc.storage.ql.exec.vector.LongColumnVector;
import org.apache.orc.storage.ql.exec.vector.MapColumnVector;
import org.apache.orc.storage.ql.exec.vector.StructColumnVector;
import org.apache.orc.storage.ql.exec.vector.TimestampColumnVector;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.table.TableFile.BadValueException;

/**
 * The type of a column, and its values in the library's vectors. Immutable.
 *
 * @param type the type
 * @param unreadable what it is or contains that cannot be read, as a noun; or null
 * @param reader reads a value that is not null
 */
record OrcValue(RowType type, @Nullable String unreadable, Reader reader) {
  private static final long NANOS = 1_000_000_000;

  /** Reads a value that is not null. */
  @FunctionalInterface
  interface Reader {
    /** Returns the value of an index, which is that of a single value if the vector repeats it. */
    @Nullable Object read(ColumnVector vector, int i) throws BadValueException;
  }

  /** Returns a value, or null. */
  @Nullable Object value(ColumnVector vector, int i) throws BadValueException {
    int at = vector.isRepeating ? 0 : i;
    return !vector.noNulls && vector.isNull[at] ? null : reader.read(vector, at);
  }

  private static OrcValue scalar(Scalar type, Reader reader) {
    return new OrcValue(type, null, reader);
  }

  private static OrcValue refused(String what) {
    return new OrcValue(Scalar.of(Kind.NULL), what, (vector, i) -> null);
  }

  /**
   * Returns the values of a type.
   *
   * @param nanos whether timestamps have nanoseconds
   */
  static OrcValue of(TypeDescription type, boolean nanos) {
    return switch (type.getCategory()) {
      case BOOLEAN ->
          scalar(
              Scalar.of(Kind.BOOLEAN), (vector, i) -> ((LongColumnVector) vector).vector[i] != 0);
      case BYTE, SHORT, INT -> scalar(Scalar.of(Kind.INT), OrcValue::whole);
      case DATE -> scalar(Scalar.of(Kind.DATE), OrcValue::whole);
      case LONG ->
          scalar(Scalar.of(Kind.LONG), (vector, i) -> ((LongColumnVector) vector).vector[i]);
      case FLOAT ->
          scalar(
              Scalar.of(Kind.FLOAT),
              (vector, i) -> (float) ((DoubleColumnVector) vector).vector[i]);
      case DOUBLE ->
          scalar(Scalar.of(Kind.DOUBLE), (vector, i) -> ((DoubleColumnVector) vector).vector[i]);
      case STRING, CHAR, VARCHAR -> scalar(Scalar.of(Kind.STRING), OrcValue::bytes);
      case BINARY, Geometry, Geography -> scalar(Scalar.of(Kind.BYTES), OrcValue::bytes);
      case TIMESTAMP -> scalar(Scalar.time(Kind.LOCAL_TIMESTAMP, nanos ? 9 : 6), timestamp(nanos));
      case TIMESTAMP_INSTANT ->
          scalar(Scalar.time(Kind.TIMESTAMP, nanos ? 9 : 6), timestamp(nanos));
      case DECIMAL -> {
        int scale = type.getScale();
        yield scalar(
            Scalar.decimal(type.getPrecision(), scale), (vector, i) -> decimal(vector, i, scale));
      }
      case LIST -> ofList(of(type.getChildren().get(0), nanos));
      case MAP -> ofMap(of(type.getChildren().get(0), nanos), of(type.getChildren().get(1), nanos));
      case STRUCT -> ofStruct(type, nanos);
      case UNION -> refused("a union");
    };
  }

  private static Object whole(ColumnVector vector, int i) {
    return Math.toIntExact(((LongColumnVector) vector).vector[i]);
  }

  private static Object bytes(ColumnVector vector, int i) {
    BytesColumnVector bytes = (BytesColumnVector) vector;
    return ByteBuffer.wrap(bytes.vector[i], bytes.start[i], bytes.length[i]);
  }

  private static Reader timestamp(boolean nanos) {
    return (vector, i) -> {
      TimestampColumnVector times = (TimestampColumnVector) vector;
      int fraction = times.nanos[i]; // of pyarrow, negative before 1970
      long seconds = Math.floorDiv(times.time[i] - fraction / 1_000_000, 1_000L);
      try {
        if (!nanos) {
          return Math.addExact(
              Math.multiplyExact(seconds, 1_000_000L), Math.floorDiv(fraction, 1_000));
        }
        return seconds < 0 // the earliest second has a nanosecond that fits
            ? Math.addExact(Math.multiplyExact(seconds + 1, NANOS), fraction - NANOS)
            : Math.addExact(Math.multiplyExact(seconds, NANOS), fraction);
      } catch (ArithmeticException e) {
        throw nanos
            ? new BadValueException(
                "a timestamp before 1677 or after 2262", "--int96 micros reads it")
            : new BadValueException("a timestamp that is too far away", "");
      }
    };
  }

  private static Object decimal(ColumnVector vector, int i, int scale) throws BadValueException {
    BigDecimal number = ((DecimalColumnVector) vector).vector[i].getHiveDecimal().bigDecimalValue();
    try {
      return number.setScale(scale);
    } catch (ArithmeticException e) {
      throw new BadValueException(
          "a decimal with more digits than its scale", number.toPlainString());
    }
  }

  private static OrcValue ofList(OrcValue element) {
    return new OrcValue(
        new ListOf(new Column("element", element.type, true)),
        element.unreadable,
        (vector, i) -> {
          ListColumnVector lists = (ListColumnVector) vector;
          int from = (int) lists.offsets[i];
          int count = (int) lists.lengths[i];
          List<@Nullable Object> values = new ArrayList<>(count);
          for (int at = from; at < from + count; at++) {
            values.add(element.value(lists.child, at));
          }
          return values;
        });
  }

  private static OrcValue ofMap(OrcValue key, OrcValue value) {
    Column values = new Column("value", value.type, true);
    RowType type =
        key.type.equals(Scalar.of(Kind.STRING))
            ? new MapOf(values)
            : new Pairs(new Column("key", key.type, false), values);
    return new OrcValue(
        type,
        key.unreadable == null ? value.unreadable : key.unreadable,
        (vector, i) -> {
          MapColumnVector maps = (MapColumnVector) vector;
          int from = (int) maps.offsets[i];
          int count = (int) maps.lengths[i];
          List<Map.Entry<@Nullable Object, @Nullable Object>> entries = new ArrayList<>(count);
          for (int at = from; at < from + count; at++) {
            entries.add(
                new SimpleImmutableEntry<>(key.value(maps.keys, at), value.value(maps.values, at)));
          }
          return entries;
        });
  }

  private static OrcValue ofStruct(TypeDescription type, boolean nanos) {
    List<Column> columns = new ArrayList<>();
    List<OrcValue> fields = new ArrayList<>();
    String unreadable = null;
    for (int i = 0; i < type.getChildren().size(); i++) {
      OrcValue field = of(type.getChildren().get(i), nanos);
      columns.add(new Column(type.getFieldNames().get(i), field.type, true));
      fields.add(field);
      unreadable = unreadable == null ? field.unreadable : unreadable;
    }
    return new OrcValue(
        new Struct(columns),
        unreadable,
        (vector, i) -> {
          StructColumnVector struct = (StructColumnVector) vector;
          @Nullable Object[] values = new @Nullable Object[fields.size()];
          for (int at = 0; at < values.length; at++) {
            values[at] = fields.get(at).value(struct.fields[at], i);
          }
          return values;
        });
  }
}
