package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Sampled;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.rows.TypedDatabase;

/** Ranges of keys, and keys and counts alone. */
class ScanCommandTest {
  private static final String RECORDS =
      """
      user:7:name Grace
      user:42:name Ann
      item:1 pear
      user:42:city Paris
      user:42:mail\s
      zoo x
      """;

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

  private static CommandRun scan(String database, String... options) {
    List<String> line = new ArrayList<>(List.of("scan", "-d", database));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  /** What a scan prints, which must succeed. */
  private static String printed(String database, String... options) {
    CommandRun run = scan(database, options);
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err()).isEmpty();
    return run.out();
  }

  private static void isRefused(CommandRun run, String words) {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err().replaceFirst("\nTry: .*", "")).contains(words).hasLineCount(1);
    assertThat(run.out()).isEmpty();
  }

  private static String text(Map<String, String> records) {
    StringBuilder text = new StringBuilder();
    records.forEach((key, value) -> text.append(key).append(' ').append(value).append('\n'));
    return text.toString();
  }

  @Sampled(3)
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-c",
        "-z",
        "-cb 0 --data-files 3 -ps 1 --threads 1",
        "--layout packed",
        "--layout packed --filter-bits 4 --data-files 2",
        "-z --layout packed",
        "--shards 3",
        "--layout packed --shards 3",
        "-z --shards 3"
      })
  void everyLayoutPrintsRangesInTheOrderOfKeys(String options) throws Exception {
    NavigableMap<String, String> records = new TreeMap<>();
    for (int i = 0; i < 1_000; i++) {
      records.put("key-" + i * 3, "the value of " + i + " repeated ".repeat(i % 9));
    }
    List<String> shuffled = new ArrayList<>(text(records).lines().toList());
    Collections.shuffle(shuffled, new Random(7));
    List<String> words = new ArrayList<>(List.of("--ordered"));
    Stream.of(options.split(" ")).filter(word -> !word.isEmpty()).forEach(words::add);
    String db = database("db", String.join("\n", shuffled) + "\n", words.toArray(String[]::new));

    assertThat(printed(db, "--sorted")).isEqualTo(text(records));
    assertThat(printed(db, "--reverse")).isEqualTo(text(records.descendingMap()));
    assertThat(printed(db, "--full-scan")).isEqualTo(printed(db));
    for (String from : List.of("", "key-1000", "key-1002", "key-6", "key-999", "zoo")) {
      for (String to : List.of("a", "key-1002", "key-1500", "key-3", "key-999", "zoo")) {
        NavigableMap<String, String> range =
            from.compareTo(to) < 0 ? records.subMap(from, true, to, false) : new TreeMap<>();
        String[] bounds = {"--from", from, "--to", to};
        assertThat(printed(db, bounds)).as("%s to %s", from, to).isEqualTo(text(range));
        assertThat(printed(db, "--from", from, "--to", to, "--reverse"))
            .isEqualTo(text(range.descendingMap()));
        assertThat(printed(db, "--from", from, "--to", to, "--count"))
            .isEqualTo(range.size() + "\n");
        assertThat(
                printed(db, "--from", from, "--to", to, "--full-scan", "--keys-only")
                    .lines()
                    .sorted())
            .containsExactlyElementsOf(range.keySet());
      }
    }
  }

  @Test
  void aPrefixSelectsTheKeysThatBeginWithIt() throws Exception {
    String db = database("db", RECORDS, "--ordered");

    assertThat(printed(db, "--prefix", "user:42:"))
        .isEqualTo("user:42:city Paris\nuser:42:mail \nuser:42:name Ann\n");
    assertThat(printed(db, "--prefix", "user:42:name")).isEqualTo("user:42:name Ann\n");
    assertThat(printed(db, "--prefix", "user:42:names")).isEmpty();
    assertThat(printed(db, "--prefix", "v")).isEmpty();
    assertThat(printed(db, "--prefix", "")).isEqualTo(printed(db, "--sorted"));
    assertThat(printed(db, "--prefix=user:7")).isEqualTo("user:7:name Grace\n");
  }

  @Test
  void boundsAreInclusiveBelowAndExclusiveAbove() throws Exception {
    String db = database("db", RECORDS, "--ordered");

    assertThat(printed(db, "--from", "user:42:name", "--keys-only"))
        .isEqualTo("user:42:name\nuser:7:name\nzoo\n");
    assertThat(printed(db, "--from", "user:43", "--keys-only")).isEqualTo("user:7:name\nzoo\n");
    assertThat(printed(db, "--after", "user:42:name", "--keys-only"))
        .isEqualTo("user:7:name\nzoo\n");
    assertThat(printed(db, "--after", "user:42:", "--to", "user:42:name", "--keys-only"))
        .isEqualTo("user:42:city\nuser:42:mail\n");
    assertThat(printed(db, "--to", "user:42:city")).isEqualTo("item:1 pear\n");
    assertThat(printed(db, "--to", "item:1")).isEmpty();
    assertThat(printed(db, "--to", "")).isEmpty();
    assertThat(printed(db, "--from", "zoo", "--to", "item")).isEmpty();
    assertThat(printed(db, "--from", "zoo", "--after", "zoo")).isEmpty();
    assertThat(printed(db, "--from=-s", "--count")).isEqualTo("6\n");
  }

  @Test
  void allOptionsTogetherSelectWhatEachSelects() throws Exception {
    String db = database("db", RECORDS, "--ordered");

    assertThat(
            printed(
                db,
                "--prefix",
                "user:",
                "--from",
                "a",
                "--after",
                "user:42:city",
                "--to",
                "user:5",
                "--keys-only",
                "--reverse"))
        .isEqualTo("user:42:name\nuser:42:mail\n");
    assertThat(printed(db, "--prefix", "user:42:", "--to", "user:42:mail"))
        .isEqualTo("user:42:city Paris\n");
    assertThat(printed(db, "--prefix", "user:42:", "--from", "zoo")).isEmpty();
  }

  @Test
  void pagesJoinToTheWholeRange() throws Exception {
    String db = database("db", RECORDS, "--ordered", "--shards", "3");
    for (boolean backwards : List.of(false, true)) {
      List<String> pages = new ArrayList<>();
      List<String> more = new ArrayList<>(List.of("--prefix", "user:", "--limit", "2"));
      if (backwards) {
        more.add("--reverse");
      }
      List<String> line = List.copyOf(more);
      for (List<String> page = List.of("first"); !page.isEmpty(); ) {
        page = printed(db, more.toArray(String[]::new)).lines().toList();
        pages.addAll(page);
        if (!page.isEmpty()) {
          String last = page.get(page.size() - 1).replaceFirst(" .*", "");
          more = new ArrayList<>(line);
          more.addAll(List.of(backwards ? "--to" : "--after", last));
        }
      }
      List<String> whole = new ArrayList<>(printed(db, "--prefix", "user:").lines().toList());
      if (backwards) {
        Collections.reverse(whole);
      }
      assertThat(pages).isEqualTo(whole);
    }
  }

  @Test
  void boundsAreTypedInTheKeyEncoding() throws Exception {
    String lines = "00ff00 1\n00ff 2\n01 3\nff 4\nffff 5\nff7f 6\n";
    String db = database("db", lines, "--key-encoding", "hex", "--ordered");

    assertThat(printed(db, "--key-encoding", "hex", "--prefix", "00FF"))
        .isEqualTo("00ff 2\n00ff00 1\n");
    assertThat(printed(db, "--key-encoding", "hex", "--prefix", "ff"))
        .isEqualTo("ff 4\nff7f 6\nffff 5\n");
    assertThat(printed(db, "--key-encoding", "hex", "--after", "00ff", "--to", "ff7f"))
        .isEqualTo("00ff00 1\n01 3\nff 4\n");
    assertThat(printed(db, "--key-encoding", "base64", "--from", "AQ", "--to", "/3/="))
        .isEqualTo("AQ== 3\n/w== 4\n");
    String raw = ArgumentText.of(new byte[] {(byte) 0xFF, (byte) 0xFF});
    assertThat(scan(db, "--from", raw, "-s", "").outBytes())
        .isEqualTo(new byte[] {(byte) 0xFF, (byte) 0xFF, '5', '\n'});
    assertThat(scan(db, "--prefix", raw, "--keys-only").outBytes())
        .isEqualTo(new byte[] {(byte) 0xFF, (byte) 0xFF, '\n'});
    for (String option : List.of("--prefix", "--from", "--after", "--to")) {
      isRefused(
          scan(db, "--key-encoding", "hex", option, "0g"),
          "bsdb scan: " + option + " \"0g\" is not hex");
    }
  }

  @Test
  void jsonHasKeysInTheSameForms() throws Exception {
    String db =
        database("db", "ff 01\n61 62\n", "--key-encoding=hex", "--value-encoding=hex", "--ordered");

    assertThat(printed(db, "--sorted", "--json"))
        .isEqualTo(
            """
            {"key":"a","value":"b"}
            {"key":{"base64":"/w=="},"value":"\\u0001"}
            """);
    assertThat(printed(db, "--reverse", "--json", "--keys-only"))
        .isEqualTo("{\"key\":{\"base64\":\"/w==\"}}\n{\"key\":\"a\"}\n");
    assertThat(printed(db, "--json", "--keys-only", "--key-encoding", "hex"))
        .isEqualTo("{\"key\":\"61\"}\n{\"key\":\"ff\"}\n");
    assertThat(printed(db, "--json", "--count", "--from", "b")).isEqualTo("{\"records\":1}\n");
  }

  @Test
  void keysAloneNeedNoOrder() throws Exception {
    String twice = RECORDS + "zoo again\nuser:7:name Grace Hopper\n";
    for (String layout : List.of("blocked", "compact", "compressed", "packed")) {
      String db = database(layout, twice, "--layout", layout, "--on-duplicate", "last");
      assertThat(printed(db, "--keys-only").lines())
          .as(layout)
          .containsExactlyInAnyOrder(
              "user:42:name", "item:1", "user:42:city", "user:42:mail", "zoo", "user:7:name");
      assertThat(printed(db, "--keys-only", "--limit", "2")).hasLineCount(2);
      assertThat(printed(db, "--keys-only", "--full-scan", "--prefix", "zo")).isEqualTo("zoo\n");
      assertThat(printed(db, "--full-scan", "--prefix", "zo")).isEqualTo("zoo again\n");
    }
  }

  @Test
  void countsStopAtTheLimit() throws Exception {
    String ordered = database("ordered", RECORDS, "--ordered");
    String unordered = database("unordered", RECORDS);

    for (String db : List.of(ordered, unordered)) {
      assertThat(printed(db, "--count")).isEqualTo("6\n");
      assertThat(printed(db, "--count", "--limit", "5")).isEqualTo("5\n");
      assertThat(printed(db, "--count", "--full-scan")).isEqualTo("6\n");
      assertThat(printed(db, "--count", "--full-scan", "--prefix", "user:")).isEqualTo("4\n");
      assertThat(printed(db, "--count", "--full-scan", "--prefix", "user:", "--limit", "3"))
          .isEqualTo("3\n");
    }
    assertThat(printed(ordered, "--count", "--prefix", "user:")).isEqualTo("4\n");
    assertThat(printed(ordered, "--count", "--prefix", "user:", "--limit", "3")).isEqualTo("3\n");
    assertThat(printed(ordered, "--count", "--reverse", "--limit", "0")).isEqualTo("0\n");
    assertThat(printed(ordered, "--count", "--from", "zoo", "--to", "item")).isEqualTo("0\n");
    assertThat(printed(ordered, "--prefix", "user:", "--limit", "0")).isEmpty();
    assertThat(printed(ordered, "--prefix", "user:", "--limit", "1"))
        .isEqualTo("user:42:city Paris\n");
  }

  @Test
  void aFullScanKeepsTheStoredOrder() throws Exception {
    String sorted = RECORDS.lines().sorted().map(line -> line + "\n").collect(joining());
    for (boolean ordered : List.of(false, true)) {
      String db = database("db" + ordered, RECORDS, ordered ? "--ordered" : "--layout=blocked");
      assertThat(printed(db, "--full-scan")).isEqualTo(ordered ? sorted : RECORDS);
      assertThat(printed(db, "--full-scan", "--prefix", "user:", "--to", "user:5"))
          .isEqualTo(
              ordered
                  ? "user:42:city Paris\nuser:42:mail \nuser:42:name Ann\n"
                  : "user:42:name Ann\nuser:42:city Paris\nuser:42:mail \n");
      assertThat(printed(db, "--full-scan", "--prefix", "user:", "--limit", "1"))
          .isEqualTo(ordered ? "user:42:city Paris\n" : "user:7:name Grace\n");
      for (String order : List.of("--reverse", "--sorted")) {
        isRefused(
            scan(db, "--full-scan", order),
            "bsdb scan: --full-scan and " + order + " cannot be combined: a full scan prints");
      }
    }
  }

  @Test
  void aRangeOfADatabaseWithoutOrderIsRefused() throws Exception {
    String db = database("db", RECORDS, "--layout", "packed");

    for (String option : List.of("--prefix", "--from", "--after", "--to")) {
      for (String more : List.of("--keys-only", "--count", "--limit=0")) {
        isRefused(
            scan(db, option, "user:", more),
            "bsdb scan: "
                + db
                + ": "
                + option
                + " needs the order of the keys, which this database does not store; build it with"
                + " bsdb build --ordered, or add --full-scan to read all records");
      }
    }
    for (String option : List.of("--reverse", "--sorted")) {
      isRefused(
          scan(db, "--prefix", "user:", option),
          option
              + " needs the order of the keys, which this database does not store; build it with"
              + " bsdb build --ordered, or replace "
              + option
              + " by --full-scan to read");
    }
    isRefused(
        scan(database("set", RECORDS, "--shards", "3"), "--to", "a"),
        "--to needs the order of the keys");
  }

  @Test
  void anApproximateDatabaseHasNoKeys() throws Exception {
    String db = database("db", RECORDS, "-a");

    for (String option :
        List.of("--keys-only", "--count", "--prefix=a", "--full-scan", "--reverse", "--sorted")) {
      isRefused(scan(db, option), "an approximate database keeps no keys, so it cannot be scanned");
    }
  }

  @Test
  void optionsForValuesDoNotGoWithKeysOrCounts() throws Exception {
    String db =
        TypedDatabase.build(
                folder.resolve("typed"),
                BuildOptions.defaults()
                    .withValueSchema(TypedDatabase.SCHEMA.json())
                    .withOrderedKeys(true),
                TypedDatabase.fruit())
            .toString();

    assertThat(printed(db, "--prefix", "p", "--json", "--fields", "id"))
        .isEqualTo(
            """
            {"key":"pear","value":{"id":9007199254740992}}
            {"key":"plum","value":{"id":-3}}
            """);
    assertThat(printed(db, "--prefix", "p", "--json", "--keys-only"))
        .isEqualTo("{\"key\":\"pear\"}\n{\"key\":\"plum\"}\n");
    for (String option :
        List.of("-s=,", "--value-encoding=hex", "--fields=id", "--json-safe-integers")) {
      String name = option.replaceFirst("=.*", "");
      for (String without : List.of("--keys-only", "--count")) {
        String tip = "bsdb scan: " + name + " is for values; omit it, or " + without;
        isRefused(scan(db, without, option), tip);
        isRefused(scan(db, without, option, "--json", "--prefix", "p"), tip);
      }
    }
    isRefused(
        scan(db, "--count", "--keys-only"),
        "bsdb scan: --keys-only and --count cannot be combined: a count prints no keys; omit one");
    isRefused(
        scan(db, "--json", "-s=,"),
        "bsdb scan: -s and --json cannot be combined: JSON has no separator");
    assertThat(printed(db, "--count", "--json", "--key-encoding", "hex", "--prefix", "70"))
        .isEqualTo("{\"records\":2}\n");
  }

  @Test
  void anEmptyDatabaseHasEmptyRanges() throws Exception {
    for (String options : List.of("--ordered", "--ordered --layout packed --shards 3")) {
      String db = database("db" + options.length(), "", options.split(" "));
      assertThat(printed(db, "--sorted")).isEmpty();
      assertThat(printed(db, "--prefix", "a", "--reverse")).isEmpty();
      assertThat(printed(db, "--from", "a", "--count")).isEqualTo("0\n");
      assertThat(printed(db, "--count")).isEqualTo("0\n");
    }
  }

  @Test
  void oneShardAndTheWholeSetTellTheSameKeys() throws Exception {
    String set = database("set", RECORDS, "--ordered", "--shards", "3");

    List<String> keys = new ArrayList<>();
    try (Stream<Path> shards = Files.list(Path.of(set))) {
      for (Path shard : shards.filter(Files::isDirectory).toList()) {
        List<String> own = printed(shard.toString(), "--sorted", "--keys-only").lines().toList();
        assertThat(own).isSorted();
        assertThat(printed(shard.toString(), "--count", "--from", "")).isEqualTo(own.size() + "\n");
        keys.addAll(own);
      }
    }
    assertThat(keys.stream().sorted())
        .containsExactlyElementsOf(printed(set, "--sorted", "--keys-only").lines().toList());
  }

  @Test
  void theHelpShowsRanges() {
    CommandRun help = bsdb("scan", "--help");

    assertThat(help.code()).isZero();
    assertThat(help.out())
        .contains("--prefix P", "--from K", "--after K", "--to K", "--sorted", "--reverse")
        .contains("--full-scan", "--keys-only", "--count")
        .contains("bsdb scan -d ./rdb --prefix user: --count");
    assertThat(new String(help.outBytes(), UTF_8).lines()).allMatch(line -> line.length() <= 100);
  }
}
