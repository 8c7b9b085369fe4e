package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Options: every range at its ends, and each change changes one thing. */
class BuildOptionsTest {
  private static final BuildOptions DEFAULTS = BuildOptions.defaults();

  private static final PrivateKey KEY = key();

  private static PrivateKey key() {
    try {
      return KeyPairGenerator.getInstance("Ed25519").generateKeyPair().getPrivate();
    } catch (GeneralSecurityException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  private static final ValueElements VECTOR = new ValueElements(ValueElements.Type.F16, 3);

  @TempDir Path directory;

  private static Arguments range(
      String name, long least, long most, LongFunction<BuildOptions> with) {
    return Arguments.of(name, least, most, with);
  }

  static List<Arguments> ranges() {
    return List.of(
        range("checksumBits", 0, 32, value -> DEFAULTS.withChecksumBits((int) value)),
        range("filterBits", 0, 16, value -> DEFAULTS.withFilterBits((int) value)),
        range("approximateWidth", 0, 255, value -> DEFAULTS.withApproximateWidth((int) value)),
        range("blockSize", 512, 1 << 20, value -> DEFAULTS.withBlockSize((int) value)),
        range("compressionLevel", 1, 22, value -> DEFAULTS.withCompressionLevel((int) value)),
        range("dictionaryBytes", 0, 1 << 20, value -> DEFAULTS.withDictionaryBytes((int) value)),
        range("sampleRecords", 0, 1_000_000, value -> DEFAULTS.withSampleRecords((int) value)),
        range("dataFiles", 1, 128, value -> DEFAULTS.withDataFiles((int) value)),
        range("shards", 1, 16_384, value -> DEFAULTS.withShards((int) value)),
        range("memoryBytes", 1 << 20, Long.MAX_VALUE, DEFAULTS::withMemoryBytes),
        range("threads", 1, 256, value -> DEFAULTS.withThreads((int) value)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ranges")
  void rangesEndWhereTheyAreSaidTo(
      String name, long least, long most, LongFunction<BuildOptions> with) {
    assertThat(value(with.apply(least), name)).isEqualTo(least);
    assertThat(value(with.apply(most), name)).isEqualTo(most);
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

  private static long value(BuildOptions options, String name) {
    try {
      return ((Number) BuildOptions.class.getMethod(name).invoke(options)).longValue();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @Test
  void theLayoutFollowsFromTheOtherOptionsUnlessItIsChosen() throws Exception {
    List<BuildOptions> packed =
        List.of(
            DEFAULTS,
            DEFAULTS.withFilterBits(8).withDataFiles(2).withShards(3),
            DEFAULTS.withHash(HashAlgorithm.PTR).withChecksumBits(4),
            DEFAULTS
                .withOrderedKeys(true)
                .withChecksumBits(9)
                .withOrderedKeys(false)
                .withChecksumBits(4));
    List<BuildOptions> blocked =
        List.of(
            DEFAULTS.withOrderedKeys(true),
            DEFAULTS.withHash(HashAlgorithm.GOV),
            DEFAULTS.withChecksumBits(0));
    int number = 0;
    for (List<BuildOptions> all : List.of(packed, blocked)) {
      Layout usual = all == packed ? Layout.PACKED : Layout.BLOCKED;
      for (BuildOptions options : all) {
        assertThat(options.layout()).as("%s", options).isEqualTo(usual);
        Path target = directory.resolve("db" + number++);
        new Truth().add("key", "value").build(target, options);
        assertThat(Database.statistics(target).layout()).isEqualTo(usual.id());
        for (Layout chosen : Layout.values()) {
          assertThat(options.withLayout(chosen).layout()).isEqualTo(chosen);
        }
      }
    }
    BuildOptions chosen = DEFAULTS.withLayout(Layout.PACKED);
    assertThat(chosen.withOrderedKeys(true).layout()).isEqualTo(Layout.PACKED);
    assertThat(chosen).isNotEqualTo(DEFAULTS);
    assertThat(DEFAULTS.withApproximateWidth(8).layout()).isEqualTo(Layout.BLOCKED);
  }

  @Test
  void eachChangeChangesOneThing() {
    BuildOptions changed =
        DEFAULTS
            .withLayout(Layout.COMPACT)
            .withHash(HashAlgorithm.GOV)
            .withChecksumBits(7)
            .withFilterBits(10)
            .withApproximateWidth(9)
            .withBlockSize(777)
            .withCompressionLevel(3)
            .withDictionaryBytes(555)
            .withSampleRecords(44)
            .withDataFiles(5)
            .withShards(12)
            .withMemoryBytes(1L << 33)
            .withThreads(6)
            .withDuplicates(DuplicatePolicy.LAST)
            .withOverwrite(true)
            .withTemporaryDirectory(Path.of("temp"))
            .withValueSchema("{}")
            .withValueElements(VECTOR)
            .withSeed(-8);
    assertThat(changed.layout()).isEqualTo(Layout.COMPACT);
    assertThat(changed.hash()).isEqualTo(HashAlgorithm.GOV);
    assertThat(changed.checksumBits()).isEqualTo(7);
    assertThat(changed.filterBits()).isEqualTo(10);
    assertThat(changed.approximateWidth()).isEqualTo(9);
    assertThat(changed.blockSize()).isEqualTo(777);
    assertThat(changed.compressionLevel()).isEqualTo(3);
    assertThat(changed.dictionaryBytes()).isEqualTo(555);
    assertThat(changed.sampleRecords()).isEqualTo(44);
    assertThat(changed.dataFiles()).isEqualTo(5);
    assertThat(changed.shards()).isEqualTo(12);
    assertThat(changed.memoryBytes()).isEqualTo(1L << 33);
    assertThat(changed.threads()).isEqualTo(6);
    assertThat(changed.duplicates()).isEqualTo(DuplicatePolicy.LAST);
    assertThat(changed.overwrite()).isTrue();
    assertThat(changed.temporaryDirectory()).isEqualTo(Path.of("temp"));
    assertThat(changed.valueSchema()).isEqualTo("{}");
    assertThat(changed.valueElements()).isEqualTo(VECTOR);
    assertThat(changed.seed()).isEqualTo(-8);
    assertThat(changed.withTemporaryDirectory(null).temporaryDirectory()).isNull();
    assertThat(changed.withValueSchema(null).valueSchema()).isNull();
    assertThat(changed.withValueElements(null).valueElements()).isNull();
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

  /** Options of every kind that differ from the defaults. */
  private static final List<UnaryOperator<BuildOptions>> CHANGES =
      List.of(
          options -> options.withLayout(Layout.COMPACT),
          options -> options.withHash(HashAlgorithm.GOV),
          options -> options.withSignature(SignatureAlgorithm.SPOOKY),
          options -> options.withChecksumBits(7),
          options -> options.withFilterBits(10),
          options -> options.withApproximateWidth(9),
          options -> options.withBlockSize(777),
          options -> options.withCompressionLevel(3),
          options -> options.withDictionaryBytes(555),
          options -> options.withSampleRecords(44),
          options -> options.withDataFiles(5),
          options -> options.withShards(12),
          options -> options.withOnlyShard(11),
          options -> options.withMemoryBytes(1L << 33),
          options -> options.withThreads(DEFAULTS.threads() == 6 ? 7 : 6),
          options -> options.withDuplicates(DuplicatePolicy.LAST),
          options -> options.withSignatureOrder(true),
          options -> options.withOrderedKeys(true),
          options -> options.withOverwrite(true),
          options -> options.withTemporaryDirectory(Path.of("temp")),
          options -> options.withValueSchema("{}"),
          options -> options.withValueElements(VECTOR),
          options -> options.withSeed(-8),
          options -> options.withSigningKey(KEY));

  @Test
  void noTextShowsTheKey() {
    assertThat(DEFAULTS.withSigningKey(KEY)).hasToString(DEFAULTS.toString());
  }

  @Test
  void optionsAreEqualIfAllOfThemAre() {
    assertThat(CHANGES).as("one of each with-method").hasSize((int) withMethods());
    Set<BuildOptions> all = new HashSet<>(List.of(DEFAULTS));
    for (UnaryOperator<BuildOptions> change : CHANGES) {
      BuildOptions changed = change.apply(DEFAULTS);
      assertThat(changed).isEqualTo(change.apply(DEFAULTS)).isNotEqualTo(DEFAULTS);
      assertThat(changed).hasSameHashCodeAs(change.apply(DEFAULTS));
      assertThat(all.add(changed)).as("%s", changed).isTrue();
    }
    BuildOptions changed = DEFAULTS;
    for (UnaryOperator<BuildOptions> change : CHANGES) {
      changed = change.apply(changed);
    }
    for (UnaryOperator<BuildOptions> change : CHANGES) {
      assertThat(change.apply(changed))
          .as("a later change keeps an earlier one")
          .isEqualTo(changed);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 0, 'blockSize compressionLevel dictionaryBytes filterBits sampleRecords'",
    "COMPACT, 0, 'blockSize compressionLevel dictionaryBytes filterBits sampleRecords'",
    "COMPRESSED, 0, 'filterBits'",
    "PACKED, 0, 'blockSize checksumBits compressionLevel dictionaryBytes hash sampleRecords'",
    "PACKED_COMPRESSED, 0, 'checksumBits hash'",
    "BLOCKED, 8, 'blockSize compressionLevel dataFiles dictionaryBytes filterBits sampleRecords'",
    "COMPACT, 8, 'layout'",
    "PACKED, 8, 'layout'",
  })
  void optionsWithoutEffectAreRefused(Layout layout, int width, String refused) {
    BuildOptions options = DEFAULTS.withLayout(layout).withApproximateWidth(width);
    Path target = directory.resolve("db");
    Set<String> names = new TreeSet<>();
    for (UnaryOperator<BuildOptions> change :
        List.<UnaryOperator<BuildOptions>>of(
            same -> same,
            changed -> changed.withHash(HashAlgorithm.GOV),
            changed -> changed.withChecksumBits(7),
            changed -> changed.withFilterBits(10),
            changed -> changed.withBlockSize(777),
            changed -> changed.withCompressionLevel(3),
            changed -> changed.withDictionaryBytes(555),
            changed -> changed.withDictionaryBytes(0),
            changed -> changed.withSampleRecords(44),
            changed -> changed.withSampleRecords(0),
            changed -> changed.withDataFiles(5))) {
      BuildOptions changed = change.apply(options);
      try {
        DatabaseBuilder.create(target, changed).close();
        assertThat(LayoutPlan.of(changed, 1, 1, 1).databaseBytes()).isPositive();
      } catch (IllegalArgumentException | IOException e) {
        assertThat(e).hasMessageMatching("\\w+ is \\S+, but .*");
        assertThatThrownBy(() -> LayoutPlan.of(changed, 1, 1, 1)).hasMessage(e.getMessage());
        names.add(e.getMessage().replaceFirst(" .*", ""));
      }
    }
    if (refused.equals("layout")) {
      assertThat(names).contains(refused);
    } else {
      assertThat(String.join(" ", names)).isEqualTo(refused);
    }
    assertThat(directory).isEmptyDirectory();
  }

  private static long withMethods() {
    return Arrays.stream(BuildOptions.class.getMethods())
        .filter(method -> method.getName().startsWith("with"))
        .count();
  }
}
