package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads from the device through io_uring, bypassing the page cache (O_DIRECT). Each queue submits
 * its reads to one ring, so that one thread keeps a device busy; a single read is a {@code pread}.
 * Requires Linux 5.7 or newer and Java 22 or newer.
 */
public final class UringEngine implements Engine {
  /** The message for kernels whose io_uring lacks needed features. */
  static final String TOO_OLD = "the kernel's io_uring is too old: Linux 5.7 or newer is needed";

  private static final Path SYSCTL = Path.of("/proc/sys/kernel/io_uring_disabled");

  private final @Nullable SystemCalls calls;

  /** Creates the engine; opening a file fails if it is {@link #unavailable}. */
  public UringEngine() {
    this(LinuxCalls.instance());
  }

  /** Creates the engine with other system calls. */
  UringEngine(@Nullable SystemCalls calls) {
    this.calls = calls;
  }

  @Override
  public String name() {
    return "io_uring";
  }

  @Override
  public boolean verifiesEveryRead() {
    return true;
  }

  /**
   * Says why this machine does not support the engine, or returns null if it does. File systems may
   * still lack direct I/O; see {@link DirectEngine#unavailable}.
   */
  public @Nullable String unavailable() {
    if (calls == null) {
      return LinuxCalls.unavailable();
    }
    try {
      UringQueue.open(calls, 1, true).close();
      return null;
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private SystemCalls calls() throws IOException {
    if (calls == null) {
      throw new IOException("io_uring is not available: " + LinuxCalls.unavailable());
    }
    return calls;
  }

  @Override
  public PageSource open(Path file, long length) throws IOException {
    return NativeFile.open(calls(), file, true);
  }

  @Override
  public ReadQueue queue(int depth, boolean oneThread) throws IOException {
    return UringQueue.open(calls(), depth, oneThread);
  }

  /** Says why the kernel refused to set up a ring. */
  static String refused(int errno) {
    return switch (errno) {
      case Errno.ENOSYS -> "the kernel has no io_uring (ENOSYS): Linux 5.7 or newer is needed";
      case Errno.EPERM, Errno.EACCES -> forbidden();
      case Errno.ENOMEM ->
          "not enough memory may be locked for a ring (ENOMEM): see ulimit -l, or the memory limit"
              + " of the container";
      case Errno.EINVAL -> TOO_OLD;
      default -> "the kernel refused to set up a ring: " + Errno.text(errno);
    };
  }

  private static String forbidden() {
    String setting;
    try {
      setting = Files.readString(SYSCTL).strip();
    } catch (IOException e) { // kernels before 6.6 lack this setting
      setting = "0";
    }
    return switch (setting) {
      case "1" ->
          "forbidden (EPERM): kernel.io_uring_disabled is 1, and this process is neither privileged"
              + " nor in the group kernel.io_uring_group";
      case "2" -> "forbidden (EPERM): kernel.io_uring_disabled is 2";
      default -> "forbidden (EPERM) by a seccomp filter, as in containers, or by a security module";
    };
  }
}
