package tech.bsdb.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.CommandRun;

/** Where commands look for a database. */
class PlaceOptionsTest {
  @TempDir Path folder;

  private static void assertError(String message, String... line) {
    CommandRun run = bsdb(line);
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err().lines().findFirst().orElse(""))
        .startsWith("bsdb " + line[0] + ": ")
        .contains(message);
    assertThat(run.err()).doesNotContain("\tat ").doesNotContain("internal error");
  }

  private String built(String name, String records) throws Exception {
    Path input = Files.writeString(folder.resolve(name + ".txt"), records);
    String database = folder.resolve(name).toString();
    CommandRun run = bsdb("build", "-i", input.toString(), "-o", database, "-q");
    assertThat(run.code()).as(run.toString()).isZero();
    return database;
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "scan", "stat", "verify", "diff"})
  void locationsThatCannotBeReadAreNamed(String command) {
    for (String[] wrong :
        new String[][] {
          {"https:///rdb", "https:///rdb: not a URL of a web server; write http"},
          {"https://a b/rdb", "https://a b/rdb: not a URL: "},
          {"https://h/rdb?sig=x", "the address on h must have no user, query or fragment"},
          {"https://me:pw@h/rdb", "the address on h must have no user, query or fragment"},
          {"https://h:99999/rdb", "there is no port 99999"},
          {"nowhere://bucket/rdb", "nowhere://bucket/rdb: no file system for nowhere:; "},
          {"s3a://bucket/rdb", "s3a://bucket/rdb: "},
          {"s3://bucket/rdb", "write s3a://"},
          {"hdfs:///rdb", "hdfs:///rdb: no name node: "},
          {"file:///none", "file:///none: no such directory"}
        }) {
      assertError(wrong[1], line(command, wrong[0]));
    }
  }

  private static String[] line(String command, String location) {
    List<String> line = new ArrayList<>(List.of(command));
    if (command.equals("diff")) {
      line.addAll(List.of(location, location));
    } else {
      line.addAll(List.of("-d", location));
    }
    if (command.equals("get")) {
      line.add("key");
    }
    return line.toArray(String[]::new);
  }

  @Test
  void aFileMayBeWrittenAsAUrl() throws Exception {
    String database = built("rdb", "a 1\nb 2\n");
    for (String url : List.of("file://" + database, "file:" + database)) {
      assertThat(bsdb("get", "-d", url, "b", "a").out()).isEqualTo("2\n1\n");
      assertThat(bsdb("scan", "-d", url, "--count").out()).isEqualTo("2\n");
      assertThat(bsdb("verify", "-d", url).err()).startsWith("verified " + database);
      assertThat(bsdb("diff", url, database).out()).startsWith("2 records kept, 0 added");
    }
  }

  @Test
  void optionsForPlacesElsewhereNeedOne() throws Exception {
    String database = built("rdb", "a 1\n");
    for (String[] option :
        new String[][] {
          {"--cache", "10g"},
          {"--cache-dir", "x"},
          {"--requests", "1"},
          {"--deadline", "1"},
          {"--hadoop-set", "a=b"}
        }) {
      assertError(
          option[0] + " is for a database elsewhere",
          "get",
          "-d",
          database,
          "a",
          option[0],
          option[1]);
      assertError(
          option[0] + " is for a database elsewhere",
          "diff",
          database,
          database,
          option[0],
          option[1]);
    }
    assertError("--hedge is for a database elsewhere", "stat", "-d", database, "--hedge");
    assertError(
        "--requests takes a whole number from 1 to 4096, not \"0\"",
        "stat",
        "-d",
        "https://host/rdb",
        "--requests",
        "0");
    String[] sized = {"stat", "-d", "https://host/rdb", "--cache", "1k"};
    assertError(
        "--cache takes a size such as 512m or 10g, from 1048576 to 274877906944 bytes", sized);
    sized[4] = "much";
    assertError("not \"much\"", sized);
    String[] empty = {"stat", "-d", "https://host/rdb", "--cache-dir", ""};
    assertError("--cache-dir takes a directory, not \"\"", empty);
  }

  @Test
  void manyKeysKeepTheirOrder() throws Exception {
    StringBuilder records = new StringBuilder();
    StringBuilder keys = new StringBuilder();
    StringBuilder values = new StringBuilder();
    StringBuilder absent = new StringBuilder();
    for (int i = 0; i < 1000; i++) {
      records.append("k").append(i).append(" v").append(i).append('\n');
      keys.append("k").append(999 - i).append('\n');
      values.append("v").append(999 - i).append('\n');
      if (i % 100 == 0) {
        keys.append("none").append(i).append('\n');
        absent.append("bsdb get: \"none").append(i).append("\" is absent\n");
      }
    }
    String database = built("rdb", records.toString());
    Path file = Files.writeString(folder.resolve("keys"), keys);
    CommandRun run = bsdb("get", "-d", database, "k5", "--keys-from", file.toString());
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.out()).isEqualTo("v5\n" + values);
    assertThat(run.err()).isEqualTo(absent.toString());
  }
}
