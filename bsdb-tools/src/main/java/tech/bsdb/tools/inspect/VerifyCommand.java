package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import tech.bsdb.Database;
import tech.bsdb.VerifyReport;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;

/** {@code bsdb verify}: checks that a database is what was built, byte by byte and key by key. */
public final class VerifyCommand extends Command {
  /** For the service loader. */
  public VerifyCommand() {
    super("verify", "check every byte and every key of a database");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    Path directory = DatabaseOption.current(arguments);
    boolean quiet = arguments.has("-q");
    long began = System.nanoTime();
    VerifyReport report = verify(directory, console, quiet);
    double seconds = (System.nanoTime() - began) / 1e9;
    if (arguments.has("--json")) {
      JsonReport.print(console, forPrograms(directory, report, seconds));
    } else if (!quiet) {
      console.say(forPeople(directory, report, seconds));
    }
    return OK;
  }

  /** Verifies a database and shows progress. */
  public static VerifyReport verify(Path directory, Console console, boolean quiet)
      throws IOException {
    try (Progress progress = new Progress(console, quiet)) {
      return Database.verify(directory, (done, total) -> progress.update("verify", done, total));
    }
  }

  /** A sentence that says what was verified. */
  public static String forPeople(Path directory, VerifyReport report, double seconds) {
    return String.format(
        Locale.ROOT,
        "verified %s: %,d records%s, %,d pages, %,d bytes in %.1f s",
        directory,
        report.records(),
        report.keysChecked() ? " read and found again" : " (approximate: no keys to look up)",
        report.pages(),
        report.bytes(),
        seconds);
  }

  private static Map<String, Object> forPrograms(
      Path directory, VerifyReport report, double seconds) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("directory", directory.toString());
    json.put("records", report.records());
    json.put("pages", report.pages());
    json.put("bytes", report.bytes());
    json.put("keysChecked", report.keysChecked());
    json.put("seconds", seconds);
    return json;
  }
}
