package tech.bsdb.tools.inspect;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import tech.bsdb.Database;
import tech.bsdb.MemoryUse;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.Syntax;

/** {@code bsdb warm}: reads a database into memory, into huge pages if the machine has them. */
public final class WarmCommand extends Command {
  private static final Syntax SYNTAX =
      DatabaseOption.declare(
              new Syntax(
                  "warm",
                  "",
                  "Reads all files of a database into the page cache, so that mapped lookups are"
                      + " fast from the start. On Linux with Java 22 or newer, files that are not"
                      + " yet in huge pages (2 MiB) are first dropped from the page cache and then"
                      + " read again from the device, into huge pages if the file system supports"
                      + " them: ext4 from Linux 6.16 on, and XFS. Lookups are up to a third faster"
                      + " there. Files that build or publish has just written on such a machine are"
                      + " already in huge pages and stay there. Dropping is safe while other"
                      + " processes serve the same files, but they wait for the device meanwhile,"
                      + " and what they have mapped stays in small pages: warm a database before"
                      + " they open it. The database must fit in memory."))
          .flag("-q", "print nothing but errors")
          .flag("--json", "print the report as one JSON object on stdout")
          .example("after copying a database", "bsdb warm -d /data/users");

  /** For the service loader. */
  public WarmCommand() {
    super(SYNTAX, "read a database into memory, in huge pages");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    Path directory = DatabaseOption.current(arguments);
    boolean quiet = arguments.has("-q");
    long all = Database.statistics(directory).databaseBytes();
    long began = System.nanoTime();
    MemoryUse use;
    try (Progress progress = new Progress(console, quiet)) {
      AtomicLong done = new AtomicLong();
      use = Database.warm(directory, more -> progress.update("warm", done.addAndGet(more), all));
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    if (arguments.has("--json")) {
      JsonReport.print(console, forPrograms(directory, use, seconds));
    } else if (!quiet) {
      console.say(
          String.format(
              Locale.ROOT, "warmed %s in %.1f s: %s", directory, seconds, forPeople(use)));
    }
    return OK;
  }

  /** A sentence that says how much of a database's files is in memory. */
  static String forPeople(MemoryUse use) {
    return String.format(
        Locale.ROOT,
        "%,d of %,d bytes are in the page cache, %,d of them in huge pages",
        use.residentBytes(),
        use.bytes(),
        use.hugePageBytes());
  }

  private static Map<String, Object> forPrograms(Path directory, MemoryUse use, double seconds) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("directory", directory.toString());
    json.put("bytes", use.bytes());
    json.put("residentBytes", use.residentBytes());
    json.put("hugePageBytes", use.hugePageBytes());
    json.put("seconds", seconds);
    return json;
  }
}
