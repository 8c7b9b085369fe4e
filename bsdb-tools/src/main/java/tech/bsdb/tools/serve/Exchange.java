package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** A request and its answer. Belongs to its connection's event loop. */
final class Exchange {
  private final HttpConnection conversation;
  private final long beganNanos;
  private final String method;
  private final String uri;
  private final boolean http10;
  private final HeldMemory.Share memory;
  private boolean keepAlive;
  private @Nullable Action action;
  private @Nullable Reply reply;
  private boolean ended;
  private long written;
  private long bodyBytes;

  Exchange(
      HttpConnection conversation, String method, String uri, boolean http10, boolean keepAlive) {
    this.conversation = conversation;
    this.beganNanos = System.nanoTime();
    this.method = method;
    this.uri = uri;
    this.http10 = http10;
    this.memory = conversation.share();
    this.keepAlive = keepAlive;
  }

  /** When the request's head was there. */
  long beganNanos() {
    return beganNanos;
  }

  String method() {
    return method;
  }

  boolean isHead() {
    return method.equals("HEAD");
  }

  /** The target, as it came. */
  String uri() {
    return uri;
  }

  boolean http10() {
    return http10;
  }

  /** Whether the connection goes on behind this exchange. */
  boolean keepAlive() {
    return keepAlive;
  }

  void closeAfterwards() {
    keepAlive = false;
  }

  @Nullable Action action() {
    return action;
  }

  void action(Action answeredBy) {
    this.action = answeredBy;
  }

  /** The whole answer, null as long as there is none. */
  @Nullable Reply reply() {
    return reply;
  }

  /** Sets the answer, on the event loop; only the first counts. */
  void reply(Reply answer) {
    if (reply == null) {
      reply = answer;
    }
  }

  /** Whether an answer in pieces was written to its end. */
  boolean ended() {
    return ended;
  }

  void end() {
    ended = true;
  }

  /** The address of the client. */
  String client() {
    return conversation.client();
  }

  /** What is held for the answer, until it is handed to the connection. */
  HeldMemory.Share memory() {
    return memory;
  }

  /** Something else to be held for the client. */
  HeldMemory.Share share() {
    return conversation.share();
  }

  /** Bytes of the answer's body that were written. */
  long written() {
    return written;
  }

  void count(long bytes) {
    written += bytes;
  }

  /** Bytes of the request's body that came. */
  long bodyBytes() {
    return bodyBytes;
  }

  void bodyBytes(long bytes) {
    bodyBytes = bytes;
  }

  /** Completes the exchange with a whole answer, from any thread. */
  void complete(Reply answer) {
    conversation.complete(this, answer);
  }

  /** Runs something on the event loop of the exchange. */
  void onLoop(Runnable task) {
    conversation.onLoop(task);
  }

  /** Runs something on the event loop of the exchange, in a while. */
  void later(Runnable task, long millis) {
    conversation.later(task, millis);
  }

  /** How long an answer may come to a halt. */
  long patienceNanos() {
    return conversation.patienceNanos();
  }

  /** Begins an answer in pieces. On the event loop, while this exchange is the first in line. */
  void beginPieces(int status, MediaType type, String headers) {
    conversation.beginPieces(this, status, type, headers);
  }

  /**
   * Writes a piece of the body, on the event loop. What was held for the exchange is held for the
   * connection from then on, until the client has taken the piece.
   *
   * @return whether the client takes more; else {@link Action#resume} tells when
   */
  boolean piece(ByteBuf bytes, boolean last) {
    return conversation.piece(this, bytes, last);
  }

  /** Cuts the connection, so that the client sees that the answer is not whole. */
  void cut() {
    conversation.cut();
  }

  /** A buffer for a piece. */
  ByteBuf buffer(int capacity) {
    return conversation.buffer(capacity);
  }
}
