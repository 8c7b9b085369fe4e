package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.read.AsyncReader;
import tech.bsdb.read.SyncReader;

/**
 * A directory that holds some shards of a set answers their keys, and calls no other key absent.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PartialSetTest {
  private static final int SHARDS = 6;

  /** The place of a shard among those held differs from its number, also that of the first. */
  private static final Integer[] HELD = {1, 4, 5};

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("PartialSetTest");
  private final Truth all = Truth.random(random, 600, 40);

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  static Stream<String> kinds() {
    return ShardedDatabaseTest.kinds().keySet().stream();
  }

  private Path set(BuildOptions options) throws IOException {
    Path set = directory.resolve("set");
    all.absent(new byte[70_000]).absent(Truth.utf8("x".repeat(70_000)));
    for (int i = 0; i < 20; i++) {
      all.absent(Truth.utf8("{" + i + "}" + "x".repeat(70_000)));
    }
    all.build(set, options.withShards(SHARDS));
    return set;
  }

  private Path set(String kind) throws IOException {
    return set(ShardedDatabaseTest.kinds().get(kind));
  }

  /** A copy of a new set with the shards that are held. */
  private Path part(String kind) throws IOException {
    return Forgery.part(set(kind), directory.resolve("part"), HELD);
  }

  private static boolean isHeld(byte[] key, Integer... held) {
    return List.of(held).contains(KeySlots.shard(key, SHARDS));
  }

  /** What the shards that are held answer. */
  private Truth own(Integer... held) {
    Truth own = new Truth();
    for (Truth.Entry record : all.records()) {
      if (isHeld(record.key(), held)) {
        own.add(record.key(), record.value());
      }
    }
    all.absentKeys().stream().filter(key -> isHeld(key, held)).forEach(own::absent);
    return own;
  }

  /** Some keys of other shards, present and absent there. */
  private List<byte[]> foreign() {
    List<byte[]> keys = new ArrayList<>(all.absentKeys());
    all.records().forEach(record -> keys.add(record.key()));
    keys.removeIf(key -> isHeld(key, HELD));
    List<byte[]> some = new ArrayList<>(keys.subList(0, Rounds.longOrShort(6, 2)));
    some.addAll(keys.subList(keys.size() - Rounds.longOrShort(6, 2), keys.size()));
    keys.stream()
        .filter(key -> key.length > 65_535)
        .limit(Rounds.longOrShort(3, 1))
        .forEach(some::add);
    return some;
  }

  private static VerifyReport verify(Path directory) throws IOException {
    return Database.verify(directory, (done, total) -> {});
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void itAnswersTheKeysOfItsShards(String kind) throws Exception {
    Path part = part(kind);
    Truth own = own(HELD);
    assertThat(verify(part).records()).isEqualTo(own.records().size()).isBetween(200L, 400L);
    for (OpenOptions.Engine engine : Offered.some(random)) {
      own.checkEveryWay(part, engine);
    }
    OpenOptions options = OpenOptions.defaults().withIndexInMemory(true).withVerify(false);
    try (Database database = Database.open(part, options)) {
      assertThat(database.isShard()).isTrue();
      own.checkGets(database);
      own.checkBatches(database);
      for (byte[] key : own.absentKeys()) {
        database.requireOwn(key);
      }
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void itRefusesTheKeysOfOthers(String kind) throws Exception {
    Path part = part(kind);
    Truth own = own(HELD);
    List<byte[]> foreign = foreign();
    for (OpenOptions.Engine engine : Offered.some(random)) {
      OpenOptions open = OpenOptions.defaults().withEngine(engine);
      try (Database database = Database.open(part, open)) {
        for (byte[] key : foreign) {
          refuses(database, own, key);
        }
        own.checkGets(database);
        own.checkBatches(database);
      }
    }
  }

  private static void refuses(Database database, Truth own, byte[] key) {
    List<byte[]> among = new ArrayList<>();
    own.records().subList(0, 150).forEach(record -> among.add(record.key()));
    among.add(key);
    among.add(among.get(0));
    LookupBatch batch = database.batch();
    List<ThrowingCallable> lookups =
        List.of(
            () -> database.requireOwn(key),
            () -> database.get(key),
            () -> database.get(key, bytes -> true),
            () -> database.read(key, value -> value),
            () -> database.getAll(List.of(key)),
            () -> database.getAll(among),
            () -> {
              batch.clear();
              among.forEach(batch::add);
              batch.get();
            });
    for (ThrowingCallable lookup : lookups) {
      assertThatThrownBy(lookup)
          .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
    }
    assertThat(database.getAsync(key))
        .failsWithin(Duration.ofMinutes(1))
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
  }

  private static void says(WrongShardException e, byte[] key) {
    assertThat(e.key()).isEqualTo(key);
    assertThat(e.slot()).isEqualTo(KeySlots.of(key));
    assertThat(e.shard()).isEqualTo(KeySlots.shard(key, SHARDS)).isNotIn((Object[]) HELD);
    assertThat(e)
        .hasMessageContaining("belongs to shard " + e.shard())
        .hasMessageContaining("this is a partial set with shards 1,4-5 of 6 (")
        .message()
        .hasSizeLessThan(1000);
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void theDocumentedReadersDoAlike(String kind) throws Exception {
    File part = part(kind).toFile();
    boolean approximate = kind.equals("approximate");
    for (boolean direct : new boolean[] {true, false}) {
      try (SyncReader reader = new SyncReader(part, false, approximate, direct, direct);
          SyncReader loaded = new SyncReader(part, true, approximate, direct, direct);
          AsyncReader async = new AsyncReader(part, approximate, direct, direct)) {
        for (byte[] key : foreign()) {
          for (SyncReader each : List.of(reader, loaded)) {
            assertThatThrownBy(() -> each.getAsBytes(key))
                .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
          }
          assertThatThrownBy(() -> later(async, key))
              .cause()
              .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
        }
        for (Truth.Entry record : own(HELD).records().subList(0, 50)) {
          assertThat(reader.getAsBytes(record.key())).isEqualTo(record.value());
          assertThat(loaded.getAsBytes(record.key())).isEqualTo(record.value());
          assertThat(later(async, record.key())).isEqualTo(record.value());
        }
      }
    }
  }

  private static byte[] later(AsyncReader reader, byte[] key) throws Exception {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    reader.asyncGet(
        key,
        "",
        new CompletionHandler<byte[], String>() {
          @Override
          public void completed(byte[] value, String attached) {
            answer.complete(value);
          }

          @Override
          public void failed(Throwable why, String attached) {
            answer.completeExceptionally(why);
          }
        });
    return answer.get(60, TimeUnit.SECONDS);
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void aScanReadsTheShardsThatAreHeld(String kind) throws Exception {
    Path part = part(kind);
    if (kind.equals("approximate")) {
      try (Database database = Database.open(part)) {
        assertThatThrownBy(database::scan).isInstanceOf(UnsupportedOperationException.class);
      }
      return;
    }
    List<byte[]> expected = new ArrayList<>();
    for (Path shard : Forgery.shards(part)) {
      expected.addAll(scanned(shard));
    }
    assertThat(scanned(part))
        .usingElementComparator(Arrays::compare)
        .isEqualTo(expected)
        .hasSize(own(HELD).records().size());
  }

  private static List<byte[]> scanned(Path directory) throws IOException {
    List<byte[]> keys = new ArrayList<>();
    try (Database database = Database.open(directory);
        Database.RecordCursor cursor = database.scan()) {
      while (cursor.next()) {
        keys.add(cursor.key());
      }
    }
    return keys;
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void statisticsAreThoseOfTheShardsThatAreHeld(String kind) throws Exception {
    Path part = part(kind);
    Statistics whole = Database.statistics(directory.resolve("set"));
    assertThat(whole.isPartialSet()).isFalse();
    assertThat(whole.wholeSetId()).isNull();
    assertThat(whole.heldShards()).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(whole.heldShardRanges()).isEqualTo("0-5");
    Map<String, Long> files = new LinkedHashMap<>();
    List<Long> records = new ArrayList<>();
    for (Path path : Forgery.shards(part)) {
      Statistics shard = Database.statistics(path);
      assertThat(shard.isPartialSet()).isFalse();
      assertThat(shard.heldShards()).containsExactly(shard.shard());
      records.add(shard.records());
      shard.fileBytes().forEach((name, bytes) -> files.put(path.getFileName() + "/" + name, bytes));
    }
    files.put("manifest.bsdb", Files.size(part.resolve("manifest.bsdb")));

    Statistics statistics = Database.statistics(part);
    assertThat(statistics.fileBytes()).containsExactlyEntriesOf(files);
    assertThat(statistics.isSet()).isTrue();
    assertThat(statistics.isPartialSet()).isTrue();
    assertThat(statistics.shard()).isEqualTo(-1);
    assertThat(statistics.shards()).isEqualTo(SHARDS);
    assertThat(statistics.heldShards()).containsExactly(HELD);
    assertThat(statistics.heldShardRanges()).isEqualTo("1,4-5");
    assertThat(statistics.wholeSetId()).isEqualTo(whole.databaseId());
    assertThat(statistics.databaseId()).isNotEqualTo(whole.databaseId());
    assertThat(statistics.shardRecords()).isEqualTo(records);
    assertThat(statistics.records()).isEqualTo(own(HELD).records().size());
    assertThat(statistics.records()).isEqualTo(records.stream().mapToLong(Long::longValue).sum());
    try (Database database = Database.open(part)) {
      assertThat(database.statistics().heldShards()).containsExactly(HELD);
      assertThat(database.statistics().fileBytes()).isEqualTo(files);
    }
    AtomicLong read = new AtomicLong();
    assertThat(Database.warm(part, read::addAndGet)).isEqualTo(Database.memoryUse(part));
    files.keySet().removeIf(name -> name.endsWith("manifest.bsdb"));
    assertThat(read).hasValue(files.values().stream().mapToLong(Long::longValue).sum());
  }

  /** Also the first and the last shard, one alone, and all but one. */
  @ParameterizedTest
  @ValueSource(strings = {"0", "5", "2", "0,1,2,3,4", "1,2,3,4,5", "0,2,4"})
  void anyShards(String numbers) throws Exception {
    Path set = set("BLOCKED");
    Integer[] held = Stream.of(numbers.split(",")).map(Integer::valueOf).toArray(Integer[]::new);
    Path part = Forgery.part(set, directory.resolve("part"), held);
    Truth own = own(held);
    own.checkEveryWay(part, OpenOptions.Engine.AUTO);
    assertThat(verify(part).records()).isEqualTo(own.records().size());
    try (Database database = Database.open(part)) {
      for (Truth.Entry record : all.records()) {
        if (!isHeld(record.key(), held)) {
          assertThatThrownBy(() -> database.get(record.key()))
              .isInstanceOf(WrongShardException.class);
        }
      }
    }
    Path again = Forgery.part(part, directory.resolve("again"), held[held.length - 1]);
    own(held[held.length - 1]).checkEveryWay(again, OpenOptions.Engine.AUTO);
    assertThat(Database.statistics(again).wholeSetId())
        .isEqualTo(Database.statistics(set).databaseId());
  }

  /** More shards than have extents of their own, or are sorted in batches. */
  @Test
  void manyShards() throws Exception {
    Path set = directory.resolve("set");
    all.build(set, BuildOptions.defaults().withShards(100));
    Integer[] even = Stream.iterate(0, i -> i + 2).limit(50).toArray(Integer[]::new);
    Path part = Forgery.part(set, directory.resolve("part"), even);
    Truth own = new Truth();
    for (Truth.Entry record : all.records()) {
      if (KeySlots.shard(record.key(), 100) % 2 == 0) {
        own.add(record.key(), record.value());
      }
    }
    own.checkEveryWay(part, OpenOptions.Engine.AUTO);
    try (Database database = Database.open(part)) {
      for (Truth.Entry record : all.records()) {
        if (KeySlots.shard(record.key(), 100) % 2 == 1) {
          assertThatThrownBy(() -> database.get(record.key()))
              .isInstanceOf(WrongShardException.class)
              .hasMessageContaining("a partial set with 50 of 100 shards (");
        }
      }
    }
  }

  @Test
  void aShardThatIsStatedToBeHeldMustBeThere() throws Exception {
    Path part = part("PACKED");
    for (Path shard : Forgery.shards(part)) {
      Path aside = directory.resolve("aside");
      Files.move(shard, aside);
      for (ThrowingCallable use :
          List.<ThrowingCallable>of(
              () -> Database.open(part), () -> verify(part), () -> Database.statistics(part))) {
        assertThatThrownBy(use)
            .isInstanceOf(NoSuchFileException.class)
            .hasMessageContaining(shard.toString())
            .hasMessageContaining("the manifest of the set lists this shard");
      }
      Files.move(aside, shard);
    }
    own(HELD).checkEveryWay(part, OpenOptions.Engine.AUTO);
  }

  /** What lies beside the shards that are held does not count. */
  @Test
  void shardsThatAreNotHeldAreNotRead() throws Exception {
    Path part = part("BLOCKED");
    Path other = Forgery.shards(directory.resolve("set")).get(0);
    Files.createDirectory(part.resolve(other.getFileName()));
    Files.write(part.resolve(other.getFileName()).resolve("manifest.bsdb"), new byte[12_288]);
    own(HELD).checkEveryWay(part, OpenOptions.Engine.AUTO);
    assertThat(verify(part).records()).isEqualTo(own(HELD).records().size());
  }

  @Test
  void aShardOfAnotherSetIsRefused() throws Exception {
    Path part = part("BLOCKED");
    List<Path> shards = Forgery.shards(part);
    Forgery.deleteTree(shards.get(1));
    Forgery.copyTree(shards.get(2), shards.get(1));
    assertThatThrownBy(() -> Database.open(part))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(shards.get(1).toString())
        .hasMessageContaining("as the manifest of the set says");
  }

  @ParameterizedTest
  @CsvSource({
    "set.held, 0-5",
    "set.held, ''",
    "set.held, '5,1'",
    "set.held, 6",
    "set.held, '1,4,5'",
    "set.id, ''",
    "set.id, 0123",
    "records, 1",
    "shard.count, 3"
  })
  void badFacts(String name, String value) throws Exception {
    Path part = part("BLOCKED");
    Forgery.manifest(part, Forgery.with(Forgery.lines(part), name, value));
    for (ThrowingCallable use :
        List.<ThrowingCallable>of(
            () -> Database.open(part), () -> verify(part), () -> Database.statistics(part))) {
      assertThatThrownBy(use)
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(part.resolve("manifest.bsdb").toString());
    }
  }

  /** A key in a shard that lookups never ask for it. */
  @Test
  void verifyFindsMisroutedKeys() throws Exception {
    Path set = set("BLOCKED");
    Path part = Forgery.part(set, directory.resolve("part"), HELD);
    Path undivided = directory.resolve("undivided");
    all.build(undivided, BuildOptions.defaults().withLayout(Layout.BLOCKED));
    Path forged = Files.createDirectory(directory.resolve("forged"));
    List<tech.bsdb.format.ShardSet.Shard> shards = new ArrayList<>(Forgery.set(part).shards());
    shards.set(
        4,
        Forgery.shard(
            undivided,
            Forgery.asShard(Forgery.lines(undivided), 4, SHARDS),
            forged,
            4,
            all.records().size()));
    for (int i = 0; i < SHARDS; i++) {
      if (i != 4) {
        String name = shards.get(i).directoryName();
        Forgery.copyTree(set.resolve(name), forged.resolve(name));
      }
    }
    Forgery.set(forged, shards);
    Path half = Forgery.part(forged, directory.resolve("half"), HELD);
    assertThatThrownBy(() -> verify(half))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(shards.get(4).directoryName())
        .hasMessageContaining("keys of shard 4 of 6");
    verify(Forgery.part(forged, directory.resolve("sound"), 1, 5));
  }

  /** A build replaces a partial set as any database, with all that belongs to it. */
  @Test
  void aBuildReplacesAPartialSet() throws Exception {
    Path part = part("BLOCKED");
    all.build(part, BuildOptions.defaults().withShards(2).withOverwrite(true));
    assertThat(Forgery.shards(part)).hasSize(2);
    assertThat(Leaks.tree(part).stream().filter(name -> name.matches("shard-[^/]*"))).hasSize(2);
    try (Database database = Database.open(part)) {
      all.checkGets(database);
      assertThat(database.isShard()).isFalse();
    }
    assertThat(verify(part).records()).isEqualTo(all.records().size());
  }
}
