package tech.bsdb.tools;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.cli.OutputException;
import tech.bsdb.tools.cli.UsageException;

/**
 * The {@code bsdb} command: finds the {@link Command} that the first argument names, runs it, and
 * turns exceptions into one line on stderr and an exit code: 0 done or found, 1 absent or
 * different, 2 error.
 */
public final class Main {
  private static final String POOL = "java.util.concurrent.ForkJoinPool.common.parallelism";
  private static final String LOGGING_VERBOSITY = "slf4j.internal.verbosity";

  private Main() {}

  /** Runs {@code bsdb} and exits with its code. */
  public static void main(String[] args) {
    System.exit(run(List.of(), args));
  }

  /**
   * Runs one command as a separate program: {@code java -cp bsdb.jar tech.bsdb.tools.Builder -i
   * FILE}.
   */
  public static void main(String command, String[] args) {
    System.exit(run(List.of(command), args));
  }

  private static int run(List<String> before, String[] args) {
    keepLoggingQuiet();
    sharePoolThreads();
    Console console = Console.ofProcess();
    List<String> line = new ArrayList<>(before);
    try {
      line.addAll(ProcessArguments.asTyped(args));
    } catch (UsageException unreadable) {
      report(unreadable, "bsdb", line, console);
      return Command.ERROR;
    }
    return run(line, console);
  }

  /**
   * Keeps stderr for the command's own messages: without a logging provider on the class path,
   * SLF4J would print a notice there before the first one.
   */
  private static void keepLoggingQuiet() {
    if (System.getProperty(LOGGING_VERBOSITY) == null) {
      System.setProperty(LOGGING_VERBOSITY, "ERROR");
    }
  }

  /**
   * With less than three processors, asynchronous answers of the JDK's HTTP client would each start
   * a thread, which takes as long as the rest of a request.
   */
  private static void sharePoolThreads() {
    if (Runtime.getRuntime().availableProcessors() < 3 && System.getProperty(POOL) == null) {
      System.setProperty(POOL, "2");
    }
  }

  /**
   * Runs a command line in this process.
   *
   * @return the exit code
   */
  static int run(List<String> line, Console console) {
    String program = "bsdb";
    try {
      String first = line.isEmpty() ? "--help" : line.get(0);
      switch (first) {
        case "-h", "--help", "help" -> {
          if (first.equals("help") && line.size() > 1 && !line.get(1).startsWith("-")) {
            int code = named(line.get(1)).run(List.of("--help"), console);
            console.out().flush();
            return code;
          }
          console.print(help());
        }
        case "-V", "--version", "version" -> console.print("bsdb " + version());
        default -> {
          List<String> rest = line.subList(1, line.size());
          Command command = named(first);
          program = "bsdb " + first;
          command = named(command.runs(rest));
          program = "bsdb " + command.name();
          int code = command.run(rest, console);
          console.out().flush();
          return code;
        }
      }
      console.out().flush();
      return Command.OK;
    } catch (Throwable e) { // outermost frame: every failure must become an exit code
      if (e instanceof OutputException output && output.closedPipe()) {
        return Command.OK;
      }
      report(e, program, line, console);
      return Command.ERROR;
    }
  }

  private static Command named(String name) throws UsageException {
    for (Command command : commands()) {
      if (command.name().equals(name)) {
        return command;
      }
    }
    List<String> names = commands().stream().filter(c -> !c.hidden()).map(Command::name).toList();
    String tip =
        NearestName.to(name, names)
            .map(guess -> "; did you mean \"" + guess + "\"?")
            .orElse("; the commands are " + String.join(", ", names));
    throw new UsageException("unknown command \"" + name + "\"" + tip);
  }

  /** The commands of this module, followed by those of other modules. */
  private static List<Command> commands() {
    return ServiceLoader.load(Command.class, Main.class.getClassLoader()).stream()
        .map(ServiceLoader.Provider::get)
        .sorted(Comparator.comparing(Main::isForeign))
        .toList();
  }

  private static boolean isForeign(Command command) {
    return !command.getClass().getName().startsWith(Main.class.getPackageName() + ".");
  }

  private static String help() {
    StringBuilder text = new StringBuilder();
    text.append("bsdb builds immutable key-value databases and looks up keys in them.\n\n");
    text.append("Usage: bsdb COMMAND [ARGUMENT...]\n\nCommands:\n");
    for (Command command : commands()) {
      if (!command.hidden()) {
        text.append(String.format("  %-14s%s\n", command.name(), command.summary()));
      }
    }
    text.append(
        """

        bsdb COMMAND --help shows a command's options; bsdb --version shows the version.

        Examples:
          # A database from lines of "key value", then one lookup
          bsdb build -i words.txt -o ./rdb
          bsdb get -d ./rdb apple
          # The same from CSV with a header, compressed
          bsdb build -i users.csv --csv --key-column id --value-column name -z -o ./users
          # Is every byte still what was written?
          bsdb verify -d ./users\
        """);
    return text.toString();
  }

  private static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return "%s (Java %s)"
        .formatted(version == null ? "(development)" : version, System.getProperty("java.version"));
  }

  private static void report(Throwable thrown, String program, List<String> line, Console console) {
    Diagnosis diagnosis = Diagnosis.of(thrown);
    console.say(program + ": " + diagnosis.words());
    if (thrown instanceof UsageException) {
      console.say("Try: " + program + " --help");
    } else if (diagnosis.bug()) {
      console.say("This is a bug: please report it, with the stack trace that --debug shows.");
    }
    if (wantsTrace(line)) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      console.report(trace.toString());
    }
  }

  private static boolean wantsTrace(List<String> line) {
    int end = line.indexOf("--");
    return (end < 0 ? line : line.subList(0, end)).contains("--debug");
  }
}
