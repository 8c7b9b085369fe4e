package tech.bsdb.tools.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.cli.CommandLine;

/**
 * A command's options and operands; options go by their names with hyphens, as {@link Syntax}
 * declared them.
 */
public final class Arguments {
  private final CommandLine line;

  Arguments(CommandLine line) {
    this.line = line;
  }

  /** Whether an option is given. */
  public boolean has(String option) {
    return line.hasOption(bare(option));
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

  /** The value last given for an option, or another where there is none. */
  public String text(String option, String otherwise) {
    return text(option).orElse(otherwise);
  }

  /**
   * The path that an option names, which need not be there.
   *
   * @throws UsageException if Java cannot name it
   */
  public Optional<Path> path(String option) throws UsageException {
    Optional<String> value = text(option);
    return value.isEmpty() ? Optional.empty() : Optional.of(pathOf(option, value.get()));
  }

  /** {@link #path(String)}, or another path where there is none. */
  public Path path(String option, String otherwise) throws UsageException {
    return path(option).orElse(Path.of(otherwise));
  }

  /**
   * The path that an operand names.
   *
   * @param name what the operand is called
   * @throws UsageException if Java cannot name it
   */
  public Path pathOperand(int place, String name) throws UsageException {
    return pathOf(name, operands().get(place));
  }

  /**
   * A whole number.
   *
   * @throws UsageException if the value is no number, or not in {@code least} to {@code most}
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
      // said below, together with the range
    }
    String range =
        most == Long.MAX_VALUE ? "of at least " + least : "from " + least + " to " + most;
    throw new UsageException(
        option + " takes a whole number " + range + ", not \"" + value.get() + "\"");
  }

  /** {@link #number} for what fits an {@code int}. */
  public int integer(String option, int least, int most, int otherwise) throws UsageException {
    return (int) number(option, least, most, otherwise);
  }

  /**
   * One of an enumeration's constants, typed in lower case.
   *
   * @throws UsageException if the value is none of them
   */
  public <E extends Enum<E>> E choice(String option, Class<E> type, E otherwise)
      throws UsageException {
    Optional<String> value = text(option);
    if (value.isEmpty()) {
      return otherwise;
    }
    List<String> words = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      String word = constant.name().toLowerCase(Locale.ROOT);
      if (word.equals(value.get())) {
        return constant;
      }
      words.add(word);
    }
    String last = words.remove(words.size() - 1);
    throw new UsageException(
        option
            + " takes "
            + String.join(", ", words)
            + " or "
            + last
            + ", not \""
            + value.get()
            + "\"");
  }

  /** What is no option: everything behind {@code --}, and what does not begin with a hyphen. */
  public List<String> operands() {
    return line.getArgList();
  }

  private static Path pathOf(String of, String value) throws UsageException {
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
