package tech.bsdb.tools;

import java.util.List;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.make.BuildRun;
import tech.bsdb.tools.make.RecordFormat;
import tech.bsdb.tools.make.SourceOptions;
import tech.bsdb.tools.make.TargetOptions;

/**
 * {@code bsdb build}: builds a database from text lines, CSV or JSON lines; {@link ParquetBuilder}
 * does it from files of typed rows, such as Parquet.
 */
public final class Builder extends Command {
  /** For the service loader. */
  public Builder() {
    super("build", "build a database from text, CSV, JSON lines, Parquet, Avro, ORC or Arrow");
  }

  /** Runs {@code bsdb build} and exits with its code. */
  public static void main(String[] args) {
    Main.main("build", args);
  }

  @Override
  public String runs(List<String> line) throws UsageException {
    return RecordFormat.of(line) == RecordFormat.TEXT ? name() : "build-parquet";
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    InputOptions source = SourceOptions.of(arguments);
    TargetOptions target = TargetOptions.of(arguments);
    if (source.inputs().contains("-")) {
      console.requireInput();
    }
    new BuildRun("bsdb build", target, arguments, console, null).run(() -> Input.open(source));
    return OK;
  }
}
