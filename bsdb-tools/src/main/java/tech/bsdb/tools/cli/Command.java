package tech.bsdb.tools.cli;

import java.util.List;

/**
 * A command of {@code bsdb}. {@link java.util.ServiceLoader} finds the implementations, so a module
 * adds a command by listing its class in {@code META-INF/services}.
 */
public interface Command {
  /** Exit code: done, or every key found. */
  int OK = 0;

  /** Exit code: a key is absent. */
  int ABSENT = 1;

  /** Exit code: an error, described on stderr. */
  int ERROR = 2;

  /** The word that names the command. */
  String name();

  /** What the command does, in one line without a full stop. */
  String summary();

  /** Whether the list of commands omits this one, because it is meant for scripts. */
  default boolean hidden() {
    return false;
  }

  /**
   * Runs the command; never exits the process.
   *
   * @param arguments the arguments after the command's name
   * @param console where it reads and writes
   * @return the exit code
   * @throws UsageException if the arguments are wrong
   * @throws Exception for everything else that stops the command; the caller turns it into a
   *     message
   */
  int run(List<String> arguments, Console console) throws Exception;
}
