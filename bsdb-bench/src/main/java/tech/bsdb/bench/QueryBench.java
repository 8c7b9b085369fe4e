package tech.bsdb.bench;

import tech.bsdb.tools.Main;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;

/** {@code bsdb bench}: synchronous lookups, single or in batches, on any number of threads. */
public final class QueryBench extends Command {
  /** For the service loader. */
  public QueryBench() {
    super("bench", "measure synchronous lookups");
  }

  /** Runs {@code bsdb bench} and exits with its code. */
  public static void main(String[] args) {
    Main.main("bench", args);
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    return LoadTool.run(name(), LoadOptions.of(arguments, false), console);
  }
}
