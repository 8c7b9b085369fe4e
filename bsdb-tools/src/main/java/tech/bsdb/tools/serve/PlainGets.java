package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;

/**
 * Answers plain GETs of keys straight from the bytes of a connection, and passes everything else on
 * to the decoder as it came. Confined to its connection's event loop.
 *
 * <p>It knows no headers. A client sends the same header lines with each request, so this keeps the
 * bytes from the version of the request line through the empty line of a request that the normal
 * way has found to be a plain GET: one whose headers change nothing about its answer. A later
 * request is answered here if it is {@code GET}, the prefix of the same data set, a key that needs
 * no decoding, and then exactly these bytes. So all rules about headers are those of the normal
 * way.
 *
 * <p>The answer is the same as that of the normal way. Whatever it cannot be made of in memory and
 * at once (a value that is long or not in memory, a key of another node, a failure) takes the
 * normal way, and so does everything while the connection has a request that is not answered.
 */
final class PlainGets extends ChannelInboundHandlerAdapter {
  /** Maximum bytes of header lines that are kept. */
  private static final int MOST_HEADERS = 1 << 10;

  /** Maximum bytes of a key. */
  private static final int MOST_KEY = 1 << 10;

  /** A client whose headers were kept in vain so often changes them with each request. */
  private static final int MOST_IN_VAIN = 8;

  private static final byte[] GET = "GET ".getBytes(ISO_8859_1);
  private static final byte[] VERSION = " HTTP/1.1\r\n".getBytes(ISO_8859_1);

  /** The bytes that stand for themselves in a path: visible ASCII, but not these three. */
  private static final boolean[] PLAIN = new boolean[256];

  static {
    Arrays.fill(PLAIN, '!', '~' + 1, true);
    PLAIN['%'] = false;
    PLAIN['?'] = false;
    PLAIN['#'] = false;
  }

  private final HttpConnection connection;
  private final Requests requests;
  private final @Nullable Credentials credentials;
  private final HeldMemory.Share memory;
  private @Nullable Pattern pattern;
  private int keptInVain;

  /**
   * What a plain GET looks like, apart from its key.
   *
   * @param routes the routes of the keys of its data set
   * @param before what precedes the key
   * @param behind what follows the key
   * @param tokensRead how often the tokens had been reloaded when this was found to be plain
   */
  private record Pattern(KeyRoutes routes, byte[] before, byte[] behind, long tokensRead) {}

  /**
   * Answers requests of a connection.
   *
   * @param credentials what clients must have; null if they need nothing
   */
  PlainGets(HttpConnection connection, Requests requests, @Nullable Credentials credentials) {
    this.connection = connection;
    this.memory = connection.share();
    this.requests = requests;
    this.credentials = credentials;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (!(message instanceof ByteBuf in) || !connection.isQuiet()) {
      ctx.fireChannelRead(message);
      return;
    }
    Pattern known = known();
    try {
      while (known != null && in.isReadable() && answer(known, ctx, in)) {
        // the rest of the buffer
      }
    } catch (RuntimeException | Error e) {
      in.release();
      throw e;
    }
    if (!in.isReadable()) {
      in.release();
    } else if (keptInVain > MOST_IN_VAIN || !connection.isQuiet()) {
      ctx.fireChannelRead(in);
    } else {
      learn(pattern, ctx, in);
    }
  }

  /** Returns what a plain GET looks like; null if that is not known, or not any more. */
  private @Nullable Pattern known() {
    Pattern known = pattern;
    if (known != null && known.tokensRead != tokensRead()) {
      pattern = null;
    }
    return pattern;
  }

  private long tokensRead() {
    return credentials == null ? 0 : credentials.tokensRead();
  }

  /**
   * Answers the requests at the beginning of a buffer, as many as are plain and as one write takes.
   *
   * @return whether more of them may be answered here
   */
  private boolean answer(Pattern known, ChannelHandlerContext ctx, ByteBuf in) {
    Lookups lookups = known.routes.lookups();
    if (lookups.counts().isFull()) {
      return false;
    }
    long began = System.nanoTime();
    PlainAnswers answers = PlainAnswers.ofLoop();
    answers.clear();
    int to = answers.read(in);
    int at = 0;
    try (Lease lease = lookups.acquire()) {
      PlainHeads heads = lookups.served(lease).plain();
      for (int next = 0; heads != null && next >= 0; ) {
        at = next;
        next = answers.isFull() ? -1 : answer(known, lease.database(), heads, answers, at, to);
      }
    } catch (IllegalStateException e) { // removed or closed, which the normal way says
      pattern = null;
      return false;
    }
    if (at == 0) {
      return false;
    }
    in.skipBytes(at);
    connection.write(answers.toBuffer(ctx.alloc()));
    long now = System.nanoTime();
    lookups.counts().found(answers.present(), answers.absent());
    requests.answered(answers.present(), answers.absent(), now - began);
    connection.active(now);
    keptInVain = 0;
    return connection.isQuiet();
  }

  /**
   * Answers a request.
   *
   * @return where the next one begins; -1 if this one is not answered
   */
  private int answer(
      Pattern known, Database database, PlainHeads heads, PlainAnswers answers, int from, int to) {
    byte[] bytes = answers.requests();
    byte[] before = known.before;
    byte[] behind = known.behind;
    int begin = from + before.length;
    int last = Math.min(to - behind.length, begin + MOST_KEY);
    if (last < begin || !Arrays.equals(bytes, from, begin, before, 0, before.length)) {
      return -1;
    }
    int end = begin;
    while (end < last && PLAIN[bytes[end] & 0xff]) {
      end++;
    }
    int next = end + behind.length;
    if (!Arrays.equals(bytes, end, next, behind, 0, behind.length)) {
      return -1;
    }
    byte[] key = Arrays.copyOfRange(bytes, begin, end);
    try {
      known.routes.lookups().requireHere(key);
    } catch (ElsewhereException e) {
      return -1;
    }
    return answers.add(database, key, heads, memory) ? next : -1;
  }

  /**
   * Passes on a buffer, the first request of it alone if it may be a plain GET of a new kind, and
   * keeps its headers if it was one.
   */
  private void learn(@Nullable Pattern known, ChannelHandlerContext ctx, ByteBuf in) {
    PlainAnswers loop = PlainAnswers.ofLoop();
    int to = loop.read(in);
    byte[] bytes = loop.requests();
    int behind = behindKey(bytes, to);
    int end = behind < 0 ? -1 : headEnd(bytes, behind + VERSION.length, to);
    if (end < 0 || (known != null && isKnown(known, bytes, behind, end))) {
      ctx.fireChannelRead(in);
      return;
    }
    byte[] kept = Arrays.copyOfRange(bytes, behind, end);
    long tokensRead = tokensRead();
    boolean alone = end == in.readableBytes();
    connection.plain(null);
    ctx.fireChannelRead(alone ? in : in.readRetainedSlice(end));
    KeyRoutes routes = connection.plain();
    if (routes != null) {
      keptInVain++;
      byte[] before = ("GET " + routes.prefix()).getBytes(ISO_8859_1);
      pattern = new Pattern(routes, before, kept, tokensRead);
    }
    if (!alone) {
      ctx.fireChannelRead(in);
    }
  }

  /** Whether the request differs from the known ones in nothing but its key. */
  private static boolean isKnown(Pattern known, byte[] bytes, int behind, int end) {
    byte[] before = known.before;
    return Arrays.equals(bytes, behind, end, known.behind, 0, known.behind.length)
        && behind >= before.length
        && Arrays.equals(bytes, 0, before.length, before, 0, before.length);
  }

  /** Returns where the version of a GET's first line begins; -1 if it is none or not all there. */
  private static int behindKey(byte[] bytes, int to) {
    int at = GET.length;
    if (at > to || !Arrays.equals(bytes, 0, at, GET, 0, at)) {
      return -1;
    }
    while (at < to && PLAIN[bytes[at] & 0xff]) {
      at++;
    }
    int end = at + VERSION.length;
    return end <= to && Arrays.equals(bytes, at, end, VERSION, 0, VERSION.length) ? at : -1;
  }

  /**
   * Returns where header lines end, behind an empty line; -1 if there is none in reach, or if they
   * have a CR or LF that does not end a line, of which a decoder may make something else.
   */
  private static int headEnd(byte[] bytes, int from, int to) {
    int most = Math.min(to, from + MOST_HEADERS);
    int line = from;
    for (int at = from; at + 1 < most; at++) {
      if (bytes[at] == '\r' && bytes[at + 1] == '\n') {
        if (at == line) {
          return at + 2;
        }
        line = at + 2;
        at++;
      } else if (bytes[at] == '\r' || bytes[at] == '\n') {
        return -1;
      }
    }
    return -1;
  }
}
