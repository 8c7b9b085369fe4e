package tech.bsdb.tools.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.cli.CommandLine;

/**
 * A command's parsed options and operands. Options are named with their hyphens, as {@link Syntax}
 * declares them.
 */
public final class Arguments {
  private static final Pattern BYTES = Pattern.compile("([0-9]{1,12})([kKmMgGtT]?)");

  private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]+://");

  private final CommandLine line;
  private final Map<String, List<String>> shared;

  Arguments(CommandLine line, Map<String, List<String>> shared) {
    this.line = line;
    this.shared = shared;
  }

  /**
   * The options that a shared text of the command's help declares, in its order.
   *
   * @throws IllegalArgumentException if the help does not include it
   */
  public List<String> optionsIn(String text) {
    List<String> names = shared.get(text);
    if (names == null) {
      throw new IllegalArgumentException("not in this help: " + text);
    }
    return names;
  }

  /** Whether an option is given. */
  public boolean has(String option) {
    return line.hasOption(bare(option));
  }

  /**
   * Rejects options that do not fit.
   *
   * @param why the rest of the message, after the option's name
   * @throws UsageException if one of them is given
   */
  public void refuse(Collection<String> options, String why) throws UsageException {
    for (String option : options) {
      if (has(option)) {
        throw new UsageException(option + " " + why);
      }
    }
  }

  /**
   * Rejects options that exclude each other.
   *
   * @throws UsageException if both are given
   */
  public void refuseTogether(String one, String other, String reason) throws UsageException {
    if (has(one) && has(other)) {
      throw new UsageException(one + " and " + other + " cannot be combined: " + reason);
    }
  }

  /**
   * Rejects an empty value.
   *
   * @param what what the option takes
   * @throws UsageException if a value of the option is empty
   */
  public void refuseEmpty(String option, String what) throws UsageException {
    if (all(option).contains("")) {
      throw new UsageException(option + " takes " + what + ", not \"\"");
    }
  }

  /** Every value given for an option, in order. */
  public List<String> all(String option) {
    String[] values = line.getOptionValues(bare(option));
    return values == null ? List.of() : List.of(values);
  }

  /** The value last given for an option. */
  public Optional<String> text(String option) {
    List<String> values = all(option);
    return values.isEmpty() ? Optional.empty() : Optional.of(values.get(values.size() - 1));
  }

  /** The value last given for an option, or {@code otherwise} if there is none. */
  public String text(String option, String otherwise) {
    return text(option).orElse(otherwise);
  }

  /**
   * The path that an option names, which need not exist.
   *
   * @throws UsageException if Java cannot express it
   */
  public Optional<Path> path(String option) throws UsageException {
    Optional<String> value = text(option);
    return value.isEmpty() ? Optional.empty() : Optional.of(pathOf(option, value.get()));
  }

  /** {@link #path(String)}, or {@code otherwise} if the option is not given. */
  public Path path(String option, String otherwise) throws UsageException {
    return path(option).orElse(Path.of(otherwise));
  }

  /**
   * The path that an operand names.
   *
   * @param name the operand's name, for messages
   * @throws UsageException if Java cannot express it
   */
  public Path pathOperand(int place, String name) throws UsageException {
    return pathOf(name, operands().get(place));
  }

  /**
   * A whole number.
   *
   * @throws UsageException if the value is not a number from {@code least} to {@code most}
   */
  public long number(String option, long least, long most, long otherwise) throws UsageException {
    Optional<String> value = text(option);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(value.get());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // reported below, together with the range
    }
    String range =
        most == Long.MAX_VALUE ? "of at least " + least : "from " + least + " to " + most;
    throw new UsageException(
        option + " takes a whole number " + range + ", not \"" + value.get() + "\"");
  }

  /**
   * A number of bytes: a whole number, with k, m, g or t behind it for powers of 1,024.
   *
   * @throws UsageException if the value is anything else, or out of range
   */
  public long bytes(String option, long least, long most, long otherwise) throws UsageException {
    Optional<String> value = text(option);
    if (value.isEmpty()) {
      return otherwise;
    }
    Matcher parts = BYTES.matcher(value.get());
    if (parts.matches()) {
      int shift = 10 * (1 + "kmgt".indexOf(parts.group(2).toLowerCase(Locale.ROOT)));
      long bytes = Long.parseLong(parts.group(1)) << (parts.group(2).isEmpty() ? 0 : shift);
      if (bytes >= least && bytes <= most) {
        return bytes;
      }
    }
    throw new UsageException(
        "%s takes a size such as 512m or 10g, from %d to %d bytes, not \"%s\""
            .formatted(option, least, most, value.get()));
  }

  /** {@link #number} as an {@code int}. */
  public int integer(String option, int least, int most, int otherwise) throws UsageException {
    return (int) number(option, least, most, otherwise);
  }

  /**
   * A decimal number.
   *
   * @throws UsageException if the value is not a number from {@code least} to {@code most}
   */
  public double decimal(String option, double least, double most, double otherwise)
      throws UsageException {
    Optional<String> value = text(option);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      double number = Double.parseDouble(value.get());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // reported below, together with the range
    }
    throw new UsageException(
        "%s takes a number from %s to %s, not \"%s\""
            .formatted(option, plain(least), plain(most), value.get()));
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? String.valueOf((long) number) : String.valueOf(number);
  }

  /**
   * A constant of an enumeration, typed in lower case.
   *
   * @throws UsageException if the value names no constant
   */
  public <E extends Enum<E>> E choice(String option, Class<E> type, E otherwise)
      throws UsageException {
    return choice(option, type, otherwise, each -> each.name().toLowerCase(Locale.ROOT));
  }

  /** Like the other method, with constants that are named otherwise on the command line. */
  public <E extends Enum<E>> E choice(
      String option, Class<E> type, E otherwise, Function<E, String> name) throws UsageException {
    Optional<String> value = text(option);
    if (value.isEmpty()) {
      return otherwise;
    }
    List<String> words = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      String word = name.apply(constant);
      if (word.equals(value.get())) {
        return constant;
      }
      words.add(word);
    }
    String last = words.remove(words.size() - 1);
    throw new UsageException(
        "%s takes %s or %s, not \"%s\""
            .formatted(option, String.join(", ", words), last, value.get()));
  }

  /**
   * The arguments that are not options: all after {@code --}, and those without a leading hyphen.
   */
  public List<String> operands() {
    return line.getArgList();
  }

  /**
   * The path that a part of an argument names.
   *
   * @param of the option or operand, for messages
   * @throws UsageException if it is a URL, or Java cannot express it
   */
  public static Path pathOf(String of, String value) throws UsageException {
    if (URL.matcher(value).lookingAt()) {
      throw new UsageException(
          ("%s takes a path of this machine, not the URL %s; bsdb push and bsdb pull copy databases"
                  + " to other places and from there, and get, scan, stat, verify, diff and serve"
                  + " read them where they are")
              .formatted(of, value));
    }
    try {
      return ArgumentText.path(value);
    } catch (InvalidPathException e) {
      throw new UsageException(of + " \"" + e.getInput() + "\": not a path here: " + e.getReason());
    }
  }

  private static String bare(String option) {
    return option.startsWith("--") ? option.substring(2) : option.substring(1);
  }
}
