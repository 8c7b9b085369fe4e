package tech.bsdb.bench.compare;

import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One action on one store in a separate process, which {@link CompareStores} starts. */
final class Trial {
  /** Queries between two readings of the clock. */
  private static final int STRIDE = 256;

  private final ComparedStore store;
  private final Path directory;
  private final DataSet data;
  private final Properties results = new Properties();

  private Trial(ComparedStore store, Path directory, DataSet data) {
    this.store = store;
    this.directory = directory;
    this.data = data;
  }

  /**
   * Runs one trial and writes its results as properties.
   *
   * @param args the action ({@code build}, {@code verify} or {@code read}), the store's name, its
   *     directory, the data set's name, directory, text file and number of records, the file for
   *     the results; for {@code verify} and {@code read} the read mode; for {@code read} the
   *     seconds
   */
  public static void main(String[] args) throws Exception {
    DataSet data =
        new DataSet(
            args[3], Path.of(args[4]), new Records(Path.of(args[5]), Integer.parseInt(args[6])));
    Trial trial = new Trial(Stores.of(args[1]), Path.of(args[2]), data);
    switch (args[0]) {
      case "build" -> trial.build();
      case "verify" -> trial.verify(args[8]);
      case "read" -> trial.read(args[8], Double.parseDouble(args[9]));
      default -> throw new IllegalArgumentException(args[0]);
    }
    trial.put("peak.rss.bytes", status("VmHWM"));
    try (Writer out = Files.newBufferedWriter(Path.of(args[7]))) {
      trial.results.store(out, null);
    }
    System.exit(0);
  }

  private void put(String name, double value) {
    results.setProperty(name, Double.toString(value));
  }

  private void put(String name, long value) {
    put(name, (double) value);
  }

  private void build() throws IOException {
    long start = System.nanoTime();
    store.build(data.records(), directory);
    put("build.seconds", (System.nanoTime() - start) / 1e9);
    try (Stream<Path> files = Files.walk(directory)) {
      put(
          "disk.bytes",
          files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum());
    }
  }

  /** Looks up every record, comparing its value, and every absent key. */
  private void verify(String reading) throws IOException {
    try (ComparedStore.Reader reader = store.open(directory, reading)) {
      int right = 0;
      for (Records.KeyValue record : data.records()) {
        byte[] expected = record.value();
        byte[] kept =
            expected.length > store.width() ? Arrays.copyOf(expected, store.width()) : expected;
        byte[] found = reader.get(record.key());
        if (found == null || !Arrays.equals(found, kept)) {
          throw new IOException(
              new String(record.key(), StandardCharsets.UTF_8)
                  + (found == null ? " is absent" : " has the wrong value"));
        }
        right++;
      }
      if (store.batch(reading) > 1) {
        verifyBatches(reader, store.batch(reading));
      }
      byte[][] absent = data.queries(false);
      int answered = 0;
      for (byte[] key : absent) {
        answered += reader.get(key) != null ? 1 : 0;
      }
      if (answered > 0 && store.width() == Integer.MAX_VALUE) {
        throw new IOException(answered + " absent keys have a value");
      }
      put("verified.records", right);
      put("absent.answered.share", (double) answered / absent.length);
    }
  }

  /** Looks up present and absent keys in batches, comparing the answers with single lookups. */
  private void verifyBatches(ComparedStore.Reader reader, int batch) throws IOException {
    byte[][] present = data.queries(true);
    byte[][] absent = data.queries(false);
    byte[][] keys = new byte[batch][];
    byte[][] values = new byte[batch][];
    for (int from = 0; from + batch <= present.length; from += batch) {
      for (int i = 0; i < batch; i++) {
        keys[i] = (i & 1) == 0 ? present[from + i] : absent[from + i];
      }
      reader.getBatch(keys, 0, batch, values);
      for (int i = 0; i < batch; i++) {
        if (!Arrays.equals(values[i], reader.get(keys[i]))) {
          throw new IOException(
              new String(keys[i], StandardCharsets.UTF_8) + " has another value in a batch");
        }
      }
    }
  }

  private void read(String reading, double seconds) throws Exception {
    byte[][] present = data.queries(true);
    byte[][] absent = data.queries(false);
    long heapBefore = heapInUse();
    long anonymousBefore = status("RssAnon");
    double[] openings = new double[5];
    for (int i = -1; i < openings.length; i++) {
      long start = System.nanoTime();
      ComparedStore.Reader opened = store.open(directory, reading);
      double millis = (System.nanoTime() - start) / 1e6;
      opened.close();
      if (i < 0) {
        put("open.first.ms", millis);
      } else {
        openings[i] = millis;
      }
    }
    put("open.ms", Numbers.median(openings));
    try (ComparedStore.Reader reader = store.open(directory, reading)) {
      long untilWarm = nanos(Math.max(1, 2 * seconds / 3));
      double share = store.width() == Integer.MAX_VALUE ? 0 : 1;
      int batch = store.batch(reading);
      run(List.of(new Asker(reader, batch, present, 0, untilWarm)));
      report("present", run(List.of(new Asker(reader, batch, present, 0, nanos(seconds)))), 1, 1);
      run(List.of(new Asker(reader, batch, absent, 0, untilWarm / 2)));
      report("absent", run(List.of(new Asker(reader, batch, absent, 0, nanos(seconds)))), 0, share);
      try (ComparedStore.Reader other = reader.forAnotherThread()) {
        int half = present.length / 2;
        run(
            List.of(
                new Asker(reader, batch, present, 0, untilWarm / 2),
                new Asker(other, batch, present, half, untilWarm / 2)));
        report(
            "present.2",
            run(
                List.of(
                    new Asker(reader, batch, present, 0, nanos(seconds)),
                    new Asker(other, batch, present, half, nanos(seconds)))),
            1,
            1);
        put("heap.bytes", heapInUse() - heapBefore);
        put("anonymous.bytes", status("RssAnon") - anonymousBefore);
      }
    }
    if (present.length + absent.length == 0) {
      throw new IllegalStateException(
          "unreachable; keeps the keys alive, so that the heap grows only by the reader");
    }
  }

  private static long nanos(double seconds) {
    return (long) (seconds * 1e9);
  }

  private void report(String name, Answers answers, double leastFound, double mostFound) {
    double found = (double) answers.found / answers.asked;
    if (found < leastFound || found > mostFound) {
      throw new IllegalStateException(name + ": " + found + " of the keys were found");
    }
    put(name + ".rate", answers.asked * 1e9 / answers.nanos);
    put(name + ".cpu.rate", answers.asked * 1e9 / answers.cpuNanos * answers.threads);
    put(name + ".bytes", answers.bytes);
  }

  /** The combined results of askers. */
  private static final class Answers {
    int threads;
    long asked;
    long found;
    long bytes;
    long nanos;
    long cpuNanos;
  }

  /** Starts all askers at the same moment, each on its own thread, and waits for them. */
  private static Answers run(List<Asker> askers) throws InterruptedException, ExecutionException {
    CyclicBarrier start = new CyclicBarrier(askers.size());
    List<FutureTask<Answers>> tasks =
        askers.stream()
            .map(
                asker ->
                    new FutureTask<>(
                        () -> {
                          start.await();
                          return asker.ask();
                        }))
            .toList();
    for (FutureTask<Answers> task : tasks) {
      new Thread(task, "asker").start();
    }
    Answers all = new Answers();
    for (FutureTask<Answers> task : tasks) {
      Answers one = task.get();
      all.threads++;
      all.asked += one.asked;
      all.found += one.found;
      all.bytes += one.bytes;
      all.nanos = Math.max(all.nanos, one.nanos);
      all.cpuNanos += one.cpuNanos;
    }
    return all;
  }

  /**
   * Looks up keys in order for some time, starting over after the last.
   *
   * @param batch the number of keys to look up together, a divisor of {@code STRIDE}; 1 for single
   *     lookups
   */
  private record Asker(
      ComparedStore.Reader reader, int batch, byte[][] keys, int from, long nanos) {
    Answers ask() throws IOException {
      Answers answers = new Answers();
      long cpuStart = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      long start = System.nanoTime();
      long now = start;
      int next = from;
      while (now - start < nanos) {
        next = batch == 1 ? askSome(next, answers) : askBatches(next, answers);
        now = System.nanoTime();
      }
      answers.nanos = now - start;
      answers.cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpuStart;
      return answers;
    }

    private int askSome(int first, Answers answers) throws IOException {
      int next = first;
      long found = 0;
      long bytes = 0;
      for (int i = 0; i < STRIDE; i++) {
        byte @Nullable [] value = reader.get(keys[next]);
        if (value != null) {
          found++;
          // Touches the first byte, so that the value itself is read, not only its length.
          bytes += value.length + (value.length > 0 ? value[0] & 1 : 0);
        }
        next = next + 1 == keys.length ? 0 : next + 1;
      }
      answers.asked += STRIDE;
      answers.found += found;
      answers.bytes += bytes;
      return next;
    }

    private int askBatches(int first, Answers answers) throws IOException {
      byte[][] wanted = new byte[STRIDE][];
      byte[][] values = new byte[STRIDE][];
      int next = first;
      for (int i = 0; i < STRIDE; i++) {
        wanted[i] = keys[next];
        next = next + 1 == keys.length ? 0 : next + 1;
      }
      for (int i = 0; i < STRIDE; i += batch) {
        reader.getBatch(wanted, i, i + batch, values);
      }
      for (byte @Nullable [] value : values) {
        if (value != null) {
          answers.found++;
          answers.bytes += value.length + (value.length > 0 ? value[0] & 1 : 0);
        }
      }
      answers.asked += STRIDE;
      return next;
    }
  }

  private static long heapInUse() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(50);
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Returns a figure of this process's {@code /proc} status in bytes. */
  private static long status(String name) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith(name + ":")) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    return 0;
  }
}
