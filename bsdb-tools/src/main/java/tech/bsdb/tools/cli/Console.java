package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * The three standard streams of a command, as bytes: text is UTF-8 whatever the locale. Data goes
 * to {@link #out}; messages go to stderr through {@link #say}.
 *
 * <p>If stderr is a terminal, one {@linkplain #status status line} may be shown at its bottom,
 * redrawn in place with carriage returns and blanks only. {@link #say} and {@link #status} are
 * thread-safe; {@link #out} is not.
 */
public final class Console {
  private final InputStream in;
  private final StandardOutput out;
  private final OutputStream err;
  private final boolean terminal;
  private int statusWidth;

  /**
   * Creates a console on the given streams.
   *
   * @param terminal whether {@code err} is a terminal
   */
  public Console(InputStream in, OutputStream out, OutputStream err, boolean terminal) {
    this(in, new StandardOutput(out, false), err, terminal);
  }

  private Console(InputStream in, StandardOutput out, OutputStream err, boolean terminal) {
    this.in = in;
    this.out = out;
    this.err = err;
    this.terminal = terminal;
  }

  /** The process's own streams, bypassing {@code System.out} and its charset. */
  public static Console ofProcess() {
    String outTarget = descriptorTarget(1);
    boolean pipe = outTarget.startsWith("pipe:") || outTarget.startsWith("socket:");
    return new Console(
        System.in,
        new StandardOutput(new FileOutputStream(FileDescriptor.out), pipe),
        new FileOutputStream(FileDescriptor.err),
        stderrIsTerminal());
  }

  /**
   * Fails if the process was started without a standard input. Its descriptor then belongs to the
   * first file that the JVM opened for itself, and reading would return that file's bytes.
   */
  public void requireInput() throws IOException {
    String setting = System.getProperty("bsdb.stdin", ""); // set by scripts/bsdb
    if (setting.equals("closed") || (in == System.in && isOwnFile(Path.of("/proc/self/fd/0")))) {
      throw new IOException("standard input is closed");
    }
  }

  /** Whether a descriptor's entry in {@code /proc} is missing or refers to a file of this JVM. */
  static boolean isOwnFile(Path descriptor) {
    if (!Files.isDirectory(Path.of("/proc/self/fd"))) {
      return false;
    }
    try {
      Path file = descriptor.toRealPath();
      if (!Files.isRegularFile(file)) {
        return false;
      }
      if (file.startsWith(Path.of(System.getProperty("java.home")).toRealPath())) {
        return true;
      }
      for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
        if (Files.isRegularFile(Path.of(entry)) && Files.isSameFile(Path.of(entry), file)) {
          return true;
        }
      }
      return false;
    } catch (IOException | InvalidPathException pipeOrSocketOrDeleted) {
      return !Files.exists(descriptor, LinkOption.NOFOLLOW_LINKS);
    }
  }

  /** Standard input. */
  public InputStream in() {
    return in;
  }

  /**
   * Standard output, buffered: flush it before waiting for input. Its failures are {@link
   * OutputException}s.
   */
  public OutputStream out() {
    return out;
  }

  /** Writes a line of data to standard output. */
  public void print(String line) throws OutputException {
    byte[] bytes = (line + "\n").getBytes(UTF_8);
    out.write(bytes, 0, bytes.length);
  }

  /**
   * Writes a message to standard error, its line breaks and other control characters {@linkplain
   * ArgumentText#shown escaped}. Never fails: there is nowhere left to report a failure.
   */
  public synchronized void say(String line) {
    write(eraser() + ArgumentText.shown(line) + "\n");
    statusWidth = 0;
  }

  /** Writes a message of several lines to standard error. */
  public void report(String lines) {
    lines.lines().forEach(this::say);
  }

  /** Whether standard error is a terminal. */
  public boolean terminal() {
    return terminal;
  }

  /**
   * Redraws the status line, or removes it if {@code line} is empty; does nothing without a
   * terminal.
   */
  public synchronized void status(String line) {
    if (terminal) {
      write(
          "\r"
              + line
              + " ".repeat(Math.max(0, statusWidth - line.length()))
              + (line.isEmpty() ? "\r" : ""));
      statusWidth = line.length();
    }
  }

  private String eraser() {
    return statusWidth == 0 ? "" : "\r" + " ".repeat(statusWidth) + "\r";
  }

  private void write(String text) {
    try {
      err.write(text.getBytes(UTF_8));
      err.flush();
    } catch (IOException nobodyListens) {
      statusWidth = 0;
    }
  }

  /**
   * {@code -Dbsdb.terminal=true|false} decides; otherwise, on Linux, the target of descriptor 2.
   * Elsewhere the JVM cannot tell: its own console covers stdin and stdout.
   */
  private static boolean stderrIsTerminal() {
    String setting = System.getProperty("bsdb.terminal");
    if (setting != null) {
      return Boolean.parseBoolean(setting);
    }
    return isTerminal(descriptorTarget(2));
  }

  /** Whether the path of a device, without symbolic links, is that of a terminal on Linux. */
  public static boolean isTerminal(String device) {
    return device.startsWith("/dev/pts/")
        || device.startsWith("/dev/tty")
        || device.equals("/dev/console");
  }

  /** The target of this process's descriptor on Linux; empty elsewhere. */
  private static String descriptorTarget(int descriptor) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
    } catch (IOException | RuntimeException notLinux) {
      return "";
    }
  }
}
