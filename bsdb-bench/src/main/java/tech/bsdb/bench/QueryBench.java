package tech.bsdb.bench;

import tech.bsdb.tools.Main;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;

/** {@code bsdb bench}: synchronous lookups, single or in batches, on any number of threads. */
public final class QueryBench extends Command {
  private static final Syntax SYNTAX =
      LoadOptions.declare(
              new Syntax(
                  "bench",
                  "",
                  "Measures synchronous lookups: throughput, latency, and their cost in CPU time and device"
                      + " reads."),
              false)
          .example("warm lookups on one thread", "bsdb bench -d ./rdb")
          .example(
              "compare every answer with the source",
              "bsdb bench -d ./rdb -k words.txt -v --threads 2")
          .example(
              "1 to 64 threads, bypassing the page cache, as an HTML page",
              "bsdb bench -d ./rdb -id -kd --sweep --threads 64 --html bench.html")
          .example(
              "batches of 256, a tenth of the keys absent",
              "bsdb bench -d ./rdb --batch 256 --absent 10")
          .example(
              "latency at 20,000 lookups per second",
              "bsdb bench -d ./rdb --rate 20000 --threads 8");

  /** For the service loader. */
  public QueryBench() {
    super(SYNTAX, "measure synchronous lookups");
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
