package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.util.List;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Escapes;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.rows.RowForm;

/**
 * {@code bsdb scan}: prints all records, in the order in which they were added; those of the packed
 * layout in the order of their keys' hashes.
 */
public final class ScanCommand implements Command {
  private static final Syntax SYNTAX =
      RowOptions.declare(
              RecordForm.declare(
                      DatabaseOption.declare(
                              new Syntax(
                                  "scan",
                                  "",
                                  "Prints key, separator, value and a newline for every record, in the"
                                      + " order of the input that the database was built from, or"
                                      + " of the keys' hashes if its layout is packed. An"
                                      + " approximate database keeps no keys and cannot be scanned."))
                          .bytes(
                              "-s",
                              "TEXT",
                              "separator (default a space); \\t is a tab, \\xHH the character with"
                                  + " that code")
                          .value("--limit", "N", "stop after N records (default: all)"))
                  .flag(
                      "--json",
                      "print one object per line, {\"key\":...,\"value\":...}; bytes that are not"
                          + " UTF-8 as {\"base64\":...}, typed rows as objects"))
          .example("the first ten records", "bsdb scan -d ./rdb --limit 10")
          .example(
              "everything as JSON, compressed",
              "bsdb scan -d ./rdb --json | zstd > records.jsonl.zst");

  /** For the service loader. */
  public ScanCommand() {}

  @Override
  public String name() {
    return "scan";
  }

  @Override
  public String summary() {
    return "print all records";
  }

  @Override
  public int run(List<String> line, Console console) throws Exception {
    Arguments arguments = SYNTAX.parse(line);
    if (arguments.has("--help")) {
      console.print(SYNTAX.help());
      return OK;
    }
    RecordForm form = RecordForm.of(arguments);
    RowOptions rows = RowOptions.of(arguments);
    byte[] separator = ArgumentText.bytes(Escapes.resolve("-s", arguments.text("-s", " ")));
    long limit = arguments.number("--limit", 0, Long.MAX_VALUE, Long.MAX_VALUE);
    try (Database database = Database.open(DatabaseOption.of(arguments));
        RecordCursor records = records(database)) {
      Statistics statistics = database.statistics();
      RowForm rowForm = rows.form(statistics);
      if (form.json()) {
        printJson(records, limit, new JsonLines(console.out(), form, statistics, rowForm));
      } else {
        printText(records, limit, form, separator, console.out());
      }
    }
    return OK;
  }

  /**
   * Opens a cursor over all records of a database.
   *
   * @throws FileSystemException if it is approximate
   */
  static RecordCursor records(Database database) throws IOException {
    Statistics statistics = database.statistics();
    if (statistics.approximateWidth() > 0) {
      throw new FileSystemException(
          statistics.directory().toString(),
          null,
          "an approximate database keeps no keys, so it cannot be scanned");
    }
    return database.scan();
  }

  private static void printText(
      RecordCursor records, long limit, RecordForm form, byte[] separator, OutputStream out)
      throws IOException {
    for (long i = 0; i < limit && records.next(); i++) {
      out.write(form.keyBytes(records.key()));
      out.write(separator);
      out.write(form.valueBytes(records.value()));
      out.write('\n');
    }
  }

  private static void printJson(RecordCursor records, long limit, JsonLines lines)
      throws IOException {
    for (long i = 0; i < limit && records.next(); i++) {
      lines.write(records.key(), records.value());
    }
  }
}
