package tech.bsdb.tools.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows of one schema as rows of another, compared with what Avro's own reader makes of them. */
class RowResolutionTest {
  private static final String ID = "{'name':'id','type':'long'}";
  private static final String NAME = "{'name':'name','type':['null','string'],'default':null}";

  /** Converts a row, and checks that Avro resolves the schemas to the same row. */
  private static GenericRecord converted(RowSchema from, RowSchema to, byte[] row)
      throws IOException, BadRowException {
    RowBuffer out = RowResolution.of(from, to).newConverter().convert(row, 0, row.length);
    GenericRecord ours = Rows.read(to, out.copy());
    BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(row, null);
    assertThat(ours)
        .isEqualTo(
            new GenericDatumReader<GenericRecord>(from.avro(), to.avro()).read(null, decoder));
    return ours;
  }

  private static void assertRefused(RowSchema from, RowSchema to, String words) {
    assertThatThrownBy(() -> RowResolution.of(from, to))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(words);
  }

  @Test
  void fieldsAreMatchedByNameInAnyOrder() throws Exception {
    RowSchema from = Rows.record("{'name':'c','type':'int'}," + NAME + "," + ID);
    RowSchema to = Rows.record(ID + ",{'name':'c','type':'int'}," + NAME);

    GenericRecord row = converted(from, to, AvroRows.row(from, 7, "Ann", 42L));

    assertThat(row).hasToString("{\"id\": 42, \"c\": 7, \"name\": \"Ann\"}");
    assertThat(RowResolution.of(from, to).isIdentity()).isFalse();
    assertThat(RowResolution.of(to, to).isIdentity()).isTrue();
  }

  @Test
  void anAbsentFieldTakesItsDefaultAndAnExtraOneIsLeftOut() throws Exception {
    RowSchema from =
        Rows.record(
            "{'name':'extra','type':{'type':'array','items':'string'}},"
                + ID
                + ",{'name':'more','type':['null','double']}");
    RowSchema to =
        Rows.record(
            "{'name':'first','type':'string','default':'none'},"
                + ID
                + ","
                + NAME
                + ",{'name':'last','type':'int','default':-1}");

    GenericRecord row = converted(from, to, AvroRows.row(from, List.of("a", "b"), 42L, 0.5));

    assertThat(row).hasToString("{\"first\": \"none\", \"id\": 42, \"name\": null, \"last\": -1}");
  }

  @Test
  void aFieldIsAlsoFoundByAnAlias() throws Exception {
    RowSchema from = Rows.record("{'name':'old','type':'int'}," + ID);
    RowSchema to = Rows.record(ID + ",{'name':'new','type':'long','aliases':['older','old']}");

    assertThat(converted(from, to, AvroRows.row(from, 7, 42L)))
        .hasToString("{\"id\": 42, \"new\": 7}");
  }

  @Test
  void aRenamedFieldIsRefused() {
    RowSchema from = Rows.record(ID + ",{'name':'title','type':'string'}");
    RowSchema to = Rows.record(ID + ",{'name':'name','type':'string'}");

    assertRefused(
        from, to, "field \"name\" is missing, and the stored schema has no default for it");
    assertRefused(
        from,
        Rows.record(ID + ",{'name':'name','type':['null','string']}"),
        "field \"name\" is missing, and the stored schema has no default for it");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'int' | 'long' | 5",
        "'int' | 'float' | 5",
        "'int' | 'double' | -5",
        "'long' | 'float' | 5",
        "'long' | 'double' | 9007199254740992",
        "'long' | 'double' | -9223372036854775808",
        "'int' | 'float' | -2147483648",
        "'int' | 'float' | 16777218",
        "'float' | 'double' | 0.1",
        "'int' | ['null','long'] | 5",
        "'int' | ['double','int'] | 5",
        "'int' | ['string','double'] | 5",
        "['null','int'] | ['null','long'] | 5",
        "['int','null'] | ['null','int'] | 5",
      })
  void numbersWiden(String from, String to, String value) throws Exception {
    RowSchema written = Rows.ofType(from);
    Object number =
        from.contains("int")
            ? (Object) Integer.valueOf(value)
            : from.contains("long") ? (Object) Long.valueOf(value) : Float.valueOf(value);

    converted(written, Rows.ofType(to), AvroRows.row(written, number));
  }

  @ParameterizedTest
  @CsvSource({
    "long, double, 9007199254740993",
    "long, double, 9223372036854775807",
    "long, float, -16777217",
    "int, float, 16777217",
    "int, float, 2147483647",
  })
  void aNumberThatWouldBeRoundedIsTheFaultOfItsRowAlone(String from, String to, long number)
      throws Exception {
    RowSchema written = Rows.ofType("['null','" + from + "']");
    RowConverter converter =
        RowResolution.of(written, Rows.ofType("['null','" + to + "']")).newConverter();
    Object value = from.equals("int") ? (Object) (int) number : (Object) number;
    byte[] row = AvroRows.row(written, value);

    assertThatThrownBy(() -> converter.convert(row, 0, row.length))
        .isInstanceOf(BadRowException.class)
        .hasMessage("column \"x\": " + number + " does not fit exactly in a " + to);
  }

  @Test
  void stringsAndBytesAreExchanged() throws Exception {
    RowSchema string = Rows.ofType("'string'");
    RowSchema bytes = Rows.ofType("'bytes'");
    byte[] invalid = AvroRows.row(bytes, ByteBuffer.wrap(new byte[] {-1}));

    converted(string, bytes, AvroRows.row(string, "\u00e9"));
    converted(bytes, string, AvroRows.row(string, "\u00e9"));

    RowConverter converter = RowResolution.of(bytes, string).newConverter();
    assertThatThrownBy(() -> converter.convert(invalid, 0, invalid.length))
        .isInstanceOf(BadRowException.class)
        .hasMessageContaining("are not UTF-8");
  }

  @Test
  void nullIsTheFaultOfItsRowAlone() throws Exception {
    RowSchema from = Rows.record(ID + "," + NAME);
    RowSchema to = Rows.record(ID + ",{'name':'name','type':'string'}");
    byte[] bad = AvroRows.row(from, 1L, null);

    assertThat(converted(from, to, AvroRows.row(from, 1L, "Ann")))
        .hasToString("{\"id\": 1, \"name\": \"Ann\"}");
    RowConverter converter = RowResolution.of(from, to).newConverter();
    assertThatThrownBy(() -> converter.convert(bad, 0, bad.length))
        .isInstanceOf(BadRowException.class)
        .hasMessage("column \"name\" is null, which is not allowed there");
    assertRefused(
        Rows.ofType("['null']"),
        Rows.ofType("'int'"),
        "field \"x\" is null, but int in the stored schema");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'long' | 'int' | long | int",
        "'double' | 'float' | double | float",
        "'string' | 'int' | string | int",
        "['null','string'] | ['null','int'] | string | null or int",
        "{'type':'int','logicalType':'date'} | 'int' | date | int",
        "'int' | {'type':'int','logicalType':'date'} | int | date",
        "{'type':'int','logicalType':'date'} | 'long' | date | long",
        "{'type':'long','logicalType':'timestamp-millis'} |"
            + " {'type':'long','logicalType':'timestamp-micros'} | timestamp(3) | timestamp(6)",
        "{'type':'long','logicalType':'timestamp-micros'} |"
            + " {'type':'long','logicalType':'local-timestamp-micros'} | timestamp(6) |"
            + " local-timestamp(6)",
        "{'type':'string','logicalType':'uuid'} | 'string' | uuid (string) | string",
        "{'type':'bytes','logicalType':'decimal','precision':9,'scale':2} |"
            + " {'type':'bytes','logicalType':'decimal','precision':9,'scale':3} | decimal(9,2) |"
            + " decimal(9,3)",
        "{'type':'bytes','logicalType':'decimal','precision':10,'scale':2} |"
            + " {'type':'bytes','logicalType':'decimal','precision':9,'scale':2} | decimal(10,2) |"
            + " decimal(9,2)",
        "{'type':'bytes','logicalType':'decimal','precision':9,'scale':2} | 'bytes' | decimal(9,2)"
            + " | bytes",
        "{'type':'fixed','name':'F','size':4} | {'type':'fixed','name':'F','size':5} | fixed(4) |"
            + " fixed(5)",
        "{'type':'array','items':'int'} | 'int' | a list of int | int",
        "{'type':'map','values':'int'} | {'type':'array','items':'int'} | a map of int | a list of"
            + " int",
      })
  void otherTypesAreRefused(String from, String to, String is, String butIs) {
    assertRefused(
        Rows.ofType(from),
        Rows.ofType(to),
        "field \"x\" is " + is + ", but " + butIs + " in the stored schema");
  }

  @Test
  void theDecimalThatIsStoredMayBeMorePrecise() throws Exception {
    String decimal = "{'type':'bytes','logicalType':'decimal','precision':%d,'scale':2}";
    RowSchema from = Rows.ofType(decimal.formatted(9));

    converted(
        from,
        Rows.ofType(decimal.formatted(12)),
        AvroRows.row(from, ByteBuffer.wrap(new byte[] {1, 2})));
  }

  @Test
  void symbolsAreMatchedByName() throws Exception {
    RowSchema from = Rows.ofType("{'type':'enum','name':'E','symbols':['A','B']}");
    RowSchema to = Rows.ofType("{'type':'enum','name':'E','symbols':['C','B','A']}");
    RowSchema some = Rows.ofType("{'type':'enum','name':'E','symbols':['C','B']}");
    RowSchema lenient = Rows.ofType("{'type':'enum','name':'E','symbols':['C','B'],'default':'C'}");
    GenericData.EnumSymbol a = new GenericData.EnumSymbol(from.avro().getField("x").schema(), "A");

    assertThat(converted(from, to, AvroRows.row(from, a))).hasToString("{\"x\": \"A\"}");
    assertThat(converted(from, lenient, AvroRows.row(from, a))).hasToString("{\"x\": \"C\"}");
    assertRefused(
        from, some, "field \"x\" has the symbol A, which the stored schema does not have");
  }

  @Test
  void aNestedFieldIsNamedByItsPath() {
    String at = "{'name':'at','type':['null',{'type':'record','name':'%s','fields':[%s]}]}";
    RowSchema from = Rows.record(at.formatted("row_at", "{'name':'zip','type':'string'}"));
    RowSchema to = Rows.record(at.formatted("Place", "{'name':'zip','type':'int'}"));

    assertRefused(from, to, "field \"at.zip\" is string, but int in the stored schema");
    String items =
        "{'name':'l','type':{'type':'array','items':{'type':'record','name':'I','fields':["
            + "{'name':'v','type':'%s'}]}}}";
    assertRefused(
        Rows.record(items.formatted("string")),
        Rows.record(items.formatted("int")),
        "field \"l[].v\" is string, but int in the stored schema");
  }

  @Test
  void namesOfTypesDoNotMatter() throws Exception {
    String place = "{'name':'at','type':{'type':'record','name':'%s','fields':[%s]}}";
    RowSchema from =
        Rows.record(
            place.formatted("row_at", "{'name':'zip','type':'int'},{'name':'c','type':'string'}"));
    RowSchema to =
        Rows.record(
            place.formatted("Place", "{'name':'c','type':'string'},{'name':'zip','type':'long'}"));
    GenericRecord at = new GenericData.Record(from.avro().getField("at").schema());
    at.put(0, 12);
    at.put(1, "Rome");
    byte[] row = AvroRows.row(from, at);

    RowBuffer out = RowResolution.of(from, to).newConverter().convert(row, 0, row.length);

    assertThat(Rows.read(to, out.copy())).hasToString("{\"at\": {\"c\": \"Rome\", \"zip\": 12}}");
  }

  @Test
  void aRecordMayContainItself() throws Exception {
    String tree = "{'name':'v','type':'%s'},{'name':'next','type':['null','R']}";
    RowSchema from = Rows.record(tree.formatted("int"));
    RowSchema to = Rows.record(tree.formatted("long"));
    GenericRecord last = new GenericData.Record(from.avro());
    last.put(0, 2);
    byte[] row = AvroRows.row(from, 1, last);

    assertThat(converted(from, to, row))
        .hasToString("{\"v\": 1, \"next\": {\"v\": 2, \"next\": null}}");
    assertRefused(
        from,
        Rows.record(tree.formatted("string")),
        "field \"v\" is int, but string in the stored schema");
  }

  @Test
  void columnsWithNamesThatAvroForbidsAreMatched() throws Exception {
    RowSchema from = Rows.record("{'name':'a_b','type':'int','column':'a-b'}");
    RowSchema to = Rows.record("{'name':'a_b_2','type':'long','column':'a-b'}");
    byte[] row = AvroRows.row(from, 5);

    RowBuffer out = RowResolution.of(from, to).newConverter().convert(row, 0, row.length);

    assertThat(Rows.read(to, out.copy())).hasToString("{\"a_b_2\": 5}");
  }

  @Test
  void rowsOfAnySchemaSurviveAnyOrderOfFields() throws Exception {
    long seed = Long.getLong("bsdb.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int i = 0; i < 100; i++) {
      RandomRows rows = new RandomRows(random);
      List<Schema.Field> fields = new ArrayList<>();
      rows.schema()
          .avro()
          .getFields()
          .forEach(field -> fields.add(new Schema.Field(field, field.schema())));
      Collections.shuffle(fields, random);
      RowSchema to =
          RowSchema.parse(Schema.createRecord("Row", null, null, false, fields).toString());
      RowConverter there = RowResolution.of(rows.schema(), to).newConverter();
      RowConverter back = RowResolution.of(to, rows.schema()).newConverter();
      for (int j = 0; j < 20; j++) {
        Map<String, RandomRows.Sample> sample = rows.next();
        GenericRecord record = new GenericData.Record(rows.schema().avro());
        sample.forEach((name, value) -> record.put(name, value.datum()));
        byte[] row = AvroRows.encode(rows.schema().avro(), record);
        byte[] other = there.convert(row, 0, row.length).copy();
        assertThat(back.convert(other, 0, other.length).copy())
            .as("-Dbsdb.seed=" + seed)
            .isEqualTo(row);
        sample.forEach((name, value) -> assertThat(json(to, other)).contains(value.json()));
      }
    }
  }

  private static String json(RowSchema schema, byte[] row) {
    try {
      return AvroRows.json(RowForm.of(schema), row);
    } catch (BadRowException e) {
      throw new AssertionError(e);
    }
  }
}
