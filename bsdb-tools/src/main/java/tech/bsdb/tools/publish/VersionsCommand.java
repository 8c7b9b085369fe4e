package tech.bsdb.tools.publish;

import java.io.IOException;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb versions}: lists the versions of a store. */
public final class VersionsCommand extends Command {
  private static final String EXAMPLE = "bsdb versions /data/users";
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss'Z'").withZone(ZoneOffset.UTC);

  private static final Syntax SYNTAX =
      new Syntax(
              "versions",
              "STORE",
              "Prints the versions of a store, one name per line, v9 before v10; a tab and"
                  + " \"current\" follow the name of the current one.")
          .flag("--long", "also print records, bytes and the modification date")
          .flag(
              "--json", "print one JSON object; records is -1 for a version that cannot be opened")
          .example("names", EXAMPLE)
          .example("the current one, for a script", EXAMPLE + " --json | jq -r .current");

  /** For the service loader. */
  public VersionsCommand() {
    super(SYNTAX, "list the versions of a store");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    Store store = store(arguments, 1, EXAMPLE);
    List<StoredVersion> versions = store.versions();
    if (arguments.has("--json")) {
      JsonReport.print(console, forPrograms(store, versions));
    } else {
      for (StoredVersion version : versions) {
        String name = version.name() + (version.current() ? "\tcurrent" : "");
        console.print(arguments.has("--long") ? inFull(version, versions) : name);
      }
    }
    return OK;
  }

  /** Opens the store that the first operand names; at most {@code most} operands are allowed. */
  static Store store(Arguments arguments, int most, String example)
      throws UsageException, IOException {
    List<String> operands = arguments.operands();
    if (operands.isEmpty() || operands.get(0).isEmpty()) {
      throw new UsageException("no store given; for example: " + example);
    }
    if (operands.size() > most) {
      throw new UsageException("unexpected argument \"" + operands.get(most) + "\"");
    }
    return Store.open(arguments.pathOperand(0, "store"));
  }

  private static String inFull(StoredVersion version, List<StoredVersion> all) {
    int width = all.stream().mapToInt(one -> one.name().length()).max().orElse(0);
    return String.format(
        Locale.ROOT,
        "%-" + Math.max(1, width) + "s  %-7s  %15s records  %17s bytes  %s",
        version.name(),
        version.current() ? "current" : "",
        version.records() < 0 ? "cannot be opened:" : String.format("%,d", version.records()),
        String.format(Locale.ROOT, "%,d", version.bytes()),
        DATE.format(version.modified()));
  }

  private static Map<String, @Nullable Object> forPrograms(
      Store store, List<StoredVersion> versions) throws IOException {
    List<Map<String, Object>> list = new ArrayList<>();
    for (StoredVersion version : versions) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("name", version.name());
      one.put("current", version.current());
      one.put("modified", version.modified().toString());
      one.put("records", version.records());
      one.put("bytes", version.bytes());
      list.add(one);
    }
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("store", store.directory().toString());
    json.put("current", store.current());
    json.put("versions", list);
    return json;
  }
}
