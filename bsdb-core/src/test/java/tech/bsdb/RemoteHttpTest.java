package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.remote.RemoteOptions;

/** Databases that are read where they lie on a web server. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemoteHttpTest {
  private static final int RECORDS = Rounds.longOrShort(300, 80);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("RemoteHttpTest");
  private final Truth truth = Truth.random(random, RECORDS, 40);
  private RangeServer server;

  @BeforeEach
  void start() throws IOException {
    server = RangeServer.of(Files.createDirectories(directory.resolve("www")));
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private URI at(String name) {
    return server.uri().resolve(name);
  }

  private RemoteOptions options() {
    return RemoteOptions.defaults()
        .withCache(directory.resolve("cache"))
        .withMemoryBytes(0)
        .withAttempts(3)
        .withDeadline(Duration.ofSeconds(60));
  }

  private Path build(String name, BuildOptions options) throws IOException {
    Path there = directory.resolve("www").resolve(name);
    truth.build(there, options);
    return there;
  }

  static Stream<String> kinds() {
    return ShardedDatabaseTest.kinds().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindAnswersAsADirectory(String kind) throws Exception {
    for (int shards : new int[] {1, 2}) {
      String name = "rdb" + shards;
      BuildOptions options = ShardedDatabaseTest.kinds().get(kind).withShards(shards);
      Path there =
          build(name, kind.equals("approximate") ? options : options.withOrderedKeys(true));
      try (Database database = Database.open(at(name), options())) {
        truth.checkGets(database);
        truth.checkBatches(database);
        truth.checkOrder(database);
        assertThat(database.statistics().location()).isEqualTo(at(name).toString());
        if (!kind.equals("approximate")) {
          try (Database here = Database.open(there)) {
            assertThat(Database.diff(database, here)).isEqualTo(Database.diff(here, here));
          }
        }
      }
      assertThat(Database.verify(at(name), options(), (done, total) -> {}))
          .isEqualTo(Database.verify(there, (done, total) -> {}));
    }
  }

  @Test
  void openTakesThreeRequestsAndEveryKeyOne() throws Exception {
    build("rdb", BuildOptions.defaults().withLayout(Layout.PACKED));
    try (Database database = Database.open(at("rdb"), options())) {
      assertThat(server.answered().size()).isEqualTo(3);
      for (Truth.Entry record : truth.records()) {
        Truth.same(database.get(record.key()), record.value(), "value");
      }
      assertThat(server.answered().size()).isEqualTo(3 + RECORDS);
      assertThat(database.remoteTraffic().requests()).isEqualTo(3 + RECORDS);
    }
    try (Database database = Database.open(at("rdb"), options())) {
      assertThat(server.answered().size()).isEqualTo(3 + RECORDS + 2);
      assertThat(database.remoteTraffic().retries()).isZero();
    }
  }

  @Test
  void whatIsReplacedWhileItIsOpenIsNotReadOn() throws Exception {
    Path there = build("rdb", BuildOptions.defaults().withLayout(Layout.PACKED));
    Path data;
    try (Stream<Path> files = Files.list(there)) {
      data =
          files
              .filter(file -> file.getFileName().toString().startsWith("data-"))
              .findFirst()
              .orElseThrow();
    }
    byte[] key = truth.records().get(0).key();
    try (Database database = Database.open(at("rdb"), options())) {
      assertThat(database.get(key)).isEqualTo(truth.records().get(0).value());
      Path copy = Files.copy(data, directory.resolve("copy"));
      Files.setLastModifiedTime(copy, java.nio.file.attribute.FileTime.fromMillis(1_000_000));
      Files.move(copy, data, StandardCopyOption.REPLACE_EXISTING);
      assertThatThrownBy(() -> database.get(key)).isInstanceOf(ChangedException.class);
      Files.delete(data);
      assertThatThrownBy(() -> database.get(key)).isInstanceOf(NoSuchFileException.class);
    }
  }

  /** 1 % of the requests fail, 0.1 % of the bodies are cut, and in 0.1 % a bit is flipped. */
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED", "BLOCKED"})
  void lookupsAreRightOnAServerThatFails(Layout layout) throws Exception {
    Truth large = Truth.random(random, 5000, 2000); // in so many pages that few requests share
    large.build(directory.resolve("www/rdb"), BuildOptions.defaults().withLayout(layout));
    long seed = random.nextLong();
    AtomicInteger faults = new AtomicInteger();
    Set<String> flipped = ConcurrentHashMap.newKeySet(); // a page that is damaged twice is corrupt
    int lookups = Rounds.longOrShort(100_000, 2_000);
    try (Database database = Database.open(at("rdb"), options().withAttempts(6))) {
      server.rule(
          request -> {
            SplittableRandom chance = new SplittableRandom(seed + request.number());
            int kind = chance.nextInt(1000);
            Fault fault =
                kind < 10
                    ? Fault.none().status(503).retryAfter("0")
                    : kind == 10
                        ? Fault.none().cutAfter(chance.nextInt(4096))
                        : kind == 11 && flipped.add(start(request))
                            ? Fault.none().flipped(chance.nextInt(32_768))
                            : Fault.none();
            faults.addAndGet(kind < 12 ? 1 : 0);
            return fault;
          });
      for (int done = 0; done < lookups; done += 64) {
        List<Truth.Entry> asked = new ArrayList<>();
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
          Truth.Entry record = large.records().get(random.nextInt(large.records().size()));
          asked.add(record);
          answers.add(database.getAsync(record.key()));
        }
        for (int i = 0; i < 64; i++) {
          Truth.same(answers.get(i).get(), asked.get(i).value(), "value");
        }
        byte[] absent = large.absentKeys().get(random.nextInt(large.absentKeys().size()));
        assertThat(database.get(absent)).isNull();
      }
      assertThat(database.remoteTraffic().retries()).isPositive();
    }
    assertThat(faults.get()).isPositive();
  }

  /** Where in which file a request begins. */
  private static String start(RangeServer.Request request) {
    return request.path() + request.headers().getOrDefault("range", "").replaceAll("-.*", "");
  }

  @Test
  void whatIsNoDatabaseIsReported() {
    assertThatThrownBy(() -> Database.open(at("nothing"), options()))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageStartingWith(at("nothing") + " is neither a bsdb database nor a store");
  }
}
