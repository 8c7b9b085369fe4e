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

/** {@code bsdb warm}: reads a database into memory, into huge pages if the machine has them. */
public final class WarmCommand extends Command {
  /** For the service loader. */
  public WarmCommand() {
    super("warm", "read a database into memory, in huge pages");
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
