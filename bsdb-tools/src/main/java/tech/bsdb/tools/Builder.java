package tech.bsdb.tools;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildReport;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.DuplicateKeyException;
import tech.bsdb.VerifyReport;
import tech.bsdb.format.Layout;
import tech.bsdb.tools.build.BuildSummary;
import tech.bsdb.tools.build.Interruption;
import tech.bsdb.tools.build.SourceOptions;
import tech.bsdb.tools.build.TargetOptions;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.OutputException;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.inspect.VerifyCommand;

/** {@code bsdb build}: a database from text lines, CSV or JSON lines. */
public final class Builder implements Command {
  private static final Syntax SYNTAX =
      TargetOptions.declare(
              SourceOptions.declare(
                  new Syntax(
                      "build",
                      "",
                      "Builds a database from text. Every line of the input is accounted for: a"
                          + " line that is no record, or a key that comes twice, ends the build"
                          + " with its place unless an option says otherwise. The database appears"
                          + " at -o complete or not at all.")))
          .section("Report")
          .flag(
              "-v", "verify the finished database: every checksum, and every key through the index")
          .flag("-q", "print nothing but errors: no progress, no report")
          .flag("--json", "print the report as one JSON object on stdout instead")
          .example("lines of \"key value\"", "bsdb build -i words.txt -o ./rdb")
          .example(
              "a folder of tab-separated files, compressed",
              "bsdb build -i ./export -s '\\t' -z -o ./rdb")
          .example(
              "CSV: one column as the value",
              "bsdb build --csv --key-column id --value-column name -i users.csv")
          .example(
              "JSON lines from a pipe, the last of several records kept",
              "zstdcat *.zst | bsdb build --jsonl --key-field id --on-duplicate last -i -")
          .example(
              "bad lines set aside",
              "bsdb build -i dirty.txt --on-bad-line skip --rejects bad.txt");

  /** For the service loader. */
  public Builder() {}

  /** Runs {@code bsdb build} and exits with its code. */
  public static void main(String[] args) {
    Main.main("build", args);
  }

  @Override
  public String name() {
    return "build";
  }

  @Override
  public String summary() {
    return "build a database from text, CSV or JSON lines";
  }

  @Override
  public int run(List<String> line, Console console) throws Exception {
    Arguments arguments = SYNTAX.parse(line);
    if (arguments.has("--help")) {
      console.print(SYNTAX.help());
      return OK;
    }
    InputOptions source = SourceOptions.of(arguments);
    TargetOptions target = TargetOptions.of(arguments);
    boolean quiet = arguments.has("-q");
    if (!quiet) {
      target.withoutEffect().forEach(note -> console.say("bsdb build: " + note));
    }
    if (source.inputs().contains("-")) {
      console.requireInput();
    }
    if (source.rejects() != null) {
      checkRejects(source.rejects(), target);
    }
    try (Interruption interruption = new Interruption(console, "bsdb build")) {
      BuildSummary summary = build(source, target, console, quiet, interruption);
      if (arguments.has("--json")) {
        report(summary, console);
      } else if (!quiet) {
        console.say(summary.forPeople());
      }
    }
    if (arguments.has("-v")) {
      verify(target, console, quiet);
    }
    return OK;
  }

  /** Sees that the bad lines destroy nothing; that they can be written, the input checks. */
  private static void checkRejects(Path rejects, TargetOptions target)
      throws UsageException, IOException {
    if (resolved(rejects).startsWith(resolved(target.target()))) {
      throw new UsageException(
          "--rejects "
              + rejects
              + " lies inside the database "
              + target.target()
              + "; name a file elsewhere");
    }
    boolean file = Files.isRegularFile(rejects) || Files.isSymbolicLink(rejects);
    if (file && !target.build().overwrite()) {
      throw new UsageException(
          "--rejects " + rejects + " exists already; name another file, or give --overwrite");
    }
  }

  /** The path without symbolic links, as far as there is something. */
  private static Path resolved(Path path) throws IOException {
    Path absolute = path.toAbsolutePath().normalize();
    if (Files.exists(absolute)) {
      return absolute.toRealPath();
    }
    Path parent = absolute.getParent();
    Path name = absolute.getFileName();
    return parent == null || name == null ? absolute : resolved(parent).resolve(name);
  }

  private static void report(BuildSummary summary, Console console) throws IOException {
    try {
      JsonReport.print(console, summary.forPrograms());
      console.out().flush();
    } catch (OutputException e) {
      throw e.but("the database was built: it is at " + summary.build().directory());
    }
  }

  private static BuildSummary build(
      InputOptions source,
      TargetOptions target,
      Console console,
      boolean quiet,
      Interruption interruption)
      throws IOException {
    long began = System.nanoTime();
    try (Progress progress = new Progress(console, quiet);
        Input input = Input.open(source);
        DatabaseBuilder builder =
            DatabaseBuilder.create(
                target.target(),
                target.build(),
                (stage, done, total) -> show(progress, stage, done, total))) {
      if (!quiet) {
        input
            .databases()
            .forEach(
                database ->
                    console.say("bsdb build: " + database + " is a bsdb database and is left out"));
      }
      interruption.undoBy(() -> abandon(progress, input, builder), input::close);
      try {
        if (target.build().layout() == Layout.COMPRESSED && target.build().dictionaryBytes() > 0) {
          input.sample(builder, target.build().sampleRecords());
        }
        InputReport read =
            input.feed(
                builder,
                (bytes, allBytes, records) ->
                    progress.update(
                        "records", records, allBytes > 0 ? (double) bytes / allBytes : -1));
        BuildReport made = builder.finish();
        try {
          input.publishRejects();
        } catch (IOException e) {
          throw new InputException(
              e.getMessage() + "; the database was built: it is at " + made.directory(), e);
        } finally {
          interruption.completed("the database is at " + made.directory());
        }
        return new BuildSummary(
            read, made, (System.nanoTime() - began) / 1e9, BuildSummary.peakHeap());
      } catch (DuplicateKeyException e) {
        throw inWords(e, input);
      } catch (IOException e) {
        throw withSpace(e, target);
      }
    }
  }

  private static void show(Progress progress, Stage stage, long done, long total) {
    if (stage != Stage.RECORDS) { // the input knows better how many there will be
      progress.update(BuildSummary.word(stage), done, total);
    }
  }

  private static void abandon(Progress progress, Input input, DatabaseBuilder builder)
      throws IOException {
    progress.close();
    builder.close(); // first: what it just finished keeps its bad lines
    input.stop();
  }

  /** A full disk does not say which it is where only a descriptor was known. */
  static IOException withSpace(IOException e, TargetOptions target) {
    String message = String.valueOf(e.getMessage());
    String lower = message.toLowerCase(Locale.ROOT);
    boolean full = lower.startsWith("no space left") || lower.startsWith("disk quota exceeded");
    if (!full || e instanceof FileSystemException || e instanceof InputException) {
      return e;
    }
    Path temporary = target.build().temporaryDirectory();
    return new IOException(
        message
            + ": -o "
            + target.target()
            + free(target.target())
            + (temporary == null ? "" : ", -temp " + temporary + free(temporary)),
        e);
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

  private static InputException inWords(DuplicateKeyException e, Input input) {
    return new InputException(
        "duplicate key "
            + DuplicateKeyException.show(e.key())
            + ": "
            + place(e.first(), input)
            + " and "
            + place(e.second(), input)
            + " (to keep one of them: --on-duplicate first or --on-duplicate last)",
        e);
  }

  private static String place(long record, Input input) {
    String place = input.place(record);
    return place == null ? "record " + (record + 1) : place;
  }

  private static void verify(TargetOptions target, Console console, boolean quiet)
      throws IOException {
    long began = System.nanoTime();
    VerifyReport report = VerifyCommand.verify(target.target(), console, quiet);
    if (!quiet) {
      console.say(
          VerifyCommand.forPeople(target.target(), report, (System.nanoTime() - began) / 1e9));
    }
  }
}
