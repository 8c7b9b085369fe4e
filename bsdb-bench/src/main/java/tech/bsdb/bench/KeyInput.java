package tech.bsdb.bench;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.input.RecordSource;
import tech.bsdb.tools.parquet.ParquetRecords;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableOptions.Partitions;
import tech.bsdb.tools.table.TableOptions.Types;
import tech.bsdb.tools.table.TableRecords;

/** The source that a database was built from: keys, and values to compare answers with. */
sealed interface KeyInput {
  /** Files, directories or, for text, "-" for standard input. */
  List<String> inputs();

  /**
   * Opens the source.
   *
   * @param database the database built from it
   * @param withValues whether values are also compared
   */
  RecordSource open(Statistics database, boolean withValues) throws IOException, UsageException;

  /** Lines of text. */
  record Text(InputOptions options) implements KeyInput {
    @Override
    public List<String> inputs() {
      return options.inputs();
    }

    @Override
    public RecordSource open(Statistics database, boolean withValues) throws IOException {
      return Input.open(options);
    }
  }

  /**
   * Rows of Parquet files. The value is the one the database stores: a row of the columns in its
   * schema, or the bytes of one column.
   *
   * @param rawColumn the column whose bytes are the value, or null
   * @param partitions how to treat directories named {@code NAME=VALUE}
   * @param types which types columns get
   */
  record Parquet(
      List<String> inputs,
      List<String> keyColumns,
      @Nullable String keyJoin,
      @Nullable String rawColumn,
      Partitions partitions,
      Types types,
      FileSourceOptions sources)
      implements KeyInput {
    @Override
    public RecordSource open(Statistics database, boolean withValues)
        throws IOException, UsageException {
      RowSchema stored = RowSchema.stored(database);
      if (withValues && (stored == null) == (rawColumn == null)) {
        throw new UsageException(
            stored == null
                ? database.directory()
                    + " has no typed rows: name the column of its values with --value-raw"
                : database.directory() + " has typed rows; leave --value-raw out");
      }
      TableRecords records = records(withValues ? stored : null, withValues);
      if (withValues && stored != null && !stored.json().equals(records.valueSchema())) {
        records.close();
        throw new UsageException(
            ("the rows of %s have a different schema from those of %s, so that -v cannot compare"
                    + " them: %s, not %s")
                .formatted(
                    String.join(", ", inputs),
                    database.directory(),
                    records.valueSchema(),
                    stored.json()));
      }
      return records;
    }

    private TableRecords records(@Nullable RowSchema rows, boolean withValues) throws IOException {
      return ParquetRecords.open(
          new TableOptions(
              inputs,
              keyColumns,
              keyJoin,
              rows == null ? List.of() : rows.columns(),
              withValues ? rawColumn : null,
              !withValues,
              OnBadLine.SKIP,
              null,
              true,
              Integer.MAX_VALUE,
              Math.min(256, Runtime.getRuntime().availableProcessors()),
              partitions,
              null,
              null,
              types,
              null),
          FileSources.open(sources));
    }
  }
}
