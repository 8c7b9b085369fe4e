package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.read.AsyncReader;
import tech.bsdb.read.SyncReader;

/** One shard opened alone answers its own keys, and calls no key of another shard absent. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShardAloneTest {
  private static final int SHARDS = 3;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ShardAloneTest");
  private final Truth all = Truth.random(random, 900, 40);

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  static List<BuildOptions> kinds() {
    return ShardedDatabaseTest.kinds().values().stream()
        .map(options -> options.withShards(SHARDS))
        .toList();
  }

  private List<Path> build(BuildOptions options) throws IOException {
    Path set = directory.resolve("set");
    all.absent(new byte[70_000]).absent(new byte[80_000]).absent(new byte[90_000]);
    all.absent(Truth.utf8("x".repeat(70_000))).absent(Truth.utf8("{a}" + "x".repeat(70_000)));
    all.build(set, options);
    return Forgery.shards(set);
  }

  private Truth own(int shard) {
    Truth own = new Truth();
    for (Truth.Entry record : all.records()) {
      if (KeySlots.shard(record.key(), SHARDS) == shard) {
        own.add(record.key(), record.value());
      }
    }
    for (byte[] key : all.absentKeys()) {
      if (KeySlots.shard(key, SHARDS) == shard) {
        own.absent(key);
      }
    }
    return own;
  }

  /** Some keys of other shards, present and absent there. */
  private List<byte[]> foreign(int shard) {
    List<byte[]> keys = new ArrayList<>(all.absentKeys());
    all.records().forEach(record -> keys.add(record.key()));
    keys.removeIf(key -> KeySlots.shard(key, SHARDS) == shard);
    List<byte[]> some = new ArrayList<>(keys.subList(0, Rounds.longOrShort(10, 3)));
    some.addAll(keys.subList(keys.size() - Rounds.longOrShort(10, 3), keys.size()));
    keys.stream()
        .filter(key -> key.length > 65_535)
        .limit(Rounds.longOrShort(keys.size(), 2))
        .forEach(some::add);
    return some;
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void itAnswersItsOwnKeys(BuildOptions options) throws Exception {
    List<Path> shards = build(options);
    for (int i = 0; i < SHARDS; i++) {
      Truth own = own(i);
      assertThat(own.records()).isNotEmpty();
      assertThat(Database.verify(shards.get(i), (done, total) -> {}).records())
          .isEqualTo(own.records().size());
      for (OpenOptions.Engine engine : Offered.some(random)) {
        own.checkEveryWay(shards.get(i), engine);
      }
      try (Database database = Database.open(shards.get(i))) {
        assertThat(database.isShard()).isTrue();
        assertThat(database.statistics().isSet()).isFalse();
        if (options.approximateWidth() == 0) {
          own.checkScan(database);
        }
        for (Truth.Entry record : own.records()) {
          database.requireOwn(record.key());
          assertThat(database.get(record.key(), bytes -> true)).isEqualTo(record.value());
        }
        for (byte[] absent : own.absentKeys()) {
          database.requireOwn(absent);
        }
      }
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void itRefusesKeysOfOthers(BuildOptions options) throws Exception {
    List<Path> shards = build(options);
    Truth own = own(1);
    List<byte[]> foreign = foreign(1);
    for (OpenOptions.Engine engine : Offered.some(random)) {
      OpenOptions open = OpenOptions.defaults().withEngine(engine);
      try (Database database = Database.open(shards.get(1), open)) {
        for (byte[] key : foreign) {
          refuses(database, own, key);
        }
        own.checkGets(database);
        own.checkBatches(database);
      }
    }
  }

  private static void refuses(Database database, Truth own, byte[] key) {
    byte[] known = own.records().get(0).key();
    List<byte[]> among = new ArrayList<>();
    own.records().subList(0, 150).forEach(record -> among.add(record.key()));
    among.add(key);
    among.add(known);
    LookupBatch batch = database.batch();
    List<ThrowingCallable> lookups =
        List.of(
            () -> database.requireOwn(key),
            () -> database.get(key),
            () -> database.get(key, bytes -> true),
            () -> database.get(key, bytes -> false),
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
    for (CompletableFuture<byte[]> later :
        List.of(database.getAsync(key), database.getAsync(key, bytes -> true))) {
      assertThat(later)
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableOfType(ExecutionException.class)
          .havingCause()
          .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
    }
  }

  private static void says(WrongShardException e, byte[] key) {
    assertThat(e.slot()).isEqualTo(KeySlots.of(key));
    assertThat(e.shard()).isEqualTo(KeySlots.shard(key, SHARDS)).isNotEqualTo(1);
    assertThat(e)
        .hasMessageContaining("belongs to shard " + e.shard())
        .hasMessageContaining("this is shard 1 of 3 with slots 5461 to 10921")
        .message()
        .hasSizeLessThan(1000);
  }

  /** The answer of an {@link AsyncReader}. */
  private static final class Answered implements CompletionHandler<byte[], String> {
    private final CompletableFuture<byte[]> answer = new CompletableFuture<>();
    private volatile String attached = "";

    @Override
    public void completed(byte[] value, String attachment) {
      attached = attachment;
      answer.complete(value);
    }

    @Override
    public void failed(Throwable why, String attachment) {
      attached = attachment;
      answer.completeExceptionally(why);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void theDocumentedReadersDoAlike(BuildOptions options) throws Exception {
    File shard = build(options).get(1).toFile();
    boolean approximate = options.approximateWidth() > 0;
    for (boolean direct : new boolean[] {true, false}) {
      try (SyncReader reader = new SyncReader(shard, false, approximate, direct, direct);
          SyncReader loaded = new SyncReader(shard, true, approximate, direct, direct);
          AsyncReader async = new AsyncReader(shard, approximate, direct, direct)) {
        for (byte[] key : foreign(1)) {
          for (SyncReader each : List.of(reader, loaded)) {
            assertThatThrownBy(() -> each.getAsBytes(key))
                .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
          }
          Answered answered = new Answered();
          async.asyncGet(key, "attached", answered);
          assertThatThrownBy(() -> answered.answer.get(60, TimeUnit.SECONDS))
              .cause()
              .isInstanceOfSatisfying(WrongShardException.class, e -> says(e, key));
          assertThat(answered.attached).isEqualTo("attached");
        }
        for (Truth.Entry record : own(1).records().subList(0, 50)) {
          assertThat(reader.getAsBytes(record.key())).isEqualTo(record.value());
          assertThat(loaded.getAsBytes(record.key())).isEqualTo(record.value());
          Answered answered = new Answered();
          async.asyncGet(record.key(), "attached", answered);
          assertThat(answered.answer.get(60, TimeUnit.SECONDS)).isEqualTo(record.value());
        }
      }
    }
  }

  @Test
  void neitherASetNorADatabaseIsAShard() throws Exception {
    build(BuildOptions.defaults().withShards(SHARDS));
    Path single = directory.resolve("single");
    all.build(single, BuildOptions.defaults());
    for (Path path : List.of(directory.resolve("set"), single)) {
      try (Database database = Database.open(path)) {
        assertThat(database.isShard()).isFalse();
        for (byte[] key : foreign(1)) {
          database.requireOwn(key);
        }
      }
    }
  }
}
