package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The machine's available memory. */
public final class Memory {
  private static final String GROUP = "0::";

  private Memory() {}

  /**
   * Returns the bytes usable without swapping, page cache included, or {@link Long#MAX_VALUE} if
   * unknown. If a control group (a container, a systemd unit) allows less, returns what it allows.
   */
  public static long available() {
    return available(Path.of("/proc"), Path.of("/sys/fs/cgroup"));
  }

  /** The same, with the kernel's files in other directories. */
  static long available(Path proc, Path groups) {
    return Math.min(machine(proc.resolve("meminfo")), group(proc.resolve("self/cgroup"), groups));
  }

  private static long machine(Path meminfo) {
    long kilobytes = figure(meminfo, "MemAvailable:");
    return kilobytes < 0 ? Long.MAX_VALUE : kilobytes << 10;
  }

  /** Returns what the process's control groups (version 2) leave it. */
  private static long group(Path membership, Path groups) {
    long least = Long.MAX_VALUE;
    for (String line : lines(membership)) {
      if (line.startsWith(GROUP)) {
        String name = line.substring(GROUP.length());
        Path group = groups.resolve(name.substring(name.startsWith("/") ? 1 : 0)).normalize();
        while (group != null && group.startsWith(groups)) {
          least = Math.min(least, left(group));
          group = group.getParent();
        }
      }
    }
    return least;
  }

  private static long left(Path group) {
    long most = number(lines(group.resolve("memory.max")));
    long used = number(lines(group.resolve("memory.current")));
    if (most < 0 || used < 0) {
      return Long.MAX_VALUE; // no limit, or an unreadable one
    }
    Path statistics = group.resolve("memory.stat");
    long cache =
        Math.max(0, figure(statistics, "inactive_file "))
            + Math.max(0, figure(statistics, "active_file "));
    return Math.max(0, most - used + Math.min(used, cache));
  }

  /** Parses a file's only line as a number; returns -1 if that fails. */
  private static long number(List<String> lines) {
    try {
      return lines.size() == 1 ? Long.parseLong(lines.get(0).strip()) : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** Returns the number in the line that starts with {@code name}, or -1. */
  private static long figure(Path file, String name) {
    for (String line : lines(file)) {
      if (line.startsWith(name)) {
        return number(List.of(line.substring(name.length()).replace("kB", "")));
      }
    }
    return -1;
  }

  /** Returns the lines of a file, or none if it cannot be read, as on systems other than Linux. */
  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * Fails unless {@code bytes} bytes of memory are available.
   *
   * @param what the path that needs them, for the message
   * @param use what it could not do without them, for the message
   */
  public static void require(Path what, long bytes, String use) throws IOException {
    require(what, bytes, use, available());
  }

  static void require(Path what, long bytes, String use, long available) throws IOException {
    if (bytes > available) {
      throw new IOException(
          String.format(
              Locale.ROOT,
              "%s: its %,d bytes cannot %s: only %,d bytes of memory are available",
              what,
              bytes,
              use,
              available));
    }
  }

  /**
   * Has the memory of closed files released soon: where the garbage collector does it ({@link
   * ShownFile}), asks for a collection, since a small heap may not need one for days.
   */
  public static void collectReleased() {
    if (LinuxCalls.instance() == null) {
      System.gc();
    }
  }

  /**
   * Whether the kernel is advised how mappings are used: not to read ahead, or to use huge pages.
   * That needs native calls and thus Java 22 or newer.
   */
  public static boolean heedsAdvice() {
    return LinuxCalls.instance() != null;
  }
}
