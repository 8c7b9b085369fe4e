package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.text.JsonBuffer;

@ExtendWith(SeedInFailure.class)
class RowJsonTest {
  private static final long SEED = SeedInFailure.SEED;

  /** The JSON of a value of a type, in a row of one column. */
  private static String shown(String type, Object value) throws BadRowException {
    return shown(type, value, false);
  }

  private static String shown(String type, Object value, boolean safe) throws BadRowException {
    RowSchema schema = AvroRows.schemaOf(type);
    String json =
        AvroRows.json(RowForm.of(schema).withSafeIntegers(safe), AvroRows.row(schema, value));
    assertThat(json).startsWith("{\"v\":").endsWith("}");
    return json.substring(5, json.length() - 1);
  }

  private static String logical(String type, String logical) {
    return "{\"type\":\"" + type + "\",\"logicalType\":\"" + logical + "\"}";
  }

  private static ByteBuffer bytes(int... bytes) {
    ByteBuffer buffer = ByteBuffer.allocate(bytes.length);
    for (int b : bytes) {
      buffer.put((byte) b);
    }
    return buffer.flip();
  }

  @Test
  void simpleTypesAreWhatTheyAreInJson() throws Exception {
    assertThat(shown("\"null\"", null)).isEqualTo("null");
    assertThat(shown("\"boolean\"", true)).isEqualTo("true");
    assertThat(shown("\"boolean\"", false)).isEqualTo("false");
    for (int number :
        new int[] {0, 1, -1, 63, 64, -64, -65, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      assertThat(shown("\"int\"", number)).isEqualTo(String.valueOf(number));
    }
    for (int bits = 0; bits < 64; bits++) {
      for (long number : new long[] {1L << bits, (1L << bits) - 1, -(1L << bits), ~(1L << bits)}) {
        assertThat(shown("\"long\"", number)).isEqualTo(String.valueOf(number));
      }
    }
    for (long power = 1; power <= 1_000_000_000_000_000_000L / 10; power *= 10) {
      assertThat(shown("\"long\"", power - 1)).isEqualTo(String.valueOf(power - 1));
      assertThat(shown("\"long\"", -power)).isEqualTo(String.valueOf(-power));
    }
    assertThat(shown("\"string\"", "a\"\n\u0001é😀")).isEqualTo("\"a\\\"\\n\\u0001é😀\"");
    assertThat(shown("\"string\"", "")).isEqualTo("\"\"");
    assertThat(shown("\"bytes\"", bytes())).isEqualTo("\"\"");
    assertThat(shown("\"bytes\"", bytes(0, 0xff))).isEqualTo("\"AP8=\"");
    String fixed = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":3}";
    assertThat(shown(fixed, fixed(fixed, 0xfb, 0xff, 'a'))).isEqualTo("\"+/9h\"");
    String symbols = "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B_2\"]}";
    Schema schema = new Schema.Parser().parse(symbols);
    assertThat(shown(symbols, new GenericData.EnumSymbol(schema, "B_2"))).isEqualTo("\"B_2\"");
  }

  private static GenericData.Fixed fixed(String schema, int... bytes) {
    return new GenericData.Fixed(new Schema.Parser().parse(schema), bytes(bytes).array());
  }

  @Test
  void aStringThatIsNoTextComesAsBase64() throws Exception {
    assertThat(shown("\"string\"", new org.apache.avro.util.Utf8(new byte[] {'a', (byte) 0xff})))
        .isEqualTo("{\"base64\":\"Yf8=\"}");
  }

  @Test
  void floatsAreTheShortestNumberThatIsThem() throws Exception {
    assertThat(shown("\"float\"", 0.1f)).isEqualTo("0.1");
    assertThat(shown("\"float\"", 3f)).isEqualTo("3.0");
    assertThat(shown("\"float\"", Float.NaN)).isEqualTo("\"NaN\"");
    assertThat(shown("\"float\"", Float.NEGATIVE_INFINITY)).isEqualTo("\"-Infinity\"");
    assertThat(shown("\"double\"", 0.1)).isEqualTo("0.1");
    assertThat(shown("\"double\"", -0.0)).isEqualTo("-0.0");
    assertThat(shown("\"double\"", 2.0e-3)).isEqualTo("0.002");
    assertThat(shown("\"double\"", Double.parseDouble("1e23"))).isEqualTo("1.0E23");
    assertThat(shown("\"double\"", Double.MIN_VALUE)).isEqualTo("4.9E-324");
    assertThat(shown("\"double\"", Double.NaN)).isEqualTo("\"NaN\"");
    assertThat(shown("\"double\"", Double.POSITIVE_INFINITY)).isEqualTo("\"Infinity\"");
    Random random = new Random(SEED);
    for (int i = 0; i < 500; i++) {
      double number = Double.longBitsToDouble(random.nextLong());
      if (Double.isFinite(number)) {
        String text = shown("\"double\"", number);
        assertThat(Double.parseDouble(text)).as("-Dbsdb.seed=%s", SEED).isEqualTo(number);
        assertThat(text.length()).isLessThanOrEqualTo(Double.toString(number).length());
      }
      float single = Float.intBitsToFloat(random.nextInt());
      if (Float.isFinite(single)) {
        assertThat(Float.parseFloat(shown("\"float\"", single))).isEqualTo(single);
      }
    }
  }

  @Test
  void decimalsHaveAllDigitsOfTheirScale() throws Exception {
    Random random = new Random(SEED);
    for (int scale : new int[] {0, 1, 2, 9, 17, 18, 19, 38}) {
      String type =
          "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":76,\"scale\":"
              + scale
              + "}";
      for (int bits = 0; bits < 250; bits += 11) {
        BigInteger unscaled = new BigInteger(bits, random);
        for (BigInteger signed :
            List.of(unscaled, unscaled.negate(), BigInteger.ONE.shiftLeft(bits).negate())) {
          assertThat(shown(type, ByteBuffer.wrap(signed.toByteArray())))
              .as("-Dbsdb.seed=%s", SEED)
              .isEqualTo(new BigDecimal(signed, scale).toPlainString());
        }
      }
    }
    String price = "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":5,\"scale\":2}";
    assertThat(shown(price, bytes(150))).isEqualTo("-1.06");
    assertThat(shown(price, bytes(0, 150))).isEqualTo("1.50");
    assertThat(shown(price, bytes(0))).isEqualTo("0.00");
    assertThat(shown(price, bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)))
        .isEqualTo("-0.01");
    String fixed =
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":16,\"logicalType\":\"decimal\","
            + "\"precision\":38,\"scale\":3}";
    GenericData.Fixed value =
        (GenericData.Fixed)
            new Conversions.DecimalConversion()
                .toFixed(
                    new BigDecimal("-12345678901234567890.123"),
                    new Schema.Parser().parse(fixed),
                    LogicalTypes.decimal(38, 3));
    assertThat(shown(fixed, value)).isEqualTo("-12345678901234567890.123");
  }

  @Test
  void decimalsWithAScaleOfTheirOwnComeAsTheyAre() throws Exception {
    String type = logical("bytes", "big-decimal");
    Schema schema = new Schema.Parser().parse(type);
    for (String number : new String[] {"0", "1.50", "-123456789012345678901234567890.5"}) {
      ByteBuffer bytes =
          new Conversions.BigDecimalConversion()
              .toBytes(new BigDecimal(number), schema, schema.getLogicalType());
      assertThat(shown(type, bytes)).isEqualTo(number);
    }
    ByteBuffer large =
        new Conversions.BigDecimalConversion()
            .toBytes(new BigDecimal("1E+5"), schema, schema.getLogicalType());
    assertThat(shown(type, large)).isEqualTo("100000");
    ByteBuffer huge =
        new Conversions.BigDecimalConversion()
            .toBytes(
                new BigDecimal(BigInteger.TEN, Integer.MIN_VALUE + 1),
                schema,
                schema.getLogicalType());
    assertThat(shown(type, huge)).isEqualTo("1.0E+2147483648");
  }

  @ParameterizedTest
  @CsvSource({
    "int, date, 19753, 2024-01-31",
    "int, date, -2147483648, -5877641-06-23",
    "int, date, 2147483647, +5881580-07-11",
    "int, date, 2932897, +10000-01-01",
    "int, time-millis, 45296000, 12:34:56",
    "int, time-millis, 45296789, 12:34:56.789",
    "long, time-micros, 86400000000, 24:00:00",
    "long, time-micros, 1, 00:00:00.000001",
    "long, time-nanos, 45296000000001, 12:34:56.000000001",
    "long, timestamp-millis, 1706704496789, 2024-01-31T12:34:56.789Z",
    "long, timestamp-millis, 1706704496000, 2024-01-31T12:34:56Z",
    "long, timestamp-millis, -9223372036854775808, -292275055-05-16T16:47:04.192Z",
    "long, timestamp-micros, -1, 1969-12-31T23:59:59.999999Z",
    "long, timestamp-micros, 9223372036854775807, +294247-01-10T04:00:54.775807Z",
    "long, timestamp-nanos, 1706704496789000001, 2024-01-31T12:34:56.789000001Z",
    "long, local-timestamp-millis, 1706704496789, 2024-01-31T12:34:56.789",
    "long, local-timestamp-micros, 1706704496789001, 2024-01-31T12:34:56.789001",
    "long, local-timestamp-nanos, 0, 1970-01-01T00:00:00",
  })
  void datesAndTimesAreIso(String type, String logical, long number, String expected)
      throws Exception {
    Object value = type.equals("int") ? (Object) (int) number : (Object) number;
    assertThat(shown(logical(type, logical), value)).isEqualTo('"' + expected + '"');
  }

  @Test
  void aLogicalTypeThatAvroDoesNotKnowIsItsType() throws Exception {
    assertThat(shown(logical("int", "colour"), 7)).isEqualTo("7");
    assertThat(shown(logical("long", "date"), 7L)).isEqualTo("7");
    assertThat(shown(logical("bytes", "decimal"), bytes(7))).isEqualTo("\"Bw==\"");
  }

  @Test
  void uuidsAreCanonical() throws Exception {
    String text = "\"00112233-4455-6677-8899-aabbccddeeff\"";
    String fixed = "{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}";
    int[] bytes = new int[16];
    Arrays.setAll(bytes, i -> i * 0x11);
    assertThat(shown(fixed, fixed(fixed, bytes))).isEqualTo(text);
    assertThat(shown(logical("string", "uuid"), "00112233-4455-6677-8899-aabbccddeeff"))
        .isEqualTo(text);
  }

  @Test
  void durationsAreMonthsDaysAndSeconds() throws Exception {
    String type = "{\"type\":\"fixed\",\"name\":\"D\",\"size\":12,\"logicalType\":\"duration\"}";
    assertThat(shown(type, fixed(type, 1, 0, 0, 0, 2, 0, 0, 0, 0xbc, 0x0b, 0, 0)))
        .isEqualTo("\"P1M2DT3.004S\"");
    assertThat(shown(type, fixed(type, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))).isEqualTo("\"PT0S\"");
    assertThat(shown(type, fixed(type, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0))).isEqualTo("\"P5D\"");
    int[] most = new int[12];
    Arrays.fill(most, 0xff);
    assertThat(shown(type, fixed(type, most)))
        .isEqualTo("\"P4294967295M4294967295DT4294967.295S\"");
  }

  @Test
  void listsAndMapsComeInBlocksOfAnyKind() throws Exception {
    RowSchema schema =
        AvroRows.schema(
            """
            {"name":"l","type":{"type":"array","items":"string"}},
            {"name":"m","type":{"type":"map","values":["null","int"]}}""");
    GenericData.Record row = new GenericData.Record(schema.avro());
    row.put("l", List.of());
    row.put("m", Map.of());
    assertThat(AvroRows.json(RowForm.of(schema), AvroRows.encode(schema.avro(), row)))
        .isEqualTo("{\"l\":[],\"m\":{}}");
    Map<String, Integer> map = new LinkedHashMap<>();
    StringBuilder list = new StringBuilder();
    StringBuilder object = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      map.put("k\"" + i, i % 3 == 0 ? null : i);
      list.append(i == 0 ? "" : ",").append("\"k\\\"").append(i).append('"');
      object.append(i == 0 ? "" : ",").append("\"k\\\"").append(i).append("\":");
      object.append(map.get("k\"" + i));
    }
    row.put(
        "l", List.copyOf(map.keySet()).stream().sorted((a, b) -> number(a) - number(b)).toList());
    row.put("m", map);
    String expected = "{\"l\":[" + list + "],\"m\":{" + object + "}}";
    for (boolean blocks : new boolean[] {false, true}) {
      byte[] bytes = AvroRows.encode(schema.avro(), row, blocks);
      assertThat(AvroRows.json(RowForm.of(schema), bytes)).isEqualTo(expected);
      assertThat(AvroRows.json(RowForm.of(schema).withColumns(List.of()), bytes)).isEqualTo("{}");
    }
  }

  private static int number(String key) {
    return Integer.parseInt(key.substring(2));
  }

  @Test
  void recordsHaveTheNamesOfTheirColumns() throws Exception {
    RowSchema schema =
        AvroRows.schema(
            """
            {"name":"a_b","type":"int","column":"a.b"},
            {"name":"r","type":{"type":"record","name":"R","fields":[
              {"name":"_","type":["null","string"],"column":"größe \\"x\\""},
              {"name":"none","type":{"type":"record","name":"N","fields":[]}}]}}""");
    GenericData.Record inner = new GenericData.Record(schema.avro().getField("r").schema());
    inner.put(1, new GenericData.Record(inner.getSchema().getField("none").schema()));
    byte[] row = AvroRows.row(schema, 1, inner);
    assertThat(AvroRows.json(RowForm.of(schema), row))
        .isEqualTo("{\"a.b\":1,\"r\":{\"größe \\\"x\\\"\":null,\"none\":{}}}");
    assertThat(AvroRows.json(RowForm.of(schema).withColumns(List.of("a.b")), row))
        .isEqualTo("{\"a.b\":1}");
  }

  @Test
  void aMapWithOtherKeysIsAListOfPairs() throws Exception {
    String type =
        """
        {"type":"array","items":{"type":"record","name":"P","fields":[
          {"name":"key","type":"int"},{"name":"value","type":"string"}]}}""";
    RowSchema schema = AvroRows.schemaOf(type);
    GenericData.Record pair =
        new GenericData.Record(schema.avro().getField("v").schema().getElementType());
    pair.put(0, 7);
    pair.put(1, "x");
    assertThat(shown(type, List.of(pair))).isEqualTo("[{\"key\":7,\"value\":\"x\"}]");
  }

  @Test
  void aUnionIsTheValueOfItsBranch() throws Exception {
    String type = "[\"int\",\"string\",\"null\",{\"type\":\"array\",\"items\":\"double\"}]";
    assertThat(shown(type, 5)).isEqualTo("5");
    assertThat(shown(type, "s")).isEqualTo("\"s\"");
    assertThat(shown(type, null)).isEqualTo("null");
    assertThat(shown(type, List.of(1.5))).isEqualTo("[1.5]");
  }

  @Test
  void recursiveRecordsEndWhereTheirBytesDo() throws Exception {
    RowSchema schema =
        RowSchema.parse(
            """
            {"type":"record","name":"Node","fields":[
              {"name":"n","type":"int"},{"name":"next","type":["null","Node"]}]}""");
    assertThat(AvroRows.json(RowForm.of(schema), chain(3)))
        .isEqualTo("{\"n\":1,\"next\":{\"n\":1,\"next\":{\"n\":1,\"next\":null}}}");
    assertThat(AvroRows.json(RowForm.of(schema), chain(RowCursor.MAX_DEPTH)))
        .hasSize(14 * RowCursor.MAX_DEPTH + 4 + RowCursor.MAX_DEPTH);
    for (List<String> columns : List.of(List.of("n", "next"), List.<String>of())) {
      for (int depth : new int[] {RowCursor.MAX_DEPTH + 1, 1_000_000}) {
        assertThatExceptionOfType(BadRowException.class)
            .isThrownBy(() -> AvroRows.json(RowForm.of(schema).withColumns(columns), chain(depth)))
            .withMessage("it is nested more than 256 levels deep");
      }
    }
  }

  private static byte[] chain(int records) {
    byte[] row = new byte[2 * records];
    Arrays.fill(row, (byte) 2);
    row[row.length - 1] = 0;
    return row;
  }

  @Test
  void aRecordThatIsItsOwnFieldHasNoRows() {
    RowSchema schema =
        RowSchema.parse(
            """
            {"type":"record","name":"Loop","fields":[{"name":"a","type":"Loop"},
              {"name":"b","type":"Loop"}]}""");
    assertThatExceptionOfType(BadRowException.class)
        .isThrownBy(() -> AvroRows.json(RowForm.of(schema), new byte[0]))
        .withMessageContaining("levels deep");
  }

  @Test
  void integersThatADoubleCannotHoldAreStringsIfAsked() throws Exception {
    long safe = (1L << 53) - 1;
    assertThat(shown("\"long\"", safe, true)).isEqualTo("9007199254740991");
    assertThat(shown("\"long\"", -safe, true)).isEqualTo("-9007199254740991");
    assertThat(shown("\"long\"", safe + 1, true)).isEqualTo("\"9007199254740992\"");
    assertThat(shown("\"long\"", Long.MIN_VALUE, true)).isEqualTo("\"-9223372036854775808\"");
    assertThat(shown("\"int\"", Integer.MIN_VALUE, true)).isEqualTo("-2147483648");
    assertThat(shown("\"double\"", 1e300, true)).isEqualTo("1.0E300");
    for (int scale : new int[] {0, 2, 20}) {
      String type =
          "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":38,\"scale\":"
              + scale
              + "}";
      for (BigInteger unscaled :
          List.of(BigInteger.valueOf(safe), BigInteger.valueOf(-safe), BigInteger.ZERO)) {
        String plain = new BigDecimal(unscaled, scale).toPlainString();
        assertThat(shown(type, ByteBuffer.wrap(unscaled.toByteArray()), true)).isEqualTo(plain);
      }
      for (BigInteger unscaled :
          List.of(
              BigInteger.valueOf(safe + 1),
              BigInteger.valueOf(Long.MIN_VALUE),
              BigInteger.ONE.shiftLeft(70))) {
        String plain = new BigDecimal(unscaled, scale).toPlainString();
        assertThat(shown(type, ByteBuffer.wrap(unscaled.toByteArray()), true))
            .isEqualTo('"' + plain + '"');
      }
    }
  }

  @Test
  void columnsComeInTheOrderOfTheSchemaAndTheRestIsPassedOver() throws Exception {
    RowSchema schema =
        AvroRows.schema(
            """
            {"name":"a","type":"long"},
            {"name":"b","type":{"type":"map","values":{"type":"array","items":"int"}}},
            {"name":"c.d","type":"string"},
            {"name":"e","type":["null",{"type":"fixed","name":"F","size":2}]}"""
                .replace("\"name\":\"c.d\"", "\"name\":\"c_d\",\"column\":\"c.d\""));
    byte[] row = AvroRows.row(schema, 1L, Map.of("k", List.of(1, 2)), "text", null);
    RowForm all = RowForm.of(schema);
    assertThat(AvroRows.json(all, row))
        .isEqualTo("{\"a\":1,\"b\":{\"k\":[1,2]},\"c.d\":\"text\",\"e\":null}");
    assertThat(AvroRows.json(all.withColumns(List.of("c.d", "a", "a")), row))
        .isEqualTo("{\"a\":1,\"c.d\":\"text\"}");
    assertThat(AvroRows.json(all.withColumns(List.of("e")), row)).isEqualTo("{\"e\":null}");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> all.withColumns(List.of("a", "c")))
        .withMessage("no column \"c\"; the columns are a, b, c.d, e");
  }

  @Test
  void aRangeIsReadInPlaceAndWrittenBehindWhatIsThere() throws Exception {
    RowSchema schema = AvroRows.schemaOf("\"int\"");
    JsonBuffer out = new JsonBuffer();
    out.put('x');
    RowJson rows = new RowJson(RowForm.of(schema));
    rows.write(new byte[] {9, 9, 2, 9}, 2, 1, out);
    assertThatExceptionOfType(BadRowException.class)
        .isThrownBy(() -> rows.write(new byte[] {2, 2}, 0, 2, out))
        .withMessage("1 bytes follow its last column");
    rows.write(new byte[] {4}, 0, 1, out);
    assertThat(new String(out.copy(), UTF_8)).isEqualTo("x{\"v\":1}{\"v\":2}");
  }
}
