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
 * <p>The help declares them: a text for each command among the resources, {@code help/NAME.txt}. A
 * line that is not indented begins an entry, whose text is in the indented lines below it:
 *
 * <pre>
 * Usage: bsdb get [OPTION...] KEY...   the first entry: the operands, and what the command does
 * Input:                               a heading
 * --json                               an option without a value
 * -d DIR                               one with a value, whose kind is in capitals
 * -i FILE (repeatable)                 one that may be given several times
 * -s TEXT (any bytes)                  one whose value ArgumentText.bytes returns
 * &#64;hadoop                              the entries of help/shared/hadoop.txt
 * ! -c -z                              options of similar commands, and why they are refused
 * # one key                            what an example does, and the example
 * </pre>
 *
 * <p>A name of one to four letters takes one hyphen ({@code -i}, {@code -temp}), as in the first
 * versions; a name declared with two hyphens takes two. Every command also has {@code --debug},
 * {@code -h} and {@code --help}. An option with a value may be given only once, unless it is
 * declared repeatable.
 *
 * <p>Arguments that are not UTF-8 are rejected, except paths, keys, and the values of options
 * declared with any bytes.
 */
public final class Syntax {
  private static final String HELP = "/tech/bsdb/tools/help/";
  private static final int COLUMNS = 100;
  private static final int MEANING = 30;

  /** Kinds of values, and operands, whose bytes the command itself checks. */
  private static final Set<String> PATHS = Set.of("FILE", "DIR", "PATH", "[NAME=]DIR");

  private static final Pattern RAW_OPERANDS = Pattern.compile("\\b(KEY|DB|STORE)\\b");

  private final String usage;
  private final String operands;
  private final String purpose;
  private final Options options = new Options();
  private final Set<String> repeatable = new HashSet<>();
  private final Set<String> raw = new HashSet<>();
  private final Map<String, String> refused = new HashMap<>();
  private final Map<String, List<String>> shared = new HashMap<>();
  private final List<String> help = new ArrayList<>();
  private final List<String> footer = new ArrayList<>();

  /** Reads the help of a command, which is among the resources. */
  public static Syntax of(String command) {
    return new Syntax(command, text(command));
  }

  /**
   * Reads a help.
   *
   * @throws IllegalArgumentException if it is not written as described above
   */
  Syntax(String command, String text) {
    List<HelpEntry> entries = HelpEntry.parse(text);
    HelpEntry first = entries.remove(0);
    usage = first.head;
    String all = "Usage: bsdb " + command + " [OPTION...]";
    if (!usage.startsWith(all)) {
      throw new IllegalArgumentException("not \"" + all + "\": " + usage);
    }
    operands = usage.substring(all.length()).strip();
    purpose = first.text();
    entries.forEach(entry -> add(entry, List.of()));
  }

  private static String text(String name) {
    return TextResource.text(Syntax.class, HELP + name + ".txt");
  }

  /** A line, and the indented ones below it. */
  private record HelpEntry(String head, String body) {
    private static final Pattern BEGINS = Pattern.compile("\n+(?=[^ \n])");

    static List<HelpEntry> parse(String text) {
      List<HelpEntry> entries = new ArrayList<>();
      for (String entry : BEGINS.split(text, -1)) {
        int end = (entry + "\n").indexOf('\n');
        entries.add(new HelpEntry(entry.substring(0, end), entry.substring(end).strip()));
      }
      return entries;
    }

    /** The lines below the first one, joined. */
    String text() {
      return body.replace("\n  ", " ");
    }
  }

  /**
   * Adds an entry.
   *
   * @param within the names of the options in each of the shared texts that it is in
   */
  private void add(HelpEntry entry, List<List<String>> within) {
    String head = entry.head;
    if (head.startsWith("-")) {
      String name = add(head.split(" ", 3), entry.text());
      within.forEach(names -> names.add(name));
    } else if (head.startsWith("@")) {
      String name = head.substring(1);
      List<String> names = new ArrayList<>();
      shared.put(name, names);
      List<List<String>> deeper = new ArrayList<>(within);
      deeper.add(names);
      HelpEntry.parse(text("shared/" + name)).forEach(each -> add(each, deeper));
    } else if (head.startsWith("! ")) {
      for (String name : head.substring(2).split(" ", -1)) {
        refused.put(name, entry.text());
      }
    } else if (head.startsWith("# ")) {
      footer.add("  " + head);
      footer.add("  " + entry.body);
    } else if (head.endsWith(":")) {
      help.add("");
      help.add(head);
    } else {
      throw new IllegalArgumentException("not an entry of a help: " + head);
    }
  }

  /**
   * Adds an option.
   *
   * @param words its name, with its hyphens; the kind of its value, and a mark, if it has them
   * @return its name
   */
  private String add(String[] words, String meaning) {
    String name = words[0];
    Option.Builder option = option(name);
    if (words.length > 1) {
      option.hasArg().argName(words[1]);
    }
    if (words.length > 2) {
      switch (words[2]) {
        case "(repeatable)" -> repeatable.add(name);
        case "(any bytes)" -> raw.add(name);
        default -> throw new IllegalArgumentException("no mark of an option: " + words[2]);
      }
    }
    options.addOption(option.get());
    describe(name + (words.length > 1 ? " " + words[1] : ""), meaning, help);
    return name;
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
      Arguments parsed = new Arguments(parser.parse(all, arguments.toArray(String[]::new)), shared);
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
    lines.add(usage);
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
