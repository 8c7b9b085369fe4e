package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishListener;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.tools.build.Interruption;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
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
                database,
                store,
                options(arguments, new PublishProgress(PROGRAM, console, progress, quiet)))) {
      interruption.undoBy(() -> abandon(progress, publication), () -> {});
      Publishing run = new Publishing(PROGRAM, publication, checks, console, quiet);
      try {
        publication.begin();
        run.publish(/* verify= */ true, () -> {});
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()));
      } catch (IOException e) {
        throw Publishing.withSpace(e, store);
      }
      String live = "version " + publication.version() + " is current";
      try {
        run.tell(arguments, keep, () -> interruption.completed(live));
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
}
