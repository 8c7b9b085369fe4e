package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.RecordAddress;

/**
 * A key that comes more than once: refused with its places, or one record stays, and never an
 * endless wait.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DuplicatesTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("DuplicatesTest");

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
  }

  static List<Arguments> layouts() {
    List<Arguments> cases = new ArrayList<>();
    boolean odd = true;
    for (Layout layout : Layout.values()) {
      odd = !odd;
      for (int files : new int[] {1, 3}) {
        if (Rounds.everything() || odd == (files == 1)) {
          cases.add(Arguments.of(layout, files, 0));
        }
      }
    }
    cases.add(Arguments.of(Layout.BLOCKED, 1, 6));
    return cases;
  }

  private static BuildOptions options(Layout layout, int files, int width) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withDataFiles(files)
        .withDictionaryBytes(1024)
        .withApproximateWidth(width)
        .withChecksumBits(32)
        .withMemoryBytes(1 << 20);
  }

  /**
   * Records with a key at several places; where there are more files, some are so large that the
   * files take turns.
   */
  private List<Truth.Entry> records(int files, int count, int... places) {
    List<Truth.Entry> records = new ArrayList<>();
    byte[] large = new byte[files > 1 ? (int) RecordAddress.STRIPE : 9];
    for (int i = 0; i < count; i++) {
      byte[] value = i % (count / 4) == 50 ? large : Truth.bytes(random, 6);
      records.add(new Truth.Entry(Truth.utf8("key " + i), value));
    }
    for (int i = 0; i < places.length; i++) {
      records.set(places[i], new Truth.Entry(Truth.utf8("twice"), Truth.utf8("v" + i)));
    }
    return records;
  }

  private static BuildReport build(Path target, BuildOptions options, List<Truth.Entry> records)
      throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      for (Truth.Entry record : records) {
        builder.add(record.key(), record.value());
      }
      return builder.finish();
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void theFirstTwoPlacesAreNamed(Layout layout, int files, int width) throws Exception {
    int[][] all = {{0, 1}, {5, 899}, {0, 450, 899}, {3, 4, 5, 6}, {10, 300, 301, 600, 601, 898}};
    for (int[] places : Rounds.some(List.of(all), 3, random)) {
      List<Truth.Entry> records = records(files, 900, places);
      Path target = directory.resolve("db");
      for (boolean ordered : List.of(false, width == 0)) {
        assertThatThrownBy(
                () ->
                    build(target, options(layout, files, width).withOrderedKeys(ordered), records))
            .isInstanceOfSatisfying(
                DuplicateKeyException.class,
                e -> {
                  assertThat(e.key()).isEqualTo(Truth.utf8("twice"));
                  assertThat(List.of(e.first(), e.second()))
                      .isEqualTo(List.of((long) places[0], (long) places[1]));
                  assertThat(e)
                      .hasMessageContaining("\"twice\"")
                      .hasMessageContaining(places[0] + " and " + places[1]);
                });
      }
      assertThat(Leaks.tree(directory)).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void theFirstOrTheLastStays(Layout layout, int files, int width) throws Exception {
    int[][] all = {{0, 1}, {5, 899}, {0, 450, 899}, {10, 300, 301, 600, 601, 898}};
    for (int[] places : Rounds.some(List.of(all), 2, random)) {
      for (DuplicatePolicy policy :
          new DuplicatePolicy[] {DuplicatePolicy.FIRST, DuplicatePolicy.LAST}) {
        List<Truth.Entry> records = records(files, 900, places);
        Path target = directory.resolve(policy + "-" + places.length + "-" + places[0]);
        BuildReport report =
            build(target, options(layout, files, width).withDuplicates(policy), records);
        assertThat(report.records()).isEqualTo(900 - places.length + 1);
        assertThat(report.duplicatesDropped()).isEqualTo(places.length - 1);
        int winner = policy == DuplicatePolicy.FIRST ? 0 : places.length - 1;
        checkAll(target, records, places[winner], width);
      }
    }
  }

  /** Checks every key and a scan: of the records with the key "twice" only that number is there. */
  private static void checkAll(Path target, List<Truth.Entry> records, int winner, int width)
      throws Exception {
    byte[] twice = Truth.utf8("twice");
    List<Truth.Entry> kept = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (i == winner || !java.util.Arrays.equals(records.get(i).key(), twice)) {
        kept.add(records.get(i));
      }
    }
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(kept.size());
    try (Database database = Database.open(target)) {
      for (Truth.Entry record : kept) {
        byte[] value = record.value();
        byte[] expected =
            width == 0 ? value : java.util.Arrays.copyOf(value, Math.min(width, value.length));
        Truth.same(database.get(record.key()), expected, "value");
      }
      if (width == 0) {
        try (Database.RecordCursor cursor = database.scan()) {
          for (Truth.Entry record : Truth.inScanOrder(kept, database)) {
            assertThat(cursor.next()).isTrue();
            Truth.same(cursor.key(), record.key(), "key");
            Truth.same(cursor.value(), record.value(), "value");
          }
          assertThat(cursor.next()).isFalse();
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void oneKeyAThousandTimes(Layout layout, int files, int width) throws Exception {
    int[] places = random.ints(0, 3000).distinct().limit(1000).sorted().toArray();
    List<Truth.Entry> records = records(files, 3000, places);
    Path refused = directory.resolve("refused");
    assertThatThrownBy(() -> build(refused, options(layout, files, width), records))
        .isInstanceOfSatisfying(
            DuplicateKeyException.class,
            e -> {
              assertThat(e.first()).isEqualTo(places[0]);
              assertThat(e.second()).isEqualTo(places[1]);
            });
    assertThat(refused).doesNotExist();
    for (DuplicatePolicy policy :
        new DuplicatePolicy[] {DuplicatePolicy.FIRST, DuplicatePolicy.LAST}) {
      Path target = directory.resolve(policy.name());
      BuildReport report =
          build(target, options(layout, files, width).withDuplicates(policy), records);
      assertThat(report.duplicatesDropped()).isEqualTo(999);
      checkAll(target, records, policy == DuplicatePolicy.FIRST ? places[0] : places[999], width);
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void everyKeyTwice(Layout layout, int files, int width) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < 4000; i++) {
      records.add(new Truth.Entry(Truth.utf8("key " + i % 2000), Truth.utf8("v" + i)));
    }
    for (DuplicatePolicy policy :
        new DuplicatePolicy[] {DuplicatePolicy.FIRST, DuplicatePolicy.LAST}) {
      Path target = directory.resolve(policy.name());
      BuildReport report =
          build(target, options(layout, files, width).withDuplicates(policy), records);
      assertThat(report.records()).isEqualTo(2000);
      assertThat(report.duplicatesDropped()).isEqualTo(2000);
      Database.verify(target, (done, total) -> {});
      try (Database database = Database.open(target)) {
        for (int i = 0; i < 2000; i++) {
          int kept = policy == DuplicatePolicy.FIRST ? i : 2000 + i;
          assertThat(database.get(Truth.utf8("key " + i))).isEqualTo(Truth.utf8("v" + kept));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void nothingButOneKey(Layout layout, int files, int width) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < 50_000; i++) {
      records.add(new Truth.Entry(new byte[0], Truth.utf8("v" + i)));
    }
    for (DuplicatePolicy policy :
        new DuplicatePolicy[] {DuplicatePolicy.FIRST, DuplicatePolicy.LAST}) {
      Path target = directory.resolve(policy.name());
      BuildReport report =
          build(target, options(layout, files, width).withDuplicates(policy), records);
      assertThat(report.records()).isOne();
      Database.verify(target, (done, total) -> {});
      try (Database database = Database.open(target)) {
        assertThat(database.get(new byte[0]))
            .isEqualTo(Truth.utf8(policy == DuplicatePolicy.FIRST ? "v0" : "v49999"));
      }
    }
  }
}
