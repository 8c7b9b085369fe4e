package tech.bsdb.tools.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.MissingArgumentException;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;
import org.apache.commons.cli.UnrecognizedOptionException;

/**
 * The options and operands that a command accepts, in the order of its help.
 *
 * <p>A name of one to four letters takes one hyphen ({@code -i}, {@code -temp}), as in the first
 * versions; a name declared with two hyphens takes two. Every command also has {@code --debug},
 * {@code -h} and {@code --help}. An option with a value may be given only once, unless it is
 * declared repeatable.
 *
 * <p>Arguments that are not UTF-8 are rejected, except paths, keys, and the values of options
 * declared with {@link #bytes}.
 */
public final class Syntax {
  private static final int COLUMNS = 100;
  private static final int MEANING = 30;

  /** Kinds of values, and operands, whose bytes the command itself checks. */
  private static final Set<String> PATHS = Set.of("FILE", "DIR", "PATH", "[NAME=]DIR");

  private static final Pattern RAW_OPERANDS = Pattern.compile("\\b(KEY|DB|STORE)\\b");

  private final String command;
  private final String operands;
  private final String purpose;
  private final Options options = new Options();
  private final Set<String> repeatable = new HashSet<>();
  private final Set<String> raw = new HashSet<>();
  private final Map<String, String> refused = new HashMap<>();
  private final List<String> help = new ArrayList<>();
  private final List<String> footer = new ArrayList<>();

  /**
   * Begins a syntax.
   *
   * @param command the command's name
   * @param operands the operands after the options, such as {@code KEY...}; empty if there are none
   * @param purpose what the command does, in full sentences
   */
  public Syntax(String command, String operands, String purpose) {
    this.command = command;
    this.operands = operands;
    this.purpose = purpose;
  }

  /** Adds a heading above the options that follow. */
  public Syntax section(String title) {
    help.add("");
    help.add(title + ":");
    return this;
  }

  /** Adds an option without a value. */
  public Syntax flag(String name, String meaning) {
    return add(option(name).desc(meaning).get());
  }

  /** Adds an option with a value, whose kind {@code argument} names in capitals. */
  public Syntax value(String name, String argument, String meaning) {
    return add(option(name).hasArg().argName(argument).desc(meaning).get());
  }

  /** Adds an option whose value may be any bytes; {@link ArgumentText#bytes} returns them. */
  public Syntax bytes(String name, String argument, String meaning) {
    raw.add(name);
    return value(name, argument, meaning);
  }

  /** Adds a repeatable option with a value. */
  public Syntax values(String name, String argument, String meaning) {
    repeatable.add(name);
    return value(name, argument, meaning);
  }

  /**
   * Explains why options of similar commands are not among those of this one.
   *
   * @param reason follows the option's name in the message
   * @param names the options, with their hyphens
   */
  public Syntax refuse(String reason, String... names) {
    for (String name : names) {
      refused.put(name, reason);
    }
    return this;
  }

  /** Adds an example to the end of the help, preceded by a line that says what it does. */
  public Syntax example(String does, String commandLine) {
    footer.add("  # " + does);
    footer.add("  " + commandLine);
    return this;
  }

  /** The command's name. */
  String command() {
    return command;
  }

  /** The names of the options declared so far, with their hyphens. */
  public List<String> names() {
    return options.getOptions().stream().map(Syntax::shown).toList();
  }

  /**
   * Parses arguments.
   *
   * @throws UsageException if they do not match this syntax
   */
  public Arguments parse(List<String> arguments) throws UsageException {
    Options all = new Options();
    options.getOptions().forEach(all::addOption);
    all.addOption(option("--debug").get());
    all.addOption(Option.builder("h").longOpt("help").get());
    DefaultParser parser =
        DefaultParser.builder()
            .setAllowPartialMatching(false)
            .setStripLeadingAndTrailingQuotes(false)
            .get();
    try {
      Arguments parsed = new Arguments(parser.parse(all, arguments.toArray(String[]::new)));
      if (operands.isEmpty() && !parsed.operands().isEmpty() && !parsed.has("--help")) {
        throw new UsageException(
            "unexpected argument \"" + parsed.operands().get(0) + "\"" + unexpectedTip());
      }
      if (!parsed.has("--help")) {
        refuseRepeats(parsed);
        refuseBytes(parsed);
      }
      return parsed;
    } catch (UnrecognizedOptionException e) {
      throw new UsageException(unknown(e.getOption()));
    } catch (MissingArgumentException e) {
      throw new UsageException(
          "%s needs a value: %s %s"
              .formatted(shown(e.getOption()), shown(e.getOption()), e.getOption().getArgName()));
    } catch (ParseException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  private void refuseRepeats(Arguments parsed) throws UsageException {
    for (Option option : options.getOptions()) {
      String name = shown(option);
      if (option.hasArg() && !repeatable.contains(name) && parsed.all(name).size() > 1) {
        throw new UsageException(
            name + " is given twice: \"" + String.join("\" and \"", parsed.all(name)) + "\"");
      }
    }
  }

  private void refuseBytes(Arguments parsed) throws UsageException {
    for (Option option : options.getOptions()) {
      String name = shown(option);
      if (option.hasArg() && !PATHS.contains(option.getArgName()) && !raw.contains(name)) {
        refuseBytes(name, parsed.all(name));
      }
    }
    if (!RAW_OPERANDS.matcher(operands).find()) {
      refuseBytes("argument", parsed.operands());
    }
  }

  private static void refuseBytes(String name, List<String> values) throws UsageException {
    for (String value : values) {
      if (!ArgumentText.isText(value)) {
        throw new UsageException(name + " \"" + ArgumentText.shown(value) + "\" is not UTF-8");
      }
    }
  }

  private String unexpectedTip() {
    if (options.hasOption("i")) {
      return " (put -i before each input: -i FILE -i FILE)";
    }
    return options.hasOption("d") ? " (name the database with -d)" : "";
  }

  private String unknown(String typed) {
    String name = typed.contains("=") ? typed.substring(0, typed.indexOf('=')) : typed;
    String reason = refused.get(name);
    if (reason != null) {
      return name + " " + reason;
    }
    List<String> names = new ArrayList<>(List.of("--debug", "--help"));
    options.getOptions().forEach(option -> names.add(shown(option)));
    Optional<String> exact =
        names.stream().filter(n -> n.replace("-", "").equals(name.replace("-", ""))).findFirst();
    String guess =
        exact
            .or(() -> NearestName.to(name, names))
            .map(n -> "; did you mean " + n + "?")
            .orElse("");
    String dashed =
        operands.contains("KEY") ? " (put a key that begins with \"-\" after \"--\")" : "";
    return "unknown option " + name + guess + dashed;
  }

  /** The text for {@code --help}, at most 100 columns wide. */
  public String help() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "Usage: bsdb " + command + " [OPTION...]" + (operands.isEmpty() ? "" : " " + operands));
    lines.add("");
    wrap(purpose, 0, lines);
    lines.addAll(help);
    lines.add("");
    describe("-h, --help", "show this help", lines);
    describe("--debug", "show the stack trace of an error", lines);
    if (!footer.isEmpty()) {
      lines.add("");
      lines.add("Examples:");
      lines.addAll(footer);
    }
    return String.join("\n", lines);
  }

  private Syntax add(Option option) {
    options.addOption(option);
    String argument = option.hasArg() ? " " + option.getArgName() : "";
    describe(shown(option) + argument, option.getDescription(), help);
    return this;
  }

  private static Option.Builder option(String name) {
    return name.startsWith("--")
        ? Option.builder().longOpt(name.substring(2))
        : Option.builder(name.substring(1));
  }

  static String shown(Option option) {
    return option.getOpt() == null ? "--" + option.getLongOpt() : "-" + option.getOpt();
  }

  private static void describe(String option, String meaning, List<String> lines) {
    String left = "  " + option;
    List<String> right = new ArrayList<>();
    wrap(meaning, MEANING, right);
    if (left.length() < MEANING - 1) {
      right.set(0, left + right.get(0).substring(left.length()));
    } else {
      right.add(0, left);
    }
    lines.addAll(right);
  }

  private static void wrap(String text, int indent, List<String> lines) {
    StringBuilder line = new StringBuilder(" ".repeat(indent));
    for (String word : text.split(" ", -1)) {
      if (line.length() > indent && line.length() + 1 + word.length() > COLUMNS) {
        lines.add(line.toString());
        line.setLength(indent);
      }
      line.append(line.length() > indent ? " " : "").append(word);
    }
    lines.add(line.toString());
  }
}
