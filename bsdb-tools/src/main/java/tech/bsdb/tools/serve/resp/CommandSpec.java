package tech.bsdb.tools.serve.resp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tech.bsdb.KeyRouting;

/**
 * A command, as {@code COMMAND} tells of it.
 *
 * @param name in lower case; of a subcommand with its command's name and a bar before it
 * @param arity the number of arguments with the name; negative if it is a minimum
 * @param flags the command's flags, in Redis' words
 * @param firstKey the place of the first key; 0 if there are no keys
 * @param lastKey the place of the last key, negative if counted from the end
 * @param keyStep how far keys are apart; 0 if there are none
 * @param group the group of the documentation that it belongs to
 * @param since the version of Redis that brought it
 * @param tips how clients of a cluster are to send it, and other hints, in Redis' words
 * @param summary what it does
 * @param handler what answers it
 * @param subcommands its subcommands by their own name, in lower case
 */
record CommandSpec(
    String name,
    int arity,
    List<String> flags,
    int firstKey,
    int lastKey,
    int keyStep,
    String group,
    String since,
    List<String> tips,
    String summary,
    Handler handler,
    Map<String, CommandSpec> subcommands) {

  /** The slot of a command without keys. */
  static final int NO_SLOT = -1;

  /** What a transaction may hold beside commands about keys. */
  private static final Set<String> QUEUEABLE = Set.of("echo", "ping", "time", "unwatch");

  /** Whether a client may give it before it has authenticated. */
  boolean needsNoAuthentication() {
    return flags.contains("no_auth");
  }

  /** Whether a transaction may hold it: what it answers depends on nothing but the data. */
  boolean isQueueable() {
    return handler instanceof Handler.Queued || QUEUEABLE.contains(name);
  }

  /** Whether it is carried out at once within a transaction. */
  boolean isUnqueued() {
    return (group.equals("transactions") && !name.equals("unwatch"))
        || name.equals("quit")
        || name.equals("reset");
  }

  boolean isSubcommand() {
    return name.indexOf('|') >= 0;
  }

  /** Returns the name of the command that it is, or belongs to as a subcommand. */
  String command() {
    return isSubcommand() ? name.substring(0, name.indexOf('|')) : name;
  }

  /** Whether a number of arguments, with the name, is right. */
  boolean accepts(int count) {
    return arity >= 0 ? count == arity : count >= -arity;
  }

  /**
   * Returns the slot of all keys of a command.
   *
   * @param before the slot of keys that must have the same, or {@link #NO_SLOT}
   * @throws CommandException if keys have different slots
   */
  int slot(Arguments command, int before) throws CommandException {
    if (firstKey == 0) {
      return before;
    }
    int last = lastKey < 0 ? command.count() + lastKey : lastKey;
    int slot = before;
    for (int i = firstKey; i <= last; i += keyStep) {
      int next = KeyRouting.slot(command.argument(i));
      if (slot != NO_SLOT && slot != next) {
        throw new CommandException("CROSSSLOT Keys in request don't hash to the same slot");
      }
      slot = next;
    }
    return slot;
  }

  /** Returns this command with another subcommand. */
  CommandSpec with(CommandSpec more) {
    Map<String, CommandSpec> all = new LinkedHashMap<>(subcommands);
    if (all.put(more.name.substring(name.length() + 1), more) != null) {
      throw new IllegalArgumentException("there already");
    }
    return new CommandSpec(
        name, arity, flags, firstKey, lastKey, keyStep, group, since, tips, summary, handler, all);
  }

  /** Whether it changes data, and so is refused. */
  boolean isWrite() {
    return flags.contains("write");
  }

  /** Whether it is always answered by an error. */
  boolean isRefused() {
    return handler instanceof Handler.NeverAnswered;
  }

  /** Returns the categories of access control that it belongs to. */
  List<String> categories() {
    if (isWrite()) {
      return List.of("@write", "@slow");
    }
    String speed = flags.contains("fast") ? "@fast" : "@slow";
    String of =
        switch (group) {
          case "server" -> "@dangerous";
          case "transactions" -> "@transaction";
          case "sorted-set" -> "@sortedset";
          case "generic", "cluster" -> "@keyspace";
          default -> "@" + group;
        };
    return flags.contains("readonly") ? List.of("@read", of, speed) : List.of(of, speed);
  }
}
