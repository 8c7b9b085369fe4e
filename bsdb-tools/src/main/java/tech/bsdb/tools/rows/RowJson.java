package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.core.io.NumberOutput;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HexFormat;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * Writes rows as JSON objects (docs/guides/rows.md), one after another. Once its arrays have grown,
 * it allocates only for floating-point numbers and decimals of more than 18 digits. Not
 * thread-safe.
 *
 * <p>Any bytes that are not a row of the schema cause a {@link BadRowException}. Columns that are
 * not wanted are skipped, but must still be well-formed.
 */
public final class RowJson {
  /** The magnitude up to which a double represents every integer exactly. */
  private static final long SAFE = (1L << 53) - 1;

  /** Decimals with more fraction digits are written with an exponent instead of all their zeros. */
  private static final int PLAIN_SCALE = 10_000;

  /** Maximum bytes of a decimal that carries its own scale. */
  private static final int BIG_DECIMAL = 1 << 14;

  private static final byte[] TRUE = "true".getBytes(US_ASCII);
  private static final byte[] FALSE = "false".getBytes(US_ASCII);
  private static final byte[] NULL = "null".getBytes(US_ASCII);
  private static final HexFormat HEX = HexFormat.of();

  private final RowForm form;
  private final RowCursor row;
  private final byte[] text = new byte[IsoText.LONGEST];
  private JsonBuffer out = new JsonBuffer();

  /** Creates a writer of rows of the given form. */
  public RowJson(RowForm form) {
    this(form, new RowCursor());
  }

  /** Creates a writer of values of rows that another class reads with the cursor. */
  RowJson(RowForm form, RowCursor row) {
    this.form = form;
    this.row = row;
  }

  /**
   * Writes a row as an object.
   *
   * @param bytes contains the row in {@code from} to {@code from + length - 1}
   * @param target receives the object
   * @throws BadRowException if the bytes are not a row of the schema; nothing is written then
   */
  public void write(byte[] bytes, int from, int length, JsonBuffer target) throws BadRowException {
    int start = target.length();
    boolean written = false;
    out = target;
    row.begin(bytes, from, length);
    try {
      writeRecord(form.shape(), true);
      row.finish();
      written = true;
    } finally {
      row.release();
      if (!written) {
        target.truncate(start);
      }
    }
  }

  private void putName(byte[] name, int before) {
    int comma = before == 0 ? 1 : 0;
    out.put(name, comma, name.length - comma);
  }

  /** Writes the value at the cursor. */
  void write(Shape shape, JsonBuffer target) throws BadRowException {
    out = target;
    write(shape);
  }

  /** Writes nested values in separate methods, so that each level takes little stack. */
  private void write(Shape shape) throws BadRowException {
    switch (shape.kind) {
      case RECORD -> writeRecord(shape, false);
      case ARRAY, MAP -> writeElements(shape);
      case UNION -> writeBranch(shape);
      default -> writeLeaf(shape);
    }
  }

  private void writeLeaf(Shape shape) throws BadRowException {
    switch (shape.kind) {
      case NULL -> {
        row.countEmpty();
        out.put(NULL);
      }
      case BOOLEAN -> out.put(row.readBoolean() ? TRUE : FALSE);
      case INT -> out.putNumber(row.readInt());
      case LONG -> putInteger(row.readLong());
      case FLOAT -> {
        float number = row.readFloat();
        putDigits(NumberOutput.toString(number, true), !Float.isFinite(number));
      }
      case DOUBLE -> {
        double number = row.readDouble();
        putDigits(NumberOutput.toString(number, true), !Double.isFinite(number));
      }
      case STRING -> {
        int length = row.readLength();
        out.putText(row.bytes(), row.take(length), length);
      }
      case BYTES -> {
        int length = row.readLength();
        out.putBase64String(row.bytes(), row.take(length), length);
      }
      case FIXED -> out.putBase64String(row.bytes(), row.takeFixed(shape), shape.size);
      case ENUM -> out.put(shape.names[row.readIndex(shape.names.length, "symbols")]);
      case DATE -> putText(IsoText.date(row.readInt(), text, 1));
      case TIME -> writeTime(shape.digits);
      case TIMESTAMP -> {
        int end = IsoText.timestamp(row.readLong(), shape.digits, text, 1);
        text[end] = 'Z';
        putText(end + 1);
      }
      case LOCAL_TIMESTAMP -> putText(IsoText.timestamp(row.readLong(), shape.digits, text, 1));
      case DECIMAL -> {
        int length = row.readDecimalLength(shape);
        putDecimal(row.take(length), length, shape.scale);
      }
      case FIXED_DECIMAL -> putDecimal(row.take(shape.size), shape.size, shape.scale);
      case BIG_DECIMAL -> writeBigDecimal();
      case UUID -> writeUuid(row.take(shape.size));
      case DURATION -> writeDuration(row.take(shape.size));
      case RECORD, ARRAY, MAP, UNION -> throw new AssertionError(shape.kind);
    }
  }

  /** Writes a record; of a whole row, only the wanted columns. */
  private void writeRecord(Shape shape, boolean isRow) throws BadRowException {
    row.enter();
    int written = 0;
    out.put('{');
    for (int i = 0; i < shape.parts.length; i++) {
      if (isRow && !form.wants(i)) {
        row.skip(shape.parts[i]);
      } else {
        putName(shape.names[i], written++);
        write(shape.parts[i]);
      }
    }
    if (shape.parts.length == 0) {
      row.countEmpty();
    }
    out.put('}');
    row.leave();
  }

  private void writeElements(Shape shape) throws BadRowException {
    boolean map = shape.kind == Shape.Kind.MAP;
    row.enter();
    out.put(map ? '{' : '[');
    boolean first = true;
    for (long left = row.readBlock(); left > 0; left = row.readBlock()) {
      for (; left > 0; left--) {
        if (!first) {
          out.put(',');
        }
        first = false;
        if (map) {
          writeKey();
        }
        write(shape.parts[0]);
      }
    }
    out.put(map ? '}' : ']');
    row.leave();
  }

  private void writeKey() throws BadRowException {
    int length = row.readLength();
    if (!out.putString(row.bytes(), row.take(length), length)) {
      throw new BadRowException("the key of a map is not UTF-8");
    }
    out.put(':');
  }

  private void writeBranch(Shape union) throws BadRowException {
    Shape branch = row.readBranch(union);
    if (branch.kind == Shape.Kind.NULL) {
      out.put(NULL);
    } else {
      write(branch);
    }
  }

  private void putInteger(long number) {
    if (form.safeIntegers() && (number > SAFE || number < -SAFE)) {
      out.put('"');
      out.putNumber(number);
      out.put('"');
    } else {
      out.putNumber(number);
    }
  }

  /** Writes the text that starts at index 1 of the array, in quotes. */
  private void putText(int end) {
    text[0] = '"';
    text[end] = '"';
    out.put(text, 0, end + 1);
  }

  private void writeTime(int digits) throws BadRowException {
    long number = row.readTime(digits);
    int units = IsoText.units(digits);
    long second = number / units;
    putText(IsoText.time((int) second, (int) (number - second * units), digits, text, 1));
  }

  /** Writes a decimal from its unscaled number in two's complement, highest byte first. */
  private void putDecimal(int at, int length, int scale) {
    byte[] bytes = row.bytes();
    if (length > Long.BYTES || scale > PLAIN_SCALE) {
      putDecimal(new BigDecimal(new BigInteger(bytes, at, length), scale));
      return;
    }
    long unscaled = bytes[at];
    for (int i = 1; i < length; i++) {
      unscaled = unscaled << 8 | bytes[at + i] & 0xFF;
    }
    if (scale == 0) {
      putInteger(unscaled);
    } else if (scale > 18 || unscaled == Long.MIN_VALUE) {
      putDecimal(BigDecimal.valueOf(unscaled, scale));
    } else {
      putScaled(unscaled, scale);
    }
  }

  /** Writes a number with 1 to 18 fraction digits. */
  private void putScaled(long unscaled, int scale) {
    boolean quoted = form.safeIntegers() && (unscaled > SAFE || unscaled < -SAFE);
    if (quoted) {
      out.put('"');
    }
    if (unscaled < 0) {
      out.put('-');
    }
    long unit = 1;
    for (int i = 0; i < scale; i++) {
      unit *= 10;
    }
    long positive = Math.abs(unscaled);
    long whole = positive / unit;
    long left = positive - whole * unit;
    out.putNumber(whole);
    text[0] = '.';
    for (int i = scale; i > 0; i--) {
      text[i] = (byte) ('0' + left % 10);
      left /= 10;
    }
    out.put(text, 0, scale + 1);
    if (quoted) {
      out.put('"');
    }
  }

  private void putDecimal(BigDecimal number) {
    boolean quoted =
        form.safeIntegers() && number.unscaledValue().abs().compareTo(BigInteger.valueOf(SAFE)) > 0;
    boolean plain = number.scale() <= PLAIN_SCALE && number.scale() >= -PLAIN_SCALE;
    putDigits(plain ? number.toPlainString() : number.toString(), quoted);
  }

  /**
   * Writes the digits of a number. Those of a floating-point number are the shortest that identify
   * it, which are the same on every Java version.
   */
  private void putDigits(String digits, boolean quoted) {
    if (quoted) {
      out.put('"');
    }
    out.put(digits.getBytes(ISO_8859_1));
    if (quoted) {
      out.put('"');
    }
  }

  /**
   * Writes an Avro decimal that carries its own scale: bytes that contain the unscaled number, as
   * bytes, and the scale.
   */
  private void writeBigDecimal() throws BadRowException {
    int length = row.readLength();
    if (length > BIG_DECIMAL) {
      throw new BadRowException("a decimal has " + length + " bytes");
    }
    int start = row.take(length);
    RowCursor parts = new RowCursor();
    parts.begin(row.bytes(), start, length);
    int digits = parts.readLength();
    int at = parts.take(digits);
    int scale = parts.readInt();
    parts.finish();
    if (digits == 0) {
      throw new BadRowException("a decimal has no bytes");
    }
    putDecimal(new BigDecimal(new BigInteger(row.bytes(), at, digits), scale));
  }

  private void writeUuid(int at) {
    byte[] bytes = row.bytes();
    int to = 1;
    for (int i = 0; i < 16; i++) {
      if (i == 4 || i == 6 || i == 8 || i == 10) {
        text[to++] = '-';
      }
      text[to++] = (byte) HEX.toHighHexDigit(bytes[at + i]);
      text[to++] = (byte) HEX.toLowHexDigit(bytes[at + i]);
    }
    putText(to);
  }

  /** Writes months, days and milliseconds, each unsigned, lowest byte first. */
  private void writeDuration(int at) {
    long months = row.unsignedAt(at);
    long days = row.unsignedAt(at + 4);
    long millis = row.unsignedAt(at + 8);
    out.put('"');
    out.put('P');
    putUnit(months, 'M');
    putUnit(days, 'D');
    if (millis != 0 || (months == 0 && days == 0)) {
      out.put('T');
      out.putNumber(millis / 1000);
      out.put(text, 0, IsoText.fraction((int) (millis % 1000), 3, text, 0));
      out.put('S');
    }
    out.put('"');
  }

  private void putUnit(long count, char unit) {
    if (count != 0) {
      out.putNumber(count);
      out.put(unit);
    }
  }
}
