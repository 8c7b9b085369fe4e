package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.util.internal.Accessor;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a field that is absent from a row's text. Rows hold exactly the default of the
 * field: Avro itself replaces characters that are not bytes, pads fixed values, and rounds to
 * infinity, so such defaults are rejected.
 */
final class AbsentField {
  private AbsentField() {}

  /**
   * Returns the bytes of the field's default, else those of null if the field is nullable, else
   * null.
   *
   * @throws IllegalArgumentException if the default is not a value of the field's type
   */
  static byte @Nullable [] of(Schema.Field field) {
    check(field);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder out = EncoderFactory.get().directBinaryEncoder(bytes, null);
    try {
      if (field.hasDefaultValue()) {
        Object value = GenericData.get().getDefaultValue(field);
        new GenericDatumWriter<Object>(field.schema()).write(value, out);
      } else if (field.schema().getType() == Schema.Type.UNION) {
        int nullBranch = nullBranch(field.schema());
        if (nullBranch < 0) {
          return null;
        }
        out.writeIndex(nullBranch);
      } else if (field.schema().getType() != Schema.Type.NULL) {
        return null;
      }
      out.flush();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    } catch (AvroRuntimeException | UnsupportedOperationException e) {
      throw new IllegalArgumentException(
          "the default of field \"" + field.name() + "\" cannot be written: " + e.getMessage(), e);
    }
    return bytes.toByteArray();
  }

  /** Returns the index of a union's null branch, or -1. */
  static int nullBranch(Schema union) {
    for (int i = 0; i < union.getTypes().size(); i++) {
      if (union.getTypes().get(i).getType() == Schema.Type.NULL) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Checks the default of a field, if it has one.
   *
   * @throws IllegalArgumentException if its type has no such value
   */
  private static void check(Schema.Field field) {
    JsonNode value = Accessor.defaultValue(field);
    String fault = value == null ? null : fault(field.schema(), value);
    if (fault != null) {
      throw new IllegalArgumentException(
          "the default of field \"" + field.name() + "\" " + fault + ": " + value);
    }
  }

  /** Returns why it is not a value of the type, or null if it is. */
  private static @Nullable String fault(Schema type, JsonNode value) {
    return switch (type.getType()) {
      case STRING -> UTF_8.newEncoder().canEncode(value.asText()) ? null : "has a lone surrogate";
      case BYTES -> ofBytes(value.asText());
      case FIXED ->
          value.asText().length() == type.getFixedSize()
              ? ofBytes(value.asText())
              : "does not have the " + type.getFixedSize() + " bytes of its type";
      case ENUM ->
          type.hasEnumSymbol(value.asText()) ? null : "is not one of " + type.getEnumSymbols();
      case FLOAT ->
          value.isNumber() && Float.isInfinite((float) value.asDouble())
              ? "is beyond a float"
              : null;
      case DOUBLE ->
          value.isNumber() && Double.isInfinite(value.asDouble()) ? "is beyond a double" : null;
      case ARRAY -> ofItems(type.getElementType(), value);
      case MAP -> ofItems(type.getValueType(), value);
      case RECORD -> ofFields(type, value);
      case UNION -> ofBranches(type, value);
      default -> null;
    };
  }

  private static @Nullable String ofBytes(String text) {
    return text.chars().allMatch(c -> c <= 0xFF)
        ? null
        : "has characters beyond \\u00FF, which are not bytes";
  }

  private static @Nullable String ofItems(Schema type, JsonNode items) {
    for (JsonNode item : items) {
      String fault = fault(type, item);
      if (fault != null) {
        return fault;
      }
    }
    return null;
  }

  private static @Nullable String ofFields(Schema record, JsonNode value) {
    for (Map.Entry<String, JsonNode> member : value.properties()) {
      Schema.Field field = record.getField(member.getKey());
      String fault = field == null ? null : fault(field.schema(), member.getValue());
      if (fault != null) {
        return fault;
      }
    }
    return null;
  }

  /** Returns null if the value fits any branch. */
  private static @Nullable String ofBranches(Schema union, JsonNode value) {
    String first = null;
    for (Schema branch : union.getTypes()) {
      String fault = fault(branch, value);
      if (fault == null) {
        return null;
      }
      first = first == null ? fault : first;
    }
    return first;
  }
}
