package tech.bsdb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.bench.Answers.WrongAnswerException;
import tech.bsdb.tools.ParquetBuilder;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;

/** Both tools, from their arguments to their reports, on small real databases. */
@Timeout(120)
class LoadToolTest {
  private static final int RECORDS = 2_000;
  private static @TempDir Path folder;
  private static Path exact;
  private static Path packed;
  private static Path approximate;
  private static Path words;

  @BeforeAll
  static void build() throws IOException {
    exact = folder.resolve("exact");
    packed = folder.resolve("packed");
    approximate = folder.resolve("approximate");
    words = folder.resolve("words.txt");
    StringBuilder text = new StringBuilder();
    KeySet keys = FakeAnswers.keys(RECORDS);
    for (byte[] key : keys.present()) {
      text.append(new String(key, UTF_8)).append('|');
      text.append(new String(FakeAnswers.valueOf(key), UTF_8)).append('\n');
    }
    Files.writeString(words, text);
    build(exact, BuildOptions.defaults().withLayout(Layout.BLOCKED), keys);
    build(packed, BuildOptions.defaults().withLayout(Layout.PACKED), keys);
    build(approximate, BuildOptions.defaults().withApproximateWidth(8), keys);
  }

  private static void build(Path target, BuildOptions options, KeySet keys) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (byte[] key : keys.present()) {
        builder.add(key, FakeAnswers.valueOf(key));
      }
      builder.finish();
    }
  }

  @Test
  void reportsAsJson() throws Exception {
    Map<String, String> json = json(bench("--threads", "1,2", "--absent", "50", "--json", "-"));
    assertThat(json)
        .containsEntry("/command", "bench")
        .containsEntry("/database/records", "2000")
        .containsEntry("/load/loop", "closed")
        .containsEntry("/load/absentShare", "0.5")
        .containsEntry("/points/0/threads", "1")
        .containsEntry("/points/1/threads", "2")
        .containsEntry("/points/0/errors", "0")
        .containsEntry("/points/0/missesOfSourceKeys", "0")
        .containsEntry("/points/0/hitsOfAbsentKeys", "0")
        .containsKeys(
            "/engine",
            "/machine/java",
            "/points/1/lookupsPerSecond",
            "/points/1/latencyNanos/p99.99",
            "/points/1/cpuSecondsPerMillion",
            "/points/1/deviceBytesPerLookup");
    long hits = Long.parseLong(json.get("/points/0/hits"));
    long misses = Long.parseLong(json.get("/points/0/misses"));
    assertThat(hits).isPositive();
    assertThat(misses).isPositive();
    assertThat(json).containsEntry("/points/0/lookups", String.valueOf(hits + misses));
  }

  @ParameterizedTest
  @CsvSource({
    "bench, id, --batch 16 --widen --int96 micros",
    "bench-async, id, --depth 8",
    "bench, 'id,name', --key-join |"
  })
  void rowsOfParquetAreVerified(String command, String keys, String options) throws Exception {
    Path rows = parquet("rows.parquet", "required double score;", 1);
    Path database = folder.resolve("typed-" + command + keys.length());
    List<String> join = keys.contains(",") ? List.of("--key-join", "|") : List.of();
    List<String> build = new ArrayList<>();
    build.addAll(List.of("-i", rows.toString(), "-kf", keys, "-o", database.toString(), "-q"));
    build.addAll(join);
    ByteArrayOutputStream nowhere = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(new byte[0]), nowhere, nowhere, false);
    assertThat(new ParquetBuilder().run(build, console)).isZero();

    List<String> line = new ArrayList<>(List.of("-k", rows.toString(), "-kf", keys, "-v"));
    line.addAll(List.of(options.split(" ")));
    line.addAll(List.of("--json", "-"));
    assertThat(json(run(command, database, line)))
        .containsEntry("/load/verified", "true")
        .containsEntry("/points/0/errors", "0")
        .containsEntry("/points/0/missesOfSourceKeys", "0");

    Path others = parquet("others.parquet", "required double score;", 2);
    line.set(1, others.toString());
    assertThatThrownBy(() -> run(command, database, line)).isInstanceOf(WrongAnswerException.class);
    Path otherSchema = parquet("schema.parquet", "optional float score;", 1);
    line.set(1, otherSchema.toString());
    assertThatThrownBy(() -> run(command, database, line))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("a different schema");
  }

  @Test
  void optionsOfParquetAndTextAreKeptApart() {
    for (String line :
        List.of("-k x -kf id -s |", "-k x -nn host", "-k x --widen", "-kf id", "-k - -kf id")) {
      assertThatThrownBy(() -> bench(line.split(" "))).isInstanceOf(UsageException.class);
    }
  }

  private static Path parquet(String name, String column, int factor) throws IOException {
    MessageType type =
        MessageTypeParser.parseMessageType(
            "message rows { required int64 id; required binary name (STRING); " + column + " }");
    Path file = folder.resolve(name);
    Files.deleteIfExists(file);
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withConf(new PlainParquetConfiguration())
            .withType(type)
            .build()) {
      for (int i = 0; i < 500; i++) {
        SimpleGroup row = new SimpleGroup(type);
        row.append("id", (long) i).append("name", "n" + i);
        if (column.contains("double")) {
          row.append("score", i * factor / 8.0);
        } else {
          row.append("score", i * factor / 8.0f);
        }
        writer.write(row);
      }
    }
    return file;
  }

  @ParameterizedTest
  @CsvSource({
    "bench, --batch 16",
    "bench, --zipf 1",
    "bench, --engine mapped -ic",
    "bench, --engine buffered",
    "bench, --engine memory",
    "bench, --rate 2000",
    "bench-async, --depth 8",
    "bench-async, --depth 8 --engine buffered",
    "bench-async, --rate 2000 --absent 20",
  })
  void everyAnswerIsVerified(String command, String options) throws Exception {
    List<String> line = new ArrayList<>(List.of("-k", words.toString(), "-s", "|", "-v"));
    line.addAll(List.of(options.split(" ")));
    line.addAll(List.of("--json", "-"));
    Map<String, String> json = json(run(command, exact, line));
    assertThat(json)
        .containsEntry("/load/verified", "true")
        .containsEntry("/points/0/errors", "0")
        .containsEntry("/points/0/missesOfSourceKeys", "0");
    assertThat(Long.parseLong(json.get("/points/0/hits"))).isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "bench, --batch 16",
    "bench, --engine buffered -ic",
    "bench, --absent 50",
    "bench-async, --depth 8",
    "bench-async, --depth 8 --engine buffered",
  })
  void answersOfAPackedDatabaseAreVerified(String command, String options) throws Exception {
    List<String> line = new ArrayList<>(List.of("-k", words.toString(), "-s", "|", "-v"));
    line.addAll(List.of(options.split(" ")));
    line.addAll(List.of("--json", "-"));
    assertThat(json(run(command, packed, line)))
        .containsEntry("/database/layout", "packed")
        .containsEntry("/load/verified", "true")
        .containsEntry("/points/0/errors", "0")
        .containsEntry("/points/0/hitsOfAbsentKeys", "0")
        .containsEntry("/points/0/missesOfSourceKeys", "0");
    assertThat(json(run(command, packed, List.of("--json", "-"))))
        .containsEntry("/points/0/missesOfSourceKeys", "0");
  }

  @ParameterizedTest
  @CsvSource({"bench, 0", "bench, 10", "bench-async, 0", "bench-async, 10"})
  void approximateAnswersAreVerifiedAsFarAsTheyGo(String command, int absent) throws Exception {
    List<String> line =
        List.of("-a", "-k", words.toString(), "-s", "|", "-v", "--absent", "" + absent);
    assertThat(run(command, approximate, line).code).isZero();
  }

  @ParameterizedTest
  @CsvSource({"bench", "bench-async"})
  void aSourceThatSaysOtherwiseIsAnError(String command) throws Exception {
    Path other = folder.resolve("other-" + command + ".txt");
    Files.writeString(other, Files.readString(words).replace("value000123", "value000321"));
    assertThatThrownBy(() -> run(command, exact, List.of("-k", other.toString(), "-s", "|", "-v")))
        .isInstanceOf(WrongAnswerException.class)
        .hasMessageContaining("key000123")
        .hasMessageContaining("expected \"value000321\", got \"value000123\"");
  }

  @Test
  void writesOnePageThatNeedsNothingElse() throws Exception {
    Path page = folder.resolve("page.html");
    Run run = run("bench-async", exact, List.of("--sweep", "--depth", "5", "--html", "" + page));
    assertThat(run.code).isZero();
    String html = Files.readString(page);
    assertThat(html)
        .startsWith("<!DOCTYPE html>")
        .contains("2,000 records", "\"depth\":5", "p99.9", "AsyncReader.asyncGet")
        .contains("prefers-color-scheme", "width=device-width")
        .doesNotContain("http:", "https:", "//", "src=", "href", "url(", "@import", "@FIGURES@");
    int from = html.indexOf('{', html.indexOf("id=\"figures\""));
    Map<String, String> figures = json(html.substring(from, html.indexOf("</script>", from)));
    for (int point = 0; point < 4; point++) { // 1, 2, 4, 5
      assertThat(figures)
          .containsKeys("/timingInWords/" + point)
          .containsKeys("/points/" + point + "/latencyNanos/p99.9", "/curves/" + point + "/0/1");
    }
    assertThat(figures).doesNotContainKey("/points/4/depth");
    assertThat(run.out).contains("threads").contains("p99.99");
  }

  @Test
  void quietPrintsNothing() throws Exception {
    Run run = bench("-q");
    assertThat(run.out).isEmpty();
    assertThat(run.err).isEmpty();
  }

  @Test
  void theSummaryIsForPeople() throws Exception {
    assertThat(bench().out)
        .contains("lookups/s", "p50", "p99.99", "s per million lookups", "read per lookup")
        .contains("engine", "Database.get", "closed loop");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "-v; -v needs -k",
        "-s ,; -s needs -k",
        "--key-encoding hex; --key-encoding needs -k",
        "--threads 0; --threads takes a whole number from 1 to 1024",
        "--threads 1,x; --threads takes a whole number",
        "--threads 2,2; --threads takes a whole number",
        "--threads 1,2 --sweep; --sweep goes from 1 up to one --threads",
        "--batch 0; --batch takes a whole number from 1",
        "--absent 101; --absent takes a number from 0 to 100",
        "--absent NaN; --absent takes a number from 0 to 100",
        "--zipf -1; --zipf takes a number from 0 to 10",
        "--rate 0; --rate takes a number from 1",
        "--duration 0; --duration takes a number from 0.1 to 86400",
        "--warmup -1; --warmup takes a number from 0",
        "--keys 0; --keys takes a whole number",
        "--engine tape; --engine takes auto, mapped, buffered, direct, io_uring or memory",
        "--depth 3; unknown option --depth",
        "--html -; --html takes a file",
        "-a; is exact",
        "extra; unexpected argument",
      })
  void mistakesNameTheOption(String options, String message) {
    assertThatThrownBy(() -> run("bench", exact, List.of(options.split(" "))))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining(message);
  }

  @Test
  void whatCannotBeReadOrWrittenIsNamed() {
    Path missing = folder.resolve("missing");
    assertThatThrownBy(() -> run("bench", missing, List.of()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(missing.toString());
    assertThatThrownBy(() -> run("bench", exact, List.of("-k", missing.toString())))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(missing.toString());
    assertThatThrownBy(() -> run("bench", exact, List.of("--json", missing + "/report")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("--json")
        .hasMessageContaining(missing.toString());
    assertThatThrownBy(() -> run("bench", exact, List.of("--html", folder.toString())))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("--html");
    assertThatThrownBy(() -> run("bench", approximate, List.of()))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("-k");
  }

  /** A change of an option changes a golden text, too: {@code bsdb bench --help > bench.txt}. */
  @ParameterizedTest
  @ValueSource(strings = {"bench", "bench-async"})
  void theHelpIsTheGoldenOne(String command) throws Exception {
    assertThat(run(command, exact, List.of("--help")).out)
        .isEqualTo(Files.readString(Path.of("src/test/resources/help", command + ".txt")))
        .contains("-d DIR", "-k FILE", "-s TEXT", "-a ", "-ic", "-id", "-kd", "-v ", "--rate");
  }

  private static Run bench(String... options) throws Exception {
    return run("bench", exact, List.of(options));
  }

  private record Run(int code, String out, String err) {}

  /** Runs for a tenth of a second where the options say nothing else. */
  private static Run run(String command, Path database, List<String> options) throws Exception {
    List<String> line = new ArrayList<>(List.of("-d", database.toString()));
    if (!options.contains("--warmup")) {
      line.addAll(List.of("--warmup", "0"));
    }
    if (!options.contains("--duration")) {
      line.addAll(List.of("--duration", "0.1"));
    }
    line.addAll(options);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(new byte[0]), out, err, false);
    Command tool = command.equals("bench") ? new QueryBench() : new AsyncQueryBench();
    int code = tool.run(line, console);
    console.out().flush();
    return new Run(code, out.toString(UTF_8), err.toString(UTF_8));
  }

  /** The scalars of a report by their places, such as {@code /points/0/hits}. */
  private static Map<String, String> json(Run run) throws IOException {
    assertThat(run.code).isZero();
    return json(run.out);
  }

  private static Map<String, String> json(String text) throws IOException {
    Map<String, String> fields = new HashMap<>();
    try (JsonParser parser = new JsonFactory().createParser(text)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token.isScalarValue()) {
          fields.put(parser.getParsingContext().pathAsPointer().toString(), parser.getText());
        }
      }
    }
    return fields;
  }
}
