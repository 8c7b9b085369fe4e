package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** What the machine says of its memory. */
public final class Memory {
  private static final String GROUP = "0::";

  private Memory() {}

  /**
   * Bytes that could be used without swapping, page cache included; the largest if unknown. Where a
   * control group (a container, a unit of systemd) allows less than the machine has, that counts.
   */
  public static long available() {
    return available(Path.of("/proc"), Path.of("/sys/fs/cgroup"));
  }

  /** The same, where the kernel's files are elsewhere. */
  static long available(Path proc, Path groups) {
    return Math.min(machine(proc.resolve("meminfo")), group(proc.resolve("self/cgroup"), groups));
  }

  private static long machine(Path meminfo) {
    long kilobytes = figure(meminfo, "MemAvailable:");
    return kilobytes < 0 ? Long.MAX_VALUE : kilobytes << 10;
  }

  /** What the groups that this process is in leave it, by version 2 of control groups. */
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
      return Long.MAX_VALUE; // no limit, or none that it tells
    }
    Path statistics = group.resolve("memory.stat");
    long cache =
        Math.max(0, figure(statistics, "inactive_file "))
            + Math.max(0, figure(statistics, "active_file "));
    return Math.max(0, most - used + Math.min(used, cache));
  }

  /** The number that stands alone in a file, or -1. */
  private static long number(List<String> lines) {
    try {
      return lines.size() == 1 ? Long.parseLong(lines.get(0).strip()) : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** The number in the line that begins so, or -1. */
  private static long figure(Path file, String name) {
    for (String line : lines(file)) {
      if (line.startsWith(name)) {
        return number(List.of(line.substring(name.length()).replace("kB", "")));
      }
    }
    return -1;
  }

  /** The lines of a file; none if it is not there: not Linux, or one that keeps it to itself. */
  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * Fails unless so many bytes are available.
   *
   * @param what what needs them, for the message
   * @param use what it cannot do without
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

  /** Whether mappings are advised against reading ahead, which needs native calls. */
  public static boolean heedsAdvice() {
    return LinuxCalls.instance() != null;
  }
}
