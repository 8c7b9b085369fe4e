package tech.bsdb.tools.serve.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.client.ClientConnection;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.ServedVersion;
import tech.bsdb.tools.serve.resp.CommandReader.MalformedCommandException;

/**
 * A connection of a Redis client: reads commands, answers those that have arrived together as one
 * {@link LookupRound round}, and writes the replies in order.
 *
 * <p>A round runs on the event loop where the data is in memory, else on a worker, or
 * asynchronously if it is a single lookup. Nothing is looked up while the client does not read what
 * was written for it, and nothing is read from a client whose commands are not answered yet, so
 * memory is bounded by what one round of reading brings.
 */
final class RespConnection extends ClientConnection {
  /** Bytes of replies after which a round pauses so that they are sent. */
  private static final int PIECE = 64 << 10;

  /** Bytes of a round's commands that are not counted: about as many as are read at once. */
  private static final int UNCOUNTED = 16 << 10;

  private static final String BUSY =
      "BUSY too many lookups are in flight (--max-in-flight); try again";
  private static final String NESTED = "ERR MULTI calls can not be nested";
  private static final String ABORTED_BY = "EXECABORT Transaction discarded because of: ";
  private static final String ABORTED =
      "EXECABORT Transaction discarded because of previous errors.";

  private static final String NO_LONGER =
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC"
          + " call. This command is no longer allowed for the following reason: no permission to"
          + " execute the command or subcommand";

  private final RespService service;
  private final CommandReader reader;
  private final TrackedKeys tracked;
  private final LookupRound round;
  private final Session session;
  private final ReplyWriter replies;
  private final HeldMemory.Share received = share();
  private final HeldMemory.Share values = share();
  private @Nullable ByteBuf pending;

  /** Answers the command that was read last, once the round is answered. */
  private @Nullable Runnable waiting;

  private @Nullable String malformed;

  /** What the transaction that the round is has watched; null if the round is none. */
  private @Nullable Map<DataSet, String> executing;

  /** The name of the command that was read last, if its name alone tells which it is. */
  private byte @Nullable [] knownName;

  private int weight;
  private boolean running;
  private boolean invalidating;
  private int answered;
  private long roundBytes;
  private long arrivedNanos;
  private long insideSinceNanos;

  RespConnection(RespService service, Channel channel) {
    super(service.connections, channel);
    this.service = service;
    this.reader = new CommandReader(service.limits.bodyBytes(), !service.credentials.needsToken());
    this.tracked = new TrackedKeys(service.trackedBytes);
    this.round = new LookupRound(service, tracked);
    this.replies = new ReplyWriter(channel.alloc());
    this.session =
        new Session(
            service,
            tracked,
            service.newId(),
            shown(channel.remoteAddress()),
            shown(channel.localAddress()));
  }

  private static String shown(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress internet
        ? internet.getAddress().getHostAddress() + ":" + internet.getPort()
        : "-";
  }

  @Override
  protected void identified() {
    session.identify(certificate());
    reader.trust(session.isAuthenticated());
  }

  @Override
  protected void discard() {
    ByteBuf left = pending;
    pending = null;
    if (left != null) {
      left.release();
    }
    received.settle(0);
  }

  @Override
  protected void release() {
    if (!running) {
      releaseRound();
    }
  }

  /** Releases what a round holds and has written, which is of no use any more. */
  private void releaseRound() {
    leave();
    round.close();
    tracked.restart(false);
    values.settle(0);
    replies.takeTo(ByteBuf::release);
    session.endRest();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (isFinished() || !(message instanceof ByteBuf bytes)) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (arrivedNanos == 0) {
      arrivedNanos = System.nanoTime();
      session.activeNanos = arrivedNanos;
    }
    ByteBuf before = pending;
    if (before != null) {
      before.discardReadBytes(); // or it would grow for as long as lines arrive in pieces
    }
    pending =
        before == null
            ? bytes
            : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), before, bytes);
    pump();
  }

  /** Returns what is agreed with the client of this connection, which is open. */
  Session session() {
    return session;
  }

  /**
   * Tells the client, if it tracks keys, that what it knows is not valid: behind all replies that
   * may come from the version before. Any thread may call it.
   */
  void invalidate() {
    if (session.tracking() != null) {
      onLoop(
          () -> {
            invalidating = true;
            if (!running && round.isEmpty() && session.rest() == null && !isFinished()) {
              sendInvalidation();
              flush();
            }
          });
    }
  }

  /** Writes the invalidation that has waited for the end of a round. */
  private void sendInvalidation() {
    if (invalidating && !isGone() && session.rest() == null) {
      invalidating = false;
      if (session.tracking() != null) {
        tracked.invalidate(replies);
      }
    }
  }

  @Override
  protected boolean advance() {
    if (running || !channel().isOpen()) {
      return false;
    }
    if (!clientReads()) {
      leave(); // makes room for the lookups of others while the client does not read
      return false;
    }
    Handler.Rest rest = session.rest();
    if (rest != null) {
      onThread(service.workersOf(session.selected()), () -> writeMore(rest));
      return true;
    }
    if (round.isEmpty() && waiting == null && malformed == null) {
      readCommands();
    }
    if (!round.isEmpty()) {
      runRound();
      return true;
    }
    Runnable next = waiting;
    if (next != null) {
      waiting = null;
      next.run();
      return true;
    }
    String wrong = malformed;
    if (wrong != null) {
      replies.error("ERR Protocol error: " + wrong);
      service.statistics().failed("ERR");
      finish();
    }
    return false;
  }

  /**
   * Reads commands that have arrived, up to one that is not looked up with the others, or until
   * there are enough for a round.
   */
  private void readCommands() {
    roundBytes = 0;
    ByteBuf in = pending;
    if (in == null) {
      holdReceived(); // the command before may have ended a transaction
      return;
    }
    try {
      boolean more = true;
      while (more && !round.isFull() && reader.read(in)) {
        insideSinceNanos = 0; // the time that the next one takes is its own
        more = read(in);
      }
    } catch (MalformedCommandException e) {
      malformed = String.valueOf(e.getMessage());
    }
    if (!in.isReadable()) {
      in.release();
      pending = null;
    }
    holdReceived();
  }

  /**
   * Takes the commands that follow and differ from the one just queued in their key alone, so that
   * whatever was checked for it holds for them, too. In a cluster, each key is checked.
   */
  private void readAlike(CommandSpec spec, ByteBuf in) {
    if (spec.handler() instanceof Handler.OfKey one && service.clusterView() == null) {
      int before = round.size();
      roundBytes += reader.readAlike(in, round, one.step());
      int more = round.size() - before;
      answered += more;
      service.statistics().given(spec, more);
    }
  }

  /** Counts the commands that are being read, queued or answered. */
  private void holdReceived() {
    long answering = round.isEmpty() || roundBytes <= UNCOUNTED ? 0 : roundBytes;
    long bytes = answering + (reader.isInside() ? reader.held() : 0) + queuedBytes();
    if (!received.reserveUpTo(bytes)) {
      malformed = "too much memory is held for clients (--max-held); try again";
    }
    received.settle(bytes);
  }

  /** Takes the command just read; returns false if it must wait for the round. */
  private boolean read(ByteBuf in) {
    Session client = session;
    answered++;
    roundBytes += reader.held();
    client.next();
    if (reader.hasPassedEmpty()) {
      client.next(); // CLIENT REPLY SKIP was about a command without words
    }
    try {
      CommandSpec spec = command();
      if (!spec.needsNoAuthentication() && !client.isAuthenticated()) {
        reader.trust(false); // its token may have been removed
        throw new CommandException("NOAUTH Authentication required.");
      }
      if (!client.permits(spec)) {
        throw client.refusal(spec);
      }
      if (spec.handler() instanceof Handler.NeverAnswered refused) {
        requireHere(spec, false); // a replica would not carry it out, either
        throw new CommandException(refused.reply());
      }
      service.statistics().given(spec, 1);
      Session.Transaction begun = client.transaction;
      if (begun != null && (!spec.isUnqueued() || isOf(spec, "exec") || isOf(spec, "multi"))) {
        return readInside(begun, spec);
      }
      boolean reads =
          spec.handler() instanceof Handler.Queued || spec.handler() instanceof Handler.Deferred;
      if (reads && client.isSilent()) {
        return true; // what is only read need not be read
      }
      if (spec.handler() instanceof Handler.Queued queued) {
        requireHere(spec, client.replicaAccepted);
        queued.queue(reader.arguments(), round);
        readAlike(spec, in);
        return true;
      }
      if (spec.handler() instanceof Handler.Alone alone) {
        waiting = () -> answerAlone(alone);
      }
      return false;
    } catch (CommandException e) {
      if (isHttp(reader.arguments().get(0))) {
        cut(); // a web page that makes a browser speak to this port
        return false;
      }
      Session.Transaction begun = client.transaction;
      if (Arguments.is(reader.arguments().get(0), "exec")) {
        client.transaction = null; // or nobody without a valid token could end it
        client.watched.clear();
        return answerLater(ABORTED_BY + e.reply().replaceFirst("^ERR ", ""));
      }
      if (begun != null) {
        begun.refuse();
      }
      return answerLater(e.reply());
    }
  }

  /** Answers the command just read by an error, after the round; returns false unless silently. */
  private boolean answerLater(String error) {
    service.statistics().failed(error);
    return answerLater(() -> replies.error(error));
  }

  /** Answers the command just read after the round; returns false unless silently. */
  private boolean answerLater(Runnable answer) {
    if (session.isSilent()) {
      return true;
    }
    waiting = answer;
    return false;
  }

  /**
   * Requires that this server answers the keys of the command just read.
   *
   * @param fromReplica whether it may be answered by a replica
   */
  private void requireHere(CommandSpec spec, boolean fromReplica) throws CommandException {
    ClusterView cluster = service.clusterView();
    if (cluster != null) {
      ClusterCommands.requireHere(
          cluster, spec.slot(reader.arguments(), CommandSpec.NO_SLOT), fromReplica);
    }
  }

  private static boolean isOf(CommandSpec spec, String name) {
    return spec.name().equals(name);
  }

  /**
   * Queues a command of a transaction, or ends the transaction by answering all of it; returns
   * false if the reply must wait for the round.
   */
  private boolean readInside(Session.Transaction begun, CommandSpec spec) throws CommandException {
    if (isOf(spec, "multi")) {
      return answerLater(NESTED); // unlike other errors, it leaves the transaction as it is
    }
    if (isOf(spec, "exec")) {
      session.transaction = null;
      return exec(begun);
    }
    if (!spec.isQueueable()) {
      throw new CommandException("ERR Command not allowed inside a transaction");
    }
    if (begun.commands.size() >= service.limits.batchKeys()
        || begun.bytes + reader.held() > service.limits.bodyBytes()) {
      throw new CommandException(
          "ERR the transaction is larger than --max-batch or --max-body permits");
    }
    requireHere(spec, session.replicaAccepted);
    if (!begun.broken) {
      begun.add(spec, reader.arguments(), reader.held());
    }
    return answerLater(() -> replies.simple("QUEUED"));
  }

  /** Has a transaction answered in a round of its own; returns false unless it is silent. */
  private boolean exec(Session.Transaction of) {
    Map<DataSet, String> watched = Map.copyOf(session.watched);
    session.watched.clear();
    if (of.broken) {
      return answerLater(ABORTED);
    }
    if (session.isSilent()) {
      return true;
    }
    ClusterView cluster = service.clusterView();
    if (cluster != null) {
      try {
        int slot = CommandSpec.NO_SLOT;
        for (Session.Transaction.Queued each : of.commands) {
          slot = each.spec().slot(each.arguments(), slot);
        }
        ClusterCommands.requireHere(cluster, slot, session.replicaAccepted);
      } catch (CommandException e) {
        return answerLater(e.reply());
      }
    }
    session.transaction = of; // its memory is counted until its round begins
    return answerLater(
        () -> {
          session.transaction = null;
          executing = watched;
          queueAll(of.commands);
          roundBytes += of.bytes;
          holdReceived();
        });
  }

  /** Queues the commands of a transaction, behind the beginning of its reply. */
  private void queueAll(List<Session.Transaction.Queued> commands) {
    addPart((found, out) -> out.array(commands.size()));
    for (Session.Transaction.Queued each : commands) {
      if (!session.permits(each.spec())) {
        service.statistics().failed(NO_LONGER);
        addPart((found, out) -> out.error(NO_LONGER));
      } else if (each.spec().handler() instanceof Handler.Queued queued) {
        try {
          queued.queue(each.arguments(), round);
        } catch (CommandException e) {
          service.statistics().failed(e.reply());
          addPart((found, out) -> out.error(e.reply()));
        }
      } else if (each.spec().handler() instanceof Handler.Alone alone) {
        addPart((found, out) -> answer(alone, each.arguments()));
      }
    }
  }

  /** Adds a part of the reply of a transaction that needs no data. */
  private void addPart(LookupRound.KeyStep step) {
    round.begin();
    round.add(step);
  }

  /** Whether the versions that the transaction has watched are still served. */
  private boolean isUnchanged(Map<DataSet, String> watched, ServedVersion version) {
    for (Map.Entry<DataSet, String> each : watched.entrySet()) {
      ServedVersion now = version;
      if (each.getKey() != session.selected()) {
        try (Lease lease = each.getKey().acquire()) {
          now = each.getKey().version(lease);
        } catch (DataSetRemovedException e) {
          return false;
        }
      }
      if (!now.id().equals(each.getValue())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the command just read. Most commands are the same as the one before, whose array is
   * then that of the name.
   */
  private CommandSpec command() throws CommandException {
    List<byte[]> command = reader.arguments();
    byte[] name = command.get(0);
    CommandSpec last = session.lastCommand;
    if (name == knownName && last != null && last.accepts(command.size())) {
      return last;
    }
    CommandSpec spec = CommandTable.of(command);
    knownName = spec.subcommands().isEmpty() && !spec.isSubcommand() ? name : null;
    session.lastCommand = spec;
    return spec;
  }

  private static boolean isHttp(byte[] name) {
    String lower = Arguments.name(name);
    return lower.equals("post") || lower.equals("host:");
  }

  private void runRound() {
    if (weight == 0) {
      int wanted = round.weight();
      if (round.isOpen()) {
        service.counts.enterAgain(wanted);
      } else if (!service.counts.enter(wanted)) {
        refuse(BUSY);
        return;
      }
      weight = wanted;
    }
    boolean begins = !round.isOpen();
    ServedVersion version;
    try {
      version = begins ? round.open(session.selected()) : round.version();
      if (!version.badSchema.isEmpty()) {
        refuse(CommandException.inUtf8("ERR " + version.badSchema).reply());
        return;
      }
      if (begins && executing != null && !isUnchanged(executing, version)) {
        replies.absentArray();
        close();
        return;
      }
    } catch (DataSetRemovedException e) {
      refuse(removed(e));
      return;
    }
    boolean async = service.isAsync(round.set());
    if (version.statistics.readsMemory() && !async) {
      round.run(replies, PIECE, values);
      ran();
    } else if (async && round.isSingle()) {
      runSingle(version);
    } else {
      onThread(service.workersOf(round.set()), () -> round.run(replies, PIECE, values));
    }
  }

  /** Runs a task on another thread, and goes on when it has ended. */
  private void onThread(Executor threads, Runnable task) {
    running = true;
    onThread(
        threads,
        () -> {
          task.run();
          return null;
        },
        this::delivered,
        this::undone);
  }

  /** Releases what the round holds that has run elsewhere. */
  private void undone() {
    running = false;
    releaseRound();
  }

  /** Answers the commands of the round by an error. */
  private void refuse(String error) {
    if (executing == null) {
      round.refuse(error, replies);
    } else {
      service.statistics().failed(error);
      replies.error(error);
    }
    close();
  }

  private static String removed(DataSetRemovedException e) {
    return CommandException.inUtf8("ERR " + e.getMessage() + "; SELECT another").reply();
  }

  private void runSingle(ServedVersion version) {
    running = true;
    CompletableFuture<byte @Nullable []> later;
    try {
      later = version.database.getAsync(round.singleKey(), values);
    } catch (RuntimeException | Error e) {
      later = CompletableFuture.failedFuture(e);
    }
    var unused =
        later.whenComplete(
            (value, failure) -> {
              Throwable cause =
                  failure instanceof CompletionException && failure.getCause() != null
                      ? failure.getCause()
                      : failure;
              if (channel().eventLoop().inEventLoop()) {
                found(value, cause);
              } else {
                goOn(() -> found(value, cause), this::undone);
              }
            });
  }

  private void found(byte @Nullable [] value, @Nullable Throwable failure) {
    Throwable unexpected = null;
    try {
      if (!isGone()) {
        round.answerSingle(value, failure, replies);
      }
    } catch (RuntimeException | Error e) { // or the future would keep it to itself
      unexpected = e;
    }
    delivered(unexpected);
  }

  /**
   * Called on the event loop when a round has run elsewhere.
   *
   * @param unexpected why it ended half way; null if it did not
   */
  private void delivered(@Nullable Throwable unexpected) {
    running = false;
    if (unexpected != null) {
      cut();
      failed(unexpected);
    }
    if (isGone() || unexpected != null) {
      releaseRound();
      return;
    }
    ran();
    serve();
  }

  /** Hands over what a round has written, and closes it at its end. */
  private void ran() {
    values.settle(0);
    if (round.isTorn()) {
      cut();
      close();
      return;
    }
    sendIfLong();
    if (round.isDone()) {
      close();
    }
  }

  /** Sends what was written, so that it is noticed if the client does not read. */
  private void sendIfLong() {
    if (replies.length() >= PIECE) {
      replies.takeTo(this::write);
      send();
    }
  }

  /** Returns the memory that the commands of a transaction take. */
  private long queuedBytes() {
    Session.Transaction begun = session.transaction;
    return begun == null ? 0 : begun.bytes;
  }

  private void close() {
    leave();
    round.close();
    executing = null;
    received.settle(queuedBytes());
    sendInvalidation();
  }

  private void leave() {
    if (weight != 0) {
      service.counts.leave(weight);
      weight = 0;
    }
  }

  /** Answers a command that is not looked up with others. */
  private void answerAlone(Handler.Alone command) {
    List<byte[]> arguments = reader.arguments();
    if (command instanceof Handler.Deferred deferred) {
      onThread(service.threadsOf(deferred, session.selected()), () -> answer(deferred, arguments));
      return;
    }
    int start = replies.length();
    answer(command, arguments);
    if (session.isSilent()) {
      replies.truncate(start);
    }
    reader.trust(session.isAuthenticated());
    sendIfLong(); // a short command may have a long reply
    if (session.ended) {
      finish();
    }
  }

  /** Writes more of a reply whose beginning was written. Runs on a worker. */
  private void writeMore(Handler.Rest rest) {
    try {
      if (rest.write(replies, PIECE)) {
        session.endRest();
      }
    } catch (IOException e) {
      session.selected().failed(e);
      throw new UncheckedIOException(e); // which ends the connection, because the reply is torn
    } catch (RuntimeException | Error e) {
      session.selected().failed(e);
      throw e;
    }
  }

  /** Writes the reply of a command. Runs on a worker if the command or its round does. */
  private void answer(Handler.Alone command, List<byte[]> arguments) {
    int start = replies.length();
    try {
      command.answer(session, arguments, replies);
    } catch (CommandException e) {
      fail(start, e.reply());
    } catch (DataSetRemovedException e) {
      fail(start, removed(e));
    } catch (IOException | RuntimeException | Error e) {
      session.selected().failed(e);
      service.failures.failed("a command", e);
      fail(start, "ERR the command failed; the server's log says why");
    }
  }

  private void fail(int start, String reply) {
    replies.truncate(start);
    replies.error(reply);
    service.statistics().failed(reply);
  }

  @Override
  protected void advanced() {
    boolean busy = running || isStalled();
    if (inputEnded()) { // nothing is left to read, and reading would fail
      if (!busy) {
        finish();
      }
      return;
    }
    if (channel().config().isAutoRead() == busy) {
      channel().config().setAutoRead(!busy);
    }
    if (busy || (pending == null && !reader.isInside())) {
      insideSinceNanos = 0;
    } else if (insideSinceNanos == 0) {
      insideSinceNanos = System.nanoTime();
    }
  }

  /** A client may be idle for as long as it likes, but not in the middle of a command. */
  @Override
  protected long nanosLeft(long now) {
    return insideSinceNanos == 0 || isFinished()
        ? Long.MAX_VALUE
        : insideSinceNanos + patienceNanos() - now;
  }

  @Override
  protected void writeAnswers() {
    if (running) {
      return;
    }
    replies.takeTo(this::write);
    if (answered > 0) {
      service
          .statistics()
          .answered(answered, arrivedNanos == 0 ? -1 : System.nanoTime() - arrivedNanos);
      answered = 0;
    }
    if (!isStalled()) {
      arrivedNanos = 0;
    }
  }

  @Override
  protected boolean isIdle() {
    return !running
        && round.isEmpty()
        && session.rest() == null
        && waiting == null
        && pending == null
        && !reader.isInside();
  }

  @Override
  protected void failed(Throwable cause) {
    service.failures.failed("a connection", cause);
  }
}
