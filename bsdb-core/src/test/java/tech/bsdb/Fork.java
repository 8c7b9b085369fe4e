package tech.bsdb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Another Java process with the classes of this one. */
public final class Fork {
  private Fork() {}

  /** The command that runs a main class. */
  public static List<String> command(Class<?> main, String... arguments) {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classPath, main.getName()));
    command.addAll(Arrays.asList(arguments));
    return command;
  }

  /** Starts a main class; its standard output can be read, its errors go where ours go. */
  public static Process start(Class<?> main, String... arguments) throws IOException {
    return start(command(main, arguments));
  }

  /** Starts a command; its standard output can be read, its errors go where ours go. */
  public static Process start(List<String> command) throws IOException {
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** The same command under limits that a shell sets, as {@code ulimit -n 64}. */
  public static List<String> limited(String limits, List<String> command) {
    List<String> limited =
        new ArrayList<>(List.of("/bin/sh", "-c", limits + "; exec \"$@\"", "sh"));
    limited.addAll(command);
    return limited;
  }
}
