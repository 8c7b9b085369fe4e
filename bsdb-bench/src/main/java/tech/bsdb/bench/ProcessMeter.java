package tech.bsdb.bench;

import java.lang.management.ManagementFactory;

/**
 * The resources used by this process so far, all threads together: lookups, harness, collector and
 * compiler.
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
    return cpuNanos < 0 || earlier.cpuNanos < 0 ? Double.NaN : (cpuNanos - earlier.cpuNanos) / 1e9;
  }

  /** Returns the bytes read from the device since an earlier reading, or NaN if unknown. */
  double deviceBytesSince(ProcessMeter earlier) {
    return deviceBytes < 0 || earlier.deviceBytes < 0
        ? Double.NaN
        : (double) (deviceBytes - earlier.deviceBytes);
  }
}
