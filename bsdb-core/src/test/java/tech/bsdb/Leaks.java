package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What this process holds of a directory: open files, mappings and threads. Knows only Linux. */
public final class Leaks {
  private static final Path FILES = Path.of("/proc/self/fd");
  private static final Path MAPS = Path.of("/proc/self/maps");

  /** Whether closed files stay mapped until the garbage collector unmaps them. */
  static final boolean COLLECTED = Runtime.version().feature() < 22;

  /** The file of pages, which stays mapped so on every Java. */
  private static final String PAGES = "/cache/pages";

  private Leaks() {}

  /**
   * Fails if a file below the directory is open or mapped, or a thread of ours runs on, but for
   * idle ones that end by themselves: {@link #assertNoThread} waits for these.
   */
  public static void assertNone(Path directory) throws IOException, InterruptedException {
    assertNoThread(Leaks::stays);
    assertThat(openFiles(directory)).as("open files").isEmpty();
    for (int attempt = 0; attempt < 3000 && collectable(mappings(directory)); attempt++) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertThat(mappings(directory)).as("mappings").isEmpty();
  }

  /** Fails if a thread of ours runs on, after a minute. */
  public static void assertNoThread() throws InterruptedException {
    assertNoThread(stack -> true);
  }

  private static void assertNoThread(Predicate<StackTraceElement[]> which)
      throws InterruptedException {
    List<String> found = threads(which);
    for (int attempt = 0; attempt < 3000 && !found.isEmpty(); attempt++) {
      TimeUnit.MILLISECONDS.sleep(20); // a thread that was told to end needs a moment
      found = threads(which); // once: an idle one that ends runs for a moment, too
    }
    assertThat(found).as("threads").isEmpty();
  }

  private static boolean collectable(List<String> mappings) {
    return COLLECTED
        ? !mappings.isEmpty()
        : mappings.stream().anyMatch(each -> each.endsWith(PAGES));
  }

  /** The open files below a directory. */
  public static List<String> openFiles(Path directory) throws IOException {
    List<String> open = new ArrayList<>();
    if (Files.exists(FILES)) {
      try (Stream<Path> links = Files.list(FILES)) {
        for (Path link : links.toList()) {
          String file = target(link);
          if (file.startsWith(directory.toRealPath() + "/")) {
            open.add(file);
          }
        }
      }
    }
    return open;
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return ""; // the descriptor that listed them
    }
  }

  /** The mapped files below a directory. */
  public static List<String> mappings(Path directory) throws IOException {
    if (!Files.exists(MAPS)) {
      return List.of();
    }
    String prefix = directory.toRealPath() + "/";
    return Files.readAllLines(MAPS).stream().filter(line -> line.contains(prefix)).toList();
  }

  /** The names of the threads that builds and readers make. */
  public static List<String> threads() {
    return threads(stack -> true);
  }

  private static List<String> threads(Predicate<StackTraceElement[]> which) {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(each -> each.getKey().isAlive() && which.test(each.getValue()))
        .map(each -> each.getKey().getName())
        .filter(name -> name.startsWith("bsdb-"))
        .toList();
  }

  /** Not so if it waits with a time limit, not forever, for the next task of its pool. */
  private static boolean stays(StackTraceElement[] stack) {
    boolean limited = false;
    for (StackTraceElement frame : stack) {
      if (frame.getClassName().equals("java.util.concurrent.ThreadPoolExecutor")) {
        return !limited || !frame.getMethodName().equals("getTask");
      }
      limited |= frame.getMethodName().equals("poll");
    }
    return true;
  }

  /** All files and directories below a directory, relative to it. */
  public static List<String> tree(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths
          .filter(path -> !path.equals(directory))
          .map(path -> directory.relativize(path).toString())
          .sorted()
          .toList();
    }
  }
}
