package tech.bsdb.tools.rows;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.jspecify.annotations.Nullable;

/** Random schemas of rows, and random rows of them with the JSON that they have to be. */
final class RandomRows {
  /** A value as Avro takes it, and its JSON by java.time and BigDecimal. */
  record Sample(@Nullable Object datum, String json) {}

  /** A type, and values of it. */
  private record Type(Schema schema, Supplier<Sample> values) {}

  private static final Sample NULL = new Sample(null, "null");

  private final Random random;
  private final List<Type> columns = new ArrayList<>();
  private final RowSchema schema;
  private int names;

  RandomRows(Random random) {
    this.random = random;
    List<Schema.Field> fields = new ArrayList<>();
    for (int i = 0; i < 1 + random.nextInt(8); i++) {
      Type type = type(3);
      columns.add(type);
      fields.add(new Schema.Field("c" + i, type.schema));
    }
    schema = RowSchema.of(Schema.createRecord("Row", null, null, false, fields));
  }

  RowSchema schema() {
    return schema;
  }

  /** A row, as a record and with the JSON of each column. */
  Map<String, Sample> next() {
    Map<String, Sample> row = new LinkedHashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      row.put("c" + i, columns.get(i).values.get());
    }
    return row;
  }

  GenericData.Record record(Map<String, Sample> row) {
    GenericData.Record record = new GenericData.Record(schema.avro());
    row.forEach((name, sample) -> record.put(name, sample.datum));
    return record;
  }

  static String json(Map<String, Sample> row, Iterable<String> names) {
    List<String> fields = new ArrayList<>();
    names.forEach(name -> fields.add("\"" + name + "\":" + row.get(name).json));
    return "{" + String.join(",", fields) + "}";
  }

  private Type type(int depth) {
    return random.nextInt(3) == 0 || depth == 0 ? optional(leaf()) : nested(depth);
  }

  private Type optional(Type type) {
    boolean nullable = type.schema.isNullable(); // null itself, and unions with it
    if (nullable || random.nextBoolean()) {
      return type;
    }
    Schema nothing = Schema.create(Schema.Type.NULL);
    return new Type(
        random.nextBoolean()
            ? Schema.createUnion(nothing, type.schema)
            : Schema.createUnion(type.schema, nothing),
        () -> random.nextInt(3) == 0 ? NULL : type.values.get());
  }

  private Type nested(int depth) {
    switch (random.nextInt(4)) {
      case 0 -> {
        Type element = type(depth - 1);
        return new Type(Schema.createArray(element.schema), () -> list(element));
      }
      case 1 -> {
        Type value = type(depth - 1);
        return new Type(Schema.createMap(value.schema), () -> map(value));
      }
      case 2 -> {
        List<Type> types = new ArrayList<>();
        List<Schema.Field> fields = new ArrayList<>();
        for (int i = 0; i < random.nextInt(4); i++) {
          types.add(type(depth - 1));
          fields.add(new Schema.Field("f" + i, types.get(i).schema));
        }
        Schema record = Schema.createRecord("R" + names++, null, null, false, fields);
        return new Type(record, () -> record(record, types));
      }
      default -> {
        return optional(leaf());
      }
    }
  }

  private Sample list(Type element) {
    List<Object> datums = new ArrayList<>();
    List<String> json = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      Sample sample = element.values.get();
      datums.add(sample.datum);
      json.add(sample.json);
    }
    return new Sample(datums, "[" + String.join(",", json) + "]");
  }

  private Sample map(Type value) {
    Map<String, Object> datums = new LinkedHashMap<>();
    List<String> json = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      Sample sample = value.values.get();
      datums.put("é" + i, sample.datum);
      json.add("\"é" + i + "\":" + sample.json);
    }
    return new Sample(datums, "{" + String.join(",", json) + "}");
  }

  private static Sample record(Schema schema, List<Type> types) {
    GenericData.Record record = new GenericData.Record(schema);
    List<String> json = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      Sample sample = types.get(i).values.get();
      record.put(i, sample.datum);
      json.add("\"f" + i + "\":" + sample.json);
    }
    return new Sample(record, "{" + String.join(",", json) + "}");
  }

  private long anyLong() {
    return random.nextLong() >> random.nextInt(64);
  }

  private Type leaf() {
    SchemaBuilder.TypeBuilder<Schema> builder = SchemaBuilder.builder();
    return switch (random.nextInt(19)) {
      case 0 -> new Type(builder.nullType(), () -> NULL);
      case 1 -> new Type(builder.booleanType(), () -> plain(random.nextBoolean()));
      case 2 -> new Type(builder.intType(), () -> plain((int) anyLong()));
      case 3 -> new Type(builder.longType(), () -> plain(anyLong()));
      case 4 -> new Type(builder.floatType(), () -> plain(random.nextInt(1 << 20) / 16f));
      case 5 -> new Type(builder.doubleType(), () -> plain(random.nextInt() / 64.0));
      case 6 ->
          new Type(
              builder.stringType(),
              () -> {
                String text = "é\u4e2d".repeat(random.nextInt(3)) + random.nextInt();
                return new Sample(text, quoted(text));
              });
      case 7 ->
          new Type(
              builder.bytesType(),
              () -> {
                byte[] bytes = bytes(random.nextInt(20));
                return new Sample(ByteBuffer.wrap(bytes), base64(bytes));
              });
      case 8 -> {
        Schema fixed = Schema.createFixed("F" + names++, null, null, random.nextInt(20));
        yield new Type(
            fixed,
            () -> {
              byte[] bytes = bytes(fixed.getFixedSize());
              return new Sample(new GenericData.Fixed(fixed, bytes), base64(bytes));
            });
      }
      case 9 -> {
        Schema symbols = Schema.createEnum("E" + names++, null, null, List.of("A", "B", "C"));
        yield new Type(
            symbols,
            () -> {
              String symbol = symbols.getEnumSymbols().get(random.nextInt(3));
              return new Sample(new GenericData.EnumSymbol(symbols, symbol), quoted(symbol));
            });
      }
      case 10 -> {
        int scale = random.nextInt(30);
        yield new Type(
            LogicalTypes.decimal(38, scale).addToSchema(builder.bytesType()),
            () -> {
              BigInteger number = new BigInteger(random.nextInt(120), random);
              BigInteger signed = random.nextBoolean() ? number : number.negate();
              return new Sample(
                  ByteBuffer.wrap(signed.toByteArray()),
                  new BigDecimal(signed, scale).toPlainString());
            });
      }
      case 11 ->
          new Type(
              LogicalTypes.date().addToSchema(builder.intType()),
              () -> {
                int day = (int) anyLong();
                return new Sample(day, quoted(LocalDate.ofEpochDay(day).toString()));
              });
      case 12 ->
          new Type(
              LogicalTypes.timeMillis().addToSchema(builder.intType()),
              () -> {
                int millis = random.nextInt(86_400_000);
                return new Sample(millis, time(millis * 1_000_000L));
              });
      case 13 ->
          new Type(
              LogicalTypes.timeMicros().addToSchema(builder.longType()),
              () -> {
                long micros = random.nextInt(86_400) * 1_000_000L + random.nextInt(1_000_000);
                return new Sample(micros, time(micros * 1000));
              });
      case 14 ->
          new Type(
              LogicalTypes.timestampMicros().addToSchema(builder.longType()),
              () -> {
                long micros = anyLong();
                return new Sample(micros, quoted(iso(micros, 1_000_000)));
              });
      case 15 ->
          new Type(
              LogicalTypes.localTimestampNanos().addToSchema(builder.longType()),
              () -> {
                long nanos = anyLong();
                return new Sample(nanos, quoted(iso(nanos, 1_000_000_000).replace("Z", "")));
              });
      case 16 -> {
        Schema uuid =
            LogicalTypes.uuid().addToSchema(Schema.createFixed("U" + names++, null, null, 16));
        yield new Type(
            uuid,
            () -> {
              UUID id = new UUID(random.nextLong(), random.nextLong());
              ByteBuffer bytes = ByteBuffer.allocate(16);
              bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
              return new Sample(new GenericData.Fixed(uuid, bytes.array()), quoted(id.toString()));
            });
      }
      case 17 ->
          new Type(
              builder.unionOf().stringType().and().nullType().and().longType().endUnion(),
              () ->
                  switch (random.nextInt(3)) {
                    case 0 -> NULL;
                    case 1 -> plain(anyLong());
                    default -> new Sample("text", "\"text\"");
                  });
      default ->
          new Type(
              LogicalTypes.timestampMillis().addToSchema(builder.longType()),
              () -> {
                long millis = LocalDateTime.of(2024, 1, 1, 0, 0).toEpochSecond(ZoneOffset.UTC);
                long number = millis * 1000 + random.nextInt();
                return new Sample(number, quoted(iso(number, 1000)));
              });
    };
  }

  private static Sample plain(Object value) {
    return new Sample(value, value.toString());
  }

  private static String quoted(String text) {
    return '"' + text + '"';
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  private static String base64(byte[] bytes) {
    return quoted(Base64.getEncoder().encodeToString(bytes));
  }

  /** As java.time writes it, but never without the seconds. */
  private static String time(long nanos) {
    String text = LocalTime.ofNanoOfDay(nanos).toString();
    return quoted(text.length() == 5 ? text + ":00" : text);
  }

  private static String iso(long number, int units) {
    return DateTimeFormatter.ISO_INSTANT.format(
        Instant.ofEpochSecond(
            Math.floorDiv(number, units), Math.floorMod(number, units) * (1_000_000_000L / units)));
  }
}
