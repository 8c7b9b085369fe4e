package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import tech.bsdb.VerifyReport;
import tech.bsdb.VerifyScope;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb verify}: checks that a database is what was built, byte by byte and key by key. */
public final class VerifyCommand extends Command {
  private static final String NO_KEYS = " (approximate: no keys to look up)";

  /** For the service loader. */
  public VerifyCommand() {
    super("verify", "check every byte and every key of a database");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    VerifyScope scope = arguments.has("--content") ? VerifyScope.CONTENT : VerifyScope.ALL;
    try (Place place = PlaceOptions.of(arguments)) {
      boolean quiet = arguments.has("-q");
      long began = System.nanoTime();
      VerifyReport report = verify(place, scope, console, quiet);
      double seconds = (System.nanoTime() - began) / 1e9;
      if (arguments.has("--json")) {
        JsonReport.print(console, forPrograms(place.named(), report, seconds));
      } else if (!quiet) {
        console.say(forPeople(place.named(), scope, report, seconds));
      }
      return OK;
    } catch (IllegalArgumentException e) {
      if (scope == VerifyScope.ALL) {
        throw e;
      }
      throw new UsageException("--content: " + e.getMessage());
    }
  }

  /** Verifies a database and shows progress. */
  public static VerifyReport verify(Path directory, Console console, boolean quiet)
      throws IOException {
    return verify(new Place.Here(directory, directory), VerifyScope.ALL, console, quiet);
  }

  private static VerifyReport verify(Place place, VerifyScope scope, Console console, boolean quiet)
      throws IOException {
    try (Progress progress = new Progress(console, quiet)) {
      return place.verify(scope, (done, total) -> progress.update("verify", done, total));
    }
  }

  /** A sentence that says what was verified, all of it. */
  public static String forPeople(String database, VerifyReport report, double seconds) {
    return forPeople(database, VerifyScope.ALL, report, seconds);
  }

  private static String forPeople(
      String database, VerifyScope scope, VerifyReport report, double seconds) {
    String keys = report.keysChecked() ? " read and found again" : NO_KEYS;
    return String.format(
        Locale.ROOT,
        "verified %s: %,d records%s, %,d pages, %,d bytes in %.1f s%s",
        database,
        report.records(),
        scope == VerifyScope.ALL ? keys : " (the content alone)",
        report.pages(),
        report.bytes(),
        seconds,
        report.contentChecked() ? "" : "; an older version wrote it, without content hashes");
  }

  private static Map<String, Object> forPrograms(
      String database, VerifyReport report, double seconds) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("directory", database);
    json.put("records", report.records());
    json.put("pages", report.pages());
    json.put("bytes", report.bytes());
    json.put("contentChecked", report.contentChecked());
    json.put("keysChecked", report.keysChecked());
    json.put("seconds", seconds);
    return json;
  }
}
