package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.make.MergeRun;
import tech.bsdb.tools.make.ParquetSourceOptions;
import tech.bsdb.tools.parquet.ParquetRecords;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.TableOptions;

/** {@code bsdb merge-parquet}: merges changes from Parquet files, local or on HDFS. */
public final class ParquetMerger extends Command {
  private static final String EXAMPLE =
      "bsdb merge-parquet -d ./users -i today.parquet -kf id -o ./new-users";

  /** For the service loader. */
  public ParquetMerger() {
    super("merge-parquet", "merge changes from Parquet, local or on HDFS");
  }

  /** Runs {@code bsdb merge-parquet} and exits with its code. */
  public static void main(String[] args) {
    Main.main("merge-parquet", args);
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    FileSourceOptions sources = FileSourceOptions.of(arguments);
    new MergeRun("bsdb merge-parquet", EXAMPLE, ParquetSourceOptions.OF_ROWS, arguments, console)
        .run(
            (build, stored) -> {
              TableOptions options = ParquetSourceOptions.ofChanges(arguments, build, stored);
              return () -> ParquetRecords.open(options, FileSources.open(sources));
            });
    return OK;
  }
}
