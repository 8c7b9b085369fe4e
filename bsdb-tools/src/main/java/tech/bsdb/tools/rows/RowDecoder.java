package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * Decodes rows into objects of a program, whose types are {@link RowSchema#types}. Not thread-safe.
 *
 * <p>Any bytes that are not a row of the schema cause a {@link BadRowException}. Columns that are
 * not wanted are skipped, but must still be well-formed.
 */
public final class RowDecoder {
  private final RowForm form;
  private final RowObjects objects;
  private final RowCursor row = new RowCursor();
  private final RowJson json;
  private final JsonBuffer text = new JsonBuffer();
  private final int wanted;

  /**
   * Creates a decoder.
   *
   * @param form tells which columns are wanted
   */
  public RowDecoder(RowForm form, RowObjects objects) {
    this.form = form;
    this.objects = objects;
    this.json = new RowJson(form, row);
    this.wanted = (int) IntStream.range(0, form.shape().parts.length).filter(form::wants).count();
  }

  /**
   * Decodes a row.
   *
   * @param bytes contains the row in {@code from} to {@code from + length - 1}
   * @return the wanted columns, in schema order
   * @throws BadRowException if the bytes are not a row of the schema
   */
  public @Nullable Object[] decode(byte[] bytes, int from, int length) throws BadRowException {
    row.begin(bytes, from, length);
    try {
      Shape[] parts = form.shape().parts;
      @Nullable Object[] columns = new @Nullable Object[wanted];
      int column = 0;
      row.enter();
      for (int i = 0; i < parts.length; i++) {
        if (form.wants(i)) {
          columns[column++] = read(parts[i]);
        } else {
          row.skip(parts[i]);
        }
      }
      row.leave();
      row.finish();
      return columns;
    } finally {
      row.release();
    }
  }

  private @Nullable Object read(Shape shape) throws BadRowException {
    return switch (shape.kind) {
      case RECORD -> readStruct(shape);
      case ARRAY -> shape.entries ? readMap(shape) : readList(shape.parts[0]);
      case MAP -> readMap(shape);
      case UNION -> readBranch(shape);
      default -> readLeaf(shape);
    };
  }

  private Object readStruct(Shape shape) throws BadRowException {
    row.enter();
    @Nullable Object[] fields = new @Nullable Object[shape.parts.length];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = read(shape.parts[i]);
    }
    if (fields.length == 0) {
      row.countEmpty();
    }
    row.leave();
    return objects.struct(fields);
  }

  private Object readList(Shape element) throws BadRowException {
    row.enter();
    List<@Nullable Object> elements = new ArrayList<>();
    for (long left = row.readBlock(); left > 0; left = row.readBlock()) {
      for (; left > 0; left--) {
        elements.add(read(element));
      }
    }
    row.leave();
    return objects.list(elements.toArray());
  }

  /** Reads a map, or a list that holds its entries. */
  private Object readMap(Shape shape) throws BadRowException {
    row.enter();
    List<@Nullable Object> keys = new ArrayList<>();
    List<@Nullable Object> values = new ArrayList<>();
    for (long left = row.readBlock(); left > 0; left = row.readBlock()) {
      for (; left > 0; left--) {
        if (shape.kind == Shape.Kind.MAP) {
          keys.add(readString());
          values.add(read(shape.parts[0]));
        } else {
          Shape entry = shape.parts[0];
          row.enter();
          keys.add(read(entry.parts[0]));
          values.add(read(entry.parts[1]));
          row.leave();
        }
      }
    }
    row.leave();
    return objects.map(keys.toArray(), values.toArray());
  }

  private Object readString() throws BadRowException {
    int length = row.readLength();
    return objects.text(row.bytes(), row.take(length), length);
  }

  private @Nullable Object readBranch(Shape union) throws BadRowException {
    int number = row.readIndex(union.parts.length, "branches of a union");
    if (union.parts[number].kind == Shape.Kind.NULL) {
      return null;
    }
    Object value = read(union.parts[number]);
    int member = 0;
    int members = 0;
    for (int i = 0; i < union.parts.length; i++) {
      if (union.parts[i].kind != Shape.Kind.NULL) {
        member = i == number ? members : member;
        members++;
      }
    }
    if (members == 1) {
      return value;
    }
    @Nullable Object[] fields = new @Nullable Object[members];
    fields[member] = value;
    return objects.struct(fields);
  }

  private @Nullable Object readLeaf(Shape shape) throws BadRowException {
    return switch (shape.kind) {
      case NULL -> {
        row.countEmpty();
        yield null;
      }
      case BOOLEAN -> row.readBoolean();
      case INT -> row.readInt();
      case LONG -> row.readLong();
      case FLOAT -> row.readFloat();
      case DOUBLE -> row.readDouble();
      case STRING -> readString();
      case BYTES -> {
        int length = row.readLength();
        yield objects.bytes(row.bytes(), row.take(length), length);
      }
      case FIXED -> objects.bytes(row.bytes(), row.takeFixed(shape), shape.size);
      case DATE -> objects.date(row.readInt());
      case TIME -> objects.time(row.readTime(shape.digits), shape.digits);
      case TIMESTAMP, LOCAL_TIMESTAMP -> objects.timestamp(row.readLong(), shape.digits);
      case DECIMAL -> {
        int length = row.readDecimalLength(shape);
        yield decimal(row.take(length), length, shape);
      }
      case FIXED_DECIMAL -> decimal(row.take(shape.size), shape.size, shape);
      case ENUM, BIG_DECIMAL, UUID, DURATION -> readText(shape);
      case RECORD, ARRAY, MAP, UNION -> throw new AssertionError(shape.kind);
    };
  }

  private Object decimal(int at, int length, Shape shape) throws BadRowException {
    BigInteger unscaled = new BigInteger(row.bytes(), at, length);
    return objects.decimal(new BigDecimal(unscaled, shape.scale), shape.precision);
  }

  /** Reads a value that has only its JSON form: that without quotes. */
  private Object readText(Shape shape) throws BadRowException {
    text.reset();
    json.write(shape, text);
    String form = new String(text.bytes(), 0, text.length(), UTF_8);
    String plain = form.startsWith("\"") ? form.substring(1, form.length() - 1) : form;
    byte[] bytes = plain.getBytes(UTF_8);
    return objects.text(bytes, 0, bytes.length);
  }
}
