package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.util.internal.Accessor;
import org.jspecify.annotations.Nullable;

/**
 * Checks that rows will hold exactly the default of a field: Avro itself replaces characters that
 * are not bytes, pads fixed values, and rounds to infinity.
 */
final class DefaultValue {
  private DefaultValue() {}

  /**
   * Checks the default of a field, if it has one.
   *
   * @throws IllegalArgumentException if its type has no such value
   */
  static void check(Schema.Field field) {
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
