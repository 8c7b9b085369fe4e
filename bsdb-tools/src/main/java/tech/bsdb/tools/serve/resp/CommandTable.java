package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * All commands, those that write included, and the errors for those that there are not. What is
 * told of a command is a line of {@code commands.txt}; what answers it is named here.
 */
final class CommandTable {
  /** The version of Redis whose replies and errors these are. */
  static final String REDIS_VERSION = "7.4.0";

  private static final List<Map.Entry<String, Handler>> OWN =
      List.of(
          step(1, "get", StringCommands::get),
          queued("mget", StringCommands::mget),
          step(1, "strlen", StringCommands::strlen),
          queued("getrange", StringCommands::getrange),
          queued("substr", StringCommands::getrange),
          queued("exists", StringCommands::exists),
          queued("touch", StringCommands::exists),
          step(1, "type", StringCommands::type),
          step(1, "ttl", StringCommands::ttl),
          step(1, "pttl", StringCommands::ttl),
          step(2, "object|encoding", StringCommands::encoding),
          counting("dbsize", ClusterCommands::dbSize),
          deferred("scan", ScanCommands::scan),
          counting("randomkey", ScanCommands::randomKey),
          queued("hget", HashCommands::hget),
          queued("hmget", HashCommands::hmget),
          step(1, "hgetall", HashCommands::hgetall),
          queued("hexists", HashCommands::hexists),
          step(1, "hlen", HashCommands::hlen),
          step(1, "hkeys", HashCommands::hkeys),
          step(1, "hvals", HashCommands::hvals),
          queued("hstrlen", HashCommands::hstrlen),
          direct("ping", ConnectionCommands::ping),
          direct("echo", ConnectionCommands::echo),
          direct("hello", ConnectionCommands::hello),
          direct("auth", ConnectionCommands::auth),
          direct("select", ConnectionCommands::select),
          direct("reset", ConnectionCommands::reset),
          direct("quit", ConnectionCommands::quit),
          direct("readonly", ClusterCommands::readOnly),
          direct("readwrite", ClusterCommands::readWrite),
          direct("cluster|slots", ClusterCommands::slots),
          direct("cluster|shards", ClusterCommands::shards),
          direct("cluster|nodes", ClusterCommands::nodes),
          direct("cluster|info", ClusterCommands::info),
          direct("cluster|myid", ClusterCommands::myId),
          direct("cluster|keyslot", ClusterCommands::keySlot),
          counting("cluster|countkeysinslot", ClusterCommands::countKeysInSlot),
          direct("client|id", ConnectionCommands::clientId),
          direct("client|info", ConnectionCommands::clientInfo),
          direct("client|setname", ConnectionCommands::clientSetName),
          direct("client|getname", ConnectionCommands::clientGetName),
          direct("client|setinfo", ConnectionCommands::clientSetInfo),
          direct("client|no-evict", ConnectionCommands::clientSwitch),
          direct("client|no-touch", ConnectionCommands::clientSwitch),
          direct("multi", ConnectionCommands::multi),
          direct("exec", ConnectionCommands::exec),
          direct("discard", ConnectionCommands::discard),
          deferred("info", ServerCommands::info),
          direct("command", ServerCommands::command),
          direct("command|count", ServerCommands::commandCount),
          direct("command|docs", ServerCommands::commandDocs),
          direct("command|info", ServerCommands::commandInfo),
          direct("command|list", ServerCommands::commandList),
          direct("config|get", ServerCommands::configGet),
          step(2, "object|refcount", StringCommands::refcount),
          step(2, "object|idletime", StringCommands::idletime),
          step(2, "object|freq", StringCommands::freq),
          queued("memory|usage", StringCommands::memoryUsage),
          direct("memory|purge", (session, arguments, out) -> out.ok()),
          step(1, "expiretime", StringCommands::ttl),
          step(1, "pexpiretime", StringCommands::ttl),
          step(1, "dump", StringCommands::dump),
          counting("keys", ScanCommands::keys),
          queued("getbit", BitCommands::getbit),
          queued("bitcount", BitCommands::bitcount),
          queued("bitpos", BitCommands::bitpos),
          queued("lcs", Subsequence::lcs),
          queued("hrandfield", HashCommands::hrandfield),
          queued("hscan", HashCommands::hscan),
          queued("httl", HashCommands::httl),
          queued("hpttl", HashCommands::httl),
          queued("hexpiretime", HashCommands::httl),
          queued("hpexpiretime", HashCommands::httl),
          direct("watch", ConnectionCommands::watch),
          direct("unwatch", ConnectionCommands::unwatch),
          direct("time", ServerCommands::time),
          direct("role", ServerCommands::role),
          direct("wait", ServerCommands::waitForReplicas),
          direct("lastsave", ServerCommands::lastSave),
          direct("acl|whoami", (session, arguments, out) -> out.bulk("default")),
          direct(
              "acl|users",
              (session, arguments, out) -> {
                out.array(1);
                out.bulk("default");
              }),
          direct("command|getkeys", ServerCommands::commandGetKeys),
          direct("client|list", ConnectionCommands::clientList),
          direct("client|reply", ConnectionCommands::clientReply),
          direct("client|unpause", (session, arguments, out) -> out.ok()),
          direct("client|tracking", ConnectionCommands::clientTracking),
          direct("client|caching", ConnectionCommands::clientCaching),
          direct("client|trackinginfo", ConnectionCommands::clientTrackingInfo),
          direct("client|getredir", ConnectionCommands::clientGetRedir),
          direct("slowlog|get", CommandTable::nothing),
          direct("slowlog|len", CommandTable::zero),
          direct("slowlog|reset", (session, arguments, out) -> out.ok()),
          direct("latency|latest", CommandTable::nothing),
          direct("latency|history", CommandTable::nothing),
          direct("latency|reset", CommandTable::zero),
          direct("latency|histogram", (session, arguments, out) -> out.map(0)),
          direct("module|list", CommandTable::nothing),
          direct("pubsub|channels", CommandTable::nothing),
          direct("pubsub|shardchannels", CommandTable::nothing),
          direct("pubsub|numpat", CommandTable::zero),
          direct("pubsub|numsub", ServerCommands::numberOfSubscribers),
          direct("pubsub|shardnumsub", ServerCommands::numberOfSubscribers),
          direct("script|exists", ServerCommands::scriptExists),
          direct("function|list", CommandTable::nothing));

  /** What answers the commands that are not refused, by their names. */
  static final Map<String, Handler> HANDLERS = handlers();

  private static Map<String, Handler> handlers() {
    Map<String, Handler> all = OtherTypes.handlers();
    for (Map.Entry<String, Handler> each : OWN) {
      all.put(each.getKey(), each.getValue());
    }
    return Map.copyOf(all);
  }

  private static final Handler REFUSED =
      new Handler.NeverAnswered("READONLY You can't write against a read only replica.");

  private static final Pattern LINE =
      Pattern.compile(
          "(?<name>[a-z_]+(\\|[a-z-]+)?) +(?<arity>-?[1-9])"
              + " +(-|(?<first>[1-9]):(?<last>-?[1-9]):(?<step>[1-9]))"
              + " +(?<group>[a-z-]+)"
              + " +(?<since>\\d+\\.\\d+\\.\\d+) +(?<flags>-|[a-z_,]+) +(?<tips>-|[a-z_:]+(,[a-z_:]+)*)"
              + " +(?<summary>[A-Z].*\\.)");

  private static final Set<String> FLAGS =
      Set.of(
          "admin",
          "allow_busy",
          "blocking",
          "fast",
          "loading",
          "movablekeys",
          "no_async_loading",
          "no_auth",
          "no_mandatory_keys",
          "no_multi",
          "noscript",
          "pubsub",
          "readonly",
          "skip_monitor",
          "stale",
          "write");

  private static final Set<String> GROUPS =
      Set.of(
          "bitmap",
          "cluster",
          "connection",
          "generic",
          "geo",
          "hash",
          "hyperloglog",
          "list",
          "pubsub",
          "scripting",
          "server",
          "set",
          "sorted-set",
          "stream",
          "string",
          "transactions");

  /** How the summary of a command begins that is refused; the reason follows. */
  private static final String REFUSAL = "Refused: ";

  private static final Map<String, CommandSpec> COMMANDS = read(text(), HANDLERS);

  private CommandTable() {}

  /** Names what answers a command about one key alone, which is this argument. */
  private static Map.Entry<String, Handler> step(int key, String name, LookupRound.KeyStep step) {
    return queued(
        name,
        (command, round) -> {
          round.begin();
          round.add(command.argument(key), step);
        });
  }

  private static void nothing(Session session, List<byte[]> arguments, ReplyWriter out) {
    out.array(0);
  }

  private static void zero(Session session, List<byte[]> arguments, ReplyWriter out) {
    out.integer(0);
  }

  private static Map.Entry<String, Handler> queued(String name, Handler.Queued handler) {
    return Map.entry(name, handler);
  }

  private static Map.Entry<String, Handler> direct(String name, Handler.Direct handler) {
    return Map.entry(name, handler);
  }

  private static Map.Entry<String, Handler> deferred(String name, Handler.Deferred handler) {
    return Map.entry(name, handler);
  }

  private static Map.Entry<String, Handler> counting(String name, Handler.Counting handler) {
    return Map.entry(name, handler);
  }

  /** Returns the text of the table. */
  static String text() {
    try (InputStream in = CommandTable.class.getResourceAsStream("commands.txt")) {
      if (in == null) {
        throw new IllegalStateException("the jar has no commands.txt");
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a table.
   *
   * @param handlers what answers its commands
   * @throws IllegalStateException naming the line that is wrong or what is missing
   */
  static Map<String, CommandSpec> read(String text, Map<String, Handler> handlers) {
    Map<String, CommandSpec> commands = new LinkedHashMap<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          add(spec(line, handlers), commands);
        } catch (IllegalArgumentException e) {
          throw new IllegalStateException(
              "commands.txt, line " + number + ": " + e.getMessage() + ": " + line, e);
        }
      }
    }
    for (CommandSpec spec : commands.values()) {
      if (spec.flags().isEmpty() && spec.subcommands().isEmpty()) {
        throw new IllegalStateException("commands.txt: " + spec.name() + " has no subcommand");
      }
    }
    commands.replaceAll((name, spec) -> spec.subcommands().isEmpty() ? spec : withHelp(spec));
    handlers.forEach(
        (name, handler) -> {
          CommandSpec spec = find(name, commands);
          if (spec == null || spec.handler() != handler) {
            throw new IllegalStateException("commands.txt: " + name + " is missing");
          }
        });
    return commands;
  }

  private static void add(CommandSpec spec, Map<String, CommandSpec> commands) {
    CommandSpec before = commands.get(spec.command());
    if (spec.isSubcommand() == (before == null)) {
      throw new IllegalArgumentException(before == null ? "no such command" : "there already");
    }
    commands.put(spec.command(), before == null ? spec : before.with(spec));
  }

  private static CommandSpec spec(String line, Map<String, Handler> handlers) {
    Matcher columns = LINE.matcher(line);
    if (!columns.matches()) {
      throw new IllegalArgumentException("not a command");
    }
    String name = columns.group("name");
    List<String> flags = words(columns.group("flags"));
    if (!FLAGS.containsAll(flags)) {
      throw new IllegalArgumentException("an unknown flag");
    }
    if (!GROUPS.contains(columns.group("group"))) {
      throw new IllegalArgumentException("an unknown group");
    }
    String summary = columns.group("summary");
    Handler handler = flags.contains("write") ? REFUSED : handlers.get(name);
    if (handler == null && summary.startsWith(REFUSAL)) {
      String reason = summary.substring(REFUSAL.length(), summary.length() - 1);
      String shown = name.toUpperCase(Locale.ROOT).replace('|', ' ');
      handler = new Handler.NeverAnswered("ERR " + shown + " is refused: " + reason);
    }
    if (handler == null && (!flags.isEmpty() || name.contains("|"))) {
      throw new IllegalArgumentException("nothing answers it");
    }
    return new CommandSpec(
        name,
        Integer.parseInt(columns.group("arity")),
        flags,
        number(columns.group("first")),
        number(columns.group("last")),
        number(columns.group("step")),
        columns.group("group"),
        columns.group("since"),
        words(columns.group("tips")),
        summary,
        handler == null ? container(name) : handler,
        Map.of());
  }

  private static int number(@Nullable String column) {
    return column == null ? 0 : Integer.parseInt(column);
  }

  private static List<String> words(String column) {
    return column.equals("-") ? List.of() : List.of(column.split(",", -1));
  }

  /** Answers a command that is nothing without a subcommand. */
  private static Handler.Direct container(String name) {
    return (session, arguments, out) -> {
      throw unknownSubcommand(name, arguments.get(1));
    };
  }

  /** Returns a command with the subcommand that tells of the others. */
  private static CommandSpec withHelp(CommandSpec spec) {
    Handler.Direct help = (session, arguments, out) -> ServerCommands.help(spec, out);
    return spec.with(
        new CommandSpec(
            spec.name() + "|help",
            2,
            List.of("loading", "stale"),
            0,
            0,
            0,
            spec.group(),
            "5.0.0",
            List.of(),
            "Returns the subcommands.",
            help,
            Map.of()));
  }

  /** Returns all commands. */
  static Collection<CommandSpec> all() {
    return COMMANDS.values();
  }

  /** Returns a command, or a subcommand behind a bar, by its name in lower case; else null. */
  static @Nullable CommandSpec find(String name) {
    return find(name, COMMANDS);
  }

  private static @Nullable CommandSpec find(String name, Map<String, CommandSpec> commands) {
    String[] parts = name.split("\\|", 2);
    CommandSpec spec = commands.get(parts[0]);
    return spec == null || parts.length == 1 ? spec : spec.subcommands().get(parts[1]);
  }

  /**
   * Returns the command that a client gives, or the subcommand.
   *
   * @throws CommandException if there is none, or the number of arguments is wrong
   */
  static CommandSpec of(Arguments command) throws CommandException {
    String name = Arguments.name(command.argument(0));
    CommandSpec spec = COMMANDS.get(name);
    if (spec == null) {
      throw unknown(command);
    }
    if (!spec.subcommands().isEmpty() && command.count() > 1) {
      CommandSpec sub = spec.subcommands().get(Arguments.name(command.argument(1)));
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
