package tech.bsdb.tools.avro;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.table.TableFile.BadValueException;

/** Reads a value as {@link tech.bsdb.tools.table.TableFile.Rows} describes it. */
@FunctionalInterface
interface AvroValue {
  Pattern UUID_TEXT = Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

  /** The maximum number of items without bytes in a block of a list or a file. */
  int MAX_EMPTY = 1 << 16;

  /** Reads the value, null included. */
  @Nullable Object read(In in) throws IOException;

  /** What values are read from. */
  final class In {
    final BinaryDecoder decoder;

    /** The first problem of the current column. */
    @Nullable BadValueException problem;

    In(BinaryDecoder decoder) {
      this.decoder = decoder;
    }

    void note(String reason, String detail) {
      problem = problem == null ? new BadValueException(reason, detail) : problem;
    }
  }

  /** Creates the reader of a column's values. */
  static AvroValue of(Schema schema, RowType type) {
    if (schema.getType() != Schema.Type.UNION) {
      return present(schema, type);
    }
    List<Schema> branches = schema.getTypes();
    List<AvroValue> readers = branches.stream().map(branch -> present(branch, type)).toList();
    return in -> branch(readers, in.decoder).read(in);
  }

  /** Reads which branch of a union follows. */
  private static <T> T branch(List<T> branches, BinaryDecoder in) throws IOException {
    int index = in.readIndex();
    if (index < 0 || index >= branches.size()) {
      throw new IOException("a union has no branch " + index);
    }
    return branches.get(index);
  }

  private static AvroValue present(Schema schema, RowType type) {
    return switch (schema.getType()) {
      case NULL -> in -> null;
      case BOOLEAN -> in -> in.decoder.readBoolean();
      case INT ->
          type.equals(Scalar.time(Kind.TIME, 3))
              ? in -> (long) in.decoder.readInt()
              : in -> in.decoder.readInt();
      case LONG -> in -> in.decoder.readLong();
      case FLOAT -> in -> in.decoder.readFloat();
      case DOUBLE -> in -> in.decoder.readDouble();
      case STRING ->
          type.equals(Scalar.of(Kind.UUID))
              ? AvroValue::readUuid
              : in -> in.decoder.readBytes(null);
      case BYTES ->
          type instanceof Scalar decimal && decimal.kind() == Kind.DECIMAL
              ? in -> decimal(bytes(in), decimal, in)
              : in -> in.decoder.readBytes(null);
      case FIXED -> ofFixed(schema.getFixedSize(), (Scalar) type);
      case ENUM -> ofEnum(schema);
      case ARRAY -> {
        Schema element = schema.getElementType();
        yield type instanceof Pairs pairs
            ? ofArray(element, ofPair(element, pairs))
            : ofArray(element, of(element, ((ListOf) type).element().type()));
      }
      case MAP -> ofMap(of(schema.getValueType(), ((MapOf) type).value().type()));
      case RECORD -> ofRecord(schema, (Struct) type);
      case UNION -> throw new IllegalStateException("a union in a union");
    };
  }

  /**
   * Returns a number of items.
   *
   * @throws IOException if they have no bytes, so that the file's length does not bound it, and are
   *     many
   */
  static long checked(long count, Schema item) throws IOException {
    if (count > MAX_EMPTY && isEmpty(item)) {
      throw new IOException(
          "%s items that take no bytes follow, more than %s".formatted(count, MAX_EMPTY));
    }
    return count;
  }

  private static boolean isEmpty(Schema schema) {
    return switch (schema.getType()) {
      case NULL -> true;
      case FIXED -> schema.getFixedSize() == 0;
      case RECORD -> schema.getFields().stream().allMatch(field -> isEmpty(field.schema()));
      default -> false;
    };
  }

  /** Moves behind a value, whose type need not be one that can be read. */
  static void skip(Schema schema, BinaryDecoder in) throws IOException {
    switch (schema.getType()) {
      case RECORD -> {
        for (Schema.Field field : schema.getFields()) {
          skip(field.schema(), in);
        }
      }
      case UNION -> skip(branch(schema.getTypes(), in), in);
      case ARRAY -> {
        for (long count = in.skipArray(); count > 0; count = in.skipArray()) {
          for (long i = checked(count, schema.getElementType()); i > 0; i--) {
            skip(schema.getElementType(), in);
          }
        }
      }
      case MAP -> {
        for (long count = in.skipMap(); count > 0; count = in.skipMap()) {
          for (long i = count; i > 0; i--) {
            in.skipString();
            skip(schema.getValueType(), in);
          }
        }
      }
      default -> GenericDatumReader.skip(schema, in);
    }
  }

  private static byte[] bytes(In in) throws IOException {
    ByteBuffer buffer = in.decoder.readBytes(null);
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static @Nullable Object readUuid(In in) throws IOException {
    String text = new String(bytes(in), US_ASCII);
    if (!UUID_TEXT.matcher(text).matches()) {
      in.note("text that is not a UUID", "");
      return null;
    }
    return UUID.fromString(text);
  }

  private static @Nullable Object decimal(byte[] unscaled, Scalar type, In in) {
    if (unscaled.length == 0) {
      in.note("a decimal that cannot be one", "0 bytes");
      return null;
    }
    return new BigDecimal(new BigInteger(unscaled), type.second());
  }

  private static AvroValue ofFixed(int size, Scalar type) {
    return in -> {
      byte[] bytes = new byte[size];
      in.decoder.readFixed(bytes);
      return switch (type.kind()) {
        case DECIMAL -> decimal(bytes, type, in);
        case UUID -> {
          ByteBuffer buffer = ByteBuffer.wrap(bytes);
          yield new UUID(buffer.getLong(), buffer.getLong());
        }
        default -> bytes;
      };
    };
  }

  private static AvroValue ofEnum(Schema schema) {
    byte[][] symbols =
        schema.getEnumSymbols().stream()
            .map(symbol -> symbol.getBytes(UTF_8))
            .toArray(byte[][]::new);
    return in -> {
      int symbol = in.decoder.readEnum();
      if (symbol < 0 || symbol >= symbols.length) {
        throw new IOException("the enum " + schema.getFullName() + " has no symbol " + symbol);
      }
      return symbols[symbol];
    };
  }

  private static AvroValue ofArray(Schema type, AvroValue element) {
    return in -> {
      List<@Nullable Object> elements = new ArrayList<>();
      for (long count = in.decoder.readArrayStart(); count > 0; count = in.decoder.arrayNext()) {
        for (long i = checked(count, type); i > 0; i--) {
          elements.add(element.read(in));
        }
      }
      return elements;
    };
  }

  private static AvroValue ofPair(Schema entry, Pairs type) {
    AvroValue key = of(entry.getFields().get(0).schema(), type.key().type());
    AvroValue value = of(entry.getFields().get(1).schema(), type.value().type());
    return in -> new SimpleImmutableEntry<>(key.read(in), value.read(in));
  }

  private static AvroValue ofMap(AvroValue value) {
    return in -> {
      List<Map.Entry<Object, @Nullable Object>> entries = new ArrayList<>();
      for (long count = in.decoder.readMapStart(); count > 0; count = in.decoder.mapNext()) {
        for (long i = 0; i < count; i++) {
          ByteBuffer key = in.decoder.readBytes(null);
          entries.add(new SimpleImmutableEntry<>(key, value.read(in)));
        }
      }
      return entries;
    };
  }

  private static AvroValue ofRecord(Schema schema, Struct type) {
    AvroValue[] fields = new AvroValue[type.fields().size()];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = of(schema.getFields().get(i).schema(), type.fields().get(i).type());
    }
    return in -> {
      @Nullable Object[] values = new @Nullable Object[fields.length];
      for (int i = 0; i < fields.length; i++) {
        values[i] = fields[i].read(in);
      }
      return values;
    };
  }
}
