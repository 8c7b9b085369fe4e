package tech.bsdb.bench;

import tech.bsdb.tools.Main;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;

/** {@code bsdb bench-async}: asynchronous lookups with a given number in flight. */
public final class AsyncQueryBench extends Command {
  private static final Syntax SYNTAX =
      LoadOptions.declare(
              new Syntax(
                  "bench-async",
                  "",
                  "Measures asynchronous lookups: throughput, latency, and their cost in CPU time and device"
                      + " reads. Set reader properties in BSDB_JAVA_OPTS:"
                      + " -Dbsdb.uring=false reads with threads instead of io_uring;"
                      + " -Dbsdb.reader.index.submit.threads=N and -Dbsdb.reader.kv.submit.threads=N set how many"
                      + " threads read the index and the data files."),
              true)
          .example(
              "64 lookups in flight, bypassing the page cache", "bsdb bench-async -d ./rdb -id -kd")
          .example(
              "1 to 256 in flight, as an HTML page",
              "bsdb bench-async -d ./rdb -id -kd --sweep --html bench.html")
          .example(
              "latency at 20,000 lookups per second",
              "bsdb bench-async -d ./rdb -id -kd --rate 20000")
          .example(
              "without io_uring",
              "BSDB_JAVA_OPTS=-Dbsdb.uring=false bsdb bench-async -d ./rdb -id -kd");

  /** For the service loader. */
  public AsyncQueryBench() {
    super(SYNTAX, "measure asynchronous lookups");
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
