package tech.bsdb.bench.compare;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;
import org.jspecify.annotations.Nullable;

/**
 * Compares stores; the main class of {@code scripts/compare-stores}.
 *
 * <p>Every trial is a separate process with the same JDK and flags. Laps visit the stores in turn,
 * every other lap backwards, so that a drift of the machine affects all equally; the report gives
 * medians over the laps. A store that fails is excluded from then on, and the report says why.
 */
final class CompareStores {
  /** Opens what the libraries of LMDB, mph-table and cdb access; the same for every store. */
  private static final List<String> FLAGS =
      List.of(
          "-Xmx1g",
          "--enable-native-access=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");

  /**
   * Touches the whole heap in advance, so that the growth of a process is what a reader takes
   * outside the heap.
   */
  private static final List<String> READ_FLAGS = List.of("-Xms1g", "-XX:+AlwaysPreTouch");

  private static final PrintStream PROGRESS = System.err;

  private final CommandLine options;
  private final String command;
  private final Path work;
  private final DataSet data;
  private final Map<String, Outcome> outcomes = new LinkedHashMap<>();
  private final Map<String, String> externals = new LinkedHashMap<>();

  /** The results of one store. */
  static final class Outcome {
    final Map<String, List<Double>> build = new LinkedHashMap<>();
    final Map<String, Map<String, List<Double>>> readings = new LinkedHashMap<>();
    @Nullable String leftOut;
  }

  private CompareStores(CommandLine options, String command) throws IOException {
    this.options = options;
    this.command = command;
    this.work = Path.of(options.getOptionValue("work")).toAbsolutePath();
    String data = options.getOptionValue("data", "10m");
    PROGRESS.println("preparing " + data);
    this.data =
        data.equals("10m")
            ? DataSet.numbered(work.resolve("10m"))
            : DataSet.of(
                Path.of(data),
                work.resolve(Path.of(data).getFileName().toString().replace('.', '-')));
  }

  /** Runs the comparison and writes its report. */
  public static void main(String[] args) throws Exception {
    Options known =
        new Options()
            .addOption(option("data", "10m, or a text file of key<TAB>value lines (10m)"))
            .addOption(option("stores", "comma-separated names (all)"))
            .addOption(option("builds", "number of builds per store (3)"))
            .addOption(option("laps", "number of read laps per store (5)"))
            .addOption(option("seconds", "length of one measurement (3)"))
            .addOption(option("work", "directory for data and stores"))
            .addOption(option("out", "directory for the report"))
            .addOption(option("java", "home of the JDK to use (this one)"))
            .addOption(
                option(
                    "external",
                    "NAME=PROGRAM: a store measured by a program that takes Trial's arguments"));
    try {
      CommandLine options = new DefaultParser().parse(known, args);
      new CompareStores(options, "scripts/compare-stores " + String.join(" ", args)).run();
    } catch (ParseException | IllegalArgumentException e) {
      PROGRESS.println("compare-stores: " + e.getMessage());
      System.exit(2);
    }
  }

  private static Option option(String name, String description) {
    return Option.builder().longOpt(name).hasArg().desc(description).get();
  }

  private int number(String option, int otherwise) {
    return Integer.parseInt(options.getOptionValue(option, "" + otherwise));
  }

  private void run() throws IOException, InterruptedException {
    choose();
    for (int lap = 0; lap < number("builds", 3); lap++) {
      for (String name : turn(outcomes.keySet(), lap)) {
        build(name);
      }
    }
    for (String name : outcomes.keySet()) {
      for (String reading : readings(name)) {
        trial(
            "verify",
            name,
            reading,
            FLAGS,
            of(name).readings.computeIfAbsent(reading, r -> new LinkedHashMap<>()));
      }
    }
    List<String[]> all = new ArrayList<>();
    for (String name : outcomes.keySet()) {
      for (String reading : readings(name)) {
        all.add(new String[] {name, reading});
      }
    }
    List<String> flags = new ArrayList<>(FLAGS);
    flags.addAll(READ_FLAGS);
    for (int lap = 0; lap < number("laps", 5); lap++) {
      for (String[] one : turn(all, lap)) {
        warm(directory(one[0]));
        Map<String, List<Double>> found = of(one[0]).readings.get(one[1]);
        if (found != null) {
          trial("read", one[0], one[1], flags, found);
        }
      }
    }
    report();
  }

  private void choose() {
    String wanted = options.getOptionValue("stores");
    if (wanted == null) {
      Stores.names().forEach(name -> outcomes.put(name, new Outcome()));
    } else {
      for (String name : wanted.split(",", -1)) {
        outcomes.put(name.strip(), new Outcome());
      }
    }
    String[] programs = options.getOptionValues("external");
    for (String external : programs == null ? new String[0] : programs) {
      String name = external.substring(0, external.indexOf('='));
      externals.put(name, external.substring(name.length() + 1));
      outcomes.put(name, new Outcome());
    }
  }

  private Outcome of(String name) {
    Outcome outcome = outcomes.get(name);
    if (outcome == null) {
      throw new IllegalArgumentException("unknown store \"" + name + "\"");
    }
    return outcome;
  }

  private List<String> readings(String name) {
    return externals.containsKey(name) ? List.of("") : Stores.of(name).readings();
  }

  /** Returns the items in order in even laps, reversed in odd ones. */
  private static <T> List<T> turn(Iterable<T> all, int lap) {
    List<T> order = new ArrayList<>();
    all.forEach(order::add);
    if (lap % 2 == 1) {
      Collections.reverse(order);
    }
    return order;
  }

  private Path directory(String store) {
    return data.directory().resolve("stores").resolve(Stores.directory(store));
  }

  private void build(String name) throws IOException, InterruptedException {
    Path directory = directory(name);
    delete(directory);
    Files.createDirectories(directory);
    warm(data.records().file());
    trial("build", name, "", FLAGS, of(name).build);
  }

  /** Deletes a directory with everything in it, if it exists. */
  static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /** Runs one trial and adds its figures to those of earlier ones. */
  private void trial(
      String action,
      String name,
      String reading,
      List<String> flags,
      Map<String, List<Double>> figures)
      throws IOException, InterruptedException {
    if (of(name).leftOut != null) {
      return;
    }
    Path results = work.resolve("trial.properties");
    Files.deleteIfExists(results);
    Path log = work.resolve("trial.log");
    List<String> run = new ArrayList<>();
    String program = externals.get(name);
    if (program != null) {
      run.add(program);
    } else {
      String java = options.getOptionValue("java", System.getProperty("java.home"));
      run.add(Path.of(java, "bin", "java").toString());
      run.addAll(flags);
      run.addAll(List.of("-cp", System.getProperty("java.class.path"), Trial.class.getName()));
    }
    run.addAll(List.of(action, name, directory(name).toString()));
    run.addAll(List.of(data.name(), data.directory().toString(), data.records().file().toString()));
    run.addAll(
        List.of(
            "" + data.records().count(),
            results.toString(),
            reading,
            options.getOptionValue("seconds", "3")));
    double load = Machine.load();
    Process process =
        new ProcessBuilder(run)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(log.toFile()))
            .start();
    int exit = process.waitFor();
    if (exit != 0 || !Files.exists(results)) {
      String why =
          Files.readString(log)
              .lines()
              .filter(line -> line.matches(".*(Exception|Error|error).*"))
              .findFirst()
              .orElse("");
      of(name).leftOut = action + " ended with exit code " + exit + ". " + why;
      PROGRESS.println(name + ": LEFT OUT: " + of(name).leftOut);
      return;
    }
    Properties found = new Properties();
    try (Reader in = Files.newBufferedReader(results)) {
      found.load(in);
    }
    found.setProperty(action + ".load", "" + load);
    StringBuilder line = new StringBuilder(action + " " + name + " " + reading + ":");
    for (String key : new TreeSet<>(found.stringPropertyNames())) {
      double value = Double.parseDouble(found.getProperty(key));
      figures.computeIfAbsent(key, k -> new ArrayList<>()).add(value);
      line.append(String.format(" %s=%.4g", key, value));
    }
    PROGRESS.println(line);
  }

  /** Reads all files once to bring them into memory. */
  private static void warm(Path place) throws IOException {
    if (Files.exists(place)) {
      try (Stream<Path> files = Files.walk(place)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20)) {
            in.transferTo(OutputStream.nullOutputStream());
          }
        }
      }
    }
  }

  private void report() throws IOException, InterruptedException {
    String java = options.getOptionValue("java", System.getProperty("java.home"));
    List<String> flags = new ArrayList<>(FLAGS);
    flags.addAll(READ_FLAGS.stream().map(flag -> flag + " (read only)").toList());
    Map<String, String> about = new LinkedHashMap<>();
    about.put("data", data.name());
    about.put("records", "" + data.records().count());
    about.put("text bytes", "" + Files.size(data.records().file()));
    about.put("text SHA-256", Machine.sha256(data.records().file()));
    about.putAll(Machine.facts());
    about.put("JDK", Machine.jdk(Path.of(java)));
    about.put("flags", String.join(" ", flags));
    about.put("commit", Machine.commit());
    about.put("command", command);
    about.put("libraries", libraries());
    ComparisonReport report = new ComparisonReport(about, data.records().count(), outcomes);
    Path out = Path.of(options.getOptionValue("out"));
    Files.createDirectories(out);
    String name =
        "compare-"
            + data.name().replaceAll("\\.txt$", "")
            + "-jdk"
            + Machine.feature(Path.of(java));
    Files.writeString(out.resolve(name + ".md"), report.markdown());
    report.writeJson(out.resolve(name + ".json"));
    PROGRESS.println("wrote " + out.resolve(name + ".md") + " and .json");
    System.out.print(report.markdown());
  }

  private static String libraries() {
    return String.join(
        " ",
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).getFileName().toString())
            .filter(
                entry ->
                    entry.matches(
                        "(sparkey|paldb|rocksdbjni|lmdbjava|native|mph-table|zstd-jni|sux4j)-.*"))
            .map(entry -> entry.replaceAll("\\.jar$", ""))
            .toList());
  }
}
