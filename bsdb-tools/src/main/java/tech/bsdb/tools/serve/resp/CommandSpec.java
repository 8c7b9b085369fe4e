package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;
import tech.bsdb.tools.serve.client.Scope.Permission;

/**
 * A command, as {@code COMMAND} tells of it.
 *
 * @param name in lower case; of a subcommand with its command's name and a bar before it
 * @param arity the number of arguments with the name; negative if it is a minimum
 * @param flags the command's flags, in Redis' words
 * @param keys the places of its keys
 * @param group the group of the documentation that it belongs to
 * @param since the version of Redis that brought it
 * @param tips how clients of a cluster are to send it, and other hints, in Redis' words
 * @param summary what it does
 * @param needs what a client must be permitted to give it; null if nothing
 * @param handler what answers it
 * @param subcommands its subcommands by their own name, in lower case; complete once the table is
 *     read
 */
record CommandSpec(
    String name,
    int arity,
    List<String> flags,
    Keys keys,
    String group,
    String since,
    List<String> tips,
    String summary,
    @Nullable Permission needs,
    Handler handler,
    Map<String, CommandSpec> subcommands) {

  /** The slot of a command without keys. */
  static final int NO_SLOT = -1;

  /** What a transaction may hold beside commands about keys. */
  private static final Set<String> QUEUEABLE = Set.of("echo", "ping", "time", "unwatch");

  /**
   * Where the keys are among the arguments; all numbers are 0 if there are no keys.
   *
   * @param first the place of the first key
   * @param last the place of the last key, negative if counted from the end
   * @param step how far keys are apart
   */
  record Keys(int first, int last, int step) {
    /** Reads a column of the table. */
    static Keys of(String column) {
      String[] numbers = (column.equals("-") ? "0:0:0" : column).split(":", -1);
      return new Keys(
          Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]), Integer.parseInt(numbers[2]));
    }

    /** Returns the place behind the last key of a command with so many arguments. */
    int end(int count) {
      return first == 0 ? 0 : 1 + (last < 0 ? count + last : last);
    }

    /** Returns the keys of a command. */
    List<byte[]> of(List<byte[]> command) {
      List<byte[]> keys = new ArrayList<>();
      for (int i = first; i < end(command.size()); i += step) {
        keys.add(command.get(i));
      }
      return keys;
    }
  }

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
    return command(name);
  }

  /** Returns the name of the command that one is, or belongs to as a subcommand. */
  static String command(String name) {
    return name.split("\\|", 2)[0];
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
  int slot(List<byte[]> command, int before) throws CommandException {
    int slot = before;
    int end = keys.end(command.size());
    for (int i = keys.first; i < end; i += keys.step) {
      int next = KeyRouting.slot(command.get(i));
      if (slot != NO_SLOT && slot != next) {
        throw new CommandException("CROSSSLOT Keys in request don't hash to the same slot");
      }
      slot = next;
    }
    return slot;
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
