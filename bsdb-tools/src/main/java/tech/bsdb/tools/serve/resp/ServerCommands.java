package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;

/** Commands about the server and its commands. */
final class ServerCommands {
  /** The most names or patterns that a command about the server may have. */
  private static final int MOST_NAMES = 1000;

  private ServerCommands() {}

  /** Requires that a command about the server has not too many arguments. */
  static void requireFew(List<byte[]> arguments) throws CommandException {
    if (arguments.size() > MOST_NAMES) {
      throw new CommandException(
          "ERR " + arguments.size() + " arguments are more than " + MOST_NAMES);
    }
  }

  static void info(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    requireFew(arguments);
    Set<String> sections = new LinkedHashSet<>();
    for (byte[] argument : arguments.subList(1, arguments.size())) {
      sections.add(Arguments.name(argument));
    }
    out.verbatim(InfoText.of(session.service).sections(sections));
  }

  static void configGet(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    requireFew(arguments);
    Map<String, String> found = session.service.configuration();
    List<byte[]> patterns = arguments.subList(2, arguments.size());
    found.keySet().removeIf(name -> patterns.stream().noneMatch(each -> matches(each, name)));
    out.value(found);
  }

  static void time(Session session, List<byte[]> arguments, ReplyWriter out) {
    Instant now = Instant.now();
    out.value(List.of(Long.toString(now.getEpochSecond()), Long.toString(now.getNano() / 1000)));
  }

  static void role(Session session, List<byte[]> arguments, ReplyWriter out) {
    ClusterView cluster = session.service.clusterView();
    if (cluster != null && cluster.isReplica()) {
      ClusterNode primary = cluster.group().primary();
      out.value(List.of("slave", primary.host(), primary.respPort(), "connected", 1));
    } else {
      out.value(List.of("master", cluster == null ? 0 : 1, List.of()));
    }
  }

  static void waitForReplicas(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    long unused = Arguments.integer(arguments.get(1));
    long timeout;
    try {
      timeout = Arguments.integer(arguments.get(2));
    } catch (CommandException e) {
      throw new CommandException("ERR timeout is not an integer or out of range");
    }
    if (timeout < 0) {
      throw new CommandException("ERR timeout is negative");
    }
    out.integer(0);
  }

  static void numberOfSubscribers(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    requireFew(arguments);
    out.array(2L * (arguments.size() - 2));
    arguments.subList(2, arguments.size()).forEach(channel -> out.entry(channel, 0));
  }

  static void commandGetKeys(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    List<byte[]> given = arguments.subList(2, arguments.size());
    out.value(commandOf(given).keys().of(given));
  }

  static void commandGetKeysAndFlags(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    List<byte[]> given = arguments.subList(2, arguments.size());
    CommandSpec spec = commandOf(given);
    List<byte[]> keys = spec.keys().of(given);
    out.array(keys.size());
    for (byte[] key : keys) {
      out.array(2);
      out.bulk(key);
      writeKeyFlags(spec, out);
    }
  }

  /** Returns the command with keys that a client asks about. */
  private static CommandSpec commandOf(List<byte[]> given) throws CommandException {
    CommandSpec spec = CommandTable.find(given);
    if (spec == null) {
      throw new CommandException("ERR Invalid command specified");
    }
    if (spec.keys().first() == 0) {
      throw new CommandException("ERR The command has no key arguments");
    }
    if (!spec.accepts(given.size())) {
      throw new CommandException("ERR Invalid number of arguments specified for command");
    }
    return spec;
  }

  /** Names the subcommands of a command. */
  static void help(CommandSpec of, ReplyWriter out) {
    List<String> lines = new ArrayList<>();
    lines.add(
        of.name().toUpperCase(Locale.ROOT)
            + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    of.subcommands()
        .forEach(
            (name, each) -> {
              if (!each.isRefused() && !name.equals("help")) {
                lines.add(name.toUpperCase(Locale.ROOT));
                lines.add("    " + each.summary());
              }
            });
    lines.add("HELP");
    lines.add("    Returns this help.");
    out.array(lines.size());
    lines.forEach(out::simple);
  }

  static void command(Session session, List<byte[]> arguments, ReplyWriter out) {
    out.array(CommandTable.all().size());
    CommandTable.all().forEach(spec -> write(spec, out));
  }

  static void commandInfo(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    requireFew(arguments);
    if (arguments.size() == 2) {
      command(session, arguments, out);
      return;
    }
    out.array(arguments.size() - 2);
    for (byte[] name : arguments.subList(2, arguments.size())) {
      CommandSpec spec = CommandTable.find(Arguments.name(name));
      if (spec == null) {
        out.absent();
      } else {
        write(spec, out);
      }
    }
  }

  static void commandDocs(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    requireFew(arguments);
    List<CommandSpec> wanted = new ArrayList<>();
    if (arguments.size() == 2) {
      CommandTable.all().stream().filter(spec -> !spec.isRefused()).forEach(wanted::add);
    }
    for (byte[] name : arguments.subList(2, arguments.size())) {
      CommandSpec spec = CommandTable.find(Arguments.name(name));
      if (spec != null) {
        wanted.add(spec);
      }
    }
    out.map(wanted.size());
    wanted.forEach(spec -> document(spec, out));
  }

  /** Names commands and subcommands: all, or those of a category or whose names match. */
  static void commandList(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    Predicate<CommandSpec> wanted = spec -> true;
    if (arguments.size() > 2) {
      if (arguments.size() != 5 || !Arguments.is(arguments.get(2), "filterby")) {
        throw new CommandException(CommandException.SYNTAX);
      }
      byte[] given = arguments.get(4);
      wanted =
          switch (Arguments.name(arguments.get(3))) {
            case "module" -> spec -> false;
            case "aclcat" -> spec -> spec.categories().contains("@" + Arguments.name(given));
            case "pattern" -> spec -> matches(given, spec.name());
            default -> throw new CommandException(CommandException.SYNTAX);
          };
    }
    List<String> names =
        CommandTable.all().stream()
            .flatMap(spec -> Stream.concat(Stream.of(spec), spec.subcommands().values().stream()))
            .filter(wanted)
            .map(CommandSpec::name)
            .toList();
    out.value(names);
  }

  private static boolean matches(byte[] pattern, String name) {
    byte[] lower = Arguments.name(pattern).getBytes(ISO_8859_1);
    return new Glob(lower).matches(name.getBytes(US_ASCII));
  }

  private static void document(CommandSpec spec, ReplyWriter out) {
    out.bulk(spec.name());
    out.map(spec.subcommands().isEmpty() ? 3 : 4);
    out.entry("summary", spec.summary());
    out.entry("since", spec.since());
    out.entry("group", spec.group());
    if (!spec.subcommands().isEmpty()) {
      out.bulk("subcommands");
      out.map(spec.subcommands().size());
      spec.subcommands().values().forEach(each -> document(each, out));
    }
  }

  private static void write(CommandSpec spec, ReplyWriter out) {
    out.array(10);
    out.bulk(spec.name());
    out.integer(spec.arity());
    out.set(spec.flags().size());
    spec.flags().forEach(out::simple);
    out.integer(spec.keys().first());
    out.integer(spec.keys().last());
    out.integer(spec.keys().step());
    out.set(spec.categories().size());
    spec.categories().forEach(out::simple);
    out.set(spec.tips().size());
    spec.tips().forEach(out::bulk);
    writeKeys(spec, out);
    if (spec.subcommands().isEmpty()) {
      out.set(0);
    } else {
      out.array(spec.subcommands().size());
    }
    spec.subcommands().values().forEach(each -> write(each, out));
  }

  private static void writeKeys(CommandSpec spec, ReplyWriter out) {
    if (spec.keys().first() == 0) {
      out.set(0);
      return;
    }
    out.set(1);
    out.map(3);
    out.bulk("flags");
    writeKeyFlags(spec, out);
    CommandSpec.Keys keys = spec.keys();
    out.bulk("begin_search");
    out.map(2);
    out.entry("type", "index");
    out.entry("spec", Map.of("index", keys.first()));
    out.bulk("find_keys");
    out.map(2);
    out.entry("type", "range");
    out.bulk("spec");
    out.map(3);
    out.entry("lastkey", keys.last() < 0 ? keys.last() : keys.last() - keys.first());
    out.entry("keystep", keys.step());
    out.entry("limit", 0);
  }

  private static void writeKeyFlags(CommandSpec spec, ReplyWriter out) {
    out.set(2);
    out.simple(spec.isWrite() ? "RW" : "RO");
    out.simple(spec.isWrite() ? "update" : "access");
  }
}
