package tech.bsdb.tools.make;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/** What the records of a build or of a merge are read from. */
public enum RecordFormat {
  /** Text lines, CSV or JSON lines. */
  TEXT,
  /** Parquet files. */
  PARQUET;

  private static final String OPTION = "--format";

  /**
   * Finds the format of a command line, before anything else of it is read: what {@code --format}
   * says, or else what the names of the inputs do.
   *
   * @throws UsageException if some inputs are Parquet by their names, and others are not
   */
  public static RecordFormat of(List<String> line) throws UsageException {
    @Nullable String text = null;
    @Nullable String parquet = null;
    for (int i = 0; i < line.size() && !line.get(i).equals("--"); i++) {
      String format = value(line, i, OPTION);
      if (format != null) {
        return format.equals("parquet") ? PARQUET : TEXT;
      }
      String input = value(line, i, "-i");
      if (input != null && input.matches("(?s).*\\.(parquet|parq)/*")) {
        parquet = input;
      } else if (input != null) {
        text = input;
      }
    }
    if (text != null && parquet != null) {
      throw new UsageException(
          "by their names, \"%s\" is Parquet and \"%s\" is not (one build reads one kind; --format text, or"
                  .formatted(parquet, text)
              + " --format parquet, says which)");
    }
    return parquet != null ? PARQUET : TEXT;
  }

  /** The value of an option that is the next argument, or a part of it; null if there is none. */
  private static @Nullable String value(List<String> line, int at, String option) {
    String word = line.get(at);
    if (word.startsWith(option + "=")) {
      return word.substring(option.length() + 1);
    }
    return word.equals(option) && at + 1 < line.size() ? line.get(at + 1) : null;
  }

  /**
   * Checks that arguments do not ask for another format.
   *
   * @throws UsageException if they do
   */
  void requireIn(Arguments arguments) throws UsageException {
    if (arguments.choice(OPTION, RecordFormat.class, this) != this) {
      throw new UsageException(
          "--format text: this command reads Parquet only (bsdb build and bsdb merge read both)");
    }
  }
}
