package tech.bsdb.tools.make;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Escapes;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.input.Format;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.rows.CsvRows;
import tech.bsdb.tools.rows.FieldNames;
import tech.bsdb.tools.rows.JsonRows;
import tech.bsdb.tools.rows.RowResolution;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.text.Utf8;

/** Options for the records: where they are and how they are written. */
public final class SourceOptions {
  private static final List<String> CSV_ONLY =
      List.of("--key-column", "--value-column", "--csv-values", "--csv-delimiter");

  private static final String AVRO_SCHEMA = "--avro-schema";
  private static final String DELETE_FIELD = "--delete-field";
  private static final String IGNORE_EXTRA = "--ignore-extra-fields";

  /** The options of records that say nothing about keys to delete. */
  public static final List<String> OF_RECORDS =
      List.of(
          "-s",
          "--value-encoding",
          "--on-bad-line",
          "--rejects",
          "--csv",
          "--key-column",
          "--value-column",
          "--csv-values",
          "--csv-delimiter",
          "--jsonl",
          "--key-field",
          AVRO_SCHEMA,
          IGNORE_EXTRA,
          DELETE_FIELD);

  /** The largest schema that a database keeps, in bytes. */
  private static final int LONGEST_SCHEMA = 8 << 20;

  private SourceOptions() {}

  /**
   * Reads the options.
   *
   * @throws UsageException if a value is wrong, or options conflict
   */
  public static InputOptions of(Arguments arguments) throws UsageException {
    if (arguments.all("-i").isEmpty()) {
      throw new UsageException(
          "no input given (-i); for example: bsdb build -i words.txt -o ./rdb");
    }
    TargetOptions.refuseSameFile(arguments, "--rejects", AVRO_SCHEMA);
    return of(arguments, rows(arguments));
  }

  /**
   * Reads the options for the changes of a database.
   *
   * @param stored the schema of its rows, or null if its values are bytes
   * @throws UsageException if a value is wrong, options conflict, or the changes are not like the
   *     database
   */
  public static InputOptions ofChanges(Arguments arguments, @Nullable RowSchema stored)
      throws UsageException {
    TargetOptions.refuseSameFile(arguments, "--rejects", AVRO_SCHEMA);
    DeleteField deleteField = deleteField(arguments);
    if (deleteField != null && !arguments.has("--csv") && !arguments.has("--jsonl")) {
      throw new UsageException(
          DELETE_FIELD
              + " needs --csv or --jsonl: text lines have no fields; name keys to delete"
              + " in a file of their own with --delete");
    }
    return of(arguments, changedRows(arguments, stored)).withDeleteField(deleteField);
  }

  /** Reads the mark of deletions; null if there is none. */
  public static @Nullable DeleteField deleteField(Arguments arguments) throws UsageException {
    Optional<String> given = arguments.text(DELETE_FIELD);
    try {
      return given.isEmpty() ? null : DeleteField.parse(given.get());
    } catch (IllegalArgumentException e) {
      throw new UsageException(DELETE_FIELD + " " + e.getMessage());
    }
  }

  /** Reads how the keys to delete are written. */
  public static InputOptions ofKeys(Arguments arguments, List<String> files) throws UsageException {
    return InputOptions.defaults()
        .withInputs(files)
        .withFormat(new Format.Keys())
        .withEncoding(charset(arguments))
        .withKeyEncoding(arguments.choice("--key-encoding", Encoding.class, Encoding.UTF8))
        .withAllowEmptyKey(arguments.has("--allow-empty-key"))
        .withThreads(arguments.integer("--threads", 1, 256, BuildOptions.defaults().threads()));
  }

  private static InputOptions of(Arguments arguments, Format.@Nullable Rows rows)
      throws UsageException {
    RecordFormat.TEXT.requireIn(arguments);
    List<String> inputs = arguments.all("-i");
    arguments.refuseEmpty("-i", "a file, a directory or -");
    if (inputs.indexOf("-") != inputs.lastIndexOf("-")) {
      throw new UsageException("-i - is given twice, but there is only one standard input");
    }
    OnBadLine onBadLine = onBadLine(arguments);
    Format format = format(arguments, rows);
    Encoding valueEncoding = arguments.choice("--value-encoding", Encoding.class, Encoding.UTF8);
    if (valueEncoding != Encoding.UTF8 && !hasSimpleValue(format)) {
      throw new UsageException(
          "--value-encoding needs a value that is a single text: that of a text line, or one"
              + " --value-column");
    }
    return ofKeys(arguments, inputs)
        .withFormat(format)
        .withValueEncoding(valueEncoding)
        .withOnBadLine(onBadLine)
        .withRejects(arguments.path("--rejects").orElse(null));
  }

  /** What to do with a line or a row that is not a record; a file of these needs them skipped. */
  static OnBadLine onBadLine(Arguments arguments) throws UsageException {
    OnBadLine onBadLine = arguments.choice("--on-bad-line", OnBadLine.class, OnBadLine.FAIL);
    if (onBadLine != OnBadLine.SKIP) {
      arguments.refuse(List.of("--rejects"), "needs --on-bad-line skip");
    }
    return onBadLine;
  }

  private static Format format(Arguments arguments, Format.@Nullable Rows rows)
      throws UsageException {
    boolean csv = arguments.has("--csv");
    boolean jsonl = arguments.has("--jsonl");
    arguments.refuseTogether("--csv", "--jsonl", "the input is one or the other");
    if (!csv) {
      arguments.refuse(CSV_ONLY, "needs --csv");
    }
    if (!jsonl) {
      arguments.refuse(List.of("--key-field"), "needs --jsonl");
    }
    if (arguments.has("-s") && (csv || jsonl)) {
      throw new UsageException(
          csv
              ? "-s is for text lines; CSV takes --csv-delimiter"
              : "-s is for text lines, not for --jsonl");
    }
    if (csv) {
      return csv(arguments, rows);
    }
    return jsonl ? jsonLines(arguments, rows) : new Format.Text(separator(arguments));
  }

  private static Format csv(Arguments arguments, Format.@Nullable Rows rows) throws UsageException {
    List<String> valueColumns = arguments.all("--value-column");
    String delimiter = Escapes.resolve("--csv-delimiter", arguments.text("--csv-delimiter", ","));
    boolean usable =
        delimiter.length() == 1 && delimiter.charAt(0) > 0 && delimiter.charAt(0) < 127;
    if (!usable || "\"\r\n".contains(delimiter)) {
      throw new UsageException(
          "--csv-delimiter takes one ASCII character other than a quote or a line end, not \""
              + delimiter
              + "\"");
    }
    if (arguments.has("--csv-values") && valueColumns.size() == 1) {
      throw new UsageException(
          "--csv-values is for several columns; the value of one --value-column is its text");
    }
    return new Format.Csv(
        arguments.text("--key-column").orElse(null),
        valueColumns,
        arguments.choice("--csv-values", Format.Csv.Values.class, Format.Csv.Values.JSON),
        delimiter.charAt(0),
        rows);
  }

  private static Format jsonLines(Arguments arguments, Format.@Nullable Rows rows)
      throws UsageException {
    return new Format.JsonLines(
        arguments
            .text("--key-field")
            .orElseThrow(
                () ->
                    new UsageException(
                        "--jsonl needs --key-field FIELD, the field that is the key")),
        rows);
  }

  private static Format.@Nullable Rows rows(Arguments arguments) throws UsageException {
    Optional<Path> file = arguments.path(AVRO_SCHEMA);
    if (file.isEmpty()) {
      arguments.refuse(List.of(IGNORE_EXTRA), "needs " + AVRO_SCHEMA);
      return null;
    }
    if (!arguments.has("--csv") && !arguments.has("--jsonl")) {
      throw new UsageException(AVRO_SCHEMA + " needs --csv or --jsonl: text lines have no columns");
    }
    for (String other : List.of("--value-column", "--csv-values")) {
      arguments.refuseTogether(AVRO_SCHEMA, other, "a row has the columns of its schema");
    }
    arguments.refuseTogether(
        AVRO_SCHEMA, "--value-encoding", "the schema defines the values of a row");
    RowSchema schema = schema(file.get());
    requireWritable(schema, arguments, AVRO_SCHEMA + " " + file.get());
    int longest =
        arguments.has("-a")
            ? arguments.integer(
                "--approximate-width", 1, 255, BuildOptions.DEFAULT_APPROXIMATE_WIDTH)
            : RecordBatch.MAX_VALUE_LENGTH;
    return new Format.Rows(schema, arguments.has(IGNORE_EXTRA), longest);
  }

  private static Format.@Nullable Rows changedRows(Arguments arguments, @Nullable RowSchema stored)
      throws UsageException {
    Optional<Path> file = arguments.path(AVRO_SCHEMA);
    if (stored == null) {
      arguments.refuse(
          List.of(AVRO_SCHEMA, IGNORE_EXTRA),
          "is for databases of typed rows, but the values of this one are plain");
      return null;
    }
    if (!arguments.has("--csv") && !arguments.has("--jsonl")) {
      throw new UsageException(
          "the database has typed rows, and text lines have no columns: give --csv or --jsonl, or"
              + " use bsdb merge-parquet (bsdb stat --schema shows the columns)");
    }
    arguments.refuse(
        List.of("--value-column", "--csv-values", "--value-encoding"),
        "is for plain values, but the database has typed rows, whose schema says what a value is");
    RowSchema written = file.isPresent() ? schema(file.get()) : stored;
    String origin =
        file.isPresent() ? AVRO_SCHEMA + " " + file.get() : "the schema of the database";
    requireWritable(written, arguments, origin);
    try {
      return new Format.Rows(
          written,
          arguments.has(IGNORE_EXTRA),
          RecordBatch.MAX_VALUE_LENGTH,
          RowResolution.of(written, stored));
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          "%s does not fit that of the database: %s (bsdb stat --schema shows that schema)"
              .formatted(origin, e.getMessage()));
    }
  }

  private static void requireWritable(RowSchema schema, Arguments arguments, String origin)
      throws UsageException {
    try {
      if (arguments.has("--csv")) {
        new CsvRows(schema);
      } else {
        new JsonRows(schema, "", false);
      }
      new FieldNames(schema.avro());
    } catch (IllegalArgumentException unwritable) {
      throw new UsageException(origin + ": " + unwritable.getMessage());
    }
  }

  private static RowSchema schema(Path file) throws UsageException {
    try {
      return readSchema(file);
    } catch (NoSuchFileException e) {
      throw unusable(file, "no such file");
    } catch (AccessDeniedException e) {
      throw unusable(file, "permission denied");
    } catch (IOException e) {
      throw unusable(file, String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      String words = String.valueOf(e.getMessage());
      throw unusable(file, words.lines().findFirst().orElse(words));
    }
  }

  private static RowSchema readSchema(Path file) throws IOException, UsageException {
    if (Files.isDirectory(file)) {
      throw unusable(file, "is a directory, not an .avsc file");
    }
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(LONGEST_SCHEMA + 1);
    }
    if (bytes.length > LONGEST_SCHEMA) {
      throw unusable(file, "is longer than 8 MiB");
    }
    if (!Utf8.isValid(bytes, 0, bytes.length)) {
      throw unusable(file, "is not UTF-8");
    }
    String json = new String(bytes, StandardCharsets.UTF_8);
    return RowSchema.parse(json.startsWith("\uFEFF") ? json.substring(1) : json);
  }

  private static UsageException unusable(Path schema, String why) {
    return new UsageException(AVRO_SCHEMA + " " + schema + ": " + why);
  }

  private static String separator(Arguments arguments) throws UsageException {
    String separator = Escapes.resolve("-s", arguments.text("-s", " "));
    if (separator.isEmpty()) {
      throw new UsageException("-s takes at least one character");
    }
    if (separator.contains("\n")) {
      throw new UsageException("-s cannot contain a line feed, which ends a line");
    }
    return separator;
  }

  private static boolean hasSimpleValue(Format format) {
    return format instanceof Format.Text
        || (format instanceof Format.Csv csv && csv.valueColumns().size() == 1);
  }

  private static Charset charset(Arguments arguments) throws UsageException {
    String name = arguments.text("-e", "UTF-8");
    try {
      return name.equals("UTF-8") ? StandardCharsets.UTF_8 : Charset.forName(name);
    } catch (IllegalArgumentException unknown) {
      throw new UsageException(
          "-e takes a character encoding such as UTF-8, GB18030 or ISO-8859-1, not \""
              + name
              + "\"");
    }
  }
}
