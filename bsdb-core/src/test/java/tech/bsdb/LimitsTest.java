package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys and values of every length at which their form changes, in every layout. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LimitsTest {
  private static final int[] KEYS = {
    1, 2, 127, 128, 254, 255, 256, 257, 32_767, 32_768, 65_534, 65_535
  };
  private static final int[] VALUES = {
    0, 1, 127, 128, 255, 256, 4093, 32_509, 32_510, 32_511, 32_512, 32_767, 32_768, 65_534, 65_535,
    65_536, 1 << 20
  };

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("LimitsTest");

  /**
   * Every length of a key with every length of a value; keys of one length differ in their last
   * byte.
   */
  private Truth truth() {
    Truth truth = new Truth();
    for (int keyLength : KEYS) {
      byte[] key = Truth.bytes(random, keyLength);
      for (int i = 0; i < VALUES.length; i++) {
        byte[] own = key.clone();
        own[keyLength - 1] = (byte) (i + (keyLength == 1 ? 100 : 0));
        truth.add(own, Truth.bytes(random, VALUES[i]));
        byte[] absent = own.clone();
        absent[keyLength - 1] = (byte) (i - 60);
        truth
            .absent(absent)
            .absent(Arrays.copyOf(own, keyLength + 1))
            .absent(Arrays.copyOf(own, keyLength - 1));
      }
    }
    return truth.absent(new byte[65_536]).absent(new byte[1 << 20]);
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource
  void everyLengthOfKeyWithEveryLengthOfValue(Layout layout) throws Exception {
    Truth truth = truth();
    Path target = directory.resolve("db");
    BuildReport report =
        truth.build(
            target,
            BuildOptions.defaults().withLayout(layout).withDataFiles(2).withDictionaryBytes(512));
    truth.check(target);
    assertThat(report.records()).isEqualTo(KEYS.length * VALUES.length);
    Statistics statistics = Database.statistics(target);
    assertThat(statistics.longestKey()).isEqualTo(65_535);
    assertThat(statistics.longestValue()).isEqualTo(1 << 20);
  }

  @ParameterizedTest
  @EnumSource
  void theEmptyKeyWithEveryLengthOfValue(Layout layout) throws Exception {
    List<Integer> lengths = List.of(0, 1, 255, 256, 4093, 32_510, 32_511, 65_535, 1 << 20);
    for (int length : Rounds.some(lengths, 4, random)) {
      Truth truth = new Truth();
      for (int i = 0; i < 20; i++) {
        truth.add("before " + i, "x");
      }
      truth.add(new byte[0], Truth.bytes(random, length));
      for (int i = 0; i < 20; i++) {
        truth.add("behind " + i, "y");
      }
      Path target = directory.resolve("db-" + length);
      truth.absent(new byte[1]).build(target, BuildOptions.defaults().withLayout(layout));
      truth.check(target);
      Path alone = directory.resolve("alone-" + length);
      Truth one = new Truth().add(new byte[0], Truth.bytes(random, length)).absent(new byte[1]);
      one.build(alone, BuildOptions.defaults().withLayout(layout));
      one.check(alone);
    }
  }

  @Test
  void aRowThatAnApproximateDatabaseWouldCutIsRefusedAndTheBuildGoesOn() throws Exception {
    Path target = directory.resolve("db");
    BuildOptions options =
        BuildOptions.defaults().withApproximateWidth(3).withValueSchema("{\"type\":\"bytes\"}");
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      assertThatThrownBy(() -> builder.add(Truth.utf8("long"), new byte[4]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the row of the key \"long\" has 4 bytes, but approximateWidth cuts it to 3");
      assertThatThrownBy(() -> builder.add(new RecordBatch()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("rows of at most 3 bytes");
      builder.add(Truth.utf8("k"), new byte[] {4, 1, 2});
      assertThat(builder.finish().valuesCut()).isZero();
    }
    try (Database database = Database.open(target)) {
      assertThat(database.get(Truth.utf8("k"))).containsExactly(4, 1, 2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 127, 128, 254, 255})
  void anApproximateDatabaseKeepsWhatFitsItsWidth(int width) throws Exception {
    Truth truth = truth().add(new byte[0], Truth.bytes(random, 3));
    Path target = directory.resolve("db");
    BuildReport report =
        truth.build(
            target, BuildOptions.defaults().withApproximateWidth(width).withChecksumBits(32));
    assertThat(Database.verify(target, (done, total) -> {}).keysChecked()).isFalse();
    for (OpenOptions.Engine engine : Offered.some(random)) {
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        for (Truth.Entry record : truth.records()) {
          byte[] value = record.value();
          Truth.same(
              database.get(record.key()),
              Arrays.copyOf(value, Math.min(width, value.length)),
              "value");
        }
      }
    }
    long cut = truth.records().stream().filter(record -> record.value().length > width).count();
    assertThat(report.valuesCut()).isEqualTo(cut);
    assertThat(Leaks.tree(target)).hasSize(3);
  }
}
