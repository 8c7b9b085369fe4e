package tech.bsdb.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Sampled;
import tech.bsdb.tools.parquet.Written;

/** Folders of Parquet files: tables of other systems, partitions, and what is left out. */
class ParquetFoldersTest {
  private static final String SCHEMA =
      "message m { required int64 id; optional binary name (STRING); }";

  @TempDir Path folder;

  private int next = 1;

  /** Writes a file of one row, with the next number as its id. */
  private void part(String name) throws IOException {
    part(name, SCHEMA);
  }

  private void part(String name, String schema) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    long id = next++;
    Written.file(
        file,
        schema,
        1,
        (row, i) -> {
          row.add("id", id);
          if (schema.contains(" country ")) {
            row.add("country", "file");
          }
        });
  }

  private CommandRun build(String... options) {
    List<String> line =
        new ArrayList<>(
            List.of(
                "build-parquet",
                "-o",
                path("db"),
                "--overwrite",
                "--layout",
                "blocked")); // scanned in the order of the rows
    line.addAll(List.of(options));
    return bsdb(line.toArray(new String[0]));
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private static void assertBuilt(CommandRun run) {
    assertThat(run.code()).as(run.toString()).isZero();
  }

  private void assertRefused(CommandRun run, String... words) {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains(words);
    assertThat(run.err().lines().filter(line -> line.startsWith("bsdb build-parquet: ")))
        .hasSize(1);
    assertThat(folder.resolve("db")).doesNotExist();
  }

  /** The database's rows as JSON, key and value. */
  private String rows() {
    return bsdb("scan", "-d", path("db"), "--json").out();
  }

  private List<String> keys() {
    return rows().lines().map(line -> line.replaceAll(".*\"key\":\"([^\"]*)\".*", "$1")).toList();
  }

  private String schema() {
    return bsdb("stat", "-d", path("db"), "--schema").out();
  }

  // tables

  @ParameterizedTest
  @CsvSource({
    "_delta_log/00000000000000000000.json, Delta",
    "metadata/v1.metadata.json, Iceberg",
    "metadata/00001-0a1b.metadata.json, Iceberg",
    "metadata/00001-0a1b.gz.metadata.json, Iceberg",
    ".hoodie/hoodie.properties, Hudi",
    "_spark_metadata/0, Structured Streaming",
  })
  void aTableIsNotLooseFiles(String mark, String kind) throws Exception {
    part("table/a.parquet");
    part("table/day=1/b.parquet");
    part("in/sub/table/c.parquet");
    Files.createDirectories(folder.resolve("table").resolve(mark).getParent());
    Files.createDirectories(folder.resolve("in/sub/table").resolve(mark).getParent());
    Files.writeString(folder.resolve("table").resolve(mark), "{}");
    Files.writeString(folder.resolve("in/sub/table").resolve(mark), "{}");
    Files.createSymbolicLink(folder.resolve("link"), folder.resolve("table/day=1"));

    boolean lake = kind.equals("Delta") || kind.equals("Iceberg");
    if (lake) { // whose jar is not here
      assertRefused(build("-i", path("table"), "-kf", "id"), "needs bsdb-lake.jar");
    } else {
      assertRefused(build("-i", path("table"), "-kf", "id"), path("table") + ": is ", kind);
    }
    for (String input :
        List.of(
            "table/a.parquet",
            "table/day=1",
            "table/day=1/b.parquet",
            "table/day=*",
            "tab*/a.*",
            "link")) {
      assertRefused(
          build("-i", path(input), "-kf", "id"), path("table") + ": is ", kind, "--raw-files");
    }
    assertRefused(build("-i", path("in"), "-kf", "id"), path("in/sub/table") + ": is ");

    assertBuilt(build("-i", path("table"), "-kf", "id", "--raw-files", "--partitions", "ignore"));
    assertThat(keys()).containsExactly("1", "2");
  }

  @Test
  void aTableThatIsLeftOutDisturbsNobody() throws Exception {
    part("lake/plain/a.parquet");
    part("lake/delta/b.parquet");
    Files.createDirectories(folder.resolve("lake/delta/_delta_log"));

    assertRefused(build("-i", path("lake"), "-kf", "id"), path("lake/delta"));
    assertBuilt(build("-i", path("lake"), "-kf", "id", "--exclude", "delta"));
    assertThat(keys()).containsExactly("1");
    assertBuilt(build("-i", path("lake"), "-kf", "id", "--include", "plain"));
    assertThat(keys()).containsExactly("1");
    assertBuilt(build("-i", path("lake/plain"), "-kf", "id"));
  }

  @Test
  void namesThatOnlyLookLikeATableAreNone() throws Exception {
    part("in/metadata/a.parquet");
    Files.writeString(folder.resolve("in/_delta_log"), "a file");
    Files.createDirectories(folder.resolve("in/metadata/x.metadata.d"));

    assertBuilt(build("-i", path("in"), "-kf", "id"));
  }

  // names in upper and lower case

  private void row(String name, String schema, Written.Row row) throws IOException {
    Files.createDirectories(folder.resolve(name).getParent());
    Written.file(folder.resolve(name), schema, 1, row);
  }

  @Test
  void namesMayDifferInCase() throws Exception {
    String schema =
        "message m { required int64 id; optional binary v (STRING); optional group s { optional"
            + " int32 f; } }";
    row(
        "t/a.parquet",
        schema.replace(" v ", " V "),
        (row, i) -> {
          row.add("id", 1L);
          row.add("V", "a");
          row.addGroup("s").add("f", 7);
        });
    row(
        "t/b.parquet",
        schema.replace(" id;", " ID;").replace(" f;", " F;"),
        (row, i) -> {
          row.add("ID", 2L);
          row.add("v", "b");
          row.addGroup("s").add("F", 8);
        });

    assertBuilt(build("-i", path("t"), "-kf", "id"));
    assertThat(rows())
        .isEqualTo(
            """
            {"key":"1","value":{"id":1,"V":"a","s":{"f":7}}}
            {"key":"2","value":{"id":2,"V":"b","s":{"f":8}}}
            """);
    assertBuilt(build("-i", path("t"), "-kf", "s.F", "--value-fields", "v"));
    assertThat(rows())
        .isEqualTo(
            "{\"key\":\"7\",\"value\":{\"V\":\"a\"}}\n{\"key\":\"8\",\"value\":{\"V\":\"b\"}}\n");
    assertBuilt(build("-i", path("t"), "-kf", "ID", "--value-raw", "v"));
    assertThat(bsdb("get", "-d", path("db"), "1").out()).isEqualTo("a\n");
  }

  @Test
  void namesThatDifferOnlyInCaseAreToldApartOrRefused() throws Exception {
    String both = "message m { required int64 id; optional int32 V; optional int32 v; }";
    Written.Row row =
        (group, i) -> {
          group.add("id", 1L);
          group.add("V", 5);
          group.add("v", 6);
        };
    row("t/a.parquet", both, row);
    assertBuilt(build("-i", path("t"), "-kf", "id"));
    assertThat(rows()).isEqualTo("{\"key\":\"1\",\"value\":{\"id\":1,\"V\":5,\"v\":6}}\n");
    Files.move(folder.resolve("db"), folder.resolve("old"));

    row(
        "t/b.parquet",
        "message m { required int64 id; optional int32 v; }",
        (group, i) -> {
          group.add("id", 2L);
          group.add("v", 9);
        });
    assertRefused(
        build("-i", path("t"), "-kf", "id"), "b.parquet: has columns v", "a.parquet", "V and v");
    assertRefused(
        build("-i", path("t"), "-kf", "id", "--value-fields", "V"),
        "a.parquet: has columns V and v, but ",
        "b.parquet has v");
    assertRefused(build("-i", path("t"), "-kf", "V"), "a.parquet: has columns V and v");
    assertBuilt(build("-i", path("t"), "-kf", "id", "--value-fields", "v"));
    assertThat(rows())
        .isEqualTo("{\"key\":\"1\",\"value\":{\"v\":6}}\n{\"key\":\"2\",\"value\":{\"v\":9}}\n");
  }

  // partitions

  @Test
  void partitionsAreColumns() throws Exception {
    part("t/country=de/day=2024-01-31/a.parquet");
    part("t/country=de/day=2024-02-01/b.parquet");
    part("t/country=fr/day=__HIVE_DEFAULT_PARTITION__/c.parquet");

    assertBuilt(build("-i", path("t"), "-kf", "country,id", "--key-join", "|"));
    assertThat(rows())
        .isEqualTo(
            """
            {"key":"de|1","value":{"id":1,"name":null,"country":"de","day":"2024-01-31"}}
            {"key":"de|2","value":{"id":2,"name":null,"country":"de","day":"2024-02-01"}}
            {"key":"fr|3","value":{"id":3,"name":null,"country":"fr","day":null}}
            """);
    assertThat(schema())
        .containsSubsequence("\"id\"", "\"name\"", "\"country\"", "\"day\"", "\"date\"");

    assertBuilt(build("-i", path("t"), "-kf", "id", "--value-fields", "day,id"));
    assertThat(rows()).startsWith("{\"key\":\"1\",\"value\":{\"day\":\"2024-01-31\",\"id\":1}}");
    assertBuilt(build("-i", path("t"), "-kf", "id", "--value-raw", "country"));
    assertThat(bsdb("get", "-d", path("db"), "3").out()).isEqualTo("fr\n");

    CommandRun nulls = build("-i", path("t"), "-kf", "day", "-o", path("none"));
    assertThat(nulls.err()).contains("-o is given twice");
    Files.move(folder.resolve("db"), folder.resolve("old"));
    assertRefused(
        build("-i", path("t"), "-kf", "day"),
        "day=__HIVE_DEFAULT_PARTITION__/c.parquet: row 1: null key (column day)");
    assertBuilt(build("-i", path("t"), "-kf", "day", "--on-bad-line", "skip"));
    assertThat(keys()).containsExactly("2024-01-31", "2024-02-01");
  }

  @Test
  void onlyPartitionsMakeARow() throws Exception {
    part("t/a=1/b=x/a.parquet");
    part("t/a=2/b=y/a.parquet");

    assertBuilt(build("-i", path("t"), "-kf", "a", "--value-fields", "b"));
    assertThat(rows())
        .isEqualTo(
            "{\"key\":\"1\",\"value\":{\"b\":\"x\"}}\n{\"key\":\"2\",\"value\":{\"b\":\"y\"}}\n");
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 2 -3 | int | 1 2 -3",
        "007 +8 | int | 7 8",
        "1 3000000000 | long | 1 3000000000",
        "1 12345678901234567890 | decimal(20,0) | 1 12345678901234567890",
        "9223372036854775807 9223372036854775808 | decimal(20,0) | 9223372036854775807"
            + " 9223372036854775808",
        "1 1e3 | decimal(10,0) | 1 1000",
        "1 2.5 | double | 1.0 2.5",
        "1.5 NaN -Infinity | double | 1.5 \"NaN\" \"-Infinity\"",
        "2.5 3000000000 | string | \"2.5\" \"3000000000\"",
        "2.5 12345678901234567890 | string | \"2.5\" \"12345678901234567890\"",
        "1 x 02 | string | \"1\" \"x\" \"02\"",
        "2024-02-29 1969-12-31 | date | \"2024-02-29\" \"1969-12-31\"",
        "2024-02-30 2024-02-28 | string | \"2024-02-30\" \"2024-02-28\"",
        "2024-01 2024-02 | string | \"2024-01\" \"2024-02\"",
        "2024-02-29 7 | string | \"2024-02-29\" \"7\"",
        "2024-02-29_01%3A02%3A03 2024-02-29 | local-timestamp-micros | \"2024-02-29T01:02:03\""
            + " \"2024-02-29T00:00:00\"",
        "1969-12-31_23%3A59%3A59.5 | local-timestamp-micros | \"1969-12-31T23:59:59.500\"",
        "true false | string | \"true\" \"false\"",
        "4d 5f | string | \"4d\" \"5f\"",
        "0x10 1_000 | string | \"0x10\" \"1_000\"",
        "12345678901234567890123456789012345678901 | string |"
            + " \"12345678901234567890123456789012345678901\"",
        "1 __HIVE_DEFAULT_PARTITION__ | int | 1 null",
        "__HIVE_DEFAULT_PARTITION__ | string | null",
        "%2B1 a%2Fb%25%zz%4 | string | \"+1\" \"a/b%%zz%4\"",
        "%C3%A9 é %F0%9F%98%80 | string | \"é\" \"é\" \"😀\"",
        "a=b = | string | \"a=b\" \"=\"",
      })
  void typesAreThoseThatSparkInfers(String values, String type, String json) throws Exception {
    List<String> inputs = new ArrayList<>();
    for (String value : values.split(" ", -1)) { // an underscore stands for a blank in a timestamp
      String directory = "t/%70=" + value.replaceAll("(\\d\\d)_(\\d\\d%)", "$1 $2");
      part(directory + "/a.parquet");
      inputs.addAll(List.of("-i", path(directory)));
    }
    inputs.addAll(List.of("-kf", "id", "--value-fields", "p"));

    assertBuilt(build(inputs.toArray(new String[0])));
    assertThat(rows().lines().map(row -> row.replaceAll(".*\"p\":(.*)}}", "$1")))
        .containsExactly(json.split(" "));
    String word = type.replaceAll("\\(.*", "");
    assertThat(schema()).contains("\"" + word + "\"");
    if (type.startsWith("decimal")) {
      assertThat(schema()).contains("\"precision\":" + type.replaceAll("\\D*(\\d+),.*", "$1"));
    }

    inputs.addAll(List.of("--partitions", "text"));
    assertBuilt(build(inputs.toArray(new String[0])));
    assertThat(schema()).contains("[\"null\",\"string\"]");
  }

  @Test
  void keysOfEveryTypeHaveTheFormOfTheJson() throws Exception {
    part(
        "t/i=007/l=3000000000/e=12345678901234567890/d=1.50/a=2024-01-31/s=x%20y/"
            + "t=2024-01-31 12%3A00%3A00.25/p.parquet");
    for (String pair :
        List.of(
            "i 7",
            "l 3000000000",
            "e 12345678901234567890",
            "d 1.5",
            "a 2024-01-31",
            "s x y",
            "t 2024-01-31T12:00:00.250")) {
      assertBuilt(build("-i", path("t"), "-kf", pair.substring(0, 1)));
      assertThat(keys()).containsExactly(pair.substring(2));
    }
    assertBuilt(build("-i", path("t"), "-kf", "i", "--partitions", "text"));
    assertThat(keys()).containsExactly("007");
  }

  @Test
  void aFileHasTheSameRowHoweverItIsNamed() throws Exception {
    part("in/a=1/b=2/x.parquet");
    String row = "{\"key\":\"1\",\"value\":{\"id\":1,\"name\":null,\"a\":1,\"b\":2}}\n";

    for (String input :
        List.of(
            "in", "in/a=1", "in/a=1/b=2", "in/a=1/b=2/x.parquet", "in/a=*", "in/*/b=?/*", "*")) {
      assertBuilt(build("-i", path(input), "-kf", "id", "--include", "x.parquet"));
      assertThat(rows()).as(input).isEqualTo(row);
    }
  }

  @Test
  void partitionsCanBeLeftOut() throws Exception {
    part("t/a=1/x.parquet");
    part("t/y.parquet");

    assertBuilt(build("-i", path("t"), "-kf", "id", "--partitions", "ignore"));
    assertThat(rows())
        .isEqualTo(
            """
            {"key":"1","value":{"id":1,"name":null}}
            {"key":"2","value":{"id":2,"name":null}}
            """);
    assertThat(build("-i", path("t"), "-kf", "a", "--partitions", "ignore").err())
        .contains("has no column a for the key");
    assertThat(build("-i", path("t"), "-kf", "a", "--partitions", "all").err())
        .contains("--partitions takes infer, text or ignore, not \"all\"");
  }

  @Test
  void partitionsThatDifferNameBothPaths() throws Exception {
    part("t/a=1/b=2/x.parquet");
    part("t/a=1/y.parquet");
    assertRefused(
        build("-i", path("t"), "-kf", "id"),
        path("t/a=1/b=2/x.parquet"),
        path("t/a=1/y.parquet"),
        "a, b",
        "--include 'b=*/'",
        "--exclude 'b=*/'",
        "--partitions ignore");

    part("u/a=1/b=2/x.parquet");
    part("u/b=1/a=2/x.parquet");
    assertRefused(
        build("-i", path("u"), "-kf", "id"),
        path("u/a=1/b=2/x.parquet"),
        path("u/b=1/a=2/x.parquet"));

    part("v/x.parquet");
    part("v/z=1/x.parquet");
    assertRefused(
        build("-i", path("v"), "-kf", "id"),
        path("v/x.parquet"),
        path("v/z=1/x.parquet"),
        "--include 'z=*/'",
        "--exclude 'z=*/'");
    assertBuilt(build("-i", path("v"), "-kf", "id", "--exclude", "z=*/"));
    assertThat(rows()).doesNotContain("\"z\"");
    assertBuilt(build("-i", path("v"), "-kf", "id", "--include", "z=*/"));
    assertThat(rows()).contains("\"z\":1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a=", "=1", "a=1/a=2", "a=%FF", "%C3=1", "a=%ED%A0%80"})
  void directoriesThatCannotBePartitionsAreNamed(String directory) throws Exception {
    part("t/" + directory + "/x.parquet");
    assertRefused(
        build("-i", path("t"), "-kf", "id"),
        path("t/" + directory + "/x.parquet"),
        "--partitions ignore");
    assertBuilt(build("-i", path("t"), "-kf", "id", "--partitions", "ignore"));
  }

  @Test
  void aColumnOfTheFileWins() throws Exception {
    String own = "message m { required int64 id; required binary country (STRING); }";
    part("t/country=de/a.parquet", own);
    part("t/country=fr/a.parquet", own);

    CommandRun run = build("-i", path("t"), "-kf", "country,id", "--key-join", "-");
    assertBuilt(run);
    assertThat(run.err())
        .contains("the files have a column country of their own, which is used instead of")
        .contains("country=");
    assertThat(rows())
        .isEqualTo(
            """
            {"key":"file-1","value":{"id":1,"country":"file"}}
            {"key":"file-2","value":{"id":2,"country":"file"}}
            """);

    part("t/country=it/b.parquet");
    Files.move(folder.resolve("db"), folder.resolve("old"));
    assertRefused(
        build("-i", path("t"), "-kf", "id"),
        path("t/country=de/a.parquet"),
        path("t/country=it/b.parquet"),
        "country");
    assertBuilt(build("-i", path("t"), "-kf", "id", "--value-fields", "id"));
  }

  @Test
  void aPartitionWhoseNameBeginsWithAnUnderscoreIsRead() throws Exception {
    part("t/_hour=5/x.parquet");
    part("t/_temporary/_hour=6/x.parquet");
    part("t/.hidden=1/x.parquet");
    for (String input : List.of("t", "t/*", "t/_hour=*", "t/*/x.parquet")) {
      assertBuilt(build("-i", path(input), "-kf", "id"));
      assertThat(rows())
          .as(input)
          .isEqualTo("{\"key\":\"1\",\"value\":{\"id\":1,\"name\":null,\"_hour\":5}}\n");
    }
  }

  // patterns

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--exclude y=1 | 3 4 | 1 | 0",
        "--exclude y=1/ --exclude m=2 | 3 | 2 | 0",
        "--exclude m=1 | 2 4 | 2 | 0",
        "--exclude y=2/m=1 | 1 2 4 | 1 | 0",
        "--exclude /m=1 | 1 2 3 4 | 0 | 0",
        "--exclude y=2/* | 1 2 | 2 | 0",
        "--exclude **/m=1 | 2 4 | 2 | 0",
        "--exclude a.parquet | 2 4 | 0 | 2",
        "--exclude a.parquet/ | 1 2 3 4 | 0 | 0",
        "--include y=2 | 3 4 | 0 | 2",
        "--include y=1/m=2 --include y=2/m=1 | 2 3 | 0 | 2",
        "--include {y=1,nothing} --exclude m=[1-1] | 2 | 2 | 1",
        "--include b.parquet | 2 4 | 0 | 2",
        "--include y=? --exclude m=? --exclude none | | 4 | 0",
      })
  void patternsChooseDirectories(String options, String ids, int directories, int files)
      throws Exception {
    part("t/y=1/m=1/a.parquet");
    part("t/y=1/m=2/b.parquet");
    part("t/y=2/m=1/a.parquet");
    part("t/y=2/m=2/b.parquet");
    for (String input : List.of("t", "t/y=*")) {
      List<String> line = new ArrayList<>(List.of("-i", path(input), "-kf", "id", "--json"));
      line.addAll(List.of(options.split(" ")));
      CommandRun run = build(line.toArray(new String[0]));
      if (ids == null) {
        assertRefused(run, path(input), "--include and --exclude leave nothing");
        continue;
      }
      assertBuilt(run);
      assertThat(keys()).containsExactly(ids.split(" "));
      assertThat(run.out())
          .contains("\"filesRead\":" + ids.split(" ").length + ",")
          .contains("\"directoriesLeftOut\":" + directories + ",")
          .contains("\"filesLeftOut\":" + files + ",");
    }
  }

  @Test
  void theReportSaysWhatWasLeftOut() throws Exception {
    part("t/a/x.parquet");
    part("t/b/x.parquet");
    CommandRun run = build("-i", path("t"), "-kf", "id", "--exclude", "b");
    assertThat(run.err())
        .containsPattern("files read +1\n")
        .containsPattern("left out by patterns +1 directories, 0 files\n");
    assertThat(build("-i", path("t"), "-kf", "id", "--exclude", "a[").err())
        .contains("--exclude a[: ");
    assertThat(build("-i", path("t"), "-kf", "id", "--include", "").err())
        .contains("--include needs a pattern, not \"\"");
    assertBuilt(build("-i", path("t/a/x.parquet"), "-kf", "id", "--exclude", "x.parquet"));
  }
}
