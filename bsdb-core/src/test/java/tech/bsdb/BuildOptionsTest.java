package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.format.Layout;

/** Options: every range at its ends, and each change changes one thing. */
class BuildOptionsTest {
  private static final BuildOptions DEFAULTS = BuildOptions.defaults();

  private static Arguments range(
      String name, long least, long most, LongFunction<BuildOptions> with) {
    return Arguments.of(name, least, most, with);
  }

  static List<Arguments> ranges() {
    return List.of(
        range("checksumBits", 0, 32, value -> DEFAULTS.withChecksumBits((int) value)),
        range("approximateWidth", 0, 255, value -> DEFAULTS.withApproximateWidth((int) value)),
        range("blockSize", 512, 1 << 20, value -> DEFAULTS.withBlockSize((int) value)),
        range("compressionLevel", 1, 22, value -> DEFAULTS.withCompressionLevel((int) value)),
        range("dictionaryBytes", 0, 1 << 20, value -> DEFAULTS.withDictionaryBytes((int) value)),
        range("sampleRecords", 0, 1_000_000, value -> DEFAULTS.withSampleRecords((int) value)),
        range("dataFiles", 1, 128, value -> DEFAULTS.withDataFiles((int) value)),
        range("memoryBytes", 1 << 20, Long.MAX_VALUE, DEFAULTS::withMemoryBytes),
        range("threads", 1, 256, value -> DEFAULTS.withThreads((int) value)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ranges")
  void rangesEndWhereTheyAreSaidTo(
      String name, long least, long most, LongFunction<BuildOptions> with) {
    assertThat(with.apply(least)).hasFieldOrPropertyWithValue(name, value(name, least));
    assertThat(with.apply(most)).hasFieldOrPropertyWithValue(name, value(name, most));
    for (long wrong :
        new long[] {least - 1, Integer.MIN_VALUE, most == Long.MAX_VALUE ? -1 : most + 1}) {
      assertThatThrownBy(() -> with.apply(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(name)
          .hasMessageContaining(String.valueOf(wrong))
          .hasMessageContaining(String.valueOf(least))
          .hasMessageContaining(String.valueOf(most));
    }
  }

  private static Object value(String name, long value) {
    return name.equals("memoryBytes") ? (Object) value : (Object) (int) value;
  }

  @Test
  void eachChangeChangesOneThing() {
    BuildOptions changed =
        DEFAULTS
            .withLayout(Layout.COMPACT)
            .withChecksumBits(7)
            .withApproximateWidth(9)
            .withBlockSize(777)
            .withCompressionLevel(3)
            .withDictionaryBytes(555)
            .withSampleRecords(44)
            .withDataFiles(5)
            .withMemoryBytes(1L << 33)
            .withThreads(6)
            .withDuplicates(DuplicatePolicy.LAST)
            .withOverwrite(true)
            .withTemporaryDirectory(Path.of("temp"))
            .withValueSchema("{}")
            .withSeed(-8);
    assertThat(changed)
        .isEqualTo(
            new BuildOptions(
                Layout.COMPACT,
                7,
                9,
                777,
                3,
                555,
                44,
                5,
                1L << 33,
                6,
                DuplicatePolicy.LAST,
                true,
                Path.of("temp"),
                "{}",
                -8));
    assertThat(changed.withTemporaryDirectory(null).temporaryDirectory()).isNull();
    assertThat(changed.withValueSchema(null).valueSchema()).isNull();
  }

  @Test
  void aSchemaOfValuesIsOneLineThatFits() {
    String longest = "x".repeat(BuildOptions.MAX_VALUE_SCHEMA);
    assertThat(DEFAULTS.withValueSchema(longest).valueSchema()).isEqualTo(longest);
    for (String wrong : new String[] {"", longest + "x", "{\n}", "{\r}", "{\0}"}) {
      assertThatThrownBy(() -> DEFAULTS.withValueSchema(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("valueSchema");
    }
  }

  @Test
  void theLayoutOfApproximateDatabasesIsNotAskedFor() {
    assertThatThrownBy(() -> DEFAULTS.withLayout(Layout.NONE))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
