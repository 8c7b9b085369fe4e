package tech.bsdb.tools.rows;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.util.Utf8;
import org.jspecify.annotations.Nullable;

/** Random schemas, rows of them as Avro has them, and their JSON by the JDK's own means. */
final class RandomTexts {
  private static final String[] SCALARS = {
    "'boolean'",
    "'int'",
    "'long'",
    "'float'",
    "'double'",
    "'string'",
    "'bytes'",
    "{'type':'int','logicalType':'date'}",
    "{'type':'int','logicalType':'time-millis'}",
    "{'type':'long','logicalType':'time-micros'}",
    "{'type':'long','logicalType':'timestamp-millis'}",
    "{'type':'long','logicalType':'timestamp-micros'}",
    "{'type':'long','logicalType':'timestamp-nanos'}",
    "{'type':'long','logicalType':'local-timestamp-micros'}",
    "{'type':'bytes','logicalType':'decimal','precision':30,'scale':7}",
  };

  private final Random random;
  private int names;

  RandomTexts(Random random) {
    this.random = random;
  }

  String schema() {
    return record(0).replace('\'', '"');
  }

  /** A type of single values. */
  String scalar() {
    if (random.nextInt(8) == 0) {
      return "{'type':'fixed','name':'F" + names++ + "','size':" + random.nextInt(5) + "}";
    }
    return random.nextInt(8) == 0
        ? "{'type':'enum','name':'E" + names++ + "','symbols':['A','B','C']}"
        : SCALARS[random.nextInt(SCALARS.length)];
  }

  private String record(int depth) {
    StringBuilder fields = new StringBuilder();
    int count = (depth == 0 ? 1 : 0) + random.nextInt(5);
    String name = "R" + names++;
    for (int i = 0; i < count; i++) {
      fields.append(i == 0 ? "" : ",").append("{'name':'f").append(i).append("','type':");
      String type = type(depth + 1);
      fields.append(random.nextBoolean() ? type : nullable(type)).append('}');
    }
    return "{'type':'record','name':'" + name + "','fields':[" + fields + "]}";
  }

  private String nullable(String type) {
    return random.nextBoolean() ? "['null'," + type + "]" : "[" + type + ",'null']";
  }

  private String type(int depth) {
    return switch (depth > 3 ? 9 : random.nextInt(10)) {
      case 0 -> "{'type':'array','items':" + type(depth + 1) + "}";
      case 1 -> "{'type':'map','values':" + nullable(type(depth + 1)) + "}";
      case 2 -> record(depth);
      default -> scalar();
    };
  }

  GenericRecord row(Schema schema) {
    return (GenericRecord) java.util.Objects.requireNonNull(value(schema));
  }

  @Nullable Object value(Schema schema) {
    return switch (schema.getType()) {
      case NULL -> null;
      case BOOLEAN -> random.nextBoolean();
      case INT ->
          schema.getLogicalType() instanceof LogicalTypes.TimeMillis
              ? (Object) random.nextInt(86_400_000)
              : (Object) (random.nextInt() >> random.nextInt(32));
      case LONG ->
          schema.getLogicalType() instanceof LogicalTypes.TimeMicros
              ? (Object) (long) (random.nextDouble() * 86_400_000_000L)
              : (Object) (random.nextLong() >> random.nextInt(64));
      case FLOAT -> {
        float value = Float.intBitsToFloat(random.nextInt());
        yield Float.isNaN(value) ? Float.NaN : value; // of all NaNs the one that has a text
      }
      case DOUBLE ->
          random.nextInt(4) == 0 ? (Object) (double) random.nextInt(100) : (Object) odd();
      case STRING -> new Utf8(text());
      case BYTES ->
          schema.getLogicalType() == null
              ? ByteBuffer.wrap(bytes(random.nextInt(20)))
              : ByteBuffer.wrap(new BigInteger(bytes(1 + random.nextInt(12))).toByteArray());
      case FIXED -> new GenericData.Fixed(schema, bytes(schema.getFixedSize()));
      case ENUM ->
          new GenericData.EnumSymbol(
              schema, schema.getEnumSymbols().get(random.nextInt(schema.getEnumSymbols().size())));
      case UNION -> value(schema.getTypes().get(random.nextInt(schema.getTypes().size())));
      case ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        for (int i = random.nextInt(4) * random.nextInt(4); i > 0; i--) {
          list.add(value(schema.getElementType()));
        }
        yield new GenericData.Array<@Nullable Object>(schema, list);
      }
      case MAP -> {
        Map<Utf8, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = random.nextInt(4) * random.nextInt(4); i > 0; i--) {
          map.put(new Utf8(text()), value(schema.getValueType()));
        }
        yield map;
      }
      case RECORD -> {
        GenericData.Record record = new GenericData.Record(schema);
        schema.getFields().forEach(field -> record.put(field.pos(), value(field.schema())));
        yield record;
      }
    };
  }

  private double odd() {
    double value = Double.longBitsToDouble(random.nextLong());
    return random.nextInt(9) == 0
        ? Double.NEGATIVE_INFINITY
        : Double.isNaN(value) ? Double.NaN : value;
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      int bits = 1 + random.nextInt(20);
      int character = random.nextInt(1 << bits);
      text.appendCodePoint(character >= 0xD800 && character < 0xE000 ? 'x' : character);
    }
    return text.toString();
  }

  /** The JSON of a value: blanks here and there, fields in any order, nulls left out or not. */
  String json(Schema schema, @Nullable Object value) {
    if (schema.getType() == Schema.Type.UNION) {
      int branch = GenericData.get().resolveUnion(schema, value);
      return json(schema.getTypes().get(branch), value);
    }
    if (value instanceof GenericRecord record) {
      List<String> fields = new ArrayList<>();
      for (Schema.Field field : schema.getFields()) {
        if (record.get(field.pos()) != null || random.nextBoolean()) {
          fields.add("\"" + field.name() + "\":" + json(field.schema(), record.get(field.pos())));
        }
      }
      if (random.nextBoolean()) {
        Collections.shuffle(fields, random);
      }
      return "{" + String.join(random.nextBoolean() ? "," : " , ", fields) + "}";
    }
    if (value instanceof List<?> list) {
      return "["
          + String.join(
              ",", list.stream().map(part -> json(schema.getElementType(), part)).toList())
          + "]";
    }
    if (value instanceof Map<?, ?> map) {
      List<String> entries = new ArrayList<>();
      map.forEach(
          (key, part) ->
              entries.add(quoted(key.toString()) + ": " + json(schema.getValueType(), part)));
      return "{" + String.join(",", entries) + "}";
    }
    String text = scalarText(schema, value);
    boolean bare =
        switch (schema.getType()) {
          case BOOLEAN, NULL -> true;
          case INT, LONG -> schema.getLogicalType() == null;
          case FLOAT, DOUBLE -> !text.contains("N") && !text.contains("y");
          case BYTES -> schema.getLogicalType() != null;
          default -> false;
        };
    return bare ? text : quoted(text);
  }

  /** The text of a single value, without quotes. */
  static String scalarText(Schema schema, @Nullable Object value) {
    LogicalType logical = schema.getLogicalType();
    if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return logical instanceof LogicalTypes.Decimal decimal
          ? new BigDecimal(new BigInteger(bytes), decimal.getScale()).toPlainString()
          : Base64.getEncoder().encodeToString(bytes);
    }
    if (value instanceof GenericData.Fixed fixed) {
      return Base64.getEncoder().encodeToString(fixed.bytes());
    }
    if (logical == null) {
      return String.valueOf(value);
    }
    long number = ((Number) java.util.Objects.requireNonNull(value)).longValue();
    return switch (logical.getName()) {
      case "date" -> LocalDate.ofEpochDay(number).toString();
      case "time-millis" -> LocalTime.ofNanoOfDay(number * 1_000_000).toString();
      case "time-micros" -> LocalTime.ofNanoOfDay(number * 1_000).toString();
      case "timestamp-millis" -> timestamp(number, 1_000) + "Z";
      case "timestamp-micros" -> timestamp(number, 1_000_000) + "Z";
      case "timestamp-nanos" -> timestamp(number, 1_000_000_000) + "Z";
      case "local-timestamp-micros" -> timestamp(number, 1_000_000);
      default -> throw new IllegalArgumentException(logical.getName());
    };
  }

  private static String timestamp(long units, int perSecond) {
    int nanos = Math.floorMod(units, perSecond) * (1_000_000_000 / perSecond);
    return LocalDateTime.ofEpochSecond(Math.floorDiv(units, perSecond), nanos, ZoneOffset.UTC)
        .toString();
  }

  private static String quoted(String text) {
    return "\""
        + new String(
            com.fasterxml.jackson.core.io.JsonStringEncoder.getInstance().quoteAsString(text))
        + "\"";
  }
}
