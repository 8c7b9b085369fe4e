package tech.bsdb.tools.make;

import java.io.IOException;
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
 */
public record RowInput(RecordFormat format, FileSourceOptions sources) {
  /**
   * Reads the options of the input.
   *
   * @throws UsageException if a value is wrong, or the names of the inputs are those of several
   *     formats
   */
  public static RowInput of(Arguments arguments) throws UsageException {
    return new RowInput(RecordFormat.ofRows(arguments), FileSourceOptions.of(arguments));
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
            new TableRequest(options, sources, null), TableSource.of(format.word()));
  }
}
