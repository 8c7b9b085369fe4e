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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.Database;
import tech.bsdb.Sampled;

/** Directories that hold some shards of a set, on the command line. */
class PartialSetCommandsTest {
  private static final int RECORDS = 400;

  @TempDir Path folder;

  private Path set;

  @BeforeEach
  void build() throws IOException {
    set = build("set", "--shards", "6");
  }

  private Path build(String name, String... options) throws IOException {
    if (Files.exists(folder.resolve(name))) {
      return folder.resolve(name);
    }
    Path input = folder.resolve("in.txt");
    Files.writeString(
        input,
        IntStream.range(0, RECORDS)
            .mapToObj(i -> "key" + i + " value" + i + "\n")
            .collect(Collectors.joining()));
    Path target = folder.resolve(name);
    List<String> line =
        new ArrayList<>(List.of("build", "-i", input.toString(), "-o", target.toString()));
    line.addAll(List.of(options));
    assertThat(bsdb(line.toArray(String[]::new)).code()).isZero();
    return target;
  }

  /** A copy of the set with some shards. */
  private Path part(String numbers) throws IOException {
    Integer[] held = Stream.of(numbers.split(" ")).map(Integer::valueOf).toArray(Integer[]::new);
    Path target = folder.resolve("part " + numbers);
    return Files.exists(target) ? target : PartialSets.copy(set, target, held);
  }

  private Path shard(int number) throws IOException {
    try (Stream<Path> files = Files.list(set)) {
      return files.filter(Files::isDirectory).sorted().toList().get(number);
    }
  }

  private static List<String> scanned(Path database) {
    CommandRun run = bsdb("scan", "-d", database.toString());
    assertThat(run.code()).as(run.toString()).isZero();
    return run.out().lines().toList();
  }

  @Test
  void keysOfOtherShardsAreErrors() throws Exception {
    Path part = part("1 4");
    List<String> own = new ArrayList<>(scanned(shard(1)));
    own.addAll(scanned(shard(4)));
    assertThat(scanned(part)).isEqualTo(own).hasSizeBetween(50, RECORDS / 2);
    for (int i = 0; i < RECORDS; i++) {
      CommandRun run = bsdb("get", "-d", part.toString(), "key" + i);
      if (own.contains("key" + i + " value" + i)) {
        assertThat(run.out()).isEqualTo("value" + i + "\n");
        assertThat(run.code()).isZero();
      } else {
        assertThat(run.code()).as(run.toString()).isEqualTo(2);
        assertThat(run.outBytes()).isEmpty();
        assertThat(run.err())
            .hasLineCount(1)
            .contains("\"key" + i + "\" has slot ", "a partial set with shards 1,4 of 6")
            .doesNotContain("absent");
      }
    }
    String key = own.get(0).substring(0, own.get(0).indexOf(' '));
    CommandRun absent = bsdb("get", "-d", part.toString(), "{" + key + "}");
    assertThat(absent.code()).isEqualTo(1);
    assertThat(absent.err()).contains("is absent");
  }

  @Test
  void itIsShownVerifiedAndWarmed() throws Exception {
    String part = part("1 4 5").toString();
    int records = scanned(part("1 4 5")).size();
    String whole = Database.statistics(set).databaseId();
    assertThat(bsdb("stat", "-d", part).out())
        .containsPattern("\nshards +1,4-5 of 6, of ")
        .containsPattern("\nwhole set +" + whole);
    assertThat(bsdb("stat", "-d", part, "--json").out())
        .contains(
            "\"records\":" + records + ",",
            "\"shard\":null,\"shards\":6,\"heldShards\":\"1,4-5\",\"wholeSetId\":\""
                + whole
                + "\",");
    assertThat(bsdb("stat", "-d", set.toString(), "--json").out())
        .contains("\"shard\":null,\"shards\":6,\"heldShards\":null,\"wholeSetId\":null,");
    assertThat(bsdb("verify", "-d", part, "--json").out()).contains("\"records\":" + records + ",");
    assertThat(bsdb("warm", "-d", part).code()).isZero();
  }

  private static CommandRun publish(Path database, Path store, String... options) {
    List<String> line = new ArrayList<>(List.of("publish", database.toString(), store.toString()));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private Path database(String name) throws IOException {
    return switch (name) {
      case "set" -> set;
      case "undivided" -> build("undivided");
      case "three" -> build("three", "--shards", "3");
      case "shard 2" -> shard(2);
      default -> part(name);
    };
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource({
    "set, 0 1, 'shards 0-1 of 6 with the key slots 0 to 5460, but v1', has 0 to 16383;",
    "undivided, 0 1 2 3 4, shards 0-4 of 6, has 0 to 16383;",
    "2 3, 2, shard 2 of 6 with the key slots 5461 to 8191, has 5461 to 10921;",
    "2 3, 1 2 4, 'slots 2730 to 8191, 10922 to 13652, but v1', has 5461 to 10921;",
    "0 2 4, 0 1 2 3, shards 0-3 of 6, 'has 0 to 2729, 5461 to 8191, 10922 to 13652;'",
    "0 2, shard 2, shard 2 of 6 with the key slots 5461 to 8191, 'has 0 to 2729, 5461 to 8191;'",
    "shard 2, 0 1 3 4 5, shards 0-1, has 5461 to 8191;"
  })
  void fewerKeySlotsAreRefused(String current, String next, String says, String has)
      throws Exception {
    Path store = folder.resolve("store");
    assertThat(publish(database(current), store, "--version", "v1").code()).isZero();
    for (String sample : List.of("100", "0")) {
      CommandRun refused = publish(database(next), store, "--version", "v2", "--sample", sample);
      assertThat(refused.code()).as(refused.toString()).isEqualTo(2);
      assertThat(refused.err()).contains("the new version is ", says, has);
    }
    assertThat(bsdb("versions", store.toString()).out()).isEqualTo("v1\tcurrent\n");
    CommandRun allowed = publish(database(next), store, "--version", "v2", "--allow-key-change");
    assertThat(allowed.code()).as(allowed.toString()).isZero();
  }

  @Sampled(4)
  @ParameterizedTest
  @CsvSource({
    "0 1, 0 1",
    "0 1, 0 1 3",
    "0 2 4, 0 1 2 3 4",
    "1 3, set",
    "1 3, undivided",
    "shard 2, 2 5",
    "shard 2, 2",
    "2, shard 2",
    "0 1 2 3 4, three"
  })
  void theSameOrMoreKeySlotsAreAccepted(String current, String next) throws Exception {
    Path store = folder.resolve("store");
    assertThat(publish(database(current), store, "--version", "v1").code()).isZero();
    CommandRun run = publish(database(next), store, "--version", "v2", "--min-kept", "100");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(scanned(store.resolve("v2"))).isEqualTo(scanned(database(next)));
    assertThat(bsdb("rollback", store.toString()).out()).isEqualTo("v1\n");
    assertThat(scanned(store.resolve("v1"))).isEqualTo(scanned(database(current)));
  }

  @Test
  void aMissingShardIsNamed() throws Exception {
    Path part = part("1 4");
    Path missing = part.resolve(shard(4).getFileName());
    try (Stream<Path> files = Files.list(missing)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(missing);
    for (CommandRun run :
        List.of(
            bsdb("get", "-d", part.toString(), "key0"),
            bsdb("stat", "-d", part.toString()),
            bsdb("verify", "-d", part.toString()),
            publish(part, folder.resolve("store")))) {
      assertThat(run.code()).as(run.toString()).isEqualTo(2);
      assertThat(run.err()).contains(missing.getFileName().toString());
    }
  }
}
