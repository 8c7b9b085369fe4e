package tech.bsdb.tools.publish;

import java.io.IOException;
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
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.DistantDirectory;

/** {@code bsdb rollback}: makes another version of a store current. */
public final class RollbackCommand extends Command {
  private static final String EXAMPLE = "bsdb rollback /data/users";

  /** For the service loader. */
  public RollbackCommand() {
    super("rollback", "make an older version of a store current");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    try (DistantDirectory directory = VersionsCommand.directory(arguments, 2, EXAMPLE)) {
      Store store = VersionsCommand.store(arguments, directory);
      String before = store.current();
      tell(rollback(store, arguments), before, store.location(), arguments, console);
    }
    return OK;
  }

  private static void tell(
      String now, @Nullable String before, String store, Arguments arguments, Console console)
      throws IOException {
    if (arguments.has("--json")) {
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("version", now);
      json.put("previous", before);
      json.put("store", store);
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
  }

  private static String rollback(Store store, Arguments arguments)
      throws IOException, UsageException {
    List<String> operands = arguments.operands();
    try {
      return store.rollback(operands.size() > 1 ? operands.get(1) : null);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }
}
