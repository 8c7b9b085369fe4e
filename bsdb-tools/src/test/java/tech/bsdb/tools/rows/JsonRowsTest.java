package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

/** Objects as rows: fields in any order, absent ones, nested types, unions. */
@ExtendWith(SeedInFailure.class)
final class JsonRowsTest {
  private static final long SEED = SeedInFailure.SEED;

  @Test
  void fieldsComeInAnyOrderAndAbsentOnesHaveTheirDefault() throws IOException {
    RowSchema schema =
        Rows.record(
            "{'name':'a','type':'int'},"
                + "{'name':'b','type':'string','default':'dé'},"
                + "{'name':'c','type':['null','long']},"
                + "{'name':'d','type':['long','null'],'default':7},"
                + "{'name':'e','type':'null'},"
                + "{'name':'f','type':{'type':'array','items':'int'},'default':[1,2]},"
                + "{'name':'g','type':{'type':'bytes','logicalType':'decimal','precision':4,"
                + "'scale':2},'default':'\\u0096'}");
    assertThat(show(schema, "{\"a\":1}"))
        .isEqualTo(
            "{\"a\": 1, \"b\": \"dé\", \"c\": null, \"d\": 7, \"e\": null, \"f\": [1, 2],"
                + " \"g\": \"\\u0096\"}");
    assertThat(show(schema, "{\"f\":[],\"d\":null,\"c\":3,\"b\":\"x\",\"a\":1,\"e\":null}"))
        .isEqualTo(
            "{\"a\": 1, \"b\": \"x\", \"c\": 3, \"d\": null, \"e\": null, \"f\": [],"
                + " \"g\": \"\\u0096\"}");
    assertThat(show(schema, " { \"a\" : 1 , \"c\":3, \"b\":\"x\" } "))
        .startsWith("{\"a\": 1, \"b\": \"x\", \"c\": 3, \"d\": 7");
    assertBad(schema, "{\"b\":\"x\"}", "column \"a\" is missing");
    assertBad(schema, "{\"a\":1,\"b\":null}", "column \"b\": null is not a string");
    assertBad(schema, "{\"a\":1,\"a\":1}", "column \"a\" comes twice");
    assertBad(schema, "{\"a\":1,\"c\":null,\"c\":null}", "column \"c\" comes twice");
    assertBad(schema, "{\"a\":1,\"e\":0}", "column \"e\": 0 is not null");
    assertBad(schema, "{\"a\":1,\"A\":1}", "column \"A\" is not in the schema");
    assertBad(schema, "{\"a\":1,\"\":1}", "column \"\" is not in the schema");
  }

  @Test
  void theColumnsNameCountsAndAliasesDoToo() throws IOException {
    RowSchema schema =
        Rows.record(
            "{'name':'a_b','column':'a b','type':'int'},"
                + "{'name':'c','aliases':['old','a_b'],'type':'int'}");
    assertThat(show(schema, "{\"a b\":1,\"c\":2}")).isEqualTo("{\"a_b\": 1, \"c\": 2}");
    assertThat(show(schema, "{\"old\":2,\"a b\":1}")).isEqualTo("{\"a_b\": 1, \"c\": 2}");
    assertThat(show(schema, "{\"a_b\":2,\"a b\":1}")).isEqualTo("{\"a_b\": 1, \"c\": 2}");
    assertBad(schema, "{\"a b\":1,\"c\":2,\"old\":2}", "column \"c\" comes twice");
    assertThatThrownBy(
            () ->
                new JsonRows(
                    Rows.record("{'name':'a','type':'int'},{'name':'b','column':'a','type':'int'}"),
                    "",
                    false))
        .hasMessage("R has two fields for a column \"a\"");
  }

  @Test
  void extraFieldsAreLeftOutOnRequestAtEveryDepth() throws IOException {
    RowSchema schema =
        Rows.record(
            "{'name':'r','type':{'type':'record','name':'S','fields':[{'name':'y','type':'int'}]}}");
    String json = "{\"q\":[{\"z\":1}],\"r\":{\"w\":{},\"y\":2},\"k\":\"key\",\"q\":1}";
    JsonRows rows = new JsonRows(schema, "k", true);
    assertThat(Rows.read(schema, Rows.fromJson(rows, json))).hasToString("{\"r\": {\"y\": 2}}");
    assertThat(new String(rows.key().copy(), UTF_8)).isEqualTo("key");
    assertBad(schema, "{\"r\":{\"w\":1}}", "column \"r.w\" is not in the schema");
  }

  @Test
  void theKeyNeedNotBeInTheSchema() throws Exception {
    RowSchema schema = Rows.record("{'name':'a','type':['null','int']}");
    JsonRows outside = new JsonRows(schema, "id", false);
    assertThat(key(outside, "{\"id\":1.50e3,\"a\":1}")).isEqualTo("FOUND 1.50e3");
    assertThat(key(outside, "{\"a\":1,\"id\":\"\\u00e9\"}")).isEqualTo("FOUND é");
    assertThat(key(outside, "{\"id\":true}")).isEqualTo("FOUND true");
    assertThat(key(outside, "{\"id\":null}")).startsWith("NOT_TEXT");
    assertThat(key(outside, "{\"id\":{\"a\":1}}")).startsWith("NOT_TEXT");
    assertThat(key(outside, "{\"id\":1,\"id\":1}")).startsWith("TWICE");
    assertThat(key(outside, "{\"id\":\"\\ud800\"}")).startsWith("NOT_UNICODE");
    assertThat(key(outside, "{\"a\":1}")).startsWith("ABSENT");
    JsonRows inside = new JsonRows(schema, "a", false);
    assertThat(key(inside, "{\"a\":17}")).isEqualTo("FOUND 17");
    assertThat(key(inside, "{\"a\":null}")).startsWith("NOT_TEXT");
    assertThat(key(inside, "{}")).startsWith("ABSENT");
  }

  @Test
  void theKeyIsThatOfTheOuterRecordOnly() throws Exception {
    RowSchema schema =
        Rows.record("{'name':'next','type':['null','R']},{'name':'id','type':'int'}");
    assertThat(key(new JsonRows(schema, "id", false), "{\"next\":{\"id\":1},\"id\":2}"))
        .isEqualTo("FOUND 2");
  }

  @Test
  void nestedTypesNameThePlaceOfWhatIsWrong() throws IOException {
    RowSchema schema =
        Rows.record(
            "{'name':'l','type':{'type':'array','items':['null',{'type':'record','name':'S',"
                + "'fields':[{'name':'m','type':{'type':'map','values':{'type':'array','items':"
                + "'int'}}}]}]}}");
    assertThat(show(schema, "{\"l\":[null,{\"m\":{\"a b\":[1,2]}},{\"m\":{}}]}"))
        .isEqualTo("{\"l\": [null, {\"m\": {\"a b\": [1, 2]}}, {\"m\": {}}]}");
    assertBad(schema, "{\"l\":{}}", "column \"l\": an object is not a list");
    assertBad(schema, "{\"l\":[[]]}", "column \"l[0]\": a list is not an object");
    assertBad(schema, "{\"l\":[null,{}]}", "column \"l[1].m\" is missing");
    assertBad(
        schema,
        "{\"l\":[{\"m\":{\"k\":[0,\"x\"]}}]}",
        "column \"l[0].m.k[1]\": \"x\" is not an int");
    assertBad(schema, "{\"l\":[{\"m\":{\"k\":[],\"k\":[]}}]}", "column \"l[0].m.k\" comes twice");
    assertBad(schema, "{\"l\":[{\"m\":[]}]}", "column \"l[0].m\": a list is not an object");
    assertBad(schema, "{\"l\":[{\"m\":{\"\\ud800\":[]}}]}", "not JSON"); // half of a pair
  }

  @Test
  void aUnionsFirstBranchThatTakesTheValueHasIt() throws IOException {
    RowSchema schema =
        Rows.ofType(
            "['null','long','double','string',{'type':'array','items':'int'},"
                + "{'type':'record','name':'A','fields':[{'name':'a','type':'int'}]},"
                + "{'type':'record','name':'B','fields':[{'name':'a','type':'string'},"
                + "{'name':'b','type':'R'}]},"
                + "{'type':'map','values':'boolean'}]");
    assertBranch(schema, "null", 0);
    assertBranch(schema, "5", 1);
    assertBranch(schema, "5.0", 2);
    assertBranch(schema, "1e3", 2);
    assertBranch(schema, "9223372036854775808", 2);
    assertBranch(schema, "\"NaN\"", 2);
    assertBranch(schema, "\"5\"", 3);
    assertBranch(schema, "[1]", 4);
    assertBranch(schema, "{\"a\":1}", 5);
    assertBranch(schema, "{\"b\":{\"x\":{\"a\":1}},\"a\":\"1x\"}", 6);
    assertBranch(schema, "{\"a\":true}", 7);
    assertBranch(schema, "{}", 7);
    assertBad(
        schema,
        "{\"x\":true}",
        "column \"x\": true is not null, nor a long, nor a double, nor a string, nor a list, nor an"
            + " object, nor an object, nor an object");
    assertThatThrownBy(() -> Rows.fromJson(schema, "{\"x\":{\"a\":[]}}"))
        .hasMessageStartingWith("column \"x\": an object is not null, nor a long");
    assertThatThrownBy(() -> Rows.fromJson(schema, "{\"x\":[1.5]}"))
        .hasMessage("column \"x[0]\": 1.5 is not an int");

    RowSchema numbers = Rows.ofType("['int','long',{'type':'bytes'}]");
    assertBranch(numbers, "\"12\"", 0);
    assertBranch(numbers, "3000000000", 1);
    assertBranch(numbers, "\"3000000000\"", 1);
    assertBranch(numbers, "\"300000000000\"", 2);
    assertBad(numbers, "{\"x\":null}", "column \"x\": null is not an int, nor a long, nor base64");
    assertBranch(Rows.ofType("['long']"), "5", 0);
  }

  @Test
  void unionsInUnionsTakeNoTimeWithoutEnd() {
    RowSchema schema =
        Rows.record(
            "{'name':'n','type':['null','R',{'type':'record','name':'S','fields':["
                + "{'name':'n','type':['null','R','S']},{'name':'s','type':'int','default':1}]}]}");
    int depth = 250;
    String json = "{\"n\":".repeat(depth) + "0" + "}".repeat(depth);
    assertThatThrownBy(() -> Rows.fromJson(schema, json))
        .isInstanceOf(IllegalArgumentException.class);
    String fine = "{\"n\":".repeat(depth) + "null" + "}".repeat(depth);
    assertThat(Rows.fromJson(schema, fine)).hasSize(depth);
  }

  @Test
  void recursionIsBounded() throws Exception {
    RowSchema schema = Rows.record("{'name':'n','type':['null','R']}");
    assertThat(Rows.fromJson(schema, "{\"n\":".repeat(255) + "{}" + "}".repeat(255))).hasSize(256);
    assertThatThrownBy(
            () -> Rows.fromJson(schema, "{\"n\":".repeat(100_000) + "{}" + "}".repeat(100_000)))
        .hasMessageStartingWith("column \"n.n.")
        .hasMessageEndingWith("...\" is nested more than 256 levels deep");
    assertThat(
            Rows.fromJson(
                new JsonRows(schema, "", true),
                "{\"q\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}"))
        .as("what is left out may be as deep as it likes")
        .hasSize(1);
  }

  @Test
  void whatCannotBeWrittenIsRefused() {
    assertRefused(
        "{'type':'error','name':'E','fields':[]}", "E is an error type, which no row can have");
    assertRefused("[]", "a union without branches takes no value");
    assertRefused("'R'", "R contains itself without end; make that field nullable");
    assertRefused(
        "{'type':'record','name':'S','fields':[{'name':'r','type':'R'}]}",
        "R contains itself without end; make that field nullable");
    new JsonRows(Rows.ofType("{'type':'array','items':'R'}"), "", false);
  }

  @Test
  void whatIsNoJsonObjectIsNone() {
    RowSchema schema = Rows.record("{'name':'a','type':'int'}");
    for (String bad :
        new String[] {
          "",
          "1",
          "[]",
          "null",
          "{",
          "{\"a\":1",
          "{\"a\":1}}",
          "{\"a\":1} 1",
          "{\"a\" 1}",
          "{a:1}",
          "{\"a\":01}",
          "{\"a\":NaN}",
          "{\"a\":1,}",
          "{'a':1}"
        }) {
      assertBad(schema, bad, "not JSON");
    }
  }

  @Test
  void theEndOfTheDayIsATimeButNotOfATimestamp() throws Exception {
    RowSchema time = Rows.ofType("{'type':'long','logicalType':'time-micros'}");
    byte[] row = Rows.fromJson(time, "{\"x\":\"24:00:00\"}");
    assertThat(AvroRows.json(RowForm.of(time), row)).isEqualTo("{\"x\":\"24:00:00\"}");
    RowSchema timestamp = Rows.ofType("{'type':'long','logicalType':'timestamp-micros'}");
    for (String wrong : List.of("24:00:00.000001", "24:01:00", "25:00:00")) {
      assertThatThrownBy(() -> Rows.fromJson(time, "{\"x\":\"" + wrong + "\"}"))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> Rows.fromJson(timestamp, "{\"x\":\"2024-01-01T24:00:00Z\"}"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aBranchThatHasAllFieldsComesBeforeOneThatLeavesSomeOut() throws Exception {
    RowSchema schema =
        Rows.ofType(
            "['null',{'type':'record','name':'A','fields':[{'name':'a','type':'int'}]},"
                + "{'type':'record','name':'B','fields':[{'name':'a','type':'int'},"
                + "{'name':'b','type':['null','int']}]}]");
    JsonRows rows = new JsonRows(schema, "no such", true);
    for (String json : List.of("{\"a\":1,\"b\":2}", "{\"a\":1}", "null")) {
      byte[] row = Rows.fromJson(rows, "{\"x\":" + json + "}");
      assertThat(AvroRows.json(RowForm.of(schema), row)).isEqualTo("{\"x\":" + json + "}");
    }
    byte[] row = Rows.fromJson(rows, "{\"x\":{\"a\":1,\"c\":2}}");
    assertThat(AvroRows.json(RowForm.of(schema), row)).isEqualTo("{\"x\":{\"a\":1}}");
  }

  @Test
  void randomRowsReadBackAsTheyWereAndFromTheJsonOfThem() throws Exception {
    Random random = new Random(SEED);
    for (int round = 0; round < 300; round++) {
      RandomTexts model = new RandomTexts(random);
      RowSchema schema = RowSchema.parse(model.schema());
      JsonRows rows = new JsonRows(schema, "no such", false);
      for (int i = 0; i < 5; i++) {
        GenericRecord row = model.row(schema.avro());
        String json = model.json(schema.avro(), row);
        byte[] bytes = Rows.fromJson(rows, json);
        assertThat(bytes)
            .as("seed %d: %s of %s", SEED, json, schema)
            .isEqualTo(Rows.write(schema.avro(), row));
        assertThat(Rows.read(schema, bytes)).as("seed %d: %s", SEED, json).isEqualTo(row);
        RowForm form = RowForm.of(schema).withSafeIntegers(random.nextBoolean());
        String written = AvroRows.json(form, bytes);
        assertThat(Rows.fromJson(rows, written))
            .as("seed %d: %s of %s", SEED, written, schema)
            .isEqualTo(bytes);
      }
    }
  }

  private static String key(JsonRows rows, String json) throws Exception {
    byte[] bytes = json.getBytes(UTF_8);
    return rows.encode(bytes, 0, bytes.length) + " " + new String(rows.key().copy(), UTF_8);
  }

  private static void assertBranch(RowSchema schema, String json, int branch) throws IOException {
    byte[] row = Rows.fromJson(schema, "{\"x\":" + json + "}");
    assertThat(row[0] >> 1).as(json).isEqualTo(branch);
    Rows.read(schema, row);
  }

  private static String show(RowSchema schema, String json) throws IOException {
    return Rows.read(schema, Rows.fromJson(schema, json)).toString();
  }

  private static void assertBad(RowSchema schema, String json, String message) {
    assertThatThrownBy(() -> Rows.fromJson(schema, json)).hasMessage(message);
  }

  private static void assertRefused(String type, String message) {
    assertThatThrownBy(() -> new JsonRows(Rows.ofType(type), "", false)).hasMessage(message);
  }
}
