package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.store.Publication;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Interruption;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.publish.Publishing.PublishProgress;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/** {@code bsdb pull}: brings the current version of a distant store into a local one. */
public final class PullCommand extends Command {
  private static final String PROGRAM = "bsdb pull";

  /** For the service loader. */
  public PullCommand() {
    super("pull", "bring a database from HDFS, S3 or elsewhere into a store");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    List<String> operands = arguments.operands();
    if (operands.size() != 2 || operands.contains("")) {
      throw new UsageException(
          "pull takes a source and a store: bsdb pull hdfs://namenode:8020/stores/users ./store");
    }
    Checks checks = Checks.withDiff(arguments);
    int keep = arguments.integer("--keep", 0, 1_000_000, -1);
    boolean quiet = arguments.has("-q");
    Path store = arguments.pathOperand(1, "store");
    TransferOptions transfer = PullOptions.transfer(arguments);
    try (Interruption interruption =
            new Interruption(
                console,
                PROGRAM,
                "nothing was published; the next pull goes on with what has arrived",
                "the next pull to the same store removes what is left");
        Progress progress = new Progress(console, quiet);
        DistantDirectory source =
            DistantDirectory.open(operands.get(0), FileSourceOptions.of(arguments))) {
      PublishProgress shown = new PublishProgress(PROGRAM, console, progress, quiet);
      Pull pull =
          new Pull(
              source,
              store,
              LocalPublishing.options(arguments, shown),
              transfer.withListener(shown),
              checks,
              arguments.has("--verify"));
      pull.run(
          PROGRAM, console, quiet, new Steps(arguments, keep, console, progress, interruption));
      return OK;
    }
  }

  /** Tells what happens. */
  private record Steps(
      Arguments arguments, int keep, Console console, Progress progress, Interruption interruption)
      implements Pull.Steps {
    @Override
    public void begins(Publication publication) {
      interruption.undoBy(
          () -> {
            progress.close();
            publication.close();
          },
          () -> {});
    }

    /** Whether the current version is as it should be, as far as it is to be verified. */
    @Override
    public boolean isSound(Publication publication) throws IOException {
      if (!arguments.has("--verify")) {
        return true;
      }
      Path current = publication.store().resolve(String.valueOf(publication.current()));
      try {
        Database.verify(current, (done, all) -> progress.update("verify", done, all));
        return true;
      } catch (CorruptDatabaseException e) {
        console.say(PROGRAM + ": " + e.getMessage());
        console.say(PROGRAM + ": what is damaged here is pulled again");
        return false;
      }
    }

    @Override
    public void upToDate(Publication publication) throws IOException {
      String current = String.valueOf(publication.current());
      if (arguments.has("--json")) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("version", current);
        json.put("store", publication.store().toString());
        json.put("records", publication.records());
        json.put("upToDate", true);
        JsonReport.print(console, json);
      } else {
        console.print(current);
      }
      console.out().flush();
      if (!arguments.has("-q") && !arguments.has("--json")) {
        console.say(
            "nothing to pull: version " + current + " in " + publication.store() + " is it");
      }
    }

    @Override
    public void progress(long doneRecords, long allRecords) {
      progress.update("compare", doneRecords, allRecords);
    }

    @Override
    public void published(Publication publication, Publishing report) throws IOException {
      report.tell(arguments, keep, interruption, json -> JsonReport.print(console, json));
    }
  }
}
