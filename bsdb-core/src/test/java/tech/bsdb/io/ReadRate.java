package tech.bsdb.io;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Measures random reads of one page by one thread; no test. Arguments: file, engine, depth (0 for
 * reads without a queue), seconds.
 */
final class ReadRate {
  private ReadRate() {}

  public static void main(String[] args) throws Exception {
    Path file = Path.of(args[0]);
    int depth = Integer.parseInt(args[2]);
    double seconds = Double.parseDouble(args[3]);
    Engine engine = Engines.named(args[1]);
    long pages = Files.size(file) / PageSource.PAGE;
    try (PageSource source = engine.open(file, pages * PageSource.PAGE)) {
      run(engine, source, pages, depth, 1);
      com.sun.management.OperatingSystemMXBean system =
          ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
      long processor = system.getProcessCpuTime();
      long allocated = allocated();
      long start = System.nanoTime();
      long reads = run(engine, source, pages, depth, seconds);
      double took = (System.nanoTime() - start) / 1e9;
      System.out.printf(
          Locale.ROOT,
          "%s, depth %d: %,.0f reads/s, %.1f us each, %.2f processor seconds a million reads, %.2f"
              + " bytes of heap a read%n",
          args[1],
          depth,
          reads / took,
          took / reads * 1e6,
          (system.getProcessCpuTime() - processor) / 1e3 / reads,
          (double) (allocated() - allocated) / reads);
    }
  }

  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private static long run(Engine engine, PageSource source, long pages, int depth, double seconds)
      throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    long end = System.nanoTime() + (long) (seconds * 1e9);
    long reads = 0;
    if (depth == 0) {
      Window window = new Window();
      for (; System.nanoTime() < end; reads++) {
        source.read(random.nextLong(pages), 1, window);
      }
      return reads;
    }
    try (ReadQueue queue = engine.queue(depth, true)) {
      Window[] windows = new Window[depth];
      for (int i = 0; i < depth; i++) {
        windows[i] = new Window();
        queue.add(source, random.nextLong(pages), 1, windows[i], i);
      }
      long[] ended = new long[1];
      ReadQueue.Ended next =
          (tag, failure) -> {
            if (failure != null) {
              throw new IllegalStateException(failure);
            }
            ended[0]++;
            queue.add(source, random.nextLong(pages), 1, windows[tag], tag);
          };
      while (System.nanoTime() < end) {
        queue.await(1, next);
      }
      return ended[0];
    }
  }
}
