package tech.bsdb.tools.make;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Escapes;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableOptions.Int96Unit;
import tech.bsdb.tools.table.TableOptions.Partitions;
import tech.bsdb.tools.table.TableOptions.Types;
import tech.bsdb.tools.text.NameList;
import tech.bsdb.tools.where.ConditionException;
import tech.bsdb.tools.where.Where;

/** Options for the rows: where they are, how to reach them, and what to build from them. */
public final class ParquetSourceOptions {
  /** The options of rows that say nothing about keys to delete. */
  public static final List<String> OF_ROWS =
      List.of(
          "-kf",
          "--key-join",
          "--value-fields",
          "--columns",
          "--value-raw",
          "--int96",
          "--widen",
          "--where",
          "--on-bad-line",
          "--rejects",
          "--delete-field",
          "--as-of",
          "--partitions",
          "--include",
          "--exclude",
          "--raw-files",
          "-nn",
          "--hadoop-conf",
          "--hadoop-set",
          "--principal",
          "--keytab");

  private ParquetSourceOptions() {}

  /** Which types columns get. */
  public static Types types(Arguments arguments) throws UsageException {
    return new Types(
        arguments.choice("--int96", Int96Unit.class, Int96Unit.NANOS), arguments.has("--widen"));
  }

  /** How to treat partitions. */
  public static Partitions partitions(Arguments arguments) throws UsageException {
    return arguments.choice("--partitions", Partitions.class, Partitions.INFER);
  }

  /**
   * Which rows to read, and what to build from them.
   *
   * @param target the database to build from them
   * @throws UsageException if a value is wrong, or options conflict
   */
  public static TableOptions of(Arguments arguments, BuildOptions target) throws UsageException {
    return of(arguments, target, "bsdb build-parquet -i users.parquet -kf id -o ./rdb");
  }

  /**
   * Which changes to read.
   *
   * @param target the database to build with them
   * @param stored the schema of its rows, or null if its values are bytes
   * @throws UsageException if a value is wrong, options conflict, or the changes are not like the
   *     database
   */
  public static TableOptions ofChanges(
      Arguments arguments, BuildOptions target, @Nullable RowSchema stored) throws UsageException {
    boolean raw = arguments.has("--value-raw");
    if (stored != null && raw) {
      throw new UsageException("--value-raw is for plain values, but the database has typed rows");
    }
    if (stored == null && !raw) {
      throw new UsageException(
          "the values of the database are plain, not typed rows: name the column of the values with"
              + " --value-raw");
    }
    return of(
            arguments,
            target,
            "bsdb merge-parquet -d ./users -i today.parquet -kf id -o ./new-users")
        .withChanges(SourceOptions.deleteField(arguments), stored);
  }

  private static TableOptions of(Arguments arguments, BuildOptions target, String example)
      throws UsageException {
    RecordFormat format = RecordFormat.ofRows(arguments);
    List<String> inputs = arguments.all("-i");
    if (inputs.isEmpty() || inputs.contains("")) {
      throw new UsageException("no input given (-i); for example: " + example);
    }
    if (inputs.contains("-")) {
      throw new UsageException(
          "-i -: Parquet is read from its end, so standard input cannot be used; name a file");
    }
    if (format != RecordFormat.PARQUET && format != RecordFormat.ORC) {
      arguments.refuse(List.of("--int96"), "is for Parquet and ORC (--format parquet or orc)");
    }
    if (format != RecordFormat.PARQUET && format != RecordFormat.ORC) {
      arguments.refuse(List.of("--int96"), "is for Parquet and ORC (--format parquet or orc)");
    }
    OnBadLine onBadRow = SourceOptions.onBadLine(arguments);
    TargetOptions.refuseSameFile(arguments, "--rejects", "--keytab");
    for (String fields : List.of("--value-fields", "--columns")) {
      arguments.refuseTogether("--value-raw", fields, "the value is one column's bytes, or a row");
    }
    List<String> keys = keys(arguments);
    boolean typed = !arguments.has("--value-raw");
    boolean cut = typed && target.approximateWidth() > 0;
    return new TableOptions(
        inputs,
        keys,
        join(arguments, keys),
        valueFields(arguments),
        arguments.text("--value-raw").orElse(null),
        false,
        onBadRow,
        arguments.path("--rejects").orElse(null),
        arguments.has("--allow-empty-key"),
        cut ? target.approximateWidth() : Integer.MAX_VALUE,
        target.threads(),
        partitions(arguments),
        null,
        null,
        types(arguments),
        where(arguments));
  }

  private static @Nullable Where where(Arguments arguments) throws UsageException {
    Optional<String> written = arguments.text("--where");
    try {
      return written.isPresent() ? Where.parse(written.get()) : null;
    } catch (ConditionException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  private static List<String> valueFields(Arguments arguments) throws UsageException {
    arguments.refuseTogether("--columns", "--value-fields", "both name the columns of the row");
    return names(arguments, arguments.has("--columns") ? "--columns" : "--value-fields");
  }

  /** The key columns. */
  public static List<String> keys(Arguments arguments) throws UsageException {
    String written =
        arguments
            .text("-kf")
            .orElseThrow(
                () -> new UsageException("no key column given (-kf); for example: -kf user_id"));
    if (!arguments.has("--key-join")) {
      arguments.refuseEmpty("-kf", "a column");
      return List.of(read("-kf", written, NameList::one)); // a comma belongs to the name
    }
    return names(arguments, "-kf");
  }

  /** The text between the key columns, or null if there is only one. */
  public static @Nullable String join(Arguments arguments, List<String> keys)
      throws UsageException {
    Optional<String> join = arguments.text("--key-join");
    if (join.isPresent() && keys.size() == 1) {
      throw new UsageException("--key-join is for several columns, as in -kf a,b");
    }
    return join.isPresent() ? Escapes.resolve("--key-join", join.get()) : null;
  }

  private static List<String> names(Arguments arguments, String option) throws UsageException {
    Optional<String> written = arguments.text(option);
    if (written.isEmpty()) {
      return List.of();
    }
    List<String> names = read(option, written.get(), NameList::parse);
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!seen.add(name)) {
        throw new UsageException(option + " names " + name + " twice");
      }
    }
    return names;
  }

  private static <T> T read(String option, String written, Function<String, T> how)
      throws UsageException {
    try {
      return how.apply(written);
    } catch (IllegalArgumentException e) {
      throw new UsageException(option + " " + written + " " + e.getMessage());
    }
  }
}
