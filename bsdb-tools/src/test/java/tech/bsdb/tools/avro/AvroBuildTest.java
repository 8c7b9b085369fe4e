package tech.bsdb.tools.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.CommandRun;

/** Builds and merges from Avro's object container files, as users run them. */
class AvroBuildTest {
  private static final Schema USERS =
      new Schema.Parser()
          .parse(
              "{'type': 'record', 'name': 'user', 'fields': [".replace('\'', '"')
                  + "{'name': 'id', 'type': 'long'},".replace('\'', '"')
                  + "{'name': 'name', 'type': ['null', 'string']},".replace('\'', '"')
                  + "{'name': 'any', 'type': ['int', 'string']}]}".replace('\'', '"'));

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private void users(String name, CodecFactory codec, int first, int rows) throws IOException {
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(USERS))
            .setCodec(codec)
            .setSyncInterval(1000)
            .create(USERS, folder.resolve(name).toFile())) {
      for (int i = first; i < first + rows; i++) {
        GenericRecord row = new GenericData.Record(USERS);
        row.put("id", (long) i);
        row.put("name", i % 3 == 0 ? null : "user " + i);
        row.put("any", i % 2 == 0 ? (Object) i : "text");
        writer.append(row);
      }
    }
  }

  private CommandRun build(String... more) {
    List<String> line = new ArrayList<>(List.of("build", "-kf", "id", "-o", path("db")));
    line.addAll(List.of(more));
    return bsdb(line.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "deflate", "snappy", "zstandard"})
  void everyRowOfEveryBlockIsRead(String codec) throws Exception {
    users("a.avro", CodecFactory.fromString(codec), 0, 2_000);

    CommandRun built = build("-i", path("a.avro"), "--columns", "name,id");

    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(bsdb("scan", "-d", path("db"), "--json").out().lines()).hasSize(2_000);
    assertThat(bsdb("get", "-d", path("db"), "--json", "7").out())
        .contains("\"key\":\"7\"", "{\"name\":\"user 7\",\"id\":7}");
    assertThat(bsdb("get", "-d", path("db"), "--json", "9").out()).contains("{\"name\":null,");
  }

  @Test
  void aUnionIsRefusedOnlyIfItIsNeeded() throws Exception {
    users("a.avro", CodecFactory.nullCodec(), 0, 10);

    assertThat(build("-i", path("a.avro")).err())
        .contains(
            "a.avro: column any is, or contains, a union of int and string, which cannot be read");
    assertThat(build("-i", path("a.avro"), "--value-fields", "name").code()).isZero();
  }

  @Test
  void changesAreMerged() throws Exception {
    users("a.avro", CodecFactory.nullCodec(), 0, 10);
    users("b.avro", CodecFactory.nullCodec(), 5, 10);
    assertThat(build("-i", path("a.avro"), "--value-fields", "name").code()).isZero();

    CommandRun merged =
        bsdb(
            "merge",
            "-d",
            path("db"),
            "-i",
            path("b.avro"),
            "-kf",
            "id",
            "--delete-field",
            "name=user 8",
            "--value-fields",
            "name",
            "-o",
            path("new"));

    assertThat(merged.code()).as(merged.toString()).isZero();
    assertThat(bsdb("scan", "-d", path("new"), "--json").out().lines()).hasSize(14);
  }

  @Test
  void whatIsDamagedIsNamedWithItsPlace() throws Exception {
    users("a.avro", CodecFactory.fromString("deflate"), 0, 2_000);
    byte[] bytes = Files.readAllBytes(folder.resolve("a.avro"));
    Files.write(folder.resolve("cut.avro"), Arrays.copyOf(bytes, bytes.length - 5));
    Files.write(folder.resolve("head.avro"), Arrays.copyOf(bytes, 100));
    Files.writeString(folder.resolve("text.avro"), "key value\n");

    assertThat(build("-i", path("cut.avro"), "--value-fields", "name").err())
        .contains("cut.avro: damaged: the block");
    assertThat(build("-i", path("head.avro")).err())
        .contains("head.avro: damaged: its header cannot be read (it ends too early)");
    assertThat(build("-i", path("text.avro")).err()).contains("text.avro: not an Avro file");
    assertThat(folder.resolve("db")).doesNotExist();
  }

  /** A row's fields are {@code id}, 1, and {@code x}, so many items of one type. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type': 'array', 'items': 'null'}",
        "{'type': 'array', 'items': {'type': 'fixed', 'name': 'f', 'size': 0}}",
        "{'type': 'array', 'items': {'type': 'record', 'name': 'r', 'fields': []}}",
        "{'type': 'array', 'items': {'type': 'record', 'name': 'r', 'fields': [{'name': 'a', 'type': 'null'}]}}",
        "['int', 'string', {'type': 'array', 'items': 'null'}]",
      })
  void manyItemsWithoutBytesAreRefused(String type) throws Exception {
    for (long items : List.of(3L, 1L << 17, 1L << 30, 1L << 40, Long.MAX_VALUE)) {
      block(
          Schema.createRecord(
              "row",
              null,
              null,
              false,
              List.of(
                  new Schema.Field("id", Schema.create(Schema.Type.LONG)),
                  new Schema.Field("x", new Schema.Parser().parse(type.replace('\'', '"'))))),
          2,
          row -> {
            for (int id = 1; id <= 2; id++) {
              row.writeLong(id);
              if (type.startsWith("[")) {
                row.writeIndex(2);
              }
              row.writeLong(id == 1 ? 0 : items);
              if (id == 2) {
                row.writeLong(0);
              }
            }
          });

      for (String[] columns : new String[][] {{"--columns", "id"}, {"--columns", "id,x"}}) {
        CommandRun run = build("-i", path("block.avro"), columns[0], columns[1], "--overwrite");
        if (columns[1].equals("id,x") && type.startsWith("[")) {
          assertThat(run.err()).contains("a union of");
        } else if (items == 3) {
          assertThat(run.code()).as(run.toString()).isZero();
        } else {
          assertThat(run.code()).isEqualTo(2);
          assertThat(run.err())
              .contains("block.avro: damaged: row 2 of the block at byte ")
              .containsPattern(
                  items
                      + " items that take no bytes follow, more than 65536|Cannot read collections");
        }
      }
    }
  }

  @Test
  void manyRowsWithoutBytesAreRefused() throws Exception {
    Schema nothing = Schema.createRecord("row", null, null, false, List.of());
    Files.createDirectory(folder.resolve("id=1"));
    block(nothing, Long.MAX_VALUE, row -> {});
    Files.move(folder.resolve("block.avro"), folder.resolve("id=1/block.avro"));

    assertThat(build("-i", path("id=1"), "--format", "avro").err())
        .contains(
            "block.avro: damaged: the block at byte ",
            "(9223372036854775807 items that take no bytes follow, more than 65536)");
  }

  @Test
  void aColumnThatIsNestedWithoutEndIsRefused() throws Exception {
    Schema list =
        new Schema.Parser()
            .parse(
                ("{'type': 'record', 'name': 'row', 'fields': [{'name': 'id', 'type': 'long'},"
                        + "{'name': 'x', 'type': {'type': 'record', 'name': 'l', 'fields':"
                        + "[{'name': 'next', 'type': ['null', 'l']}]}}]}")
                    .replace('\'', '"'));
    block(
        list,
        1,
        row -> {
          row.writeLong(1);
          for (int i = 0; i < 1_000_000; i++) {
            row.writeIndex(1);
          }
          row.writeIndex(0);
        });

    assertThat(build("-i", path("block.avro"), "--columns", "id").err())
        .contains("block.avro: damaged: row 1 of the block at byte ", "(it is nested too deeply)");
  }

  /** Writes a value. */
  private interface Content {
    void write(BinaryEncoder to) throws IOException;
  }

  /** Writes the file {@code block.avro} of one block. */
  private void block(Schema schema, long rows, Content content) throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))
        .create(schema, file)
        .close();
    byte[] header = file.toByteArray();
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(block, null);
    content.write(encoder);
    encoder.flush();
    encoder = EncoderFactory.get().binaryEncoder(file, encoder);
    encoder.writeLong(rows);
    encoder.writeBytes(block.toByteArray());
    encoder.flush();
    file.write(header, header.length - 16, 16); // the marker
    Files.write(folder.resolve("block.avro"), file.toByteArray());
  }

  @Test
  void aFormatWhoseJarIsMissingIsRefusedWithWhereItIs() throws Exception {
    assertThat(build("-i", path("a.orc")).err())
        .contains("--format orc needs bsdb-lake.jar", "lib/lake");
  }
}
