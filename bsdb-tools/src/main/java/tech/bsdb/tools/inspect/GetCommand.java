package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.WrongShardException;
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
    boolean quiet = arguments.has("-q");
    try (Place place = PlaceOptions.of(arguments)) {
      boolean one = arguments.operands().size() == 1 && keysFrom.isEmpty();
      if (one && place instanceof Place.Distant far && !form.json() && !arguments.has("--cache")) {
        return getOnce(far, form.keyOf(arguments.operands().get(0)), form, console, quiet);
      }
      try (Database database = quiet ? place.open() : place.open(console, "get")) {
        return get(database, arguments, form, rows, console);
      }
    }
  }

  private static int getOnce(
      Place.Distant place, byte[] key, RecordForm form, Console console, boolean quiet)
      throws IOException {
    byte[] value = place.getOnce(key, console, quiet);
    if (value == null && !quiet) {
      sayAbsent(key, console);
    } else if (value != null) {
      print(value, form, console);
    }
    return value == null ? ABSENT : OK;
  }

  private static int get(
      Database database, Arguments arguments, RecordForm form, RowOptions rows, Console console)
      throws IOException, UsageException {
    Statistics statistics = database.statistics();
    JsonLines json = new JsonLines(console.out(), form, statistics, rows.form(statistics));
    Lookups lookups = new Lookups(database, form, json, console, arguments.has("-q"));
    for (String typed : arguments.operands()) {
      lookups.add(form.keyOf(typed));
    }
    lookups.print();
    if (arguments.has("--keys-from")) {
      try (InputStream in = open(arguments, console)) {
        lookups.printAll(new KeyReader(in));
      }
    }
    return lookups.absent == 0 ? OK : ABSENT;
  }

  private static void sayAbsent(byte[] key, Console console) throws IOException {
    console.out().flush(); // so that the line appears where the value would
    console.say("bsdb get: " + DuplicateKeyException.show(key) + " is absent");
  }

  private static void print(byte[] value, RecordForm form, Console console) throws IOException {
    console.out().write(form.valueBytes(value));
    console.out().write('\n');
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

  /** Looks up keys, many at once, and prints their values in the order of the keys. */
  private static final class Lookups {
    /** The most keys that are looked up at once. */
    private static final int MANY = 256;

    /** The most bytes of values that are held at once, if one value is not longer. */
    private static final int VALUES = 64 << 20;

    private final Database database;
    private final RecordForm form;
    private final JsonLines json;
    private final Console console;
    private final boolean quiet;
    private final int most;
    private final List<byte[]> keys = new ArrayList<>();
    private long absent;

    Lookups(Database database, RecordForm form, JsonLines json, Console console, boolean quiet) {
      this.database = database;
      this.form = form;
      this.json = json;
      this.console = console;
      this.quiet = quiet;
      long longest = Math.max(1, database.statistics().longestValue());
      this.most = (int) Math.max(1, Math.min(MANY, VALUES / longest));
    }

    void printAll(KeyReader lines) throws IOException, UsageException {
      boolean raw = form.key() == Encoding.UTF8;
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        add(raw ? line : keyOf(line));
        if (lines.drained()) {
          print();
          console.out().flush();
        }
      }
      print();
    }

    /** The key of a line; one that is wrong does not hide the values of those before it. */
    private byte[] keyOf(byte[] line) throws IOException, UsageException {
      try {
        return form.keyOf(new String(line, UTF_8));
      } catch (UsageException e) {
        print();
        throw e;
      }
    }

    void add(byte[] key) throws IOException {
      keys.add(key);
      if (keys.size() == most) {
        print();
      }
    }

    /** Prints the values of the keys that were added since; if one fails, of those before it. */
    void print() throws IOException {
      List<byte[]> wanted = List.copyOf(keys);
      keys.clear();
      List<byte @Nullable []> values;
      try {
        values = database.getAll(wanted);
      } catch (IOException notAll) {
        if (database.remoteTraffic() != null && !(notAll instanceof WrongShardException)) {
          throw notAll; // to ask again would take as long again
        }
        for (byte[] key : wanted) {
          print(key, database.get(key));
        }
        return; // what failed has passed
      }
      for (int i = 0; i < wanted.size(); i++) {
        print(wanted.get(i), values.get(i));
      }
    }

    private void print(byte[] key, byte @Nullable [] value) throws IOException {
      absent += value == null ? 1 : 0;
      if (value == null && !quiet) {
        sayAbsent(key, console);
      }
      if (form.json()) {
        json.write(key, value);
      } else if (value != null) {
        GetCommand.print(value, form, console);
      }
    }
  }
}
