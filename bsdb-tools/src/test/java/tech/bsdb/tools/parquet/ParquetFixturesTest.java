package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Sampled;
import tech.bsdb.tools.CommandRun;

/**
 * Files of pyarrow, DuckDB and Spark: what is built from them says, row by row and digit by digit,
 * what the writer's own reader says (build-support/parquet-fixtures.py).
 */
class ParquetFixturesTest {
  @TempDir Path folder;

  static List<String> fixtures() throws IOException {
    try (Stream<Path> files = Files.list(resources())) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.contains(".jsonl"))
          .map(name -> name.substring(0, name.indexOf(".jsonl")))
          .sorted()
          .toList();
    }
  }

  @Sampled(2)
  @ParameterizedTest(name = "{0}")
  @MethodSource("fixtures")
  void everyRowIsWhatItsWriterReads(String fixture) throws Exception {
    Map<List<String>, Map<String, List<String>>> expected = rows(expectedLines(fixture));

    assertBuilt(bsdb("build-parquet", "-i", source(fixture), "-kf", "k", "-o", target()));

    assertSame(expected, rows(scan()));
  }

  @Sampled(3)
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"nested", "key-columns", "spark-types-legacy", "duckdb-types"})
  void oneColumnIsTheSameAsAmongAll(String fixture) throws Exception {
    Map<List<String>, Map<String, List<String>>> expected = rows(expectedLines(fixture));
    List<String> columns = columns(expected);
    assertBuilt(bsdb("build-parquet", "-i", source(fixture), "-kf", "k", "-o", path("all")));
    for (String column : columns) {
      Map<List<String>, Map<String, List<String>>> only = only(expected, column);

      assertBuilt(
          bsdb(
              "build-parquet",
              "-i",
              source(fixture),
              "-kf",
              "k",
              "--value-fields",
              column,
              "-o",
              target(),
              "--overwrite"));

      assertSame(only, rows(scan()));
      assertSame(only, rows(lines(bsdb("scan", "-d", path("all"), "--json", "--fields", column))));
    }
  }

  @Test
  void everyColumnOfAPrimitiveTypeCanBeTheKey() throws Exception {
    Map<List<String>, Map<String, List<String>>> expected = rows(expectedLines("key-columns"));
    for (String column : columns(expected)) {
      if (column.equals("struct") || column.equals("binary") || column.equals("fixed")) {
        continue;
      }
      Map<List<String>, Map<String, List<String>>> keyed = new LinkedHashMap<>();
      expected.forEach(
          (key, row) -> {
            String text = row.get(column).get(0);
            keyed.put(List.of("text " + text.substring(text.indexOf(' ') + 1)), row);
          });

      assertBuilt(
          bsdb(
              "build-parquet",
              "-i",
              source("key-columns"),
              "-kf",
              column,
              "-o",
              target(),
              "--overwrite"));

      assertSame(keyed, rows(scan()));
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"binary,ff,/w==", "binary,616263,YWJj", "fixed,02ff0002,Av8AAg=="})
  void binaryKeysAreTheirBytes(String column, String hex, String base64) {
    assertBuilt(bsdb("build-parquet", "-i", source("key-columns"), "-kf", column, "-o", target()));

    CommandRun got =
        bsdb("get", "-d", target(), "--key-encoding", "hex", "--json", "--fields", column, hex);

    assertThat(got.code()).as(got.toString()).isZero();
    assertThat(got.out()).contains("{\"" + column + "\":\"" + base64 + "\"}");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "encrypted-footer.parquet,encrypt",
    "encrypted-columns.parquet,encrypt",
    "folder-that-disagrees,n",
    "null-keys.parquet,null",
    "duplicate-keys.parquet,duplicate",
    "damaged-page.parquet,n"
  })
  void whatCannotBeReadIsNamed(String file, String word) throws Exception {
    CommandRun run =
        bsdb(
            "build-parquet",
            "-i",
            resources().resolve(file).toString(),
            "-kf",
            "k",
            "-o",
            target());

    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains(file).containsIgnoringCase(word).doesNotContain("\tat ");
    assertThat(run.err().strip().lines()).as(run.err()).hasSizeLessThanOrEqualTo(2);
    assertThat(Path.of(target())).doesNotExist();
  }

  @Test
  void rowsWithoutKeysAreSkippedWhereThatIsAllowed() throws Exception {
    String file = resources().resolve("null-keys.parquet").toString();

    CommandRun run =
        bsdb(
            "build-parquet",
            "-i",
            file,
            "-kf",
            "k",
            "-o",
            target(),
            "--on-bad-line",
            "skip",
            "--json");

    assertBuilt(run);
    assertThat(run.out()).contains("\"records\":2").contains("\"rejected\":2");
    assertThat(rows(scan())).hasSize(2);
  }

  private static void assertBuilt(CommandRun run) {
    assertThat(run.code()).as(run.toString()).isZero();
  }

  private static void assertSame(
      Map<List<String>, Map<String, List<String>>> expected,
      Map<List<String>, Map<String, List<String>>> found) {
    assertThat(found.keySet()).containsExactlyInAnyOrderElementsOf(expected.keySet());
    expected.forEach(
        (key, row) -> {
          Map<String, List<String>> other = found.get(key);
          assertThat(List.copyOf(other.keySet()))
              .as("columns of %s", key)
              .isEqualTo(List.copyOf(row.keySet()));
          row.forEach(
              (column, tokens) -> {
                List<String> same = JsonTokens.inDigitsOf(tokens, other.get(column));
                if (!same.equals(tokens)) {
                  assertThat(same).as("column %s of %s", column, key).isEqualTo(tokens);
                }
              });
        });
  }

  private static List<String> columns(Map<List<String>, Map<String, List<String>>> rows) {
    return List.copyOf(rows.values().iterator().next().keySet());
  }

  private static Map<List<String>, Map<String, List<String>>> only(
      Map<List<String>, Map<String, List<String>>> rows, String column) {
    Map<List<String>, Map<String, List<String>>> only = new LinkedHashMap<>();
    rows.forEach((key, row) -> only.put(key, Map.of(column, row.get(column))));
    return only;
  }

  /** The rows by their keys: the tokens of each column. */
  private static Map<List<String>, Map<String, List<String>>> rows(List<String> lines)
      throws IOException {
    Map<List<String>, Map<String, List<String>>> rows = new LinkedHashMap<>();
    for (String line : lines) {
      int value = line.indexOf(",\"value\":");
      assertThat(line).startsWith("{\"key\":").endsWith("}");
      // A key may hold anything, also what stands between it and its value.
      while (line.charAt(value - 1) != '"' && line.charAt(value - 1) != '}') {
        value = line.indexOf(",\"value\":", value + 1);
      }
      List<String> key =
          Objects.requireNonNull(
              JsonTokens.members(line.substring(0, value) + "}").get("key"), "key");
      String row = line.substring(value + ",\"value\":".length(), line.length() - 1);
      assertThat(rows.put(key, JsonTokens.members(row))).as("another row of %s", key).isNull();
    }
    return rows;
  }

  private List<String> scan() {
    return lines(bsdb("scan", "-d", target(), "--json"));
  }

  private static List<String> lines(CommandRun run) {
    assertThat(run.code()).as(run.err()).isZero();
    String out = run.out();
    return out.isEmpty() ? List.of() : Arrays.asList(out.split("\n"));
  }

  private static List<String> expectedLines(String fixture) throws Exception {
    Path plain = resources().resolve(fixture + ".jsonl");
    boolean compressed = Files.notExists(plain);
    List<String> lines = new ArrayList<>();
    try (InputStream raw =
            Files.newInputStream(
                compressed ? plain.resolveSibling(plain.getFileName() + ".gz") : plain);
        InputStream in = compressed ? new GZIPInputStream(raw) : raw;
        BufferedReader reader = new BufferedReader(new InputStreamReader(in, UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    }
    return lines;
  }

  private static String source(String fixture) {
    Path several = resources().resolve(fixture);
    return (Files.isDirectory(several) ? several : resources().resolve(fixture + ".parquet"))
        .toString();
  }

  private static Path resources() {
    URL url = Objects.requireNonNull(ParquetFixturesTest.class.getResource("/parquet"));
    try {
      return Path.of(url.toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private String target() {
    return path("db");
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }
}
