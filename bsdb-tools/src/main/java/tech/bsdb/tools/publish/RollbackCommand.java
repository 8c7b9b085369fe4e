package tech.bsdb.tools.publish;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb rollback}: makes another version of a store current. */
public final class RollbackCommand extends Command {
  private static final String EXAMPLE = "bsdb rollback /data/users";

  private static final Syntax SYNTAX =
      new Syntax(
              "rollback",
              "STORE [VERSION]",
              "Makes the previous version current, or the one that is named; servers follow within"
                  + " seconds. The version is opened first: a damaged one is refused, and nothing"
                  + " changes. Prints the version's name. Repeated rollbacks go back step by step.")
          .flag("-q", "print nothing but errors, and the version's name")
          .flag("--json", "print one JSON object on stdout instead of the name")
          .example("the previous version", EXAMPLE)
          .example("a specific version", EXAMPLE + " 20261121T151400Z");

  /** For the service loader. */
  public RollbackCommand() {
    super(SYNTAX, "make an older version of a store current");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    Store store = VersionsCommand.store(arguments, 2, EXAMPLE);
    String before = store.current();
    String now = rollback(store, arguments);
    if (arguments.has("--json")) {
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("version", now);
      json.put("previous", before);
      json.put("store", store.directory().toString());
      JsonReport.print(console, json);
    } else {
      console.print(now);
    }
    console.out().flush();
    if (!arguments.has("-q")) {
      console.say(
          Objects.equals(now, before)
              ? now + " is already current"
              : now + " is current; it was " + (before == null ? "none" : before));
    }
    return OK;
  }

  private static String rollback(Store store, Arguments arguments) throws Exception {
    List<String> operands = arguments.operands();
    try {
      return store.rollback(operands.size() > 1 ? operands.get(1) : null);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }
}
