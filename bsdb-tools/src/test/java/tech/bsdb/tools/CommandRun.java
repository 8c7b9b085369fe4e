package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import tech.bsdb.tools.cli.Console;

/** The output and exit code of a command line run in this process with its own streams. */
public final class CommandRun {
  private final int code;
  private final byte[] out;
  private final String err;

  private CommandRun(int code, byte[] out, String err) {
    this.code = code;
    this.out = out;
    this.err = err;
  }

  /** Runs {@code bsdb} without anything on stdin and without a terminal. */
  public static CommandRun bsdb(String... line) {
    return bsdbWithInput("", line);
  }

  /** Runs {@code bsdb} with a text on stdin. */
  public static CommandRun bsdbWithInput(String in, String... line) {
    return bsdbWithInput(in.getBytes(UTF_8), line);
  }

  /** Runs {@code bsdb} with bytes on stdin. */
  public static CommandRun bsdbWithInput(byte[] in, String... line) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(in), out, err, false);
    int code = Main.run(List.of(line), console);
    return new CommandRun(code, out.toByteArray(), err.toString(UTF_8));
  }

  /** The exit code. */
  public int code() {
    return code;
  }

  /** Standard output as bytes. */
  public byte[] outBytes() {
    return out.clone();
  }

  /** Standard output as text. */
  public String out() {
    return new String(out, UTF_8);
  }

  /** Standard error as text. */
  public String err() {
    return err;
  }

  @Override
  public String toString() {
    return "exit code " + code + "\nstdout: " + new String(out, ISO_8859_1) + "\nstderr: " + err;
  }
}
