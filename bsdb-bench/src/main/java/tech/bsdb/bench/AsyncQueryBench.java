package tech.bsdb.bench;

import tech.bsdb.tools.Main;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;

/** {@code bsdb bench-async}: asynchronous lookups with a given number in flight. */
public final class AsyncQueryBench extends Command {
  /** For the service loader. */
  public AsyncQueryBench() {
    super("bench-async", "measure asynchronous lookups");
  }

  /** Runs {@code bsdb bench-async} and exits with its code. */
  public static void main(String[] args) {
    Main.main("bench-async", args);
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    return LoadTool.run(name(), LoadOptions.of(arguments, true), console);
  }
}
