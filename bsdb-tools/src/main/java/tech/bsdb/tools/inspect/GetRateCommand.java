package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;

/**
 * {@code bsdb get-rate}: measures how many keys per second one thread looks up, warm; a first
 * impression for the quick start, not a benchmark.
 */
public final class GetRateCommand extends Command {
  private static final int KEYS = 1_000_000;
  private static final int ROUND = 256;

  /** For the service loader. */
  public GetRateCommand() {
    super("get-rate", "measure warm lookups on one thread");
  }

  @Override
  public boolean hidden() {
    return true;
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    long nanos = TimeUnit.SECONDS.toNanos(arguments.number("--seconds", 1, 3600, 2));
    try (Database database =
        Database.open(DatabaseOption.current(arguments, console, "get-rate"))) {
      byte[][] keys = shuffledKeys(database);
      if (keys.length == 0) {
        throw new UsageException("the database has no records to look up");
      }
      nanosPerGet(database, keys, nanos);
      double each = nanosPerGet(database, keys, nanos);
      console.print(
          String.format(
              Locale.ROOT,
              "%,.0f lookups/s on one thread, %.0f ns each (%,d keys, shuffled, warm)",
              1e9 / each,
              each,
              keys.length));
      return OK;
    }
  }

  /** Up to a million keys, sampled uniformly, in an order that the seed fixes. */
  private static byte[][] shuffledKeys(Database database) throws IOException {
    Random random = new Random(42);
    List<byte[]> keys = new ArrayList<>();
    DatabaseOption.requireKeys(database.statistics(), "scanned");
    try (RecordCursor records = database.scan()) {
      for (long seen = 0; records.next(); seen++) {
        if (seen < KEYS) {
          keys.add(records.key());
          Collections.swap(keys, random.nextInt(keys.size()), keys.size() - 1);
        } else {
          long place = (long) (random.nextDouble() * (seen + 1));
          if (place < KEYS) {
            keys.set((int) place, records.key());
          }
        }
      }
    }
    return keys.toArray(byte[][]::new);
  }

  private static double nanosPerGet(Database database, byte[][] keys, long nanos)
      throws IOException {
    long began = System.nanoTime();
    long gets = 0;
    long found = 0;
    int next = 0;
    long spent;
    do {
      for (int i = 0; i < ROUND; i++) {
        found += database.get(keys[next]) == null ? 0 : 1;
        next = next + 1 == keys.length ? 0 : next + 1;
      }
      gets += ROUND;
      spent = System.nanoTime() - began;
    } while (spent < nanos);
    if (found != gets) {
      throw new IllegalStateException(
          (gets - found) + " of the database's own keys were not found");
    }
    return (double) spent / gets;
  }
}
