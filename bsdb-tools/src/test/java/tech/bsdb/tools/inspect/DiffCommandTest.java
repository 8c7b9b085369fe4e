package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.rows.TypedDatabase;

class DiffCommandTest {
  private static final String OLD = "same 1\ngone 2\nother 3\nempty \n";
  private static final String NEW = "same 1\nnew 4\nother 5\nempty \n";

  @TempDir Path folder;

  private String database(String name, String lines, String... options) throws IOException {
    Path input = Files.writeString(folder.resolve(name + ".txt"), lines);
    String path = folder.resolve(name).toString();
    List<String> line = new ArrayList<>(List.of("build", "-i", input.toString(), "-o", path, "-q"));
    line.addAll(List.of(options));
    CommandRun run = bsdb(line.toArray(String[]::new));
    assertThat(run.code()).as(run.toString()).isZero();
    return path;
  }

  private static String sorted(CommandRun run) {
    return String.join("\n", run.out().lines().sorted().toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-z",
        "--layout packed",
        "--layout packed --seed 3",
        "--layout packed --shards 3",
        "-z --layout packed"
      })
  void everyLayoutBesideAPackedDatabase(String options) throws Exception {
    String old = database("old", OLD, "--layout", "packed");
    String[] words =
        Stream.of(options.split(" ", -1)).filter(o -> !o.isEmpty()).toArray(String[]::new);
    String now = database("new", NEW, words);

    CommandRun counts = bsdb("diff", old, now);
    assertThat(counts.code()).isEqualTo(1);
    assertThat(counts.out()).isEqualTo("2 records kept, 1 added, 1 removed, 1 changed\n");
    assertThat(counts.err()).isEmpty();
    CommandRun keys = bsdb("diff", old, now, "--keys");
    assertThat(keys.code()).isEqualTo(1);
    assertThat(sorted(keys)).isEqualTo("+ new\n- gone\n~ other");
    assertThat(keys.err()).isEqualTo("2 records kept, 1 added, 1 removed, 1 changed\n");
    CommandRun values = bsdb("diff", now, old, "--values", "-q");
    assertThat(sorted(values)).isEqualTo("+ gone\t2\n- new\t4\n~ other\t5\t3");
    assertThat(values.err()).isEmpty();
    String again = database("again", OLD, words);
    assertThat(bsdb("diff", old, again).code()).isZero();
    assertThat(bsdb("diff", old, again, "--values").out()).isEmpty();
    assertThat(bsdb("diff", old, again, "-q").err()).isEmpty();
    assertThat(bsdb("diff", old, again, "-q").out()).isEmpty();
  }

  @Test
  void json() throws Exception {
    String old = database("old", OLD, "--layout", "packed");
    String now = database("new", NEW, "--layout", "packed");
    CommandRun counts = bsdb("diff", old, now, "--json");
    assertThat(counts.out())
        .hasLineCount(1)
        .startsWith(
            "{\"before\":\""
                + old
                + "\",\"after\":\""
                + now
                + "\",\"recordsBefore\":4,\"recordsAfter\":4,\"kept\":2,\"added\":1,"
                + "\"removed\":1,\"changed\":1,\"equal\":false,\"seconds\":");
    CommandRun keys = bsdb("diff", old, now, "--json", "--keys");
    assertThat(keys.err()).isEqualTo("2 records kept, 1 added, 1 removed, 1 changed\n");
    assertThat(sorted(keys))
        .isEqualTo(
            """
            {"change":"added","key":"new"}
            {"change":"changed","key":"other"}
            {"change":"removed","key":"gone"}""");
    assertThat(sorted(bsdb("diff", old, now, "--json", "--values", "--value-encoding", "hex")))
        .isEqualTo(
            """
            {"change":"added","key":"new","before":null,"after":"34"}
            {"change":"changed","key":"other","before":"33","after":"35"}
            {"change":"removed","key":"gone","before":"32","after":null}""");
  }

  @Test
  void encodingsSeparatorAndLimit() throws Exception {
    String old = database("old", "6bff 31\n6b00 \n", "--key-encoding", "hex");
    String now = database("new", "6bff 32\n", "--key-encoding", "hex");
    assertThat(
            sorted(
                bsdb(
                    "diff",
                    old,
                    now,
                    "--values",
                    "--key-encoding",
                    "hex",
                    "--value-encoding",
                    "base64",
                    "-s",
                    " | ")))
        .isEqualTo("- 6b00 | \n~ 6bff | MzE= | MzI=");
    assertThat(new String(bsdb("diff", old, now, "--keys").outBytes(), ISO_8859_1))
        .contains("~ k\u00ff\n", "- k\u0000\n");
    assertThat(sorted(bsdb("diff", old, now, "--json", "--keys")))
        .isEqualTo(
            """
            {"change":"changed","key":{"base64":"a/8="}}
            {"change":"removed","key":"k\\u0000"}""");
    CommandRun one = bsdb("diff", old, now, "--keys", "--limit", "1");
    assertThat(one.out()).hasLineCount(1);
    assertThat(one.err()).isEqualTo("0 records kept, 0 added, 1 removed, 1 changed\n");
    assertThat(bsdb("diff", old, now, "--keys", "--limit", "0").out()).isEmpty();
  }

  @Test
  void rowsAreObjectsOfTheirOwnSchemas() throws Exception {
    String typed = TypedDatabase.build(folder.resolve("typed")).toString();
    String plain =
        TypedDatabase.build(
                folder.resolve("plain"),
                BuildOptions.defaults(),
                Map.of("apple", "x".getBytes(UTF_8)))
            .toString();
    CommandRun run = bsdb("diff", typed, plain, "--json", "--values");
    assertThat(run.out())
        .contains(
            "{\"change\":\"changed\",\"key\":\"apple\",\"before\":{\"id\":1,\"unit.price\":1.50,"
                + "\"name\":\"Apple \\\"red\\\"\"},\"after\":\"x\"}\n");
    assertThat(bsdb("diff", typed, typed, "--json", "--values", "--fields", "id").code()).isZero();
    assertThat(bsdb("diff", typed, plain, "--json", "--values", "--fields", "id").err())
        .contains("--fields is for typed rows");
  }

  @Test
  void storesAreTheirCurrentVersions() throws Exception {
    String store = folder.resolve("store").toString();
    String old = database("old", OLD, "--layout", "packed");
    String now = database("new", NEW, "--layout", "packed");
    assertThat(bsdb("publish", old, store, "--version", "v1", "-q").code()).isZero();
    assertThat(bsdb("diff", old, store).code()).isZero();
    assertThat(bsdb("publish", now, store, "--version", "v2", "-q").code()).isZero();
    assertThat(bsdb("diff", store, now).code()).isZero();
    assertThat(bsdb("diff", store + "/v1", store).code()).isEqualTo(1);
    assertThat(bsdb("diff", store + "/v1", store, "--json").out())
        .contains("\"after\":\"" + store + "/v2\"");
    Files.writeString(Path.of(store, "CURRENT"), "v3\n");
    isRefused(
        bsdb("diff", old, store),
        store + "/v3: no such directory, although it is the current version of the store; ");
  }

  @Test
  void errorsExitWith2() throws Exception {
    String old = database("old", OLD);
    String set = database("set", OLD, "--shards", "2");
    String approximate = database("approximate", OLD, "-a");
    isRefused(bsdb("diff", old), "diff takes two databases");
    isRefused(bsdb("diff", old, old, old), "diff takes two databases");
    isRefused(bsdb("diff", old, ""), "diff takes two databases");
    isRefused(bsdb("diff", old, folder + "/nowhere"), "nowhere: no such directory");
    isRefused(bsdb("diff", folder + "/old.txt", old), "not a database: it is a file");
    isRefused(bsdb("diff", old, approximate), "cannot be compared");
    isRefused(bsdb("diff", old, old, "--limit", "1"), "add --keys or --values");
    isRefused(bsdb("diff", old, old, "--keys", "-s", "|"), "add --values");
    isRefused(bsdb("diff", old, old, "--json", "--fields", "a"), "add --values");
    isRefused(bsdb("diff", old, old, "--keys", "--limit", "x"), "--limit");
    Path shard;
    try (Stream<Path> below = Files.list(Path.of(set))) {
      shard = below.filter(Files::isDirectory).findAny().orElseThrow();
    }
    isRefused(bsdb("diff", set, shard.toString()), "the same shards");
    Path data;
    try (Stream<Path> below = Files.list(Path.of(old))) {
      data =
          below
              .filter(file -> file.getFileName().toString().startsWith("data"))
              .findAny()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(data);
    bytes[4100] ^= 1;
    Files.write(data, bytes);
    isRefused(bsdb("diff", old, set), data.toString());
    isRefused(bsdb("diff", set, old), data.toString());
  }

  private static void isRefused(CommandRun run, String words) {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).startsWith("bsdb diff: ").contains(words);
    assertThat(run.err().replaceFirst("\nTry: .*", "")).hasLineCount(1);
    assertThat(run.out()).isEmpty();
  }
}
