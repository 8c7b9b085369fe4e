package tech.bsdb.tools.make;

import java.util.Locale;
import tech.bsdb.BuildOptions;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.Layout;

/**
 * The layouts that a plan compares, and what was measured of each: the only place of figures that
 * do not follow from the format.
 *
 * <p>The source is docs/BENCHMARKS.md: 10 million records of 13 + 32 bytes on 2 cores; lookups on
 * one thread, warm and mapped, "Against other stores". The compressed rate of present keys is that
 * of 50 thousand records of 760 bytes, "ZSTD"; the rates of packed are those of blocked times the
 * ratios of "The packed layout". {@link Double#NaN} stands for what was not measured.
 */
enum PlannedLayout {
  // ---------- build options, processor ns a record, present keys/s, absent keys/s
  BLOCKED("--layout blocked", 800, 1_410_000, 3_312_000),
  COMPACT("--layout compact", 800, 1_410_000, 3_312_000), // the steps of blocked
  COMPRESSED("--layout compressed", Double.NaN, 352_000, 3_312_000), // rejected as in blocked
  PACKED("--layout packed", 675, 2_170_000, 3_200_000),
  PACKED_COMPRESSED("--layout packed -z", Double.NaN, Double.NaN, Double.NaN),
  APPROXIMATE("-a", 865, 1_775_000, 3_305_000);

  /** The number of records that were measured. */
  static final long MEASURED_RECORDS = 10_000_000;

  /** The length of their keys. */
  static final int MEASURED_KEY = 13;

  /** The length of their values. */
  static final int MEASURED_VALUE = 32;

  /** The share of all cores that a build used: 8 processor seconds of 2 cores in 4.7 s. */
  static final double MEASURED_USE = 0.85;

  /**
   * The rate of present keys with ptr, divided by that with gov: 1.16 to 1.20 in four runs of "The
   * hash functions", of which this is a little less. That of absent keys is 1, because half of each
   * then gives 1.10; measured were 1.08 to 1.14.
   */
  private static final double PTR_PRESENT = 1.15;

  /** The same in approximate mode, where there is no record to read: 1.20 and 1.30. */
  private static final double PTR_APPROXIMATE = 1.2;

  /**
   * The processor time of a build with ptr, divided by that with gov: the average of four rounds in
   * docs/benchmarks/hash-jdk25.txt, 1.00 to 1.19.
   */
  private static final double PTR_BUILD = 1.08;

  /** The hash function of a build without {@code --hash}. */
  static final HashAlgorithm DEFAULT_HASH = BuildOptions.defaults().hash();

  private final String buildOptions;
  private final double buildNanos;
  private final double presentPerSecond;
  private final double absentPerSecond;

  PlannedLayout(
      String buildOptions, double buildNanos, double presentPerSecond, double absentPerSecond) {
    this.buildOptions = buildOptions;
    this.buildNanos = buildNanos;
    this.presentPerSecond = presentPerSecond;
    this.absentPerSecond = absentPerSecond;
  }

  /** Whether records are much longer than those measured, so that a build takes longer. */
  static boolean longerThanMeasured(int keyLength, int valueLength) {
    return (long) keyLength + valueLength > 2L * (MEASURED_KEY + MEASURED_VALUE);
  }

  /** Whether records are compressed, so that the size of the data depends on the data. */
  boolean compressed() {
    return this == COMPRESSED || this == PACKED_COMPRESSED;
  }

  /** Whether records are in bins, so that there is no hash function. */
  boolean packed() {
    return this == PACKED || this == PACKED_COMPRESSED;
  }

  /** The name in lower case. */
  String word() {
    return word(this);
  }

  /** The name of a choice in lower case, as on the command line. */
  static String word(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The options of {@code bsdb build} that choose this layout for values of that length. */
  String buildOptions(int valueLength) {
    return this == APPROXIMATE
        ? buildOptions + " --approximate-width " + width(valueLength)
        : buildOptions;
  }

  /**
   * The options of a build, with a filter or another hash function only if the layout can have one.
   *
   * @throws IllegalArgumentException if this layout cannot hold such values, or cannot have the
   *     order of the keys that the base has
   */
  BuildOptions of(BuildOptions base, int valueLength) {
    BuildOptions possible =
        packed()
            ? base.withHash(DEFAULT_HASH).withChecksumBits(BuildOptions.defaults().checksumBits())
            : base.withFilterBits(0);
    if (this != APPROXIMATE) {
      return possible.withLayout(Layout.valueOf(name()));
    }
    if (base.orderedKeys()) {
      throw new IllegalArgumentException("it keeps no keys that could be ordered");
    }
    if (valueLength > 255) {
      throw new IllegalArgumentException("it keeps at most 255 bytes of a value");
    }
    return possible.withApproximateWidth(width(valueLength)).withDataFiles(1);
  }

  private static int width(int valueLength) {
    return Math.max(1, valueLength);
  }

  /** Processor seconds of a build, from text; NaN if unknown. */
  double buildProcessorSeconds(long records, HashAlgorithm hash) {
    double ratio = packed() || hash == HashAlgorithm.GOV ? 1 : PTR_BUILD;
    return records * buildNanos * ratio / 1e9;
  }

  /** Lookups per second of one thread in memory; NaN if unknown. */
  double warmPerSecond(double missRate, HashAlgorithm hash) {
    double present = presentPerSecond * presentRatio(hash);
    return missRate == 0
        ? present
        : missRate == 1
            ? absentPerSecond
            : 1 / ((1 - missRate) / present + missRate / absentPerSecond);
  }

  /** The rate of present keys with a hash function, divided by that with gov. */
  private double presentRatio(HashAlgorithm hash) {
    return switch (this) {
      case BLOCKED, COMPACT -> hash == HashAlgorithm.PTR ? PTR_PRESENT : 1;
      case APPROXIMATE -> hash == HashAlgorithm.PTR ? PTR_APPROXIMATE : 1;
      case COMPRESSED, PACKED, PACKED_COMPRESSED -> 1; // they have none, or decompress for longer
    };
  }
}
