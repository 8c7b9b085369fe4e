package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.ValueElements;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.rows.TypedDatabase;

/** The commands get, scan and stat on a database of typed rows. */
class RowCommandsTest {
  @TempDir Path folder;
  private String typed;
  private String plain;

  @BeforeEach
  void build() throws Exception {
    typed = TypedDatabase.build(folder.resolve("typed")).toString();
    plain =
        TypedDatabase.build(
                folder.resolve("plain"),
                BuildOptions.defaults(),
                Map.of("k", "{\"a\":1}".getBytes(UTF_8)))
            .toString();
  }

  private static void isRefused(CommandRun run, String words) {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err().replaceFirst("\nTry: .*", "")).contains(words).hasLineCount(1);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void getWritesRowsAsObjects() {
    CommandRun run = bsdb("get", "-d", typed, "--json", "plum", "none", "apple");
    assertThat(run.out())
        .isEqualTo(
            """
            {"key":"plum","value":{"id":-3,"unit.price":-0.05,"name":""}}
            {"key":"none","value":null}
            {"key":"apple","value":{"id":1,"unit.price":1.50,"name":"Apple \\"red\\""}}
            """);
    assertThat(run.code()).isEqualTo(1);
  }

  @Test
  void scanWritesRowsAsObjects() {
    CommandRun run = bsdb("scan", "-d", typed, "--json", "--limit", "2");
    assertThat(run.out())
        .isEqualTo(
            """
            {"key":"apple","value":{"id":1,"unit.price":1.50,"name":"Apple \\"red\\""}}
            {"key":"pear","value":{"id":9007199254740992,"unit.price":null,"name":"Pear"}}
            """);
    assertThat(run.code()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "name                 | {\"name\":\"Pear\"}",
        "unit.price           | {\"unit.price\":null}",
        "name,id              | {\"id\":\"9007199254740992\",\"name\":\"Pear\"}",
        "id,id                | {\"id\":\"9007199254740992\"}",
      })
  void fieldsAreColumnsInTheOrderOfTheSchema(String fields, String row) {
    String[] options = {"-d", typed, "--json", "--json-safe-integers", "--fields", fields};
    String line = "{\"key\":\"pear\",\"value\":" + row + "}\n";
    CommandRun get =
        bsdb("get", options[0], options[1], options[2], options[3], options[4], options[5], "pear");
    assertThat(get.out()).as(get.toString()).isEqualTo(line);
    CommandRun scan =
        bsdb("scan", options[0], options[1], options[2], options[3], options[4], options[5]);
    assertThat(scan.out()).contains(line).hasLineCount(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "scan"})
  void rowOptionsAreRefusedWithoutRows(String command) {
    String key = command.equals("get") ? "k" : "--";
    isRefused(
        bsdb(command, "-d", typed, "--fields", "id", key),
        "--fields is for typed rows as JSON; add --json");
    isRefused(
        bsdb(command, "-d", typed, "--json-safe-integers", key),
        "--json-safe-integers is for typed rows as JSON; add --json");
    isRefused(
        bsdb(command, "-d", plain, "--json", "--fields", "a", key),
        "--fields is for typed rows, and the values of " + plain + " are plain bytes");
    isRefused(
        bsdb(command, "-d", plain, "--json", "--json-safe-integers", key),
        "--json-safe-integers is for typed rows, and the values of ");
    isRefused(
        bsdb(command, "-d", typed, "--json", "--fields", "id", "--value-encoding", "hex", key),
        "omit --value-encoding");
    isRefused(
        bsdb(command, "-d", typed, "--json", "--fields", "id,", key),
        "--fields \"id,\" has an empty name");
    isRefused(
        bsdb(command, "-d", typed, "--json", "--fields", "id,nmae", key),
        "--fields: no column \"nmae\", did you mean \"name\"?; the columns are id, unit.price, name");
  }

  @Test
  void withoutJsonOrWithAnEncodingRowsAreBytes() {
    byte[] row = TypedDatabase.fruit().get("pear");
    CommandRun raw = bsdb("get", "-d", typed, "pear");
    assertThat(raw.outBytes()).startsWith(row).hasSize(row.length + 1);
    assertThat(bsdb("get", "-d", typed, "--json", "--value-encoding", "hex", "pear").out())
        .startsWith("{\"key\":\"pear\",\"value\":\"80808080808080200008");
    assertThat(bsdb("get", "-d", plain, "--json", "k").out())
        .isEqualTo("{\"key\":\"k\",\"value\":\"{\\\"a\\\":1}\"}\n");
  }

  @Test
  void anInvalidRowNamesItsKey() throws Exception {
    String damaged =
        TypedDatabase.build(
                folder.resolve("damaged"),
                TypedDatabase.SCHEMA.json(),
                Map.of("key é", new byte[] {2, 2}))
            .toString();
    for (CommandRun run :
        new CommandRun[] {
          bsdb("get", "-d", damaged, "--json", "key é"), bsdb("scan", "-d", damaged, "--json")
        }) {
      isRefused(run, "is not a row of the stored schema: its bytes end too early");
      assertThat(run.err()).contains("the value of \"key é\"").doesNotContain("approximate");
    }
  }

  @Test
  void anApproximateDatabaseExplainsInvalidRows() throws Exception {
    String approximate =
        TypedDatabase.build(
                folder.resolve("approximate"),
                BuildOptions.defaults()
                    .withApproximateWidth(8)
                    .withValueSchema(TypedDatabase.SCHEMA.json()),
                Map.of("k", Arrays.copyOf(TypedDatabase.fruit().get("apple"), 8)))
            .toString();
    isRefused(
        bsdb("get", "-d", approximate, "--json", "k"),
        "this is an approximate database, which keeps at most 8 bytes of a value and may return"
            + " bytes for an absent key");
  }

  @Test
  void statShowsTheSchema() {
    CommandRun schema = bsdb("stat", "-d", typed, "--schema");
    assertThat(schema.out()).isEqualTo(TypedDatabase.SCHEMA.json() + "\n");
    assertThat(schema.code()).isZero();
    assertThat(bsdb("stat", "-d", typed).out()).containsPattern("typed rows +3 columns\n");
    assertThat(bsdb("stat", "-d", typed, "--json").out())
        .contains(",\"valueSchema\":" + TypedDatabase.SCHEMA.json() + ",");
    assertThat(bsdb("stat", "-d", plain).out()).doesNotContain("typed rows");
    assertThat(bsdb("stat", "-d", plain, "--json").out()).contains(",\"valueSchema\":null,");
    isRefused(
        bsdb("stat", "-d", plain, "--schema"),
        plain + ": the values are plain bytes, so no schema is stored");
  }

  @Test
  void statShowsTheElementsOfVectors() throws Exception {
    Path vectors = folder.resolve("vectors");
    ValueElements elements = new ValueElements(ValueElements.Type.F16, 2);
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(vectors, BuildOptions.defaults().withValueElements(elements))) {
      builder.add(new byte[] {'k'}, new byte[4]);
      builder.finish();
    }
    String database = vectors.toString();
    assertThat(bsdb("stat", "-d", database).out()).containsPattern("elements of a value +f16 2\n");
    assertThat(bsdb("stat", "-d", database, "--json").out())
        .contains(",\"valueElements\":\"f16 2\",");
    assertThat(bsdb("stat", "-d", plain).out()).doesNotContain("elements of a value");
    assertThat(bsdb("stat", "-d", plain, "--json").out()).contains(",\"valueElements\":null,");
  }

  @Test
  void anInvalidStoredSchemaIsReportedWhereItIsNeeded() throws Exception {
    for (String schema : new String[] {"\"int\"", "no JSON"}) {
      String foreign =
          TypedDatabase.build(folder.resolve("f" + schema.length()), schema, Map.of()).toString();
      isRefused(
          bsdb("scan", "-d", foreign, "--json"),
          foreign + ": the stored schema of the values is invalid");
      assertThat(bsdb("stat", "-d", foreign, "--json").out()).contains("\"valueSchema\":\"");
      assertThat(bsdb("stat", "-d", foreign).out())
          .containsPattern("typed rows +(the schema|not an)");
      assertThat(bsdb("stat", "-d", foreign, "--schema").out()).isEqualTo(schema + "\n");
      assertThat(bsdb("scan", "-d", foreign).code()).isZero();
    }
  }
}
