package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.make.MergeOptions;
import tech.bsdb.tools.make.MergeRun;
import tech.bsdb.tools.make.ParquetSourceOptions;
import tech.bsdb.tools.parquet.ParquetOptions;
import tech.bsdb.tools.parquet.ParquetRecords;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;

/** {@code bsdb merge-parquet}: merges changes from Parquet files, local or on HDFS. */
public final class ParquetMerger extends Command {
  private static final String EXAMPLE =
      "bsdb merge-parquet -d ./users -i today.parquet -kf id -o ./new-users";

  private static final Syntax SYNTAX =
      MergeOptions.declare(
              ParquetSourceOptions.declare(
                      MergeOptions.declareBase(
                          new Syntax(
                              "merge-parquet",
                              "",
                              "Merges changes from Parquet files into a database, which gives a new"
                                  + " one of the same kind; the base stays as it is. A row replaces"
                                  + " the one with its key, as a whole, or is added. Of several"
                                  + " changes of a key, the last one counts: files in their order,"
                                  + " then --delete. Each row is converted to the schema of the"
                                  + " database by Avro's rules of schema resolution. The database"
                                  + " appears at -o complete or not at all.")))
                  .section("Keys to delete")
                  .value(
                      "--key-encoding",
                      "FORM",
                      "how keys are encoded in the files of --delete, and of --queries: utf8"
                          + " (default), hex or base64"))
          .example("rows replace or add those with the same key", EXAMPLE)
          .example(
              "a column op, whose value D deletes a key",
              "bsdb merge-parquet -d ./users -i today -kf id --delete-field op=D -o ./new-users")
          .example(
              "every night: into the store's current version, and publish the result",
              "bsdb merge-parquet -d ./store -i hdfs:///today -kf id -o ./users --overwrite --publish"
                  + " ./store");

  /** For the service loader. */
  public ParquetMerger() {
    super(SYNTAX, "merge changes from Parquet, local or on HDFS");
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
              ParquetOptions options = ParquetSourceOptions.ofChanges(arguments, build, stored);
              return () -> ParquetRecords.open(options, FileSources.open(sources));
            });
    return OK;
  }
}
