package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.make.MergeRun;
import tech.bsdb.tools.make.ParquetSourceOptions;
import tech.bsdb.tools.make.RowInput;
import tech.bsdb.tools.table.TableOptions;

/**
 * {@code bsdb merge-parquet}: merges changes from files of typed rows, local or on HDFS: Parquet,
 * or what the names of the inputs or {@code --format} say.
 */
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
    RowInput input = RowInput.of(arguments);
    new MergeRun(
            input.program("bsdb merge"), EXAMPLE, ParquetSourceOptions.OF_ROWS, arguments, console)
        .run(
            (build, stored) -> {
              TableOptions options = ParquetSourceOptions.ofChanges(arguments, build, stored);
              return () -> input.open(options);
            });
    return OK;
  }
}
