package tech.bsdb.tools.parquet;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.DateTimeException;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.table.RowProblem;
import tech.bsdb.tools.table.Widening;
import tech.bsdb.tools.text.HalfFloat;
import tech.bsdb.tools.text.Utf8;

/** Encodes a scalar value from a leaf. */
final class ScalarEncoder extends Encoder {
  private static final long DAY_SECONDS = 86_400;
  private static final long NANOS = 1_000_000_000;

  /** Writes the current value of a column. */
  @FunctionalInterface
  interface Writer {
    void write(ColumnReader from, RowBuffer out);
  }

  private final Leaf leaf;
  private final Writer writer;

  private ScalarEncoder(Leaf leaf, Writer writer) {
    this.leaf = leaf;
    this.writer = writer;
  }

  /**
   * Creates an encoder.
   *
   * @param type the target type of the column
   * @param problem receives values that cannot be encoded
   */
  static Encoder of(Leaf leaf, Scalar type, RowProblem problem) {
    if (type.kind() == Kind.NULL) {
      return new Nothing(leaf);
    }
    return new ScalarEncoder(leaf, writer(leaf, type, problem));
  }

  /**
   * Returns a writer of the leaf's current value, which must exist; it does not advance the leaf.
   */
  static Writer writer(Leaf leaf, Scalar type, RowProblem problem) {
    PrimitiveType stored = leaf.descriptor().getPrimitiveType();
    return switch (stored.getPrimitiveTypeName()) {
      case BOOLEAN -> (from, out) -> out.put(from.getBoolean() ? 1 : 0);
      case INT32 -> ofInt32(leaf, type, problem);
      case INT64 -> ofInt64(leaf, type, problem);
      case INT96 -> {
        long units = type.first() == 6 ? 1_000_000 : NANOS;
        yield (from, out) -> {
          long time = int96(from.getBinary(), units, leaf, problem);
          out.putLong(leaf.calendar().int96() ? instant(time, units, leaf, problem) : time);
        };
      }
      case FLOAT ->
          type.kind() == Kind.DOUBLE
              ? (from, out) -> out.putDouble(from.getFloat())
              : (from, out) -> out.putFloat(from.getFloat());
      case DOUBLE -> (from, out) -> out.putDouble(from.getDouble());
      case BINARY -> ofBinary(leaf, type, problem);
      case FIXED_LEN_BYTE_ARRAY -> ofFixed(leaf, type, problem);
    };
  }

  private static Writer ofInt32(Leaf leaf, Scalar type, RowProblem problem) {
    PrimitiveType stored = leaf.descriptor().getPrimitiveType();
    if (stored.getLogicalTypeAnnotation() instanceof TimeLogicalTypeAnnotation) {
      TimeUnits units = new TimeUnits(leaf, type, problem);
      return (from, out) -> units.putTime(from.getInteger(), out);
    }
    if (stored.getLogicalTypeAnnotation() instanceof DateLogicalTypeAnnotation) {
      LegacyCalendar calendar = leaf.calendar();
      return (from, out) -> out.putLong(calendar.day(from.getInteger()));
    }
    boolean unsigned =
        stored.getLogicalTypeAnnotation() instanceof IntLogicalTypeAnnotation number
            && !number.isSigned();
    if (type.kind() == Kind.DECIMAL) {
      DecimalBound bound = new DecimalBound(leaf, type, problem);
      return unsigned
          ? (from, out) -> putUnscaled(Integer.toUnsignedLong(from.getInteger()), bound, out)
          : (from, out) -> putUnscaled(from.getInteger(), bound, out);
    }
    if (type.kind() == Kind.DOUBLE) { // of at most 16 bits if it is unsigned
      return (from, out) -> out.putDouble(from.getInteger());
    }
    return unsigned
        ? (from, out) -> out.putLong(Integer.toUnsignedLong(from.getInteger()))
        : (from, out) -> out.putLong(from.getInteger());
  }

  private static Writer ofInt64(Leaf leaf, Scalar type, RowProblem problem) {
    PrimitiveType stored = leaf.descriptor().getPrimitiveType();
    if (stored.getLogicalTypeAnnotation() instanceof TimeLogicalTypeAnnotation) {
      TimeUnits units = new TimeUnits(leaf, type, problem);
      return (from, out) -> units.putTime(from.getLong(), out);
    }
    if (stored.getLogicalTypeAnnotation() instanceof TimestampLogicalTypeAnnotation timestamp) {
      TimeUnits units = new TimeUnits(leaf, type, problem);
      if (leaf.calendar().dates() && timestamp.isAdjustedToUTC()) {
        return (from, out) ->
            units.putFiner(instant(from.getLong(), units.perSecond, leaf, problem), out);
      }
      if (units.factor > 1) {
        return (from, out) -> units.putFiner(from.getLong(), out);
      }
    }
    if (type.kind() != Kind.DECIMAL) {
      return (from, out) -> out.putLong(from.getLong());
    }
    DecimalBound bound = new DecimalBound(leaf, type, problem);
    boolean unsigned =
        stored.getLogicalTypeAnnotation() instanceof IntLogicalTypeAnnotation number
            && !number.isSigned();
    return unsigned
        ? (from, out) -> putUnsigned(from.getLong(), bound, out)
        : (from, out) -> putUnscaled(from.getLong(), bound, out);
  }

  private static Writer ofBinary(Leaf leaf, Scalar type, RowProblem problem) {
    if (type.kind() == Kind.STRING) {
      return (from, out) -> putText(from.getBinary(), out, leaf, problem);
    }
    if (type.kind() == Kind.DECIMAL) {
      DecimalBound bound = new DecimalBound(leaf, type, problem);
      return (from, out) -> putUnscaled(from.getBinary(), bound, out);
    }
    return (from, out) -> out.putBytes(from.getBinary().toByteBuffer());
  }

  private static Writer ofFixed(Leaf leaf, Scalar type, RowProblem problem) {
    PrimitiveType stored = leaf.descriptor().getPrimitiveType();
    if (stored.getLogicalTypeAnnotation() instanceof Float16LogicalTypeAnnotation) {
      return type.kind() == Kind.DOUBLE
          ? (from, out) -> out.putDouble(HalfFloat.of(from.getBinary().toByteBuffer()))
          : (from, out) -> out.putFloat(HalfFloat.of(from.getBinary().toByteBuffer()));
    }
    if (type.kind() == Kind.DECIMAL) {
      DecimalBound bound = new DecimalBound(leaf, type, problem);
      return (from, out) -> putUnscaled(from.getBinary(), bound, out);
    }
    return (from, out) -> out.put(from.getBinary().toByteBuffer());
  }

  private static long instant(long stored, long units, Leaf leaf, RowProblem problem) {
    try {
      return leaf.calendar().instant(stored, units);
    } catch (DateTimeException | ArithmeticException e) {
      problem.note(
          "a timestamp before 1900 in an old calendar",
          "column " + leaf.name() + ": " + e.getMessage());
      return 0;
    }
  }

  /** The unit of times in a file, and the finer one that they get. */
  private static final class TimeUnits {
    final long perSecond;
    final long factor;
    private final Leaf leaf;
    private final Scalar type;
    private final RowProblem problem;

    TimeUnits(Leaf leaf, Scalar type, RowProblem problem) {
      this.perSecond = Widening.perSecond(stored(leaf));
      this.factor = Widening.perSecond(type) / perSecond;
      this.leaf = leaf;
      this.type = type;
      this.problem = problem;
    }

    void putTime(long time, RowBuffer out) {
      if (time < 0 || time > DAY_SECONDS * perSecond) {
        problem.note("a time outside of the day", "column " + leaf.name());
      }
      putFiner(time, out);
    }

    void putFiner(long time, RowBuffer out) {
      long finer = time * factor;
      if (factor > 1 && finer / factor != time) {
        problem.note(
            "a time that does not fit its wider type",
            "column " + leaf.name() + " is " + type.describe() + " in other files");
      }
      out.putLong(finer);
    }
  }

  private static Scalar stored(Leaf leaf) {
    return ParquetTypes.DEFAULT.scalar(leaf.descriptor().getPrimitiveType());
  }

  private static void putText(Binary text, RowBuffer out, Leaf leaf, RowProblem problem) {
    ByteBuffer bytes = text.toByteBuffer();
    int count = bytes.remaining();
    out.putBytes(bytes);
    if (!Utf8.isValid(out.bytes(), out.length() - count, out.length())) {
      problem.note("text that is not UTF-8", "column " + leaf.name());
    }
  }

  /** Checks the range of a decimal, and gives it the scale of its target. */
  private static final class DecimalBound {
    private static final int LONG_DIGITS = 18;

    private final Leaf leaf;
    private final Scalar type;
    private final RowProblem problem;
    private final long most;
    private final BigInteger limit;
    private final @Nullable BigInteger factor;

    DecimalBound(Leaf leaf, Scalar target, RowProblem problem) {
      this.leaf = leaf;
      this.type = Widening.decimal(stored(leaf));
      this.problem = problem;
      int places = target.second() - type.second();
      this.factor = places == 0 ? null : BigInteger.TEN.pow(places);
      this.limit = BigInteger.TEN.pow(type.first());
      this.most = type.first() > LONG_DIGITS ? Long.MAX_VALUE : limit.longValueExact() - 1;
    }

    void check(long unscaled) {
      if (unscaled > most || unscaled < -most) {
        check(BigInteger.valueOf(unscaled));
      }
    }

    void check(ByteBuffer unscaled) {
      int length = unscaled.remaining();
      if (length == 0 || length > RowSchema.maxDecimalBytes(type.first())) {
        problem.note("a decimal that cannot be one", length + " bytes in column " + leaf.name());
        return;
      }
      if (length <= Long.BYTES) {
        long number = unscaled.get(unscaled.position());
        for (int i = 1; i < length; i++) {
          number = number << 8 | unscaled.get(unscaled.position() + i) & 0xff;
        }
        check(number);
      } else {
        byte[] bytes = new byte[length];
        unscaled.duplicate().get(bytes);
        check(new BigInteger(bytes));
      }
    }

    private void check(BigInteger unscaled) {
      if (unscaled.abs().compareTo(limit) >= 0) {
        problem.note(
            "a decimal beyond its precision",
            "column "
                + leaf.name()
                + ": "
                + new BigDecimal(unscaled, type.second()).toPlainString()
                + " does not fit "
                + type.describe());
      }
    }
  }

  private static void putUnscaled(Binary number, DecimalBound bound, RowBuffer out) {
    ByteBuffer bytes = shortest(number.toByteBuffer());
    bound.check(bytes);
    if (bound.factor == null || !bytes.hasRemaining()) {
      out.putBytes(bytes);
    } else {
      byte[] unscaled = new byte[bytes.remaining()];
      bytes.get(unscaled);
      putScaled(new BigInteger(unscaled), bound.factor, out);
    }
  }

  private static void putScaled(BigInteger number, BigInteger factor, RowBuffer out) {
    byte[] bytes = number.multiply(factor).toByteArray();
    out.putBytes(bytes, 0, bytes.length);
  }

  /** Shortens a two's complement number to as few bytes as it needs, as for all decimals. */
  private static ByteBuffer shortest(ByteBuffer number) {
    int at = number.position();
    int last = number.limit() - 1;
    while (at < last && number.get(at) == number.get(at + 1) >> 7) {
      at++;
    }
    return number.position(at);
  }

  private static void putUnscaled(long number, DecimalBound bound, RowBuffer out) {
    bound.check(number);
    if (bound.factor != null) {
      putScaled(BigInteger.valueOf(number), bound.factor, out);
      return;
    }
    int bits = 65 - Long.numberOfLeadingZeros(number ^ number >> 63); // including the sign bit
    int bytes = (bits + 7) / 8;
    out.putLong(bytes);
    for (int i = bytes - 1; i >= 0; i--) {
      out.put((int) (number >> 8 * i));
    }
  }

  private static void putUnsigned(long number, DecimalBound bound, RowBuffer out) {
    if (number >= 0) {
      putUnscaled(number, bound, out);
    } else {
      BigInteger unsigned = new BigInteger(Long.toUnsignedString(number));
      putScaled(unsigned, bound.factor == null ? BigInteger.ONE : bound.factor, out);
    }
  }

  private static long int96(Binary time, long units, Leaf leaf, RowProblem problem) {
    try {
      return Int96.since1970(time.toByteBuffer(), units);
    } catch (ArithmeticException beyond) {
      boolean nanos = units == NANOS;
      problem.note(
          nanos ? "a timestamp before 1677 or after 2262" : "a timestamp that is too far away",
          "INT96 column " + leaf.name() + (nanos ? "; --int96 micros reads it" : ""));
      return 0;
    }
  }

  @Override
  Leaf lead() {
    return leaf;
  }

  @Override
  void write(RowBuffer out) {
    if (!leaf.hasValue()) {
      throw new IllegalStateException("column " + leaf.name() + " lacks a value that it requires");
    }
    writer.write(leaf.reader(), out);
    leaf.next();
  }

  @Override
  void skip() {
    leaf.next();
  }

  /**
   * Decodes the timestamps of older writers: nanoseconds of the day (8 bytes), then a Julian day (4
   * bytes).
   */
  static final class Int96 {
    private static final long JULIAN_DAY_OF_EPOCH = 2_440_588;

    private Int96() {}

    /**
     * Returns the time since 1970 in UTC, rounded down.
     *
     * @param bytes 12 bytes, little-endian
     * @param perSecond how many units of the result a second has, at most those of nanoseconds
     * @throws ArithmeticException if the result does not fit in a long
     */
    static long since1970(ByteBuffer bytes, long perSecond) {
      ByteBuffer ordered = bytes.order(ByteOrder.LITTLE_ENDIAN);
      long perDay = DAY_SECONDS * perSecond;
      long ofDay = Math.floorDiv(ordered.getLong(ordered.position()), NANOS / perSecond);
      long day = ordered.getInt(ordered.position() + Long.BYTES) - JULIAN_DAY_OF_EPOCH;
      return day < 0
          ? Math.addExact(Math.multiplyExact(day + 1, perDay), Math.subtractExact(ofDay, perDay))
          : Math.addExact(Math.multiplyExact(day, perDay), ofDay);
    }
  }
}
