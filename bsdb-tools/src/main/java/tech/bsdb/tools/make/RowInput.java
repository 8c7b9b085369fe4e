package tech.bsdb.tools.make;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.parquet.ParquetRecords;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableRecords;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/**
 * Typed rows of any format.
 *
 * @param format that of the files
 * @param sources how they are reached
 * @param asOf the version of a lake's table; null for the current one
 */
public record RowInput(RecordFormat format, FileSourceOptions sources, @Nullable String asOf) {
  /** What is for files, and not for the tables of lakes, which know their files. */
  private static final List<String> OF_FILES =
      List.of("--include", "--exclude", "--partitions", "--raw-files");

  /**
   * Reads the options of the input.
   *
   * @throws UsageException if a value is wrong, or the names of the inputs are those of several
   *     formats
   */
  public static RowInput of(Arguments arguments) throws UsageException {
    RecordFormat format = RecordFormat.ofRows(arguments);
    if (format.isLake()) {
      arguments.refuse(OF_FILES, "is for plain files, but the input is " + format.title());
    } else {
      arguments.refuse(List.of("--as-of"), "is for tables (--format delta or iceberg)");
    }
    return new RowInput(
        format, FileSourceOptions.of(arguments), arguments.text("--as-of").orElse(null));
  }

  /**
   * Returns the command that reads it, as users type it.
   *
   * @param text the command that reads text
   */
  public String program(String text) {
    return format == RecordFormat.PARQUET ? text + "-parquet" : text;
  }

  /**
   * Opens the rows.
   *
   * @throws tech.bsdb.tools.input.InputException if they cannot be read, or the format's jar is
   *     missing
   */
  public TableRecords open(TableOptions options) throws IOException {
    return format == RecordFormat.PARQUET
        ? ParquetRecords.open(options, FileSources.open(sources))
        : TableRecords.open(
            new TableRequest(options, sources, asOf), TableSource.of(format.word()));
  }
}
