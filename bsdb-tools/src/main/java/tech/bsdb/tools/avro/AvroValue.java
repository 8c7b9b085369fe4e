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
    AvroValue[] readers = new AvroValue[branches.size()];
    for (int i = 0; i < readers.length; i++) {
      Schema branch = branches.get(i);
      readers[i] = branch.getType() == Schema.Type.NULL ? in -> null : present(branch, type);
    }
    return in -> {
      int branch = in.decoder.readIndex();
      if (branch < 0 || branch >= readers.length) {
        throw new IOException("a union has no branch " + branch);
      }
      return readers[branch].read(in);
    };
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
      case ARRAY ->
          type instanceof Pairs pairs
              ? ofPairs(schema.getElementType(), pairs)
              : ofArray(of(schema.getElementType(), ((ListOf) type).element().type()));
      case MAP -> ofMap(of(schema.getValueType(), ((MapOf) type).value().type()));
      case RECORD -> ofRecord(schema, (Struct) type);
      case UNION -> throw new IllegalStateException("a union in a union");
    };
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

  private static AvroValue ofArray(AvroValue element) {
    return in -> {
      List<@Nullable Object> elements = new ArrayList<>();
      for (long count = in.decoder.readArrayStart(); count > 0; count = in.decoder.arrayNext()) {
        for (long i = 0; i < count; i++) {
          elements.add(element.read(in));
        }
      }
      return elements;
    };
  }

  private static AvroValue ofPairs(Schema entry, Pairs type) {
    AvroValue key = of(entry.getFields().get(0).schema(), type.key().type());
    AvroValue value = of(entry.getFields().get(1).schema(), type.value().type());
    return ofArray(in -> new SimpleImmutableEntry<>(key.read(in), value.read(in)));
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
