package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.text.NameList;

/**
 * How typed rows are written as JSON: the options {@code --fields} and {@code
 * --json-safe-integers}.
 *
 * @param bytes whether values are written as bytes even if they are rows, because an encoding was
 *     given for them
 * @param fields the columns, null for all
 */
record RowOptions(
    boolean json, boolean bytes, @Nullable List<String> fields, boolean safeIntegers) {
  private static final String FIELDS = "--fields";
  private static final String SAFE = "--json-safe-integers";

  static RowOptions of(Arguments arguments) throws UsageException {
    boolean json = arguments.has("--json");
    boolean bytes =
        arguments.choice("--value-encoding", Encoding.class, Encoding.UTF8) != Encoding.UTF8;
    Optional<String> fields = arguments.text(FIELDS);
    String given = fields.isPresent() ? FIELDS : arguments.has(SAFE) ? SAFE : "";
    if (!given.isEmpty() && !json) {
      throw new UsageException(given + " is for typed rows as JSON; add --json");
    }
    if (!given.isEmpty() && bytes) {
      throw new UsageException(
          given + " is for typed rows as JSON; omit --value-encoding, which is for bytes");
    }
    List<String> columns = null;
    if (fields.isPresent()) {
      try {
        columns = NameList.parse(fields.get());
      } catch (IllegalArgumentException e) {
        throw new UsageException(FIELDS + " \"" + fields.get() + "\" " + e.getMessage());
      }
    }
    return new RowOptions(json, bytes, columns, arguments.has(SAFE));
  }

  /**
   * How to write the rows of a database, or null if values are written as bytes.
   *
   * @throws UsageException if the options need rows and it has none, or it lacks those columns
   * @throws FileSystemException if the stored schema is invalid
   */
  @Nullable RowForm form(Statistics statistics) throws UsageException, IOException {
    if (!json || bytes) {
      return null;
    }
    RowSchema schema = schema(statistics);
    if (schema == null) {
      if (fields != null || safeIntegers) {
        throw new UsageException(
            "%s is for typed rows, and the values of %s are plain bytes without a schema; omit it"
                .formatted(fields != null ? FIELDS : SAFE, statistics.directory()));
      }
      return null;
    }
    RowForm form = RowForm.of(schema).withSafeIntegers(safeIntegers);
    try {
      return fields == null ? form : form.withColumns(fields);
    } catch (IllegalArgumentException e) {
      throw new UsageException(FIELDS + ": " + e.getMessage());
    }
  }

  /**
   * The schema of a database, null if it has none.
   *
   * @throws FileSystemException if the stored schema is invalid
   */
  static @Nullable RowSchema schema(Statistics statistics) throws IOException {
    try {
      return RowSchema.stored(statistics);
    } catch (IllegalArgumentException e) {
      FileSystemException failure =
          DatabaseOption.unfit(
              statistics, "the stored schema of the values is invalid: " + e.getMessage());
      failure.initCause(e);
      throw failure;
    }
  }
}
