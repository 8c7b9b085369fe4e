package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads from the device by io_uring, past the page cache (O_DIRECT): the reads of a queue are one
 * ring's, so that one thread keeps a device busy. A single read is a {@code pread}. On Linux 5.7
 * and newer, with Java 22 and newer.
 */
public final class UringEngine implements Engine {
  /** What a kernel that knows too little of io_uring is called. */
  static final String TOO_OLD = "the kernel's io_uring is too old: Linux 5.7 or newer is needed";

  private static final Path SYSCTL = Path.of("/proc/sys/kernel/io_uring_disabled");

  private final @Nullable SystemCalls calls;

  /** The engine; if it is {@link #unavailable}, opening says so. */
  public UringEngine() {
    this(LinuxCalls.instance());
  }

  /** With other system calls. */
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
   * Why this machine does not offer it, or null if it does. Whether a file system offers direct I/O
   * is another question: {@link DirectEngine#unavailable}.
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

  /** Why the kernel refused a ring. */
  static String refused(int errno) {
    return switch (errno) {
      case Errno.ENOSYS -> "the kernel has no io_uring (ENOSYS): Linux 5.7 or newer is needed";
      case Errno.EPERM, Errno.EACCES -> forbidden();
      case Errno.ENOMEM ->
          "not enough memory may be locked for a ring (ENOMEM): see ulimit -l, or the memory limit"
              + " of the container";
      case Errno.EINVAL -> TOO_OLD;
      default -> "the kernel refuses a ring: " + Errno.text(errno);
    };
  }

  private static String forbidden() {
    String setting;
    try {
      setting = Files.readString(SYSCTL).strip();
    } catch (IOException e) { // kernels before 6.6 have no such setting
      setting = "0";
    }
    return switch (setting) {
      case "1" ->
          "forbidden (EPERM): kernel.io_uring_disabled is 1, and this process is neither privileged"
              + " nor in the group kernel.io_uring_group";
      case "2" -> "forbidden (EPERM): kernel.io_uring_disabled is 2";
      default -> "forbidden (EPERM): a seccomp filter, as containers have, or a security module";
    };
  }
}
