package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.TextResource;
import tech.bsdb.tools.serve.client.Scope.Permission;

/**
 * All commands, those that write included, and the errors for those that there are not. What is
 * told of a command is a line of {@code commands.txt}; what answers it is named here.
 */
final class CommandTable {
  /** The version of Redis whose replies and errors these are. */
  static final String REDIS_VERSION = "7.4.0";

  /** What answers the commands that the table says nothing else about, by their names. */
  static final Map<String, Handler> HANDLERS =
      Map.ofEntries(
          step(1, "get", StringCommands::get),
          queued("mget", StringCommands::mget),
          step(1, "strlen", StringCommands::strlen),
          parsed("getrange", StringCommands::getrange),
          queued("exists", StringCommands::exists),
          step(1, "type", StringCommands::type),
          step(2, "object|encoding", StringCommands::encoding),
          counting("dbsize", ClusterCommands::dbSize),
          deferred("scan", ScanCommands::scan),
          counting("randomkey", ScanCommands::randomKey),
          parsed("hget", HashCommands::hget),
          parsed("hmget", HashCommands::hmget),
          step(1, "hgetall", HashCommands::hgetall),
          parsed("hexists", HashCommands::hexists),
          step(1, "hlen", HashCommands::hlen),
          step(1, "hkeys", HashCommands::hkeys),
          step(1, "hvals", HashCommands::hvals),
          parsed("hstrlen", HashCommands::hstrlen),
          direct("ping", ConnectionCommands::ping),
          direct("echo", (session, command, out) -> out.bulk(command.get(1))),
          direct("hello", ConnectionCommands::hello),
          direct("auth", ConnectionCommands::auth),
          direct("select", ConnectionCommands::select),
          direct("reset", ConnectionCommands::reset),
          direct("quit", ConnectionCommands::quit),
          direct("readonly", ClusterCommands.acceptReplica(true)),
          direct("readwrite", ClusterCommands.acceptReplica(false)),
          direct("cluster|slots", ClusterCommands.of(ClusterCommands::slots)),
          direct("cluster|shards", ClusterCommands.of(ClusterCommands::shards)),
          direct("cluster|nodes", ClusterCommands.of(ClusterCommands::nodes)),
          direct("cluster|info", ClusterCommands.of(ClusterCommands::info)),
          direct(
              "cluster|myid",
              ClusterCommands.of((service, view, out) -> out.bulk(view.self().id()))),
          direct("cluster|keyslot", ClusterCommands::keySlot),
          counting("cluster|countkeysinslot", ClusterCommands::countKeysInSlot),
          direct("client|id", (session, command, out) -> out.integer(session.id)),
          direct("client|info", (session, command, out) -> out.verbatim(session.describe() + "\n")),
          direct("client|setname", ConnectionCommands::clientSetName),
          direct("client|getname", ConnectionCommands::clientGetName),
          direct("client|setinfo", ConnectionCommands::clientSetInfo),
          direct("client|no-evict", ConnectionCommands::clientSwitch),
          direct("multi", ConnectionCommands::multi),
          direct("exec", ConnectionCommands::exec),
          direct("discard", ConnectionCommands::discard),
          deferred("info", ServerCommands::info),
          direct("command", ServerCommands::command),
          direct("command|count", (session, command, out) -> out.integer(all().size())),
          direct("command|docs", ServerCommands::commandDocs),
          direct("command|info", ServerCommands::commandInfo),
          direct("command|list", ServerCommands::commandList),
          direct("config|get", ServerCommands::configGet),
          queued("memory|usage", StringCommands::memoryUsage),
          step(1, "dump", StringCommands::dump),
          counting("keys", ScanCommands::keys),
          parsed("getbit", BitCommands::getbit),
          parsed("bitcount", BitCommands::bitcount),
          parsed("bitpos", BitCommands::bitpos),
          queued("lcs", Subsequence::lcs),
          parsed("hrandfield", HashCommands::hrandfield),
          parsed("hscan", HashCommands::hscan),
          parsed("httl", HashCommands::httl),
          direct("watch", ConnectionCommands::watch),
          direct("unwatch", ConnectionCommands::unwatch),
          direct("acl|whoami", (session, command, out) -> out.bulk(session.user())),
          direct("time", ServerCommands::time),
          direct("role", ServerCommands::role),
          direct("wait", ServerCommands::waitForReplicas),
          direct(
              "lastsave",
              (session, command, out) ->
                  out.integer(ManagementFactory.getRuntimeMXBean().getStartTime() / 1000)),
          direct("command|getkeys", ServerCommands::commandGetKeys),
          direct("command|getkeysandflags", ServerCommands::commandGetKeysAndFlags),
          direct("client|list", ConnectionCommands::clientList),
          direct("client|reply", ConnectionCommands::clientReply),
          direct("client|tracking", Tracking::track),
          direct("client|caching", Tracking::caching),
          direct("client|trackinginfo", Tracking::info),
          direct(
              "client|getredir",
              (session, command, out) -> out.integer(session.tracking() == null ? -1 : 0)),
          direct("pubsub|numsub", ServerCommands::numberOfSubscribers),
          direct("pubsub|shardnumsub", ServerCommands::numberOfSubscribers));

  private static final Handler REFUSED =
      new Handler.NeverAnswered("READONLY You can't write against a read only replica.");

  /** How the summary of a command begins that is refused; the reason follows. */
  private static final String REFUSAL = "Refused: ";

  private static final Map<String, CommandSpec> COMMANDS = read();

  private CommandTable() {}

  /** Names what answers a command about one key alone, which is this argument. */
  private static Map.Entry<String, Handler> step(int key, String name, LookupRound.KeyStep step) {
    return queued(name, new Handler.OfKey(key, step));
  }

  private static Map.Entry<String, Handler> queued(String name, Handler.Queued handler) {
    return Map.entry(name, handler);
  }

  private static Map.Entry<String, Handler> parsed(String name, Handler.Parser parser) {
    return queued(
        name, (command, round) -> round.addAlone(command.get(1), parser.parse(command, round)));
  }

  private static Map.Entry<String, Handler> direct(String name, Handler.Alone handler) {
    return Map.entry(name, handler);
  }

  private static Map.Entry<String, Handler> deferred(String name, Handler.Deferred handler) {
    return Map.entry(name, handler);
  }

  private static Map.Entry<String, Handler> counting(String name, Handler.Counting handler) {
    return Map.entry(name, handler);
  }

  private static Map<String, CommandSpec> read() {
    Map<String, CommandSpec> commands = new LinkedHashMap<>();
    for (String line : TextResource.lines(CommandTable.class, "commands.txt")) {
      CommandSpec spec = spec(line.split(" +", 9));
      CommandSpec container = commands.putIfAbsent(spec.command(), spec);
      if (container != null) {
        container.subcommands().put(spec.name().substring(container.name().length() + 1), spec);
      }
    }
    return commands;
  }

  private static CommandSpec spec(String[] columns) {
    String name = columns[0];
    int arity = Integer.parseInt(columns[1]);
    CommandSpec.Keys keys = CommandSpec.Keys.of(columns[2]);
    List<String> flags = words(columns[5]);
    String answer = columns[7];
    String summary = columns[8];
    Handler handler;
    if (flags.contains("write")) {
      handler = REFUSED;
    } else if (summary.startsWith(REFUSAL)) {
      String reason = summary.substring(REFUSAL.length(), summary.length() - 1);
      String shown = name.toUpperCase(Locale.ROOT).replace('|', ' ');
      handler = new Handler.NeverAnswered("ERR " + shown + " is refused: " + reason);
    } else if (answer.equals("-") || answer.startsWith("=")) {
      Handler named = HANDLERS.get(answer.equals("-") ? name : answer.substring(1));
      handler = named == null ? (Handler.Alone) (a, b, out) -> help(name, out) : named;
    } else {
      boolean counted = keys.first() == 0 && flags.contains("movablekeys");
      handler = FixedReply.of(answer, name, arity, keys, counted);
    }
    return new CommandSpec(
        name,
        arity,
        flags,
        keys,
        columns[3],
        columns[4],
        words(columns[6]),
        summary,
        needs(name, keys, handler),
        handler,
        new LinkedHashMap<>());
  }

  private static @Nullable Permission needs(String name, CommandSpec.Keys keys, Handler handler) {
    return switch (name) {
      case "scan", "randomkey", "dbsize", "cluster|countkeysinslot" -> Permission.SCAN;
      case "keys" -> Permission.KEYS;
      case "info", "client|list", "config|get" -> Permission.METRICS;
      default -> keys.first() > 0 || handler instanceof Handler.Queued ? Permission.GET : null;
    };
  }

  private static List<String> words(String column) {
    return column.equals("-") ? List.of() : List.of(column.split(",", -1));
  }

  /** Writes the subcommands of a command, which is that of a subcommand. */
  private static void help(String name, ReplyWriter out) {
    ServerCommands.help(Objects.requireNonNull(COMMANDS.get(CommandSpec.command(name))), out);
  }

  /** Returns all commands. */
  static Collection<CommandSpec> all() {
    return COMMANDS.values();
  }

  /** Returns a command, or a subcommand behind a bar, by its name in lower case; else null. */
  static @Nullable CommandSpec find(String name) {
    String[] parts = name.split("\\|", 2);
    CommandSpec spec = COMMANDS.get(parts[0]);
    return spec == null || parts.length == 1 ? spec : spec.subcommands().get(parts[1]);
  }

  /** Returns the command that a client gives, or the subcommand; null if there is none. */
  static @Nullable CommandSpec find(List<byte[]> command) {
    CommandSpec spec = COMMANDS.get(Arguments.name(command.get(0)));
    return spec == null || spec.subcommands().isEmpty() || command.size() == 1
        ? spec
        : spec.subcommands().get(Arguments.name(command.get(1)));
  }

  /**
   * Returns the command that a client gives, or the subcommand.
   *
   * @throws CommandException if there is none, or the number of arguments is wrong
   */
  static CommandSpec of(List<byte[]> command) throws CommandException {
    CommandSpec spec = find(command);
    if (spec == null) {
      throw unknown(command);
    }
    if (!spec.accepts(command.size())) {
      throw wrongCount(spec.name());
    }
    return spec;
  }

  static CommandException wrongCount(String name) {
    return new CommandException("ERR wrong number of arguments for '" + name + "' command");
  }

  private static CommandException unknown(List<byte[]> command) {
    String name = Arguments.name(command.get(0));
    if (COMMANDS.containsKey(name)) {
      return new CommandException(
          "ERR unknown subcommand '"
              + shown(command.get(1), 128)
              + "'. Try "
              + name.toUpperCase(Locale.ROOT)
              + " HELP.");
    }
    StringBuilder arguments = new StringBuilder();
    for (int i = 1; i < command.size() && arguments.length() < 128; i++) {
      String begin = shown(command.get(i), 128 - arguments.length());
      arguments.append('\'').append(begin).append("' ");
    }
    return new CommandException(
        "ERR unknown command '"
            + shown(command.get(0), 128)
            + "', with args beginning with: "
            + arguments);
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
