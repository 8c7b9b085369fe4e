package tech.bsdb.tools;

import java.util.List;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.make.MergeRun;
import tech.bsdb.tools.make.RecordFormat;
import tech.bsdb.tools.make.SourceOptions;

/**
 * {@code bsdb merge}: merges changes from text lines, CSV or JSON lines into a database; {@link
 * ParquetMerger} does it from files of typed rows, such as Parquet.
 */
public final class Merger extends Command {
  private static final String EXAMPLE = "bsdb merge -d ./rdb -i today.txt -o ./new-rdb";

  /** For the service loader. */
  public Merger() {
    super("merge", "merge changes into a database, which gives a new one");
  }

  /** Runs {@code bsdb merge} and exits with its code. */
  public static void main(String[] args) {
    Main.main("merge", args);
  }

  @Override
  public String runs(List<String> line) throws UsageException {
    return RecordFormat.of(line) == RecordFormat.TEXT ? name() : "merge-parquet";
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    new MergeRun("bsdb merge", EXAMPLE, SourceOptions.OF_RECORDS, arguments, console)
        .run(
            (build, stored) -> {
              InputOptions options = SourceOptions.ofChanges(arguments, stored);
              return () -> Input.open(options);
            });
    return OK;
  }
}
