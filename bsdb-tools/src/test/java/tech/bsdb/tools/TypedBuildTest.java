package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.Rounds;
import tech.bsdb.Statistics;

/**
 * {@code bsdb build --avro-schema}: builds rows from text that Avro reads with the stored schema.
 */
final class TypedBuildTest {
  private static final String ORDER =
      """
      {
        "type": "record", "name": "Order", "doc": "two\\nlines",
        "fields": [
          {"name": "id", "type": "long"},
          {"name": "price", "type":
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
          {"name": "note", "type": ["null", "string"], "default": null, "aliases": ["remark"]},
          {"name": "count", "type": "int", "default": 1}
        ]
      }
      """;

  @TempDir Path directory;

  private String schema = "";
  private String target = "";

  @BeforeEach
  void writeSchema() throws IOException {
    schema = file("order.avsc", ORDER);
    target = directory.resolve("db").toString();
  }

  @Test
  void jsonLinesBecomeRows() throws IOException {
    String in =
        file(
            "in.jsonl",
            """
            {"id": 1, "price": 1.5, "note": "é", "count": 3}
            {"note": null, "price": "-2.00", "id": "2"}
            """);
    build("--jsonl", "--key-field", "id", "-i", in);
    assertThat(rows("1", "2"))
        .containsExactly(
            "{\"id\": 1, \"price\": \"\\u0000\\u0096\", \"note\": \"é\", \"count\": 3}",
            "{\"id\": 2, \"price\": \"ÿ8\", \"note\": null, \"count\": 1}");
    try (Database database = Database.open(Path.of(target))) {
      assertThat(stored(database)).isEqualTo(new Schema.Parser().parse(ORDER));
      assertThat(database.statistics().valueSchema()).doesNotContain("\n");
    }
  }

  @Test
  void csvBecomesTheSameRowsForAnyKeyColumn() throws IOException {
    String in = file("in.csv", "remark,price,id\n\"a, \"\"b\"\"\",12,7\n,0.01,-8\n");
    build("--csv", "--key-column", "id", "-i", in);
    List<String> expected =
        List.of(
            "{\"id\": 7, \"price\": \"\\u0004°\", \"note\": \"a, \\\"b\\\"\", \"count\": 1}",
            "{\"id\": -8, \"price\": \"\\u0001\", \"note\": null, \"count\": 1}");
    assertThat(rows("7", "-8")).isEqualTo(expected);

    String keyed = file("keyed.csv", "key,id,price,note\nx,7,12,\"a, \"\"b\"\"\"\ny,-8,0.01,\n");
    build("--overwrite", "--csv", "-i", keyed);
    assertThat(rows("x", "y")).isEqualTo(expected);

    String extra = file("extra.csv", "key;id;price;a;b\nx;7;12;;\n");
    assertThat(run("--overwrite", "--csv", "--csv-delimiter", ";", "-i", extra).err())
        .isEqualTo(
            "bsdb build: "
                + extra
                + ": the schema has no field for the columns 4 \"a\", 5 \"b\""
                + " (--ignore-extra-fields leaves such columns out)\n");
    build("--overwrite", "--csv", "--csv-delimiter", ";", "--ignore-extra-fields", "-i", extra);
    assertThat(rows("x"))
        .containsExactly("{\"id\": 7, \"price\": \"\\u0004°\", \"note\": null, \"count\": 1}");
  }

  @Test
  void columnsThatDoNotMatchTheSchemaAreNamed() throws IOException {
    String missing = file("in.csv", "key,id\n1,1\n");
    assertThat(run("--csv", "-i", missing).err())
        .isEqualTo(
            "bsdb build: "
                + missing
                + ": no column for the field \"price\" of the schema, which has no default and may"
                + " not be null; the columns are 1 \"key\", 2 \"id\"\n");
    String twice = file("twice.csv", "id,price,note,remark\n1,1,,\n");
    assertThat(run("--csv", "-i", twice).err())
        .isEqualTo(
            "bsdb build: "
                + twice
                + ": more than one column for the field \"note\" of the schema; the columns are"
                + " 1 \"id\", 2 \"price\", 3 \"note\", 4 \"remark\"\n");
    assertThat(Path.of(target)).doesNotExist();
  }

  @Test
  void badLinesSayWhichColumnAndWhy() throws IOException {
    String in =
        file(
            "in.jsonl",
            """
            {"id": 1, "price": 1}
            {"id": 2, "price": 1.005}
            {"id": 3, "price": 1, "cuont": 2}
            {"id": 4}
            {"id": 5, "price": 1
            {"price": 1}
            {"id": 7, "price": 1, "note": 7}
            {"id": 8, "price": 1}
            """);
    CommandRun failed = run("--jsonl", "--key-field", "id", "-i", in);
    assertThat(failed.code()).isEqualTo(2);
    assertThat(failed.err())
        .isEqualTo(
            "bsdb build: "
                + in
                + ":2: column \"price\": 1.005 does not fit decimal(9,2) (--on-bad-line skip leaves"
                + " such lines out)\n");
    Path rejects = directory.resolve("bad.txt");
    CommandRun skipped =
        run(
            "--jsonl",
            "--key-field",
            "id",
            "-i",
            in,
            "--on-bad-line",
            "skip",
            "--rejects",
            rejects.toString(),
            "--json");
    assertThat(skipped.code()).as(skipped.err()).isZero();
    assertThat(skipped.out())
        .contains("\"records\":2", "\"rejected\":6")
        .contains("\"a field that is not as the schema says\":4")
        .contains("\"a field that the schema does not have\":1");
    assertThat(Files.readString(rejects).replace(in, "in"))
        .isEqualTo(
            """
            in:2: column "price": 1.005 does not fit decimal(9,2): {"id": 2, "price": 1.005}
            in:3: column "cuont" is not in the schema: {"id": 3, "price": 1, "cuont": 2}
            in:4: column "price" is missing: {"id": 4}
            in:5: not a JSON object: {"id": 5, "price": 1
            in:6: column "id" is missing: {"price": 1}
            in:7: column "note": 7 is not a string: {"id": 7, "price": 1, "note": 7}
            """);
    String csv = file("in.csv", "id,price\n1,1\n\n2,x\n3\n");
    CommandRun bad = run("--csv", "-i", csv, "--on-bad-line", "skip", "--overwrite");
    assertThat(bad.err())
        .contains(
            "rejected                    3  (empty line: 1, fewer columns than the header: 1, a"
                + " field that is not as the schema says: 1)");
    assertThat(run("--csv", "-i", file("x.csv", "id,price\n1,x\n"), "--overwrite").err())
        .endsWith(
            "x.csv:2: column \"price\": \"x\" is not a decimal(9,2) (--on-bad-line skip leaves such"
                + " lines out)\n");
    assertThat(
            run(
                    "--jsonl",
                    "--key-field",
                    "id",
                    "-i",
                    file("y", "{\"id\":1,\"q\":1}"),
                    "--overwrite")
                .err())
        .endsWith(
            "y:1: column \"q\" is not in the schema (--ignore-extra-fields leaves it out,"
                + " --on-bad-line skip leaves such lines out)\n");
  }

  @Test
  void everyLayoutAndThreadCountGivesTheSameRows() throws IOException {
    StringBuilder lines = new StringBuilder();
    List<String> keys = new ArrayList<>();
    int count = Rounds.everything() ? 20_000 : 4_000;
    for (int i = 0; i < count; i++) {
      lines.append("{\"price\":").append(i).append(".25,\"id\":").append(i % (count - 1));
      lines.append(i % 3 == 0 ? "" : ",\"note\":\"note " + i + "\"").append("}\n");
      if (i % 997 == 0) {
        keys.add(Integer.toString(i));
      }
    }
    String in = file("in.jsonl", lines.toString());
    assertThat(run("--jsonl", "--key-field", "id", "-i", in).err())
        .contains("duplicate key \"0\": " + in + ":1 and " + in + ":" + count);
    build("--jsonl", "--key-field", "id", "-i", in, "--on-duplicate", "first");
    List<String> expected = rows(keys.toArray(new String[0]));
    byte[] manifest = Files.readAllBytes(Path.of(target, "manifest.bsdb"));
    for (String[] options :
        new String[][] {
          {"--threads", "1"},
          {"-c"},
          {"-z", "-sc", "500"},
          {"--layout", "packed"},
          {"--layout", "packed-compressed", "-sc", "500"},
          {"-a", "--approximate-width", "40"}
        }) {
      List<String> line =
          new ArrayList<>(
              List.of("--jsonl", "--key-field", "id", "-i", in, "--on-duplicate", "first"));
      line.add("--overwrite");
      line.addAll(List.of(options));
      build(line.toArray(new String[0]));
      assertThat(rows(keys.toArray(new String[0]))).as(line.toString()).isEqualTo(expected);
      if (options[0].equals("--threads")) {
        assertThat(Files.readAllBytes(Path.of(target, "manifest.bsdb"))).isEqualTo(manifest);
      }
    }
    assertThat(CommandRun.bsdb("verify", "-d", target).code()).isZero();
  }

  @Test
  void aTruncatedRowIsABadLine() throws IOException {
    String in =
        file("in.jsonl", "{\"id\":1,\"price\":1}\n{\"id\":2,\"price\":1,\"note\":\"long\"}\n");
    assertThat(run("--jsonl", "--key-field", "id", "-i", in, "-a").err())
        .isEqualTo(
            "bsdb build: "
                + in
                + ":2: the row is longer than the 8 bytes of --approximate-width"
                + " (--on-bad-line skip leaves such lines out)\n");
  }

  @Test
  void emptyInputGivesADatabaseWithItsSchema() throws IOException {
    build("--jsonl", "--key-field", "id", "-i", file("none", ""));
    try (Database database = Database.open(Path.of(target))) {
      assertThat(database.statistics().records()).isZero();
      assertThat(stored(database).getName()).isEqualTo("Order");
    }
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text).toString();
  }

  private CommandRun run(String... options) {
    List<String> line = new ArrayList<>(List.of("build", "-o", target, "--avro-schema", schema));
    line.addAll(List.of(options));
    return CommandRun.bsdb(line.toArray(new String[0]));
  }

  private void build(String... options) {
    CommandRun run = run(options);
    assertThat(run.code()).as(run.err()).isZero();
  }

  private static Schema stored(Database database) {
    Statistics statistics = database.statistics();
    return new Schema.Parser().parse(Objects.requireNonNull(statistics.valueSchema()));
  }

  /** What Avro reads with the stored schema of the database. */
  private List<String> rows(String... keys) throws IOException {
    List<String> rows = new ArrayList<>();
    try (Database database = Database.open(Path.of(target))) {
      GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(stored(database));
      for (String key : keys) {
        byte[] row = Objects.requireNonNull(database.get(key.getBytes(UTF_8)), key);
        rows.add(reader.read(null, DecoderFactory.get().binaryDecoder(row, null)).toString());
      }
    }
    return rows;
  }
}
