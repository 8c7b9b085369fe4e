package tech.bsdb.tools.cli;

import java.util.List;

/**
 * A command of {@code bsdb}. {@link java.util.ServiceLoader} finds the subclasses, so a module adds
 * a command by listing its class in {@code META-INF/services} and by a help among its resources
 * ({@link Syntax}).
 */
public abstract class Command {
  /** Exit code: done, or every key found. */
  public static final int OK = 0;

  /** Exit code: a key is absent. */
  public static final int ABSENT = 1;

  /** Exit code: an error, described on stderr. */
  public static final int ERROR = 2;

  private final String name;
  private final String summary;

  /**
   * Creates a command, whose options and operands {@link Syntax#of} reads when it runs.
   *
   * @param summary what it does, in one line without a full stop
   */
  protected Command(String name, String summary) {
    this.name = name;
    this.summary = summary;
  }

  /** The word that names the command. */
  public final String name() {
    return name;
  }

  /** What the command does, in one line without a full stop. */
  public final String summary() {
    return summary;
  }

  /** Whether the list of commands omits this one, because it is meant for scripts. */
  public boolean hidden() {
    return false;
  }

  /**
   * The name of the command that runs a line: this one's, unless what the line asks for is the work
   * of another.
   *
   * @param line the arguments after the command's name
   * @throws UsageException if the arguments contradict each other
   */
  public String runs(List<String> line) throws UsageException {
    return name;
  }

  /**
   * Runs the command, or prints its help; never exits the process.
   *
   * @param line the arguments after the command's name
   * @param console where it reads and writes
   * @return the exit code
   * @throws UsageException if the arguments are wrong
   * @throws Exception for everything else that stops the command; the caller turns it into a
   *     message
   */
  public final int run(List<String> line, Console console) throws Exception {
    Syntax syntax = Syntax.of(name);
    Arguments arguments = syntax.parse(line);
    if (arguments.has("--help")) {
      console.print(syntax.help());
      return OK;
    }
    return run(arguments, console);
  }

  /** Runs the command with arguments that match its syntax. */
  protected abstract int run(Arguments arguments, Console console) throws Exception;
}
