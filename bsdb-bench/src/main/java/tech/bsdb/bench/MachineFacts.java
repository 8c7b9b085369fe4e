package tech.bsdb.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Facts that figures depend on besides the database: machine, JVM, date, and reader properties. */
final class MachineFacts {
  private static final List<String> PROPERTIES =
      List.of("bsdb.uring", "bsdb.reader.index.submit.threads", "bsdb.reader.kv.submit.threads");

  private MachineFacts() {}

  /** Returns names and values, in display order. */
  static Map<String, String> read() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    facts.put(
        "machine",
        "%s cores of %s, %s"
            .formatted(
                Runtime.getRuntime().availableProcessors(),
                line("/proc/cpuinfo", "model name", System.getProperty("os.arch")),
                memory()));
    facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put(
        "java",
        "%s %s, heap up to %s MiB%s"
            .formatted(
                System.getProperty("java.vendor"),
                System.getProperty("java.version"),
                Runtime.getRuntime().maxMemory() >> 20,
                flags()));
    String version = MachineFacts.class.getPackage().getImplementationVersion();
    facts.put("bsdb", version == null ? "(development)" : version);
    for (String property : PROPERTIES) {
      String value = System.getProperty(property);
      if (value != null) {
        facts.put(property, value);
      }
    }
    return facts;
  }

  private static String flags() {
    List<String> flags =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("-X"))
            .toList();
    return flags.isEmpty() ? "" : ", " + String.join(" ", flags);
  }

  private static String memory() {
    String kibibytes = line("/proc/meminfo", "MemTotal", "").replaceAll("\\D", "");
    return kibibytes.isEmpty()
        ? "memory unknown"
        : Math.round(Long.parseLong(kibibytes) / 1048576.0) + " GiB";
  }

  /** Returns what a file of lines {@code NAME: VALUE} says, or a default. */
  static String line(String file, String name, String otherwise) {
    try {
      for (String line : Files.readAllLines(Path.of(file))) {
        if (line.startsWith(name) && line.contains(":")) {
          return line.substring(line.indexOf(':') + 1).strip();
        }
      }
    } catch (IOException notLinux) {
      // returns the default
    }
    return otherwise;
  }

  /**
   * The resources used by this process so far, all threads together: lookups, harness, collector
   * and compiler.
   *
   * @param cpuNanos CPU time, or -1 if the system does not report it
   * @param deviceBytes bytes read from the device rather than the page cache, or -1
   */
  record ProcessMeter(long cpuNanos, long deviceBytes) {
    static ProcessMeter read() {
      long cpuNanos =
          ManagementFactory.getOperatingSystemMXBean()
                  instanceof com.sun.management.OperatingSystemMXBean bean
              ? bean.getProcessCpuTime()
              : -1;
      return new ProcessMeter(cpuNanos, bytesFromDevice());
    }

    private static long bytesFromDevice() {
      String bytes = MachineFacts.line("/proc/self/io", "read_bytes", "");
      return bytes.matches("\\d+") ? Long.parseLong(bytes) : -1;
    }

    /** Returns the CPU seconds since an earlier reading, or NaN if unknown. */
    double cpuSecondsSince(ProcessMeter earlier) {
      return cpuNanos < 0 || earlier.cpuNanos < 0
          ? Double.NaN
          : (cpuNanos - earlier.cpuNanos) / 1e9;
    }

    /** Returns the bytes read from the device since an earlier reading, or NaN if unknown. */
    double deviceBytesSince(ProcessMeter earlier) {
      return deviceBytes < 0 || earlier.deviceBytes < 0
          ? Double.NaN
          : (double) (deviceBytes - earlier.deviceBytes);
    }
  }
}
