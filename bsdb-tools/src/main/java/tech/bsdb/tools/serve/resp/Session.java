package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.client.Scope;
import tech.bsdb.tools.serve.client.Scope.Permission;
import tech.bsdb.tools.serve.dataset.DataSet;

/**
 * What a connection has agreed with its client. Confined to the connection's event loop, or, while
 * a command is answered elsewhere, to the thread that answers it.
 */
final class Session {
  final RespService service;

  /** A number that no other connection of this process has had. */
  final long id;

  private static final String DEFAULT_USER = "default";

  private final String address;
  private final String localAddress;
  private final long beganNanos = System.nanoTime();
  private DataSet selected;
  boolean resp3;
  private @Nullable String token;
  private List<String> certificate = List.of();

  /** How often the tokens had been reloaded when the scope was found; -1 if it was not yet. */
  private long tokensOf = -1;

  /** What the client may do; null if it has not authenticated. */
  private @Nullable Scope scope;

  /** What of it the client may do in the selected data set. */
  private Set<Permission> permitted = Scope.NONE.permissions();

  String name = "";
  String library = "";
  String libraryVersion = "";

  /** When the client has sent something. */
  long activeNanos = beganNanos;

  @Nullable CommandSpec lastCommand;

  /** The transaction that has begun; null if there is none. */
  @Nullable Transaction transaction;

  /** The ids of the versions that {@code WATCH} has noted. */
  final Map<DataSet, String> watched = new HashMap<>();

  private volatile @Nullable Tracking tracking;
  private final TrackedKeys tracked;
  Replies answers = Replies.ON;

  /** Whether the connection ends after the reply. */
  boolean ended;

  /** The rest of a reply whose beginning was written; null if there is none. */
  private Handler.@Nullable Rest rest;

  /** Whether the client accepts the answers of a replica. */
  boolean replicaAccepted;

  /** Whether the client wants replies. */
  enum Replies {
    ON,
    OFF,
    /** No reply to this command, nor to the next. */
    SKIP_NEXT,
    /** No reply to this command. */
    SKIP
  }

  /**
   * The commands between {@code MULTI} and {@code EXEC}, which are then answered together, in one
   * version of the data. Confined to its connection's event loop.
   */
  static final class Transaction {
    final List<Queued> commands = new ArrayList<>();

    /** The memory that the commands take. */
    long bytes;

    /** Whether a command was refused, so that none will be carried out. */
    boolean broken;

    /** A command that waits for {@code EXEC}. */
    record Queued(CommandSpec spec, List<byte[]> arguments) {}

    /**
     * Adds a command.
     *
     * @param taken the memory that it takes
     */
    void add(CommandSpec spec, List<byte[]> arguments, long taken) {
      commands.add(new Queued(spec, arguments));
      bytes += taken;
    }

    /** Notes that a command was refused, so that none will be carried out. */
    void refuse() {
      broken = true;
      commands.clear();
      bytes = 0;
    }
  }

  Session(RespService service, TrackedKeys tracked, long id, String address, String localAddress) {
    this.service = service;
    this.tracked = tracked;
    this.selected = service.sets.zero();
    this.id = id;
    this.address = address;
    this.localAddress = localAddress;
  }

  /**
   * Returns the data set that the client has selected. If it was removed and has been added again,
   * this is the one that has its name now.
   */
  DataSet selected() {
    if (selected.isRemoved()) {
      DataSet again = service.named(selected.name());
      selected = again == null ? selected : again;
    }
    return selected;
  }

  /** Returns the rest of a reply whose beginning was written; null if there is none. */
  Handler.@Nullable Rest rest() {
    return rest;
  }

  void begin(Handler.Rest more) {
    rest = more;
  }

  /** Closes the rest of a reply, which has ended or is of no use any more. */
  void endRest() {
    Handler.Rest ending = rest;
    rest = null;
    if (ending != null) {
      ending.close();
    }
  }

  void select(DataSet other) {
    selected = other;
    permit(scope);
  }

  private void permit(@Nullable Scope granted) {
    scope = granted;
    permitted = (granted == null ? Scope.NONE : granted).in(selected.name());
  }

  /** Notes the names in the client's certificate, which stand for a token while it gives none. */
  void identify(List<String> names) {
    certificate = names;
    tokensOf = -1;
  }

  /** Whether the client may read: it has given a token that is still valid, or needs none. */
  boolean isAuthenticated() {
    long now = service.credentials.tokensRead();
    if (now != tokensOf) {
      tokensOf = now;
      permit(service.credentials.ofToken(token, certificate));
    }
    return scope != null;
  }

  /**
   * Authenticates the client; returns false if the token is not valid, or is that of another user,
   * which changes nothing.
   */
  boolean authenticate(String user, String given) {
    long now = service.credentials.tokensRead();
    Scope granted = service.credentials.ofToken(given, certificate);
    boolean known = granted != null && !user.isEmpty() && user.equals(granted.name());
    if (granted == null || !(known || user.equals(DEFAULT_USER))) {
      return false;
    }
    token = service.credentials.needsToken() ? given : null;
    tokensOf = now;
    permit(granted);
    return true;
  }

  /** Returns what the client, which has authenticated, may do. */
  Scope scope() {
    return scope == null ? Scope.NONE : scope;
  }

  /** Returns the name of the user that the client is. */
  String user() {
    String name = scope().name();
    return name.isEmpty() ? DEFAULT_USER : name;
  }

  /** Whether the client, which has authenticated, may give a command. */
  boolean permits(CommandSpec spec) {
    return spec.needs() == null || permitted.contains(spec.needs());
  }

  /** Returns the error for a command that the client may not give. */
  CommandException refusal(CommandSpec spec) {
    if (!scope().permissions().contains(spec.needs())) {
      return new CommandException(
          "NOPERM this user has no permissions to run the '" + spec.name() + "' command");
    }
    return new CommandException(
        spec.keys().first() > 0 ? CommandException.NO_KEYS : CommandException.NO_SET);
  }

  /** Makes everything as it was when the connection was opened. */
  void reset() {
    selected = service.sets.zero();
    resp3 = false;
    token = null;
    tokensOf = -1;
    name = "";
    transaction = null;
    replicaAccepted = false;
    watched.clear();
    track(null);
    answers = Replies.ON;
  }

  /** Returns what is agreed about tracking; null if nothing. Any thread may ask. */
  @Nullable Tracking tracking() {
    return tracking;
  }

  /** Whether the client may be one that only understands which keys are invalid. */
  private boolean needsKeys() {
    return library.isEmpty() || library.toLowerCase(Locale.ROOT).contains("lettuce");
  }

  void track(@Nullable Tracking agreed) {
    if (agreed == null || tracking == null) {
      tracked.restart(agreed != null && !agreed.mode().equals("bcast") && needsKeys());
    }
    tracking = agreed;
  }

  /** Notes that another command follows. */
  void next() {
    if (answers == Replies.SKIP_NEXT) {
      answers = Replies.SKIP;
    } else if (answers == Replies.SKIP) {
      answers = Replies.ON;
    }
  }

  /** Whether the client wants no reply to the current command. */
  boolean isSilent() {
    return answers == Replies.OFF || answers == Replies.SKIP;
  }

  /** Describes the connection as {@code CLIENT INFO} does. */
  String describe() {
    long now = System.nanoTime();
    String flags = (replicaAccepted ? "r" : "") + (tracking == null ? "" : "t");
    return String.format(
        Locale.ROOT,
        "id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s db=%d sub=0 psub=0 ssub=0"
            + " multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0"
            + " tot-mem=0 events=r cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s",
        id,
        address,
        localAddress,
        name,
        (now - beganNanos) / 1_000_000_000L,
        (now - activeNanos) / 1_000_000_000L,
        flags.isEmpty() ? "N" : flags,
        selected.number(),
        lastCommand == null ? "NULL" : lastCommand.name(),
        user(),
        tracking == null ? -1 : 0,
        resp3 ? 3 : 2,
        library,
        libraryVersion);
  }
}
