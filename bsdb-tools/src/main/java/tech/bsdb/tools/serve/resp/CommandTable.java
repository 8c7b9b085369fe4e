package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All commands, those that write included, and the errors for those that there are not. */
final class CommandTable {
  /** The version of Redis whose replies and errors these are. */
  static final String REDIS_VERSION = "7.2.0";

  private static final List<String> WRITE = List.of("write");
  private static final List<String> READS = List.of("readonly", "fast");
  private static final List<String> SLOW_READS = List.of("readonly");
  private static final List<String> FAST = List.of("loading", "stale", "fast");
  private static final List<String> SLOW = List.of("loading", "stale");
  private static final List<String> OPEN =
      List.of("noscript", "loading", "stale", "fast", "no_auth", "allow_busy");

  /**
   * Commands that change data, which are known and refused: name, arity, and, unless the first
   * argument is the only key, the places of the first and the last key and the step between them.
   */
  private static final String WRITES =
      """
      append:3 bitfield:-2 bitop:-4:2:-1 blmove:6:1:2 blmpop:-5:0 blpop:-3:1:-2 brpop:-3:1:-2
      brpoplpush:4:1:2 bzmpop:-5:0 bzpopmax:-3:1:-2 bzpopmin:-3:1:-2 copy:-3:1:2 decr:2 decrby:3
      del:-2:1:-1 expire:-3 expireat:-3 flushall:-1:0 flushdb:-1:0 geoadd:-5 georadius:-6
      georadiusbymember:-5 geosearchstore:-8:1:2 getdel:2 getex:-2 getset:3 hdel:-3 hincrby:4
      hincrbyfloat:4 hmset:-4 hset:-4 hsetnx:4 incr:2 incrby:3 incrbyfloat:3 linsert:5 lmove:5:1:2
      lmpop:-4:0 lpop:-2 lpush:-3 lpushx:-3 lrem:4 lset:4 ltrim:4 migrate:-6:3:3 move:3
      mset:-3:1:-1:2 msetnx:-3:1:-1:2 persist:2 pexpire:-3 pexpireat:-3 pfadd:-2 pfmerge:-2:1:-1
      psetex:4 rename:3:1:2 renamenx:3:1:2 restore:-4 rpop:-2 rpoplpush:3:1:2 rpush:-3 rpushx:-3
      sadd:-3 sdiffstore:-3:1:-1 set:-3 setbit:4 setex:4 setnx:3 setrange:4 sinterstore:-3:1:-1
      smove:4:1:2 sort:-2 spop:-2 srem:-3 sunionstore:-3:1:-1 swapdb:3:0 unlink:-2:1:-1 xack:-4
      xadd:-5 xautoclaim:-6 xclaim:-6 xdel:-3 xgroup:-2:0 xreadgroup:-7:0 xsetid:-3 xtrim:-4 zadd:-4
      zdiffstore:-4 zincrby:4 zinterstore:-4 zmpop:-4:0 zpopmax:-2 zpopmin:-2 zrangestore:-5:1:2
      zrem:-3 zremrangebylex:4 zremrangebyrank:4 zremrangebyscore:4 zunionstore:-4
      """;

  private static final Handler REFUSED =
      new Handler.NeverAnswered("READONLY You can't write against a read only replica.");

  private static final Map<String, CommandSpec> COMMANDS = new LinkedHashMap<>();

  static {
    declareKeys();
    declareHashes();
    declareConnection();
    declareTransactions();
    declareServer();
    for (String write : WRITES.strip().split("\\s+", -1)) {
      add(refused(write.split(":", -1)));
    }
  }

  private CommandTable() {}

  private static void declareKeys() {
    add(
        reads(
            "get",
            2,
            1,
            1,
            "string",
            "1.0.0",
            "Returns the string value of a key.",
            StringCommands::get));
    add(
        reads(
            "mget",
            -2,
            1,
            -1,
            "string",
            "1.0.0",
            "Returns the string values of keys, in one version of the data.",
            StringCommands::mget));
    add(
        reads(
            "strlen",
            2,
            1,
            1,
            "string",
            "2.2.0",
            "Returns the length of a string value.",
            StringCommands::strlen));
    add(
        slowReads(
            "getrange",
            4,
            1,
            "string",
            "2.4.0",
            "Returns a part of a string value.",
            StringCommands::getrange));
    add(
        slowReads(
            "substr",
            4,
            1,
            "string",
            "1.0.0",
            "Returns a part of a string value.",
            StringCommands::getrange));
    add(
        reads(
            "exists",
            -2,
            1,
            -1,
            "generic",
            "1.0.0",
            "Counts the keys that exist.",
            StringCommands::exists));
    add(
        reads(
            "touch",
            -2,
            1,
            -1,
            "generic",
            "3.2.1",
            "Counts the keys that exist.",
            StringCommands::exists));
    add(
        reads(
            "type",
            2,
            1,
            1,
            "generic",
            "1.0.0",
            "Returns string, or hash for typed rows, or none.",
            StringCommands::type));
    add(
        reads(
            "ttl",
            2,
            1,
            1,
            "generic",
            "1.0.0",
            "Returns -1: no key expires; -2 if it does not exist.",
            StringCommands::ttl));
    add(
        reads(
            "pttl",
            2,
            1,
            1,
            "generic",
            "2.6.0",
            "Returns -1: no key expires; -2 if it does not exist.",
            StringCommands::ttl));
    add(
        container("object", "generic", "2.2.3", "A container for commands about values.")
            .with(
                slowReads(
                    "object|encoding",
                    3,
                    2,
                    "generic",
                    "2.2.3",
                    "Returns the encoding that Redis would use.",
                    StringCommands::encoding)));
    add(
        counting(
            "dbsize",
            1,
            READS,
            "server",
            "1.0.0",
            "Returns the number of keys, in a cluster of those of this node.",
            ClusterCommands::dbSize));
    add(
        deferred(
            "scan",
            -2,
            SLOW_READS,
            "generic",
            "2.8.0",
            "Returns some keys, and the cursor of the next; a new version of the data ends a scan with an error.",
            ScanCommands::scan));
    add(
        counting(
            "randomkey",
            1,
            SLOW_READS,
            "generic",
            "1.0.0",
            "Returns a random key.",
            ScanCommands::randomKey));
  }

  private static void declareHashes() {
    add(reads("hget", 3, 1, 1, "hash", "2.0.0", "Returns a field of a row.", HashCommands::hget));
    add(reads("hmget", -3, 1, 1, "hash", "2.0.0", "Returns fields of a row.", HashCommands::hmget));
    add(
        slowReads(
            "hgetall",
            2,
            1,
            "hash",
            "2.0.0",
            "Returns all fields of a row, with their names.",
            HashCommands::hgetall));
    add(
        reads(
            "hexists",
            3,
            1,
            1,
            "hash",
            "2.0.0",
            "Tells whether a field of a row is not null.",
            HashCommands::hexists));
    add(
        reads(
            "hlen",
            2,
            1,
            1,
            "hash",
            "2.0.0",
            "Counts the fields of a row that are not null.",
            HashCommands::hlen));
    add(
        slowReads(
            "hkeys",
            2,
            1,
            "hash",
            "2.0.0",
            "Returns the names of the fields of a row that are not null.",
            HashCommands::hkeys));
    add(
        slowReads(
            "hvals",
            2,
            1,
            "hash",
            "2.0.0",
            "Returns the fields of a row that are not null.",
            HashCommands::hvals));
    add(
        reads(
            "hstrlen",
            3,
            1,
            1,
            "hash",
            "3.2.0",
            "Returns the length of a field of a row.",
            HashCommands::hstrlen));
  }

  private static void declareConnection() {
    add(
        direct(
            "ping",
            -1,
            List.of("fast"),
            "connection",
            "1.0.0",
            "Returns PONG, or its argument.",
            ConnectionCommands::ping));
    add(
        direct(
            "echo",
            2,
            FAST,
            "connection",
            "1.0.0",
            "Returns its argument.",
            ConnectionCommands::echo));
    add(
        direct(
            "hello",
            -1,
            OPEN,
            "connection",
            "6.0.0",
            "Selects RESP2 or RESP3, and authenticates.",
            ConnectionCommands::hello));
    add(
        direct(
            "auth",
            -2,
            OPEN,
            "connection",
            "1.0.0",
            "Authenticates with a token.",
            ConnectionCommands::auth));
    add(
        direct(
            "select",
            2,
            FAST,
            "connection",
            "1.0.0",
            "Selects a data set.",
            ConnectionCommands::select));
    add(
        direct(
            "reset",
            1,
            OPEN,
            "connection",
            "6.2.0",
            "Resets the connection.",
            ConnectionCommands::reset));
    add(
        direct(
            "quit",
            -1,
            OPEN,
            "connection",
            "1.0.0",
            "Closes the connection.",
            ConnectionCommands::quit));
    add(
        direct(
            "readonly",
            1,
            FAST,
            "cluster",
            "3.0.0",
            "Lets a replica of a cluster answer.",
            ClusterCommands::readOnly));
    add(
        direct(
            "readwrite",
            1,
            FAST,
            "cluster",
            "3.0.0",
            "Revokes READONLY.",
            ClusterCommands::readWrite));
    add(
        container("cluster", "cluster", "3.0.0", "A container for commands about the cluster.")
            .with(
                direct(
                    "cluster|slots",
                    2,
                    SLOW,
                    "cluster",
                    "3.0.0",
                    "Returns the nodes of each range of slots.",
                    ClusterCommands::slots),
                direct(
                    "cluster|shards",
                    2,
                    SLOW,
                    "cluster",
                    "7.0.0",
                    "Returns the nodes and the slots of each primary.",
                    ClusterCommands::shards),
                direct(
                    "cluster|nodes",
                    2,
                    SLOW,
                    "cluster",
                    "3.0.0",
                    "Returns a line for each node.",
                    ClusterCommands::nodes),
                direct(
                    "cluster|info",
                    2,
                    SLOW,
                    "cluster",
                    "3.0.0",
                    "Returns the state of the cluster.",
                    ClusterCommands::info),
                direct(
                    "cluster|myid",
                    2,
                    SLOW,
                    "cluster",
                    "3.0.0",
                    "Returns the id of this node.",
                    ClusterCommands::myId),
                direct(
                    "cluster|keyslot",
                    3,
                    SLOW,
                    "cluster",
                    "3.0.0",
                    "Returns the slot of a key.",
                    ClusterCommands::keySlot),
                counting(
                    "cluster|countkeysinslot",
                    3,
                    SLOW,
                    "cluster",
                    "3.0.0",
                    "Counts the keys of this node in a slot.",
                    ClusterCommands::countKeysInSlot)));
    add(
        container("client", "connection", "2.4.0", "A container for commands about the connection.")
            .with(
                direct(
                    "client|id",
                    2,
                    SLOW,
                    "connection",
                    "5.0.0",
                    "Returns the number of the connection.",
                    ConnectionCommands::clientId),
                direct(
                    "client|info",
                    2,
                    SLOW,
                    "connection",
                    "6.2.0",
                    "Describes the connection.",
                    ConnectionCommands::clientInfo),
                direct(
                    "client|setname",
                    3,
                    SLOW,
                    "connection",
                    "2.6.9",
                    "Names the connection.",
                    ConnectionCommands::clientSetName),
                direct(
                    "client|getname",
                    2,
                    SLOW,
                    "connection",
                    "2.6.9",
                    "Returns the name of the connection.",
                    ConnectionCommands::clientGetName),
                direct(
                    "client|setinfo",
                    4,
                    SLOW,
                    "connection",
                    "7.2.0",
                    "Notes the client's library.",
                    ConnectionCommands::clientSetInfo),
                direct(
                    "client|no-evict",
                    3,
                    SLOW,
                    "connection",
                    "7.0.0",
                    "Accepted, without effect.",
                    ConnectionCommands::clientSwitch),
                direct(
                    "client|no-touch",
                    3,
                    SLOW,
                    "connection",
                    "7.2.0",
                    "Accepted, without effect.",
                    ConnectionCommands::clientSwitch)));
  }

  private static void declareTransactions() {
    List<String> flags = List.of("noscript", "loading", "stale", "fast", "allow_busy");
    add(
        direct(
            "multi",
            1,
            flags,
            "transactions",
            "1.2.0",
            "Queues the commands that follow.",
            ConnectionCommands::multi));
    add(
        direct(
            "exec",
            1,
            flags,
            "transactions",
            "1.2.0",
            "Answers the queued commands, in one version of the data.",
            ConnectionCommands::exec));
    add(
        direct(
            "discard",
            1,
            flags,
            "transactions",
            "2.0.0",
            "Forgets the queued commands.",
            ConnectionCommands::discard));
  }

  private static void declareServer() {
    add(
        deferred(
            "info",
            -1,
            SLOW,
            "server",
            "1.0.0",
            "Returns figures of the server.",
            ServerCommands::info));
    add(
        direct(
                "command",
                -1,
                SLOW,
                "server",
                "2.8.13",
                "Describes all commands.",
                ServerCommands::command)
            .with(
                direct(
                    "command|count",
                    2,
                    SLOW,
                    "server",
                    "2.8.13",
                    "Counts the commands.",
                    ServerCommands::commandCount),
                direct(
                    "command|docs",
                    -2,
                    SLOW,
                    "server",
                    "7.0.0",
                    "Returns the documentation of commands.",
                    ServerCommands::commandDocs),
                direct(
                    "command|info",
                    -2,
                    SLOW,
                    "server",
                    "2.8.13",
                    "Describes some commands.",
                    ServerCommands::commandInfo),
                direct(
                    "command|list",
                    -2,
                    SLOW,
                    "server",
                    "7.0.0",
                    "Lists the commands.",
                    ServerCommands::commandList)));
    add(
        container("config", "server", "2.0.0", "A container for commands about settings.")
            .with(
                direct(
                    "config|get",
                    -3,
                    SLOW,
                    "server",
                    "2.0.0",
                    "Returns settings.",
                    ServerCommands::configGet)));
  }

  private static CommandSpec refused(String[] words) {
    int[] numbers = {0, 1, 1, 1};
    for (int i = 1; i < words.length; i++) {
      numbers[i - 1] = Integer.parseInt(words[i]);
    }
    int first = numbers[1];
    return new CommandSpec(
        words[0],
        numbers[0],
        WRITE,
        first,
        first == 0 ? 0 : numbers[2],
        first == 0 ? 0 : numbers[3],
        "generic",
        "1.0.0",
        "Refused: the data is read only.",
        REFUSED,
        Map.of());
  }

  private static void add(CommandSpec spec) {
    COMMANDS.put(spec.name(), spec);
  }

  private static CommandSpec reads(
      String name,
      int arity,
      int first,
      int last,
      String group,
      String since,
      String summary,
      Handler.Queued handler) {
    return new CommandSpec(
        name, arity, READS, first, last, 1, group, since, summary, handler, Map.of());
  }

  private static CommandSpec slowReads(
      String name,
      int arity,
      int key,
      String group,
      String since,
      String summary,
      Handler.Queued handler) {
    return new CommandSpec(
        name, arity, SLOW_READS, key, key, 1, group, since, summary, handler, Map.of());
  }

  private static CommandSpec direct(
      String name,
      int arity,
      List<String> flags,
      String group,
      String since,
      String summary,
      Handler.Direct handler) {
    return new CommandSpec(name, arity, flags, 0, 0, 0, group, since, summary, handler, Map.of());
  }

  private static CommandSpec deferred(
      String name,
      int arity,
      List<String> flags,
      String group,
      String since,
      String summary,
      Handler.Deferred handler) {
    return new CommandSpec(name, arity, flags, 0, 0, 0, group, since, summary, handler, Map.of());
  }

  private static CommandSpec counting(
      String name,
      int arity,
      List<String> flags,
      String group,
      String since,
      String summary,
      Handler.Counting handler) {
    return deferred(name, arity, flags, group, since, summary, handler);
  }

  /** A command that is nothing without a subcommand. */
  private static CommandSpec container(String name, String group, String since, String summary) {
    Handler.Direct none =
        (session, arguments, out) -> {
          throw unknownSubcommand(name, arguments.get(1));
        };
    return new CommandSpec(name, -2, List.of(), 0, 0, 0, group, since, summary, none, Map.of());
  }

  /** Returns all commands. */
  static Collection<CommandSpec> all() {
    return COMMANDS.values();
  }

  /** Returns a command by its name in lower case; null if there is none. */
  static @Nullable CommandSpec find(String name) {
    return COMMANDS.get(name);
  }

  /**
   * Returns the command that a client gives, or the subcommand.
   *
   * @throws CommandException if there is none, or the number of arguments is wrong
   */
  static CommandSpec of(Arguments command) throws CommandException {
    String name = Words.name(command.argument(0));
    CommandSpec spec = COMMANDS.get(name);
    if (spec == null) {
      throw unknown(command);
    }
    if (!spec.subcommands().isEmpty() && command.count() > 1) {
      CommandSpec sub = spec.subcommands().get(Words.name(command.argument(1)));
      if (sub == null) {
        throw unknownSubcommand(name, command.argument(1));
      }
      spec = sub;
    }
    if (!spec.accepts(command.count())) {
      throw wrongCount(spec.name());
    }
    return spec;
  }

  static CommandException wrongCount(String name) {
    return new CommandException("ERR wrong number of arguments for '" + name + "' command");
  }

  private static CommandException unknown(Arguments command) {
    StringBuilder arguments = new StringBuilder();
    for (int i = 1; i < command.count() && arguments.length() < 128; i++) {
      String begin = shown(command.argument(i), 128 - arguments.length());
      arguments.append('\'').append(begin).append("' ");
    }
    return new CommandException(
        "ERR unknown command '"
            + shown(command.argument(0), 128)
            + "', with args beginning with: "
            + arguments);
  }

  private static CommandException unknownSubcommand(String name, byte[] given) {
    return new CommandException(
        "ERR unknown subcommand '"
            + shown(given, 128)
            + "'. Try "
            + name.toUpperCase(Locale.ROOT)
            + " HELP.");
  }

  /** Returns the begin of an argument, up to a zero byte. */
  private static String shown(byte[] argument, int most) {
    int length = 0;
    while (length < Math.min(argument.length, most) && argument[length] != 0) {
      length++;
    }
    return new String(argument, 0, length, ISO_8859_1);
  }
}
