package tech.bsdb.lake;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.List;
import java.util.ServiceLoader;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.table.TableOptions;

/** Commands that run in this process. */
final class Builds {
  private Builds() {}

  /**
   * The result of a command.
   *
   * @param code its exit code
   * @param out its standard output
   * @param err its standard error
   */
  record Run(int code, byte[] out, String err) {}

  /** Runs {@code bsdb}; what it throws is its standard error. */
  static Run bsdb(String... line) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console = new Console(InputStream.nullInputStream(), out, err, false);
    List<String> arguments = List.of(line).subList(1, line.length);
    try {
      int code = command(command(line[0]).runs(arguments)).run(arguments, console);
      console.out().flush();
      return new Run(code, out.toByteArray(), err.toString(UTF_8));
    } catch (Exception e) {
      return new Run(2, out.toByteArray(), String.valueOf(e.getMessage()));
    }
  }

  private static Command command(String name) {
    for (Command command : ServiceLoader.load(Command.class)) {
      if (command.name().equals(name)) {
        return command;
      }
    }
    throw new IllegalArgumentException(name);
  }

  /** Returns the options that read all columns of an input. */
  static TableOptions options(String input) {
    return new TableOptions(
        List.of(input),
        List.of("k"),
        null,
        List.of(),
        null,
        false,
        OnBadLine.FAIL,
        null,
        false,
        Integer.MAX_VALUE,
        2,
        TableOptions.Partitions.INFER,
        null,
        null,
        TableOptions.Types.DEFAULT,
        null);
  }
}
