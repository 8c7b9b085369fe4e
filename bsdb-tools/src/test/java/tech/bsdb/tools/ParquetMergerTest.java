package tech.bsdb.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.parquet.Written;

/** {@code bsdb merge-parquet}, from its arguments to the rows of the new database. */
class ParquetMergerTest {
  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /** Rows 1 to 3, with a name and an age. */
  @BeforeEach
  void users() throws IOException {
    Written.file(
        folder.resolve("users.parquet"),
        "message users { required int64 id; optional binary name (STRING); optional int64 age; }",
        3,
        (row, i) -> row.append("id", i + 1L).append("name", "user-" + (i + 1)).append("age", 20L));
    CommandRun built =
        bsdb(
            "build-parquet",
            "-i",
            path("users.parquet"),
            "-kf",
            "id",
            "-o",
            path("db"),
            "--layout",
            "blocked");
    assertThat(built.code()).as(built.toString()).isZero();
  }

  private void changes(String schema, int rows, Written.Row row) throws IOException {
    Files.deleteIfExists(folder.resolve("in.parquet"));
    Written.file(folder.resolve("in.parquet"), "message changes { " + schema + " }", rows, row);
  }

  private CommandRun merge(String... options) {
    List<String> line =
        new ArrayList<>(
            List.of("merge-parquet", "-d", path("db"), "-i", path("in.parquet"), "-kf", "id"));
    line.addAll(List.of("-o", path("new")));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private String merged(String... options) {
    CommandRun run = merge(options);
    assertThat(run.code()).as(run.toString()).isZero();
    return bsdb("scan", "-d", path("new"), "--json").out();
  }

  private static String row(long id, String name, String age) {
    return "{\"key\":\"%1$d\",\"value\":{\"id\":%1$d,\"name\":%2$s,\"age\":%3$s}}\n"
        .formatted(id, name, age);
  }

  private void assertRefused(CommandRun run, String... words) throws IOException {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err()).contains(words).doesNotContain("internal error");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.equals("new") || name.contains("bsdb-build"));
    }
  }

  @Test
  void rowsOfTheSameColumnsReplaceOthers() throws Exception {
    changes(
        "required int64 id; optional binary name (STRING); optional int64 age;",
        2,
        (row, i) -> row.append("id", 2L + 2 * i).append("name", "new"));

    assertThat(merged())
        .isEqualTo(
            row(1, "\"user-1\"", "20")
                + row(2, "\"new\"", "null")
                + row(3, "\"user-3\"", "20")
                + row(4, "\"new\"", "null"));
    assertThat(merge("--overwrite", "--json").out())
        .contains("\"rows\":2,", "\"kept\":2,\"replaced\":1,\"added\":1,\"deleted\":0,");
  }

  /** By the names of the inputs, or because the command line says so. */
  @Test
  void bsdbMergeReadsParquet() throws Exception {
    changes(
        "required int64 id; optional binary name (STRING); optional int64 age;",
        2,
        (row, i) -> row.append("id", 2L + 2 * i).append("name", "new"));
    String expected = merged();
    Path copy = Files.copy(folder.resolve("in.parquet"), folder.resolve("in"));
    for (List<String> input :
        List.of(
            List.of("-i", path("in.parquet")),
            List.of("-i", copy.toString(), "--format", "parquet"))) {
      List<String> line = new ArrayList<>(List.of("merge", "-d", path("db"), "-kf", "id"));
      line.addAll(List.of("-o", path("new"), "--overwrite"));
      line.addAll(input);
      assertThat(bsdb(line.toArray(String[]::new)).code()).isZero();
      assertThat(bsdb("scan", "-d", path("new"), "--json").out()).isEqualTo(expected);
    }
  }

  @Test
  void rowsAreConvertedToTheStoredSchema() throws Exception {
    changes(
        "optional int32 age; required binary op (STRING); required int32 id;",
        2,
        (row, i) -> row.append("age", 30 + i).append("op", "U").append("id", 3 + i));

    assertThat(merged())
        .isEqualTo(
            row(1, "\"user-1\"", "20")
                + row(2, "\"user-2\"", "20")
                + row(3, "null", "30")
                + row(4, "null", "31"));
    assertThat(bsdb("stat", "-d", path("new"), "--schema").out())
        .isEqualTo(bsdb("stat", "-d", path("db"), "--schema").out());
    assertThat(bsdb("verify", "-d", path("new")).code()).isZero();
  }

  @Test
  void aColumnMarksDeletions() throws Exception {
    String[] ops = {"D", "U", "D"};
    changes(
        "required int64 id; optional binary op (STRING); optional binary name (STRING);",
        4,
        (row, i) -> {
          row.append("id", 1L + i);
          if (i < ops.length) {
            row.append("op", ops[i]);
          }
        });

    assertThat(merged("--delete-field", "op=D"))
        .isEqualTo(row(2, "null", "null") + row(4, "null", "null"));
    Path gone = Files.writeString(folder.resolve("gone"), "34\n");
    assertThat(
            merged(
                "--delete-field",
                "op=D",
                "--delete",
                gone.toString(),
                "--key-encoding",
                "hex",
                "--overwrite"))
        .isEqualTo(row(2, "null", "null"));
    assertThat(merge("--delete-field", "what=D", "--overwrite").err())
        .startsWith(
            "bsdb merge-parquet: "
                + path("in.parquet")
                + ": has no column what for --delete-field (its columns: id, op, name)");
  }

  @Test
  void aMarkMayBeANumberInsideAStruct() throws Exception {
    changes(
        "required int64 id; required group meta { required int32 state; }",
        2,
        (row, i) -> {
          row.append("id", 1L + i);
          Group meta = row.addGroup("meta");
          meta.append("state", i);
        });

    assertThat(merged("--delete-field", "meta.state=0"))
        .isEqualTo(row(2, "null", "null") + row(3, "\"user-3\"", "20"));
  }

  @Test
  void theKeyMayBeTheMark() throws Exception {
    changes("required int64 id;", 2, (row, i) -> row.append("id", 1L + i));

    assertThat(merged("--delete-field", "id=1"))
        .isEqualTo(row(2, "null", "null") + row(3, "\"user-3\"", "20"));
  }

  @Test
  void aDeletionNeedNotBeARowOfTheDatabase() throws Exception {
    Written.file(
        folder.resolve("strict.parquet"),
        "message strict { required int64 id; required int64 v; }",
        2,
        (row, i) -> row.append("id", 1L + i).append("v", 5L));
    bsdb(
        "build-parquet",
        "-i",
        path("strict.parquet"),
        "-kf",
        "id",
        "-o",
        path("db"),
        "--layout",
        "blocked",
        "--overwrite");
    changes(
        "required int64 id; optional int64 v; optional boolean gone;",
        2,
        (row, i) -> {
          row.append("id", 1L + i);
          if (i == 0) {
            row.append("gone", true);
          } else {
            row.append("v", 6L);
          }
        });

    assertRefused(
        merge(),
        path("in.parquet")
            + ": row 1: a row that does not fit the schema of the database (column \"v\" is null,"
            + " which is not allowed there)");
    assertThat(merged("--delete-field", "gone=true"))
        .isEqualTo("{\"key\":\"2\",\"value\":{\"id\":2,\"v\":6}}\n");
  }

  @Test
  void rowsThatDoNotFitAreRefused() throws Exception {
    changes(
        "required int64 id; required double age;",
        1,
        (row, i) -> row.append("id", 1L).append("age", 0.5));

    assertRefused(
        merge(),
        "bsdb merge-parquet: the rows do not fit the schema of the database: field \"age\" is"
            + " double, but null or long in the stored schema (bsdb stat --schema shows that"
            + " schema)");
    assertRefused(
        merge("--value-raw", "id"), "--value-raw is for plain values, but the database has typed");
    assertRefused(merge("-z"), "-z cannot be given: a merge keeps the base's kind of database");
  }

  @Test
  void plainValuesComeFromOneColumn() throws Exception {
    Path text = Files.writeString(folder.resolve("in.txt"), "1 one\n2 two\n");
    bsdb("build", "-i", text.toString(), "-o", path("db"), "--overwrite", "--layout", "blocked");
    changes(
        "required int64 id; optional binary v (STRING);",
        2,
        (row, i) -> {
          row.append("id", 2L + i);
          if (i == 1) {
            row.append("v", "three");
          }
        });

    assertRefused(merge(), "the values of the database are plain, not typed rows", "--value-raw");
    assertThat(merge("--value-raw", "v", "--on-bad-line", "skip", "--json").out())
        .contains("\"rejected\":1", "\"added\":1");
    assertThat(bsdb("scan", "-d", path("new")).out()).isEqualTo("1 one\n2 two\n3 three\n");
  }

  @Test
  void keysAloneNeedNoParquet() throws Exception {
    Path gone = Files.writeString(folder.resolve("gone"), "1\n3\n");

    CommandRun run =
        bsdb("merge-parquet", "-d", path("db"), "--delete", gone.toString(), "-o", path("new"));

    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(bsdb("scan", "-d", path("new"), "--json").out())
        .isEqualTo(row(2, "\"user-2\"", "20"));
  }

  @Test
  void whatIsForRowsNeedsThem() throws Exception {
    Path gone = Files.writeString(folder.resolve("gone"), "1\n");
    for (String option : List.of("-kf id", "--delete-field op=D", "--include *", "-nn here")) {
      List<String> line = new ArrayList<>(List.of("merge-parquet", "-d", path("db")));
      line.addAll(List.of("--delete", gone.toString(), "-o", path("new")));
      line.addAll(List.of(option.split(" ")));
      assertRefused(
          bsdb(line.toArray(String[]::new)),
          option.replaceAll(" .*", "") + " is for records to merge: name their files with -i");
    }
  }

  @Test
  void laterFilesWin() throws Exception {
    changes(
        "required int64 id; optional binary name (STRING);",
        1,
        (row, i) -> row.append("id", 1L).append("name", "first"));
    Written.file(
        folder.resolve("later.parquet"),
        "message later { required int64 id; optional binary name (STRING); }",
        1,
        (row, i) -> row.append("id", 1L).append("name", "last"));

    assertThat(merged("-i", path("later.parquet"))).startsWith(row(1, "\"last\"", "null"));
  }

  @Test
  void namesMayDifferInCaseFromThoseOfTheDatabase() throws Exception {
    changes(
        "required int64 ID; optional int64 Age; optional binary NAME (STRING);",
        1,
        (row, i) -> row.append("ID", 2L).append("Age", 7L).append("NAME", "new"));

    assertThat(merged())
        .isEqualTo(
            row(1, "\"user-1\"", "20") + row(2, "\"new\"", "7") + row(3, "\"user-3\"", "20"));
  }

  @Test
  void namesThatDifferOnlyInCaseAreToldApartOrRefused() throws Exception {
    changes(
        "required int64 id; optional group s { optional int32 F; optional int32 f; } optional int64"
            + " age; optional int64 Age;",
        1,
        (row, i) -> {
          row.append("id", 2L).append("age", 6L).append("Age", 7L);
          row.addGroup("s").append("F", 1).append("f", 2);
        });
    assertRefused(
        merge(), "field \"Age\", field \"age\" and field \"age\" in the stored schema", "told");
    assertThat(merged("--value-fields", "id,age", "--overwrite")).contains("null,\"age\":6}");

    Files.move(folder.resolve("in.parquet"), folder.resolve("first.parquet"));
    Written.file(
        folder.resolve("others.parquet"),
        "message m { required int64 id; optional group S { optional int32 F; optional int32 f; } }",
        1,
        (row, i) -> row.append("id", 1L).addGroup("S").append("F", 1).append("f", 2));
    bsdb(
        "build-parquet",
        "-i",
        path("others.parquet"),
        "-kf",
        "id",
        "-o",
        path("db"),
        "--layout",
        "blocked",
        "--overwrite");
    Files.copy(folder.resolve("first.parquet"), folder.resolve("in.parquet"));
    assertThat(merged("--value-fields", "id,s", "--overwrite"))
        .contains("{\"id\":2,\"S\":{\"F\":1,\"f\":2}}");
    Files.delete(folder.resolve("in.parquet"));
    changes(
        "required int64 id; optional group s { optional int32 f; }",
        1,
        (row, i) -> row.append("id", 2L).addGroup("s").append("f", 2));
    assertThat(merge("--overwrite").err())
        .contains("field \"S.f\" and field \"S.F\", field \"S.f\" in the stored schema");
  }

  @Test
  void aColumnIsNamedOnce() throws Exception {
    changes(
        "required int64 id; optional int64 age; optional int64 Name;",
        1,
        (row, i) -> row.append("id", 2L).append("age", 7L).append("Name", 8L));
    String[] build = {"build-parquet", "-i", path("in.parquet"), "-kf", "id", "-o", path("new")};
    List<String> line = new ArrayList<>(List.of(build));
    line.addAll(List.of("--value-fields", "id,age,AGE"));

    assertRefused(
        bsdb(line.toArray(String[]::new)),
        "bsdb build-parquet: --value-fields names age twice: age, AGE");
    assertRefused(
        merge("--value-fields", "NAME,age,name"), "--value-fields names Name twice: NAME, name");
    changes(
        "required int64 id; optional int64 age; optional int64 Age;",
        1,
        (row, i) -> row.append("id", 2L).append("age", 7L).append("Age", 8L));
    line.set(line.size() - 1, "Age,age");
    assertThat(bsdb(line.toArray(String[]::new)).code()).isZero();
    assertThat(bsdb("scan", "-d", path("new"), "--json").out())
        .isEqualTo("{\"key\":\"2\",\"value\":{\"Age\":8,\"age\":7}}\n");
  }

  private void base(String schema, Written.Row row) throws IOException {
    Files.deleteIfExists(folder.resolve("base.parquet"));
    Written.file(folder.resolve("base.parquet"), "message base { " + schema + " }", 1, row);
    CommandRun built =
        bsdb(
            "build-parquet",
            "-i",
            path("base.parquet"),
            "-kf",
            "id",
            "-o",
            path("db"),
            "--layout",
            "blocked",
            "--overwrite");
    assertThat(built.code()).as(built.toString()).isZero();
  }

  @Test
  void numbersThatTheStoredTypeWouldRoundAreBadRows() throws Exception {
    base(
        "required int64 id; required double v; optional float f;",
        (row, i) -> row.append("id", 0L).append("v", 0.5).append("f", 0.5f));
    changes(
        "required int64 id; required int64 v; optional int32 f;",
        3,
        (row, i) ->
            row.append("id", 1L + i)
                .append("v", (1L << 53) + (i == 1 ? 1 : 0))
                .append("f", (1 << 24) + (i == 2 ? 1 : 0)));

    assertRefused(
        merge(),
        path("in.parquet")
            + ": row 2: a row that does not fit the schema of the database (column \"v\":"
            + " 9007199254740993 does not fit exactly in a double)");
    assertThat(merge("--on-bad-line", "skip", "--json").out())
        .contains("\"rejected\":2", "\"kept\":1,\"replaced\":0,\"added\":1,");
    assertThat(bsdb("get", "-d", path("new"), "--json", "1").out())
        .contains("\"v\":9.007199254740992E15,\"f\":1.6777216E7}");
  }

  @Test
  void keysThatTheStoredTypeWritesInAnotherWayAreRefused() throws Exception {
    base("required double id;", (row, i) -> row.append("id", 7.0));
    changes("required int32 id;", 1, (row, i) -> row.append("id", 7));
    assertRefused(
        merge(),
        path("in.parquet")
            + ": key column id is int, but double in the schema of the database, where the same key"
            + " may have another text (--widen gives it that of double)");
    assertThat(merged("--widen", "--overwrite"))
        .isEqualTo("{\"key\":\"7.0\",\"value\":{\"id\":7.0}}\n");

    changes("required float ID;", 1, (row, i) -> row.append("ID", 0.1f));
    assertThat(merge("--overwrite").err()).contains("is float, but double in", "--widen gives");
    changes("required int64 id;", 1, (row, i) -> row.append("id", 7L));
    for (String[] options : new String[][] {{"--overwrite"}, {"--overwrite", "--widen"}}) {
      assertThat(merge(options).err())
          .contains("is long, but double in", "(write the column as double)");
    }
    base("required int64 id (DECIMAL(18,2));", (row, i) -> row.append("id", 700L));
    assertThat(merge("--overwrite").err()).contains("is long, but decimal(18,2) in", "(write");
  }
}
