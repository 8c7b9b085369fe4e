package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.DuplicateKeyException;

/** Databases whose records are stored in the order of their keys. */
class KeyOrderTest {
  /** The order in which records are added. */
  enum Added {
    RANDOM,
    ASCENDING,
    DESCENDING,
    /** Ascending parts, each of all keys, one after the other. */
    IN_PARTS,
    /** First many from a narrow range, then all others. */
    NARROW_FIRST
  }

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("KeyOrderTest");

  private static BuildOptions ordered(Layout layout) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withOrderedKeys(true)
        .withDictionaryBytes(0)
        .withMemoryBytes(1 << 20);
  }

  private Path build(BuildOptions options, List<Truth.Entry> records) throws Exception {
    Path target = directory.resolve("db");
    Path temporary = directory.resolve("temporary");
    Files.createDirectories(temporary);
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options.withTemporaryDirectory(temporary))) {
      for (Truth.Entry record : records) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
    assertThat(Leaks.tree(temporary)).isEmpty();
    return target;
  }

  /** Of many more records than the least memory holds, with lengths that need every case. */
  private List<Truth.Entry> records(Added added) {
    List<Truth.Entry> records = new ArrayList<>();
    Set<String> keys = new HashSet<>();
    while (keys.size() < 30_000) {
      keys.add("user:" + random.nextInt(1 << 20) + (random.nextInt(9) == 0 ? ":mail" : ""));
    }
    int number = 0;
    for (String key : keys.stream().sorted().toList()) {
      int length = ++number % 3000 == 7 ? 15_000 + random.nextInt(9000) : random.nextInt(60);
      records.add(new Truth.Entry(Truth.utf8(key), Truth.bytes(random, length)));
    }
    switch (added) {
      case ASCENDING -> {}
      case RANDOM -> Collections.shuffle(records, new Random(random.nextLong()));
      case DESCENDING -> Collections.reverse(records);
      case IN_PARTS -> {
        List<Truth.Entry> parts = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
          for (int at = i; at < records.size(); at += 7) {
            parts.add(records.get(at));
          }
        }
        return parts;
      }
      case NARROW_FIRST -> {
        Collections.shuffle(records.subList(0, 10_000), new Random(random.nextLong()));
        Collections.shuffle(records.subList(10_000, 30_000), new Random(random.nextLong()));
      }
    }
    return records;
  }

  @ParameterizedTest
  @EnumSource
  void recordsAreStoredInOrder(Added added) throws Exception {
    List<Truth.Entry> records = records(added);
    Truth truth = new Truth();
    records.forEach(record -> truth.add(record.key(), record.value()));
    Path target = build(ordered(Layout.BLOCKED), records);
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(records.size());
    try (Database database = Database.open(target)) {
      truth.checkScan(database);
      truth.checkOrder(database);
      truth.checkGets(database);
    }
  }

  @Sampled(4)
  @ParameterizedTest
  @CsvSource({
    "COMPACT, 1, 1",
    "COMPRESSED, 1, 1",
    "BLOCKED, 3, 1",
    "COMPACT, 3, 1",
    "COMPRESSED, 2, 1",
    "BLOCKED, 2, 3"
  })
  void inEveryLayout(Layout layout, int dataFiles, int shards) throws Exception {
    List<Truth.Entry> records = records(Added.RANDOM);
    Truth truth = new Truth();
    records.forEach(record -> truth.add(record.key(), record.value()));
    Path target = build(ordered(layout).withDataFiles(dataFiles).withShards(shards), records);
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(records.size());
    try (Database database = Database.open(target)) {
      if (shards == 1) {
        truth.checkScan(database);
      }
      truth.checkOrder(database);
      truth.checkGets(database);
    }
  }

  /** So many records with the same key that they exceed the memory. */
  @ParameterizedTest
  @CsvSource({"BLOCKED, FIRST", "BLOCKED, LAST", "COMPRESSED, LAST"})
  void oneKeyManyTimes(Layout layout, DuplicatePolicy duplicates) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < 60_000; i++) {
      byte[] key = Truth.utf8(i % 20 == 3 ? "key " + i : "the same key");
      records.add(new Truth.Entry(key, Truth.utf8("value " + i)));
    }
    Path target = build(ordered(layout).withDuplicates(duplicates), records);
    Truth truth = new Truth();
    for (int i = 3; i < 60_000; i += 20) {
      truth.add(records.get(i).key(), records.get(i).value());
    }
    int kept = duplicates == DuplicatePolicy.FIRST ? 0 : 59_999;
    truth.add(records.get(kept).key(), records.get(kept).value());
    Database.verify(target, (done, total) -> {});
    try (Database database = Database.open(target)) {
      assertThat(database.statistics().records()).isEqualTo(3001);
      truth.checkOrder(database);
      truth.checkGets(database);
    }
  }

  /** Its records are told by the numbers that they were added with, wherever they are stored. */
  @ParameterizedTest
  @EnumSource
  void aKeyThatIsThereTwiceIsNamed(Added added) throws Exception {
    List<Truth.Entry> records = records(added);
    int first = random.nextInt(records.size());
    records.add(records.get(first));
    for (int shards : new int[] {1, 3}) {
      requireDuplicate(ordered(Layout.BLOCKED).withShards(shards), records, first, 30_000);
    }
    requireDuplicate(ordered(Layout.COMPRESSED).withMemoryBytes(1 << 30), records, first, 30_000);
  }

  @Test
  void ofOneKeyManyTimesTheFirstTwoAreNamed() throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < 60_000; i++) {
      byte[] key = Truth.utf8(i % 20 < 18 ? "key " + i : "the same key");
      records.add(new Truth.Entry(key, Truth.bytes(random, 300)));
    }
    requireDuplicate(ordered(Layout.BLOCKED), records, 18, 19);
    Collections.reverse(records);
    requireDuplicate(ordered(Layout.BLOCKED), records, 0, 1);
  }

  /** However the build is broken off, no thread waits for a task that will never begin. */
  @Sampled(3)
  @ParameterizedTest
  @CsvSource({"2, true", "3, true", "8, true", "2, false", "8, false"})
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aBuildThatIsBrokenOffEnds(int threads, boolean interrupted) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    byte[] value = Truth.bytes(random, 30);
    for (int i = 0; i < 20_000; i++) {
      records.add(new Truth.Entry(Truth.bytes(random, 12), value));
    }
    BuildOptions options = ordered(Layout.BLOCKED).withThreads(threads);
    int broken = 0;
    for (int round = 0; round < Rounds.of(10); round++) {
      int last = round == 0 ? 1 : 1 + random.nextInt(25);
      int[] reports = {0};
      BuildListener breaking =
          (stage, done, total) -> {
            if (stage == BuildListener.Stage.ORDER && ++reports[0] == last) {
              if (!interrupted) {
                throw new IllegalStateException("broken off");
              }
              Thread.currentThread().interrupt();
            }
          };
      Path target = directory.resolve("db" + round);
      try (DatabaseBuilder builder = DatabaseBuilder.create(target, options, breaking)) {
        for (Truth.Entry record : records) {
          builder.add(record.key(), record.value());
        }
        builder.finish();
      } catch (IllegalStateException | IOException e) {
        broken++;
        assertThat(target).doesNotExist();
      }
      assertThat(Thread.interrupted()).isEqualTo(interrupted && reports[0] >= last);
    }
    assertThat(broken).isPositive();
    Leaks.assertNone(directory);
  }

  private void requireDuplicate(
      BuildOptions options, List<Truth.Entry> records, long first, long second) throws Exception {
    assertThatThrownBy(() -> build(options, records))
        .isInstanceOfSatisfying(
            DuplicateKeyException.class,
            e -> {
              assertThat(e.key()).isEqualTo(records.get((int) first).key());
              assertThat(List.of(e.first(), e.second())).isEqualTo(List.of(first, second));
            });
    assertThat(Leaks.tree(directory)).containsOnly("temporary");
  }
}
