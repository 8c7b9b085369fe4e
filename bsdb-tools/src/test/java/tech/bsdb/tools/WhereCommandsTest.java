package tech.bsdb.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.parquet.Written;

/** {@code --where} of the commands that build from typed rows. */
class WhereCommandsTest {
  private static final String SCHEMA =
      "message m { optional int32 id; optional int32 age; optional binary name (STRING);"
          + " optional int32 deleted_at (DATE);"
          + " optional group s { optional int32 n; }"
          + " optional group l (LIST) { repeated group list { optional int32 element; } }"
          + " optional int32 A; optional int32 a; }";

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /** Writes 100 rows in row groups of 10, in the order of the age, which is null in every tenth. */
  private void file(String name, int firstId) throws Exception {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Written.file(
        file,
        SCHEMA,
        100,
        (row, i) -> {
          row.append("id", firstId + i).append("name", "n" + i);
          if (i % 10 != 9) {
            row.append("age", i);
          }
          if (i % 2 == 1) {
            row.append("deleted_at", i);
          }
          if (i % 3 != 0) {
            row.addGroup("s").append("n", i);
          }
          row.addGroup("l").addGroup("list").append("element", i);
        },
        writer -> writer.withRowGroupRowCountLimit(10));
  }

  private CommandRun build(String input, String... options) {
    List<String> line =
        new ArrayList<>(
            List.of("build-parquet", "-i", path(input), "-o", path("db"), "--overwrite"));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private JsonNode report(String input, String... options) throws Exception {
    List<String> line = new ArrayList<>(List.of(options));
    line.addAll(List.of("-kf", "id", "--json"));
    CommandRun run = build(input, line.toArray(String[]::new));
    assertThat(run.code()).as(run.toString()).isZero();
    return new ObjectMapper().readTree(run.out());
  }

  private String keys() {
    return bsdb("scan", "-d", path("db"), "--keys-only").out().strip().replace('\n', ' ');
  }

  private void check(JsonNode report, int rows, int records, int parts) {
    assertThat(report.get("rows").asInt()).isEqualTo(rows);
    assertThat(report.get("records").asInt()).isEqualTo(records);
    assertThat(report.get("rowsLeftOut").asInt()).isEqualTo(rows - records);
    assertThat(report.get("partsRuledOut").asInt()).isEqualTo(parts);
  }

  @Test
  void statisticsRuleRowGroupsOut() throws Exception {
    file("a.parquet", 0);
    check(report("a.parquet", "--where", "age >= 85 AND deleted_at IS NULL"), 100, 7, 8);
    check(report("a.parquet", "--where", "age > 84.5 AND deleted_at IS NULL"), 100, 7, 8);
    check(report("a.parquet", "--where", "NOT (age < 85 OR deleted_at IS NOT NULL)"), 100, 7, 8);
    check(report("a.parquet", "--where", "age BETWEEN 30 AND 39"), 100, 9, 9);
    check(report("a.parquet", "--where", "age IN (5, 95)"), 100, 2, 8);
    check(report("a.parquet", "--where", "name = 'n77'"), 100, 1, 8);
    check(report("a.parquet", "--where", "name LIKE 'n7_'"), 100, 10, 8);
    check(report("a.parquet", "--where", "s.n = 50"), 100, 1, 9);
    check(report("a.parquet", "--where", "S.N > 1000"), 100, 0, 10);
    check(report("a.parquet", "--where", "age IS NULL AND id > 50"), 100, 5, 5);
    check(report("a.parquet", "--where", "FALSE"), 100, 0, 10);
    check(report("a.parquet", "--where", "TRUE"), 100, 100, 0);
    check(report("a.parquet", "--where", "id <> 5"), 100, 99, 0);
    assertThat(report("a.parquet").has("rowsLeftOut")).isFalse();
    assertThat(build("a.parquet", "-kf", "id", "--where", "age >= 85").err())
        .contains("left out by --where         87  (not read: 0 files, 8 parts of others)");
  }

  @Test
  void bloomFiltersAndDictionariesRuleRowGroupsOut() throws Exception {
    for (boolean dictionary : new boolean[] {true, false}) {
      Written.file(
          folder.resolve("a.parquet"),
          "message m { required int32 id; required int64 x; }",
          1000,
          (row, i) -> row.append("id", i).append("x", i % 10 * 1_000_000_007L),
          writer ->
              writer
                  .withRowGroupRowCountLimit(100)
                  .withDictionaryEncoding(dictionary)
                  .withBloomFilterEnabled(!dictionary));
      check(report("a.parquet", "--where", "x = 3000000021"), 1000, 100, 0);
      check(report("a.parquet", "--where", "x = 3000000022"), 1000, 0, 10);
      check(report("a.parquet", "--where", "x IN (3000000022, 4, 1.5)"), 1000, 0, 10);
      Files.delete(folder.resolve("a.parquet"));
    }
  }

  @Test
  void conditionsAreForAvroToo() throws Exception {
    Schema schema =
        new Schema.Parser()
            .parse(
                "{'type':'record','name':'r','fields':[{'name':'id','type':'int'},{'name':'age','type':['null','long']},{'name':'s','type':['null',{'type':'record','name':'t','fields':[{'name':'d','type':'double'}]}]}]}"
                    .replace('\'', '"'));
    for (String country : List.of("de", "fr")) {
      Path file = folder.resolve("t/country=" + country + "/a.avro");
      Files.createDirectories(file.getParent());
      try (DataFileWriter<GenericRecord> writer =
          new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))) {
        writer.create(schema, file.toFile());
        for (int i = 0; i < 10; i++) {
          GenericRecord row = new GenericData.Record(schema);
          row.put("id", country.equals("de") ? i : 100 + i);
          row.put("age", i == 3 ? null : (Long) (long) i);
          if (i % 2 == 0) {
            GenericRecord struct =
                new GenericData.Record(schema.getField("s").schema().getTypes().get(1));
            struct.put("d", i / 2.0);
            row.put("s", struct);
          }
          writer.append(row);
        }
      }
    }
    report("t", "--format", "avro", "--where", "age > 7 OR age IS NULL OR S.D = 0.0");
    assertThat(keys().split(" "))
        .containsExactlyInAnyOrder("0", "3", "8", "9", "100", "103", "108", "109");
    JsonNode report =
        report("t", "--format", "avro", "--where", "country = 'fr' AND age < 2", "--columns", "id");
    assertThat(keys().split(" ")).containsExactlyInAnyOrder("100", "101");
    assertThat(report.get("partsRuledOut").asInt()).isEqualTo(1);
    assertThat(build("t", "-kf", "id", "--format", "avro", "--where", "age = 'x'").err())
        .contains("a.avro: --where, at character 7 ('x'): column age is long");
    assertThat(build("t", "-kf", "id", "--format", "avro", "--where", "agee = 1").err())
        .contains("has no column agee for --where");
  }

  @Test
  void theConditionNeedsNoColumnsOfTheValue() throws Exception {
    file("a.parquet", 0);
    report("a.parquet", "--where", "age IN (1, 98, 50) AND s.n <> 50", "--value-fields", "name,l");
    assertThat(bsdb("scan", "-d", path("db"), "--json").out().lines())
        .containsExactlyInAnyOrder(
            "{\"key\":\"1\",\"value\":{\"name\":\"n1\",\"l\":[1]}}",
            "{\"key\":\"98\",\"value\":{\"name\":\"n98\",\"l\":[98]}}");
    report("a.parquet", "--where", "age IN (1, 50)", "--value-raw", "name");
    assertThat(bsdb("get", "-d", path("db"), "50").out()).isEqualTo("n50\n");
    report("a.parquet", "--where", "\"A\" IS NULL AND id < 2", "--columns", "id,s");
    assertThat(keys().split(" ")).containsExactlyInAnyOrder("0", "1");
  }

  @Test
  void directoriesRuleFilesOutBeforeTheyAreOpened() throws Exception {
    file("t/country=de/year=2025/a.parquet", 0);
    file("t/country=fr/year=2026/b.parquet", 100);
    Path damaged = Files.createDirectories(folder.resolve("t/country=en/year=2026"));
    Files.writeString(damaged.resolve("c.parquet"), "this is no Parquet file");
    JsonNode report = report("t", "--where", "country IN ('fr', 'de') AND age = 7");
    check(report, 200, 2, 18);
    assertThat(report.get("filesRead").asInt()).isEqualTo(2);
    assertThat(report.get("filesRuledOut").asInt()).isEqualTo(1);
    assertThat(keys().split(" ")).containsExactlyInAnyOrder("7", "107");
    report = report("t", "--where", "COUNTRY <> 'en' AND year > 2025 AND age < 2");
    check(report, 100, 2, 9);
    assertThat(report.get("filesRuledOut").asInt()).isEqualTo(2);

    report = report("t", "--where", "country = 'xx'");
    check(report, 100, 0, 10);
    assertThat(report.get("filesRead").asInt()).isEqualTo(1);
    assertThat(bsdb("stat", "-d", path("db"), "--schema").out()).contains("\"age\"", "\"country\"");

    CommandRun run = build("t", "-kf", "id", "--where", "country = 'fr' AND year = '2026'");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .contains("column year is int and cannot be compared with text (write a number");
    assertThat(build("t", "-kf", "id", "--where", "country = 'en'").err())
        .contains("c.parquet", "not a Parquet file");
  }

  @Test
  void aColumnOfTheFilesTakesPrecedenceOverTheirDirectories() throws Exception {
    file("t/age=1000/a.parquet", 0);
    file("t/age=2000/b.parquet", 100);
    JsonNode report = report("t", "--where", "age = 7");
    check(report, 200, 2, 18);
    assertThat(report.get("filesRuledOut").asInt()).isZero();
    assertThat(report("t", "--where", "age >= 1000").get("records").asInt()).isZero();
  }

  @Test
  void aMissingColumnIsNullUnlessNoFileHasIt() throws Exception {
    file("t/a.parquet", 0);
    Written.file(
        folder.resolve("t/b.parquet"),
        "message m { optional int32 id; optional int32 new; }",
        1,
        (row, i) -> row.append("id", 500).append("new", 1));
    report("t", "--where", "new = 1 OR age = 3", "--value-fields", "id");
    assertThat(keys().split(" ")).containsExactlyInAnyOrder("3", "500");
    report("t", "--where", "new IS NULL AND id > 97", "--value-fields", "id");
    assertThat(keys().split(" ")).containsExactlyInAnyOrder("98", "99");
    CommandRun run = build("t", "-kf", "id", "--where", "newer = 1");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("a.parquet: has no column newer for --where (its columns: id,");
  }

  @Test
  void onlyRowsThatAreWantedCanBeBad() throws Exception {
    Path file = folder.resolve("a.parquet");
    Written.file(
        file,
        "message m { optional int32 id; required int32 n; required binary name; optional"
            + " int96 at; }",
        40,
        (row, i) -> {
          if (i % 10 != 5) {
            row.append("id", i);
          }
          row.append("n", i).append("name", "x");
        },
        writer -> writer.withRowGroupRowCountLimit(4));
    assertThat(report("a.parquet", "--where", "n NOT IN (5, 15, 25, 35)").get("records").asInt())
        .isEqualTo(36);
    CommandRun run = build("a.parquet", "-kf", "id", "--where", "n > 20 AND n <> 25");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("a.parquet: row 36: null key (column id)");
    JsonNode report = report("a.parquet", "--where", "n > 20 AND n <> 25", "--on-bad-line", "skip");
    assertThat(report.get("rejected").asInt()).isEqualTo(1);
    assertThat(report.get("rowsLeftOut").asInt()).isEqualTo(22);
    run = build("a.parquet", "-kf", "name", "--where", "n = 21 OR n = 38");
    assertThat(run.err()).contains("a.parquet: row 22", "a.parquet: row 39");
  }

  @Test
  void changesAreFilteredFirst() throws Exception {
    file("a.parquet", 0);
    report("a.parquet", "--value-fields", "id,name");
    CommandRun run =
        bsdb(
            "merge-parquet",
            "-d",
            path("db"),
            "-i",
            path("a.parquet"),
            "-kf",
            "id",
            "--delete-field",
            "name=n7",
            "--where",
            "age IN (7, 8)",
            "-o",
            path("merged"),
            "--value-fields",
            "id,name",
            "--json");
    assertThat(run.code()).as(run.toString()).isZero();
    JsonNode report = new ObjectMapper().readTree(run.out());
    assertThat(report.get("deleted").asInt()).isEqualTo(1);
    assertThat(report.get("replaced").asInt()).isEqualTo(1);
    assertThat(report.get("rowsLeftOut").asInt()).isEqualTo(98);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "age = '5'       | a.parquet: --where, at character 7 ('5'): column age is int and cannot be",
        "age =           | --where, at its end: a constant is expected",
        "l = 5           | --where, at character 1 (l = 5): column l is a list of int",
        "l.list.element = 5 | column l.list.element cannot be used in --where: it is repeated",
        "s = 5           | column s is a struct",
        "aGe.x = 5       | has no column aGe.x for --where",
        "deleted_at > '2020-01-01' | write DATE '2026-01-31'",
      })
  void whatCannotBeComparedIsRefused(String condition, String words) throws Exception {
    file("a.parquet", 0);
    CommandRun run = build("a.parquet", "-kf", "id", "--value-fields", "id", "--where", condition);
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains(words);
    assertThat(folder.resolve("db")).doesNotExist();
  }

  @Test
  void namesThatDifferInCaseAreNotGuessed() throws Exception {
    Written.file(
        folder.resolve("a.parquet"),
        "message m { required int32 id; required int32 Ab; required int32 aB; }",
        1,
        (row, i) -> row.append("id", 1).append("Ab", 2).append("aB", 3));
    report("a.parquet", "--where", "Ab = 2 AND aB = 3");
    assertThat(keys()).isEqualTo("1");
    assertThat(build("a.parquet", "-kf", "id", "--where", "AB = 2").err())
        .contains("has columns Ab and aB; which one is AB in --where cannot be told");
  }

  @Test
  void aCompressedDatabaseHasTheSameRows() throws Exception {
    file("a.parquet", 0);
    check(report("a.parquet", "-z", "--where", "age BETWEEN 20 AND 50"), 100, 28, 6);
    assertThat(bsdb("get", "-d", path("db"), "--json", "20").out()).contains("\"name\":\"n20\"");
  }

  @Test
  void conditionsAreForTypedRows() throws Exception {
    Files.writeString(folder.resolve("a.txt"), "1 a\n");
    CommandRun run = bsdb("build", "-i", path("a.txt"), "-o", path("db"), "--where", "a = 1");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("--where is for files of typed rows");
  }
}
