package tech.bsdb.tools.make;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.Layout;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.KeyOptions;

/**
 * Options for the database: what to build, where, and with which resources.
 *
 * @param target the directory of the database
 * @param build what to build
 */
public record TargetOptions(Path target, BuildOptions build) {
  private static final long MEBIBYTE = 1L << 20;
  private static final BuildOptions DEFAULTS = BuildOptions.defaults();

  /** The memory of a build, in bytes, if {@code -ps} does not say it. */
  static long usualMemory() {
    long quarter = Runtime.getRuntime().maxMemory() / 4 / MEBIBYTE * MEBIBYTE;
    return Math.max(MEBIBYTE, Math.min(DEFAULTS.memoryBytes(), quarter));
  }

  /**
   * The memory of a build, in bytes.
   *
   * @throws UsageException if it is out of range
   */
  static long memory(Arguments arguments) throws UsageException {
    return MEBIBYTE * arguments.number("-ps", 1, MEBIBYTE, usualMemory() / MEBIBYTE);
  }

  /**
   * Reads the options.
   *
   * @throws UsageException if a value is out of range, or options conflict
   */
  public static TargetOptions of(Arguments arguments) throws UsageException {
    boolean approximate = arguments.has("-a");
    arguments.refuseTogether("-c", "-z", "a compressed database is already compact");
    arguments.refuseTogether("-a", "-c", "an approximate database keeps no records");
    arguments.refuseTogether("-a", "-z", "an approximate database keeps no records");
    arguments.refuseTogether("-a", "--layout", "an approximate database keeps no records");
    arguments.refuseTogether("-a", "--ordered", "an approximate database keeps no keys");
    int width =
        arguments.integer("--approximate-width", 1, 255, BuildOptions.DEFAULT_APPROXIMATE_WIDTH);
    BuildOptions kind =
        withLayout(
            arguments,
            DEFAULTS
                .withOrderedKeys(arguments.has("--ordered"))
                .withApproximateWidth(approximate ? width : 0));
    Layout layout = kind.layout();
    int filterBits = arguments.integer("--filter-bits", 0, 16, DEFAULTS.filterBits());
    if (filterBits > 0 && !layout.isPacked()) {
      throw new UsageException(
          ("--filter-bits goes with --layout packed: %s has checksum bits in its hash function,"
                  + " which reject absent keys; set them with -cb, or choose --layout packed")
              .formatted(approximate ? "an approximate database" : "the layout " + name(layout)));
    }
    if (arguments.has("-cb") && layout.isPacked()) {
      throw new UsageException(
          "-cb and --layout packed cannot be combined: a packed index has no checksum bits; leave"
              + " -cb out, or see --filter-bits");
    }
    if (arguments.has("--hash") && layout.isPacked()) {
      throw new UsageException(
          "--hash and --layout packed cannot be combined: a packed database has no hash function;"
              + " leave --hash out");
    }
    if (!layout.isCompressed()) {
      arguments.refuse(
          List.of("-bs", "--level", "-sc", "-ds"), "needs -z, or a compressed --layout");
    }
    arguments.refuseTogether("-a", "--data-files", "an approximate database has no data files");
    if (!approximate) {
      arguments.refuse(List.of("--approximate-width"), "needs -a");
    }
    arguments.refuseEmpty("-o", "a directory");
    BuildOptions build =
        kind.withHash(arguments.choice("--hash", HashAlgorithm.class, DEFAULTS.hash()))
            .withChecksumBits(arguments.integer("-cb", 0, 32, DEFAULTS.checksumBits()))
            .withFilterBits(filterBits)
            .withBlockSize(arguments.integer("-bs", 512, 1 << 20, DEFAULTS.blockSize()))
            .withCompressionLevel(arguments.integer("--level", 1, 22, DEFAULTS.compressionLevel()))
            .withShards(arguments.integer("--shards", 1, 16_384, DEFAULTS.shards()))
            .withDataFiles(arguments.integer("--data-files", 1, 128, DEFAULTS.dataFiles()))
            .withDuplicates(
                arguments.choice("--on-duplicate", DuplicatePolicy.class, DuplicatePolicy.ERROR))
            .withOverwrite(arguments.has("--overwrite"))
            .withSeed(seed(arguments));
    return new TargetOptions(
        arguments.path("-o", "./rdb"), withResources(arguments, withDictionary(arguments, build)));
  }

  /**
   * Sets the dictionary of a compressed database.
   *
   * @param like what it is like without options
   * @throws UsageException if a value is out of range, or has no effect
   */
  static BuildOptions withDictionary(Arguments arguments, BuildOptions like) throws UsageException {
    int sample = arguments.integer("-sc", 0, 1_000_000, like.sampleRecords());
    int size = arguments.integer("-ds", 0, 1 << 20, like.dictionaryBytes());
    if (sample > 0 && size == 0) {
      arguments.refuse(List.of("-sc"), "samples records for a dictionary, and there is none (-ds)");
    }
    if (sample == 0 && size > 0) {
      arguments.refuse(List.of("-ds"), "needs a sample of records, and there is none (-sc)");
    }
    return like.withSampleRecords(sample).withDictionaryBytes(size);
  }

  /**
   * Sets the resources of a build, and the key that signs it.
   *
   * @throws UsageException if a value is out of range, or the key cannot be read
   */
  public static BuildOptions withResources(Arguments arguments, BuildOptions build)
      throws UsageException {
    arguments.refuseEmpty("-temp", "a directory");
    return build
        .withSigningKey(KeyOptions.signing(arguments))
        .withMemoryBytes(memory(arguments))
        .withThreads(arguments.integer("--threads", 1, 256, DEFAULTS.threads()))
        .withTemporaryDirectory(arguments.path("-temp").orElse(null));
  }

  private static long seed(Arguments arguments) throws UsageException {
    String seed = arguments.text("--seed", "0");
    if (seed.equals("random")) {
      return new SecureRandom().nextLong();
    }
    try {
      return Long.parseLong(seed);
    } catch (NumberFormatException e) {
      throw new UsageException(
          "--seed %s: not a whole number from %s to %s, or random"
              .formatted(seed, Long.MIN_VALUE, Long.MAX_VALUE));
    }
  }

  /** Chooses the layout that the options name or imply, even if with their default values. */
  private static BuildOptions withLayout(Arguments arguments, BuildOptions build)
      throws UsageException {
    boolean hashed = arguments.has("--hash") || arguments.has("-cb");
    Layout usual = hashed ? Layout.BLOCKED : build.layout();
    Layout ofFlags =
        arguments.has("-z") ? Layout.COMPRESSED : arguments.has("-c") ? Layout.COMPACT : usual;
    Layout layout = arguments.choice("--layout", Layout.class, ofFlags, TargetOptions::name);
    if (arguments.has("-z") && layout.isPacked()) {
      return build.withLayout(Layout.PACKED_COMPRESSED);
    }
    if (layout != ofFlags && ofFlags != usual) {
      throw new UsageException(
          "%s and --layout %s cannot be combined: name one layout"
              .formatted(ofFlags == Layout.COMPACT ? "-c" : "-z", name(layout)));
    }
    boolean named = arguments.has("--layout") || layout != build.layout();
    return named ? build.withLayout(layout) : build;
  }

  private static String name(Layout layout) {
    return layout.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The path with symbolic links resolved, as far as it exists. */
  public static Path resolved(Path path) throws IOException {
    Path absolute = path.toAbsolutePath().normalize();
    if (Files.exists(absolute)) {
      return absolute.toRealPath();
    }
    Path parent = absolute.getParent();
    Path name = absolute.getFileName();
    return parent == null || name == null ? absolute : resolved(parent).resolve(name);
  }

  /** Refuses to overwrite a file that is read. */
  static void refuseSameFile(Arguments arguments, String written, String read)
      throws UsageException {
    Optional<Path> to = arguments.path(written);
    Optional<Path> from = arguments.path(read);
    if (to.isPresent() && from.isPresent() && isSameFile(to.get(), from.get())) {
      throw new UsageException(
          written + " " + to.get() + " is the file of " + read + "; name another file");
    }
  }

  static boolean isSameFile(Path one, Path other) {
    try {
      return Files.isSameFile(one, other);
    } catch (IOException notThere) {
      return false;
    }
  }
}
