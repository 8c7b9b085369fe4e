package tech.bsdb.tools.make;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.BuildReport;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.VerifyReport;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.ForeignRecordException;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.Interruption;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.OutputException;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.input.RecordSource;
import tech.bsdb.tools.input.Rejects;
import tech.bsdb.tools.inspect.VerifyCommand;

/**
 * One run of a command that builds a database from any source: opens the source and the builder,
 * feeds one from the other, shows progress, undoes everything on an interrupt, and prints the
 * report.
 *
 * @param program the command as users type it, for messages
 * @param target what to build, and where
 * @param arguments contains the options of the report
 * @param base the database of which the records are changes; null if there is none
 */
public record BuildRun(
    String program,
    TargetOptions target,
    Arguments arguments,
    Console console,
    @Nullable Database base) {

  /** Opens the source of the records. */
  @FunctionalInterface
  public interface Opener {
    /** Finds the input and checks what can be checked before it is read. */
    RecordSource open() throws IOException;
  }

  private boolean quiet() {
    return arguments.has("-q");
  }

  /** Builds, reports, and verifies if that is wanted. */
  public void run(Opener opener) throws IOException, UsageException {
    BuildSummary summary = build(opener);
    report(summary, Map.of());
    verify();
  }

  /** Builds. */
  BuildSummary build(Opener opener) throws IOException, UsageException {
    Optional<Path> rejects = arguments.path("--rejects");
    if (rejects.isPresent()) {
      checkRejects(rejects.get());
    }
    try (Interruption interruption = new Interruption(console, program)) {
      BuildSummary summary = build(opener, interruption);
      summary.build().warnings().forEach(what -> console.say(program + ": warning: " + what));
      if (!arguments.has("--json") && !quiet()) {
        console.report(summary.forPeople());
      }
      return summary;
    }
  }

  /** Checks that the rejects file overwrites nothing; the input checks that it is writable. */
  private void checkRejects(Path rejects) throws UsageException, IOException {
    if (Rejects.isStream(rejects)) {
      return;
    }
    if (TargetOptions.resolved(rejects).startsWith(TargetOptions.resolved(target.target()))) {
      throw new UsageException(
          "--rejects %s lies inside the database %s; name a file elsewhere"
              .formatted(rejects, target.target()));
    }
    boolean file = Files.isRegularFile(rejects) || Files.isSymbolicLink(rejects);
    if (file && !target.build().overwrite()) {
      throw new UsageException(
          "--rejects " + rejects + " already exists; name another file or give --overwrite");
    }
  }

  /**
   * Prints the report for programs, if that is wanted; the other one is printed already.
   *
   * @param more further figures
   */
  void report(BuildSummary summary, Map<String, ?> more) throws IOException {
    if (!arguments.has("--json")) {
      return;
    }
    Map<String, @Nullable Object> figures = new LinkedHashMap<>(summary.forPrograms());
    figures.putAll(more);
    try {
      JsonReport.print(console, figures);
      console.out().flush();
    } catch (OutputException e) {
      throw e.but("the database was built: it is at " + summary.build().directory());
    }
  }

  private DatabaseBuilder create(RecordSource source, BuildListener listener)
      throws IOException, UsageException {
    try {
      if (base != null) {
        return DatabaseBuilder.from(base, target.target(), target.build(), listener);
      }
      BuildOptions options = target.build().withValueSchema(source.valueSchema());
      return DatabaseBuilder.create(target.target(), options, listener);
    } catch (IllegalArgumentException e) { // the directory is in a forbidden place
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  private BuildSummary build(Opener opener, Interruption interruption)
      throws IOException, UsageException {
    long began = System.nanoTime();
    HeapBudget heap = HeapBudget.ofProcess();
    try (Progress progress = new Progress(console, quiet());
        RecordSource source = opener.open();
        DatabaseBuilder builder =
            create(source, (stage, done, total) -> show(progress, heap, stage, done, total))) {
      if (!quiet()) {
        source
            .databases()
            .forEach(
                database ->
                    console.say(program + ": " + database + " is a bsdb database and is left out"));
        source.notes().forEach(note -> console.say(program + ": " + note));
      }
      interruption.undoBy(() -> abandon(progress, source, builder), source::close);
      try {
        return fill(source, builder, progress, interruption, began);
      } catch (DuplicateKeyException e) {
        throw duplicateKey(e, source);
      } catch (ForeignRecordException e) {
        throw new InputException(
            "%s: %s (merge into the whole set, or give only the changes of the shard)"
                .formatted(place(e.record(), source), e.getMessage()),
            e);
      } catch (IOException e) {
        throw withSpace(e, target, base == null);
      }
    }
  }

  private BuildSummary fill(
      RecordSource source,
      DatabaseBuilder builder,
      Progress progress,
      Interruption interruption,
      long began)
      throws IOException {
    BuildOptions build = target.build();
    if (base == null && build.layout().isCompressed() && build.dictionaryBytes() > 0) {
      source.sample(builder, build.sampleRecords());
    }
    InputReport read =
        source.feed(
            builder,
            (bytes, allBytes, records) ->
                progress.update("records", records, allBytes > 0 ? (double) bytes / allBytes : -1));
    BuildReport made = builder.finish();
    try {
      source.publishRejects();
    } catch (IOException e) {
      throw new InputException(
          e.getMessage() + "; the database was built: it is at " + made.directory(), e);
    } finally {
      interruption.completed("the database is at " + made.directory());
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    return new BuildSummary(source.unit(), read, made, seconds, BuildSummary.peakHeap());
  }

  private static void show(Progress progress, HeapBudget heap, Stage stage, long done, long total) {
    heap.keep();
    if (stage != Stage.RECORDS) { // the source estimates the total better
      progress.update(BuildSummary.word(stage), done, total);
    }
  }

  private static void abandon(Progress progress, RecordSource source, DatabaseBuilder builder)
      throws IOException {
    progress.close();
    builder.close(); // first: if the build has just finished, its rejects are kept
    source.stop();
  }

  /**
   * Adds paths to a disk-full error, which names none if only a descriptor was known.
   *
   * @param chooses whether another layout can be chosen
   */
  static IOException withSpace(IOException e, TargetOptions target, boolean chooses) {
    if (!Diagnosis.isUnnamedFullDisk(e) || e instanceof InputException) {
      return e;
    }
    Path temporary = target.build().temporaryDirectory();
    return new IOException(
        e.getMessage()
            + ": -o "
            + target.target()
            + free(target.target())
            + (temporary == null ? "" : ", -temp " + temporary + free(temporary))
            + (chooses ? lessSpace(target.build()) : ""),
        e);
  }

  /** How a build that spills all its records takes less temporary space. */
  private static String lessSpace(BuildOptions build) {
    boolean packed = build.approximateWidth() == 0 && build.layout().isPacked();
    return packed && !build.orderedKeys()
        ? "; temporary files hold all records once: put them on another disk with -temp, or build"
            + " with --layout %s, which takes 24 bytes a record there"
                .formatted(build.layout().isCompressed() ? "compressed" : "blocked")
        : "";
  }

  private static String free(Path directory) {
    try {
      Path there = directory.toAbsolutePath();
      while (!Files.exists(there) && there.getParent() != null) {
        there = there.getParent();
      }
      long mebibytes = Files.getFileStore(there).getUsableSpace() >> 20;
      return String.format(Locale.ROOT, " (%,d MB free)", mebibytes);
    } catch (IOException unknown) {
      return "";
    }
  }

  private static InputException duplicateKey(DuplicateKeyException e, RecordSource source) {
    return new InputException(
        ("duplicate key %s: %s and %s (to keep one of them: --on-duplicate first or --on-duplicate"
                + " last)")
            .formatted(
                DuplicateKeyException.show(e.key()),
                place(e.first(), source),
                place(e.second(), source)),
        e);
  }

  private static String place(long record, RecordSource source) {
    String place = source.place(record);
    return place == null ? "record " + (record + 1) : place;
  }

  /** Verifies the database that was built, if that is wanted. */
  void verify() throws IOException {
    if (!arguments.has("-v")) {
      return;
    }
    long began = System.nanoTime();
    VerifyReport report = VerifyCommand.verify(target.target(), console, quiet());
    if (!quiet()) {
      console.say(
          VerifyCommand.forPeople(
              target.target().toString(), report, (System.nanoTime() - began) / 1e9));
    }
  }
}
