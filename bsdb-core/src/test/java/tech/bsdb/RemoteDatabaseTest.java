package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.mirror.FolderRanges;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RemoteOptions;

/** A database that is read where it lies answers as the same one in a directory. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemoteDatabaseTest {
  private static final int RECORDS = 300;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("RemoteDatabaseTest");
  private final Truth truth = Truth.random(random, RECORDS, 40);

  /** Few attempts, so that failures show soon, and nothing kept in memory. */
  private RemoteOptions options() {
    return RemoteOptions.defaults()
        .withCache(directory.resolve("cache"))
        .withMemoryBytes(0)
        .withAttempts(2)
        .withDeadline(Duration.ofSeconds(60));
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  static Stream<String> kinds() {
    return ShardedDatabaseTest.kinds().keySet().stream();
  }

  private FolderRanges build(BuildOptions options) throws IOException {
    Path there = directory.resolve("rdb");
    truth.build(there, options);
    return new FolderRanges(there);
  }

  private Path there(String name) {
    return directory.resolve("rdb").resolve(name);
  }

  /** The first file of a kind. */
  private Path file(Path of, String kind) throws IOException {
    try (Stream<Path> files = Files.list(of)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(kind))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
  }

  private static String location(Path file) {
    return FolderRanges.LOCATION + "/" + file.getFileName();
  }

  private static VerifyReport verified(FolderRanges origin, RemoteOptions options)
      throws IOException {
    return Database.verify(origin, options, VerifyScope.ALL, (done, total) -> {});
  }

  private void checkAll(Database database) throws IOException {
    truth.checkGets(database);
    truth.checkBatches(database);
    truth.checkOrder(database);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindAnswersAsADirectory(String kind) throws Exception {
    FolderRanges origin = build(ShardedDatabaseTest.kinds().get(kind));
    for (int opened = 0; opened < 2; opened++) {
      try (Database database = Database.open(origin, options())) {
        checkAll(database);
        if (!kind.equals("approximate")) {
          truth.checkScan(database);
        }
      }
    }
    assertThat(verified(origin, options())).isEqualTo(verifiedHere());
  }

  private VerifyReport verifiedHere() throws IOException {
    return Database.verify(directory.resolve("rdb"), (done, total) -> {});
  }

  @ParameterizedTest
  @ValueSource(strings = {"PACKED", "BLOCKED", "COMPRESSED", "PACKED_COMPRESSED"})
  void orderedKeysAndDifferencesAreReadThere(String layout) throws Exception {
    FolderRanges origin =
        build(
            ShardedDatabaseTest.kinds()
                .get(layout)
                .withOrderedKeys(true)
                .withFilterBits(layout.startsWith("PACKED") ? 8 : 0));
    try (Database database = Database.open(origin, options().withMemoryBytes(1 << 20));
        Database here = Database.open(directory.resolve("rdb"))) {
      checkAll(database);
      truth.checkScan(database);
      assertThat(Database.diff(database, here)).isEqualTo(Database.diff(here, here));
      assertThat(Database.diff(here, database)).isEqualTo(Database.diff(here, here));
    }
    assertThat(verified(origin, options())).isEqualTo(verifiedHere());
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void setsOfShardsAreReadThere(String kind) throws Exception {
    FolderRanges origin = build(ShardedDatabaseTest.kinds().get(kind).withShards(3));
    try (Database database = Database.open(origin, options())) {
      checkAll(database);
      assertThat(database.isShard()).isFalse();
    }
    assertThat(verified(origin, options())).isEqualTo(verifiedHere());
    Path shard = file(directory.resolve("rdb"), "shard-00001");
    try (Database database = Database.open(new FolderRanges(shard), options())) {
      assertThat(database.isShard()).isTrue();
    }
  }

  @Test
  void aPartOfASetNamesWhereItLies() throws Exception {
    build(BuildOptions.defaults().withShards(3));
    Path part = Forgery.part(directory.resolve("rdb"), directory.resolve("part"), 1);
    FolderRanges origin = new FolderRanges(part);
    int foreign = 0;
    try (Database database = Database.open(origin, options());
        Database here = Database.open(part)) {
      for (Truth.Entry record : truth.records()) {
        try {
          Truth.same(database.get(record.key()), record.value(), "value");
          Truth.same(here.get(record.key()), record.value(), "value");
        } catch (WrongShardException e) {
          foreign++;
          assertThat(e).hasMessageStartingWith(FolderRanges.LOCATION + ": the key");
        }
      }
    }
    assertThat(foreign).isBetween(100, 290);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PACKED", "BLOCKED", "COMPRESSED"})
  void verificationReadsTheDataOnce(String layout) throws Exception {
    Truth large = Truth.random(random, 2_000, 3_000);
    large.add("long", "x".repeat(3 << 20));
    Path there = directory.resolve("large");
    large.build(there, ShardedDatabaseTest.kinds().get(layout).withDataFiles(2));
    FolderRanges origin = new FolderRanges(there);
    verified(origin, options());
    long pages = 0;
    try (Stream<Path> files = Files.list(there)) {
      for (Path file : files.toList()) {
        if (file.getFileName().toString().startsWith("data-")) {
          pages += Files.size(file) / 4096;
        }
      }
    }
    long asked =
        origin.requests.entrySet().stream()
            .filter(of -> of.getKey().startsWith("data-"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    assertThat(pages).isGreaterThan(100);
    assertThat(origin.dataBytes.get()).isEqualTo(4096 * pages);
    assertThat(asked).isLessThan(pages / 256 + 16);
  }

  @Test
  void statisticsReadManifestsAlone() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withShards(3));
    Statistics statistics = Database.statistics(origin, options());
    assertThat(origin.requests()).isEqualTo(2 + 3);
    assertThat(statistics.location()).isEqualTo(FolderRanges.LOCATION);
    Statistics here = Database.statistics(directory.resolve("rdb"));
    assertThat(here.location()).isEqualTo(directory.resolve("rdb").toString());
    assertThat(statistics.fileBytes()).isEqualTo(here.fileBytes());
    assertThat(statistics.databaseId()).isEqualTo(here.databaseId());
    Statistics again = Database.statistics(origin, options());
    assertThat(origin.requests()).isEqualTo(2);
    assertThat(again).isEqualTo(statistics);
    assertThat(Leaks.tree(directory.resolve("cache"))).noneMatch(name -> name.contains("index-"));
  }

  /** The pages on disk outlive the database that was open, and heal if they are damaged. */
  @Test
  void pagesOnDiskSpareRequests() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults());
    RemoteOptions options = options().withPageBytes(4 << 20);
    Path pages = directory.resolve("cache").resolve("pages");
    for (long expected : new long[] {RECORDS, 0, RECORDS, 0}) {
      try (Database database = Database.open(origin, options)) {
        origin.requests();
        truth.checkBatches(database);
        if (expected == 0) {
          assertThat(origin.requests()).isZero();
        } else {
          assertThat(origin.requests()).isPositive();
        }
      } // closing waits until the pages are written
      try (Database database = Database.open(origin, options)) {
        origin.requests();
        truth.checkGets(database);
        assertThat(origin.requests()).as("pages were kept").isZero();
      }
      if (expected == 0) {
        byte[] all = Files.readAllBytes(pages);
        for (int at = 4096; at < all.length; at += 64) {
          all[at] ^= 8;
        }
        Files.write(pages, all);
      }
    }
  }

  private void open(FolderRanges origin, long requests) throws IOException {
    long before = origin.requests();
    assertThat(before).isGreaterThanOrEqualTo(0);
    try (Database database = Database.open(origin, options())) {
      assertThat(database.remoteTraffic().requests()).isEqualTo(requests);
    }
    assertThat(origin.requests()).as("requests of an open").isEqualTo(requests);
  }

  @Test
  void toOpenAPackedDatabaseTakesThreeRequestsAndEveryKeyOne() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withLayout(Layout.PACKED));
    open(origin, 3);
    open(origin, 2);
    try (Database database = Database.open(origin, options())) {
      origin.requests();
      for (Truth.Entry record : truth.records()) {
        Truth.same(database.get(record.key()), record.value(), "value");
      }
      assertThat(origin.requests()).as("requests of gets").isEqualTo(RECORDS);
      assertThat(database.remoteTraffic().requests()).isEqualTo(2 + RECORDS);
      assertThat(database.remoteTraffic().bytes()).isGreaterThan(RECORDS * 4096L);
    }
  }

  @Test
  void theFilterSparesRequestsOfAbsentKeys() throws Exception {
    FolderRanges origin =
        build(BuildOptions.defaults().withLayout(Layout.PACKED).withFilterBits(16));
    open(origin, 4);
    try (Database database = Database.open(origin, options())) {
      origin.requests();
      for (byte[] key : truth.absentKeys()) {
        assertThat(database.get(key)).isNull();
      }
      assertThat(origin.requests()).isLessThan(10);
    }
  }

  @Test
  void otherLayoutsTakeTheHashFunctionAndTheDictionaryAndTwoRequestsAKey() throws Exception {
    FolderRanges origin =
        build(ShardedDatabaseTest.kinds().get(Layout.BLOCKED.name()).withChecksumBits(32));
    open(origin, 3);
    open(origin, 2);
    try (Database database = Database.open(origin, options())) {
      origin.requests();
      for (Truth.Entry record : truth.records()) {
        Truth.same(database.get(record.key()), record.value(), "value");
      }
      assertThat(origin.requests()).as("requests of gets").isEqualTo(2 * RECORDS);
    }
  }

  @Test
  void theDictionaryTakesOneRequestMore() throws Exception {
    FolderRanges origin =
        build(
            BuildOptions.defaults()
                .withLayout(Layout.PACKED_COMPRESSED)
                .withDictionaryBytes(1024)
                .withSampleRecords(RECORDS));
    assertThat(Database.statistics(directory.resolve("rdb")).dictionaryBytes()).isPositive();
    open(origin, 4);
    open(origin, 2);
  }

  @Test
  void toOpenASetTakesTwoRequestsAShard() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withShards(5));
    open(origin, 2 + 2 * 5);
    open(origin, 2);
  }

  @Test
  void damageThereNamesTheLocationOfTheFile() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withLayout(Layout.PACKED));
    Path data = file(directory.resolve("rdb"), "data-");
    try (Database database = Database.open(origin, options())) {
      for (long page = 1; page < Files.size(data) / 4096 - 1; page++) {
        Specimen.flip(data, (page * 4096 + 99) * 8);
      }
      assertThatThrownBy(() -> truth.checkGets(database)).satisfies(this::isDamageOfData);
      assertThatThrownBy(() -> truth.checkBatches(database)).satisfies(this::isDamageOfData);
      byte[] key = truth.records().get(0).key();
      assertThatThrownBy(() -> database.getAsync(key).get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .satisfies(e -> isDamageOfData(e.getCause()));
      assertThatThrownBy(() -> truth.checkScan(database)).satisfies(this::isDamageOfData);
    }
    assertThatThrownBy(() -> verified(origin, options())).satisfies(this::isDamageOfData);
  }

  private void isDamageOfData(Throwable thrown) {
    assertThat(thrown)
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageStartingWith(FolderRanges.LOCATION + "/data-000-")
        .hasMessageEndingWith("(upload the database again or rebuild it)");
    assertThat(((CorruptDatabaseException) thrown).location())
        .startsWith(FolderRanges.LOCATION + "/data-000-");
    assertThat(thrown.getMessage()).doesNotContain("cache");
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"PACKED", "BLOCKED"})
  void damageOfSmallFilesThereNamesTheirLocation(Layout layout) throws Exception {
    FolderRanges origin = build(ShardedDatabaseTest.kinds().get(layout.name()));
    Path small = file(directory.resolve("rdb"), layout == Layout.PACKED ? "index-" : "hash-");
    Specimen.flip(small, 4096 * 8 + 5);
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageStartingWith(location(small) + ": damaged at byte");
    Specimen.flip(small, 4096 * 8 + 5);
    try (Database database = Database.open(origin, options())) {
      truth.checkGets(database);
    }
  }

  @Test
  void aDamagedManifestNamesItsLocation() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults());
    Specimen.flip(there("manifest.bsdb"), 4096 * 8 + 5);
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageStartingWith(FolderRanges.LOCATION + "/manifest.bsdb: damaged");
  }

  @Test
  void aFileThatWasCutShortIsReported() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withLayout(Layout.PACKED));
    Path index = file(directory.resolve("rdb"), "index-");
    byte[] whole = Files.readAllBytes(index);
    cut(index, whole.length - 4096);
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(location(index) + ": ")
        .hasMessageContaining(whole.length + " by its manifest");
    Files.write(index, whole);
    Path data = file(directory.resolve("rdb"), "data-");
    try (Database database = Database.open(origin, options())) {
      cut(data, Files.size(data) - 4096);
      assertThatThrownBy(() -> truth.checkGets(database))
          .isInstanceOf(ChangedException.class)
          .hasMessageStartingWith(location(data));
    }
  }

  private static void cut(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  @Test
  void afterFilesVanishReadsFailAndWhatIsHereIsAnswered() throws Exception {
    FolderRanges origin =
        build(BuildOptions.defaults().withLayout(Layout.PACKED).withFilterBits(16));
    Path data = file(directory.resolve("rdb"), "data-");
    try (Database database = Database.open(origin, options())) {
      Files.delete(data);
      byte[] key = truth.records().get(0).key();
      assertThatThrownBy(() -> database.get(key)).isInstanceOf(NoSuchFileException.class);
      assertThatThrownBy(
              () -> database.getAll(truth.records().stream().map(Truth.Entry::key).toList()))
          .isInstanceOf(NoSuchFileException.class);
      assertThatThrownBy(() -> database.getAsync(key).get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(NoSuchFileException.class);
    }
    try (Database database = Database.open(origin, options())) { // its small files are here
      assertThat(database.statistics().records()).isEqualTo(RECORDS);
    }
    Files.delete(file(directory.resolve("rdb"), "manifest"));
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(java.nio.file.NotDirectoryException.class)
        .hasMessage(
            FolderRanges.LOCATION
                + " is neither a bsdb database nor a store: it has no manifest.bsdb and no CURRENT");
  }

  @Test
  void aMissingSmallFileIsReported() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withLayout(Layout.PACKED));
    Files.delete(file(directory.resolve("rdb"), "index-"));
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aShardOfAnotherSetIsReported() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withShards(3));
    Path shard = file(directory.resolve("rdb"), "shard-00001");
    Path other = file(directory.resolve("rdb"), "shard-00002");
    Files.copy(
        other.resolve("manifest.bsdb"),
        shard.resolve("manifest.bsdb"),
        StandardCopyOption.REPLACE_EXISTING);
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageStartingWith(location(shard) + "/manifest.bsdb: damaged at byte 16")
        .hasMessageContaining("as the manifest of the set says");
  }

  @Test
  void messagesOfClosedAndUnorderedDatabasesNameTheLocation() throws Exception {
    FolderRanges origin = build(BuildOptions.defaults().withOrderedKeys(false));
    Database database = Database.open(origin, options());
    assertThatThrownBy(database::firstKey)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageStartingWith(FolderRanges.LOCATION);
    database.close();
    database.close();
    assertThatThrownBy(() -> database.get(new byte[1])).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void locationsAreOpenedByTheirSchemes() throws Exception {
    build(BuildOptions.defaults());
    Path there = directory.resolve("rdb");
    try (Database database = Database.open(there.toUri())) {
      truth.checkGets(database);
      assertThat(database.remoteTraffic()).isNull();
    }
    assertThat(Database.statistics(there.toUri(), options()).records()).isEqualTo(RECORDS);
    assertThat(Database.verify(there.toUri(), options(), (done, total) -> {}))
        .isEqualTo(verifiedHere());
    URI far = URI.create("far://host" + there);
    assertThat(Database.statistics(far, options()).records()).isEqualTo(RECORDS);
    assertThat(Database.verify(far, options(), (done, total) -> {})).isEqualTo(verifiedHere());
    try (Database database = Database.open(far, options())) {
      truth.checkGets(database);
      assertThat(FolderRanges.Closed.OPEN).contains(far);
    }
    assertThat(FolderRanges.Closed.OPEN).doesNotContain(far);
    assertThatThrownBy(() -> Database.open(URI.create("s4://bucket/rdb")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("s4://bucket/rdb: nothing here reads the scheme s4;")
        .hasMessageContaining("bsdb-tools");
    assertThatThrownBy(() -> Database.open(URI.create("rdb")))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
