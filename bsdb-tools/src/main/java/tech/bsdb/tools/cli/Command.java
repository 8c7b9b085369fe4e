package tech.bsdb.tools.cli;

import java.util.List;

/**
 * One word of the {@code bsdb} command line. Implementations are found by {@link
 * java.util.ServiceLoader}, so that a module adds a command by naming its class in {@code
 * META-INF/services}.
 */
public interface Command {
  /** Exit code: done, or every key found. */
  int OK = 0;

  /** Exit code: a key is absent. */
  int ABSENT = 1;

  /** Exit code: an error, which stands on stderr. */
  int ERROR = 2;

  /** The word that names the command. */
  String name();

  /** What the command does, in one line without a full stop. */
  String summary();

  /**
   * Whether the list of commands leaves this one out, because scripts use it rather than people.
   */
  default boolean hidden() {
    return false;
  }

  /**
   * Runs the command; never exits the process.
   *
   * @param arguments what stands behind the command's name
   * @param console where it reads and writes
   * @return the exit code
   * @throws UsageException if the arguments are wrong
   * @throws Exception for everything else that stops the command; the caller finds the words for it
   */
  int run(List<String> arguments, Console console) throws Exception;
}
