package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.NoRoomException;

/** The columns of rows as bytes, which tests show as ISO 8859-1 where they are not all text. */
@ExtendWith(SeedInFailure.class)
class RowFieldsTest {
  private static final long SEED = SeedInFailure.SEED;
  private static final JsonFactory JSON = new JsonFactory();

  private static final RowSchema SCHEMA =
      AvroRows.schema(
          """
          {"name":"id","type":"long"},
          {"name":"note","type":["null","string"]},
          {"name":"at","type":{"type":"int","logicalType":"date"}},
          {"name":"none","type":"null"},
          {"name":"tags","type":{"type":"array","items":"string"}}""");

  private static byte[] row(long id, @Nullable String note, String... tags) {
    GenericData.Record row = new GenericData.Record(SCHEMA.avro());
    row.put("id", id);
    row.put("note", note);
    row.put("at", 19_753);
    row.put("tags", List.of(tags));
    return AvroRows.encode(SCHEMA.avro(), row);
  }

  private static @Nullable String text(RowFields fields, int column) {
    return fields.isNull(column)
        ? null
        : new String(
            fields.buffer(column), fields.offset(column), fields.length(column), ISO_8859_1);
  }

  /** The field of a row of one column. */
  private static @Nullable String shown(String type, Object value) throws BadRowException {
    RowSchema schema = AvroRows.schemaOf(type);
    byte[] row = AvroRows.row(schema, value);
    RowFields fields = new RowFields(schema);
    fields.readAll(row, 0, row.length);
    return text(fields, 0);
  }

  private static GenericData.Fixed fixed(String schema, String bytes) {
    return new GenericData.Fixed(new Schema.Parser().parse(schema), bytes.getBytes(ISO_8859_1));
  }

  private static String latin(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  @Test
  void simpleTypesAreTheirTextOrBytes() throws Exception {
    assertThat(shown("\"boolean\"", true)).isEqualTo("true");
    assertThat(shown("\"boolean\"", false)).isEqualTo("false");
    assertThat(shown("\"int\"", Integer.MIN_VALUE)).isEqualTo("-2147483648");
    assertThat(shown("\"long\"", Long.MIN_VALUE)).isEqualTo("-9223372036854775808");
    assertThat(shown("\"long\"", Long.MAX_VALUE)).isEqualTo("9223372036854775807");
    for (String string : List.of("", "\"", "\"a\"", "a\"\\\n\u0001é😀")) {
      assertThat(shown("\"string\"", string)).isEqualTo(latin(string));
    }
    byte[] noText = {'a', (byte) 0xff};
    assertThat(shown("\"string\"", new org.apache.avro.util.Utf8(noText))).isEqualTo("a\u00ff");
    assertThat(shown("\"bytes\"", ByteBuffer.allocate(0))).isEmpty();
    assertThat(shown("\"bytes\"", ByteBuffer.wrap(noText))).isEqualTo("a\u00ff");
    String fixed = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":3}";
    assertThat(shown(fixed, fixed(fixed, "\"\0\""))).isEqualTo("\"\0\"");
    String empty = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":0}";
    assertThat(shown(empty, fixed(empty, ""))).isEmpty();
    String symbols = "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B_2\"]}";
    Schema schema = new Schema.Parser().parse(symbols);
    assertThat(shown(symbols, new GenericData.EnumSymbol(schema, "B_2"))).isEqualTo("B_2");
    String uuid = "{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}";
    assertThat(shown(uuid, fixed(uuid, "0123456789abcdef")))
        .isEqualTo("30313233-3435-3637-3839-616263646566");
    String span = "{\"type\":\"fixed\",\"name\":\"D\",\"size\":12,\"logicalType\":\"duration\"}";
    assertThat(shown(span, fixed(span, "\1\0\0\0\2\0\0\0\u00bc\u000b\0\0")))
        .isEqualTo("P1M2DT3.004S");
  }

  @ParameterizedTest
  @CsvSource({
    "0.1, 0.1",
    "3, 3.0",
    "-0.0, -0.0",
    "1e23, 1.0E23",
    "NaN, nan",
    "Infinity, inf",
    "-Infinity, -inf"
  })
  void numbersThatAreNotFiniteHaveWordsOfTheirOwn(double number, String expected) throws Exception {
    assertThat(shown("\"double\"", number)).isEqualTo(expected);
    assertThat(shown("\"float\"", (float) number)).isEqualTo(expected);
    assertThat(shown("[\"double\",\"null\"]", number)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "int, date, 19753, 2024-01-31",
    "int, time-millis, 45296789, 12:34:56.789",
    "long, time-micros, 1, 00:00:00.000001",
    "long, time-nanos, 45296000000001, 12:34:56.000000001",
    "long, timestamp-millis, 1706704496789, 2024-01-31T12:34:56.789Z",
    "long, timestamp-micros, -1, 1969-12-31T23:59:59.999999Z",
    "long, timestamp-nanos, 1706704496789000001, 2024-01-31T12:34:56.789000001Z",
    "long, local-timestamp-millis, 0, 1970-01-01T00:00:00",
    "long, local-timestamp-micros, 1706704496789001, 2024-01-31T12:34:56.789001",
    "long, local-timestamp-nanos, 1, 1970-01-01T00:00:00.000000001",
  })
  void datesAndTimesAreIsoWithoutQuotes(String type, String logical, long number, String expected)
      throws Exception {
    Object value = type.equals("int") ? (Object) (int) number : (Object) number;
    assertThat(shown("{\"type\":\"" + type + "\",\"logicalType\":\"" + logical + "\"}", value))
        .isEqualTo(expected);
  }

  @Test
  void decimalsAreDigits() throws Exception {
    for (String number :
        List.of("0.00", "-1.06", "92233720368547758.08", "-12345678901234567890.12")) {
      BigDecimal decimal = new BigDecimal(number);
      byte[] unscaled = decimal.unscaledValue().toByteArray();
      String type = "\"logicalType\":\"decimal\",\"precision\":38,\"scale\":2}";
      assertThat(shown("{\"type\":\"bytes\"," + type, ByteBuffer.wrap(unscaled))).isEqualTo(number);
      String fixed = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":16," + type;
      GenericData.Fixed padded =
          (GenericData.Fixed)
              new Conversions.DecimalConversion()
                  .toFixed(decimal, new Schema.Parser().parse(fixed), LogicalTypes.decimal(38, 2));
      assertThat(shown(fixed, padded)).isEqualTo(number);
      String own = "{\"type\":\"bytes\",\"logicalType\":\"big-decimal\"}";
      ByteBuffer scaled =
          new Conversions.BigDecimalConversion()
              .toBytes(decimal, new Schema.Parser().parse(own), LogicalTypes.bigDecimal());
      assertThat(shown(own, scaled)).isEqualTo(number);
    }
  }

  @Test
  void valuesWithPartsAreJson() throws Exception {
    assertThat(shown("{\"type\":\"array\",\"items\":\"double\"}", List.of(1.5, Double.NaN)))
        .isEqualTo("[1.5,\"NaN\"]");
    assertThat(
            shown("{\"type\":\"map\",\"values\":\"bytes\"}", Map.of("k", ByteBuffer.allocate(1))))
        .isEqualTo("{\"k\":\"AA==\"}");
    assertThat(shown("{\"type\":\"array\",\"items\":\"long\"}", List.of(Long.MAX_VALUE)))
        .isEqualTo("[9223372036854775807]");
    String record =
        "{\"type\":\"record\",\"name\":\"P\",\"fields\":["
            + "{\"name\":\"x\",\"type\":[\"null\",\"string\"]}]}";
    GenericData.Record part = new GenericData.Record(new Schema.Parser().parse(record));
    assertThat(shown(record, part)).isEqualTo("{\"x\":null}");
    part.put(0, "é\"");
    assertThat(shown(record, part)).isEqualTo(latin("{\"x\":\"é\\\"\"}"));
  }

  @Test
  void aUnionIsTheValueOfItsBranchAndNullIsAbsent() throws Exception {
    String type = "[\"int\",\"string\",\"null\",{\"type\":\"array\",\"items\":\"string\"}]";
    assertThat(shown(type, 5)).isEqualTo("5");
    assertThat(shown(type, "\"s\"")).isEqualTo("\"s\"");
    assertThat(shown(type, List.of("s"))).isEqualTo("[\"s\"]");
    RowSchema schema = AvroRows.schemaOf(type);
    RowFields fields = new RowFields(schema);
    fields.readAll(new byte[] {4}, 0, 1);
    assertThat(fields.isNull(0)).isTrue();
    assertThat(fields.present()).isZero();
  }

  @Test
  void aColumnIsFoundByTheBytesOfItsName() {
    RowSchema schema =
        AvroRows.schema(
            """
            {"name":"AaAa","type":"int"},{"name":"BBBB","type":"int"},{"name":"AaBB","type":"int"},
            {"name":"_","type":"int","column":"größe \\"x\\""},
            {"name":"empty","type":"int","column":""},
            {"name":"twin","type":"int","column":"AaAa"}""");
    RowFields fields = new RowFields(schema);
    assertThat(fields.names().stream().map(name -> new String(name, UTF_8)))
        .containsExactly("AaAa", "BBBB", "AaBB", "größe \"x\"", "", "AaAa");
    for (int i = 0; i < 5; i++) {
      assertThat(fields.find(fields.names().get(i))).isEqualTo(i);
    }
    assertThat(fields.find(fields.names().get(5))).as("the first of two").isZero();
    byte[] within = "xBBBBx".getBytes(UTF_8);
    assertThat(fields.find(within, 1, 4)).isEqualTo(1);
    assertThat(fields.find(within, 1, 0)).isEqualTo(4);
    assertThat(fields.find(within, 1, 3)).isEqualTo(-1);
    for (String absent : List.of("BBAa", "aaaa", "AaA", "AaAaa", "_", "x".repeat(100_000))) {
      assertThat(fields.find(absent.getBytes(UTF_8))).as(absent).isEqualTo(-1);
    }
    assertThat(fields.find(new byte[] {(byte) 0xff, 0, (byte) 0x80})).isEqualTo(-1);
  }

  @Test
  void everyOneOfManyColumnsIsFoundAndNoOther() {
    List<String> columns = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      columns.add("{\"name\":\"c" + i + "\",\"type\":\"int\"}");
    }
    RowFields fields = new RowFields(AvroRows.schema(String.join(",", columns)));
    for (int i = 0; i < 6000; i++) {
      assertThat(fields.find(("c" + i).getBytes(UTF_8))).isEqualTo(i < 3000 ? i : -1);
    }
    RowFields none = new RowFields(AvroRows.schema(""));
    assertThat(none.names()).isEmpty();
    assertThat(none.find(new byte[0])).isEqualTo(-1);
    assertThat(none.find(new byte[] {'x'})).isEqualTo(-1);
  }

  @Test
  void onlyColumnsThatAreWantedHaveBytes() throws Exception {
    byte[] bytes = row(-7, "nöte", "a", "b");
    byte[] row = Arrays.copyOf(bytes, bytes.length + 2);
    RowFields fields = new RowFields(SCHEMA);
    BitSet wanted = new BitSet();
    wanted.set(4);
    wanted.set(0);
    wanted.set(1000);
    fields.read(row, 0, bytes.length, wanted);
    assertThat(text(fields, 4)).isEqualTo("[\"a\",\"b\"]");
    assertThat(text(fields, 0)).isEqualTo("-7");
    assertThat(text(fields, 4)).as("once more").isEqualTo("[\"a\",\"b\"]");
    assertThat(fields.present()).isEqualTo(4);
    assertThat(fields.isNull(1)).isFalse();
    assertThat(fields.isNull(3)).isTrue();
    assertThatIllegalStateException()
        .isThrownBy(() -> fields.length(1))
        .withMessage("column 1 was not wanted");
    assertThatIllegalStateException()
        .isThrownBy(() -> fields.buffer(3))
        .withMessage("column 3 is null");

    fields.read(row, 0, bytes.length, new BitSet());
    assertThat(fields.present()).isEqualTo(4);
    assertThat(fields.isNull(0)).isFalse();
    assertThatIllegalStateException().isThrownBy(() -> fields.offset(0));

    fields.readAll(row, 0, bytes.length);
    assertThat(text(fields, 1)).isEqualTo(latin("nöte"));
    assertThat(fields.length(1)).isEqualTo(5);
    assertThat(fields.buffer(1)).as("not copied").isSameAs(row);
    assertThat(text(fields, 2)).isEqualTo("2024-01-31");
  }

  @Test
  void noRowLeavesAnythingToTheNext() throws Exception {
    byte[] full = row(1, "note", "tag");
    byte[] sparse = row(2, null);
    RowFields fields = new RowFields(SCHEMA);
    assertThatIllegalStateException()
        .isThrownBy(() -> fields.isNull(0))
        .withMessage("no row is read");
    for (int i = 0; i < 3; i++) {
      fields.readAll(full, 0, full.length);
      assertThat(fields.present()).isEqualTo(4);
      fields.readAll(sparse, 0, sparse.length);
      assertThat(fields.present()).isEqualTo(3);
      assertThat(text(fields, 0)).isEqualTo("2");
      assertThat(text(fields, 1)).isNull();
      assertThat(text(fields, 4)).isEqualTo("[]");
      assertThatExceptionOfType(BadRowException.class)
          .isThrownBy(() -> fields.readAll(full, 0, full.length - 1));
      assertThatIllegalStateException().isThrownBy(() -> fields.isNull(0));
      assertThatIllegalStateException().isThrownBy(fields::present);
      assertThatExceptionOfType(BadRowException.class)
          .isThrownBy(() -> fields.read(new byte[99], 0, 99, new BitSet()))
          .withMessageContaining("bytes follow");
    }
    fields.readAll(full, 0, full.length);
    fields.reset();
    assertThatIllegalStateException().isThrownBy(() -> fields.length(0));
  }

  @Test
  void textThatTheBudgetRefusesLeavesNoRow() throws Exception {
    String large = "x".repeat(1 << 16);
    byte[] row = row(1, large, large);
    byte[] inPlace = row(1, large);
    RowFields fields = new RowFields(SCHEMA);
    List<Long> asked = new ArrayList<>();
    fields.use(
        bytes -> {
          asked.add(bytes);
          return false;
        });
    assertThatExceptionOfType(NoRoomException.class)
        .isThrownBy(() -> fields.readAll(row, 0, row.length));
    assertThat(asked).hasSize(1);
    assertThatIllegalStateException().isThrownBy(() -> fields.isNull(0));
    fields.readAll(inPlace, 0, inPlace.length);
    assertThat(fields.length(1)).as("a string takes no memory").isEqualTo(large.length());
    assertThat(asked).hasSize(1);
    fields.use(null);
    fields.readAll(row, 0, row.length);
    assertThat(text(fields, 4)).isEqualTo("[\"" + large + "\"]");
    assertThat(text(fields, 0)).as("an array that has grown is the buffer of all").isEqualTo("1");
  }

  @Test
  void nothingIsAllocatedOnceTheArraysHaveGrown() throws Exception {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    byte[] row = row(123_456, "a note", "tag", "x".repeat(20_000));
    byte[] name = "tags".getBytes(UTF_8);
    RowFields fields = new RowFields(SCHEMA);
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 10; i++) {
      long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
      for (int j = 0; j < 100; j++) {
        fields.readAll(row, 0, row.length);
        assertEquals(4, fields.find(name));
      }
      long after = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
      least = Math.min(least, after - before);
    }
    assertThat(least).as("bytes by 100 rows").isLessThan(1000);
  }

  /** The columns of a row that are wanted, from its JSON as Jackson reads it; nulls are null. */
  private static Map<String, @Nullable String> parsed(RowSchema schema, JsonBuffer json)
      throws IOException {
    Map<String, @Nullable String> columns = new LinkedHashMap<>();
    try (JsonParser parser = JSON.createParser(json.bytes(), 0, json.length())) {
      assertThat(parser.nextToken()).isEqualTo(JsonToken.START_OBJECT);
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String column = parser.currentName();
        JsonToken token = parser.nextToken();
        if (token.isStructStart()) {
          int start = (int) parser.currentTokenLocation().getByteOffset();
          parser.skipChildren();
          int end = (int) parser.currentLocation().getByteOffset();
          columns.put(column, new String(json.bytes(), start, end - start, ISO_8859_1));
        } else if (token == JsonToken.VALUE_NULL) {
          columns.put(column, null);
        } else if (isBinary(schema.avro().getField(column).schema())) {
          columns.put(column, new String(Base64.getDecoder().decode(parser.getText()), ISO_8859_1));
        } else {
          columns.put(column, latin(parser.getText()));
        }
      }
    }
    return columns;
  }

  private static boolean isBinary(Schema type) {
    return switch (type.getType()) {
      case UNION -> type.getTypes().stream().anyMatch(RowFieldsTest::isBinary);
      case BYTES, FIXED -> type.getLogicalType() == null;
      default -> false;
    };
  }

  private static BitSet some(RowSchema schema, Random random, List<String> names) {
    BitSet wanted = new BitSet();
    List<String> columns = schema.columns();
    for (int i = 0; i < columns.size(); i++) {
      if (random.nextBoolean()) {
        wanted.set(i);
        names.add(columns.get(i));
      }
    }
    return wanted;
  }

  @Test
  void columnsOfRandomRowsAreThoseOfTheirJson() throws Exception {
    Random random = new Random(SEED);
    JsonBuffer json = new JsonBuffer();
    for (int round = 0; round < 100; round++) {
      RandomRows rows = new RandomRows(random);
      RowSchema schema = rows.schema();
      RowFields fields = new RowFields(schema);
      RowJson writer = new RowJson(RowForm.of(schema));
      for (int i = 0; i < 10; i++) {
        byte[] bytes = AvroRows.encode(schema.avro(), rows.record(rows.next()), i % 2 == 0);
        byte[] row = new byte[bytes.length + 5];
        random.nextBytes(row);
        System.arraycopy(bytes, 0, row, 3, bytes.length);
        json.reset();
        writer.write(row, 3, bytes.length, json);
        Map<String, @Nullable String> expected = parsed(schema, json);
        List<String> names = new ArrayList<>();
        fields.read(row, 3, bytes.length, some(schema, random, names));
        int present = 0;
        for (Map.Entry<String, @Nullable String> column : expected.entrySet()) {
          int number = fields.find(column.getKey().getBytes(UTF_8));
          String value = column.getValue();
          present += value == null ? 0 : 1;
          assertThat(fields.isNull(number)).isEqualTo(value == null);
          if (names.contains(column.getKey())) {
            assertThat(text(fields, number)).isEqualTo(value);
          } else {
            assertThatIllegalStateException().isThrownBy(() -> fields.length(number));
          }
        }
        assertThat(fields.present()).isEqualTo(present);
      }
    }
  }

  /** Why bytes are no row, or empty. */
  private static String fault(RowFields fields, byte[] bytes, int length, BitSet wanted) {
    try {
      fields.read(bytes, 0, length, wanted);
      return "";
    } catch (BadRowException e) {
      return e.getMessage();
    }
  }

  private static String fault(RowJson json, byte[] bytes, int length) {
    try {
      json.write(bytes, 0, length, new JsonBuffer());
      return "";
    } catch (BadRowException e) {
      return e.getMessage();
    }
  }

  @Test
  void bytesAreNoRowWhereTheyHaveNoJsonEither() throws Exception {
    Random random = new Random(SEED);
    for (int round = 0; round < 200; round++) {
      RandomRows rows = new RandomRows(random);
      RowSchema schema = rows.schema();
      byte[] whole = AvroRows.encode(schema.avro(), rows.record(rows.next()), round % 2 == 0);
      List<String> names = new ArrayList<>();
      BitSet wanted = some(schema, random, names);
      RowFields fields = new RowFields(schema);
      RowJson json = new RowJson(RowForm.of(schema).withColumns(names));
      for (int length = 0; length < Math.min(whole.length, 100); length++) {
        assertThat(fault(fields, whole, length, wanted))
            .isNotEmpty()
            .isEqualTo(fault(json, whole, length));
      }
      byte[] damaged = Arrays.copyOf(whole, whole.length + random.nextInt(3));
      for (int i = 0; i < 50 && damaged.length > 0; i++) {
        int at = random.nextInt(damaged.length);
        byte before = damaged[at];
        damaged[at] = (byte) random.nextInt();
        assertThat(fault(fields, damaged, damaged.length, wanted))
            .isEqualTo(fault(json, damaged, damaged.length));
        damaged[at] = before;
      }
      fields.readAll(whole, 0, whole.length);
      assertThat(fields.present()).isLessThanOrEqualTo(schema.columns().size());
    }
  }
}
