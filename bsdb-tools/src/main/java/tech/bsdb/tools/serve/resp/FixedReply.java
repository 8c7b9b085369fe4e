package tech.bsdb.tools.serve.resp;

import java.util.List;
import java.util.Locale;

/**
 * A reply that {@code commands.txt} states, and explains the form of. Most are those of commands
 * about lists, sets and what else Redis holds and a data set does not: they answer as Redis does
 * where no key has such a value. Immutable.
 */
final class FixedReply {
  private static final FixedReply WRONG_TYPE = new FixedReply("-" + CommandException.WRONG_TYPE);
  private static final String REPEATED = "*n,";

  private final boolean repeated;
  private final String[] parts;

  private FixedReply(String text) {
    repeated = text.startsWith(REPEATED);
    String rest = repeated ? text.substring(REPEATED.length()) : text;
    parts = rest.startsWith("-") ? new String[] {rest} : rest.split(",", -1);
  }

  /**
   * Returns what answers a command.
   *
   * @param text the column of the table
   * @param name the command's, with that of a subcommand behind a bar
   * @param counted whether the first argument is the number of keys, which follow
   */
  static Handler of(String text, String name, int arity, CommandSpec.Keys keys, boolean counted) {
    String[] byCount = text.split("\\|", 2);
    String[] byPresence = text.split("/", 2);
    FixedReply present = byPresence.length == 1 ? WRONG_TYPE : new FixedReply(byPresence[0]);
    FixedReply few = new FixedReply(byPresence.length == 1 ? byCount[0] : byPresence[1]);
    String other = byCount.length == 1 ? "" : byCount[1];
    int named = other.indexOf('=');
    String option = named < 0 ? "" : other.substring(0, named).toLowerCase(Locale.ROOT);
    FixedReply more = other.isEmpty() ? few : new FixedReply(other.substring(named + 1));
    int before = name.indexOf('|') < 0 ? 1 : 2;
    if (keys.first() == 0 && !counted) {
      return (Handler.Alone)
          (session, arguments, out) -> {
            if (few.repeated) {
              ServerCommands.requireFew(arguments);
            }
            few.write(arguments.size() - before, out);
          };
    }
    return (Handler.Queued)
        (command, round) -> {
          List<byte[]> all = counted ? counted(name, command) : keys.of(command);
          round.require(all.size(), "keys");
          int elements = command.size() - before - 1;
          boolean hasMore =
              option.isEmpty() ? command.size() > -arity : hasOption(command, -arity, option);
          FixedReply absent = hasMore ? more : few;
          if (absent.repeated) {
            round.require(elements, "members");
          }
          round.begin();
          for (int i = 0; i < all.size(); i++) {
            boolean last = i == all.size() - 1;
            round.add(
                all.get(i),
                (found, out) -> {
                  if (found.isPresent()) {
                    present.write(elements, out);
                  } else if (last) {
                    absent.write(elements, out);
                  }
                });
          }
        };
  }

  /** Whether a command has an option; each one is followed by its value. */
  private static boolean hasOption(List<byte[]> command, int from, String name) {
    for (int i = from; i < command.size(); i += 2) {
      if (Arguments.is(command.get(i), name)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the keys whose number is the first argument; there is at least one. */
  private static List<byte[]> counted(String name, List<byte[]> command) throws CommandException {
    boolean isNewer = name.equals("sintercard"); // it has errors of its own
    long count = 0;
    try {
      count = Arguments.integer(command.get(1));
    } catch (CommandException e) {
      if (!isNewer) {
        throw e;
      }
    }
    if (count < 1) {
      throw new CommandException(
          isNewer
              ? "ERR numkeys should be greater than 0"
              : "ERR at least 1 input key is needed for '" + name + "' command");
    }
    if (count > command.size() - 2) {
      throw new CommandException(
          isNewer
              ? "ERR Number of keys can't be greater than number of args"
              : CommandException.SYNTAX);
    }
    return command.subList(2, 2 + (int) count);
  }

  /**
   * Writes the reply.
   *
   * @param elements how many elements it has, if that depends on the command
   * @throws CommandException if it is an error
   */
  private void write(int elements, ReplyWriter out) throws CommandException {
    if (repeated) {
      out.array(elements);
    }
    for (int i = 0; i < (repeated ? elements : 1); i++) {
      for (String part : parts) {
        write(part, out);
      }
    }
  }

  private static void write(String part, ReplyWriter out) throws CommandException {
    String rest = part.substring(1);
    switch (part.charAt(0)) {
      case '_' -> out.absent();
      case '+' -> out.simple(rest);
      case '$' -> out.bulk(rest);
      case ':' -> out.integer(Long.parseLong(rest));
      case '%' -> out.map(Long.parseLong(rest));
      case '~' -> out.set(Long.parseLong(rest));
      case '-' -> throw new CommandException(rest.replace('_', ' '));
      default -> {
        if (rest.equals("-1")) {
          out.absentArray();
        } else {
          out.array(Long.parseLong(rest));
        }
      }
    }
  }
}
