package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.directory.DataSet;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.mirror.FolderRanges;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.remote.RemoteOptions;

/** One value of a database elsewhere: few requests, and the answer of the open database. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GetOnceTest {
  private static final BuildOptions PACKED = BuildOptions.defaults().withLayout(Layout.PACKED);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("GetOnceTest");
  private Truth truth = new Truth();

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private RemoteOptions options() {
    return RemoteOptions.defaults()
        .withCache(directory.resolve("cache"))
        .withAttempts(2)
        .withDeadline(Duration.ofSeconds(60));
  }

  private Path www() {
    return directory.resolve("www");
  }

  private Path build(String name, int count, int longestValue, BuildOptions options)
      throws IOException {
    truth = Truth.random(random, count, longestValue);
    Path there = www().resolve(name);
    truth.build(there, options);
    return there;
  }

  private byte[] get(FolderRanges origin, byte[] key) throws IOException {
    return Database.getOnce(origin, key, options(), location -> {});
  }

  private static String sample(Path database) throws IOException {
    return DataSet.open(database).facts().requireBins().sample();
  }

  private static long pages(Path database) throws IOException {
    return DataSet.open(database).single().manifest().dataPages();
  }

  /** Asks for keys; returns which share of the present ones was found by the sample. */
  private double check(Path database) throws IOException {
    FolderRanges origin = new FolderRanges(database);
    List<Truth.Entry> asked = Rounds.some(truth.records(), 250, random);
    double alone = 0;
    for (Truth.Entry record : asked) {
      origin.requests();
      Truth.same(get(origin, record.key()), record.value(), "value");
      alone += origin.requests() == 2 ? 1 : 0;
    }
    for (byte[] key : Rounds.some(truth.absentKeys(), 50, random)) {
      assertThat(get(origin, key)).isNull();
    }
    return alone / asked.size();
  }

  @ParameterizedTest
  @CsvSource({
    "10000, 205, 1", // records of pages that end with bins
    "9000, 400, 3", // records across pages
    "1500, 3000, 2",
    "600, 60, 1", // fewer pages than have a sample
    "40, 60000, 3" // long values
  })
  void everyKeyIsFound(int count, int longestValue, int files) throws Exception {
    Path database = build("rdb", count, longestValue, PACKED.withDataFiles(files));
    assertThat(sample(database) != null).isEqualTo(pages(database) >= 256);
    double alone = check(database);
    if (longestValue < 1000) {
      assertThat(alone).isGreaterThan(0.9); // bins of one part leave the window together
    }
  }

  static Stream<String> kinds() {
    return ShardedDatabaseTest.kinds().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindAnswersAsTheOpenDatabase(String kind) throws Exception {
    for (int shards : new int[] {1, 3}) {
      BuildOptions options = ShardedDatabaseTest.kinds().get(kind).withShards(shards);
      Path database = build("rdb" + shards, 60, 40, options);
      FolderRanges origin = new FolderRanges(database);
      List<byte[]> keys = new ArrayList<>(Rounds.some(truth.absentKeys(), 20, random));
      keys.addAll(List.of(new byte[0], new byte[65_535], new byte[70_000]));
      truth.records().forEach(record -> keys.add(record.key()));
      try (Database open = Database.open(database)) {
        for (byte[] key : keys) {
          Truth.same(get(origin, key), open.get(key), "value");
        }
      }
    }
    Path part = Forgery.part(www().resolve("rdb3"), www().resolve("part"), 1);
    int foreign = 0;
    for (Truth.Entry record : truth.records()) {
      try {
        Truth.same(get(new FolderRanges(part), record.key()), record.value(), "value");
      } catch (WrongShardException e) {
        foreign++;
      }
    }
    assertThat(foreign).isBetween(10, 58);
  }

  /** A sample that leads astray costs requests, and no answer. */
  @ParameterizedTest
  @ValueSource(strings = {"all at the first page", "all at the last page", "random", "none"})
  void aMisleadingSampleMisleadsNobody(String kind) throws Exception {
    Path database = build("rdb", 1300, 1900, PACKED.withDataFiles(2));
    long pages = pages(database);
    int parts = (int) (pages / 128);
    long[] starts = LongStream.generate(() -> random.nextLong(pages / 4)).limit(parts).toArray();
    java.util.Arrays.sort(starts);
    LongUnaryOperator start =
        switch (kind) {
          case "all at the first page" -> i -> 0;
          case "all at the last page" -> i -> pages - 1;
          default -> i -> starts[(int) i];
        };
    String forged =
        IntStream.range(1, parts)
            .mapToObj(i -> Long.toString(start.applyAsLong(i) - i * pages / parts))
            .collect(Collectors.joining(" "));
    List<String> lines = Forgery.lines(database);
    List<String> other =
        kind.equals("none")
            ? lines.stream().filter(line -> !line.startsWith("packed.sample=")).toList()
            : Forgery.with(lines, "packed.sample", forged);
    assertThat(other).isNotEqualTo(lines);
    Path copy = Files.createDirectories(www().resolve("forged"));
    Forgery.database(database, other, copy);
    check(copy);
    try (Database open = Database.open(copy)) {
      truth.checkGets(open);
    }
    if (kind.equals("none")) {
      assertThat(Leaks.tree(directory.resolve("cache"))).anyMatch(name -> name.contains("index-"));
      assertThat(Database.verify(copy, (done, total) -> {}).records()).isEqualTo(1300);
    } else {
      assertThatThrownBy(() -> Database.verify(copy, (done, total) -> {}))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(Database.manifest(copy).toString())
          .hasMessageContaining("the sample of the index");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1.5", "x", "100000", "0 0 0 0 0 0"})
  void whatIsNoSampleIsACorruptManifest(String stated) throws Exception {
    Path database = build("rdb", 2000, 1500, PACKED);
    Path copy = Files.createDirectories(www().resolve("forged"));
    Forgery.database(
        database, Forgery.with(Forgery.lines(database), "packed.sample", stated), copy);
    assertThatThrownBy(() -> Database.open(copy))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(Database.manifest(copy).toString());
    assertThatThrownBy(() -> get(new FolderRanges(copy), new byte[1]))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(FolderRanges.LOCATION + "/manifest.bsdb");
  }

  private long requests(RangeServer server, URI location, Truth.Entry record) throws IOException {
    server.forget();
    Truth.same(Database.getOnce(location, record.key(), options()), record.value(), "value");
    return server.answered().size();
  }

  private void assertRequests(RangeServer server, String name, int expected) throws IOException {
    int exact = 0;
    int count = truth.records().size() / 80;
    for (Truth.Entry record : truth.records().subList(0, count)) {
      exact += requests(server, server.uri().resolve(name), record) == expected ? 1 : 0;
    }
    assertThat(exact).isGreaterThan(count * 85 / 100);
  }

  @Test
  void aValueTakesTwoRequestsOfASetThreeAndOfAStoreFour() throws Exception {
    Path set = build("set", 12_000, 400, PACKED.withShards(2));
    for (Path shard : Forgery.shards(set)) {
      assertThat(sample(shard)).isNotNull();
    }
    try (RangeServer server = RangeServer.of(www())) {
      assertRequests(server, "set", 3);
      Path database = www().resolve("rdb");
      truth.build(database, PACKED);
      assertThat(sample(database)).isNotNull();
      assertRequests(server, "rdb", 2);
      assertThat(server.answered()).allMatch(each -> each.method().equals("GET"));
      Path store = Files.createDirectories(www().resolve("store"));
      Files.writeString(store.resolve("CURRENT"), "v7\n");
      Forgery.copyTree(database, store.resolve("v7"));
      assertRequests(server, "store/", 4);
      assertThat(directory.resolve("cache")).as("needs none").doesNotExist();
    }
    List<String> read = new ArrayList<>();
    byte[] key = truth.records().get(0).key();
    Database.getOnce(new FolderRanges(www().resolve("store")), key, options(), read::add);
    Database.getOnce(
        new FolderRanges(www().resolve("store")), Truth.utf8("none"), options(), read::add);
    assertThat(read).hasSize(2).allMatch((FolderRanges.LOCATION + "/v7")::equals);
  }

  /** What the first requests brought is not asked for again. */
  @ParameterizedTest
  @CsvSource({"6000, 200", "6000, 800"}) // without and with bins across pages
  void anAbsentKeyOpensTheDatabase(int count, int longestValue) throws Exception {
    Path database = build("rdb", count, longestValue, PACKED);
    FolderRanges origin = new FolderRanges(database);
    for (int i = 0; i < 20; i++) {
      assertThat(get(origin, Truth.utf8("none " + i))).isNull();
      assertThat(origin.requests.get("manifest.bsdb")).isEqualTo(1);
      assertThat(origin.requests).doesNotContainKey("CURRENT");
      assertThat(origin.requests())
          .as("manifest, pages, the index at first, perhaps a page again")
          .isBetween(i == 0 ? 3L : 2L, i == 0 ? 4L : 3L);
    }
    Path blocked = build("blocked", 300, 40, PACKED.withLayout(Layout.BLOCKED));
    FolderRanges other = new FolderRanges(blocked);
    Truth.same(get(other, truth.records().get(0).key()), truth.records().get(0).value(), "value");
    assertThat(other.requests()).as("manifest, hash, index, data").isEqualTo(4);
  }

  @Test
  void damageIsReportedIfItStays() throws Exception {
    assertThat(pages(build("rdb", 4000, 600, PACKED))).isGreaterThan(255);
    Truth.Entry record = truth.records().get(5);
    try (RangeServer server = RangeServer.of(www())) {
      URI location = server.uri().resolve("rdb");
      server.rule(
          request ->
              request.path().contains("data-") && request.number() == 2
                  ? Fault.none().flipped(77)
                  : Fault.none());
      requests(server, location, record);
      server.rule(
          request -> request.path().contains("data-") ? Fault.none().flipped(77) : Fault.none());
      assertThatThrownBy(() -> Database.getOnce(location, record.key(), options()))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(location + "/data-000-");
      server.rule(
          request ->
              request.path().endsWith("manifest.bsdb") ? Fault.none().flipped(9) : Fault.none());
      assertThatThrownBy(() -> Database.getOnce(location, record.key(), options()))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(location + "/manifest.bsdb");
    }
  }

  /** The next version answers if it came between the two requests, whatever the cache has. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aDatabaseIsReplacedMeanwhile(boolean warm) throws Exception {
    Path database = build("rdb", 3000, 600, PACKED);
    byte[] key = truth.records().get(0).key();
    Truth next = new Truth().add(key, Truth.utf8("another value"));
    FolderRanges origin = new FolderRanges(database);
    if (warm) {
      Database.open(origin, options()).close();
    }
    origin.before =
        (file, from) -> {
          if (file.startsWith("data-")) {
            origin.before = (other, at) -> {};
            next.build(database, PACKED.withOverwrite(true));
          }
        };
    assertThat(get(origin, key)).isEqualTo(Truth.utf8("another value"));
  }

  @Test
  void directoriesAndWhatIsNoDatabase() throws Exception {
    Path database = build("rdb", 20, 40, PACKED);
    Truth.Entry record = truth.records().get(0);
    assertThat(Database.getOnce(database.toUri(), record.key(), options()))
        .isEqualTo(record.value());
    assertThatThrownBy(() -> get(new FolderRanges(www()), record.key()))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageContaining("is neither a bsdb database nor a store");
  }
}
