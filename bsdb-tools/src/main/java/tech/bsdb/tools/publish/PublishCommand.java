package tech.bsdb.tools.publish;

import java.util.List;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb publish}: puts a database into a store, checks it, and makes it current. */
public final class PublishCommand extends Command {
  private static final String PROGRAM = "bsdb publish";

  /** For the service loader. */
  public PublishCommand() {
    super("publish", "put a database into a store as its new version");
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
    arguments.refuseEmpty("--delta-from", "a version of the store");
    publishing.withDeltaFrom(arguments.text("--delta-from").orElse(null));
    publishing.run(
        PROGRAM, arguments.pathOperand(0, "database"), arguments.pathOperand(1, "store"));
    return OK;
  }
}
