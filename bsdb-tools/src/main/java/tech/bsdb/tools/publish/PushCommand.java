package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.store.Store;
import tech.bsdb.store.VersionName;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Interruption;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.OutputException;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.Consignment;

/** {@code bsdb push}: sends a database to a store on HDFS, S3 or another file system. */
public final class PushCommand extends Command {
  private static final String PROGRAM = "bsdb push";
  private static final List<Long> PAUSES = List.of(1_000L, 4_000L);
  private static final int MOST_NAMED = 10;

  /** What holds after every failure. */
  private static final String UNCHANGED =
      "; the store's current version is unchanged, and the same command continues with what is left";

  /** For the service loader. */
  public PushCommand() {
    super("push", "send a database to a store on HDFS or S3");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    List<String> operands = arguments.operands();
    if (operands.size() != 2 || operands.contains("")) {
      throw new UsageException(
          "push takes a database and a destination: bsdb push ./rdb hdfs://namenode:8020/stores/users");
    }
    int keep = arguments.integer("--keep", 0, 1_000_000, -1);
    Path path = current(arguments.pathOperand(0, "database"));
    Push.Manner manner =
        new Push.Manner(
            version(arguments),
            arguments.has("--verify"),
            arguments.integer("--threads", 1, 64, 4),
            PAUSES,
            delta(arguments, path));
    boolean quiet = arguments.has("-q");
    long began = System.nanoTime();
    Consignment database = Consignment.of(path);
    try (Interruption interruption =
            new Interruption(
                console,
                PROGRAM,
                "the store's current version is unchanged; the same command continues",
                "the same command continues");
        Progress progress = new Progress(console, quiet);
        DistantDirectory store =
            DistantDirectory.open(operands.get(1), FileSourceOptions.of(arguments));
        Push push = new Push(database, store, manner, new Shown(console, progress, quiet))) {
      interruption.undoBy(() -> abandon(progress, push), () -> {});
      try {
        push.send();
      } catch (FileAlreadyExistsException refused) {
        throw refused;
      } catch (NoSuchFileException e) {
        throw new IOException(store.explain("", e).getMessage() + UNCHANGED, e);
      } catch (CorruptDatabaseException e) {
        throw new IOException(e.getMessage() + "; the store's current version is unchanged", e);
      } catch (IOException e) {
        throw new IOException(e.getMessage() + UNCHANGED, e);
      }
      String live = "version " + push.version() + " is current";
      try {
        new Report(database, store, push, began).tell(arguments, console, keep, interruption, live);
      } catch (OutputException e) {
        throw e.but("it was sent: " + live);
      }
    }
    return OK;
  }

  private static void abandon(Progress progress, Push push) throws InterruptedException {
    progress.close();
    push.cancel();
  }

  private static @Nullable String version(Arguments arguments) throws UsageException {
    String name = arguments.text("--version").orElse(null);
    if (name != null) {
      try {
        String unused = VersionName.checked(name);
      } catch (IllegalArgumentException e) {
        throw new UsageException("--version: " + e.getMessage());
      }
    }
    return name;
  }

  /** The older database, which is a version of the store of the new one, or any path. */
  private static DeltaDelivery.@Nullable Source delta(Arguments arguments, Path database)
      throws IOException, UsageException {
    arguments.refuseEmpty("--delta-from", "the database that was pushed before");
    Optional<Path> older = arguments.path("--delta-from");
    if (older.isEmpty()) {
      arguments.refuse(
          arguments.has("-temp") ? List.of("-temp") : List.of(),
          "is for changes; add --delta-from OLDER");
      return null;
    }
    Path inStore = arguments.pathOperand(0, "database").resolve(older.get());
    Path before = current(Files.exists(inStore) ? inStore : older.get());
    Consignment.of(before); // so that a mistake is told before anything is sent
    Path temporary = arguments.path("-temp").orElse(Path.of(System.getProperty("java.io.tmpdir")));
    if (!Files.isDirectory(temporary)) {
      throw new UsageException("-temp: " + temporary + " is not a directory");
    }
    return new DeltaDelivery.Source(before, database, temporary);
  }

  /** The database itself, or the current version of a store, as it is now. */
  private static Path current(Path database) throws IOException {
    if (!Store.isStore(database)) {
      return Files.exists(database) ? database.toRealPath() : database;
    }
    return DatabaseOption.current(database, database.toString()).toRealPath();
  }

  /** Shows progress. */
  private record Shown(Console console, Progress progress, boolean quiet) implements Push.Follower {
    @Override
    public void sent(long doneBytes, long allBytes) {
      progress.update("send", doneBytes, allBytes);
    }

    @Override
    public void compared(long doneRecords, long allRecords) {
      progress.update("compare", doneRecords, allRecords);
    }

    @Override
    public void retrying(String why) {
      if (!quiet) {
        console.say(PROGRAM + ": " + why + "; trying again");
      }
    }
  }

  /** What a push did. */
  private record Report(Consignment database, DistantDirectory store, Push push, long began) {
    void tell(
        Arguments arguments, Console console, int keep, Interruption interruption, String live)
        throws IOException {
      boolean json = arguments.has("--json");
      if (!json) {
        console.print(push.version());
        console.out().flush();
      }
      interruption.completed(live);
      List<String> removed = keep(console, keep);
      push.warnings().forEach(what -> console.say(PROGRAM + ": warning: " + what));
      if (json) {
        JsonReport.print(console, forPrograms(removed));
        console.out().flush();
      } else if (!arguments.has("-q")) {
        forPeople(removed).forEach(console::say);
      }
    }

    private List<String> keep(Console console, int keep) {
      try {
        return keep < 0 ? List.of() : push.keep(keep);
      } catch (IOException e) {
        console.say(
            "%s: the version is current, but not all old ones were removed: %s"
                .formatted(PROGRAM, e.getMessage()));
        return List.of();
      }
    }

    private double seconds() {
      return (System.nanoTime() - began) / 1e9;
    }

    /** Whether the version was current before. */
    private boolean wasCurrent() {
      return push.version().equals(push.previous());
    }

    private List<String> forPeople(List<String> removed) {
      List<String> repaired = push.repaired();
      String already =
          wasCurrent()
              ? "%s: the current version, %s, already is this database; %s"
              : "%s: %s was this database already, and is current now; %s";
      String first =
          repaired != null
              ? already.formatted(
                  store.location(""), push.version(), forPeople(repaired, "nothing was sent"))
              : String.format(
                  Locale.ROOT,
                  "sent %s to %s: %,d bytes in %.1f s%s",
                  push.version(),
                  store.location(""),
                  push.sentBytes(),
                  seconds(),
                  push.keptFiles() == 0
                      ? ""
                      : "; " + push.keptFiles() + " files were there already");
      List<String> lines = new ArrayList<>(List.of(first));
      DeltaDelivery delta = push.delta();
      if (delta != null) {
        String sent =
            String.format(
                Locale.ROOT,
                ": %,d bytes, %.2f %% of the database",
                delta.bytes(),
                100.0 * delta.bytes() / database.bytes());
        lines.add(
            "the changes since "
                + delta.base()
                + (delta.bytes() == 0 ? " are there already" : " go with it" + sent));
      }
      if (push.whole() != null) {
        lines.add("no changes go with it: " + push.whole());
      }
      if (!removed.isEmpty()) {
        lines.add("removed: " + String.join(", ", removed));
      }
      return lines;
    }

    private static String forPeople(List<String> repaired, String nothing) {
      if (repaired.isEmpty()) {
        return nothing;
      }
      int more = repaired.size() - MOST_NAMED;
      return "sent again: "
          + String.join(", ", repaired.subList(0, Math.min(MOST_NAMED, repaired.size())))
          + (more > 0 ? " and " + more + " more" : "");
    }

    private Map<String, @Nullable Object> forPrograms(List<String> removed) {
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("version", push.version());
      json.put("store", store.location(""));
      json.put("databaseId", database.databaseId());
      json.put("bytes", database.bytes());
      json.put("sentBytes", push.sentBytes());
      json.put("keptFiles", push.keptFiles());
      List<String> repaired = push.repaired();
      json.put("unchanged", repaired != null && repaired.isEmpty() && wasCurrent());
      json.put("repaired", repaired == null ? List.of() : repaired);
      DeltaDelivery delta = push.delta();
      json.put("deltaFrom", delta == null ? null : delta.base());
      json.put("deltaBytes", delta == null ? 0 : delta.bytes());
      json.put("whole", push.whole());
      json.put("previous", push.previous());
      json.put("removed", removed);
      json.put("warnings", push.warnings());
      json.put("seconds", seconds());
      return json;
    }
  }
}
