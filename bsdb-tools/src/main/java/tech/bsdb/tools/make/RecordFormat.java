package tech.bsdb.tools.make;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.TableFormat;

/** What the records of a build or of a merge are read from. */
public enum RecordFormat {
  /** Text lines, CSV or JSON lines. */
  TEXT("text", null),
  /** Parquet files. */
  PARQUET("Parquet", "parquet|parq"),
  /** Avro's object container files. */
  AVRO("Avro", "avro"),
  /** ORC files. */
  ORC("ORC", "orc"),
  /** Files and streams of Arrow IPC, which Feather of version 2 is. */
  ARROW("Arrow", "arrow|feather|ipc|arrows"),
  /** Tables of Delta Lake. */
  DELTA("a Delta Lake table", null),
  /** Tables of Iceberg. */
  ICEBERG("an Iceberg table", null);

  private static final String OPTION = "--format";

  private final String title;
  private final @Nullable Pattern names;

  RecordFormat(String title, @Nullable String suffixes) {
    this.title = title;
    this.names = suffixes == null ? null : Pattern.compile("(?s).*\\.(" + suffixes + ")/*");
  }

  /** Returns what is read, for messages. */
  String title() {
    return title;
  }

  /** Whether it is of tables, whose versions {@code --as-of} names. */
  boolean isLake() {
    return this == DELTA || this == ICEBERG;
  }

  /** Returns the word for the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Finds the format of a command line, before anything else of it is read: what {@code --format}
   * says, or else what the names of the inputs do, and the logs of tables in local directories.
   *
   * @throws UsageException if the names of the inputs are those of several formats
   */
  public static RecordFormat of(List<String> line) throws UsageException {
    Map<RecordFormat, String> inputs = new LinkedHashMap<>();
    boolean tables =
        line.stream().noneMatch(word -> word.startsWith("-nn") || word.equals("--raw-files"));
    for (int i = 0; i < line.size() && !line.get(i).equals("--"); i++) {
      String format = value(line, i, OPTION);
      if (format != null) {
        return ofWord(format);
      }
      String input = value(line, i, "-i");
      if (input != null) {
        inputs.putIfAbsent(ofInput(input, tables), input);
      }
    }
    return only(inputs);
  }

  /** The format of a word; text if there is none, so that the command for text complains. */
  private static RecordFormat ofWord(String word) {
    for (RecordFormat format : values()) {
      if (format.word().equals(word)) {
        return format;
      }
    }
    return TEXT;
  }

  /**
   * Returns the format of an input.
   *
   * @param tables whether it may be a local table
   */
  private static RecordFormat ofInput(String input, boolean tables) {
    String table = tables ? TableFormat.ofInput(input) : null;
    if (table != null) {
      return ofWord(table);
    }
    for (RecordFormat format : values()) {
      if (format.names != null && format.names.matcher(input).matches()) {
        return format;
      }
    }
    return TEXT;
  }

  private static RecordFormat only(Map<RecordFormat, String> inputs) throws UsageException {
    if (inputs.isEmpty()) {
      return TEXT;
    }
    List<RecordFormat> formats = inputs.keySet().stream().sorted().toList();
    RecordFormat last = formats.get(formats.size() - 1);
    if (formats.size() > 1) {
      RecordFormat first = formats.get(0);
      throw new UsageException(
          ("by their names, \"%s\" is %s and \"%s\" is %s (one build reads one kind; --format %s,"
                  + " or --format %s, says which)")
              .formatted(
                  inputs.get(last),
                  last.title,
                  inputs.get(first),
                  first == TEXT ? "not" : first.title,
                  first.word(),
                  last.word()));
    }
    return last;
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
          OPTION
              + " "
              + arguments.text(OPTION, "")
              + ": this command reads text only (bsdb build and bsdb merge read all formats)");
    }
  }

  /**
   * Finds the format of typed rows that arguments ask for; Parquet if nothing says otherwise.
   *
   * @throws UsageException if it is text, or the names of the inputs are those of several formats
   */
  static RecordFormat ofRows(Arguments arguments) throws UsageException {
    RecordFormat asked = arguments.choice(OPTION, RecordFormat.class, PARQUET);
    if (asked == TEXT) {
      throw new UsageException(
          "--format text: this command reads typed rows only (bsdb build and bsdb merge read both)");
    }
    if (arguments.has(OPTION)) {
      return asked;
    }
    boolean tables = !arguments.has("-nn") && !arguments.has("--raw-files");
    Map<RecordFormat, String> inputs = new LinkedHashMap<>();
    for (String input : arguments.all("-i")) {
      RecordFormat named = ofInput(input, tables);
      inputs.putIfAbsent(named == TEXT ? PARQUET : named, input);
    }
    return inputs.isEmpty() ? PARQUET : only(inputs);
  }
}
