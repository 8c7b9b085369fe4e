package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.store.Store;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.Main;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PublishCommandTest {
  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /** Builds a database from lines; returns its path. */
  private String database(String name, String lines, String... options) throws IOException {
    Path input = Files.writeString(folder.resolve(name + ".txt"), lines);
    List<String> line =
        new ArrayList<>(List.of("build", "-i", input.toString(), "-o", path(name), "-q"));
    line.addAll(List.of(options));
    CommandRun run = bsdb(line.toArray(String[]::new));
    assertThat(run.code()).as(run.toString()).isZero();
    return path(name);
  }

  private static String lines(String format, int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> String.format(format, i) + " value-" + i)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static CommandRun publish(String database, String store, String... options) {
    List<String> line = new ArrayList<>(List.of("publish", database, store));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  /** A snapshot of what a store shows and contains, to check that nothing changed. */
  private static String state(String store) throws IOException {
    try (Stream<Path> all = Files.walk(Path.of(store))) {
      return bsdb("versions", store).out()
          + Files.readString(Path.of(store, "CURRENT"))
          + all.map(Path::toString).sorted().collect(Collectors.joining("\n"));
    }
  }

  private static void refused(CommandRun run, String... words) {
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err()).contains(words).startsWith("bsdb publish: ").hasLineCount(1);
  }

  @Test
  void publishesListsAndRollsBack() throws Exception {
    String store = path("stores/users");
    String one = database("one", lines("key-%d", 0, 500));
    String two = database("two", lines("key-%d", 0, 600));

    CommandRun first = publish(one, store, "--version", "v9");
    assertThat(first.code()).as(first.toString()).isZero();
    assertThat(first.out()).isEqualTo("v9\n");
    assertThat(first.err()).contains("published v9", "500 records", "it is the first version");
    CommandRun second = publish(two, store, "--version", "v10", "--min-kept", "100");
    assertThat(second.out()).isEqualTo("v10\n");
    assertThat(second.err()).contains("current before: v9, 500 records", "bsdb rollback " + store);

    assertThat(bsdb("versions", store).out()).isEqualTo("v9\nv10\tcurrent\n");
    assertThat(bsdb("versions", store, "--long").out())
        .hasLineCount(2)
        .containsPattern("v9 {13}.* 500 records .*bytes {2}20\\d\\d-")
        .containsPattern("v10  current .* 600 records ");
    assertThat(bsdb("versions", store, "--json").out())
        .startsWith(
            "{\"store\":\"" + store + "\",\"current\":\"v10\",\"versions\":[{\"name\":\"v9\",")
        .contains("\"records\":600");
    assertThat(bsdb("get", "-d", store + "/v10", "key-599").out()).isEqualTo("value-599\n");

    CommandRun back = bsdb("rollback", store);
    assertThat(back.out()).isEqualTo("v9\n");
    assertThat(back.err()).isEqualTo("v9 is current; it was v10\n");
    assertThat(bsdb("rollback", store, "v10", "--json").out())
        .isEqualTo("{\"version\":\"v10\",\"previous\":\"v9\",\"store\":\"" + store + "\"}\n");
    assertThat(bsdb("rollback", store, "v10").err()).isEqualTo("v10 is already current\n");
    assertThat(bsdb("rollback", store, "-q").err()).isEmpty();
  }

  @Test
  void setsOfShardsAreVersionsLikeOthers() throws Exception {
    String store = path("store");
    String set = database("set", lines("key-%d", 0, 500), "--shards", "5");
    String undivided = database("undivided", lines("key-%d", 0, 500));
    String six = database("six", lines("key-%d", 0, 500), "--shards", "6", "-z");
    assertThat(publish(set, store, "--version", "v1").err()).contains("500 records", "verified");
    assertThat(publish(undivided, store, "--version", "v2", "--min-kept", "100").code()).isZero();
    assertThat(publish(six, store, "--version", "v3", "--min-kept", "100", "--link").code())
        .isZero();

    assertThat(bsdb("versions", store).out()).isEqualTo("v1\nv2\nv3\tcurrent\n");
    assertThat(bsdb("versions", store, "--json").out()).doesNotContain("\"records\":0");
    for (String version : List.of("v1", "v2", "v3")) {
      assertThat(bsdb("verify", "-d", store + "/" + version).code()).as(version).isZero();
      assertThat(bsdb("get", "-d", store + "/" + version, "key-499").out())
          .isEqualTo("value-499\n");
    }
    assertThat(bsdb("rollback", store, "v1").out()).isEqualTo("v1\n");
    assertThat(publish(six, store, "--version", "v4", "--keep", "1").code()).isZero();
    assertThat(bsdb("versions", store).out()).isEqualTo("v1\nv4\tcurrent\n");
    assertThat(Path.of(store, "v2")).doesNotExist();
    assertThat(Path.of(store, "v3")).doesNotExist();
  }

  @Test
  void aLostOrderOfTheKeysIsAWarning() throws Exception {
    String lines = lines("key-%d", 0, 500);
    String plain = database("plain", lines);
    String ordered = database("ordered", lines, "--ordered", "--layout", "packed");
    String plainSet = database("plain-set", lines, "--shards", "3");
    String orderedSet = database("ordered-set", lines, "--shards", "3", "--ordered");
    String store = path("store");

    for (String database : List.of(plain, plainSet, ordered, orderedSet, ordered)) {
      assertThat(publish(database, store).err()).doesNotContain("warning");
    }
    publish(orderedSet, store, "--version", "v1");
    CommandRun lost = publish(plainSet, store, "--version", "v2");
    assertThat(lost.code()).isZero();
    assertThat(lost.out()).isEqualTo("v2\n");
    assertThat(lost.err().lines())
        .contains(
            "bsdb publish: warning: v2 has no order of its keys, but v1, the current version before,"
                + " has one: requests for ranges fail from now on; build with --ordered, or roll"
                + " back");
    assertThat(publish(plain, store).err()).as("it was lost before").doesNotContain("warning");
    publish(ordered, store, "--version", "v3");
    CommandRun json = publish(plain, store, "--version", "v4", "--json");
    assertThat(json.out()).contains("\"warnings\":[\"v4 has no order of its keys, but v3, ");
    assertThat(json.err()).contains("warning: v4 has no order");
    publish(ordered, store);
    assertThat(publish(plain, store, "-q").err()).isEmpty();
  }

  @Test
  void aSetWithADamagedShardIsRefused() throws Exception {
    String store = path("store");
    String set = database("set", lines("key-%d", 0, 500), "--shards", "5");
    publish(set, store, "--version", "v1");
    String before = state(store);
    Path data = file(set, "shard-00003-[0-9a-f]+/data-000.*");
    byte[] bytes = Files.readAllBytes(data);
    bytes[5_000] ^= 1;
    Files.write(data, bytes);

    refused(publish(set, store), data.getParent().getFileName() + "/" + data.getFileName());
    Files.delete(data);
    refused(publish(set, store), data.getFileName().toString());
    assertThat(state(store)).isEqualTo(before);
  }

  @Test
  void aShardDoesNotTakeThePlaceOfTheWholeSetUnnoticed() throws Exception {
    String set = database("set", lines("key-%d", 0, 500), "--shards", "5");
    String zero = file(set, "shard-00000-[0-9a-f]+/manifest.*").getParent().toString();
    String four = file(set, "shard-00004-[0-9a-f]+/manifest.*").getParent().toString();
    String store = path("store");
    for (String current : List.of(set, four)) {
      publish(current, store, "--allow-key-change");
      String before = state(store);
      refused(publish(zero, store, "--version", "v"), "the new version is shard 0 of 5");
      assertThat(state(store)).isEqualTo(before);
    }
    refused(
        publish(zero, store, "--allow-key-change", "--min-kept", "1"),
        "0 of ",
        "--min-kept requires 1 %");
    String queries = Files.writeString(folder.resolve("keys"), "key-0\nkey-1\nkey-2\n").toString();
    refused(
        publish(zero, store, "--allow-key-change", "--queries", queries),
        "of the 3 keys of --queries");
    assertThat(publish(zero, store, "--allow-key-change").code()).isZero();
    assertThat(publish(zero, store, "--min-kept", "100").code()).isZero();
    assertThat(publish(set, store, "--min-kept", "100").code()).isZero();
  }

  /** What the sampled keys cannot show: they are not stored, all of one shard, or not sampled. */
  @Test
  void norDoesItIfTheKeysDoNotTell() throws Exception {
    String approximate = database("approximate", lines("key-%d", 0, 500), "--shards", "4", "-a");
    String tagged = database("tagged", lines("{tag}%d", 0, 500), "--shards", "4");
    for (String set : List.of(approximate, tagged)) {
      String store = path("store-of-" + Path.of(set).getFileName());
      publish(set, store);
      for (int i = 0; i < 4; i++) {
        String shard = file(set, "shard-0000" + i + "-[0-9a-f]+/manifest.*").getParent().toString();
        String[] arguments = i == 3 ? new String[] {"--sample", "0"} : new String[0];
        refused(publish(shard, store, arguments), "the new version is shard " + i + " of 4");
      }
    }
  }

  @Test
  void slotsOfAnUnreadableVersionAreSaidNotToBeCompared() throws Exception {
    String database = database("database", lines("key-%d", 0, 10));
    String store = path("store");
    publish(database, store, "--version", "v1");
    Files.write(Path.of(store, "v1", "manifest.bsdb"), new byte[12_288]);
    CommandRun run = publish(database, store, "--version", "v2", "--sample", "0");
    assertThat(run.code()).isZero();
    assertThat(run.err()).contains("key slots are not compared, because v1");
  }

  /** The only file below a directory whose path there matches. */
  private static Path file(String directory, String regex) throws IOException {
    Path root = Path.of(directory);
    try (Stream<Path> all = Files.walk(root)) {
      List<Path> matching =
          all.filter(path -> root.relativize(path).toString().matches(regex)).toList();
      assertThat(matching).hasSize(1);
      return matching.get(0);
    }
  }

  @Test
  void theLayoutMayChangeFromVersionToVersion() throws Exception {
    String store = path("store");
    List<String> layouts =
        List.of("packed", "blocked", "packed-compressed", "compressed", "packed");
    for (int i = 0; i < layouts.size(); i++) {
      String layout = layouts.get(i);
      String database = database("db", lines("key-%d", 0, 3000), "--layout", layout, "--overwrite");
      CommandRun run =
          publish(database, store, "--version", "v" + i, "--min-kept", "100", "--max-shrink", "0");
      assertThat(run.code()).as(layout + run).isZero();
      assertThat(bsdb("stat", "-d", store + "/v" + i, "--json").out())
          .contains("\"layout\":\"" + layout + "\"");
      assertThat(bsdb("get", "-d", store + "/v" + i, "key-2999", "key-0").out())
          .isEqualTo("value-2999\nvalue-0\n");
    }
    assertThat(bsdb("versions", store).out()).isEqualTo("v0\nv1\nv2\nv3\nv4\tcurrent\n");
    String others = database("others", lines("other-%d", 0, 3000), "--layout", "packed");
    refused(publish(others, store), "0 of 1000 keys sampled from v4", "a different set of keys");
  }

  @Test
  void aFilterIsCopiedAndVerified() throws Exception {
    String store = path("store");
    String database =
        database("db", lines("key-%d", 0, 3000), "--layout", "packed", "--filter-bits", "8");
    assertThat(publish(database, store, "--version", "v1").code()).isZero();
    assertThat(bsdb("stat", "-d", store + "/v1", "--json").out()).contains("\"filterBits\":8,");
    assertThat(bsdb("verify", "-d", store + "/v1").code()).isZero();
    Path filter;
    try (Stream<Path> files = Files.list(Path.of(database))) {
      filter =
          files
              .filter(file -> file.getFileName().toString().startsWith("filter-"))
              .findAny()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(filter);
    bytes[5000] ^= 1;
    Files.write(filter, bytes);
    refused(publish(database, store), filter.getFileName().toString());
  }

  @Test
  void theDefaultNameIsTheTime() throws Exception {
    CommandRun run = publish(database("one", "a 1\n"), path("store"), "-q");
    assertThat(run.out()).matches("20\\d{6}T\\d{6}Z\n");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void theJsonReportIsComplete() throws Exception {
    String one = database("one", lines("key-%d", 0, 500));
    publish(one, path("store"), "--version", "v1");
    publish(one, path("store"), "--version", "v2");
    String queries = Files.writeString(folder.resolve("q"), "key-1\r\nkey-499").toString();
    CommandRun run =
        publish(
            one,
            path("store"),
            "--version",
            "v3",
            "--json",
            "--keep",
            "1",
            "--link",
            "--queries",
            queries,
            "--sample",
            "50");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .hasLineCount(1)
        .startsWith("{\"version\":\"v3\",\"store\":\"" + path("store") + "\",\"databaseId\":\"")
        .contains(
            "\"records\":500,",
            "\"previous\":\"v2\",\"previousRecords\":500,",
            "\"queries\":2,\"keyForm\":\"UTF-8 text\",\"sampled\":50,\"kept\":50,"
                + "\"changes\":{\"kept\":500,\"added\":0,\"removed\":0,\"changed\":0},",
            "\"leftOut\":[],\"removed\":[\"v1\"],");
  }

  @Test
  void limitsOnRecordsNameBothNumbersAndTheOption() throws Exception {
    String store = path("store");
    String big = database("big", lines("key-%d", 0, 1000));
    String small = database("small", lines("key-%d", 0, 900));
    String empty = database("empty", "");
    refused(publish(small, store, "--min-records", "901"), "900", "901", "--min-records");
    assertThat(folder.resolve("store")).doesNotExist();
    publish(big, store, "--version", "v1");
    String before = state(store);
    refused(
        publish(small, store, "--max-shrink", "9.99"),
        "900 records, 10 % fewer than the 1000 of v1",
        "--max-shrink allows 9.99 %");
    refused(publish(empty, store, "--max-shrink", "99"), "0 records, 100 % fewer", "1000");
    assertThat(state(store)).isEqualTo(before);
    assertThat(publish(small, store, "--max-shrink", "10").code()).isZero();
    assertThat(publish(empty, store, "--version", "e", "--allow-key-change").code()).isZero();
    CommandRun afterEmpty = publish(small, store, "--max-shrink", "0", "--min-kept", "100");
    assertThat(afterEmpty.code()).as(afterEmpty.toString()).isZero();
  }

  @Test
  void anEmptyVersionIsADifferentSetOfKeys() throws Exception {
    publish(database("big", lines("key-%d", 0, 1000)), path("store"), "--version", "v1");
    refused(publish(database("empty", ""), path("store")), "0 of 1000", "--allow-key-change");
  }

  @Test
  void keysOfADifferentFormAreRefused() throws Exception {
    String store = path("store");
    publish(database("digits", lines("%d", 0, 300)), store, "--version", "v1");
    String before = state(store);
    String words = database("words", lines("%d", 0, 300) + "apple x\n");
    refused(
        publish(words, store),
        "differs from that of v1 (all decimal digits)",
        "\"apple\"",
        "--allow-key-change");
    String others = database("others", lines("%d", 1000, 1300));
    refused(publish(others, store), "0 of 300 keys sampled from v1", "a different set of keys");
    assertThat(state(store)).isEqualTo(before);
    assertThat(publish(others, store, "--min-kept", "0").code()).isZero();
    assertThat(publish(words, store, "--allow-key-change").code()).isZero();
    String binary = database("binary", "00ff 1\n01ff 2\n", "--key-encoding", "hex");
    refused(publish(binary, store), "all binary, all of 2 bytes");
    CommandRun unchecked = publish(binary, store, "--sample", "0");
    assertThat(unchecked.code()).isZero();
    assertThat(unchecked.err()).contains("left out: form and set of keys are not compared");
  }

  @Test
  void missingKeysAreCounted() throws Exception {
    String store = path("store");
    publish(database("one", lines("key-%d", 0, 1000)), store, "--version", "v1");
    String half = database("half", lines("key-%d", 500, 1500));
    refused(
        publish(half, store, "--min-kept", "50.1"),
        "500 of the 1000 keys of v1 are in the new version (50 %)",
        "--min-kept requires 50.1 %");
    assertThat(publish(half, store, "--min-kept", "50").code()).isZero();
  }

  /** Ten thousand keys, of which a sample would miss the only one that is gone. */
  @Test
  void limitsAreExact() throws Exception {
    String store = path("store");
    publish(
        database("v1", lines("key-%d", 0, 10_000), "--layout", "packed"), store, "--version", "v1");
    for (String layout : List.of("packed", "blocked")) {
      // as many records, but one key is another
      String other = database("other-" + layout, lines("key-%d", 1, 10_001), "--layout", layout);
      String before = state(store);
      refused(
          publish(other, store, "--min-kept", "100"),
          "9999 of the 10000 keys of v1 are in the new version (99.99 %); --min-kept requires 100 %");
      refused(
          publish(other, store, "--min-kept", "99.990001", "--sample", "0"),
          "(99.99 %); --min-kept requires 99.990001 %");
      String fewer = database("fewer-" + layout, lines("key-%d", 1, 10_000), "--layout", layout);
      refused(
          publish(fewer, store, "--max-shrink", "0.009999999"),
          "0.01 % fewer than the 10000",
          "--max-shrink allows 0.009999999 %");
      assertThat(state(store)).isEqualTo(before);
      CommandRun run =
          publish(other, store, "--min-kept", "99.99", "--max-shrink", "0", "--version", layout);
      assertThat(run.code()).as(run.toString()).isZero();
      assertThat(run.err())
          .contains("compared with v1: 9,999 records kept, 1 added, 1 removed, 0 changed\n");
      bsdb("rollback", store, "v1");
      assertThat(publish(fewer, store, "--max-shrink", "0.01", "--no-diff").code()).isZero();
      bsdb("rollback", store, "v1");
    }
  }

  /** With two digits, both shares would be at the limits: 1 of 30,000 is 0.00333... %. */
  @Test
  void sharesThatAreNearALimitAreShownBesideIt() throws Exception {
    String store = path("store");
    publish(database("v1", lines("key-%d", 0, 30_000)), store, "--version", "v1");
    String fewer = database("fewer", lines("key-%d", 1, 30_000));
    refused(
        publish(fewer, store, "--max-shrink", "0"),
        "0.003 % fewer than the 30000 of v1",
        "--max-shrink allows 0 %");
    refused(publish(fewer, store, "--max-shrink", "0.003333333"), "0.0033333333 % fewer");
    refused(publish(fewer, store, "--min-kept", "100"), "(99.997 %); --min-kept requires 100 %");
    refused(publish(fewer, store, "--min-kept", "99.9967"), "(99.99667 %)", "99.9967 %");
  }

  @Test
  void changesAreReportedUnlessTheyAreNotWanted() throws Exception {
    String store = path("store");
    publish(database("one", lines("key-%d", 0, 200)), store, "--version", "v1");
    String two = database("two", lines("key-%d", 0, 150) + "key-150 other\nkey-new 1\n");
    CommandRun silent = publish(two, store, "--no-diff", "--json");
    assertThat(silent.out()).doesNotContain("changes");
    bsdb("rollback", store, "v1");
    CommandRun run = publish(two, store, "--version", "v2");
    assertThat(run.err())
        .contains("compared with v1: 150 records kept, 1 added, 49 removed, 1 changed\n");
    String pulled = path("pulled");
    bsdb("rollback", store, "v1");
    assertThat(bsdb("pull", store, pulled, "-q").code()).isZero();
    bsdb("rollback", store, "v2");
    assertThat(bsdb("pull", store, pulled).err())
        .contains("compared with v1: 150 records kept, 1 added, 49 removed, 1 changed\n");
    bsdb("rollback", pulled, "v1");
    CommandRun refused = bsdb("pull", store, pulled, "--min-kept", "75.6", "--version", "v3");
    assertThat(refused.err()).contains("151 of the 200 keys of v1 are in the new version (75.5 %)");
    bsdb("rollback", store, "v1");
    assertThat(publish(two, store, "--json").out())
        .contains("\"changes\":{\"kept\":150,\"added\":1,\"removed\":49,\"changed\":1}");
  }

  @Tag("nightly")
  @Test
  void lookupsOfManyKeysAreMadeOnRequest() throws Exception {
    String store = path("store");
    String packed = database("packed", lines("%d", 0, 1_000_001), "--layout", "packed");
    String blocked = database("blocked", lines("%d", 0, 1_000_002), "--shards", "2");
    publish(packed, store, "--version", "v1", "--link");
    assertThat(publish(packed, store, "--version", "v2", "--link").err())
        .contains("compared with v1: 1,000,001 records kept, 0 added");
    CommandRun run = publish(blocked, store, "--version", "v3", "--link");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err()).contains("left out: the changes are not counted").contains("--diff");
    bsdb("rollback", store, "v2");
    assertThat(publish(blocked, store, "--version", "v4", "--link", "--diff").err())
        .contains("compared with v2: 1,000,001 records kept, 1 added");
    assertThat(publish(blocked, store, "--diff", "--no-diff").code()).isEqualTo(2);
  }

  /** Damage that no sampled key meets. */
  @Test
  void aCurrentVersionThatIsDamagedSomewhereCanBeReplaced() throws Exception {
    String store = path("store");
    String one = database("one", lines("key-%d", 0, 20_000), "--layout", "packed");
    String two = database("two", lines("key-%d", 0, 20_001), "--layout", "packed");
    publish(one, store, "--version", "v1");
    Path data = file(store + "/v1", "data-000.*");
    byte[] bytes = Files.readAllBytes(data);
    bytes[bytes.length - 3 * 4096] ^= 1;
    Files.write(data, bytes);
    refused(
        publish(two, store, "--sample", "0", "--min-kept", "1"),
        "--min-kept cannot be checked, because v1",
        data.getFileName().toString());
    CommandRun run = publish(two, store, "--sample", "0");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err())
        .contains("left out: the changes are not counted, because v1", "damaged at byte");
  }

  @Test
  void allQueriesMustBePresent() throws Exception {
    String store = path("store");
    String one = database("one", lines("key-%d", 0, 10));
    String queries =
        Files.writeString(folder.resolve("q"), "key-1\nno-1\nno-2\nno-3\nno-4\n").toString();
    refused(
        publish(one, store, "--queries", queries),
        "4 of the 5 keys of --queries " + queries,
        "\"no-1\", \"no-2\", \"no-3\", ...");
    refused(
        publish(one, store, "--queries", queries, "--key-encoding", "hex"), queries + ":1:", "hex");
    assertThat(folder.resolve("store")).doesNotExist();
    CommandRun missing = publish(one, store, "--queries", path("nowhere"));
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.err()).contains("--queries " + path("nowhere"));
  }

  /** Three hundred megabytes of values, which compress well, in a heap of forty. */
  @Tag("nightly")
  @Test
  void valuesOfKeysThatAreOnlyCountedTakeLittleMemory() throws Exception {
    Path input = folder.resolve("large.txt");
    String value = "x".repeat(1_000_000);
    try (Writer lines = Files.newBufferedWriter(input)) {
      for (int i = 0; i < 300; i++) {
        lines.append("key-" + i).append(' ').append(value).append('\n');
      }
    }
    String large = path("large");
    assertThat(bsdb("build", "-i", input.toString(), "-o", large, "-z", "-q").code()).isZero();
    Files.delete(input);
    String store = path("store");
    publish(large, store, "--version", "v1");

    Process process = process(List.of("-Xmx40m"), "publish", large, store, "--no-diff", "--json");

    String out;
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      out = reader.lines().collect(Collectors.joining("\n"));
    }
    assertThat(process.waitFor()).as(out).isZero();
    assertThat(out).contains("\"sampled\":300,\"kept\":300,");
  }

  @Test
  void skippedComparisonsAreReported() throws Exception {
    String store = path("store");
    String exact = database("exact", lines("key-%d", 0, 200));
    String approximate = database("approximate", lines("key-%d", 0, 200), "-a");
    CommandRun first = publish(exact, store, "--max-shrink", "1", "--version", "v1");
    assertThat(first.err()).contains("left out: no version is current yet");
    refused(
        publish(approximate, store, "--min-kept", "1"),
        "--min-kept cannot be checked: the new version is approximate");
    CommandRun second = publish(approximate, store, "--version", "v2");
    assertThat(second.err())
        .contains("left out: form and set of keys are not compared: the new version is approx");
    assertThat(publish(exact, store, "--version", "v3").err())
        .contains("left out: form and set of keys are not compared: v2 is approximate");
    assertThat(publish(approximate, store, "--max-shrink", "50").code()).isZero();
    String changes = "the changes are not counted: each of the versions is approximate";
    assertThat(publish(approximate, store).err()).contains("left out: " + changes);
    assertThat(publish(approximate, store, "--diff", "--json").out())
        .contains("\"leftOut\":[\"form and set", "\",\"" + changes);
    assertThat(publish(approximate, store, "--no-diff").err()).doesNotContain("changes");
  }

  @Test
  void aDamagedCurrentVersionCanBeReplaced() throws Exception {
    String store = path("store");
    String one = database("one", lines("key-%d", 0, 200));
    publish(one, store, "--version", "v1");
    Path manifest = Path.of(store, "v1", "manifest.bsdb");
    byte[] bytes = Files.readAllBytes(manifest);
    bytes[5000] ^= 1;
    Files.write(manifest, bytes);
    refused(
        publish(one, store, "--max-shrink", "1"),
        "--max-shrink cannot be checked, because v1",
        manifest.toString());
    refused(publish(one, store, "--min-kept", "1"), "--min-kept cannot be checked, because v1");
    CommandRun run = publish(one, store, "--version", "v2");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err()).contains("left out: ", "v1, the current version, cannot be read");
    CommandRun back = bsdb("rollback", store);
    assertThat(back.code()).isEqualTo(2);
    assertThat(back.err()).contains(manifest.toString()).hasLineCount(1);
    assertThat(bsdb("versions", store).out()).isEqualTo("v1\nv2\tcurrent\n");
    assertThat(bsdb("versions", store, "--long").out())
        .containsPattern("v1 {18}cannot be opened +[0-9,]+ bytes")
        .containsPattern("v2  current {14}200 records +[0-9,]+ bytes");
  }

  @Test
  void aDamagedSourceIsNamed() throws Exception {
    String store = path("store");
    String one = database("one", lines("key-%d", 0, 200));
    publish(one, store, "--version", "v1");
    String before = state(store);
    try (Stream<Path> files = Files.list(Path.of(one))) {
      for (Path file : files.toList()) {
        byte[] bytes = Files.readAllBytes(file);
        byte[] damaged = bytes.clone();
        damaged[4096 + 17] ^= 4;
        Files.write(file, damaged);
        refused(publish(one, store), file.getFileName().toString(), "damaged at byte");
        Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 4096));
        refused(publish(one, store), file.getFileName().toString());
        Files.delete(file);
        refused(publish(one, store), file.getFileName().toString());
        Files.write(file, bytes);
      }
    }
    assertThat(state(store)).isEqualTo(before);
    assertThat(publish(one, store).code()).isZero();
  }

  @Test
  void usageErrorsAreExplained() throws Exception {
    String one = database("one", "a 1\n");
    String store = path("store");
    assertThat(bsdb("publish").err()).contains("publish takes a database and a store");
    assertThat(bsdb("publish", one).err()).contains("publish takes a database and a store");
    assertThat(publish(one, store, "--version", "../v1").err()).contains("--version", "\"../v1\"");
    assertThat(publish(one, store, "--max-shrink", "101").err()).contains("from 0 to 100");
    assertThat(publish(one, store, "--max-shrink", "-1").err()).contains("--max-shrink");
    assertThat(publish(one, store, "--keep", "-1").err()).contains("--keep", "from 0 to");
    assertThat(publish(one, store, "--no-diff", "--min-kept", "1").err())
        .contains("--min-kept compares the versions; omit --no-diff");
    assertThat(publish(one, one + "/below").err()).contains("lies inside the database");
    assertThat(publish(path("nowhere"), store).err()).contains("nowhere", "no such directory");
    assertThat(publish(path("one.txt"), store).err()).contains("one.txt", "not a directory");
    assertThat(publish(one, path("one.txt")).err()).contains("one.txt", "not a directory");
    assertThat(publish(one, folder.toString()).err()).contains("is not a store");
    assertThat(folder.resolve("store")).doesNotExist();
    for (String command : List.of("rollback", "versions")) {
      assertThat(bsdb(command).err()).contains("no store given");
      assertThat(bsdb(command, one).err()).contains("it is a single database");
      assertThat(bsdb(command, store).code()).isEqualTo(2);
      assertThat(bsdb(command, store, "a", "b").err()).contains("unexpected argument");
    }
    publish(one, store, "--version", "v1");
    assertThat(bsdb("rollback", store).err()).contains("there is no version before v1");
    assertThat(bsdb("rollback", store, "v2").err()).contains("no such version");
    assertThat(bsdb("rollback", store, "../v2").err()).contains("\"../v2\"");
    assertThat(publish(one, store, "--version", "v1").err()).contains("a version with this name");
    for (String command : List.of("publish", "rollback", "versions")) {
      CommandRun help = bsdb(command, "--help");
      assertThat(help.code()).isZero();
      assertThat(help.out()).contains("Usage: bsdb " + command, "Examples:");
    }
  }

  /** Interrupts or kills processes at random moments: each leaves nothing, or a whole version. */
  @Test
  void interruptedAtAnyMoment() throws Exception {
    String one = database("one", lines("key-%d", 0, 30_000));
    SplittableRandom random = new SplittableRandom();
    for (int i = 0; i < 6; i++) {
      boolean kill = i % 2 == 0;
      Path store = folder.resolve("new-" + i + "/store");
      Process process = process("publish", one, store.toString(), "--version", "v1");
      boolean ended = process.waitFor(300 + random.nextInt(500), TimeUnit.MILLISECONDS);
      if (kill) {
        process.toHandle().destroyForcibly();
      } else {
        process.toHandle().destroy();
      }
      String out;
      try (BufferedReader reader =
          new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
        out = reader.lines().collect(Collectors.joining("\n"));
      }
      int code = process.waitFor();
      boolean live = Store.isStore(store);
      if (ended || code == 0) {
        assertThat(live).as("%s said %s", code, out).isTrue();
      }
      if (live) {
        assertThat(bsdb("versions", store.toString()).out()).isEqualTo("v1\tcurrent\n");
        assertThat(bsdb("verify", "-q", "-d", store + "/v1").code()).isZero();
      } else if (!kill) {
        assertThat(store.getParent()).doesNotExist();
        // A virtual machine that is interrupted while it starts exits with 1.
        assertThat(code).isEqualTo(out.contains("initialization of VM") ? 1 : 143);
      }
      String next = live ? "v2" : "v1";
      CommandRun run = publish(one, store.toString(), "--version", next, "-q");
      assertThat(run.code()).as(run.toString()).isZero();
      try (Stream<Path> entries = Files.list(store)) {
        assertThat(entries.map(entry -> entry.getFileName().toString()))
            .noneMatch(name -> name.startsWith(".incoming"));
      }
    }
  }

  @Test
  void waitsForAnotherPublishAndCanBeInterruptedMeanwhile() throws Exception {
    String one = database("one", "a 1\n");
    Path store = folder.resolve("store");
    try (Publication publication =
        Publication.of(Path.of(one), store, PublishOptions.defaults().withVersion("v1"))) {
      publication.begin();
      Process process = process("publish", one, store.toString());
      try (BufferedReader errors =
          new BufferedReader(new InputStreamReader(process.getErrorStream(), UTF_8))) {
        assertThat(errors.readLine())
            .isEqualTo(
                "bsdb publish: another publish to this store is running; waiting for it to finish");
        process.toHandle().destroy();
        assertThat(errors.readLine()).isEqualTo("bsdb publish: interrupted, nothing was published");
      }
      assertThat(process.waitFor()).isEqualTo(143);
      publication.copy();
      assertThat(publication.goLive(null)).isTrue();
    }
    assertThat(bsdb("versions", store.toString()).out()).isEqualTo("v1\tcurrent\n");
  }

  private static Process process(String... line) throws IOException {
    return process(List.of(), line);
  }

  /** Starts a process with options of the virtual machine. */
  private static Process process(List<String> machine, String... line) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path"))));
    command.addAll(machine);
    command.add(Main.class.getName());
    command.addAll(List.of(line));
    return new ProcessBuilder(command).start();
  }
}
