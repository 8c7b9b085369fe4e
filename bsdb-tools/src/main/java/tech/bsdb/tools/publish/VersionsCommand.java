package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Pointer;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSourceOptions;

/** {@code bsdb versions}: lists the versions of a store. */
public final class VersionsCommand extends Command {
  private static final String EXAMPLE = "bsdb versions /data/users";
  private static final List<Long> PAUSES = List.of(1_000L);
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss'Z'").withZone(ZoneOffset.UTC);

  /** For the service loader. */
  public VersionsCommand() {
    super("versions", "list the versions of a store");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    try (DistantDirectory directory = directory(arguments, 1, EXAMPLE)) {
      print(store(arguments, directory), arguments, console);
    }
    return OK;
  }

  private static void print(Store store, Arguments arguments, Console console) throws IOException {
    String current = store.current();
    List<StoredVersion> versions = store.versions();
    if (arguments.has("--json")) {
      JsonReport.print(console, forPrograms(store.location(), current, versions));
    } else {
      for (StoredVersion version : versions) {
        String name = version.name() + (version.current() ? "\tcurrent" : "");
        console.print(arguments.has("--long") ? inFull(version, versions) : name);
      }
    }
    if (versions.stream().noneMatch(StoredVersion::current)) {
      console.out().flush();
      console.say(
          ("bsdb versions: no version is current: %s %s; to make one current: bsdb rollback %s"
                  + " VERSION")
              .formatted(
                  Pointer.FILE,
                  current == null
                      ? "is missing or names none"
                      : "names " + current + ", which is not there",
                  store.location()));
    }
  }

  /** Opens the store that the first operand names; at most {@code most} operands are allowed. */
  static DistantDirectory directory(Arguments arguments, int most, String example)
      throws UsageException, IOException {
    List<String> operands = arguments.operands();
    if (operands.isEmpty() || operands.get(0).isEmpty()) {
      throw new UsageException("no store given; for example: " + example);
    }
    if (operands.size() > most) {
      throw new UsageException("unexpected argument \"" + operands.get(most) + "\"");
    }
    return DistantDirectory.open(operands.get(0), FileSourceOptions.of(arguments));
  }

  /** The store in a directory; a local path is shown as the first operand writes it. */
  static Store store(Arguments arguments, DistantDirectory directory)
      throws UsageException, IOException {
    if (directory.local() == null) {
      return new DistantStore(directory, new Attempts(directory, PAUSES, why -> {}));
    }
    return Store.open(
        arguments.operands().get(0).startsWith("file:")
            ? Path.of(directory.location(""))
            : arguments.pathOperand(0, "store"));
  }

  private static String inFull(StoredVersion version, List<StoredVersion> all) {
    int width = all.stream().mapToInt(one -> one.name().length()).max().orElse(0);
    return String.format(
        Locale.ROOT,
        "%-" + Math.max(1, width) + "s  %-7s  %23s  %17s bytes  %s",
        version.name(),
        version.current() ? "current" : "",
        version.records() < 0
            ? "cannot be opened"
            : String.format(Locale.ROOT, "%,d records", version.records()),
        String.format(Locale.ROOT, "%,d", version.bytes()),
        DATE.format(version.modified()));
  }

  private static Map<String, @Nullable Object> forPrograms(
      String store, @Nullable String current, List<StoredVersion> versions) {
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
    json.put("store", store);
    json.put("current", current);
    json.put("versions", list);
    return json;
  }
}
