package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishListener;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Interruption;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.publish.Publishing.PublishProgress;

/** The publication of a database of this machine into a store, from its options to its report. */
public final class LocalPublishing {
  private final Arguments arguments;
  private final Console console;
  private final boolean quiet;
  private final Checks checks;
  private final int keep;
  private @Nullable String deltaFrom;

  /**
   * Reads the options of a database whose changes are known.
   *
   * @throws UsageException if a value is wrong
   */
  public LocalPublishing(Arguments arguments, Console console) throws UsageException {
    this(arguments, console, Checks.of(arguments, Checks.Counting.IF_NEEDED));
  }

  LocalPublishing(Arguments arguments, Console console, Checks checks) throws UsageException {
    this.arguments = arguments;
    this.console = console;
    this.quiet = arguments.has("-q");
    this.checks = checks;
    this.keep = arguments.integer("--keep", 0, 1_000_000, -1);
    options(arguments, PublishListener.NONE); // so that they are checked
  }

  /**
   * Checks, before there is a database, that it can be published.
   *
   * @param database where it will be
   * @throws UsageException if the store lies inside a database or another store
   */
  public void checkStore(Path database, Path store) throws IOException, UsageException {
    try (Publication publication =
        Publication.of(database, store, options(arguments, PublishListener.NONE))) {
      publication.checkStore();
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  /** Also writes the changes since a version of the store. */
  void withDeltaFrom(@Nullable String version) {
    deltaFrom = version;
  }

  /** Publishes and reports. */
  void run(String program, Path database, Path store) throws IOException, UsageException {
    run(program, database, store, null, report -> JsonReport.print(console, report));
  }

  /**
   * Publishes what was merged. Unless the report is for programs, it is printed.
   *
   * @param base the version that must stay current until the new one is, or null
   * @return the report for programs
   */
  public Map<String, @Nullable Object> run(
      String program, Path database, Path store, @Nullable String base)
      throws IOException, UsageException {
    Map<String, @Nullable Object> figures = new LinkedHashMap<>();
    run(program, database, store, base, figures::putAll);
    return figures;
  }

  private void run(
      String program,
      Path database,
      Path store,
      @Nullable String base,
      Publishing.ForPrograms printer)
      throws IOException, UsageException {
    try (Interruption interruption =
            new Interruption(
                console,
                program,
                "nothing was published",
                "the next publish to the same store removes what is left");
        Progress progress = new Progress(console, quiet);
        Publication publication =
            Publication.of(
                database,
                store,
                options(arguments, new PublishProgress(program, console, progress, quiet)))) {
      DiffListener comparing = new PublishProgress(program, console, progress, quiet);
      interruption.undoBy(() -> abandon(progress, publication), () -> {});
      Publishing run =
          new Publishing(program, publication, checks, console, quiet, comparing, base);
      run.withDeltaFrom(deltaFrom);
      try {
        publication.begin();
        run.publish(/* verify= */ true, () -> {});
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()));
      } catch (IOException e) {
        throw Publishing.withSpace(e, store);
      }
      run.tell(arguments, keep, interruption, printer);
    }
  }

  private static void abandon(Progress progress, Publication publication) throws IOException {
    progress.close();
    publication.close();
  }

  static PublishOptions options(Arguments arguments, PublishListener listener)
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
}
