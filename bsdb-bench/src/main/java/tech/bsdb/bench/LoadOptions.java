package tech.bsdb.bench;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Escapes;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.input.Format;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.make.ParquetSourceOptions;
import tech.bsdb.tools.source.FileSourceOptions;

/**
 * The options of a load tool, validated as far as possible without opening anything.
 *
 * @param async whether lookups are asynchronous
 * @param database the database's directory
 * @param approximate whether the database must be approximate
 * @param indexInMemory whether the index is loaded into memory at the start
 * @param indexDirect whether the index is read by direct I/O
 * @param dataDirect whether the data files are read by direct I/O
 * @param engine the named engine, or null
 * @param source the source of the keys, or null for the database itself
 * @param verify whether answers are compared with the source
 * @param keys the maximum number of keys held
 * @param absentShare the share of absent keys, 0 to 1
 * @param zipf the zipfian exponent, 0 for uniform
 * @param seed the seed of all random choices
 * @param steps the steps to measure, in order
 * @param batch keys per request
 * @param rate lookups per second of an open loop, 0 for a closed one
 * @param warmupSeconds length of the warm-up before each measurement
 * @param durationSeconds length of each measurement
 * @param quiet whether only errors are printed
 * @param json the file for the JSON report, {@code -} for stdout, or null
 * @param html the file for the HTML report, or null
 */
record LoadOptions(
    boolean async,
    Path database,
    boolean approximate,
    boolean indexInMemory,
    boolean indexDirect,
    boolean dataDirect,
    @Nullable Engine engine,
    @Nullable KeyInput source,
    boolean verify,
    int keys,
    double absentShare,
    double zipf,
    long seed,
    List<Step> steps,
    int batch,
    double rate,
    double warmupSeconds,
    double durationSeconds,
    boolean quiet,
    @Nullable String json,
    @Nullable Path html) {
  private static final List<String> TEXT_ONLY = List.of("-s", "--key-encoding", "--value-encoding");
  private static final int MOST_THREADS = 1_024;
  private static final int MOST_IN_FLIGHT = 65_536;
  private static final int MOST_KEYS = 100_000_000;
  private static final double MOST_RATE = 100_000_000;

  /**
   * Reads the options.
   *
   * @throws UsageException if a value is invalid or options conflict
   * @throws FileSystemException if the database directory is unusable or a report cannot be written
   */
  static LoadOptions of(Arguments arguments, boolean async) throws UsageException, IOException {
    boolean verify = arguments.has("-v");
    if (verify && !arguments.has("-k")) {
      throw new UsageException("-v needs -k, the source to compare the answers with");
    }
    checkSource(arguments);
    arguments.refuseTogether("-ic", "-id", DatabaseOption.ONE_INDEX);
    LoadOptions options =
        new LoadOptions(
            async,
            DatabaseOption.current(arguments),
            arguments.has("-a"),
            arguments.has("-ic"),
            arguments.has("-id"),
            arguments.has("-kd"),
            arguments.has("--engine")
                ? arguments.choice("--engine", Engine.class, Engine.AUTO)
                : null,
            arguments.has("-k") ? source(arguments) : null,
            verify,
            arguments.integer("--keys", 1, MOST_KEYS, 1_000_000),
            arguments.decimal("--absent", 0, 100, 0) / 100,
            arguments.decimal("--zipf", 0, 10, 0),
            arguments.number("--seed", Long.MIN_VALUE, Long.MAX_VALUE, 42),
            steps(arguments, async),
            async ? 1 : arguments.integer("--batch", 1, MOST_IN_FLIGHT, 1),
            arguments.decimal("--rate", 1, MOST_RATE, 0),
            arguments.decimal("--warmup", 0, 3_600, 2),
            arguments.decimal("--duration", 0.1, 86_400, 10),
            arguments.has("-q"),
            report(arguments, "--json", true).orElse(null),
            report(arguments, "--html", false).map(Path::of).orElse(null));
    if (options.json != null
        && options.html != null
        && Path.of(options.json).equals(options.html)) {
      throw new UsageException("--json and --html name the same file " + options.json);
    }
    return options;
  }

  private static void checkSource(Arguments arguments) throws UsageException {
    for (String option : TEXT_ONLY) {
      if (arguments.has(option) && !arguments.has("-k")) {
        throw new UsageException(option + " needs -k, the text that it describes");
      }
      if (arguments.has(option) && arguments.has("-kf")) {
        throw new UsageException(option + " is for text, and -kf for Parquet");
      }
    }
    List<String> parquetOnly = new ArrayList<>(arguments.optionsIn("parquet-keys"));
    parquetOnly.add("--value-raw");
    parquetOnly.addAll(arguments.optionsIn("folders"));
    parquetOnly.addAll(arguments.optionsIn("hadoop"));
    for (String option : parquetOnly) {
      if (arguments.has(option) && !arguments.has("-k")) {
        throw new UsageException(option + " needs -k, the Parquet files that it describes");
      }
      if (arguments.has(option) && !arguments.has("-kf")) {
        throw new UsageException(option + " is for Parquet: give the key's column with -kf");
      }
    }
  }

  private static KeyInput source(Arguments arguments) throws UsageException {
    String file = arguments.text("-k", "");
    if (file.isEmpty()) {
      throw new UsageException("-k takes a file, a directory or -, not \"\"");
    }
    return arguments.has("-kf")
        ? parquet(arguments, file)
        : new KeyInput.Text(text(arguments, file));
  }

  private static KeyInput parquet(Arguments arguments, String file) throws UsageException {
    if (file.equals("-")) {
      throw new UsageException("-k -: Parquet is read from its end; name a file or a directory");
    }
    List<String> keys = ParquetSourceOptions.keys(arguments);
    return new KeyInput.Parquet(
        List.of(file),
        keys,
        ParquetSourceOptions.join(arguments, keys),
        arguments.text("--value-raw").orElse(null),
        ParquetSourceOptions.partitions(arguments),
        ParquetSourceOptions.types(arguments),
        FileSourceOptions.of(arguments));
  }

  private static InputOptions text(Arguments arguments, String file) throws UsageException {
    String separator = Escapes.resolve("-s", arguments.text("-s", " "));
    if (separator.isEmpty() || separator.contains("\n")) {
      throw new UsageException("-s takes at least one character, and no line feed");
    }
    return InputOptions.defaults()
        .withInputs(List.of(file))
        .withFormat(new Format.Text(separator))
        .withKeyEncoding(arguments.choice("--key-encoding", Encoding.class, Encoding.UTF8))
        .withValueEncoding(arguments.choice("--value-encoding", Encoding.class, Encoding.UTF8))
        .withAllowEmptyKey(true);
  }

  private static List<Step> steps(Arguments arguments, boolean async) throws UsageException {
    List<Integer> threads = numbers(arguments, "--threads", MOST_THREADS, 1);
    List<Integer> depths = async ? numbers(arguments, "--depth", MOST_IN_FLIGHT, 64) : List.of(1);
    if (arguments.has("--sweep")) {
      String swept = async ? "--depth" : "--threads";
      List<Integer> given = async ? depths : threads;
      if (given.size() > 1) {
        throw new UsageException(
            "--sweep goes from 1 up to one %s, not to \"%s\""
                .formatted(swept, arguments.text(swept, "")));
      }
      if (async) {
        depths = upTo(arguments.has(swept) ? given.get(0) : 256);
      } else {
        int cores = Runtime.getRuntime().availableProcessors();
        threads = upTo(arguments.has(swept) ? given.get(0) : Math.min(64, 4 * cores));
      }
    }
    List<Step> steps = new ArrayList<>();
    for (int thread : threads) {
      for (int depth : depths) {
        steps.add(new Step(thread, depth));
      }
    }
    return List.copyOf(steps);
  }

  /**
   * Returns the numbers of an option that takes one, or several to measure in turn: {@code 1,2,4}.
   *
   * @throws UsageException if one is not a number, not from 1 to {@code most}, or given twice
   */
  private static List<Integer> numbers(Arguments arguments, String option, int most, int otherwise)
      throws UsageException {
    Optional<String> value = arguments.text(option);
    if (value.isEmpty()) {
      return List.of(otherwise);
    }
    List<Integer> numbers = new ArrayList<>();
    for (String word : value.get().split(",", -1)) {
      int number;
      try {
        number = Integer.parseInt(word.strip());
      } catch (NumberFormatException notANumber) {
        number = 0;
      }
      if (number < 1 || number > most || numbers.contains(number)) {
        throw new UsageException(
            ("%s takes a whole number from 1 to %s, or several different ones separated by commas,"
                    + " not \"%s\"")
                .formatted(option, most, value.get()));
      }
      numbers.add(number);
    }
    return List.copyOf(numbers);
  }

  /** Returns 1, 2, 4 and so on up to {@code last}, which is always included. */
  private static List<Integer> upTo(int last) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 1; number < last; number *= 2) {
      numbers.add(number);
    }
    numbers.add(last);
    return List.copyOf(numbers);
  }

  /** Checks that a report can be written before hours are spent measuring. */
  private static Optional<String> report(Arguments arguments, String option, boolean standardOutput)
      throws UsageException, IOException {
    Optional<String> given = arguments.path(option).map(Path::toString);
    if (given.isEmpty() || (standardOutput && given.get().equals("-"))) {
      return given;
    }
    if (given.get().isEmpty() || given.get().equals("-")) {
      throw new UsageException(option + " takes a file, not \"" + given.get() + "\"");
    }
    Path file = Path.of(given.get());
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file)) {
      throw new FileSystemException(
          given.get(), null, option + " takes a file; this is a directory");
    }
    if (folder == null || !Files.isDirectory(folder)) {
      throw new FileSystemException(String.valueOf(folder), null, option + ": no such directory");
    }
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw new FileSystemException(given.get(), null, option + ": permission denied");
    }
    return given;
  }

  /**
   * The parameters that vary from point to point of a run.
   *
   * @param threads the number of threads that look up keys
   * @param depth the lookups that each thread keeps in flight; 1 if lookups are synchronous
   */
  record Step(int threads, int depth) {}
}
