package tech.bsdb.tools.make;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.publish.LocalPublishing;
import tech.bsdb.tools.rows.RowSchema;

/**
 * One run of a command that merges changes from any source into a database: opens the base, builds
 * the new database, publishes it if that is wanted, and reports.
 */
public final class MergeRun {
  /** What is to be merged. */
  @FunctionalInterface
  public interface Source {
    /**
     * Reads the options of the source; not called if there are only keys to delete.
     *
     * @param build the database to build
     * @param stored the schema of its rows, or null if its values are bytes
     */
    BuildRun.Opener of(BuildOptions build, @Nullable RowSchema stored) throws UsageException;
  }

  private final String program;
  private final Arguments arguments;
  private final Console console;
  private final MergeOptions options;
  private final @Nullable LocalPublishing publishing;

  /**
   * Creates a run without starting it.
   *
   * @param program the command as users type it, for messages
   * @param example a command line, for messages
   * @param ofRecords the options that need records to merge
   */
  public MergeRun(
      String program, String example, List<String> ofRecords, Arguments arguments, Console console)
      throws UsageException, IOException {
    this.program = program;
    this.arguments = arguments;
    this.console = console;
    this.options = MergeOptions.of(arguments, example, ofRecords);
    Path store = options.store();
    if (store == null) {
      this.publishing = null;
    } else {
      this.publishing = new LocalPublishing(arguments, console);
      publishing.checkStore(options.target(), store);
    }
  }

  /** Merges. */
  public void run(Source source) throws IOException, UsageException {
    if (options.readsInput()) {
      console.requireInput();
    }
    BuildRun build;
    BuildSummary summary;
    try (Database base = Database.open(options.base())) {
      requireWhole(base.statistics());
      TargetOptions target = options.target(BuildOptions.of(base));
      build = new BuildRun(program, target, arguments, console, base);
      InputOptions keys = options.keys();
      RowSchema stored = schema(base.statistics());
      BuildRun.Opener records = arguments.has("-i") ? source.of(target.build(), stored) : null;
      requireOutsideBase(arguments.path("--rejects").orElse(null));
      summary = build.build(() -> Changes.open(records, keys));
    }
    build.verify();
    build.report(summary, publish(build.target().target()));
  }

  private void requireOutsideBase(@Nullable Path rejects) throws IOException, UsageException {
    if (rejects != null
        && TargetOptions.resolved(rejects).startsWith(TargetOptions.resolved(options.base()))) {
      throw new UsageException(
          "--rejects %s lies inside the base %s; choose another file"
              .formatted(rejects, options.base()));
    }
  }

  private Map<String, ?> publish(Path directory) throws IOException, UsageException {
    Path store = options.store();
    if (store == null || publishing == null) {
      return Map.of();
    }
    boolean published = false;
    try {
      Map<String, @Nullable Object> figures =
          publishing.run(program, directory, store, options.baseVersion());
      published = true;
      return Map.of("published", figures);
    } finally {
      if (!published) {
        console.say(program + ": the merged database is at " + directory + ", not published");
      }
    }
  }

  private void requireWhole(Statistics base) throws IOException {
    if (base.approximateWidth() > 0) {
      throw new IOException(
          options.base()
              + " is an approximate database, which keeps no keys: nothing can be merged into it;"
              + " build a new database");
    }
    if (base.isPartialSet()) {
      throw new IOException(
          ("%s holds only some shards of its set (%s of %s); merge into the whole set, or into one"
                  + " shard after another")
              .formatted(options.base(), base.heldShardRanges(), base.shards()));
    }
  }

  private @Nullable RowSchema schema(Statistics base) throws IOException {
    try {
      return RowSchema.stored(base);
    } catch (IllegalArgumentException e) {
      throw new IOException(options.base() + ": the stored schema: " + e.getMessage(), e);
    }
  }
}
