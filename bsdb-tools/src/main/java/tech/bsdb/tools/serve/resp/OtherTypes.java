package tech.bsdb.tools.serve.resp;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import tech.bsdb.tools.serve.resp.LookupRound.KeyStep;

/**
 * Commands about lists, sets and what else Redis holds and a data set does not. They answer as
 * Redis does where no key has such a value: a key that is present is of the wrong type, and one
 * that is absent is empty.
 */
final class OtherTypes {
  private static final KeyStep ABSENT = (found, out) -> requireAbsent(found);

  private OtherTypes() {}

  private static void requireAbsent(Found found) throws CommandException {
    if (found.isPresent()) {
      throw new CommandException(CommandException.WRONG_TYPE);
    }
  }

  /** Returns what answers each command. */
  static Map<String, Handler> handlers() {
    Map<String, Handler> all = new HashMap<>();
    Consumer<ReplyWriter> none = out -> out.array(0);
    put(all, "llen scard sismember zcard zcount zlexcount xlen", out -> out.integer(0));
    put(all, "lindex zscore zrank zrevrank geodist", ReplyWriter::absent);
    put(all, "lrange zrange zrangebyscore zrangebylex zrevrange zrevrangebyscore", none);
    put(all, "zrevrangebylex xrange xrevrange sort_ro", none);
    put(all, "geosearch georadius_ro georadiusbymember_ro", none);
    put(all, "smembers", out -> out.set(0));
    put(
        all,
        "sscan zscan",
        out -> {
          out.array(2);
          out.bulk("0");
          out.array(0);
        });
    for (String name : words("lpos srandmember zrandmember")) { // a count makes it an array
      int least = name.equals("lpos") ? 3 : 2;
      all.put(
          name,
          (Handler.Queued)
              (command, round) ->
                  one(command, round, command.count() > least ? none : ReplyWriter::absent));
    }
    for (String name : words("smismember zmscore geopos geohash")) {
      all.put(name, (Handler.Queued) (command, round) -> each(name, command, round));
    }
    for (String name : words("sinter sunion sdiff pfcount")) {
      all.put(name, (Handler.Queued) (command, round) -> several(name, command, round));
    }
    for (String name : words("zinter zunion zdiff zintercard sintercard")) {
      all.put(name, (Handler.Queued) (command, round) -> counted(name, command, round));
    }
    for (String name : words("xinfo|stream xinfo|groups xinfo|consumers")) {
      all.put(name, (Handler.Queued) OtherTypes::noSuchKey);
    }
    return all;
  }

  private static String[] words(String text) {
    return text.split(" ", -1);
  }

  /** Names commands about the key that is their first argument, and what answers without it. */
  private static void put(Map<String, Handler> all, String names, Consumer<ReplyWriter> reply) {
    for (String name : words(names)) {
      all.put(name, (Handler.Queued) (command, round) -> one(command, round, reply));
    }
  }

  private static void one(Arguments command, LookupRound round, Consumer<ReplyWriter> reply) {
    round.begin();
    round.add(
        command.argument(1),
        (found, out) -> {
          requireAbsent(found);
          reply.accept(out);
        });
  }

  /** Answers for each member. */
  private static void each(String name, Arguments command, LookupRound round)
      throws CommandException {
    int members = command.count() - 2;
    round.require(members, "members");
    one(
        command,
        round,
        out -> {
          out.array(members);
          for (int i = 0; i < members; i++) {
            switch (name) {
              case "smismember" -> out.integer(0);
              case "geopos" -> out.absentArray();
              default -> out.absent();
            }
          }
        });
  }

  /** Answers for several keys, all of which must be absent. */
  private static void several(String name, Arguments command, LookupRound round)
      throws CommandException {
    round.require(command.count() - 1, "keys");
    round.begin();
    for (int i = 1; i < command.count(); i++) {
      round.add(command.argument(i), ABSENT);
    }
    round.add((found, out) -> empty(name, out));
  }

  private static void empty(String name, ReplyWriter out) {
    switch (name) {
      case "pfcount", "sintercard", "zintercard" -> out.integer(0);
      case "sinter", "sunion", "sdiff" -> out.set(0);
      default -> out.array(0);
    }
  }

  /** Answers for keys whose number is the first argument. */
  private static void counted(String name, Arguments command, LookupRound round)
      throws CommandException {
    long keys;
    try {
      keys = Arguments.integer(command.argument(1));
    } catch (CommandException e) {
      throw name.equals("sintercard")
          ? new CommandException("ERR numkeys should be greater than 0")
          : e;
    }
    if (keys < 1) {
      throw new CommandException(
          name.equals("sintercard")
              ? "ERR numkeys should be greater than 0"
              : "ERR at least 1 input key is needed for '" + name + "' command");
    }
    if (keys > command.count() - 2) {
      throw new CommandException(
          name.equals("sintercard")
              ? "ERR Number of keys can't be greater than number of args"
              : CommandException.SYNTAX);
    }
    round.require((int) keys, "keys"); // not more than there are arguments
    round.begin();
    for (int i = 0; i < keys; i++) {
      round.add(command.argument(2 + i), ABSENT);
    }
    round.add((found, out) -> empty(name, out));
  }

  private static void noSuchKey(Arguments command, LookupRound round) {
    round.begin();
    round.add(
        command.argument(2),
        (found, out) -> {
          requireAbsent(found);
          throw new CommandException("ERR no such key");
        });
  }
}
