package tech.bsdb.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** The documented reader with all settings of its constructor. */
class SyncReaderTest {
  @TempDir Path directory;

  private final Truth truth = Truth.random(Seeds.random("SyncReaderTest"), 3000, 100);

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private static boolean bit(int bits, int which) {
    return (bits >>> which & 1) != 0;
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource
  void everySettingGivesTheSameAnswers(Layout layout) throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout));
    for (int bits = 0; bits < 8; bits++) {
      try (SyncReader reader =
          new SyncReader(target.toFile(), bit(bits, 0), false, bit(bits, 1), bit(bits, 2))) {
        for (Truth.Entry record : truth.records()) {
          Truth.same(reader.getAsBytes(record.key()), record.value(), "value");
        }
        assertThat(reader.getAsBytes(Truth.utf8("this key has more bytes than any of those")))
            .isNull();
      }
    }
  }

  @Test
  void approximateDatabasesAreReadByTheirMode() throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withApproximateWidth(100).withChecksumBits(32));
    for (int bits = 0; bits < 8; bits++) {
      try (SyncReader reader =
          new SyncReader(target.toFile(), bit(bits, 0), true, bit(bits, 1), bit(bits, 2))) {
        for (Truth.Entry record : truth.records()) {
          Truth.same(reader.getAsBytes(record.key()), record.value(), "value");
        }
        assertThat(reader.getAsBytes(Truth.utf8("this key has more bytes than any of those")))
            .isNull();
      }
      boolean load = bit(bits, 0);
      assertThatThrownBy(() -> new SyncReader(target.toFile(), load, false, true, true))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(target.toString())
          .hasMessageContaining("approximate");
    }
  }

  @Test
  void anExactDatabaseIsNotReadAsAnApproximateOne() throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults());
    assertThatThrownBy(() -> new SyncReader(target.toFile(), true, true, false, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("approximate");
  }

  @Test
  void aMissingDatabaseIsNamed() {
    Path target = directory.resolve("nothing");
    assertThatThrownBy(() -> new SyncReader(target.toFile(), false, false, true, true))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(target.toString());
  }

  @Test
  void aClosedReaderSaysSo() throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults());
    SyncReader reader = new SyncReader(target.toFile(), true, false, false, false);
    reader.close();
    reader.close();
    assertThatThrownBy(() -> reader.getAsBytes(new byte[1]))
        .isInstanceOf(IllegalStateException.class);
  }
}
