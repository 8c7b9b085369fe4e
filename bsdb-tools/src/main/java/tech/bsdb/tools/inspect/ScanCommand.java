package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Escapes;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.inspect.RecordJson.JsonLines;
import tech.bsdb.tools.rows.RowForm;

/**
 * {@code bsdb scan}: prints all records in the order in which they are stored: that in which they
 * were added, or that of their keys; in the packed layout that of their keys' hashes. Or prints a
 * range of records in the order of their keys.
 */
public final class ScanCommand extends Command {
  private static final String KEYS_ONLY = "--keys-only";
  private static final String COUNT = "--count";

  /** For the service loader. */
  public ScanCommand() {
    super("scan", "print all records, or a range of keys");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    boolean values = !arguments.has(KEYS_ONLY);
    boolean counts = arguments.has(COUNT);
    arguments.refuseTogether(KEYS_ONLY, COUNT, "a count prints no keys; omit one");
    if (!values || counts) {
      arguments.refuse( // a scan without values would ignore them
          List.of("-s", "--value-encoding", "--fields", "--json-safe-integers"),
          "is for values; omit it, or " + (counts ? COUNT : KEYS_ONLY));
    }
    arguments.refuseTogether("-s", "--json", "JSON has no separator");
    RecordForm form = RecordForm.of(arguments);
    RowOptions rows = RowOptions.of(arguments);
    KeyBounds bounds = KeyBounds.of(arguments, form);
    byte[] separator = ArgumentText.bytes(Escapes.resolve("-s", arguments.text("-s", " ")));
    long limit = arguments.number("--limit", 0, Long.MAX_VALUE, Long.MAX_VALUE);
    try (Place place = PlaceOptions.of(arguments);
        Database database = place.open(console, "scan")) {
      Statistics statistics = database.statistics();
      DatabaseOption.requireKeys(statistics, "scanned");
      if (counts) {
        print(bounds.count(database, limit), form, console);
        return OK;
      }
      RowForm rowForm = values ? rows.form(statistics) : null;
      try (RecordCursor records = bounds.records(database, values)) {
        if (form.json()) {
          JsonLines lines = new JsonLines(console.out(), form, statistics, rowForm);
          printJson(records, limit, values, lines);
        } else if (values) {
          printText(records, limit, form, separator, console.out());
        } else {
          printKeys(records, limit, form, console.out());
        }
      }
    }
    return OK;
  }

  private static void print(long count, RecordForm form, Console console) throws IOException {
    if (form.json()) {
      JsonReport.print(console, Map.of("records", count));
    } else {
      console.print(String.valueOf(count));
    }
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

  private static void printKeys(RecordCursor records, long limit, RecordForm form, OutputStream out)
      throws IOException {
    for (long i = 0; i < limit && records.next(); i++) {
      out.write(form.keyBytes(records.key()));
      out.write('\n');
    }
  }

  private static void printJson(RecordCursor records, long limit, boolean values, JsonLines lines)
      throws IOException {
    for (long i = 0; i < limit && records.next(); i++) {
      if (values) {
        lines.write(records.key(), records.value());
      } else {
        lines.writeKey(records.key());
      }
    }
  }
}
