package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
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
    try (Place place = PlaceOptions.of(arguments)) {
      boolean quiet = arguments.has("-q");
      long began = System.nanoTime();
      VerifyReport report = verify(place, console, quiet);
      double seconds = (System.nanoTime() - began) / 1e9;
      if (arguments.has("--json")) {
        JsonReport.print(console, forPrograms(place.named(), report, seconds));
      } else if (!quiet) {
        console.say(forPeople(place.named(), report, seconds));
      }
      return OK;
    }
  }

  /** Verifies a database and shows progress. */
  public static VerifyReport verify(Path directory, Console console, boolean quiet)
      throws IOException {
    return verify(new Place.Here(directory, directory), console, quiet);
  }

  private static VerifyReport verify(Place place, Console console, boolean quiet)
      throws IOException {
    try (Progress progress = new Progress(console, quiet)) {
      return place.verify((done, total) -> progress.update("verify", done, total));
    }
  }

  /** A sentence that says what was verified. */
  public static String forPeople(String database, VerifyReport report, double seconds) {
    return String.format(
        Locale.ROOT,
        "verified %s: %,d records%s, %,d pages, %,d bytes in %.1f s",
        database,
        report.records(),
        report.keysChecked() ? " read and found again" : " (approximate: no keys to look up)",
        report.pages(),
        report.bytes(),
        seconds);
  }

  private static Map<String, Object> forPrograms(
      String database, VerifyReport report, double seconds) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("directory", database);
    json.put("records", report.records());
    json.put("pages", report.pages());
    json.put("bytes", report.bytes());
    json.put("keysChecked", report.keysChecked());
    json.put("seconds", seconds);
    return json;
  }
}
