package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.Layout;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;

class TargetOptionsTest {
  private static final BuildOptions USUAL =
      BuildOptions.defaults().withMemoryBytes(TargetOptions.usualMemory());
  private static final Syntax SYNTAX = Syntax.of("build");

  @Test
  void withoutOptionsTheDefaultsHold() throws Exception {
    TargetOptions target = parse();

    assertThat(target.target()).isEqualTo(Path.of("./rdb"));
    assertThat(target.build()).isEqualTo(USUAL);
  }

  @Test
  void theMemoryOfABuildFitsInASmallHeap() {
    long heap = Runtime.getRuntime().maxMemory();
    assertThat(TargetOptions.usualMemory())
        .isEqualTo(Math.min(1L << 30, heap / 4 >> 20 << 20))
        .isLessThan(heap / 2);
  }

  @Test
  void aDictionaryNeedsASizeAndASample() throws Exception {
    assertThatThrownBy(() -> parse("-z", "-sc", "5", "-ds", "0"))
        .hasMessage("-sc samples records for a dictionary, and there is none (-ds)");
    assertThatThrownBy(() -> parse("-z", "-sc", "0", "-ds", "500"))
        .hasMessage("-ds needs a sample of records, and there is none (-sc)");
    assertThat(parse("-z", "-sc", "0").build().sampleRecords()).isZero();
    assertThat(parse("-z", "-ds", "0").build().dictionaryBytes()).isZero();
  }

  @Test
  void everyOptionReachesItsField() throws Exception {
    BuildOptions build =
        parse(
                "-z",
                "-bs",
                "8192",
                "--level",
                "19",
                "-sc",
                "777",
                "-ds",
                "65536",
                "-cb",
                "16",
                "--shards",
                "12",
                "--data-files",
                "3",
                "-ps",
                "64",
                "-temp",
                "/tmp/t",
                "--threads",
                "5",
                "--on-duplicate",
                "last",
                "--seed",
                "-9",
                "--overwrite")
            .build();

    assertThat(build)
        .isEqualTo(
            BuildOptions.defaults()
                .withLayout(Layout.COMPRESSED)
                .withChecksumBits(16)
                .withBlockSize(8192)
                .withCompressionLevel(19)
                .withDictionaryBytes(65_536)
                .withSampleRecords(777)
                .withShards(12)
                .withDataFiles(3)
                .withMemoryBytes(64L << 20)
                .withThreads(5)
                .withDuplicates(DuplicatePolicy.LAST)
                .withOverwrite(true)
                .withTemporaryDirectory(Path.of("/tmp/t"))
                .withSeed(-9));
    assertThat(parse("-o", "x/y").target()).isEqualTo(Path.of("x/y"));
    assertThat(parse("--on-duplicate", "first").build().duplicates())
        .isEqualTo(DuplicatePolicy.FIRST);
    assertThat(parse("-ps", "1048576").build().memoryBytes()).isEqualTo(1L << 40);
  }

  @Test
  void theSeedIsANumberOrRandom() throws Exception {
    assertThat(parse("--seed", "9223372036854775807").build().seed()).isEqualTo(Long.MAX_VALUE);
    assertThat(parse("--seed=-9223372036854775808").build().seed()).isEqualTo(Long.MIN_VALUE);
    assertThat(parse("--seed", "random").build().seed())
        .isNotEqualTo(parse("--seed", "random").build().seed());
    for (String bad : List.of("", "x", "1.5", "9223372036854775808", "Random", "0x1")) {
      assertThatExceptionOfType(UsageException.class)
          .isThrownBy(() -> parse("--seed", bad))
          .withMessageContaining("--seed")
          .withMessageContaining("random");
    }
  }

  @Test
  void theNumberOfShardsHasARange() throws Exception {
    assertThat(parse().build().shards()).isEqualTo(1);
    assertThat(parse("--shards", "1").build()).isEqualTo(USUAL);
    assertThat(parse("--shards=2").build().shards()).isEqualTo(2);
    assertThat(parse("--shards", "16384").build().shards()).isEqualTo(16_384);
    for (String bad : List.of("0", "-1", "16385", "4294967298", "", "x", "1.5", "5 ")) {
      assertThatExceptionOfType(UsageException.class)
          .isThrownBy(() -> parse("--shards", bad))
          .withMessage("--shards takes a whole number from 1 to 16384, not \"" + bad + "\"");
    }
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("--shards"))
        .withMessageContaining("--shards");
    assertThat(SYNTAX.help()).contains("--shards N", "2 to 16384");
  }

  @Test
  void theLayoutFollowsFromTheFlags() throws Exception {
    assertThat(parse().build().layout()).isEqualTo(Layout.PACKED);
    assertThat(parse("--filter-bits", "8", "--shards", "2").build().layout())
        .isEqualTo(Layout.PACKED);
    for (String[] indexed :
        List.of(
            new String[] {"--ordered"},
            new String[] {"-cb", "4"},
            new String[] {"-cb", "9"},
            new String[] {"--hash", "ptr"},
            new String[] {"--hash", "gov"})) {
      assertThat(parse(indexed).build().layout())
          .as(String.join(" ", indexed))
          .isEqualTo(Layout.BLOCKED);
      assertThat(
              parse(Stream.concat(Stream.of(indexed), Stream.of("-z")).toArray(String[]::new))
                  .build()
                  .layout())
          .isEqualTo(Layout.COMPRESSED);
    }
    assertThat(parse("--ordered", "--layout", "packed").build().layout()).isEqualTo(Layout.PACKED);
    assertThat(parse("-z", "--layout", "packed", "--ordered").build().layout())
        .isEqualTo(Layout.PACKED_COMPRESSED);
    assertThat(parse("-c").build().layout()).isEqualTo(Layout.COMPACT);
    assertThat(parse("-z").build().layout()).isEqualTo(Layout.COMPRESSED);
    assertThat(parse("-a").build().approximateWidth()).isEqualTo(8);
    assertThat(parse("-a", "--approximate-width", "255").build().approximateWidth()).isEqualTo(255);
  }

  private static String name(Layout layout) {
    return layout.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  void everyLayoutHasAName(Layout layout) throws Exception {
    String name = name(layout);
    TargetOptions target = parse("--layout", name);

    assertThat(target.build()).isEqualTo(USUAL.withLayout(layout));
    assertThat(parse("--layout=" + name)).isEqualTo(target);
    assertThat(SYNTAX.help()).contains(name);
  }

  @Test
  void aFlagAndTheNameOfItsLayoutAgree() throws Exception {
    assertThat(parse("-c", "--layout", "compact")).isEqualTo(parse("-c"));
    assertThat(parse("--layout", "compressed", "-z")).isEqualTo(parse("-z"));
    assertThat(parse("--layout", "packed-compressed", "-z"))
        .isEqualTo(parse("--layout", "packed-compressed"));
  }

  @Test
  void aPackedDatabaseIsCompressedByTheFlag() throws Exception {
    TargetOptions target = parse("-z", "--layout", "packed", "-bs", "2048", "--level", "3");
    assertThat(target.build())
        .isEqualTo(
            USUAL.withLayout(Layout.PACKED_COMPRESSED).withBlockSize(2048).withCompressionLevel(3));
    assertThat(parse("--layout", "packed", "-z")).isEqualTo(parse("--layout", "packed-compressed"));
  }

  @ParameterizedTest
  @CsvSource({
    "-c, blocked",
    "-c, compressed",
    "-c, packed",
    "-c, packed-compressed",
    "-z, blocked",
    "-z, compact"
  })
  void aFlagAndTheNameOfAnotherLayoutAreRefused(String flag, String name) {
    String message = flag + " and --layout " + name + " cannot be combined: name one layout";
    assertUsage(message, flag, "--layout", name);
    assertUsage(message, "--layout", name, flag);
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  void anApproximateDatabaseHasNoLayout(Layout layout) {
    assertUsage(
        "-a and --layout cannot be combined: an approximate database keeps no records",
        "-a",
        "--layout",
        name(layout));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "none", "pack", "Packed", "PACKED", "packed ", "packed_compressed"})
  void anUnknownLayoutIsRefusedWithTheKnownOnes(String name) {
    assertUsage(
        "--layout takes blocked, compact, compressed, packed or packed-compressed, not \""
            + name
            + "\"",
        "--layout",
        name);
  }

  @Test
  void theOptionsOfZstdGoWithTheNameOfItsLayout() throws Exception {
    TargetOptions target =
        parse("--layout", "compressed", "-bs", "8192", "--level", "3", "-sc", "5", "-ds", "6");

    assertThat(target.build().blockSize()).isEqualTo(8192);
  }

  @Test
  void thePackedLayoutHasNoChecksumBits() throws Exception {
    TargetOptions target =
        parse("--layout", "packed", "--data-files", "2", "--on-duplicate", "first");

    assertThat(target.build().layout()).isEqualTo(Layout.PACKED);
    assertThat(target.build().dataFiles()).isEqualTo(2);
    assertThat(target.build().duplicates()).isEqualTo(DuplicatePolicy.FIRST);
    for (String layout : List.of("blocked", "compact", "compressed")) {
      assertThat(parse("--layout", layout, "-cb", "16").build().checksumBits())
          .as(layout)
          .isEqualTo(16);
    }
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("--layout", "packed", "-cb", "16"))
        .withMessage(
            "-cb and --layout packed cannot be combined: a packed index has no checksum bits; leave"
                + " -cb out, or see --filter-bits");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("-z", "--layout", "packed", "-cb", "4"))
        .withMessageStartingWith("-cb and --layout packed cannot be combined: ");
  }

  @ParameterizedTest
  @CsvSource({
    "-cb, 0, 32",
    "--filter-bits, 0, 16",
    "-bs, 512, 1048576",
    "--level, 1, 22",
    "-sc, 0, 1000000",
    "-ds, 0, 1048576",
    "--data-files, 1, 128",
    "-ps, 1, 1048576",
    "--threads, 1, 256",
    "--approximate-width, 1, 255"
  })
  void outOfRangeNumbersNameTheRange(String option, long least, long most) throws Exception {
    String mode =
        switch (option) {
          case "--approximate-width" -> "-a";
          case "--filter-bits" -> "--layout=packed";
          default -> "-z";
        };
    parse(mode, option, String.valueOf(least));
    parse(mode, option, String.valueOf(most));
    for (String wrong : List.of(String.valueOf(least - 1), String.valueOf(most + 1), "many")) {
      assertUsage(
          option
              + " takes a whole number from "
              + least
              + " to "
              + most
              + ", not \""
              + wrong
              + "\"",
          mode,
          option,
          wrong);
    }
  }

  @Test
  void theOrderOfKeysIsStoredIfAskedFor() throws Exception {
    assertThat(parse().build().orderedKeys()).isFalse();
    for (String layout :
        List.of("blocked", "compact", "compressed", "packed", "packed-compressed")) {
      assertThat(parse("--ordered", "--layout", layout).build().orderedKeys()).isTrue();
    }
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("--ordered", "-a"))
        .withMessage("-a and --ordered cannot be combined: an approximate database keeps no keys");
  }

  @Test
  void aFilterGoesWithThePackedLayouts() throws Exception {
    assertThat(parse("--layout", "packed", "--filter-bits", "8").build().filterBits()).isEqualTo(8);
    assertThat(parse("-z", "--layout", "packed", "--filter-bits", "1").build().filterBits())
        .isEqualTo(1);
    assertThat(parse("--layout", "packed").build().filterBits()).isZero();
    assertThat(parse("--filter-bits", "0").build().filterBits()).isZero();
    String advice =
        " has checksum bits in its hash function, which reject absent keys; set them with -cb, or"
            + " choose --layout packed";
    String goes = "--filter-bits goes with --layout packed: ";
    assertThat(parse("--filter-bits", "8").build().filterBits()).isEqualTo(8);
    assertUsage(goes + "the layout blocked" + advice, "--ordered", "--filter-bits", "8");
    assertUsage(goes + "the layout blocked" + advice, "-cb", "4", "--filter-bits", "8");
    assertUsage(goes + "the layout compressed" + advice, "-z", "--filter-bits", "16");
    assertUsage(goes + "the layout compact" + advice, "--layout", "compact", "--filter-bits", "1");
    assertUsage(goes + "an approximate database" + advice, "-a", "--filter-bits", "8");
  }

  @Test
  void theHashFunctionIsChosen() throws Exception {
    assertThat(parse().build().hash()).isEqualTo(HashAlgorithm.PTR);
    assertThat(parse("--hash", "ptr").build().hash()).isEqualTo(HashAlgorithm.PTR);
    assertThat(parse("--hash", "gov", "-a").build().hash()).isEqualTo(HashAlgorithm.GOV);
    assertUsage("--hash takes gov or ptr, not \"md5\"", "--hash", "md5");
    assertUsage(
        "--hash and --layout packed cannot be combined: a packed database has no hash function;"
            + " leave --hash out",
        "--hash",
        "ptr",
        "-z",
        "--layout",
        "packed");
  }

  @Test
  void conflictingOptionsAreRefused() {
    assertUsage(
        "-c and -z cannot be combined: a compressed database is already compact", "-c", "-z");
    assertUsage(
        "-a and -c cannot be combined: an approximate database keeps no records", "-a", "-c");
    assertUsage(
        "-a and -z cannot be combined: an approximate database keeps no records", "-z", "-a");
    assertUsage("--approximate-width needs -a", "--approximate-width", "8");
    assertUsage(
        "--on-duplicate takes error, first or last, not \"both\"", "--on-duplicate", "both");
    assertUsage("-o takes a directory, not \"\"", "-o", "");
    assertUsage("-temp takes a directory, not \"\"", "-temp", "");
  }

  @Test
  void optionsWithoutEffectAreRefused() {
    for (String option : List.of("-bs", "--level", "-sc", "-ds")) {
      String refused = option + " needs -z, or a compressed --layout";
      assertUsage(refused, option, "7");
      assertUsage(refused, option, "7", "-c");
      assertUsage(refused, option, "7", "--layout", "packed");
      assertUsage(refused, option, "7", "-a");
    }
    assertUsage(
        "-a and --data-files cannot be combined: an approximate database has no data files",
        "-a",
        "--data-files",
        "2");
  }

  private static TargetOptions parse(String... arguments) throws UsageException {
    return TargetOptions.of(SYNTAX.parse(List.of(arguments)));
  }

  private static void assertUsage(String message, String... arguments) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse(arguments))
        .withMessage(message);
  }
}
