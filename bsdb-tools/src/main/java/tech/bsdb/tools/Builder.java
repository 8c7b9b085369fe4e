package tech.bsdb.tools;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.make.BuildRun;
import tech.bsdb.tools.make.SourceOptions;
import tech.bsdb.tools.make.TargetOptions;

/** {@code bsdb build}: builds a database from text lines, CSV or JSON lines. */
public final class Builder extends Command {
  private static final Syntax SYNTAX =
      BuildRun.declare(
              TargetOptions.declare(
                  SourceOptions.declare(
                      new Syntax(
                          "build",
                          "",
                          "Builds a database from text. Every input line is accounted for: a line"
                              + " that is not a record, or a duplicate key, stops the build and its"
                              + " location is reported, unless an option says otherwise. The"
                              + " database appears at -o complete or not at all."))))
          .example("lines of \"key value\"", "bsdb build -i words.txt -o ./rdb")
          .example(
              "a directory of tab-separated files, into a compressed database",
              "bsdb build -i ./export -s '\\t' -z -o ./rdb")
          .example(
              "CSV: one column as the value",
              "bsdb build --csv --key-column id --value-column name -i users.csv")
          .example(
              "JSON lines from a pipe, keeping the last record of each key",
              "zstdcat *.zst | bsdb build --jsonl --key-field id --on-duplicate last -i -")
          .example(
              "typed rows, with an Avro schema stored in the database",
              "bsdb build --jsonl --key-field id --avro-schema event.avsc -i events.jsonl")
          .example(
              "skip bad lines and keep them in a file",
              "bsdb build -i dirty.txt --on-bad-line skip --rejects bad.txt");

  /** For the service loader. */
  public Builder() {
    super(SYNTAX, "build a database from text, CSV or JSON lines");
  }

  /** Runs {@code bsdb build} and exits with its code. */
  public static void main(String[] args) {
    Main.main("build", args);
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
