package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.make.BuildRun;
import tech.bsdb.tools.make.ParquetSourceOptions;
import tech.bsdb.tools.make.RowInput;
import tech.bsdb.tools.make.TargetOptions;
import tech.bsdb.tools.table.TableOptions;

/**
 * {@code bsdb build-parquet}: builds a database from files of typed rows, local or on HDFS:
 * Parquet, or what the names of the inputs or {@code --format} say.
 */
public final class ParquetBuilder extends Command {
  /** For the service loader. */
  public ParquetBuilder() {
    super("build-parquet", "build a database from Parquet, local or on HDFS");
  }

  /** Runs {@code bsdb build-parquet} and exits with its code. */
  public static void main(String[] args) {
    Main.main("build-parquet", args);
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    TargetOptions target = TargetOptions.of(arguments);
    TableOptions source = ParquetSourceOptions.of(arguments, target.build());
    RowInput input = RowInput.of(arguments);
    new BuildRun(input.program("bsdb build"), target, arguments, console, null)
        .run(() -> input.open(source));
    return OK;
  }
}
