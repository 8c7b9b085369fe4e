package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.input.Format;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.input.InputOptions.OnBadLine;

class SourceOptionsTest {
  private static final Syntax SYNTAX = Syntax.of("build");

  @TempDir Path directory;

  @Test
  void withoutOptionsTheDefaultsHold() throws Exception {
    assertThat(parse()).isEqualTo(InputOptions.defaults().withInputs(List.of("in")));
  }

  @Test
  void everyOptionReachesItsField() throws Exception {
    InputOptions options =
        parse(
            "-i",
            "-",
            "-s",
            "\\t",
            "-e",
            "GBK",
            "--key-encoding",
            "hex",
            "--value-encoding",
            "base64",
            "--on-bad-line",
            "skip",
            "--rejects",
            "bad.txt",
            "--allow-empty-key",
            "--threads",
            "3");

    assertThat(options.inputs()).containsExactly("in", "-");
    assertThat(options.format()).isEqualTo(new Format.Text("\t"));
    assertThat(options.encoding().name()).isEqualTo("GBK");
    assertThat(options.keyEncoding()).isEqualTo(Encoding.HEX);
    assertThat(options.valueEncoding()).isEqualTo(Encoding.BASE64);
    assertThat(options.onBadLine()).isEqualTo(OnBadLine.SKIP);
    assertThat(options.rejects()).isEqualTo(Path.of("bad.txt"));
    assertThat(options.allowEmptyKey()).isTrue();
    assertThat(options.threads()).isEqualTo(3);
    assertThat(parse("-e", "utf-8").encoding()).isEqualTo(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"|", ".", "::", " ", "\t", "-", "||", "é", "$", "a b"})
  void separatorsAreLiteral(String separator) throws Exception {
    assertThat(parse("-s", separator).format()).isEqualTo(new Format.Text(separator));
  }

  @Test
  void csvHasColumnsAndADelimiter() throws Exception {
    assertThat(parse("--csv").format())
        .isEqualTo(new Format.Csv(null, List.of(), Format.Csv.Values.JSON, ','));
    assertThat(
            parse(
                    "--csv",
                    "--key-column",
                    "2",
                    "--value-column",
                    "a",
                    "--value-column",
                    "b,c",
                    "--csv-values",
                    "delimited",
                    "--csv-delimiter",
                    "\\t")
                .format())
        .isEqualTo(new Format.Csv("2", List.of("a", "b,c"), Format.Csv.Values.DELIMITED, '\t'));
  }

  @Test
  void jsonLinesHaveAKeyField() throws Exception {
    assertThat(parse("--jsonl", "--key-field", "id").format())
        .isEqualTo(new Format.JsonLines("id"));
  }

  @Test
  void aSchemaSelectsTypedRows() throws Exception {
    String file = schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}");
    Format csv = parse("--csv", "--avro-schema", file, "--ignore-extra-fields").format();
    Format.Rows rows = Objects.requireNonNull(csv.rows());
    assertThat(rows.schema().avro().getName()).isEqualTo("R");
    assertThat(rows.ignoreExtraFields()).isTrue();
    assertThat(rows.longest()).isEqualTo(RecordBatch.MAX_VALUE_LENGTH);
    InputOptions jsonl = parse("--jsonl", "--key-field", "id", "--avro-schema", file, "-a");
    assertThat(Objects.requireNonNull(jsonl.format().rows()).longest()).isEqualTo(8);
    assertThat(Objects.requireNonNull(jsonl.schema()).avro().getName()).isEqualTo("R");
    assertThat(parse("--csv").schema()).isNull();
  }

  @Test
  void anUnusableSchemaSaysWhy() throws Exception {
    assertUsage("--ignore-extra-fields needs --avro-schema", "--csv", "--ignore-extra-fields");
    assertUsage(
        "--avro-schema needs --csv or --jsonl: text lines have no columns", "--avro-schema", "x");
    assertSchema("no such file", "--csv", "--avro-schema", directory + "/none");
    assertSchema("is a directory, not an .avsc file", "--csv", "--avro-schema", "" + directory);
    assertSchema(
        "the schema of rows must be a record, not int",
        "--csv",
        "--avro-schema",
        schema("\"int\""));
    for (String bad : List.of("", "{", "{\"type\":\"record\"}", "\u0000", "[]")) {
      assertThatExceptionOfType(UsageException.class)
          .isThrownBy(() -> parse("--csv", "--avro-schema", schema(bad)))
          .withMessageStartingWith("--avro-schema " + directory)
          .withMessageNotContaining("\n");
    }
    String list = "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"int\"}}";
    assertSchema(
        "column \"a\" is of the type array, which a CSV field cannot hold; JSON lines can",
        "--csv",
        "--avro-schema",
        schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[" + list + "]}"));
    assertSchema(
        "R contains itself without end; make that field nullable",
        "--jsonl",
        "--key-field",
        "id",
        "--avro-schema",
        schema(
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}"));
    String file = schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}");
    assertUsage(
        "--avro-schema and --value-column cannot be combined: a row has the columns of its schema",
        "--csv",
        "--avro-schema",
        file,
        "--value-column",
        "a");
    assertUsage(
        "--avro-schema and --csv-values cannot be combined: a row has the columns of its schema",
        "--csv",
        "--avro-schema",
        file,
        "--csv-values",
        "json");
    assertUsage(
        "--avro-schema and --value-encoding cannot be combined: the schema defines the values"
            + " of a row",
        "--csv",
        "--avro-schema",
        file,
        "--value-encoding",
        "hex");
  }

  private String schema(String json) throws IOException {
    return Files.writeString(directory.resolve("row.avsc"), json).toString();
  }

  private static void assertSchema(String message, String... arguments) {
    List<String> line = List.of(arguments);
    assertUsage(
        "--avro-schema " + line.get(line.indexOf("--avro-schema") + 1) + ": " + message, arguments);
  }

  @Test
  void withoutInputTheErrorShowsAnExample() {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> SourceOptions.of(SYNTAX.parse(List.of())))
        .withMessage("no input given (-i); for example: bsdb build -i words.txt -o ./rdb");
  }

  @Test
  void conflictingOptionsAreRefused() {
    assertUsage(
        "--csv and --jsonl cannot be combined: the input is one or the other", "--csv", "--jsonl");
    assertUsage("--key-column needs --csv", "--key-column", "id");
    assertUsage("--value-column needs --csv", "--value-column", "id");
    assertUsage("--csv-values needs --csv", "--csv-values", "json");
    assertUsage("--csv-delimiter needs --csv", "--csv-delimiter", ";");
    assertUsage("--key-field needs --jsonl", "--key-field", "id");
    assertUsage("--jsonl needs --key-field FIELD, the field that is the key", "--jsonl");
    assertUsage("-s is for text lines; CSV takes --csv-delimiter", "--csv", "-s", ";");
    assertUsage("-s is for text lines, not for --jsonl", "--jsonl", "--key-field", "id", "-s", ";");
    assertUsage("--rejects needs --on-bad-line skip", "--rejects", "bad.txt");
    assertUsage("-i - is given twice, but there is only one standard input", "-i", "-", "-i", "-");
    assertUsage(
        "--csv-values is for several columns; the value of one --value-column is its text",
        "--csv",
        "--value-column",
        "a",
        "--csv-values",
        "json");
    assertUsage(
        "--value-encoding needs a value that is a single text: that of a text line, or"
            + " one --value-column",
        "--csv",
        "--value-encoding",
        "hex");
    assertUsage(
        "--value-encoding needs a value that is a single text: that of a text line, or"
            + " one --value-column",
        "--jsonl",
        "--key-field",
        "id",
        "--value-encoding",
        "hex");
  }

  @Test
  void invalidValuesAreRefused() {
    assertUsage("-s takes at least one character", "-s", "");
    assertUsage(
        "-s takes \\t for a tab, \\xHH for the character with that code and \\\\ for a backslash,"
            + " not \"\\xZZ\"",
        "-s",
        "\\xZZ");
    assertUsage("-s cannot contain a line feed, which ends a line", "-s", "\\x0a");
    assertUsage("-i takes a file, a directory or -, not \"\"", "-i", "");
    assertUsage(
        "--csv-delimiter takes one ASCII character other than a quote or a line end, not \";;\"",
        "--csv",
        "--csv-delimiter",
        ";;");
    assertUsage(
        "--csv-delimiter takes one ASCII character other than a quote or a line end, not \"\"\"",
        "--csv",
        "--csv-delimiter",
        "\"");
    assertUsage(
        "--csv-delimiter takes one ASCII character other than a quote or a line end, not \"é\"",
        "--csv",
        "--csv-delimiter",
        "é");
    assertUsage(
        "--csv-values takes json or delimited, not \"xml\"", "--csv", "--csv-values", "xml");
    assertUsage(
        "-e takes a character encoding such as UTF-8, GB18030 or ISO-8859-1, not \"UTF-88\"",
        "-e",
        "UTF-88");
    assertUsage(
        "-e takes a character encoding such as UTF-8, GB18030 or ISO-8859-1, not \"\"", "-e", "");
    assertUsage(
        "--key-encoding takes utf8, hex or base64, not \"octal\"", "--key-encoding", "octal");
    assertUsage(
        "--value-encoding takes utf8, hex or base64, not \"octal\"", "--value-encoding", "octal");
    assertUsage("--on-bad-line takes fail or skip, not \"ignore\"", "--on-bad-line", "ignore");
    assertUsage("--threads takes a whole number from 1 to 256, not \"0\"", "--threads", "0");
  }

  private static InputOptions parse(String... arguments) throws UsageException {
    List<String> line = new ArrayList<>(List.of("-i", "in"));
    line.addAll(List.of(arguments));
    return SourceOptions.of(SYNTAX.parse(line));
  }

  private static void assertUsage(String message, String... arguments) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse(arguments))
        .withMessage(message);
  }
}
