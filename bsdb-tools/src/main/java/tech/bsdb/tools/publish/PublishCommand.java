package tech.bsdb.tools.publish;

import java.util.List;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb publish}: puts a database into a store, checks it, and makes it current. */
public final class PublishCommand extends Command {
  private static final String PROGRAM = "bsdb publish";

  private static final Syntax SYNTAX =
      Checks.declareDiff(
              Checks.declare(
                  LocalPublishing.declareVersion(
                      new Syntax(
                              "publish",
                              "DB STORE",
                              "Copies a database into a store as a new version, verifies every byte and"
                                  + " every key of the copy, checks it against the current version, and"
                                  + " makes it current in one step; servers follow within seconds. Prints"
                                  + " the version's name. A version that is refused or fails leaves nothing"
                                  + " behind, and the current version stays current. The store is created"
                                  + " if it is missing.")
                          .section("Version"))))
          .section("Report")
          .flag("-q", "print nothing but errors, and the version's name")
          .flag("--json", "print one JSON object on stdout instead of the name")
          .example(
              "into a store, which is created if it is missing", "bsdb publish ./rdb /data/users")
          .example(
              "a nightly job: refuse to shrink by more than 5 percent, keep 3 older versions",
              "bsdb publish ./rdb /data/users --min-records 1000000 --max-shrink 5 --keep 3")
          .example(
              "with a name, and keys that must be present",
              "bsdb publish ./rdb /data/users --version v42 --queries must-have.txt")
          .example("undo it", "bsdb rollback /data/users");

  /** For the service loader. */
  public PublishCommand() {
    super(SYNTAX, "put a database into a store as its new version");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    List<String> operands = arguments.operands();
    if (operands.size() != 2 || operands.contains("")) {
      throw new UsageException(
          "publish takes a database and a store: bsdb publish ./rdb /data/users");
    }
    LocalPublishing publishing =
        new LocalPublishing(arguments, console, Checks.withDiff(arguments));
    publishing.run(
        PROGRAM, arguments.pathOperand(0, "database"), arguments.pathOperand(1, "store"));
    return OK;
  }
}
