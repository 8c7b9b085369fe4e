package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Locale;

/**
 * The texts and numbers in the arguments of commands. A command is the list of its arguments, of
 * which the first is its name; none is changed once it is read.
 */
final class Arguments {
  private Arguments() {}

  /** Returns the lower-case form of a name, which is ASCII where it is known. */
  static String name(byte[] argument) {
    return new String(argument, ISO_8859_1).toLowerCase(Locale.ROOT);
  }

  /** Returns the text of an argument, for an error reply. */
  static String shown(byte[] argument) {
    return new String(argument, ISO_8859_1);
  }

  static String text(byte[] argument) {
    return new String(argument, UTF_8);
  }

  /** Whether an argument is a word, whatever its case. */
  static boolean is(byte[] argument, String lowerCase) {
    return argument.length == lowerCase.length() && name(argument).equals(lowerCase);
  }

  /**
   * Returns a number in the only form that Redis accepts: no plus, no leading zeros, no blanks.
   *
   * @throws CommandException if it is none, or not in the range of a long
   */
  static long integer(byte[] argument) throws CommandException {
    String text = new String(argument, ISO_8859_1);
    if (argument.length <= 20) {
      try {
        long value = Long.parseLong(text);
        if (Long.toString(value).equals(text)) {
          return value;
        }
      } catch (NumberFormatException e) {
        throw new CommandException(CommandException.NOT_AN_INTEGER);
      }
    }
    throw new CommandException(CommandException.NOT_AN_INTEGER);
  }
}
