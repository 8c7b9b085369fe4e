package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import tech.bsdb.remote.HttpOrigin;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.RangeDirectory;

/** The options of commands that read a database where it lies. */
public final class PlaceOptions {
  /** The text of the help that declares them. */
  static final String TEXT = "elsewhere";

  /** The part of it that is about reading, not about Hadoop. */
  private static final String READING = "distant";

  private static final String NOT_ELSEWHERE =
      "is for a database elsewhere; name that, for example s3a://bucket/rdb";

  private static final Pattern URL = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");
  private static final Pattern FILE = Pattern.compile("(?i)file:.*");
  private static final Pattern WEB = Pattern.compile("(?i)https?:.*");

  private PlaceOptions() {}

  /** Finds the database that the option {@code -d} names. */
  static Place of(Arguments arguments) throws UsageException, IOException {
    Optional<String> given = arguments.text("-d");
    if (given.isPresent() && isElsewhere(arguments, given.get())) {
      return elsewhere(arguments, given.get());
    }
    refuse(arguments);
    return given.isPresent() && URL.matcher(given.get()).matches()
        ? here(arguments, given.get())
        : new Place.Here(
            DatabaseOption.current(arguments),
            DatabaseOption.place(arguments),
            KeyOptions.trusted(arguments));
  }

  /**
   * Finds the database that an operand names.
   *
   * @param number which one it is, from 0
   */
  static Place of(Arguments arguments, int number) throws UsageException, IOException {
    String given = arguments.operands().get(number);
    if (isElsewhere(arguments, given)) {
      return elsewhere(arguments, given);
    }
    boolean others = false;
    for (String operand : arguments.operands()) {
      others |= isElsewhere(arguments, operand);
    }
    if (!others) {
      refuse(arguments);
    }
    return here(arguments, given);
  }

  private static boolean isElsewhere(Arguments arguments, String given) {
    return URL.matcher(given).matches()
        ? !FILE.matcher(given).matches()
        : arguments.has("-nn") && !given.isEmpty();
  }

  private static void refuse(Arguments arguments) throws UsageException {
    arguments.refuse(arguments.optionsIn(TEXT), NOT_ELSEWHERE);
  }

  /**
   * Finds a database or a store that is to be followed.
   *
   * @param given a directory, which is checked to be one that can hold a database, or a URL
   */
  public static Place followed(Arguments arguments, String given)
      throws UsageException, IOException {
    if (isElsewhere(arguments, given)) {
      return elsewhere(arguments, given);
    }
    Path directory = DatabaseOption.of(directory("-d", given), given);
    return new Place.Here(directory, directory, KeyOptions.trusted(arguments));
  }

  /**
   * Rejects the options of a command that follows databases and stores, none of which is elsewhere.
   *
   * @param hadoop whether those for Hadoop, too
   */
  public static void refuse(Arguments arguments, boolean hadoop) throws UsageException {
    arguments.refuse(arguments.optionsIn(READING), NOT_ELSEWHERE);
    if (hadoop) {
      arguments.refuse(arguments.optionsIn("hadoop"), NOT_ELSEWHERE);
    }
  }

  private static Place here(Arguments arguments, String given) throws UsageException, IOException {
    Path directory = directory("database", given);
    return new Place.Here(
        DatabaseOption.current(directory, given), directory, KeyOptions.trusted(arguments));
  }

  /** A local directory, which may be written as a URL. */
  private static Path directory(String of, String given) throws UsageException, IOException {
    if (!FILE.matcher(given).matches()) {
      return Arguments.pathOf(of, given);
    }
    try (DistantDirectory opened = DistantDirectory.open(given, FileSourceOptions.local())) {
      Path directory = opened.local();
      if (directory == null) {
        throw new UsageException(given + ": not the URL of a file here");
      }
      return directory;
    }
  }

  private static Place elsewhere(Arguments arguments, String given)
      throws UsageException, IOException {
    RemoteOptions options = options(arguments);
    RangeOrigin origin =
        WEB.matcher(given).matches()
            ? web(given)
            : RangeDirectory.open(given, FileSourceOptions.of(arguments));
    return new Place.Distant(origin, options);
  }

  private static RangeOrigin web(String given) throws UsageException {
    try {
      URI location = new URI(given);
      if (location.getHost() == null) {
        throw new UsageException(
            given + ": not a URL of a web server; write http://HOST/PATH or http://HOST:PORT/PATH");
      }
      return HttpOrigin.of(location);
    } catch (IllegalArgumentException e) {
      throw new UsageException("-d: " + e.getMessage());
    } catch (URISyntaxException e) {
      String tip = given.contains(" ") ? "; write a space as %20" : "";
      throw new UsageException(given + ": not a URL: " + e.getReason() + tip);
    }
  }

  private static RemoteOptions options(Arguments arguments) throws UsageException {
    RemoteOptions defaults = RemoteOptions.defaults();
    arguments.refuseEmpty("--cache-dir", "a directory");
    Optional<Path> cache = arguments.path("--cache-dir");
    RemoteOptions options = cache.isPresent() ? defaults.withCache(cache.get()) : defaults;
    return options
        .withPageBytes(arguments.bytes("--cache", 1L << 20, 1L << 38, defaults.pageBytes()))
        .withRequests(arguments.integer("--requests", 1, 4096, defaults.requests()))
        .withDeadline(
            Duration.ofSeconds(
                arguments.number("--deadline", 1, 86_400, defaults.deadline().toSeconds())))
        .withHedged(arguments.has("--hedge"))
        .withTrusted(KeyOptions.trusted(arguments));
  }
}
