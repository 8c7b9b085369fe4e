package tech.bsdb.tools.serve.resp;

import java.util.Arrays;
import java.util.List;
import tech.bsdb.tools.serve.resp.LookupRound.KeyStep;

/** Commands about keys and their values as strings. */
final class StringCommands {
  /** The longest string that Redis embeds in its object. */
  private static final int EMBEDDED = 44;

  private static final KeyStep GET_STRING = StringCommands::writeString;
  private static final KeyStep COUNT = (found, out) -> found.sum += found.isPresent() ? 1 : 0;
  private static final KeyStep SUM = (found, out) -> out.integer(found.sum);

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

  static void mget(List<byte[]> command, LookupRound round) throws CommandException {
    int keys = command.size() - 1;
    round.require(keys, "keys");
    round.begin();
    round.add((found, out) -> out.array(keys));
    command.subList(1, 1 + keys).forEach(key -> round.add(key, GET_STRING));
  }

  /** Counts keys that exist, as often as they are given. */
  static void exists(List<byte[]> command, LookupRound round) throws CommandException {
    int keys = command.size() - 1;
    round.require(keys, "keys");
    round.begin();
    command.subList(1, 1 + keys).forEach(key -> round.add(key, COUNT));
    round.add(SUM);
  }

  static void strlen(Found found, ReplyWriter out) throws CommandException {
    found.requireString();
    out.integer(Math.max(0, found.length));
  }

  static void type(Found found, ReplyWriter out) {
    out.simple(!found.isPresent() ? "none" : found.rows == null ? "string" : "hash");
  }

  static void encoding(Found found, ReplyWriter out) {
    if (!found.isPresent()) {
      out.absent();
    } else {
      out.bulk(found.rows != null ? "listpack" : encoding(found));
    }
  }

  /** Answers with the bytes of a key and its value, whatever they take in memory or in files. */
  static void memoryUsage(List<byte[]> command, LookupRound round) throws CommandException {
    for (int i = 3; i < command.size(); i += 2) {
      if (!Arguments.is(command.get(i), "samples") || i + 1 == command.size()) {
        throw new CommandException(CommandException.SYNTAX);
      }
      if (Arguments.integer(command.get(i + 1)) < 0) {
        throw new CommandException(CommandException.SYNTAX);
      }
    }
    byte[] key = command.get(2);
    round.addAlone(
        key,
        (found, out) -> {
          if (found.isPresent()) {
            out.integer((long) key.length + found.length);
          } else {
            out.absent();
          }
        });
  }

  static void dump(Found found, ReplyWriter out) throws CommandException {
    if (!found.isPresent()) {
      out.absent();
    } else if (found.rows != null) {
      HashCommands.dump(found, out);
    } else {
      Dump dump = Dump.string();
      dump.add(found.bytes, found.offset, found.length);
      out.bulkAlone(dump.end());
    }
  }

  static KeyStep getrange(List<byte[]> command, LookupRound round) throws CommandException {
    BitCommands.Span span = BitCommands.Span.of(command, 2);
    return (found, out) -> {
      found.requireString();
      int length = Math.max(0, found.length);
      int from = (int) Math.min(length, span.from(length) / 8);
      int to = (int) (span.to(length) / 8);
      out.bulk(found.bytes, found.offset + from, Math.max(0, to - from));
    };
  }

  private static String encoding(Found found) {
    int length = found.length;
    if (length <= 20) {
      int from = found.offset;
      byte[] text = Arrays.copyOfRange(found.bytes, from, from + length);
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
