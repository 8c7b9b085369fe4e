package tech.bsdb.tools.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.text.Utf8;

/**
 * Encodes values of a {@link TableFile} in Avro's binary encoding, as the types to which all files
 * resolve. A value whose class is not that of its type is an error of the format's reader, and is
 * never converted. Not thread-safe.
 */
public abstract class ObjectEncoder {
  private static final long DAY_SECONDS = 86_400;

  /** Writes a value. */
  abstract void write(@Nullable Object value, RowBuffer out);

  /**
   * Creates the encoder of a column.
   *
   * @param own the column in the file; null if the file lacks it
   * @param target the column to which all files resolve
   * @param problem receives values that cannot be encoded
   */
  static ObjectEncoder column(@Nullable Column own, Column target, RowProblem problem) {
    return column(own, target, own == null ? target.name() : own.name(), problem);
  }

  static ObjectEncoder column(
      @Nullable Column own, Column target, String path, RowProblem problem) {
    if (isNull(target.type())) {
      return new Nothing(path);
    }
    if (own == null) {
      return new Missing();
    }
    ObjectEncoder value =
        isNull(own.type()) ? new Nothing(path) : of(own.type(), target.type(), path, problem);
    return target.nullable() ? new Maybe(value) : new Always(value, path, problem);
  }

  private static boolean isNull(RowType type) {
    return type.equals(Scalar.of(Kind.NULL));
  }

  private static ObjectEncoder of(RowType own, RowType target, String path, RowProblem problem) {
    if (own instanceof Scalar from && target instanceof Scalar to) {
      return scalar(from, to, path, problem);
    }
    if (own instanceof Struct from && target instanceof Struct to) {
      return new Fields(from, to, path, problem);
    }
    if (own instanceof ListOf from && target instanceof ListOf to) {
      return new Elements(column(from.element(), to.element(), path + "[]", problem), path);
    }
    if (own instanceof MapOf from && target instanceof MapOf to) {
      Column key = new Column("key", Scalar.of(Kind.STRING), false);
      return new Entries(key, key, from.value(), to.value(), path, problem);
    }
    if (own instanceof Pairs from && target instanceof Pairs to) {
      return new Entries(from.key(), to.key(), from.value(), to.value(), path, problem);
    }
    throw new IllegalStateException(
        "column " + path + " is " + own.describe() + ", but " + target.describe());
  }

  /**
   * Creates the encoder of values that are not null.
   *
   * @param own the type of the values
   * @param target the same type, or one that it widens to
   * @param column the column's name, for messages
   */
  static ObjectEncoder scalar(Scalar own, Scalar target, String column, RowProblem problem) {
    return switch (own.kind()) {
      case NULL -> new Nothing(column);
      case BOOLEAN ->
          new Plain<>(Boolean.class, column, own, (value, out) -> out.put(value ? 1 : 0));
      case INT -> new Plain<>(Integer.class, column, own, ofInt(target));
      case DATE -> new Plain<>(Integer.class, column, own, (value, out) -> out.putLong(value));
      case LONG ->
          new Plain<>(
              Long.class,
              column,
              own,
              target.kind() == Kind.DECIMAL
                  ? (value, out) -> putDecimal(BigDecimal.valueOf(value), target, out)
                  : (value, out) -> out.putLong(value));
      case FLOAT ->
          new Plain<>(
              Float.class,
              column,
              own,
              target.kind() == Kind.DOUBLE
                  ? (value, out) -> out.putDouble(value)
                  : (value, out) -> out.putFloat(value));
      case DOUBLE -> new Plain<>(Double.class, column, own, (value, out) -> out.putDouble(value));
      case DECIMAL -> new Decimals(own, target, column, problem);
      case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> new Times(own, target, column, problem);
      case STRING -> new Texts(column, problem);
      case BYTES -> new Bytes(Bytes.ANY_SIZE, column);
      case FIXED -> new Bytes(own.first(), column);
      case INTERVAL -> new Bytes(12, column);
      case UUID -> new Plain<>(UUID.class, column, own, ObjectEncoder::putUuid);
    };
  }

  /** Creates the encoder of texts and bytes without their length, for keys and plain values. */
  static ObjectEncoder verbatim(String column, RowProblem problem) {
    return new Verbatim(column, problem);
  }

  private static Plain.Writer<Integer> ofInt(Scalar target) {
    return switch (target.kind()) {
      case DECIMAL -> (value, out) -> putDecimal(BigDecimal.valueOf(value), target, out);
      case DOUBLE -> (value, out) -> out.putDouble(value);
      default -> (value, out) -> out.putLong(value);
    };
  }

  private static void putDecimal(BigDecimal value, Scalar target, RowBuffer out) {
    byte[] number = value.setScale(target.second()).unscaledValue().toByteArray();
    out.putBytes(number, 0, number.length);
  }

  private static void putUuid(UUID value, RowBuffer out) {
    ByteBuffer bytes = ByteBuffer.allocate(16);
    bytes.putLong(value.getMostSignificantBits()).putLong(value.getLeastSignificantBits());
    out.put(bytes.array());
  }

  private static IllegalStateException mismatch(
      String column, @Nullable Object value, String type) {
    return new IllegalStateException(
        "column %s: a %s is not a value of %s"
            .formatted(column, value == null ? "null" : value.getClass().getSimpleName(), type));
  }

  private static ByteBuffer buffer(@Nullable Object value, String column, String type) {
    if (value instanceof byte[] array) {
      return ByteBuffer.wrap(array);
    }
    if (value instanceof ByteBuffer buffer) {
      return buffer;
    }
    throw mismatch(column, value, type);
  }

  /** A column of type null: nothing is written. */
  private static final class Nothing extends ObjectEncoder {
    private final String column;

    Nothing(String column) {
      this.column = column;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (value != null) {
        throw new IllegalStateException("column " + column + " is of type null, but has values");
      }
    }
  }

  /** A column that the file lacks: null. */
  private static final class Missing extends ObjectEncoder {
    @Override
    void write(@Nullable Object value, RowBuffer out) {
      out.putLong(0);
    }
  }

  /** A nullable column. */
  private static final class Maybe extends ObjectEncoder {
    private final ObjectEncoder encoder;

    Maybe(ObjectEncoder encoder) {
      this.encoder = encoder;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      out.putLong(value == null ? 0 : 1);
      if (value != null) {
        encoder.write(value, out);
      }
    }
  }

  /** A column without nulls. */
  private static final class Always extends ObjectEncoder {
    private final ObjectEncoder encoder;
    private final String column;
    private final RowProblem problem;

    Always(ObjectEncoder encoder, String column, RowProblem problem) {
      this.encoder = encoder;
      this.column = column;
      this.problem = problem;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (value == null) {
        problem.note("a null in a column that has none", "column " + column);
      } else {
        encoder.write(value, out);
      }
    }
  }

  /**
   * Values of one class that are written as they are.
   *
   * @param <T> their class
   */
  private static final class Plain<T> extends ObjectEncoder {
    private final Class<T> type;
    private final String column;
    private final Scalar scalar;
    private final Writer<T> writer;

    /** Writes a value. */
    @FunctionalInterface
    interface Writer<T> {
      void write(T value, RowBuffer out);
    }

    Plain(Class<T> type, String column, Scalar scalar, Writer<T> writer) {
      this.type = type;
      this.column = column;
      this.scalar = scalar;
      this.writer = writer;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (!type.isInstance(value)) {
        throw mismatch(column, value, scalar.describe());
      }
      writer.write(type.cast(value), out);
    }
  }

  private static final class Decimals extends ObjectEncoder {
    private final Scalar own;
    private final String column;
    private final RowProblem problem;
    private final BigInteger limit;
    private final @Nullable BigInteger factor;

    Decimals(Scalar own, Scalar target, String column, RowProblem problem) {
      this.own = own;
      this.column = column;
      this.problem = problem;
      this.limit = BigInteger.TEN.pow(own.first());
      int places = target.second() - own.second();
      this.factor = places == 0 ? null : BigInteger.TEN.pow(places);
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (!(value instanceof BigDecimal number) || number.scale() != own.second()) {
        throw mismatch(column, value, own.describe());
      }
      BigInteger unscaled = number.unscaledValue();
      if (unscaled.abs().compareTo(limit) >= 0) {
        problem.note(
            "a decimal beyond its precision",
            "column %s: %s does not fit %s"
                .formatted(column, number.toPlainString(), own.describe()));
      }
      byte[] bytes = (factor == null ? unscaled : unscaled.multiply(factor)).toByteArray();
      out.putBytes(bytes, 0, bytes.length);
    }
  }

  private static final class Times extends ObjectEncoder {
    private final Scalar own;
    private final Scalar target;
    private final String column;
    private final RowProblem problem;
    private final long perSecond;
    private final long factor;

    Times(Scalar own, Scalar target, String column, RowProblem problem) {
      this.own = own;
      this.target = target;
      this.column = column;
      this.problem = problem;
      this.perSecond = Widening.perSecond(own);
      this.factor = Widening.perSecond(target) / perSecond;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (!(value instanceof Long time)) {
        throw mismatch(column, value, own.describe());
      }
      if (own.kind() == Kind.TIME && (time < 0 || time > DAY_SECONDS * perSecond)) {
        problem.note("a time outside of the day", "column " + column);
      }
      long finer = time * factor;
      if (factor > 1 && finer / factor != time) {
        problem.note(
            "a time that does not fit its wider type",
            "column " + column + " is " + target.describe() + " in other files");
      }
      out.putLong(finer);
    }
  }

  private static final class Texts extends ObjectEncoder {
    private final String column;
    private final RowProblem problem;

    Texts(String column, RowProblem problem) {
      this.column = column;
      this.problem = problem;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (value instanceof CharSequence text) {
        byte[] bytes = utf8(text, column, problem);
        out.putBytes(bytes, 0, bytes.length);
        return;
      }
      ByteBuffer utf8 = buffer(value, column, "string");
      out.putBytes(utf8);
      if (!Utf8.isValid(out.bytes(), out.length() - utf8.remaining(), out.length())) {
        problem.note("text that is not UTF-8", "column " + column);
      }
    }

    static byte[] utf8(CharSequence text, String column, RowProblem problem) {
      String string = text.toString();
      if (hasLoneSurrogate(string)) {
        problem.note("text that is not UTF-8", "column " + column);
      }
      return string.getBytes(UTF_8);
    }

    private static boolean hasLoneSurrogate(String text) {
      for (int i = 0; i < text.length(); i++) {
        if (Character.isSurrogate(text.charAt(i))) {
          if (text.codePointAt(i) < Character.MIN_SUPPLEMENTARY_CODE_POINT) {
            return true;
          }
          i++;
        }
      }
      return false;
    }
  }

  private static final class Verbatim extends ObjectEncoder {
    private final String column;
    private final RowProblem problem;

    Verbatim(String column, RowProblem problem) {
      this.column = column;
      this.problem = problem;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (value instanceof CharSequence text) {
        out.put(Texts.utf8(text, column, problem));
      } else {
        out.put(buffer(value, column, "string or bytes"));
      }
    }
  }

  private static final class Bytes extends ObjectEncoder {
    static final int ANY_SIZE = -1;

    private final int size;
    private final String column;

    Bytes(int size, String column) {
      this.size = size;
      this.column = column;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      ByteBuffer bytes = buffer(value, column, "bytes");
      if (size == ANY_SIZE) {
        out.putBytes(bytes);
      } else if (bytes.remaining() == size) {
        out.put(bytes);
      } else {
        throw new IllegalStateException(
            "column %s: %s bytes are not a value of %s bytes"
                .formatted(column, bytes.remaining(), size));
      }
    }
  }

  private static final class Fields extends ObjectEncoder {
    private final int own;
    private final int[] places;
    private final ObjectEncoder[] encoders;
    private final String column;

    Fields(Struct from, Struct to, String path, RowProblem problem) {
      this.own = from.fields().size();
      this.column = path;
      this.places = new int[to.fields().size()];
      this.encoders = new ObjectEncoder[places.length];
      for (int i = 0; i < places.length; i++) {
        Column target = to.fields().get(i);
        Optional<Column> field = AnyCase.field(from.fields(), Column::name, target.name());
        places[i] = field.map(from.fields()::indexOf).orElse(-1);
        encoders[i] =
            ObjectEncoder.column(
                field.orElse(null),
                target,
                path + "." + field.map(Column::name).orElse(target.name()),
                problem);
      }
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (!(value instanceof Object[] fields) || fields.length != own) {
        throw mismatch(column, value, "struct of " + own + " fields");
      }
      for (int i = 0; i < encoders.length; i++) {
        encoders[i].write(places[i] < 0 ? null : fields[places[i]], out);
      }
    }
  }

  private static final class Elements extends ObjectEncoder {
    private final ObjectEncoder element;
    private final String column;

    Elements(ObjectEncoder element, String column) {
      this.element = element;
      this.column = column;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      if (!(value instanceof List<?> list)) {
        throw mismatch(column, value, "list");
      }
      if (!list.isEmpty()) {
        out.putLong(list.size());
        list.forEach(each -> element.write(each, out));
      }
      out.put(0);
    }
  }

  private static final class Entries extends ObjectEncoder {
    private final ObjectEncoder key;
    private final ObjectEncoder entry;
    private final String column;
    private final RowProblem problem;

    Entries(
        Column ownKey,
        Column targetKey,
        Column ownValue,
        Column targetValue,
        String path,
        RowProblem problem) {
      this.key = ObjectEncoder.column(ownKey, targetKey, path + ".key", problem);
      this.entry = ObjectEncoder.column(ownValue, targetValue, path + ".value", problem);
      this.column = path;
      this.problem = problem;
    }

    @Override
    void write(@Nullable Object value, RowBuffer out) {
      List<?> entries;
      if (value instanceof Map<?, ?> map) {
        entries = new ArrayList<>(map.entrySet());
      } else if (value instanceof List<?> list) {
        entries = list;
      } else {
        throw mismatch(column, value, "map");
      }
      if (!entries.isEmpty()) {
        out.putLong(entries.size());
        entries.forEach(each -> writeEntry(each, out));
      }
      out.put(0);
    }

    private void writeEntry(@Nullable Object each, RowBuffer out) {
      if (!(each instanceof Map.Entry<?, ?> pair)) {
        throw mismatch(column, each, "map entry");
      }
      if (pair.getKey() == null) {
        problem.note("a null key in a map", column + ".key");
      } else {
        key.write(pair.getKey(), out);
      }
      entry.write(pair.getValue(), out);
    }
  }
}
