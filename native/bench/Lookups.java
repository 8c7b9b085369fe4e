import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.OpenOptions;
import tech.bsdb.read.SyncReader;

/** The Java reader in scripts/compare-native: {@code Lookups DATABASE QUERIES} takes laps; see rounds.py. */
final class Lookups {
  private static final int KEY = 13;
  private static final int BATCH = 256;

  private final SyncReader reader;
  private final Database database;
  private long found;
  private long sum;

  private Lookups(SyncReader reader, Database database) {
    this.reader = reader;
    this.database = database;
  }

  public static void main(String[] arguments) throws IOException {
    byte[][] queries = queries(Path.of(arguments[1]));
    long start = System.nanoTime();
    // Mapped like the reader; the default would be to read a file with calls if not all of it is in memory.
    OpenOptions options = OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED);
    try (Database database = Database.open(Path.of(arguments[0]), options)) {
      System.out.println("open " + (System.nanoTime() - start) / 1e6);
      try (SyncReader reader = new SyncReader(new File(arguments[0]), false, false, false, false)) {
        new Lookups(reader, database).takeLaps(queries);
      }
    }
  }

  private static byte[][] queries(Path file) throws IOException {
    byte[] all = Files.readAllBytes(file);
    byte[][] queries = new byte[all.length / KEY][];
    Arrays.setAll(queries, i -> Arrays.copyOfRange(all, KEY * i, KEY * (i + 1)));
    return queries;
  }

  private void takeLaps(byte[][] queries) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    BufferedReader laps = new BufferedReader(new InputStreamReader(System.in));
    for (String line = laps.readLine(); line != null; line = laps.readLine()) {
      String[] words = line.split(" ");
      int from = Integer.parseInt(words[1]);
      int to = from + Integer.parseInt(words[2]);
      found = 0;
      sum = 0;
      long start = threads.getCurrentThreadCpuTime();
      lap(words[0], queries, from, to);
      System.out.println((threads.getCurrentThreadCpuTime() - start) + " " + found + " " + sum);
    }
  }

  private void lap(String way, byte[][] queries, int from, int to) throws IOException {
    switch (way) {
      case "get":
        singles(queries, from, to);
        break;
      case "getAll":
        lists(queries, from, to);
        break;
      case "LookupBatch":
        batches(queries, from, to);
        break;
      default:
        throw new IllegalArgumentException(way);
    }
  }

  private void singles(byte[][] queries, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      add(reader.getAsBytes(queries[i]));
    }
  }

  private void lists(byte[][] queries, int from, int to) throws IOException {
    List<byte[]> all = Arrays.asList(queries);
    for (int i = from; i < to; i += BATCH) {
      for (byte[] value : database.getAll(all.subList(i, Math.min(i + BATCH, to)))) {
        add(value);
      }
    }
  }

  private void batches(byte[][] queries, int from, int to) throws IOException {
    LookupBatch batch = database.batch();
    for (int i = from; i < to; i += BATCH) {
      batch.clear();
      for (int j = i; j < Math.min(i + BATCH, to); j++) {
        batch.add(queries[j]);
      }
      batch.get();
      byte[] values = batch.values();
      for (int j = 0; j < batch.size(); j++) {
        if (batch.isPresent(j)) {
          add(values, batch.offset(j), batch.length(j));
        }
      }
    }
  }

  private void add(byte[] value) {
    if (value != null) {
      add(value, 0, value.length);
    }
  }

  private void add(byte[] bytes, int offset, int length) {
    found++;
    if (length > 0) {
      sum += (bytes[offset] & 0xff) + (bytes[offset + length - 1] & 0xff);
    }
  }
}
