package tech.bsdb.tools.publish;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.DiffListener;
import tech.bsdb.Statistics;
import tech.bsdb.store.NoDeltaException;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishListener;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.Interruption;
import tech.bsdb.tools.cli.OutputException;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.publish.Checks.Current;
import tech.bsdb.tools.publish.Checks.VersionRefusedException;
import tech.bsdb.transfer.TransferListener;
import tech.bsdb.transfer.TransferReport;

/** One publication and its report. */
public final class Publishing {
  private final String program;
  private final Publication publication;
  private final Checks checks;
  private final Console console;
  private final boolean quiet;
  private final DiffListener comparing;
  private final @Nullable String base;
  private final long began = System.nanoTime();
  private double copySeconds;
  private double seconds;
  private boolean verified;
  private @Nullable String previous;
  private @Nullable Statistics added;
  private @Nullable String older;
  private @Nullable String whole;
  private Current old = Current.NONE;
  private Checks.Findings findings = new Checks.Findings();

  /**
   * Creates a publication that has not begun.
   *
   * @param comparing receives the progress of the comparison with the current version
   * @param base the version of which the new one has the changes, and which must stay current until
   *     the new one is; null for any
   */
  Publishing(
      String program,
      Publication publication,
      Checks checks,
      Console console,
      boolean quiet,
      DiffListener comparing,
      @Nullable String base) {
    this.base = base;
    this.program = program;
    this.publication = publication;
    this.checks = checks;
    this.console = console;
    this.quiet = quiet;
    this.comparing = comparing;
  }

  /** Also writes the changes since a version of the store, unless they are of no use. */
  void withDeltaFrom(@Nullable String version) {
    older = version;
  }

  /**
   * Does all that follows the beginning of the publication.
   *
   * @param verify whether the copy is verified as a whole, each key included
   * @param copied called when all files are in the store
   */
  void publish(boolean verify, Runnable copied) throws IOException {
    checkRecords(publication.records()); // what is refused here need not be copied
    if (older != null) {
      publication.checkDelta(older);
    }
    publication.copy();
    copySeconds = (System.nanoTime() - began) / 1e9;
    copied.run();
    if (verify) {
      publication.verify();
      verified = true;
    }
    if (older != null) {
      try {
        publication.delta(older, DeltaDelivery.MEMORY, comparing);
      } catch (NoDeltaException e) {
        whole = e.getMessage();
      } catch (InterruptedIOException e) {
        throw e;
      } catch (IOException | UncheckedIOException | LinkageError e) {
        whole = DeltaDelivery.notMade(e).getMessage();
      }
    }
    do {
      Statistics statistics = Database.statistics(publication.directory());
      added = statistics;
      checkRecords(statistics.records());
      findings = checks.keys(publication.directory(), old, comparing);
    } while (!publication.goLive(previous));
    seconds = (System.nanoTime() - began) / 1e9;
    if (!quiet) {
      findings.leftOut().forEach(what -> console.say(program + ": left out: " + what));
    }
  }

  private void checkRecords(long records) throws IOException {
    previous = publication.current();
    if (base != null && !base.equals(previous)) {
      throw new VersionRefusedException(
          "%s, from which it was merged, is no longer the current version: %s; merge again"
              .formatted(base, previous == null ? "there is none" : previous + " is"));
    }
    old = previous == null ? Current.NONE : Current.of(publication.store(), previous);
    checks.records(records, old);
  }

  /**
   * Removes old versions; if that fails, the new one is still current.
   *
   * @param keep how many to keep besides the current one; negative for all
   * @return the names of those removed
   */
  public List<String> keep(int keep) {
    try {
      return keep < 0 ? List.of() : publication.keep(keep);
    } catch (IOException e) {
      console.say(
          program + ": the new version is current, but not all old ones were removed: " + e);
      return List.of();
    }
  }

  /**
   * What was published, in a few lines.
   *
   * @param removed the names of the old versions that were removed
   */
  public List<String> forPeople(List<String> removed) {
    Statistics now = added;
    if (now == null) {
      return List.of();
    }
    String first =
        String.format(
            Locale.ROOT,
            "%s %s in %s: %,d records, %,d bytes in %.1f s (copied in %.1f s)%s",
            publication.transferred() == null ? "published" : "pulled",
            publication.version(),
            publication.store(),
            now.records(),
            now.databaseBytes(),
            seconds,
            copySeconds,
            verified ? ", verified" : "");
    String second =
        previous == null
            ? "it is the first version"
            : "current before: "
                + previous
                + (old.readable() ? String.format(Locale.ROOT, ", %,d records", old.records()) : "")
                + "; to go back: bsdb rollback "
                + publication.store();
    List<String> lines = new ArrayList<>(List.of(first));
    TransferReport transferred = publication.transferred();
    if (transferred != null) {
      lines.add(brought(transferred));
    }
    if (older != null) {
      lines.add(
          whole == null
              ? "the changes since " + older + " are with it"
              : "no changes are with it: " + whole);
    }
    lines.addAll(findings.said());
    lines.add(second);
    if (!removed.isEmpty()) {
      lines.add("removed: " + String.join(", ", removed));
    }
    return lines;
  }

  private Map<String, @Nullable Object> forPrograms(List<String> removed) {
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
    TransferReport transferred = publication.transferred();
    if (transferred != null) {
      json.put("transferred", figures(transferred));
    }
    if (older != null) {
      json.put("deltaFrom", whole == null ? older : null);
      json.put("whole", whole);
    }
    if (old.readable()) {
      json.put("previousRecords", old.records());
    }
    json.putAll(findings.figures());
    json.put("leftOut", findings.leftOut());
    json.put("removed", removed);
    json.put("warnings", warnings());
    json.put("copySeconds", copySeconds);
    json.put("seconds", seconds);
    return json;
  }

  /** What a pull brought. */
  private static Map<String, @Nullable Object> figures(TransferReport transferred) {
    Map<String, @Nullable Object> figures = new LinkedHashMap<>();
    figures.put("files", transferred.files());
    figures.put("bytes", transferred.bytes());
    figures.put("resumedBytes", transferred.resumedBytes());
    figures.put("reusedFiles", transferred.reusedFiles());
    figures.put("reusedBytes", transferred.reusedBytes());
    figures.put("retries", transferred.retries());
    figures.put("folded", transferred.folded());
    return figures;
  }

  private static String brought(TransferReport transferred) {
    return String.format(
        Locale.ROOT,
        "%,d files with %,d bytes arrived%s%s%s%s",
        transferred.files(),
        transferred.bytes(),
        transferred.resumedBytes() == 0
            ? ""
            : String.format(
                Locale.ROOT, ", %,d bytes from an earlier pull", transferred.resumedBytes()),
        transferred.folded() == 0
            ? ""
            : String.format(
                Locale.ROOT,
                "; %s built from them and an older version",
                transferred.folded() == 1
                    ? "the database was"
                    : transferred.folded() + " shards were"),
        transferred.reusedFiles() == 0
            ? ""
            : String.format(
                Locale.ROOT,
                ", %,d files with %,d bytes were in the store",
                transferred.reusedFiles(),
                transferred.reusedBytes()),
        transferred.retries() == 0
            ? ""
            : String.format(Locale.ROOT, "; %,d attempts failed", transferred.retries()));
  }

  /** Receives a report for programs. */
  interface ForPrograms {
    void print(Map<String, @Nullable Object> report) throws IOException;
  }

  /**
   * Removes old versions and reports, for people or for programs.
   *
   * @param interruption is told that the version is current, once its name is printed
   */
  void tell(Arguments arguments, int keep, Interruption interruption, ForPrograms printer)
      throws IOException {
    String live = "version " + publication.version() + " is current";
    boolean json = arguments.has("--json");
    try {
      if (!json) {
        console.print(publication.version());
        console.out().flush();
      }
      interruption.completed(live);
      List<String> removed = keep(keep);
      List<String> warnings = quiet ? publication.warnings() : warnings();
      warnings.forEach(what -> console.say(program + ": warning: " + what));
      if (json) {
        printer.print(forPrograms(removed));
        console.out().flush();
      } else if (!quiet) {
        forPeople(removed).forEach(console::say);
      }
    } catch (OutputException e) {
      throw e.but("it was published: " + live);
    }
  }

  /** What did not go well, or may not have been meant, although the new version is current. */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>(publication.warnings());
    Statistics now = added;
    Statistics before = old.statistics();
    if (now != null && before != null && before.ordered() && !now.ordered()) {
      warnings.add(
          ("%s has no order of its keys, but %s, the current version before, has one: requests for"
                  + " ranges fail from now on; build with --ordered, or roll back")
              .formatted(publication.version(), old.name()));
    }
    return warnings;
  }

  /** Adds the store to a disk-full error, which names no path if only a descriptor was known. */
  static IOException withSpace(IOException e, Path store) {
    return Diagnosis.isUnnamedFullDisk(e) ? new IOException(store + ": " + e.getMessage(), e) : e;
  }

  /** Shows the progress of a publication and of the transfer before it. */
  record PublishProgress(String program, Console console, Progress progress, boolean quiet)
      implements PublishListener, DiffListener, TransferListener {
    @Override
    public void waiting() {
      if (!quiet) {
        console.say(
            program + ": another publish to this store is running; waiting for it to finish");
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

    @Override
    public void progress(long doneRecords, long allRecords) {
      progress.update("compare", doneRecords, allRecords);
    }

    @Override
    public void arrived(long doneBytes, long allBytes) {
      progress.update("pull", doneBytes, allBytes);
    }

    @Override
    public void folding(long doneRecords, long allRecords) {
      progress.update("fold", doneRecords, allRecords);
    }

    @Override
    public void whole(String version, String why) {
      if (!quiet) {
        console.say(program + ": " + version + " is pulled whole: " + why);
      }
    }

    @Override
    public void retrying(String location, String why, Duration pause) {
      if (!quiet) {
        console.say(
            String.format(
                Locale.ROOT,
                "%s: %s: %s (trying again in %.1f s)",
                program,
                location,
                why,
                pause.toMillis() / 1e3));
      }
    }
  }
}
