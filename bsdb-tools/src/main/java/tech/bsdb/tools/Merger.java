package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.make.MergeOptions;
import tech.bsdb.tools.make.MergeRun;
import tech.bsdb.tools.make.SourceOptions;

/** {@code bsdb merge}: merges changes from text lines, CSV or JSON lines into a database. */
public final class Merger extends Command {
  private static final String EXAMPLE = "bsdb merge -d ./rdb -i today.txt -o ./new-rdb";

  private static final Syntax SYNTAX =
      MergeOptions.declare(
              SourceOptions.declareChanges(
                  MergeOptions.declareBase(
                      new Syntax(
                          "merge",
                          "",
                          "Merges changes into a database, which gives a new one of the same kind;"
                              + " the base stays as it is. A record of the input replaces the one"
                              + " with its key, as a whole, or is added. Of several changes of a"
                              + " key, the last one counts: inputs in their order, then --delete."
                              + " Every input line is accounted for, as in bsdb build. The database"
                              + " appears at -o complete or not at all."))))
          .example("lines of \"key value\" replace or add records", EXAMPLE)
          .example(
              "several days, the oldest first, and keys to delete",
              "bsdb merge -d ./rdb -i monday.gz -i tuesday.gz --delete gone.txt -o ./new-rdb")
          .example(
              "JSON lines in which {\"op\":\"D\",...} deletes a key",
              "bsdb merge -d ./rdb --jsonl --key-field id --delete-field op=D -i log -o ./new-rdb")
          .example(
              "every night: into the store's current version, and publish the result",
              "bsdb merge -d ./store -i today.txt -o ./rdb --overwrite --publish ./store --keep 3");

  /** For the service loader. */
  public Merger() {
    super(SYNTAX, "merge changes into a database, which gives a new one");
  }

  /** Runs {@code bsdb merge} and exits with its code. */
  public static void main(String[] args) {
    Main.main("merge", args);
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
