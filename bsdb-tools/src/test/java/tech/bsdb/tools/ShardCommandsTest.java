package tech.bsdb.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Sampled;

/** Sets of shards, and their shards alone, on the command line. */
class ShardCommandsTest {
  private static final int RECORDS = 300;

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private CommandRun build(String input, String target, String... options) {
    List<String> line = new ArrayList<>(List.of("build", "-i", input, "-o", path(target)));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private String lines() throws IOException {
    return file(
        "in.txt",
        IntStream.range(0, RECORDS)
            .mapToObj(i -> "key" + i + " value" + i + "\n")
            .collect(Collectors.joining()));
  }

  private static List<Path> shards(Path set) throws IOException {
    try (Stream<Path> files = Files.list(set)) {
      return files.filter(Files::isDirectory).sorted().toList();
    }
  }

  private static void assertFails(CommandRun run, String... words) {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err()).contains(words);
  }

  @Sampled(4)
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-c",
        "-z",
        "--layout packed --filter-bits 8",
        "--layout packed-compressed",
        "-ps 1 --threads 3 --data-files 2"
      })
  void aSetAnswersLikeTheUndividedDatabase(String options) throws Exception {
    String[] given = Stream.of(options.split(" ")).filter(o -> !o.isEmpty()).toArray(String[]::new);
    assertThat(build(lines(), "one", given).code()).isZero();
    String[] divided =
        Stream.concat(Stream.of(given), Stream.of("--shards", "7", "-v")).toArray(String[]::new);
    CommandRun built = build(path("in.txt"), "set", divided);
    assertThat(built.code()).as(built.toString()).isZero();
    assertThat(built.err()).contains("300 records", "shard-00006-", "read and found again");

    for (String json : List.of("-q", "--json")) {
      String[] keys = {"key299", "absent", "", "key0", "key0"};
      CommandRun found = get("set", json, keys);
      CommandRun expected = get("one", json, keys);
      assertThat(found.out()).isEqualTo(expected.out()).isNotEmpty();
      assertThat(found.err()).isEqualTo(expected.err());
      assertThat(found.code()).isEqualTo(1);
    }
    assertThat(sorted(bsdb("scan", "-d", path("set"))))
        .isEqualTo(sorted(bsdb("scan", "-d", path("one"))))
        .hasSize(RECORDS);
    assertThat(sorted(bsdb("scan", "-d", path("set"), "--json")))
        .isEqualTo(sorted(bsdb("scan", "-d", path("one"), "--json")));
    assertThat(bsdb("verify", "-d", path("set"), "--json").out()).contains("\"records\":300,");
    assertThat(bsdb("warm", "-d", path("set")).code()).isZero();
    assertThat(bsdb("stat", "-d", path("set")).out()).contains("shards  ", "7, of ");
  }

  private CommandRun get(String database, String option, String... keys) {
    List<String> line = new ArrayList<>(List.of("get", "-d", path(database), option, "--"));
    line.addAll(List.of(keys));
    return bsdb(line.toArray(String[]::new));
  }

  private static List<String> sorted(CommandRun run) {
    assertThat(run.code()).as(run.toString()).isZero();
    return run.out().lines().sorted().toList();
  }

  @Test
  void aShardAloneIsADatabaseThatRefusesForeignKeys() throws Exception {
    build(lines(), "set", "--shards", "3");
    List<Path> shards = shards(folder.resolve("set"));
    assertThat(shards).hasSize(3);
    int records = 0;
    for (int number = 0; number < 3; number++) {
      String shard = shards.get(number).toString();
      List<String> own = sorted(bsdb("scan", "-d", shard));
      records += own.size();
      assertThat(bsdb("verify", "-d", shard).err()).contains(own.size() + " records read and");
      assertThat(bsdb("stat", "-d", shard).out()).contains(number + " of 3");
      assertThat(bsdb("stat", "-d", shard, "--json").out())
          .contains("\"records\":" + own.size(), "\"shard\":" + number + ",\"shards\":3,");
      assertThat(bsdb("warm", "-d", shard).code()).isZero();
      for (int i = 0; i < RECORDS; i++) {
        CommandRun run = bsdb("get", "-d", shard, "key" + i, "--json");
        if (own.contains("key" + i + " value" + i)) {
          assertThat(run.out())
              .isEqualTo("{\"key\":\"key" + i + "\",\"value\":\"value" + i + "\"}\n");
        } else {
          assertFails(run, "\"key" + i + "\" has slot ", "this is shard " + number + " of 3");
          assertThat(run.err()).hasLineCount(1).doesNotContain("absent");
        }
      }
    }
    assertThat(records).isEqualTo(RECORDS);
  }

  @Test
  void answersBeforeTheForeignKeyAreKept() throws Exception {
    build(lines(), "set", "--shards", "2");
    String shard = shards(folder.resolve("set")).get(0).toString();
    List<String> own = sorted(bsdb("scan", "-d", shard));
    String key = own.get(0).substring(0, own.get(0).indexOf(' '));
    String foreign =
        IntStream.range(0, RECORDS)
            .filter(i -> !own.contains("key" + i + " value" + i))
            .mapToObj(i -> "key" + i)
            .findFirst()
            .orElseThrow();

    CommandRun run = bsdb("get", "-d", shard, key, "{" + key + "}", foreign, key);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).isEqualTo(key.replace("key", "value") + "\n");
    assertThat(run.err()).contains("\"{" + key + "}\" is absent", "\"" + foreign + "\" has slot");
  }

  @Test
  void csvJsonLinesAndTypedRowsFillSets() throws Exception {
    String csv = file("in.csv", "id,name\n1,a\n2,b\n3,c\n");
    String jsonl = file("in.jsonl", "{\"id\":1,\"n\":7}\n{\"id\":2,\"n\":8}\n");
    String schema =
        file(
            "in.avsc",
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"},"
                + "{\"name\":\"name\",\"type\":\"string\"}]}");
    build(csv, "csv", "--csv", "--shards", "4");
    assertThat(bsdb("get", "-d", path("csv"), "3", "1").out()).isEqualTo("c\na\n");
    build(jsonl, "jsonl", "--jsonl", "--key-field", "id", "--shards", "4");
    assertThat(bsdb("get", "-d", path("jsonl"), "2").out()).isEqualTo("{\"id\":2,\"n\":8}\n");
    build(csv, "rows", "--csv", "--avro-schema", schema, "--shards", "4");
    assertThat(bsdb("get", "-d", path("rows"), "--json", "--fields", "name", "2").out())
        .isEqualTo("{\"key\":\"2\",\"value\":{\"name\":\"b\"}}\n");
    String stored = bsdb("stat", "-d", path("rows"), "--schema").out();
    assertThat(stored).contains("\"name\":\"R\"");
    for (Path shard : shards(folder.resolve("rows"))) { // three rows: one shard has none
      assertThat(bsdb("stat", "-d", shard.toString(), "--schema").out()).isEqualTo(stored);
    }
  }

  @Test
  void duplicatesNameBothPlaces() throws Exception {
    Files.createDirectories(folder.resolve("in"));
    String a = file("in/a.txt", "a 1\nb 2\n");
    String b = file("in/b.txt", "c 3\nd 4\na 5\n");

    CommandRun refused = build(path("in"), "set", "--shards", "8");
    assertFails(refused, "duplicate key \"a\": " + a + ":1 and " + b + ":3", "--on-duplicate");
    assertThat(folder.resolve("set")).doesNotExist();

    CommandRun last = build(path("in"), "set", "--shards", "8", "--on-duplicate", "last", "--json");
    assertThat(last.out()).contains("\"records\":4,", "\"duplicatesDropped\":1,");
    assertThat(bsdb("get", "-d", path("set"), "a").out()).isEqualTo("5\n");
    assertThat(bsdb("stat", "-d", path("set"), "--json").out())
        .contains("\"duplicatesDropped\":1,");
  }

  @Test
  void badLinesAreHandledAsEver() throws Exception {
    String in = file("in.txt", "a 1\nbad\nb 2\n");

    assertFails(build(in, "set", "--shards", "3"), in + ":2: no separator");
    assertThat(folder.resolve("set")).doesNotExist();
    String[] skip = {"--shards", "3", "--on-bad-line", "skip", "--rejects", path("rejects")};
    assertThat(build(in, "set", skip).err()).contains("rejected                    1");
    assertThat(Files.readString(folder.resolve("rejects"))).contains(in + ":2:", "bad");
  }

  @Test
  void aSetReplacesADatabaseAndTheOtherWayRound() throws Exception {
    String in = lines();
    build(in, "db");
    assertFails(build(in, "db", "--shards", "3"), "already exists", "--overwrite");
    for (String shards : List.of("3", "1", "5", "2", "2", "1")) {
      CommandRun run = build(in, "db", "--shards", shards, "--overwrite", "-q");
      assertThat(run.code()).as(run.toString()).isZero();
      assertThat(run.err()).isEmpty();
      int divided = shards.equals("1") ? 0 : Integer.parseInt(shards);
      assertThat(shards(folder.resolve("db"))).hasSize(divided);
      assertThat(bsdb("verify", "-d", path("db")).code()).isZero();
      assertThat(bsdb("get", "-d", path("db"), "key42").out()).isEqualTo("value42\n");
    }
    assertThat(folder).isDirectoryNotContaining("glob:**bsdb-build**");
  }

  @Test
  void anEmptyInputMakesASetWithoutRecords() throws Exception {
    assertThat(build(file("none", ""), "set", "--shards", "3", "-v").code()).isZero();
    assertThat(bsdb("get", "-d", path("set"), "a").code()).isEqualTo(1);
    assertThat(bsdb("scan", "-d", path("set")).outBytes()).isEmpty();
    assertThat(bsdb("stat", "-d", path("set")).out()).contains("3, of 0 to 0 records");
  }

  @Test
  void damageIsNamedWithItsShard() throws Exception {
    build(lines(), "set", "--shards", "3");
    Path shard = shards(folder.resolve("set")).get(1);
    Path data;
    try (Stream<Path> files = Files.list(shard)) {
      data = files.filter(f -> f.toString().contains("data-000")).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(data);
    bytes[5_000] ^= 1;
    Files.write(data, bytes);
    assertFails(bsdb("verify", "-d", path("set")), data.toString());
    assertFails(bsdb("verify", "-d", shard.toString()), data.toString());

    Files.delete(data);
    assertFails(bsdb("get", "-d", path("set"), "key0"), data.getFileName().toString());
    assertFails(bsdb("stat", "-d", path("set")), data.getFileName().toString());
  }

  @Test
  void otherCommandsDoNotKnowTheOption() {
    for (String command : List.of("plan", "get", "scan", "publish")) {
      assertFails(bsdb(command, "--shards", "3"), "unknown option --shards");
      assertThat(bsdb(command, "--help").out()).doesNotContain("--shards");
    }
    for (String command : List.of("build", "build-parquet")) {
      assertThat(bsdb(command, "--help").out()).contains("--shards N");
    }
    String range = "--shards takes a whole number from 1 to 16384, not \"16385\"";
    assertFails(bsdb("build", "-i", path("in"), "--shards", "16385"), range);
    assertFails(bsdb("build-parquet", "-i", path("in"), "-kf", "id", "--shards", "16385"), range);
  }
}
