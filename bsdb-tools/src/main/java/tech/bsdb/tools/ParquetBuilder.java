package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.make.BuildRun;
import tech.bsdb.tools.make.ParquetSourceOptions;
import tech.bsdb.tools.make.TargetOptions;
import tech.bsdb.tools.parquet.ParquetOptions;
import tech.bsdb.tools.parquet.ParquetRecords;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;

/** {@code bsdb build-parquet}: builds a database from Parquet files, local or on HDFS. */
public final class ParquetBuilder extends Command {
  private static final Syntax SYNTAX =
      BuildRun.declare(
              TargetOptions.declare(
                  ParquetSourceOptions.declare(
                      new Syntax(
                          "build-parquet",
                          "",
                          "Builds a database from Parquet files. The value is the row in Avro's"
                              + " binary encoding, and the database stores the schema: get and scan"
                              + " print rows as JSON (--json). Every row is accounted for: a row"
                              + " without a key, or a duplicate key, stops the build and its"
                              + " location is reported, unless an option says otherwise. The"
                              + " database appears at -o complete or not at all."))))
          .example("a local file", "bsdb build-parquet -i users.parquet -kf user_id -o ./rdb")
          .example(
              "two columns of a directory on HDFS",
              "bsdb build-parquet -nn namenode:8020 -i /data/users -kf id --value-fields name,age")
          .example(
              "a Kerberos cluster, configured in $HADOOP_CONF_DIR",
              "bsdb build-parquet --principal etl@EXAMPLE.COM --keytab etl.keytab -i hdfs:///users -kf id")
          .example(
              "older files have timestamps in milliseconds, newer ones in microseconds",
              "bsdb build-parquet -i ./export -kf id --widen")
          .example(
              "a key of two columns; the value is the bytes of one column",
              "bsdb build-parquet -i ./features -kf country,id --key-join '|' --value-raw vector");

  /** For the service loader. */
  public ParquetBuilder() {
    super(SYNTAX, "build a database from Parquet, local or on HDFS");
  }

  /** Runs {@code bsdb build-parquet} and exits with its code. */
  public static void main(String[] args) {
    Main.main("build-parquet", args);
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    TargetOptions target = TargetOptions.of(arguments);
    ParquetOptions source = ParquetSourceOptions.of(arguments, target.build());
    FileSourceOptions sources = FileSourceOptions.of(arguments);
    new BuildRun("bsdb build-parquet", target, arguments, console, null)
        .run(() -> ParquetRecords.open(source, FileSources.open(sources)));
    return OK;
  }
}
