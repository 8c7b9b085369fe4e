package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the machine says of its memory. */
public final class Memory {
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final String AVAILABLE = "MemAvailable:";

  private Memory() {}

  /** Bytes that could be used without swapping, page cache included; the largest if unknown. */
  public static long available() {
    try {
      for (String line : Files.readAllLines(MEMINFO)) {
        if (line.startsWith(AVAILABLE)) {
          String kilobytes = line.substring(AVAILABLE.length()).replace("kB", "").strip();
          return Long.parseLong(kilobytes) << 10;
        }
      }
    } catch (IOException | NumberFormatException e) {
      // Not Linux, or one that keeps it to itself: unknown.
    }
    return Long.MAX_VALUE;
  }

  /** Whether mappings are advised against reading ahead, which needs native calls. */
  public static boolean heedsAdvice() {
    return LinuxCalls.instance() != null;
  }
}
