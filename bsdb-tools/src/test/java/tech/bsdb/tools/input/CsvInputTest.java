package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Rounds;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.input.Format.Csv.Values;

@ExtendWith(SeedInFailure.class)
final class CsvInputTest {
  private static final long SEED = SeedInFailure.SEED;

  @TempDir Path directory;

  @Test
  void oneValueColumnIsItsText() throws IOException {
    String text =
        "id,name,more\n"
            + "1,one,x\n"
            + "2,\"two, \"\"quoted\"\"\",y\n"
            + "3,\"over\r\n"
            + "lines\n"
            + "\",z\r\n"
            + "4,,\n"
            + "5, a \"b\" ,";
    Readings read = read(text, csv(null, "name"));
    assertThat(read.records())
        .containsExactly("1→one", "2→two, \"quoted\"", "3→over\r\nlines\n", "4→", "5→ a \"b\" ");
    assertThat(read.lines()).containsExactly(2L, 3L, 4L, 7L, 8L);
    assertThat(read.report()).isEqualTo(new InputReport(8, 5, Map.of(), 0, text.length()));
  }

  @Test
  void severalValueColumnsAreAJsonObject() throws IOException {
    String text = "a,\"b \"\"q\"\"\",c\n1,x\"y,\"\\\r\n\t\u0001\u007f\"\n2,é,\n";
    assertThat(read(text, csv("a")).records())
        .containsExactly(
            "1→{\"b \\\"q\\\"\":\"x\\\"y\",\"c\":\"\\\\\\r\\n\\t\\u0001\u007f\"}",
            "2→{\"b \\\"q\\\"\":\"Ã©\",\"c\":\"\"}");
    assertThat(read("a,b,c\n1,2,3\n", csv("b", "c", "a", "b")).records())
        .as("in the order asked for")
        .containsExactly("2→{\"c\":\"3\",\"a\":\"1\",\"b\":\"2\"}");
  }

  @Test
  void severalValueColumnsAreALineOfCsvOnRequest() throws IOException {
    Format.Csv format = new Format.Csv("k", List.of(), Values.DELIMITED, ';');
    String text = "k;a;b;c\n1; x ;y,y;\n2;\"s;s\";\"q\"\"q\";\"l\nl\"\n";
    assertThat(read(text, format).records())
        .containsExactly("1→ x ;y,y;", "2→\"s;s\";\"q\"\"q\";\"l\nl\"");
  }

  @Test
  void delimitedValuesRoundTrip() throws IOException {
    Random random = new Random(SEED);
    for (int round = 0; round < Rounds.of(40); round++) {
      List<String[]> rows = randomRows(random, 4);
      Path file = Readings.file(directory, "in", csvOf(rows, "k", "a", "b", "c"));
      Readings read =
          Readings.read(
              Readings.of(file)
                  .withAllowEmptyKey(true)
                  .withFormat(new Format.Csv("k", List.of(), Values.DELIMITED, ',')),
              1 + random.nextInt(50));
      assertThat(read.records()).as("seed " + SEED).hasSize(rows.size());
      for (int i = 0; i < rows.size(); i++) {
        String line = read.records().get(i).substring(read.records().get(i).indexOf('→') + 1);
        CsvRecord fields =
            CsvReader.builder().skipEmptyLines(false).ofCsvRecord(line).iterator().next();
        assertThat(fields.getFields())
            .as("seed %d", SEED)
            .containsExactly(rows.get(i)[1], rows.get(i)[2], rows.get(i)[3]);
      }
    }
  }

  @Test
  void readsGeneratedCsvForAnyChunksAndThreads() throws IOException {
    Random random = new Random(SEED);
    for (int round = 0; round < Rounds.of(40); round++) {
      List<String[]> rows = randomRows(random, 2);
      Path file = Readings.file(directory, "in", csvOf(rows, "k", "v"));
      List<String> expected = rows.stream().map(row -> row[0] + "→" + row[1]).toList();
      List<Long> lines = new ArrayList<>();
      long line = 2;
      for (String[] row : rows) {
        lines.add(line);
        line += 1 + (row[0] + row[1]).chars().filter(c -> c == '\n').count();
      }
      for (int chunk : new int[] {1, 2, 1 + random.nextInt(40), 1 << 20}) {
        for (int threads : new int[] {1, 4}) {
          Readings read =
              Readings.read(
                  Readings.of(file)
                      .withAllowEmptyKey(true)
                      .withFormat(csv("k", "v"))
                      .withThreads(threads),
                  chunk);
          assertThat(read.failure()).as("seed %d round %d", SEED, round).isNull();
          assertThat(read.records()).as("seed %d round %d", SEED, round).isEqualTo(expected);
          assertThat(read.lines()).as("seed %d round %d", SEED, round).isEqualTo(lines);
        }
      }
    }
  }

  @Test
  void aRowWithAnotherColumnCountIsABadLineAtItsFirstLine() throws IOException {
    String text = "k,v\n1,\"a\nb\"\n2\n3,\"x\ny\",4\n5,6\n";
    Path file = Readings.file(directory, "in.csv", text);
    InputOptions options = Readings.of(file).withFormat(csv("k", "v"));
    assertThat(Readings.read(options).message())
        .isEqualTo(
            file + ":4: fewer columns than the header (--on-bad-line skip leaves such lines out)");
    Path rejects = directory.resolve("rejects");
    Readings read =
        Readings.read(options.withOnBadLine(InputOptions.OnBadLine.SKIP).withRejects(rejects), 5);
    assertThat(read.records()).containsExactly("1→a\nb", "5→6");
    assertThat(read.lines()).containsExactly(2L, 7L);
    assertThat(read.report().rejectedByReason())
        .isEqualTo(Map.of("fewer columns than the header", 1L, "more columns than the header", 1L));
    assertThat(Files.readString(rejects))
        .isEqualTo(
            file
                + ":4: fewer columns than the header: 2\n"
                + file
                + ":5: more columns than the header: 3,\"x\ny\",4\n");
  }

  @Test
  void brokenQuotesAreBadLines() throws IOException {
    assertBad("k,v\n1,\"a\n2,b\n", 2, "a quote is never closed");
    assertBad("k,v\n1,\"a\"b\n2,b\n", 2, "text between a closing quote and the next delimiter");
    assertBad("k,v\n1,a\n2,b\r3,c\n", 3, "a carriage return outside quotes");
    assertBad("k,v\n1,a\n\n", 3, "empty line");
    assertBad("k,v\n1,a\n,b\n", 3, "empty key");
    Path file =
        Readings.file(
            directory, "in.csv", "k,v\n1,\"a\"b\n2,c\n\r\n3,\"d\"\"\"e,\"\n4,f\n5,\"g\nh\n");
    Readings read = Readings.read(Readings.skipping(file).withFormat(csv("k", "v")), 4);
    assertThat(read.records()).containsExactly("2→c", "4→f");
    assertThat(read.lines()).containsExactly(3L, 6L);
    assertThat(read.report().lines()).isEqualTo(8);
    assertThat(read.report().rejected()).isEqualTo(4);
  }

  @Test
  void columnsAreFoundByNameThenByNumberInEveryFile() throws IOException {
    Path first = Readings.file(directory, "1.csv", "a,2,b\nx,y,z\n");
    Path second = Readings.file(directory, "2.csv", "b,a\r\nz2,x2\r\n");
    assertThat(read(Files.readString(first), csv("2", "3")).records()).containsExactly("y→z");
    assertThat(read(Files.readString(second), csv("2", "1")).records()).containsExactly("x2→z2");
    InputOptions both =
        Readings.of(first)
            .withInputs(List.of(first.toString(), second.toString()))
            .withFormat(csv("a", "b"));
    assertThat(Readings.read(both).records()).containsExactly("x→z", "x2→z2");
  }

  @Test
  void aBadHeaderIsAnErrorThatNamesTheFileAndItsColumns() throws IOException {
    assertThat(read("a,b\n1,2\n", csv("c")).message())
        .endsWith("in.csv: no column \"c\"; the columns are 1 \"a\", 2 \"b\"");
    assertThat(read("a,b\n1,2\n", csv("3")).message()).contains("no column \"3\"");
    assertThat(read("a,b\n1,2\n", csv("0")).message()).contains("no column \"0\"");
    assertThat(read("a,a\n1,2\n", csv("a")).message()).contains("more than one column \"a\"");
    assertThat(read("a,b,b\n1,2,3\n", csv("a")).message())
        .contains("column \"b\" comes twice in the value");
    assertThat(read("a,b,b\n1,2,3\n", csv("1", "2")).records())
        .as("by number")
        .containsExactly("1→2");
    assertThat(read("a\n1\n", csv("a")).message())
        .contains("no column for the value", "is the delimiter right?");
    assertThat(read("\na,b\n", csv("a")).message()).contains("in.csv:1: empty line");
    assertThat(read("a,\"b\n", csv("a")).message()).contains("in.csv:1: a quote is never closed");
    assertThat(read("", csv("a")).report().records()).isZero();
    assertThat(read("a,b", csv("a")).report()).isEqualTo(new InputReport(1, 0, Map.of(), 0, 3));
    assertThat(read("a,b\r\n", csv("a")).report()).isEqualTo(new InputReport(1, 0, Map.of(), 0, 5));
  }

  @Test
  void theHeaderMayBeLongAndMultilineWithAByteOrderMark() throws IOException {
    String name = "b\n" + "c".repeat(5000);
    Path file = Readings.file(directory, "in.csv", "\uFEFFa,\"" + name + "\"\n1,2\n", UTF_16LE);
    Readings read =
        Readings.read(Readings.of(file).withEncoding(UTF_16LE).withFormat(csv("a", name)), 10);
    assertThat(read.records()).containsExactly("1→2");
    assertThat(read.lines()).containsExactly(3L);
  }

  @Test
  void hexAndBase64FieldsAreDecoded() throws IOException {
    Path file = Readings.file(directory, "in.csv", "k,v\n6162,eHk=\n");
    InputOptions options =
        Readings.of(file).withKeyEncoding(Encoding.HEX).withValueEncoding(Encoding.BASE64);
    assertThat(Readings.read(options.withFormat(csv("k", "v"))).records()).containsExactly("ab→xy");
    assertThatThrownBy(() -> Readings.read(options.withFormat(csv("k", "v", "k"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("value encoding base64");
  }

  @Test
  void anInvalidDelimiterIsRefused() {
    for (char delimiter : new char[] {'"', '\n', '\r', 0, 'é', '→'}) {
      assertThatThrownBy(() -> new Format.Csv(null, List.of(), Values.JSON, delimiter))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  private static List<String[]> randomRows(Random random, int columns) {
    List<String[]> rows = new ArrayList<>();
    String[] pieces = {"", "a", "\"", ",", "\n", "\r\n", "\r", " ", "word"};
    for (int i = random.nextInt(20); i > 0; i--) {
      String[] row = new String[columns];
      for (int column = 0; column < columns; column++) {
        StringBuilder field = new StringBuilder();
        for (int j = random.nextInt(4); j > 0; j--) {
          field.append(pieces[random.nextInt(pieces.length)]);
        }
        row[column] = field.toString();
      }
      rows.add(row);
    }
    return rows;
  }

  private static String csvOf(List<String[]> rows, String... header) throws IOException {
    StringWriter text = new StringWriter();
    try (CsvWriter csv = CsvWriter.builder().build(text)) {
      csv.writeRecord(header);
      rows.forEach(row -> csv.writeRecord(row));
    }
    return text.toString();
  }

  private static Format.Csv csv(@Nullable String key, String... values) {
    return new Format.Csv(key, List.of(values), Values.JSON, ',');
  }

  private Readings read(String text, Format.Csv format) throws IOException {
    return Readings.read(Readings.of(Readings.file(directory, "in.csv", text)).withFormat(format));
  }

  private void assertBad(String text, long line, String reason) throws IOException {
    Readings read = read(text, csv("k", "v"));
    assertThat(read.failure()).isInstanceOf(BadInputException.class);
    assertThat(read.message()).startsWith(directory.resolve("in.csv") + ":" + line + ": " + reason);
  }
}
