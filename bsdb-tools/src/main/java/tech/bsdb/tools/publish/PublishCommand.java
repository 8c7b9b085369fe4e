package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishListener;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.tools.build.Interruption;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.OutputException;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb publish}: puts a database into a store, checks it, and makes it current. */
public final class PublishCommand implements Command {
  private static final String PROGRAM = "bsdb publish";

  private static final Syntax SYNTAX =
      Checks.declare(
              new Syntax(
                      "publish",
                      "DB STORE",
                      "Copies a database into a store as a new version, verifies every byte and"
                          + " every key of the copy, checks it against the current version, and"
                          + " makes it current in one step; servers follow within seconds. Prints"
                          + " the version's name. A version that is refused or fails leaves nothing"
                          + " behind, and the current version stays current. The store is created"
                          + " if it is missing.")
                  .section("Version")
                  .value(
                      "--version",
                      "NAME",
                      "the version's name, of A-Z a-z 0-9 . _ - (default: the time, such as"
                          + " 20261121T151400Z)")
                  .flag(
                      "--link",
                      "make hard links instead of copies: instant and without extra space, on the"
                          + " same file system")
                  .value(
                      "--keep",
                      "N",
                      "afterwards keep only the current version and the N most recent others; the"
                          + " version that a rollback returns to is never removed (default: keep"
                          + " all)"))
          .section("Report")
          .flag("-q", "print nothing but errors, and the version's name")
          .flag("--json", "print one JSON object on stdout instead of the name")
          .example(
              "into a store, which is created if it is missing", "bsdb publish ./rdb /data/users")
          .example(
              "a nightly job: refuse to shrink by more than 5 percent, keep 3 older versions",
              "bsdb publish ./rdb /data/users --min-records 1000000 --max-shrink 5 --keep 3")
          .example(
              "with a name, and keys that must be present",
              "bsdb publish ./rdb /data/users --version v42 --queries must-have.txt")
          .example("undo it", "bsdb rollback /data/users");

  /** For the service loader. */
  public PublishCommand() {}

  @Override
  public String name() {
    return "publish";
  }

  @Override
  public String summary() {
    return "put a database into a store as its new version";
  }

  @Override
  public int run(List<String> line, Console console) throws Exception {
    Arguments arguments = SYNTAX.parse(line);
    if (arguments.has("--help")) {
      console.print(SYNTAX.help());
      return OK;
    }
    List<String> operands = arguments.operands();
    if (operands.size() != 2 || operands.contains("")) {
      throw new UsageException(
          "publish takes a database and a store: bsdb publish ./rdb /data/users");
    }
    Checks checks = Checks.of(arguments);
    int keep = arguments.integer("--keep", 0, 1_000_000, -1);
    boolean quiet = arguments.has("-q");
    Path database = arguments.pathOperand(0, "database");
    Path store = arguments.pathOperand(1, "store");
    try (Interruption interruption =
            new Interruption(
                console,
                PROGRAM,
                "nothing was published",
                "the next publish to the same store removes what is left");
        Progress progress = new Progress(console, quiet);
        Publication publication =
            Publication.of(
                database, store, options(arguments, new Shown(console, progress, quiet)))) {
      interruption.undoBy(() -> abandon(progress, publication), () -> {});
      Run run = new Run(publication, checks, console, quiet);
      try {
        run.publish();
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()));
      } catch (IOException e) {
        throw withSpace(e, store);
      }
      String live = "version " + publication.version() + " is current";
      try {
        tell(run, arguments, console, keep, () -> interruption.completed(live));
      } catch (OutputException e) {
        throw e.but("it was published: " + live);
      }
    }
    return OK;
  }

  private static void abandon(Progress progress, Publication publication) throws IOException {
    progress.close();
    publication.close();
  }

  private static void tell(
      Run run, Arguments arguments, Console console, int keep, Runnable completed)
      throws IOException {
    boolean json = arguments.has("--json");
    if (!json) {
      console.print(run.publication.version());
      console.out().flush();
    }
    completed.run();
    List<String> removed = run.keep(keep);
    run.publication.warnings().forEach(what -> console.say(PROGRAM + ": warning: " + what));
    if (json) {
      JsonReport.print(console, run.forPrograms(removed));
      console.out().flush();
    } else if (!arguments.has("-q")) {
      run.forPeople(removed).forEach(console::say);
    }
  }

  private static PublishOptions options(Arguments arguments, PublishListener listener)
      throws UsageException {
    try {
      return PublishOptions.defaults()
          .withVersion(arguments.text("--version").orElse(null))
          .withLink(arguments.has("--link"))
          .withListener(listener);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--version: " + e.getMessage());
    }
  }

  /** Adds the store to a disk-full error, which names no path if only a descriptor was known. */
  private static IOException withSpace(IOException e, Path store) {
    String lower = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    boolean full = lower.startsWith("no space left") || lower.startsWith("disk quota exceeded");
    if (!full || e instanceof FileSystemException) {
      return e;
    }
    return new IOException(store + ": " + e.getMessage(), e);
  }

  /** Shows progress. */
  private record Shown(Console console, Progress progress, boolean quiet)
      implements PublishListener {
    @Override
    public void waiting() {
      if (!quiet) {
        console.say(
            PROGRAM + ": another publish to this store is running; waiting for it to finish");
      }
    }

    @Override
    public void copied(long doneBytes, long allBytes) {
      progress.update("copy", doneBytes, allBytes);
    }

    @Override
    public void verified(long donePages, long allPages) {
      progress.update("verify", donePages, allPages);
    }
  }

  /** One publication and its report. */
  private static final class Run {
    private final Publication publication;
    private final Checks checks;
    private final Console console;
    private final boolean quiet;
    private final long began = System.nanoTime();
    private double copySeconds;
    private double seconds;
    private @Nullable String previous;
    private @Nullable Statistics added;
    private Current old = Current.NONE;
    private Checks.Findings findings = new Checks.Findings();

    Run(Publication publication, Checks checks, Console console, boolean quiet) {
      this.publication = publication;
      this.checks = checks;
      this.console = console;
      this.quiet = quiet;
    }

    void publish() throws IOException {
      publication.begin();
      checkRecords(publication.records()); // what is refused here need not be copied
      publication.copy();
      copySeconds = (System.nanoTime() - began) / 1e9;
      publication.verify();
      do {
        Statistics statistics = Database.statistics(publication.directory());
        added = statistics;
        checkRecords(statistics.records());
        findings = checks.keys(publication.directory(), old);
      } while (!publication.goLive(previous));
      seconds = (System.nanoTime() - began) / 1e9;
      if (!quiet) {
        findings.leftOut().forEach(what -> console.say(PROGRAM + ": left out: " + what));
      }
    }

    private void checkRecords(long records) throws IOException {
      previous = publication.current();
      old = previous == null ? Current.NONE : Current.of(publication.store(), previous);
      checks.records(records, old);
    }

    /** Removes old versions; if that fails, the new one is still current. */
    List<String> keep(int keep) {
      try {
        return keep < 0 ? List.of() : publication.keep(keep);
      } catch (IOException e) {
        console.say(
            PROGRAM + ": the new version is current, but not all old ones were removed: " + e);
        return List.of();
      }
    }

    List<String> forPeople(List<String> removed) {
      Statistics now = added;
      if (now == null) {
        return List.of();
      }
      String first =
          String.format(
              Locale.ROOT,
              "published %s in %s: %,d records, %,d bytes in %.1f s (copied in %.1f s), verified",
              publication.version(),
              publication.store(),
              now.records(),
              now.databaseBytes(),
              seconds,
              copySeconds);
      String second =
          previous == null
              ? "it is the first version"
              : "current before: "
                  + previous
                  + (old.readable()
                      ? String.format(Locale.ROOT, ", %,d records", old.records())
                      : "")
                  + "; to go back: bsdb rollback "
                  + publication.store();
      return removed.isEmpty()
          ? List.of(first, second)
          : List.of(first, second, "removed: " + String.join(", ", removed));
    }

    Map<String, @Nullable Object> forPrograms(List<String> removed) {
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      Statistics now = added;
      json.put("version", publication.version());
      json.put("store", publication.store().toString());
      if (now != null) {
        json.put("databaseId", now.databaseId());
        json.put("records", now.records());
        json.put("bytes", now.databaseBytes());
      }
      json.put("previous", previous);
      if (old.readable()) {
        json.put("previousRecords", old.records());
      }
      json.putAll(findings.figures());
      json.put("leftOut", findings.leftOut());
      json.put("removed", removed);
      json.put("warnings", publication.warnings());
      json.put("copySeconds", copySeconds);
      json.put("seconds", seconds);
      return json;
    }
  }
}
