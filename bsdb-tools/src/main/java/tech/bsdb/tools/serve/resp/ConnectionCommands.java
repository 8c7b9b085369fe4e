package tech.bsdb.tools.serve.resp;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.dataset.DataSet;

/** Commands about the connection itself. */
final class ConnectionCommands {
  /** The most bytes of a name that a connection keeps, which is not counted as held memory. */
  private static final int MOST_NAME = 1024;

  private static final String WRONG_PASSWORD =
      "WRONGPASS invalid username-password pair or user is disabled.";

  private static final String NO_NUMBER = "ERR DB index is out of range";

  private ConnectionCommands() {}

  static void ping(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    if (arguments.size() > 2) {
      throw CommandTable.wrongCount("ping");
    }
    if (arguments.size() == 2) {
      out.bulk(arguments.get(1));
    } else {
      out.simple("PONG");
    }
  }

  static void quit(Session session, List<byte[]> arguments, ReplyWriter out) {
    out.ok();
    session.ended = true;
  }

  static void multi(Session session, List<byte[]> arguments, ReplyWriter out) {
    session.transaction = new Session.Transaction();
    out.ok();
  }

  static void discard(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    if (session.transaction == null) {
      throw new CommandException("ERR DISCARD without MULTI");
    }
    session.transaction = null;
    session.watched.clear();
    out.ok();
  }

  /** Notes the version of the data, which is all that could change a key. */
  static void watch(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    if (session.transaction != null) {
      throw new CommandException("ERR WATCH inside MULTI is not allowed");
    }
    DataSet selected = session.selected();
    try (Lease lease = selected.acquire()) {
      session.watched.putIfAbsent(selected, selected.version(lease).id());
    }
    out.ok();
  }

  static void unwatch(Session session, List<byte[]> arguments, ReplyWriter out) {
    session.watched.clear();
    out.ok();
  }

  /** Answers an EXEC to which no MULTI belongs; the others are the connection's. */
  static void exec(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    if (session.transaction == null) {
      throw new CommandException("ERR EXEC without MULTI");
    }
    out.array(0);
  }

  static void reset(Session session, List<byte[]> arguments, ReplyWriter out) {
    session.reset();
    out.useResp3(false);
    out.simple("RESET");
  }

  static void select(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    byte[] wanted = arguments.get(1);
    String name = Arguments.text(wanted);
    DataSet found = session.service.named(name);
    try {
      found = found == null ? numbered(session.service, wanted) : found;
    } catch (CommandException e) { // which would tell a client what there is outside its scope
      throw session.scope().reaches(name) ? e : new CommandException(CommandException.NO_SET);
    }
    if (!session.scope().reaches(found.name())) { // with sets=1*, it reaches the name 17, if any
      throw new CommandException(
          session.scope().reaches(name) ? NO_NUMBER : CommandException.NO_SET);
    }
    session.select(found);
    out.ok();
  }

  private static DataSet numbered(RespService service, byte[] wanted) throws CommandException {
    long number;
    try {
      number = Arguments.integer(wanted);
    } catch (CommandException e) {
      throw service.hasNames()
          ? new CommandException("ERR no data set is named '" + Arguments.shown(wanted) + "'")
          : e;
    }
    if (number != (int) number) {
      throw new CommandException(
          "ERR value is out of range, value must between -2147483648 and 2147483647");
    }
    DataSet found = service.sets.numbered(number);
    if (found == null) {
      throw new CommandException(NO_NUMBER);
    }
    return found;
  }

  static void auth(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    if (arguments.size() > 3) {
      throw new CommandException(CommandException.SYNTAX);
    }
    boolean named = arguments.size() == 3;
    if (!named && !session.service.credentials.needsToken()) {
      throw new CommandException(
          "ERR AUTH <password> called without any password configured for the default user. Are"
              + " you sure your configuration is correct?");
    }
    String user = named ? Arguments.text(arguments.get(1)) : "default";
    authenticate(session, user, Arguments.text(arguments.get(named ? 2 : 1)));
    out.ok();
  }

  /** Admits a user whose password is a token: the one that the token names, or the default. */
  private static void authenticate(Session session, String user, String password)
      throws CommandException {
    if (!session.authenticate(user, password)) {
      throw new CommandException(WRONG_PASSWORD);
    }
  }

  static void hello(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    boolean resp3 = session.resp3;
    int next = 1;
    if (arguments.size() > 1) {
      resp3 = version(arguments.get(1)) == 3;
      next = 2;
    }
    String user = null;
    String password = "";
    String name = null;
    while (next < arguments.size()) {
      int left = arguments.size() - next - 1;
      if (Arguments.is(arguments.get(next), "auth") && left >= 2) {
        user = Arguments.text(arguments.get(next + 1));
        password = Arguments.text(arguments.get(next + 2));
        next += 3;
      } else if (Arguments.is(arguments.get(next), "setname") && left >= 1) {
        name = visible(arguments.get(next + 1), "Client names");
        next += 2;
      } else {
        throw new CommandException(
            "ERR Syntax error in HELLO option '" + Arguments.shown(arguments.get(next)) + "'");
      }
    }
    if (user != null) {
      authenticate(session, user, password);
    }
    if (!session.isAuthenticated()) {
      throw new CommandException(
          "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO"
              + " <proto> AUTH <user> <pass> option can be used to authenticate the client and"
              + " select the RESP protocol version at the same time");
    }
    if (name != null) {
      session.name = name;
    }
    session.resp3 = resp3;
    if (!resp3) {
      session.track(null); // RESP2 has no invalidations
    }
    out.useResp3(resp3);
    ClusterView cluster = session.service.clusterView();
    out.map(7);
    out.entry("server", "redis");
    out.entry("version", CommandTable.REDIS_VERSION);
    out.entry("proto", resp3 ? 3 : 2);
    out.entry("id", session.id);
    out.entry("mode", cluster == null ? "standalone" : "cluster");
    out.entry("role", cluster != null && cluster.isReplica() ? "replica" : "master");
    out.entry("modules", List.of());
  }

  private static long version(byte[] argument) throws CommandException {
    long version;
    try {
      version = Arguments.integer(argument);
    } catch (CommandException e) {
      throw new CommandException("ERR Protocol version is not an integer or out of range");
    }
    if (version < 2 || version > 3) {
      throw new CommandException("NOPROTO unsupported protocol version");
    }
    return version;
  }

  /** Returns the text of an argument that must be short, and have visible ASCII characters only. */
  private static String visible(byte[] argument, String what) throws CommandException {
    if (argument.length > MOST_NAME) {
      throw new CommandException("ERR " + what + " cannot be longer than " + MOST_NAME + " bytes.");
    }
    for (byte octet : argument) {
      if (octet < '!' || octet > '~') {
        throw new CommandException(
            "ERR " + what + " cannot contain spaces, newlines or special characters.");
      }
    }
    return Arguments.text(argument);
  }

  static void clientGetName(Session session, List<byte[]> arguments, ReplyWriter out) {
    if (session.name.isEmpty()) {
      out.absent();
    } else {
      out.bulk(session.name);
    }
  }

  static void clientSetName(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    session.name = visible(arguments.get(2), "Client names");
    out.ok();
  }

  static void clientSetInfo(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    String attribute = Arguments.name(arguments.get(2));
    String value = visible(arguments.get(3), attribute);
    switch (attribute) {
      case "lib-name" -> session.library = value;
      case "lib-ver" -> session.libraryVersion = value;
      default ->
          throw new CommandException(
              "ERR Unrecognized option '" + Arguments.shown(arguments.get(2)) + "'");
    }
    out.ok();
  }

  static void clientList(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    Set<Long> ids = new HashSet<>();
    boolean all = arguments.size() == 2;
    if (arguments.size() == 4 && Arguments.is(arguments.get(2), "type")) {
      String type = Arguments.name(arguments.get(3));
      if (!Set.of("normal", "master", "replica", "slave", "pubsub").contains(type)) {
        throw new CommandException(
            "ERR Unknown client type '" + Arguments.shown(arguments.get(3)) + "'");
      }
      all = type.equals("normal");
    } else if (arguments.size() > 3 && Arguments.is(arguments.get(2), "id")) {
      for (byte[] id : arguments.subList(3, arguments.size())) {
        try {
          ids.add(Arguments.integer(id));
        } catch (CommandException e) {
          throw new CommandException("ERR Invalid client ID");
        }
      }
    } else if (!all) {
      throw new CommandException(CommandException.SYNTAX);
    }
    StringBuilder text = new StringBuilder();
    for (Session each : session.service.sessions()) {
      if (all || ids.contains(each.id)) {
        text.append(each.describe()).append('\n');
      }
    }
    out.verbatim(text.toString());
  }

  static void clientReply(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    switch (Arguments.name(arguments.get(2))) {
      case "on" -> {
        session.answers = Session.Replies.ON;
        out.ok();
      }
      case "off" -> session.answers = Session.Replies.OFF;
      case "skip" -> {
        if (session.answers != Session.Replies.OFF) {
          session.answers = Session.Replies.SKIP_NEXT;
        }
      }
      default -> throw new CommandException(CommandException.SYNTAX);
    }
  }

  /** Accepts what concerns eviction and the ages of keys, of which there are none. */
  static void clientSwitch(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    if (!Arguments.is(arguments.get(2), "on") && !Arguments.is(arguments.get(2), "off")) {
      throw new CommandException(CommandException.SYNTAX);
    }
    out.ok();
  }
}
