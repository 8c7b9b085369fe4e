package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

/** An error reply to one command; the connection goes on. */
final class CommandException extends Exception {
  static final String SYNTAX = "ERR syntax error";
  static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
  static final String WRONG_TYPE =
      "WRONGTYPE Operation against a key holding the wrong kind of value";

  /** The client may not read the data set that it has selected, in which its keys are. */
  static final String NO_KEYS =
      "NOPERM this user has no permissions to access one of the keys used as arguments";

  /** The client may not read a data set, or there is none. */
  static final String NO_SET = "NOPERM this user has no permissions to access this data set";

  private static final long serialVersionUID = 1;

  /**
   * An error reply.
   *
   * @param reply begins with its code, such as {@code ERR}; each character is a byte of the reply
   */
  CommandException(String reply) {
    super(reply, null, false, false);
  }

  /** Returns an error reply whose text may have any characters. */
  static CommandException inUtf8(String text) {
    return new CommandException(new String(text.getBytes(UTF_8), ISO_8859_1));
  }

  /** Returns the reply. */
  String reply() {
    return String.valueOf(getMessage());
  }
}
