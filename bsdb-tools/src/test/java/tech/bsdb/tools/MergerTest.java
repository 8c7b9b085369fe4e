package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Sampled;

/** {@code bsdb merge}, from its arguments to the records of the new database. */
class MergerTest {
  private static final String USER =
      "{'type':'record','name':'User','fields':[{'name':'id','type':'long'},"
          + "{'name':'name','type':['null','string'],'default':null},"
          + "{'name':'age','type':'int','default':-1}]}";

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text, UTF_8).toString();
  }

  private void base(String records, String... options) throws IOException {
    List<String> line =
        new ArrayList<>(List.of("build", "-i", file("base.in", records), "-o", path("db")));
    line.addAll(List.of(options));
    if (Stream.of("-a", "-c", "-z", "--layout").noneMatch(line::contains)) {
      line.addAll(List.of("--layout", "blocked")); // whose scans show the order of the records
    }
    CommandRun built = bsdb(line.toArray(String[]::new));
    assertThat(built.code()).as(built.toString()).isZero();
  }

  /** Builds a base of users as typed rows, from JSON lines. */
  private void users(String lines) throws IOException {
    base(lines, "--jsonl", "--key-field", "id", "--avro-schema", schema("user.avsc", USER));
  }

  private String schema(String name, String schema) throws IOException {
    return file(name, schema.replace('\'', '"'));
  }

  private CommandRun merge(String... options) {
    List<String> line = new ArrayList<>(List.of("merge", "-d", path("db"), "-o", path("new")));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private String merged(String... options) {
    CommandRun run = merge(options);
    assertThat(run.code()).as(run.toString()).isZero();
    return bsdb("scan", "-d", path("new")).out();
  }

  private void assertRefused(CommandRun run, String... words) throws IOException {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err()).contains(words).doesNotContain("internal error", "\tat ");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.equals("new") || name.contains("bsdb-build"));
    }
  }

  @Test
  void recordsReplaceOthersOrAreAdded() throws Exception {
    base("a 1\nb 2\nc 3\n");

    assertThat(merged("-i", file("in", "b two\nd 4\n"))).isEqualTo("a 1\nb two\nc 3\nd 4\n");
    assertThat(bsdb("scan", "-d", path("db")).out()).isEqualTo("a 1\nb 2\nc 3\n");
  }

  @Test
  void keysInFilesAreDeletedAfterAllInputs() throws Exception {
    base("a 1\nb 2\nc 3\n");

    CommandRun run =
        merge(
            "-i",
            file("in", "b two\nd 4\ne 5\n"),
            "--delete",
            file("gone", "b\r\nd"),
            "--delete",
            file("more", "absent\na\n"),
            "--json");

    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.out())
        .hasLineCount(1)
        .contains("\"lines\":3,\"records\":2,\"kept\":1,\"replaced\":0,\"added\":1,\"deleted\":2,")
        .contains("\"deletedAbsent\":2,\"superseded\":2,\"keysToDelete\":4,\"rejected\":0");
    assertThat(bsdb("scan", "-d", path("new")).out()).isEqualTo("c 3\ne 5\n");
  }

  @Test
  void theReportTellsWhatBecameOfEveryRecord() throws Exception {
    base("a 1\nb 2\nc 3\n");

    CommandRun run =
        merge("-i", file("in", "b 4\nd 5\n"), "--delete", file("gone", "a\nx\n"), "-v");

    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err())
        .contains("built " + path("new") + ": 3 records in ")
        .containsPattern("lines read +2\n")
        .containsPattern("keys to delete +2\n")
        .containsPattern("records kept +1\n")
        .containsPattern("replaced +1\n")
        .containsPattern("added +1\n")
        .containsPattern(" deleted +1\n")
        .containsPattern("deletions of absent keys +1\n")
        .containsPattern("superseded +0\n")
        .contains("verified " + path("new"))
        .doesNotContain("duplicates");
    assertThat(merge("-i", path("in"), "--overwrite", "-q").err()).isEmpty();
  }

  @Test
  void theLastChangeOfAKeyCounts() throws Exception {
    base("a 1\nb 2\n");
    String monday = file("monday", "a mon\nb mon\nc mon\nc again\n");
    String tuesday = file("tuesday", "b tue\n");

    assertThat(merged("-i", monday, "-i", tuesday)).isEqualTo("a mon\nb tue\nc again\n");
    assertThat(merged("-i", tuesday, "-i", monday, "--overwrite"))
        .isEqualTo("a mon\nb mon\nc again\n");
  }

  @Test
  void deletionsAloneAreEnough() throws Exception {
    base("a 1\nb 2\n");
    Path zipped = folder.resolve("gone.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(zipped))) {
      out.write("a\n".getBytes(UTF_8));
    }

    assertRefused(merge("-i", "-", "--delete", "-"), "- is given twice");
    assertThat(merged("--delete", zipped.toString())).isEqualTo("b 2\n");
  }

  @Test
  void keysToDeleteAreEncodedLikeThoseOfTheInput() throws Exception {
    base("61ff 1\n62 2\n \n", "--key-encoding", "hex", "--allow-empty-key");

    assertThat(
            merged(
                "-i",
                file("in", "62 two\n"),
                "--delete",
                file("gone", "61FF\n\n"),
                "--key-encoding",
                "hex",
                "--allow-empty-key"))
        .isEqualTo("b two\n");
    String latin = folder.resolve("latin").toString();
    Files.write(Path.of(latin), new byte[] {(byte) 0xE9, '\n'});
    base("\u00e9 1\nb 2\n", "--overwrite");
    assertThat(merged("--delete", latin, "-e", "ISO-8859-1", "--overwrite")).isEqualTo("b 2\n");
  }

  @Test
  void aBadLineNamesItsPlace() throws Exception {
    base("a 1\n");
    String gone = file("gone", "a\n\n");

    assertRefused(
        merge("--delete", gone),
        "bsdb merge: " + gone + ":2: empty line (--allow-empty-key takes it as the empty key)\n");
    assertRefused(
        merge("--delete", file("hex", "61\n6\n"), "--key-encoding", "hex"),
        "bsdb merge: " + path("hex") + ":2: the key is not hex\n");
    assertRefused(
        merge("-i", file("in", "b 2\nbad\n")),
        path("in") + ":2: no separator \" \" in the line (--on-bad-line skip leaves such lines");
    assertThat(merged("-i", path("in"), "--on-bad-line", "skip", "--rejects", path("bad")))
        .isEqualTo("a 1\nb 2\n");
    assertThat(folder.resolve("bad")).content().startsWith(path("in") + ":2: ");
    assertThat(
            bsdb(
                    "merge",
                    "-d",
                    path("db"),
                    "-o",
                    path("x"),
                    "--delete",
                    gone,
                    "-i",
                    path("in"),
                    "--on-bad-line",
                    "skip")
                .err())
        .startsWith("bsdb merge: " + gone + ":2: empty line");
    assertThat(bsdb("scan", "-d", path("db")).out()).isEqualTo("a 1\n");
  }

  @Test
  void aColumnOfCsvMarksDeletions() throws Exception {
    base("id,name\n1,Ann\n2,Bob\n3,Cid\n", "--csv", "--value-column", "name");
    String changes = file("in.csv", "id,op,name\n1,D,\n2,U,Rob\n4,D,\n5,,Eve\n");

    assertThat(merged("-i", changes, "--csv", "--value-column", "name", "--delete-field", "op=D"))
        .isEqualTo("2 Rob\n3 Cid\n5 Eve\n");
    assertThat(merged("-i", changes, "--csv", "--delete-field", "op=D", "--overwrite"))
        .as("the mark is no part of the value")
        .isEqualTo("2 Rob\n3 Cid\n5 Eve\n");
    assertThat(merged("-i", changes, "--csv", "--delete-field", "op=", "--overwrite"))
        .isEqualTo("1 \n2 Rob\n3 Cid\n4 \n");
    assertThat(
            bsdb(
                    "merge",
                    "-d",
                    path("db"),
                    "-o",
                    path("x"),
                    "-i",
                    changes,
                    "--csv",
                    "--delete-field",
                    "which=D")
                .err())
        .startsWith("bsdb merge: " + changes + ": no column \"which\"; the columns are 1 \"id\"");
  }

  @Test
  void aFieldOfJsonMarksDeletions() throws Exception {
    base("{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":2}\n", "--jsonl", "--key-field", "id");
    String changes =
        file(
            "in.jsonl",
            """
            {"id":1,"gone":true}
            {"gone":false,"id":3}
            {"id":4,"gone":null}
            {"id":5,"gone":{"gone":true}}
            """);

    assertThat(merged("-i", changes, "--jsonl", "--key-field", "id", "--delete-field", "gone=true"))
        .isEqualTo(
            """
            2 {"id":2,"v":2}
            3 {"gone":false,"id":3}
            4 {"id":4,"gone":null}
            5 {"id":5,"gone":{"gone":true}}
            """);
    assertThat(
            bsdb(
                    "merge",
                    "-d",
                    path("db"),
                    "-o",
                    path("x"),
                    "-i",
                    file("b", "{\"gone\":true}"),
                    "--jsonl",
                    "--key-field",
                    "id",
                    "--delete-field",
                    "gone=true")
                .err())
        .startsWith("bsdb merge: " + path("b") + ":1: no field \"id\" in the JSON object");
    for (String twice :
        List.of(
            "{\"id\":1,\"gone\":true,\"gone\":false}",
            "{\"id\":1,\"gone\":false,\"gone\":true}",
            "{\"gone\":null,\"id\":1,\"gone\":true}")) {
      CommandRun run =
          merge(
              "--overwrite",
              "-i",
              file("b", twice),
              "--jsonl",
              "--key-field",
              "id",
              "--delete-field",
              "gone=true");
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.err())
          .startsWith("bsdb merge: " + path("b") + ":1: the field of --delete-field comes twice");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"op", "=D", ""})
  void aMarkIsAFieldAndItsValue(String mark) throws Exception {
    base("a 1\n");

    assertRefused(
        merge("-i", file("in", "{}"), "--jsonl", "--key-field", "id", "--delete-field", mark),
        "--delete-field takes FIELD=VALUE, such as op=D, not \"" + mark + "\"");
  }

  @Test
  void textLinesHaveNoFieldThatMarksDeletions() throws Exception {
    base("a 1\n");

    assertRefused(
        merge("-i", file("in", "a 1\n"), "--delete-field", "op=D"),
        "--delete-field needs --csv or --jsonl");
  }

  @Test
  void typedRowsTakeTheSchemaOfTheBase() throws Exception {
    users("{\"id\":1,\"name\":\"Ann\",\"age\":30}\n{\"id\":2,\"age\":40}\n");

    String[] changes = {
      "-i",
      file(
          "in.jsonl",
          """
          {"age":31,"name":"Anne","id":1,"op":"U"}
          {"op":"D","id":2}
          {"id":3}
          """),
      "--jsonl",
      "--key-field",
      "id",
      "--delete-field",
      "op=D"
    };
    CommandRun run = merge(changes);

    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(bsdb("scan", "-d", path("new"), "--json").out())
        .isEqualTo(
            """
            {"key":"1","value":{"id":1,"name":"Anne","age":31}}
            {"key":"3","value":{"id":3,"name":null,"age":-1}}
            """);
    assertThat(
            merge(
                    "-i",
                    file("in.csv", "name,id,op\nBert,2,\n,1,D\n"),
                    "--csv",
                    "--key-column",
                    "id",
                    "--delete-field",
                    "op=D",
                    "--overwrite")
                .code())
        .isZero();
    assertThat(bsdb("scan", "-d", path("new"), "--json").out())
        .isEqualTo("{\"key\":\"2\",\"value\":{\"id\":2,\"name\":\"Bert\",\"age\":-1}}\n");
  }

  @Test
  void rowsOfAnotherSchemaAreConverted() throws Exception {
    users("{\"id\":1,\"name\":\"Ann\",\"age\":30}\n");
    String other =
        schema(
            "other.avsc",
            "{'type':'record','name':'Other','fields':[{'name':'extra','type':'double'},"
                + "{'name':'name','type':['null','string']},{'name':'id','type':'int'}]}");
    String[] in = {"--jsonl", "--key-field", "id", "--avro-schema", other};
    List<String> line =
        new ArrayList<>(List.of("-i", file("in", "{\"id\":2,\"name\":\"Bob\",\"extra\":0.5}\n")));
    line.addAll(List.of(in));

    assertThat(merge(line.toArray(String[]::new)).code()).isZero();
    assertThat(bsdb("get", "-d", path("new"), "--json", "2").out())
        .isEqualTo("{\"key\":\"2\",\"value\":{\"id\":2,\"name\":\"Bob\",\"age\":-1}}\n");
    assertThat(
            merge(
                    "-i",
                    file("in.csv", "id,name,extra\n2,Bob,1\n"),
                    "--csv",
                    "--avro-schema",
                    other,
                    "--overwrite")
                .code())
        .isZero();
    assertThat(bsdb("get", "-d", path("new"), "--json", "2").out())
        .isEqualTo("{\"key\":\"2\",\"value\":{\"id\":2,\"name\":\"Bob\",\"age\":-1}}\n");
  }

  @Test
  void rowsThatDoNotFitTheBaseAreRefused() throws Exception {
    users("{\"id\":1,\"name\":\"Ann\",\"age\":30}\n");
    String text = file("in", "1 x\n");
    String json = file("in.jsonl", "{\"id\":\"x\"}\n");
    String wrong =
        schema(
            "wrong.avsc",
            "{'type':'record','name':'User','fields':[{'name':'id','type':'string'}]}");

    assertRefused(merge("-i", text), "the database has typed rows", "--csv or --jsonl");
    assertRefused(
        merge("-i", json, "--jsonl", "--key-field", "id"),
        json + ":1: column \"id\": \"x\" is not");
    assertRefused(
        merge("-i", json, "--jsonl", "--key-field", "id", "--avro-schema", wrong),
        "--avro-schema "
            + wrong
            + " does not fit that of the database: field \"id\" is string, but"
            + " long in the stored schema (bsdb stat --schema shows that schema)");
    assertRefused(
        merge("-i", text, "--csv", "--value-column", "name"),
        "--value-column is for plain values, but the database has typed rows");
  }

  @Test
  void aNullThatTheBaseForbidsIsABadLine() throws Exception {
    users("{\"id\":1,\"name\":\"Ann\",\"age\":30}\n");
    String nullable =
        schema(
            "nullable.avsc",
            "{'type':'record','name':'User','fields':[{'name':'id','type':'long'},"
                + "{'name':'age','type':['null','int']}]}");
    String[] rows = {
      "-i",
      file("in.jsonl", "{\"id\":1,\"age\":1}\n{\"id\":2,\"age\":null}\n"),
      "--jsonl",
      "--key-field",
      "id",
      "--avro-schema",
      nullable
    };

    assertRefused(
        merge(rows), path("in.jsonl") + ":2: column \"age\" is null, which is not allowed there");
  }

  @Test
  void aNumberThatTheStoredTypeWouldRoundIsABadLine() throws Exception {
    String base =
        schema(
            "base.avsc",
            "{'type':'record','name':'R','fields':[{'name':'k','type':'string'},"
                + "{'name':'v','type':['null','double']}]}");
    String other = schema("other.avsc", Files.readString(Path.of(base)).replace("double", "long"));
    String in = file("in.jsonl", "{\"k\":\"a\",\"v\":9007199254740993}\n{\"k\":\"b\",\"v\":7}\n");
    String problem = in + ":1: column \"v\": 9007199254740993 does not fit exactly in a double";
    String[] built = {"--jsonl", "--key-field", "k", "--avro-schema", base};
    base("{\"k\":\"b\",\"v\":0.5}\n", built);

    List<String> line = new ArrayList<>(List.of("-i", in, "--jsonl", "--key-field", "k"));
    assertRefused(merge(line.toArray(String[]::new)), problem);
    line.addAll(List.of("--avro-schema", other));
    assertRefused(merge(line.toArray(String[]::new)), problem);
    line.addAll(List.of("--on-bad-line", "skip", "--overwrite", "--json"));
    for (String written : List.of(base, other)) {
      line.set(line.indexOf("--avro-schema") + 1, written);
      assertThat(merge(line.toArray(String[]::new)).out())
          .contains("\"rejected\":1", "\"replaced\":1");
      assertThat(bsdb("scan", "-d", path("new"), "--json").out())
          .isEqualTo("{\"key\":\"b\",\"value\":{\"k\":\"b\",\"v\":7.0}}\n");
    }
  }

  @Test
  void plainValuesHaveNoSchema() throws Exception {
    base("a 1\n");

    assertRefused(
        merge(
            "-i",
            file("in", "{}"),
            "--jsonl",
            "--key-field",
            "id",
            "--avro-schema",
            schema("user.avsc", USER)),
        "--avro-schema is for databases of typed rows, but the values of this one are plain");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--layout packed",
        "--layout=packed",
        "-c",
        "-z",
        "-bs 4096",
        "--level 3",
        "-a",
        "--approximate-width 4",
        "-cb 8",
        "--hash gov",
        "--filter-bits 8",
        "--shards 4",
        "--data-files 2",
        "--seed 7",
      })
  void theKindOfDatabaseIsThatOfTheBase(String option) throws Exception {
    base("a 1\n");
    List<String> line = new ArrayList<>(List.of("-i", file("in", "b 2\n")));
    line.addAll(List.of(option.split(" ")));

    assertRefused(
        merge(line.toArray(String[]::new)),
        "bsdb merge: "
            + option.replaceAll("[ =].*", "")
            + " cannot be given: a merge keeps the base's kind of database; to change it, build a"
            + " new database\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-s ,",
        "--value-encoding hex",
        "--on-bad-line skip",
        "--rejects bad",
        "--csv",
        "--key-column 1",
        "--value-column 2",
        "--csv-values json",
        "--csv-delimiter ;",
        "--jsonl",
        "--key-field id",
        "--avro-schema user.avsc",
        "--ignore-extra-fields",
        "--delete-field op=D",
      })
  void whatIsForRecordsNeedsThem(String option) throws Exception {
    base("a 1\n");
    List<String> line = new ArrayList<>(List.of("--delete", file("gone", "a\n")));
    line.addAll(List.of(option.split(" ")));

    assertRefused(
        merge(line.toArray(String[]::new)),
        "bsdb merge: "
            + option.replaceAll(" .*", "")
            + " is for records to merge: name their files with -i, or omit it");
  }

  @Test
  void otherMistakesAreNamed() throws Exception {
    base("a 1\n");
    String in = file("in", "b 2\n");

    assertRefused(
        merge("-i", in, "--on-duplicate", "first"),
        "--on-duplicate cannot be given: of several changes of a key, the last one counts");
    assertRefused(merge(), "no changes given (-i, --delete); for example: bsdb merge -d ./rdb");
    assertRefused(
        bsdb("merge", "-d", path("db"), "-i", in), "no directory given for the new database (-o)");
    assertRefused(
        bsdb("merge", "-d", path("nowhere"), "-i", in, "-o", path("new")),
        path("nowhere") + ": no such directory");
    assertRefused(
        bsdb("merge", "-d", folder.toString(), "-i", in, "-o", folder + "-new"),
        folder + " is not a bsdb database");
    assertRefused(merge("-i", path("missing")), path("missing") + ": no such file or directory");
    assertRefused(
        merge("-i", in, "--delete", path("missing")),
        path("missing") + ": no such file or directory");
    assertRefused(merge("-i", in, "--keep", "3"), "--keep needs --publish");
    assertRefused(
        merge("-i", in, "--delete", in, "--on-bad-line", "skip", "--rejects", in),
        "--rejects " + in + " is the file of --delete");
    String inside = path("db") + "/rejects";
    assertRefused(
        merge("-i", in, "--on-bad-line", "skip", "--rejects", inside),
        "--rejects " + inside + " lies inside the base ");
    assertRefused(merge("-i", in, "-sc", "5"), "-sc needs a base that is compressed");
    assertThat(merge("-i", in).code()).isZero();
    assertThat(merge("-i", in).err()).contains(path("new"), "already exists", "--overwrite");
  }

  @Test
  void theBaseIsNeverTheTarget() throws Exception {
    base("a 1\n");
    String in = file("in", "b 2\n");
    Files.createSymbolicLink(folder.resolve("link"), folder.resolve("db"));

    for (String target : List.of("db", "link", "other/../db", "db/inner")) {
      assertRefused(
          bsdb("merge", "-d", path("db"), "-i", in, "-o", path(target), "--overwrite"),
          "-o " + path(target));
    }
    assertRefused(
        bsdb("merge", "-d", path("link"), "-i", in, "-o", path("db"), "--overwrite"),
        "-o " + path("db") + " is the base");
    assertThat(bsdb("scan", "-d", path("db")).out()).isEqualTo("a 1\n");
  }

  @Test
  void anApproximateBaseIsRefused() throws Exception {
    base("a 1\n", "-a");

    assertRefused(
        merge("-i", file("in", "b 2\n")),
        path("db") + " is an approximate database, which keeps no keys");
  }

  @Test
  void aDamagedBaseIsNamed() throws Exception {
    base("a 1\nb 2\n");
    Path data;
    try (Stream<Path> files = Files.list(folder.resolve("db"))) {
      data = files.filter(f -> f.getFileName().toString().startsWith("data")).findFirst().get();
    }
    byte[] bytes = Files.readAllBytes(data);
    bytes[bytes.length / 2] ^= 1;
    Files.write(data, bytes);

    assertRefused(merge("-i", file("in", "c 3\n")), data.toString());
  }

  @Sampled(3)
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-c",
        "-z",
        "--layout packed --filter-bits 8",
        "-z --layout packed",
        "--hash gov -cb 8 --seed 5 --data-files 2",
        "--shards 7",
        "--shards 3 --layout packed",
      })
  void everyKindOfDatabaseCanBeTheBase(String options) throws Exception {
    String[] given = Stream.of(options.split(" ")).filter(o -> !o.isEmpty()).toArray(String[]::new);
    base(
        IntStream.range(0, 3_000)
            .mapToObj(i -> "key-" + i + " value " + i + "\n")
            .collect(Collectors.joining()),
        given);
    String changes =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "key-" + i * 5 + " changed " + i + "\n")
            .collect(Collectors.joining());
    String gone =
        IntStream.range(0, 500).mapToObj(i -> "key-" + i * 7 + "\n").collect(Collectors.joining());
    Map<String, String> truth = new TreeMap<>();
    IntStream.range(0, 3_000).forEach(i -> truth.put("key-" + i, "value " + i));
    IntStream.range(0, 1_000).forEach(i -> truth.put("key-" + i * 5, "changed " + i));
    IntStream.range(0, 500).forEach(i -> truth.remove("key-" + i * 7));

    String found = merged("-i", file("in", changes), "--delete", file("gone", gone), "-v");

    assertThat(found.lines().sorted())
        .containsExactlyElementsOf(
            truth.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).sorted().toList());
    for (String fact : List.of("layout", "hash", "checksumBits", "seed", "shards", "filterBits")) {
      assertThat(fact(path("new"), fact)).as(fact).isEqualTo(fact(path("db"), fact));
    }
  }

  private static String fact(String database, String name) {
    return bsdb("stat", "-d", database, "--json")
        .out()
        .replaceAll(".*\"" + name + "\":([^,}]*).*\n", "$1");
  }

  @Test
  void aLoneShardTakesItsOwnChanges() throws Exception {
    base(
        IntStream.range(0, 300).mapToObj(i -> "key" + i + " v\n").collect(Collectors.joining()),
        "--shards",
        "2");
    Path shard;
    try (Stream<Path> files = Files.list(folder.resolve("db"))) {
      shard = files.filter(Files::isDirectory).sorted().findFirst().orElseThrow();
    }
    List<String> own =
        bsdb("scan", "-d", shard.toString())
            .out()
            .lines()
            .map(l -> l.replaceAll(" .*", ""))
            .toList();
    String foreign =
        IntStream.range(0, 300)
            .mapToObj(i -> "key" + i)
            .filter(key -> !own.contains(key))
            .findFirst()
            .orElseThrow();
    String in = file("in", own.get(0) + " changed\n");
    String[] line = {"merge", "-d", shard.toString(), "-i", in, "-o"};

    CommandRun run = bsdb(with(line, path("result"), "--delete", file("gone", own.get(1))));

    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(bsdb("get", "-d", path("result"), own.get(0)).out()).isEqualTo("changed\n");
    assertThat(bsdb("get", "-d", path("result"), own.get(1)).code()).isEqualTo(1);
    String words = "the key \"" + foreign + "\" has slot ";
    file("in", own.get(0) + " changed\nbad\n" + foreign + " changed\n");
    assertRefused(
        bsdb(with(line, path("new"), "--on-bad-line", "skip")),
        "bsdb merge: " + in + ":3: " + words,
        "(merge into the whole set, or give only the changes of the shard)\n");
    file("in", own.get(0) + " changed\n");
    String gone = file("gone", own.get(1) + "\n" + foreign + "\n");
    assertRefused(
        bsdb(with(line, path("new"), "--delete", gone)), "bsdb merge: " + gone + ":2: " + words);
  }

  private static String[] with(String[] line, String... more) {
    return Stream.concat(Stream.of(line), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void theResultIsPublishedIntoAStore() throws Exception {
    base("a 1\nb 2\n");
    bsdb("publish", path("db"), path("store"), "--version", "v1");
    String in = file("in", "b two\n");

    CommandRun run =
        bsdb(
            "merge",
            "-d",
            path("store"),
            "-i",
            in,
            "-o",
            path("new"),
            "--publish",
            path("store"),
            "--version",
            "v2");

    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.out()).isEqualTo("v2\n");
    assertThat(run.err()).contains("built " + path("new"), "published v2 in " + path("store"));
    assertThat(bsdb("versions", path("store")).out()).contains("v1", "v2");
    assertThat(bsdb("scan", "-d", path("store/v2")).out()).isEqualTo("a 1\nb two\n");
    CommandRun json =
        bsdb(
            "merge",
            "-d",
            path("store/v2"),
            "-i",
            in,
            "-o",
            path("new"),
            "--overwrite",
            "--json",
            "--publish",
            path("store"),
            "--version",
            "v3",
            "--keep",
            "1");
    assertThat(json.out())
        .hasLineCount(1)
        .contains("\"replaced\":1")
        .contains("\"published\":{\"version\":\"v3\"")
        .contains("\"removed\":[\"v1\"]");
  }

  @Test
  void aStoreWithoutItsCurrentVersionIsNamed() throws Exception {
    base("a 1\n");
    Path store = Files.createDirectory(folder.resolve("store"));
    Files.writeString(store.resolve("CURRENT"), "v9\n");
    String[] line = {"merge", "-d", store.toString(), "-i", file("in", "b 2\n"), "-o", path("new")};

    assertRefused(
        bsdb(line),
        "bsdb merge: "
            + store
            + "/v9: no such directory, although it is the current version of the store; publish it"
            + " again with: bsdb publish DB "
            + store
            + ", or roll back to another with: bsdb rollback "
            + store
            + " VERSION\n");
    Files.writeString(store.resolve("CURRENT"), "");
    assertRefused(
        bsdb(line),
        store + " is not a database but a store, and its file CURRENT names no version");
  }

  @Test
  void whatTheChecksRefuseStaysUnpublished() throws Exception {
    base("a 1\nb 2\n");
    bsdb("publish", path("db"), path("store"), "--version", "v1");

    CommandRun run =
        merge("--delete", file("gone", "a\n"), "--publish", path("store"), "--max-shrink", "10");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .contains("50 % fewer than the 2 of v1")
        .contains("the merged database is at " + path("new") + ", not published");
    assertThat(bsdb("versions", path("store")).out()).contains("v1").hasLineCount(1);
    assertThat(bsdb("scan", "-d", path("new")).out()).isEqualTo("b 2\n");
  }

  @Test
  void placesThatAreNoStoreAreRefusedBeforeTheMerge() throws Exception {
    base("a 1\n");
    String in = file("in", "b 2\n");

    assertRefused(merge("-i", in, "--publish", path("db")), path("db") + ": is a single database");
    assertRefused(merge("-i", in, "--publish", in), in + ": is not a directory");
    bsdb("publish", path("db"), path("store"), "--version", "v1");
    assertRefused(
        merge("-i", in, "--publish", path("store"), "--version", "v1"),
        path("store/v1") + ": a version with this name already exists");
    assertRefused(
        merge("-i", in, "--publish", path("db/store")),
        "the store " + path("db/store") + " lies inside the database " + path("db"));
    assertRefused(
        merge("-i", in, "--publish", path("store/v1/inner")),
        "lies inside the database " + path("store/v1"));
    assertRefused(
        merge("-i", in, "--publish", path("store/inner")),
        "the store " + path("store/inner") + " lies inside the store " + path("store"));
    Path other = Files.createDirectory(folder.resolve("other"));
    Files.createFile(other.resolve("file"));
    assertRefused(merge("-i", in, "--publish", other.toString()), "is not a store");
    assertThat(
            bsdb(
                    "merge",
                    "-d",
                    path("db"),
                    "-i",
                    in,
                    "-o",
                    path("store/x"),
                    "--publish",
                    path("store"))
                .err())
        .contains("lie within each other");
  }
}
