package tech.bsdb.tools.serve.resp;

import java.util.Arrays;
import tech.bsdb.tools.serve.resp.LookupRound.KeyStep;

/** Commands about keys and their values as strings. */
final class StringCommands {
  /** The longest string that Redis embeds in its object. */
  private static final int EMBEDDED = 44;

  private static final KeyStep GET_STRING = StringCommands::writeString;
  private static final KeyStep COUNT = (found, out) -> found.add(found.isPresent() ? 1 : 0);
  private static final KeyStep SUM = (found, out) -> out.integer(found.sum());

  private StringCommands() {}

  static void get(Found found, ReplyWriter out) throws CommandException {
    found.requireString();
    writeString(found, out);
  }

  /** Writes a string; a row is no error among several keys. */
  private static void writeString(Found found, ReplyWriter out) {
    if (found.isString()) {
      found.write(out);
    } else {
      out.absent();
    }
  }

  static void mget(Arguments command, LookupRound round) throws CommandException {
    int keys = command.count() - 1;
    round.require(keys, "keys");
    round.begin();
    round.add((found, out) -> out.array(keys));
    for (int i = 1; i <= keys; i++) {
      round.add(command.argument(i), GET_STRING);
    }
  }

  /** Counts keys that exist, as often as they are given. */
  static void exists(Arguments command, LookupRound round) throws CommandException {
    int keys = command.count() - 1;
    round.require(keys, "keys");
    round.begin();
    for (int i = 1; i <= keys; i++) {
      round.add(command.argument(i), COUNT);
    }
    round.add(SUM);
  }

  static void strlen(Found found, ReplyWriter out) throws CommandException {
    found.requireString();
    out.integer(Math.max(0, found.length()));
  }

  static void type(Found found, ReplyWriter out) {
    out.simple(!found.isPresent() ? "none" : found.rows() == null ? "string" : "hash");
  }

  static void encoding(Found found, ReplyWriter out) {
    if (!found.isPresent()) {
      out.absent();
    } else {
      out.bulk(found.rows() != null ? "listpack" : encoding(found));
    }
  }

  /** Answers with the bytes of a key and its value, whatever they take in memory or in files. */
  static void memoryUsage(Arguments command, LookupRound round) throws CommandException {
    for (int i = 3; i < command.count(); i += 2) {
      if (!Arguments.is(command.argument(i), "samples") || i + 1 == command.count()) {
        throw new CommandException(CommandException.SYNTAX);
      }
      if (Arguments.integer(command.argument(i + 1)) < 0) {
        throw new CommandException(CommandException.SYNTAX);
      }
    }
    byte[] key = command.argument(2);
    round.begin();
    round.add(
        key,
        (found, out) -> {
          if (found.isPresent()) {
            out.integer((long) key.length + found.length());
          } else {
            out.absent();
          }
        });
  }

  static void dump(Found found, ReplyWriter out) throws CommandException {
    if (!found.isPresent()) {
      out.absent();
    } else if (found.rows() != null) {
      HashCommands.dump(found, out);
    } else {
      Dump dump = Dump.string();
      dump.add(found.bytes(), found.offset(), found.length());
      out.bulkAlone(dump.end());
    }
  }

  static void getrange(Arguments command, LookupRound round) throws CommandException {
    long first = Arguments.integer(command.argument(2));
    long last = Arguments.integer(command.argument(3));
    round.begin();
    round.add(command.argument(1), (found, out) -> writeRange(found, first, last, out));
  }

  /** Writes the bytes from one place to another, both counted from the end if negative. */
  private static void writeRange(Found found, long first, long last, ReplyWriter out)
      throws CommandException {
    found.requireString();
    long length = Math.max(0, found.length());
    long from = Math.max(0, first < 0 ? first + length : first);
    long to = Math.min(length - 1, Math.max(0, last < 0 ? last + length : last));
    boolean crossed = first < 0 && last < 0 && first > last;
    if (crossed || from > to || length == 0) {
      out.bulk(new byte[0]);
    } else {
      out.bulk(found.bytes(), found.offset() + (int) from, (int) (to - from + 1));
    }
  }

  private static String encoding(Found found) {
    int length = found.length();
    if (length <= 20) {
      int from = found.offset();
      byte[] text = Arrays.copyOfRange(found.bytes(), from, from + length);
      try {
        long unused = Arguments.integer(text);
        return "int";
      } catch (CommandException notInteger) {
        return "embstr";
      }
    }
    return length <= EMBEDDED ? "embstr" : "raw";
  }
}
