package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.client.Connections.ClientConnection;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.Sending;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
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
@SuppressWarnings("FutureReturnValueIgnored") // a failure closes the connection, which is noticed
final class RespConnection extends ChannelInboundHandlerAdapter implements ClientConnection {
  /** Bytes of replies after which a round pauses so that they are sent. */
  private static final int PIECE = 64 << 10;

  /** Bytes of a round's commands that are not counted: about as many as are read at once. */
  private static final int UNCOUNTED = 16 << 10;

  private static final String BUSY =
      "BUSY too many lookups are in flight (--max-in-flight); try again";
  private static final String NESTED = "ERR MULTI calls can not be nested";
  private static final String ABORTED =
      "EXECABORT Transaction discarded because of previous errors.";
  private static final byte[] POST = "post".getBytes(US_ASCII);
  private static final byte[] HOST = "host:".getBytes(US_ASCII);

  private final RespService service;
  private final CommandReader reader;
  private final TrackedKeys tracked;
  private final LookupRound round;
  private @Nullable ChannelHandlerContext context;
  private @Nullable Session session;
  private @Nullable ReplyWriter replies;
  private @Nullable Sending sending;
  private HeldMemory.@Nullable Connection memory;
  private HeldMemory.@Nullable Share received;
  private HeldMemory.@Nullable Share values;
  private @Nullable ByteBuf pending;
  private @Nullable CommandSpec waiting;
  private @Nullable String malformed;
  private byte @Nullable [] knownName;
  private @Nullable CommandSpec known;
  private @Nullable LongAdder counter;
  private int counted;
  private int weight;
  private int paused;
  private boolean running;
  private boolean pumping;
  private boolean stalled;
  private boolean inputEnded;
  private boolean finished;
  private volatile boolean gone;
  private boolean checkingTime;
  private boolean invalidating;
  private int answered;
  private long roundBytes;
  private long arrivedNanos;
  private long insideSinceNanos;

  RespConnection(RespService service) {
    this.service = service;
    this.reader =
        new CommandReader(service.limits().bodyBytes(), !service.credentials().needsToken());
    this.tracked = new TrackedKeys(service.trackedBytes());
    this.round = new LookupRound(service, tracked);
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    HeldMemory.Connection held =
        service
            .connections()
            .memory()
            .connection(
                ctx.channel().remoteAddress() instanceof InetSocketAddress address
                    ? address.getAddress()
                    : null);
    memory = held;
    received = held.share();
    values = held.share();
    sending = new Sending(ctx, held.gathering(), service.limits().request().toNanos(), this::taken);
    replies = new ReplyWriter(ctx.alloc());
    session =
        new Session(
            service,
            tracked,
            service.newId(),
            shown(ctx.channel().remoteAddress()),
            shown(ctx.channel().localAddress()));
    service.connections().opened(this);
    service.opened(this);
    ctx.fireChannelActive();
  }

  private static String shown(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress internet
        ? internet.getAddress().getHostAddress() + ":" + internet.getPort()
        : "-";
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    finished = true;
    gone = true;
    service.connections().closed(this);
    service.closed(this);
    require(received).settle(0);
    sending().gone();
    if (!running) {
      release();
    }
    require(memory).end();
    ctx.fireChannelInactive();
  }

  /** Releases what a round holds, and what was received or written and is of no use any more. */
  private void release() {
    leave();
    round.close();
    tracked.restart(false);
    require(values).settle(0);
    replies().takeTo(ByteBuf::release);
    ByteBuf left = pending;
    pending = null;
    if (left != null) {
      left.release();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (finished || !(message instanceof ByteBuf bytes)) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (arrivedNanos == 0) {
      arrivedNanos = System.nanoTime();
      require(session).active(arrivedNanos);
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

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (!gone) {
      flush();
    }
    ctx.fireChannelReadComplete();
  }

  /** Returns what is agreed with the client of this connection, which is open. */
  Session session() {
    return require(session);
  }

  /**
   * Tells the client, if it tracks keys, that what it knows is not valid: behind all replies that
   * may come from the version before. Any thread may call it.
   */
  void invalidate() {
    if (session().tracking() != null) {
      onLoop(
          () -> {
            invalidating = true;
            if (!running && round.isEmpty() && !finished) {
              sendInvalidation();
              flush();
            }
          });
    }
  }

  /** Writes the invalidation that has waited for the end of a round. */
  private void sendInvalidation() {
    if (invalidating && !gone) {
      invalidating = false;
      if (session().tracking() != null) {
        tracked.invalidate(replies());
      }
    }
  }

  /** Reads and answers commands, until all are answered or something must be waited for. */
  private void pump() {
    if (pumping || gone) {
      return;
    }
    pumping = true;
    try {
      boolean more = true;
      while (more && !finished && !running) {
        more = advance();
      }
      if (!finished) {
        afterwards();
      }
    } finally {
      pumping = false;
    }
  }

  /** Does the next step; returns false if there is nothing to do, or not now. */
  private boolean advance() {
    if (!context().channel().isOpen()) {
      return false; // channelInactive follows
    }
    if (!context().channel().isWritable()
        || (sending().isPending() && require(memory).isCrowded())) {
      pause();
      stalled = true; // until the client has read what is pending: taken or writability retries it
      return false;
    }
    stalled = false;
    if (round.isEmpty() && waiting == null && malformed == null) {
      readCommands();
    }
    if (!round.isEmpty()) {
      runRound();
      return true;
    }
    CommandSpec next = waiting;
    if (next != null) {
      waiting = null;
      answerAlone(next);
      return true;
    }
    String wrong = malformed;
    if (wrong != null) {
      replies().error("ERR Protocol error: " + wrong);
      service.statistics().failed("ERR");
      handOver();
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
      return;
    }
    Session client = require(session);
    try {
      while (!round.isFull() && reader.read(in)) {
        insideSinceNanos = 0; // the time that the next one takes is its own
        if (!read(client)) {
          break;
        }
      }
    } catch (MalformedCommandException e) {
      malformed = String.valueOf(e.getMessage());
    }
    count();
    if (!in.isReadable()) {
      in.release();
      pending = null;
    }
    holdReceived();
  }

  /** Counts the commands that are being read, queued or answered. */
  private void holdReceived() {
    HeldMemory.Share held = require(received);
    long answering = round.isEmpty() || roundBytes <= UNCOUNTED ? 0 : roundBytes;
    long bytes = answering + (reader.isInside() ? reader.held() : 0) + queuedBytes();
    if (!held.reserveUpTo(bytes)) {
      malformed = "too much memory is held for clients (--max-held); try again";
    }
    held.settle(bytes);
  }

  /** Takes the command just read; returns false if it must wait for the round. */
  private boolean read(Session client) {
    answered++;
    roundBytes += reader.held();
    client.next();
    try {
      CommandSpec spec = command();
      client.gave(spec);
      if (!spec.needsNoAuthentication() && !client.isAuthenticated()) {
        reader.trust(false); // its token may have been removed
        throw new CommandException("NOAUTH Authentication required.");
      }
      if (spec.handler() instanceof Handler.NeverAnswered refused) {
        requireHere(spec, false); // a replica would not carry it out, either
        throw new CommandException(refused.reply());
      }
      counted++;
      Session.Transaction begun = client.transaction();
      if (begun != null && (!spec.isUnqueued() || isOf(spec, "exec") || isOf(spec, "multi"))) {
        readInside(client, begun, spec);
        return true;
      }
      if (client.isSilent() && !(spec.handler() instanceof Handler.Direct)) {
        return true; // what is only read need not be read
      }
      if (spec.handler() instanceof Handler.Queued queued) {
        requireHere(spec, client.acceptsReplica());
        queued.queue(reader, round);
        return true;
      }
      waiting = spec;
      return false;
    } catch (CommandException e) {
      if (isHttp(reader.argument(0))) {
        cut(); // a web page that makes a browser speak to this port
        return false;
      }
      Session.Transaction begun = client.transaction();
      if (begun != null) {
        begun.refuse();
      }
      addError(e.reply());
      return true;
    }
  }

  /**
   * Requires that this server answers the keys of the command just read.
   *
   * @param fromReplica whether it may be answered by a replica
   */
  private void requireHere(CommandSpec spec, boolean fromReplica) throws CommandException {
    ClusterView cluster = service.clusterView();
    if (cluster != null) {
      RespCluster.requireHere(cluster, spec.slot(reader, CommandSpec.NO_SLOT), fromReplica);
    }
  }

  private static boolean isOf(CommandSpec spec, String name) {
    return spec.name().equals(name);
  }

  /** Queues a command of a transaction, or ends the transaction by answering all of it. */
  private void readInside(Session client, Session.Transaction begun, CommandSpec spec)
      throws CommandException {
    if (isOf(spec, "multi")) {
      addError(NESTED); // unlike other errors, it leaves the transaction as it is
    } else if (isOf(spec, "exec")) {
      client.transaction(null);
      exec(client, begun);
    } else if (!spec.isQueueable()) {
      throw new CommandException("ERR Command not allowed inside a transaction");
    } else {
      if (begun.commands().size() >= service.limits().batchKeys()
          || begun.bytes() + reader.held() > service.limits().bodyBytes()) {
        throw new CommandException(
            "ERR the transaction is larger than --max-batch or --max-body permits");
      }
      requireHere(spec, client.acceptsReplica());
      if (!begun.isBroken()) {
        begun.add(spec, reader.arguments(), reader.held());
      }
      if (!client.isSilent()) {
        round.addPlain((found, out) -> out.simple("QUEUED"));
      }
    }
  }

  private void exec(Session client, Session.Transaction of) throws CommandException {
    Map<Selectable, String> watched = Map.copyOf(client.watched());
    client.watched().clear();
    if (of.isBroken()) {
      addError(ABORTED);
      return;
    }
    if (client.isSilent()) {
      return;
    }
    ClusterView cluster = service.clusterView();
    if (cluster != null) {
      int slot = CommandSpec.NO_SLOT;
      for (Session.Transaction.Queued each : of.commands()) {
        slot = each.spec().slot(each, slot);
      }
      RespCluster.requireHere(cluster, slot, client.acceptsReplica());
    }
    roundBytes += of.bytes();
    int count = of.commands().size();
    round.begin();
    Selectable selected = client.selected();
    round.add(
        (found, out) -> {
          requireUnchanged(watched, selected);
          out.array(count);
        });
    round.enclose(true);
    for (Session.Transaction.Queued each : of.commands()) {
      if (each.spec().handler() instanceof Handler.Queued queued) {
        try {
          queued.queue(each, round);
        } catch (CommandException e) {
          addError(e.reply());
        }
      } else if (each.spec().handler() instanceof Handler.Direct direct) {
        round.addPlain((found, out) -> direct.answer(client, each.arguments(), out));
      }
    }
    round.enclose(false);
  }

  /**
   * Requires that the versions that were watched are those of the round.
   *
   * @throws CommandException without a reply if not
   */
  private void requireUnchanged(Map<Selectable, String> watched, Selectable selected)
      throws CommandException {
    for (Map.Entry<Selectable, String> each : watched.entrySet()) {
      String id;
      if (each.getKey() == selected) {
        id = round.version().database().statistics().databaseId();
      } else {
        try (Lease lease = each.getKey().acquire()) {
          id = lease.database().statistics().databaseId();
        }
      }
      if (!id.equals(each.getValue())) {
        throw new CommandException(CommandException.NOTHING);
      }
    }
  }

  private void addError(String reply) {
    service.statistics().failed(reply);
    if (!session().isSilent()) {
      round.addPlain((found, out) -> out.error(reply));
    }
  }

  /**
   * Returns the command just read. Most commands are the same as the one before, whose array is
   * then that of the name.
   */
  private CommandSpec command() throws CommandException {
    byte[] name = reader.argument(0);
    CommandSpec last = known;
    if (name == knownName && last != null && last.accepts(reader.count())) {
      return last;
    }
    count();
    CommandSpec spec = CommandTable.of(reader);
    boolean alone = spec.subcommands().isEmpty() && !spec.isSubcommand();
    knownName = alone ? name : null;
    known = spec;
    counter = service.statistics().counter(spec);
    return spec;
  }

  /** Counts the commands that were read since the last time, all of which are the same. */
  private void count() {
    LongAdder of = counter;
    if (of != null && counted > 0) {
      of.add(counted);
    }
    counted = 0;
  }

  private static boolean isHttp(byte[] name) {
    byte[] lower = Arguments.name(name).getBytes(US_ASCII);
    return Arrays.equals(lower, POST) || Arrays.equals(lower, HOST);
  }

  /** Makes room for the lookups of others while the client does not read. */
  private void pause() {
    if (weight != 0) {
      paused = weight;
      service.counts().leave(weight);
      weight = 0;
    }
  }

  private void runRound() {
    if (round.isPlain()) {
      refuse("");
      return;
    }
    if (paused != 0) {
      weight = paused;
      paused = 0;
      service.counts().enterAgain(weight);
    } else if (weight == 0) {
      int wanted = round.weight();
      if (!service.counts().enter(wanted)) {
        refuse(BUSY);
        return;
      }
      weight = wanted;
    }
    ServedVersion version;
    try {
      version = round.isOpen() ? round.version() : round.open(require(session).selected());
    } catch (DataSetRemovedException e) {
      refuse(removed(e));
      return;
    }
    if (!version.badSchema().isEmpty()) {
      refuse(version.badSchema());
      return;
    }
    if (version.inMemory() && !service.async()) {
      round.run(replies(), PIECE, require(values));
      ran();
    } else if (service.async() && round.isSingle()) {
      runSingle(version);
    } else {
      onThread(service.workers(), () -> round.run(replies(), PIECE, require(values)));
    }
  }

  /** Runs a task on another thread, and goes on when it has ended. */
  private void onThread(Executor threads, Runnable task) {
    running = true;
    try {
      threads.execute(
          () -> {
            if (!gone) {
              task.run();
            }
            onLoop(this::delivered);
          });
    } catch (RejectedExecutionException e) { // the service has ended
      running = false;
      cut();
      close();
    }
  }

  /** Runs a task on the event loop; after its end, releases what the connection holds instead. */
  private void onLoop(Runnable task) {
    try {
      context().executor().execute(task);
    } catch (RejectedExecutionException e) {
      round.close();
    }
  }

  /** Answers the commands of the round: by an error, unless they need no data. */
  private void refuse(String error) {
    round.refuse(error, replies());
    close();
  }

  private static String removed(DataSetRemovedException e) {
    return CommandException.inUtf8("ERR " + e.getMessage() + "; SELECT another").reply();
  }

  private void runSingle(ServedVersion version) {
    running = true;
    CompletableFuture<byte @Nullable []> later;
    try {
      later = version.database().getAsync(round.singleKey(), require(values));
    } catch (RuntimeException | Error e) {
      later = CompletableFuture.failedFuture(e);
    }
    later.whenComplete(
        (value, failure) -> {
          Throwable cause =
              failure instanceof CompletionException && failure.getCause() != null
                  ? failure.getCause()
                  : failure;
          if (context().executor().inEventLoop()) {
            found(value, cause);
          } else {
            onLoop(() -> found(value, cause));
          }
        });
  }

  private void found(byte @Nullable [] value, @Nullable Throwable failure) {
    if (!gone) {
      round.answerSingle(value, failure, replies());
    }
    delivered();
  }

  /** Called on the event loop when a round has run elsewhere. */
  private void delivered() {
    running = false;
    if (gone) {
      release();
      return;
    }
    ran();
    if (!pumping) {
      pump();
      flush();
    }
  }

  /** Hands over what a round has written, and closes it at its end. */
  private void ran() {
    require(values).settle(0);
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
    if (replies().length() >= PIECE) {
      handOver();
      sending().flush();
    }
  }

  /** Returns the memory that the commands of a transaction take. */
  private long queuedBytes() {
    Session.Transaction begun = require(session).transaction();
    return begun == null ? 0 : begun.bytes();
  }

  private void close() {
    leave();
    round.close();
    require(received).settle(queuedBytes());
    sendInvalidation();
  }

  private void leave() {
    paused = 0;
    if (weight != 0) {
      service.counts().leave(weight);
      weight = 0;
    }
  }

  /** Answers a command that is not looked up with others. */
  private void answerAlone(CommandSpec spec) {
    Session client = require(session);
    List<byte[]> arguments = reader.arguments();
    if (spec.handler() instanceof Handler.Direct direct) {
      int start = replies().length();
      try {
        direct.answer(client, arguments, replies());
      } catch (CommandException e) {
        fail(start, e.reply());
      } catch (DataSetRemovedException e) {
        fail(start, removed(e));
      }
      if (client.isSilent()) {
        replies().truncate(start);
      }
      reader.trust(client.isAuthenticated());
      sendIfLong(); // a short command may have a long reply
      if (client.isEnded()) {
        handOver();
        finish();
      }
    } else if (spec.handler() instanceof Handler.Deferred deferred) {
      Selectable selected = client.selected();
      onThread(service.threadsOf(deferred), () -> answer(deferred, selected, arguments));
    }
  }

  /** Runs on a worker. */
  private void answer(Handler.Deferred deferred, Selectable selected, List<byte[]> arguments) {
    int start = replies().length();
    try {
      deferred.answer(selected, arguments, replies());
    } catch (CommandException e) {
      fail(start, e.reply());
    } catch (DataSetRemovedException e) {
      fail(start, removed(e));
    } catch (IOException | RuntimeException | Error e) {
      service.failures().failed("a command", e);
      fail(start, "ERR the command failed; the server's log says why");
    }
  }

  private void fail(int start, String reply) {
    replies().truncate(start);
    replies().error(reply);
    service.statistics().failed(reply);
  }

  /** Decides whether more is read, and how long to wait for it. */
  private void afterwards() {
    boolean busy = running || stalled;
    if (inputEnded) { // nothing is left to read, and reading would fail
      if (!busy) {
        handOver();
        finish();
      }
      return;
    }
    context().channel().config().setAutoRead(!busy);
    if (busy) {
      return;
    }
    if (reader.isInside() || pending != null) {
      if (insideSinceNanos == 0) {
        insideSinceNanos = System.nanoTime();
      }
      checkTime();
    } else {
      insideSinceNanos = 0;
    }
  }

  /** Closes a connection whose command takes too long to arrive; otherwise checks again. */
  private void checkTime() {
    if (checkingTime || insideSinceNanos == 0 || finished) {
      return;
    }
    long left = insideSinceNanos + service.limits().request().toNanos() - System.nanoTime();
    if (left <= 0) {
      cut();
      return;
    }
    checkingTime = true;
    context()
        .executor()
        .schedule(
            () -> {
              checkingTime = false;
              checkTime();
            },
            left + 1_000_000,
            TimeUnit.NANOSECONDS);
  }

  private void handOver() {
    replies().takeTo(sending()::write);
  }

  private void flush() {
    if (!running) {
      handOver();
      if (answered > 0) {
        service
            .statistics()
            .answered(answered, arrivedNanos == 0 ? -1 : System.nanoTime() - arrivedNanos);
        answered = 0;
      }
      if (!stalled) {
        arrivedNanos = 0;
      }
    }
    sending().flush();
    while (stalled
        && !pumping
        && !finished
        && !sending().isPending()
        && context().channel().isOpen()) {
      pump(); // all was sent immediately, and nothing else will retry what waits
      if (!running) {
        handOver();
      }
      sending().flush();
    }
  }

  /** Called when everything written before a flush was sent. */
  private void taken() {
    if (gone) {
      return;
    }
    pump();
    flush();
  }

  private void finish() {
    if (finished) {
      return;
    }
    finished = true;
    ByteBuf left = pending;
    pending = null;
    if (left != null) {
      left.release();
    }
    require(received).settle(0);
    sending().end(inputEnded);
  }

  @Override
  public void cut() {
    context().close();
  }

  @Override
  public void endIfIdle() {
    context()
        .executor()
        .execute(
            () -> {
              if (!finished
                  && !running
                  && round.isEmpty()
                  && pending == null
                  && !reader.isInside()) {
                finish();
              }
            });
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (ctx.channel().isWritable() && !gone && stalled && !pumping) {
      pump();
      flush();
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent) {
      inputEnded = true;
      if (finished) {
        sending().end(true);
      } else {
        pump();
        flush();
      }
    } else if (event instanceof SslHandshakeCompletionEvent handshake && !handshake.isSuccess()) {
      ctx.close();
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException) && !(cause instanceof DecoderException)) {
      service.failures().failed("a connection", cause);
    }
    ctx.close();
  }

  private Sending sending() {
    return require(sending);
  }

  private ReplyWriter replies() {
    return require(replies);
  }

  private ChannelHandlerContext context() {
    return require(context);
  }

  private static <T> T require(@Nullable T opened) {
    if (opened == null) {
      throw new IllegalStateException("the connection is not open");
    }
    return opened;
  }
}
