package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Optional;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.input.KeyList;
import tech.bsdb.tools.inspect.RecordJson.JsonLines;

/** {@code bsdb get}: prints the values of keys, in the order given. */
public final class GetCommand extends Command {
  /** For the service loader. */
  public GetCommand() {
    super("get", "look up keys and print their values");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    RecordForm form = RecordForm.of(arguments);
    RowOptions rows = RowOptions.of(arguments);
    Optional<String> keysFrom = arguments.text("--keys-from");
    if (arguments.operands().isEmpty() && keysFrom.isEmpty()) {
      throw new UsageException("no key given; for example: bsdb get -d ./rdb apple");
    }
    if (keysFrom.isPresent() && keysFrom.get().equals("-")) {
      console.requireInput();
    }
    Path directory =
        arguments.has("-q")
            ? DatabaseOption.current(arguments)
            : DatabaseOption.current(arguments, console, "get");
    try (Database database = Database.open(directory)) {
      Statistics statistics = database.statistics();
      JsonLines json = new JsonLines(console.out(), form, statistics, rows.form(statistics));
      Lookups lookups = new Lookups(database, form, json, console, arguments.has("-q"));
      long absent = 0;
      for (String typed : arguments.operands()) {
        absent += lookups.print(form.keyOf(typed));
      }
      if (keysFrom.isPresent()) {
        try (InputStream in = open(arguments, console)) {
          absent += lookups.printAll(new KeyReader(in));
        }
      }
      return absent == 0 ? OK : ABSENT;
    }
  }

  private static InputStream open(Arguments arguments, Console console)
      throws IOException, UsageException {
    Path file = arguments.path("--keys-from", "-");
    if (!file.equals(Path.of("-"))) {
      return KeyList.open(file);
    }
    return new FilterInputStream(KeyList.of(console.in(), "standard input")) {
      @Override
      public void close() {
        // standard input belongs to the process
      }
    };
  }

  /** Looks up keys one after another; tells how many are absent. */
  private record Lookups(
      Database database, RecordForm form, JsonLines json, Console console, boolean quiet) {
    long printAll(KeyReader lines) throws IOException, UsageException {
      long absent = 0;
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        boolean raw = form.key() == Encoding.UTF8;
        absent += print(raw ? line : form.keyOf(new String(line, UTF_8)));
        if (lines.drained()) {
          console.out().flush();
        }
      }
      return absent;
    }

    int print(byte[] key) throws IOException {
      byte[] value = database.get(key);
      if (value == null && !quiet) {
        console.out().flush(); // so that the line appears where the value would
        console.say("bsdb get: " + DuplicateKeyException.show(key) + " is absent");
      }
      if (form.json()) {
        json.write(key, value);
      } else if (value != null) {
        console.out().write(form.valueBytes(value));
        console.out().write('\n');
      }
      return value == null ? 1 : 0;
    }
  }
}
