package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.ShardSet;

/**
 * Sets whose manifests say something else, with every checksum right: written by another program,
 * or by an enemy. They give right answers, or are refused with an error for users.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForgedSetTest {
  private static final int SHARDS = 3;

  private static final List<String> VALUES =
      List.of(
          "",
          "x",
          "-1",
          "0",
          "1",
          "2",
          "3",
          "4",
          "16384",
          "16385",
          "2147483648",
          "9223372036854775807",
          "99999999999999999999",
          "blocked",
          "sharded",
          "none",
          "crc16-slots");

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ForgedSetTest");
  private final Truth truth = Truth.random(random, 200, 30);
  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private static BuildOptions options(Layout layout) {
    return BuildOptions.defaults()
        .withShards(SHARDS)
        .withLayout(layout)
        .withDictionaryBytes(500)
        .withThreads(2);
  }

  private Path build(BuildOptions options) throws IOException {
    Path target = directory.resolve("set" + made++);
    truth.build(target, options);
    return target;
  }

  private Path empty() throws IOException {
    return Files.createDirectory(directory.resolve("forged" + made++));
  }

  private static void isRefused(Path set, Class<? extends Exception> error, String... says) {
    List<ThrowingCallable> uses =
        List.of(
            () -> Database.open(set),
            () -> Database.verify(set, (done, total) -> {}),
            () -> Database.statistics(set));
    for (ThrowingCallable use : uses) {
      assertThatThrownBy(use).isInstanceOf(error).hasMessageContainingAll(says);
    }
  }

  /** All keys are answered right, or the set is refused with its path in the message. */
  private void isRightOrRefused(Path set, String what) {
    boolean opened = false;
    try (Database database = Database.open(set)) {
      opened = true;
      truth.checkGets(database);
      truth.checkBatches(database);
      Database.verify(set, (done, total) -> {});
    } catch (CorruptDatabaseException
        | UnsupportedFormatException
        | NoSuchFileException
        | NotDirectoryException e) {
      assertThat(opened).as("%s: opened, but %s", what, e).isFalse();
      assertThat(e).as(what).hasMessageContaining(set.toString());
    } catch (IOException | RuntimeException e) {
      throw new AssertionError(what + ": " + e, e);
    }
  }

  @Test
  void everyLineOfTheManifestAltered() throws Exception {
    Path set = build(options(Layout.BLOCKED));
    List<String> lines = Forgery.lines(set);
    assertThat(lines).hasSize(5 + SHARDS);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      List<String> fewer = new ArrayList<>(lines);
      fewer.remove(i);
      forged(set, fewer, "without " + line);
      List<String> twice = new ArrayList<>(lines);
      twice.add(line);
      forged(set, twice, "twice " + line);
      twice.remove(twice.size() - 1);
      twice.add(i, line);
      forged(set, twice, "twice in a row " + line);
      String[] parts = line.split("=", 2);
      String[] words = parts[1].split(" ");
      for (String value : VALUES) {
        for (int word = 0; word < words.length; word++) {
          String[] changed = words.clone();
          changed[word] = value;
          List<String> other = new ArrayList<>(lines);
          other.set(i, parts[0] + "=" + String.join(" ", changed));
          forged(set, other, other.get(i));
        }
      }
    }
    forged(set, List.of(), "nothing");
    List<String> swapped = new ArrayList<>(lines);
    swapped.set(5, lines.get(6));
    swapped.set(6, lines.get(5));
    forged(set, swapped, "shards in another order");
    List<String> bothTheSame = new ArrayList<>(lines);
    bothTheSame.set(6, lines.get(5).replace("shard=0", "shard=1"));
    forged(set, bothTheSame, "one shard in two places");
  }

  private void forged(Path set, List<String> lines, String what) throws IOException {
    Forgery.manifest(set, lines);
    isRightOrRefused(set, what);
  }

  @ParameterizedTest
  @CsvSource({
    "records, 201, 201 records",
    "shard.count, 4, 4 shards",
    "shard.count, 2, 2 shards",
    "shard.count, 16385, 16385",
    "shard.hash, none, none",
    "shard.hash, md5, md5",
    "format, 2, format 2",
    "layout, some-other, some-other"
  })
  void whatIsWrongInTheManifestIsSaid(String name, String value, String says) throws Exception {
    Path set = build(options(Layout.PACKED));
    Forgery.manifest(set, Forgery.with(Forgery.lines(set), name, value));
    assertThatThrownBy(() -> Database.open(set))
        .isInstanceOfAny(CorruptDatabaseException.class, UnsupportedFormatException.class)
        .hasMessageContaining(set.resolve("manifest.bsdb").toString())
        .hasMessageContaining(says);
  }

  /** Shards whose own manifests contradict that of the set, which lists their new ids. */
  @ParameterizedTest
  @CsvSource({
    "shard.number, 1, shard 1 of 3",
    "shard.number, 2, shard 2 of 3",
    "shard.number, 3, shard.number=3",
    "shard.count, 2, shard 0 of 2",
    "shard.count, 4, shard 0 of 4",
    "shard.count, 1, of 1",
    "shard.hash, other, keys routed to shards by other",
    "layout, sharded, a set of shards"
  })
  void aShardThatSaysSomethingElse(String name, String value, String says) throws Exception {
    Path set = build(options(Layout.BLOCKED));
    ShardSet.Shard first = Forgery.set(set).shards().get(0);
    List<ShardSet.Shard> shards = new ArrayList<>(Forgery.set(set).shards());
    Path original = Forgery.shards(set).get(0);
    List<String> lines = Forgery.with(Forgery.lines(original), name, value);
    shards.set(0, Forgery.shard(original, lines, set, 0, first.records()));
    Forgery.set(set, shards);
    Path manifest = Forgery.shards(set).get(0).resolve("manifest.bsdb");
    isRefused(set, IOException.class, manifest.toString(), says);
  }

  @Test
  void aShardWithAnotherNumberOfRecords() throws Exception {
    Path set = build(options(Layout.BLOCKED));
    List<ShardSet.Shard> shards = new ArrayList<>(Forgery.set(set).shards());
    ShardSet.Shard second = shards.get(1);
    shards.set(1, new ShardSet.Shard(1, second.id(), second.records() + 1));
    Forgery.set(set, shards);
    Path manifest = set.resolve(second.directoryName()).resolve("manifest.bsdb");
    isRefused(
        set,
        CorruptDatabaseException.class,
        manifest.toString(),
        second.records() + 1 + " records, as the manifest of the set says",
        second.records() + " records");
  }

  /** One shard of each of several sets of the same records: their kinds do not go together. */
  @Test
  void shardsOfDifferentKindsAreRefused() throws Exception {
    Path blocked = build(options(Layout.BLOCKED));
    String schema = "{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}";
    for (BuildOptions other :
        List.of(
            options(Layout.COMPACT),
            options(Layout.COMPRESSED),
            options(Layout.PACKED),
            options(Layout.BLOCKED).withOrderedKeys(true),
            options(Layout.BLOCKED).withValueSchema(schema),
            options(Layout.BLOCKED).withApproximateWidth(30))) {
      Path mixed = mixed(List.of(blocked, build(other), blocked));
      Path manifest = Forgery.shards(mixed).get(1).resolve("manifest.bsdb");
      isRefused(
          mixed,
          CorruptDatabaseException.class,
          manifest.toString(),
          "layout blocked, index width 0, not ordered, values without schema, as in shard 0");
    }
    Path narrow = build(options(Layout.BLOCKED).withApproximateWidth(30));
    Path wide = build(options(Layout.BLOCKED).withApproximateWidth(31));
    isRefused(mixed(List.of(narrow, narrow, wide)), CorruptDatabaseException.class, "width 31");
  }

  @Test
  void shardsWithOtherElementsOfValuesAreRefused() throws Exception {
    Truth vectors = new Truth();
    for (int i = 0; i < 100; i++) {
      vectors.add(Truth.utf8("key " + i), new byte[8]);
    }
    List<Path> sets = new ArrayList<>();
    for (ValueElements.Type type :
        new ValueElements.Type[] {ValueElements.Type.F32, ValueElements.Type.I32}) {
      sets.add(directory.resolve(type.name()));
      vectors.build(
          sets.get(sets.size() - 1),
          options(Layout.PACKED).withValueElements(new ValueElements(type, 2)));
    }
    isRefused(
        mixed(List.of(sets.get(0), sets.get(1), sets.get(0))),
        CorruptDatabaseException.class,
        "of f32 2, as in shard 0",
        "of i32 2");
  }

  /** A set with the first shard of the first set, the second of the second, and so on. */
  private Path mixed(List<Path> sets) throws IOException {
    Path mixed = empty();
    List<ShardSet.Shard> shards = new ArrayList<>();
    for (int i = 0; i < sets.size(); i++) {
      ShardSet.Shard shard = Forgery.set(sets.get(i)).shards().get(i);
      Forgery.copyTree(Forgery.shards(sets.get(i)).get(i), mixed.resolve(shard.directoryName()));
      shards.add(shard);
    }
    Forgery.set(mixed, shards);
    return mixed;
  }

  /** Everything else may differ from shard to shard, and one lookup must not rely on it. */
  @Sampled(2)
  @ParameterizedTest
  @EnumSource
  void shardsMayDifferInOtherFacts(Layout layout) throws Exception {
    boolean packed = layout == Layout.PACKED || layout == Layout.PACKED_COMPRESSED;
    BuildOptions plain = options(layout).withHash(HashAlgorithm.GOV);
    BuildOptions another =
        options(layout).withSeed(99).withDataFiles(3).withBlockSize(700).withSampleRecords(0);
    another = packed ? another.withFilterBits(5) : another.withChecksumBits(31);
    Path first = build(plain);
    Path second = build(another);
    Path third = build(options(layout).withSeed(5).withBlockSize(5000));
    for (List<Path> sets : List.of(List.of(first, second, third), List.of(second, first, first))) {
      Path mixed = mixed(sets);
      assertThat(Database.verify(mixed, (done, total) -> {}).records()).isEqualTo(200);
      for (OpenOptions.Engine engine : Offered.engines()) {
        truth.checkEveryWay(mixed, engine);
      }
    }
  }

  /** Lookups of such a key ask another shard, so only a scan of all records finds it. */
  @ParameterizedTest
  @EnumSource
  void verifyFindsAKeyInTheWrongShard(Layout layout) throws Exception {
    Path set = empty();
    List<ShardSet.Shard> shards = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      Truth own = new Truth();
      for (Truth.Entry record : truth.records()) {
        if (KeySlots.shard(record.key(), SHARDS) == i) {
          own.add(record.key(), record.value());
        }
      }
      if (i == 1) {
        Truth.Entry misplaced =
            truth.records().stream()
                .filter(record -> KeySlots.shard(record.key(), SHARDS) == 2)
                .findFirst()
                .orElseThrow();
        own.add(misplaced.key(), misplaced.value());
      }
      Path alone = directory.resolve("alone" + i);
      own.build(alone, options(layout).withShards(1));
      List<String> lines = Forgery.asShard(Forgery.lines(alone), i, SHARDS);
      shards.add(Forgery.shard(alone, lines, set, i, own.records().size()));
    }
    Forgery.set(set, shards);
    Path wrong = Forgery.shards(set).get(1);
    for (Path path : List.of(set, wrong)) {
      assertThatThrownBy(() -> Database.verify(path, (done, total) -> {}))
          .isInstanceOfSatisfying(
              CorruptDatabaseException.class,
              e -> assertThat(e.file().toString()).startsWith(wrong + "/data-000-"))
          .hasMessageContaining("keys of shard 1 of 3")
          .hasMessageContaining("a key of shard 2");
    }
    for (int i : new int[] {0, 2}) {
      Database.verify(Forgery.shards(set).get(i), (done, total) -> {});
    }
    try (Database database = Database.open(set)) {
      truth.checkGets(database);
    }
  }

  /** A set in the place of a shard is not opened into. */
  @Test
  void aSetIsNoShard() throws Exception {
    Path set = build(options(Layout.BLOCKED));
    List<ShardSet.Shard> shards = new ArrayList<>(Forgery.set(set).shards());
    Path inner = build(options(Layout.COMPACT));
    DatabaseId id = Forgery.manifest(inner, Forgery.lines(inner));
    ShardSet.Shard shard = new ShardSet.Shard(0, id, shards.get(0).records());
    shards.set(0, shard);
    Files.move(inner, set.resolve(shard.directoryName()));
    Forgery.set(set, shards);
    isRefused(
        set,
        CorruptDatabaseException.class,
        set.resolve(shard.directoryName()).resolve("manifest.bsdb").toString(),
        "a set of shards");
  }
}
