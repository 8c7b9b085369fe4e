package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.parquet.Written;

/** {@code bsdb build-parquet}, from its arguments to the rows that come back. */
class ParquetBuilderTest {
  private static final String USERS =
      "message users { required int64 id; optional binary name (STRING); optional group at {"
          + " required binary city (STRING); required int32 zip; } required binary raw; }";

  @TempDir Path folder;

  private Path users(String name, int from, int rows) throws IOException {
    return Written.file(
        folder.resolve(name),
        USERS,
        rows,
        (row, i) -> {
          int id = from + i;
          row.add("id", (long) id);
          if (id % 7 != 3) {
            row.add("name", "user-" + id);
          }
          if (id % 5 != 2) {
            row.addGroup("at").append("city", "c" + id % 10).append("zip", id * 3);
          }
          row.add("raw", Binary.fromConstantByteArray(new byte[] {(byte) id, -1}));
        },
        writer -> writer.withRowGroupSize(8_000L).withPageSize(500));
  }

  private static String json(int id) {
    return "{\"id\":"
        + id
        + ",\"name\":"
        + (id % 7 != 3 ? "\"user-" + id + "\"" : "null")
        + ",\"at\":"
        + (id % 5 != 2 ? "{\"city\":\"c" + id % 10 + "\",\"zip\":" + id * 3 + "}" : "null")
        + ",\"raw\":\""
        + Base64.getEncoder().encodeToString(new byte[] {(byte) id, -1})
        + "\"}";
  }

  private CommandRun build(Object... options) {
    List<String> line = new ArrayList<>(List.of("build-parquet", "-o", path("db")));
    Stream.of(options).forEach(option -> line.add(option.toString()));
    return bsdb(line.toArray(new String[0]));
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private void assertNothingBuilt() throws IOException {
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.equals("db") || name.contains("bsdb-build"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-c",
        "-z",
        "--layout blocked --threads 1",
        "--threads 5 -v",
        "-z --threads 1"
      })
  void everyRowComesBack(String options) throws Exception {
    Files.createDirectories(folder.resolve("in/deep/_temporary"));
    users("in/a.parquet", 0, 3_000);
    users("in/deep/b.parquet", 3_000, 1_000);
    Files.writeString(folder.resolve("in/_SUCCESS"), "");
    Files.writeString(folder.resolve("in/deep/_temporary/half"), "not Parquet");
    List<Object> line = new ArrayList<>(List.of("-i", path("in"), "-kf", "id", "--json"));
    Stream.of(options.split(" ")).filter(option -> !option.isEmpty()).forEach(line::add);

    CommandRun built = build(line.toArray());

    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(built.out()).contains("\"rows\":4000").contains("\"records\":4000");
    List<String> found = bsdb("scan", "-d", path("db"), "--json").out().lines().toList();
    List<String> rows =
        IntStream.range(0, 4_000)
            .mapToObj(id -> "{\"key\":\"" + id + "\",\"value\":" + json(id) + "}")
            .toList();
    if (options.matches(".*(-c|-z|blocked).*")) { // otherwise in the order of hashes
      assertThat(found).containsExactlyElementsOf(rows);
    } else {
      assertThat(found).containsExactlyInAnyOrderElementsOf(rows);
    }
    assertThat(bsdb("get", "-d", path("db"), "--json", "--fields", "at", "3999").out())
        .isEqualTo("{\"key\":\"3999\",\"value\":{\"at\":{\"city\":\"c9\",\"zip\":11997}}}\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-z", "--layout packed"})
  void aSetHasEveryRowOfTheUndividedDatabase(String options) throws Exception {
    Files.createDirectories(folder.resolve("in"));
    users("in/a.parquet", 0, 1_500);
    users("in/b.parquet", 1_500, 500);
    List<Object> line = new ArrayList<>(List.of("-i", path("in"), "-kf", "id", "-v"));
    Stream.of(options.split(" ")).filter(option -> !option.isEmpty()).forEach(line::add);
    line.addAll(List.of("--shards", "6"));

    CommandRun built = build(line.toArray());

    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "--json").out().lines())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, 2_000)
                .mapToObj(id -> "{\"key\":\"" + id + "\",\"value\":" + json(id) + "}")
                .toList());
    assertThat(bsdb("get", "-d", path("db"), "--json", "--fields", "at", "1999", "0").out())
        .isEqualTo(
            """
            {"key":"1999","value":{"at":{"city":"c9","zip":5997}}}
            {"key":"0","value":{"at":{"city":"c0","zip":0}}}
            """);
  }

  @Test
  void typedKeysAreOrderedAsTheirText() throws Exception {
    users("a.parquet", -1, 101);

    CommandRun built = build("-i", path("a.parquet"), "-kf", "id", "--ordered", "-v");

    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "--from", "1", "--to", "11", "--keys-only").out())
        .isEqualTo("1\n10\n");
    assertThat(
            bsdb("scan", "-d", path("db"), "--prefix", "9", "--reverse", "--limit", "1", "--json")
                .out())
        .isEqualTo("{\"key\":\"99\",\"value\":" + json(99) + "}\n");
    assertThat(bsdb("scan", "-d", path("db"), "--sorted", "--keys-only").out().lines())
        .containsExactlyElementsOf(
            IntStream.range(-1, 100).mapToObj(String::valueOf).sorted().toList());
  }

  @Test
  void theBytesDoNotDependOnThreads() throws Exception {
    users("a.parquet", 0, 5_000);
    List<String> ids = new ArrayList<>();
    for (String threads : List.of("1", "2", "7")) {
      CommandRun built =
          build(
              "-i", path("a.parquet"), "-kf", "id", "--threads", threads, "--overwrite", "--json");
      ids.add(built.out().replaceAll("(?s).*\"databaseId\":\"(\\w+)\".*", "$1"));
    }
    assertThat(ids.get(0)).hasSize(32).isEqualTo(ids.get(1)).isEqualTo(ids.get(2));
  }

  private static final String KEYS =
      "message keys { required boolean bool; required int32 i8 (INTEGER(8,true)); required int32"
          + " u32 (INTEGER(32,false)); required int64 u64 (INTEGER(64,false)); required float f;"
          + " required double d; required int32 date (DATE); required int32 ms (TIME(MILLIS,true));"
          + " required int64 ns (TIME(NANOS,true)); required int64 ts (TIMESTAMP(MICROS,true));"
          + " required int64 local (TIMESTAMP(MILLIS,false)); required int96 old; required int32"
          + " dec (DECIMAL(9,2)); required fixed_len_byte_array(9) big (DECIMAL(20,0)); required"
          + " binary text (STRING); required binary bytes; required fixed_len_byte_array(3) fixed;"
          + " required fixed_len_byte_array(16) uuid (UUID); required fixed_len_byte_array(12) span"
          + " (INTERVAL); required fixed_len_byte_array(2) half (FLOAT16); required group s {"
          + " required int32 x; } }";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bool | true",
        "i8 | -128",
        "u32 | 4294967295",
        "u64 | 18446744073709551615",
        "f | 0.1",
        "d | -1.5",
        "date | 2024-02-29",
        "ms | 00:00:01.500",
        "ns | 00:00:01.000000001",
        "ts | 1969-12-31T23:59:59.999999Z",
        "local | 1970-01-01T00:00:00",
        "old | 1970-01-02T00:00:00.000000001Z",
        "dec | -1.50",
        "big | 18446744073709551616",
        "text | é|ü",
        "bytes | é",
        "fixed | abc",
        "uuid | 00112233-4455-6677-8899-aabbccddeeff",
        "span | P1M2DT3.004S",
        "half | -2.0",
        "s.x | 7",
      },
      maxCharsPerColumn = 100)
  void everyPrimitiveTypeMakesKeys(String column, String key) throws Exception {
    String expected = column.equals("text") ? "é|ü" : key;
    Path file =
        Written.file(
            folder.resolve("keys.parquet"),
            KEYS,
            1,
            (row, i) -> {
              row.append("bool", true).append("i8", -128).append("u32", -1).append("u64", -1L);
              row.append("f", 0.1f).append("d", -1.5).append("date", 19_782).append("ms", 1_500);
              row.append("ns", 1_000_000_001L).append("ts", -1L).append("local", 0L);
              row.add("old", binary("010000000000000" + "0" + "8D3D2500"));
              row.append("dec", -150);
              byte[] big = new BigInteger("18446744073709551616").toByteArray();
              row.add("big", Binary.fromConstantByteArray(big));
              row.append("text", "é|ü").append("bytes", "é").append("fixed", "abc");
              row.add("uuid", binary("00112233445566778899AABBCCDDEEFF"));
              row.add("span", binary("0100000002000000BC0B0000"));
              row.add("half", binary("00C0"));
              row.addGroup("s").append("x", 7);
            });

    assertThat(build("-i", file, "-kf", column).code()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "-s", "").outBytes())
        .startsWith(expected.getBytes(UTF_8));
    assertThat(bsdb("get", "-d", path("db"), "--json", "--", expected).code()).isZero();
  }

  private static Binary binary(String hex) {
    return Binary.fromConstantByteArray(HexFormat.of().parseHex(hex));
  }

  @Test
  void severalColumnsAreJoined() throws Exception {
    users("a.parquet", 0, 20);
    CommandRun built =
        build(
            "-i",
            path("a.parquet"),
            "-kf",
            "id,name",
            "--key-join",
            "\\t|",
            "--on-bad-line",
            "skip");
    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(built.err()).contains("rejected                    3  (null key: 3)");
    assertThat(bsdb("get", "-d", path("db"), "--json", "--fields", "id", "12\t|user-12").out())
        .contains("\"value\":{\"id\":12}");
  }

  @Test
  void aRowWithoutAKeyIsNamed() throws Exception {
    users("a.parquet", 0, 2);
    users("b.parquet", 2, 2_000);
    CommandRun failed = build("-i", path("a.parquet"), "-i", path("b.parquet"), "-kf", "name");
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err())
        .isEqualTo(
            "bsdb build-parquet: "
                + path("b.parquet")
                + ": row 2: null key (column name) (--on-bad-line skip leaves such rows out)\n");
    assertNothingBuilt();

    CommandRun built =
        build(
            "-i",
            path("a.parquet"),
            "-i",
            path("b.parquet"),
            "-kf",
            "name",
            "--on-bad-line",
            "skip",
            "--rejects",
            path("bad.txt"));
    assertThat(built.code()).isZero();
    List<String> rejects = Files.readAllLines(folder.resolve("bad.txt"));
    assertThat(rejects).hasSize(286).allMatch(line -> line.endsWith(": null key (column name)"));
    assertThat(rejects.get(1)).startsWith(path("b.parquet") + ": row 9: ");
    assertThat(built.err()).contains("rejected                    286  (null key: 286)");
  }

  @Test
  void aDuplicateIsNamedWithBothPlaces() throws Exception {
    users("a.parquet", 0, 1_500);
    users("b.parquet", 1_400, 10);
    CommandRun failed = build("-i", path("a.parquet"), "-i", path("b.parquet"), "-kf", "id");
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err())
        .contains("duplicate key \"14")
        .containsPattern("a.parquet: row 14\\d\\d and .*b.parquet: row \\d+ ");
    assertNothingBuilt();
    assertThat(
            build(
                    "-i",
                    path("a.parquet"),
                    "-i",
                    path("b.parquet"),
                    "-kf",
                    "id",
                    "--on-duplicate",
                    "last")
                .code())
        .isZero();
  }

  @Test
  void theValueIsTheBytesOfOneColumn() throws Exception {
    users("a.parquet", 0, 300);
    assertThat(build("-i", path("a.parquet"), "-kf", "id", "--value-raw", "raw").code()).isZero();
    assertThat(bsdb("get", "-d", path("db"), "--value-encoding", "hex", "258").out())
        .isEqualTo("02ff\n");
    assertThat(bsdb("stat", "-d", path("db"), "--schema").code()).isEqualTo(2);
    CommandRun nulls =
        build("-i", path("a.parquet"), "-kf", "id", "--value-raw", "name", "--overwrite");
    assertThat(nulls.code()).isEqualTo(2);
    assertThat(nulls.err()).contains("row 4: null value (column name)");
  }

  @Test
  void theRowHasTheColumnsAskedFor() throws Exception {
    users("a.parquet", 0, 30);
    assertThat(build("-i", path("a.parquet"), "-kf", "id", "--value-fields", "at,name").code())
        .isZero();
    assertThat(bsdb("get", "-d", path("db"), "--json", "12", "13").out())
        .isEqualTo(
            "{\"key\":\"12\",\"value\":{\"at\":null,\"name\":\"user-12\"}}\n"
                + "{\"key\":\"13\",\"value\":{\"at\":{\"city\":\"c3\",\"zip\":39},\"name\":"
                + "\"user-13\"}}\n");
  }

  @Test
  void longRowsAreNotCutInApproximateMode() throws Exception {
    users("a.parquet", 0, 30);
    CommandRun failed = build("-i", path("a.parquet"), "-kf", "id", "-a");
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err()).contains("row 1: row longer than the approximate width");
    CommandRun built =
        build("-i", path("a.parquet"), "-kf", "id", "-a", "--value-fields", "id", "-q");
    assertThat(built.code()).isZero();
    assertThat(bsdb("get", "-d", path("db"), "--json", "29").out())
        .isEqualTo("{\"key\":\"29\",\"value\":{\"id\":29}}\n");
  }

  @Test
  void noRowsMakeAnEmptyDatabase() throws Exception {
    users("a.parquet", 0, 0);
    CommandRun built = build("-i", path("a.parquet"), "-kf", "id", "-z", "-v");
    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(bsdb("get", "-d", path("db"), "1").code()).isEqualTo(1);
  }

  @Test
  void whatIsNoParquetIsNamed() throws Exception {
    users("whole.parquet", 0, 2_000);
    byte[] whole = Files.readAllBytes(folder.resolve("whole.parquet"));
    Random random = new Random(5);
    for (int i = 0; i < 40; i++) {
      int length = i < 20 ? i : random.nextInt(whole.length);
      Files.write(folder.resolve("cut.parquet"), Arrays.copyOf(whole, length));
      CommandRun failed = build("-i", path("cut.parquet"), "-kf", "id");
      assertThat(failed.code()).isEqualTo(2);
      assertThat(failed.err())
          .startsWith("bsdb build-parquet: " + path("cut.parquet") + ": not a Parquet file")
          .hasLineCount(1);
    }
    assertNothingBuilt();
  }

  @ParameterizedTest
  @ValueSource(strings = {"UNCOMPRESSED", "SNAPPY", "ZSTD"})
  void damageThatTheChecksumsSeeIsNamed(String codec) throws Exception {
    Path file =
        Written.file(
            folder.resolve("a.parquet"),
            "message m { required int64 id; required binary t (STRING); }",
            3_000,
            (row, i) -> row.append("id", (long) i).append("t", "text " + i),
            writer ->
                writer
                    .withCompressionCodec(CompressionCodecName.valueOf(codec))
                    .withPageSize(2_000)
                    .withPageWriteChecksumEnabled(true));
    byte[] whole = Files.readAllBytes(file);
    assertThat(build("-i", file, "-kf", "id", "-q").code()).isZero();
    String rows = bsdb("scan", "-d", path("db"), "--json").out();
    Random random = new Random(7);
    for (int i = 0; i < 25; i++) {
      byte[] damaged = whole.clone();
      damaged[4 + random.nextInt(damaged.length - 4)] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, damaged);
      CommandRun run = build("-i", file, "-kf", "id", "-q", "--overwrite");
      if (run.code() == 0) { // what nobody looks at, as statistics
        assertThat(bsdb("scan", "-d", path("db"), "--json").out()).isEqualTo(rows);
      } else {
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
            .startsWith("bsdb build-parquet: " + file + ": ")
            .hasLineCount(1)
            .doesNotContain("internal error", "org.apache", "java.");
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-kf nothing | has no column nothing for the key (its columns: id, name, at, raw)",
        "-kf id,name | has no column id,name for the key (several columns need --key-join;",
        "-kf at | column at cannot be a key: it is struct",
        "-kf id --value-fields a,b | has no column a for the value",
        "-kf id --value-raw id | column id is long; --value-raw needs a column of text or bytes",
        "-kf id --value-raw z | has no column z for the value",
        "-kf id --value-raw name --value-fields id | --value-raw and --value-fields cannot",
        "-kf id --value-fields id,id | --value-fields names id twice",
        "-kf id --value-fields id, | --value-fields id, has an empty name",
        "-kf id --key-join x | --key-join is for several columns",
        "-kf id --rejects x | --rejects needs --on-bad-line skip",
        "-kf id --principal me | --principal me needs --keytab",
        "-kf id -s x | -s",
      })
  void whatCannotBeIsSaidInOneLine(String options, String message) throws Exception {
    users("a.parquet", 0, 3);
    List<Object> line = new ArrayList<>(List.of("-i", path("a.parquet")));
    line.addAll(List.of(options.split(" ")));
    CommandRun failed = build(line.toArray());
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err()).contains(message);
    assertNothingBuilt();
  }

  @Test
  void withoutInputOrKeyThereIsAnExample() {
    assertThat(build("-kf", "id").err()).contains("no input given (-i); for example");
    assertThat(build("-i", "x.parquet").err()).contains("no key column given (-kf); for example");
    assertThat(build("-i", "-", "-kf", "id").err()).contains("-i -: Parquet is read from its end");
    assertThat(build("-i", path("nowhere"), "-kf", "id").err()).contains("no such file");
  }

  @ParameterizedTest
  @CsvSource({
    "required int32 t (TIME(MILLIS%sfalse)), 86400001",
    "required int64 t (TIME(MICROS%strue)), -1",
    "required int64 t (TIME(NANOS%strue)), 86400000000001",
  })
  void aTimeOutsideOfTheDayIsABadRow(String column, long time) throws Exception {
    Path file =
        Written.file(
            folder.resolve("a.parquet"),
            "message m { required int64 id; " + String.format(column, ",") + "; }",
            2,
            (row, i) -> {
              row.add("id", (long) i);
              long number = i == 0 ? 0 : time;
              if (column.contains("int32")) {
                row.add("t", (int) number);
              } else {
                row.add("t", number);
              }
            });
    CommandRun failed = build("-i", file, "-kf", "id");
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err()).contains("row 2: a time outside of the day (column t)");
    assertThat(build("-i", file, "-kf", "t").err()).contains("row 2: a time outside of the day");
  }

  @ParameterizedTest
  @CsvSource({"200, true", "201, false", "1000, false"})
  void whatIsNestedTooDeepIsRefused(int levels, boolean good) throws Exception {
    String type = "required int32 x;";
    for (int i = 0; i < levels; i++) {
      type = "optional group g { " + type + " }";
    }
    Path file =
        Written.file(
            folder.resolve("deep.parquet"),
            "message m { required int64 id; " + type + " }",
            1,
            (row, i) -> row.add("id", 1L));
    CommandRun run = build("-i", file, "-kf", "id");
    assertThat(run.code()).as(run.toString()).isEqualTo(good ? 0 : 2);
    if (good) {
      assertThat(bsdb("scan", "-d", path("db"), "--json").out()).contains("\"g\":null");
    } else {
      assertThat(run.err()).contains("column g is nested more than 200 levels deep");
    }
    assertThat(build("-i", file, "-kf", "id", "--value-fields", "id", "--overwrite").code())
        .isZero();
  }

  /** By the names of the inputs, or because the command line says so. */
  @Test
  void bsdbBuildReadsParquet() throws Exception {
    Path directory = Files.createDirectory(folder.resolve("table.parquet"));
    users("table.parquet/a.parquet", 0, 10);
    users("b.parq", 10, 10);
    Path plain = Files.copy(folder.resolve("b.parq"), folder.resolve("plain"));
    assertThat(build("-i", directory, "-i", path("b.parq"), "-kf", "id").code()).isZero();
    String expected = bsdb("scan", "-d", path("db"), "--json").out();
    assertThat(expected.lines()).hasSize(20);
    for (List<String> inputs :
        List.of(
            List.of("-i", directory + "/", "-i=" + path("b.parq")),
            List.of("-i", path("table.parquet/*.parquet"), "-i", path("b.parq")),
            List.of("--format=parquet", "-i", directory.toString(), "-i", plain.toString()),
            List.of("-i", directory.toString(), "-i", plain.toString(), "--format", "parquet"))) {
      List<String> line = new ArrayList<>(List.of("build", "-kf", "id", "-o", path("db")));
      line.addAll(inputs);
      line.add("--overwrite");
      CommandRun run = bsdb(line.toArray(String[]::new));
      assertThat(run.code()).as(run.toString()).isZero();
      assertThat(bsdb("scan", "-d", path("db"), "--json").out()).isEqualTo(expected);
    }
  }

  @Test
  void aBuildHasOneFormat() throws Exception {
    users("a.parquet", 0, 10);
    Files.writeString(folder.resolve("text"), "key value\n");
    assertThat(bsdb("build", "-i", path("a.parquet"), "-i", path("text"), "-o", path("db")).err())
        .startsWith("bsdb build: by their names, ")
        .contains("a.parquet\" is Parquet", "text\" is not", "--format");
    assertThat(bsdb("build", "-i", path("text"), "-kf", "id", "-o", path("db")).err())
        .contains(
            "-kf is for files of typed rows (--format parquet, avro, orc, arrow, delta or iceberg)");
    assertThat(bsdb("build", "-i", path("a.parquet"), "--csv", "-o", path("db")).err())
        .startsWith("bsdb build-parquet: --csv is for text (--format text)");
    assertThat(bsdb("build", "-i", path("text"), "--format", "xml", "-o", path("db")).err())
        .contains("--format takes text, parquet, avro, orc, arrow, delta or iceberg, not \"xml\"");
    assertThat(build("-i", path("a.parquet"), "-kf", "id", "--format", "text").err())
        .contains("--format text: this command reads typed rows only");
    assertThat(bsdb("build", "--format", "parquet", "--help").out())
        .isEqualTo(bsdb("build-parquet", "--help").out());
    assertThat(bsdb("build", "-i", path("a.parquet"), "-o", path("db")).err())
        .startsWith("bsdb build-parquet: no key column given (-kf)")
        .contains("Try: bsdb build-parquet --help");
    assertNothingBuilt();
  }

  @Test
  void buildFromTextSaysWhoReadsParquet() throws Exception {
    users("a.parquet", 0, 10);
    CommandRun failed =
        bsdb("build", "--format", "text", "-i", path("a.parquet"), "-o", path("db"));
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err()).contains("a.parquet: is a Parquet file").contains("--format parquet");
    assertNothingBuilt();
    Files.writeString(folder.resolve("text"), "PAR1 is a line, too\n");
    assertThat(bsdb("build", "-i", path("text"), "-o", path("db"), "-q").code()).isZero();
  }

  @Test
  void badRowsAreNotWrittenOverTheKeytabOrTheSchema() throws Exception {
    users("a.parquet", 0, 10);
    Path keytab = Files.writeString(folder.resolve("keytab"), "keys");
    Path link = Files.createSymbolicLink(folder.resolve("link"), keytab);
    CommandRun failed =
        build(
            "-i",
            path("a.parquet"),
            "-kf",
            "name",
            "--on-bad-line",
            "skip",
            "--overwrite",
            "--principal",
            "me",
            "--keytab",
            keytab,
            "--rejects",
            link);
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err()).contains("is the file of --keytab");
    assertThat(keytab).hasContent("keys");
    Path schema = Files.writeString(folder.resolve("s.avsc"), "{}");
    CommandRun text =
        bsdb(
            "build",
            "--jsonl",
            "--key-field",
            "id",
            "--avro-schema",
            schema.toString(),
            "-i",
            path("a.jsonl"),
            "--on-bad-line",
            "skip",
            "--overwrite",
            "--rejects",
            schema.toString());
    assertThat(text.code()).isEqualTo(2);
    assertThat(text.err()).contains("is the file of --avro-schema");
    assertThat(schema).hasContent("{}");
  }

  @Test
  void aDatabaseThatIsThereStaysWhenTheNextFails() throws Exception {
    users("a.parquet", 0, 10);
    assertThat(build("-i", path("a.parquet"), "-kf", "id").code()).isZero();
    assertThat(build("-i", path("a.parquet"), "-kf", "name", "--overwrite").code()).isEqualTo(2);
    assertThat(bsdb("get", "-d", path("db"), "9").code()).isZero();
  }

  @Test
  void aCommaInANameIsEscapedTheSameWayEverywhere() throws Exception {
    MessageType schema =
        new MessageType(
            "m",
            Types.required(PrimitiveTypeName.INT64).named("a,b"),
            Types.required(PrimitiveTypeName.INT32).named("c\\"),
            Types.required(PrimitiveTypeName.INT32).named("d"));
    Path file = Written.file(folder.resolve("a.parquet"), schema, List.of(commas(schema)), false);

    assertThat(build("-i", file, "-kf", "a\\,b", "--value-fields", "c\\\\,a\\,b").code()).isZero();
    String row = "{\"key\":\"1\",\"value\":{\"c\\\\\":2,\"a,b\":1}}\n";
    assertThat(bsdb("scan", "-d", path("db"), "--json").out()).isEqualTo(row);
    assertThat(bsdb("get", "-d", path("db"), "--json", "--fields", "c\\\\,a\\,b", "1").out())
        .isEqualTo(row);
    assertThat(bsdb("scan", "-d", path("db"), "--json", "--fields", "a\\,b").out())
        .isEqualTo("{\"key\":\"1\",\"value\":{\"a,b\":1}}\n");
    assertThat(build("-i", file, "-kf", "a,b", "--overwrite").code()).isZero();
    assertThat(build("-i", file, "-kf", "a\\,b,d", "--key-join", "|", "--overwrite").code())
        .isZero();
    assertThat(bsdb("get", "-d", path("db"), "1|3").code()).isZero();

    for (String[] wrong :
        new String[][] {{"-kf", "c\\"}, {"-kf", "d", "--value-fields", "d,c\\d"}}) {
      List<Object> line = new ArrayList<>(List.of("-i", file, "--overwrite"));
      line.addAll(List.of(wrong));
      CommandRun failed = build(line.toArray());
      assertThat(failed.code()).isEqualTo(2);
      assertThat(failed.err())
          .contains(wrong[wrong.length - 2] + " " + wrong[wrong.length - 1])
          .contains("has a backslash before neither a comma nor a backslash");
    }
    assertThat(bsdb("get", "-d", path("db"), "--json", "--fields", "\\x", "1").err())
        .contains("--fields \"\\x\" has a backslash before neither");
  }

  private static Group commas(MessageType schema) {
    return new SimpleGroup(schema).append("a,b", 1L).append("c\\", 2).append("d", 3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "int32 | 9,2 | 999999999 | 1000000000 | 10000000.00",
        "int32 | 1,0 | -9 | -10 | -10",
        "int64 | 18,0 | -999999999999999999 | -1000000000000000000 | -1000000000000000000",
        "int64 | 5,3 | 99999 | 100000 | 100.000",
        "fixed_len_byte_array(16) | 38,2 | 99999999999999999999999999999999999999"
            + " | -100000000000000000000000000000000000000"
            + " | -1000000000000000000000000000000000000.00",
        "fixed_len_byte_array(16) | 2,0 | -99 | 18446744073709551616 | 18446744073709551616",
        "binary | 19,1 | 9999999999999999999 | 10000000000000000000 | 1000000000000000000.0",
        "binary | 3,0 | 999 | -1000 | -1000",
      })
  void aDecimalBeyondItsPrecisionIsABadRow(
      String type, String precision, String good, String bad, String shown) throws Exception {
    String column = "optional group s { optional " + type + " d (DECIMAL(" + precision + ")); }";
    Path file =
        Written.file(
            folder.resolve("a.parquet"),
            "message m { required int64 id; " + column + " }",
            2,
            (row, i) -> {
              BigInteger number = new BigInteger(i == 0 ? good : bad);
              row.add("id", (long) i);
              Group struct = row.addGroup("s");
              if (type.equals("int32")) {
                struct.add("d", number.intValueExact());
              } else if (type.equals("int64")) {
                struct.add("d", number.longValueExact());
              } else {
                struct.add("d", Binary.fromConstantByteArray(bytes(number, type)));
              }
            });
    for (String key : List.of("id", "s.d")) {
      CommandRun failed = build("-i", file, "-kf", key);
      assertThat(failed.code()).isEqualTo(2);
      assertThat(failed.err())
          .contains(
              file
                  + ": row 2: a decimal beyond its precision (column s.d: "
                  + shown
                  + " does not fit decimal("
                  + precision
                  + "))");
    }
    CommandRun built = build("-i", file, "-kf", "id", "--on-bad-line", "skip", "--json");
    assertThat(built.out())
        .contains("\"records\":1,\"rejected\":1,")
        .contains("{\"a decimal beyond its precision\":1}");
  }

  private static byte[] bytes(BigInteger number, String type) {
    byte[] shortest = number.toByteArray();
    byte[] bytes = new byte[type.equals("binary") ? shortest.length : 16];
    Arrays.fill(bytes, (byte) (number.signum() < 0 ? -1 : 0));
    System.arraycopy(shortest, 0, bytes, bytes.length - shortest.length, shortest.length);
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(strings = {"required", "optional"})
  void aMapWithoutValuesIsTheListOfItsKeys(String repetition) throws Exception {
    Path file =
        Written.file(
            folder.resolve("a.parquet"),
            "message m { required int64 id; optional group s (MAP) { repeated group key_value { "
                + repetition
                + " binary key (STRING); } } required group n (MAP) { repeated group key_value {"
                + " required group key { required int32 x; } } } }",
            4,
            (row, i) -> {
              row.add("id", (long) i);
              Group numbers = row.addGroup("n");
              numbers.addGroup("key_value").addGroup("key").append("x", i);
              if (i > 0) {
                Group set = row.addGroup("s");
                for (int j = 1; j < i; j++) {
                  set.addGroup("key_value").append("key", "k" + j);
                }
              }
            });
    assertThat(build("-i", file, "-kf", "id").code()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "--json").out().lines())
        .containsExactlyInAnyOrder(
            "{\"key\":\"0\",\"value\":{\"id\":0,\"s\":null,\"n\":[{\"x\":0}]}}",
            "{\"key\":\"1\",\"value\":{\"id\":1,\"s\":[],\"n\":[{\"x\":1}]}}",
            "{\"key\":\"2\",\"value\":{\"id\":2,\"s\":[\"k1\"],\"n\":[{\"x\":2}]}}",
            "{\"key\":\"3\",\"value\":{\"id\":3,\"s\":[\"k1\",\"k2\"],\"n\":[{\"x\":3}]}}");
    assertThat(bsdb("stat", "-d", path("db"), "--schema").out())
        .contains("{\"type\":\"array\",\"items\":\"string\"}");
  }

  @Test
  void aNullInAMapWithoutValuesIsABadRow() throws Exception {
    Path file =
        Written.file(
            folder.resolve("a.parquet"),
            "message m { required int64 id; optional group s (MAP) { repeated group key_value {"
                + " optional binary key (STRING); } } }",
            1,
            (row, i) -> row.append("id", 1L).addGroup("s").addGroup("key_value"));
    assertThat(build("-i", file, "-kf", "id").err()).contains("row 1: a null key in a map");
  }

  @Test
  void theTextOfAFloatAsAKeyDoesNotDependOnOtherFiles() throws Exception {
    Path floats =
        Written.file(
            folder.resolve("a.parquet"),
            "message m { required float f; }",
            1,
            (row, i) -> row.add("f", 0.1f));
    Path doubles =
        Written.file(
            folder.resolve("b.parquet"),
            "message m { required double f; }",
            1,
            (row, i) -> row.add("f", 0.2));
    assertThat(build("-i", floats, "-kf", "f").code()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "--json").out())
        .isEqualTo("{\"key\":\"0.1\",\"value\":{\"f\":0.1}}\n");

    assertThat(build("-i", floats, "-i", doubles, "-kf", "f", "--overwrite").code()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "--json").out().lines())
        .containsExactlyInAnyOrder(
            "{\"key\":\"0.1\",\"value\":{\"f\":0.10000000149011612}}",
            "{\"key\":\"0.2\",\"value\":{\"f\":0.2}}");
  }

  /** As pyarrow writes a table without columns. */
  private static final String NO_COLUMNS =
      "UEFSMRUEGRw1ABgGc2NoZW1hFQAAFgAZHBkMFgAWACYAFgAAGRwYDEFSUk9XOnNjaGVtYRhMLy8vLy96"
          + "QUFBQUFRQUFBQUFBQUtBQXdBQmdBRkFBZ0FDZ0FBQUFBQkJBQU1BQUFBQ0FBSUFBQUFCQUFJQUFBQUJB"
          + "QUFBQUFBQUFBPQAYIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGQwApAAAAFBBUjE=";

  @Test
  void aFileWithoutColumnsIsNotCalledDamaged() throws Exception {
    byte[] bytes = Base64.getDecoder().decode(NO_COLUMNS);
    Files.write(folder.resolve("a.parquet"), bytes);
    assertThat(build("-i", path("a.parquet"), "-kf", "id").err())
        .isEqualTo(
            "bsdb build-parquet: "
                + path("a.parquet")
                + ": is a Parquet file without columns, so there is nothing to read\n");
  }
}
