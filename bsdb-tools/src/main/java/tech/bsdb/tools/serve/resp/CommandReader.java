package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.buffer.ByteBuf;
import io.netty.util.ByteProcessor;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads commands from the bytes that a connection receives: arrays of bulk strings, or inline
 * commands. A command may arrive in any number of pieces. Limits and errors are those of Redis 7,
 * except that a command as a whole is bounded, too. Not thread-safe.
 */
final class CommandReader {
  /** Maximum bytes of an inline command, and of a line that states a length. */
  private static final int MAX_LINE = 64 << 10;

  /** Maximum bytes of an argument, as in Redis. */
  private static final long MAX_BULK = 512L << 20;

  /** Limits for clients that have not authenticated. */
  private static final int STRANGERS_ARGUMENTS = 10;

  private static final int STRANGERS_BULK = 16_384;

  /** What an argument takes beside its bytes, for the bound on a command. */
  private static final int OVERHEAD = 32;

  private static final int NONE = -1;

  /** Most digits of a number that cannot overflow. */
  private static final int MOST_DIGITS = 18;

  /** Bytes that are looked at first for a command: as many as most commands have. */
  private static final int USUAL = 128;

  /** Bytes that are looked at first for commands that are alike: many more may follow. */
  private static final int USUAL_ALIKE = 1024;

  /** Bytes that are looked at for each argument that is missing. */
  private static final int USUAL_ARGUMENT = 64;

  private static final byte[] EMPTY = new byte[0];

  /** Where each thread looks at what was received. */
  private static final FastThreadLocal<byte[]> WINDOW =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[MAX_LINE + 2];
        }
      };

  private final long maxBytes;
  private List<byte[]> arguments = new ArrayList<>();

  /** An argument of which a part has arrived. */
  private byte[] begun = EMPTY;

  private int filled;
  private byte[] lastName = EMPTY;

  /** What precedes the length of the last argument of a command of two. */
  private byte[] lastHead = EMPTY;

  private byte[] lastHeadName = EMPTY;
  private long missing;
  private long bulk = NONE;

  /** The number that the last line states; {@code Long.MIN_VALUE} if it is none. */
  private long stated;

  private long bytes;
  private boolean trusted;
  private boolean complete;
  private boolean passedEmpty;

  /** Bytes that are no command; the connection cannot go on. */
  static final class MalformedCommandException extends Exception {
    private static final long serialVersionUID = 1;

    /**
     * Bytes that are no command.
     *
     * @param reason what Redis says about them behind {@code ERR Protocol error: }
     */
    MalformedCommandException(String reason) {
      super(reason, null, false, false);
    }
  }

  /**
   * Creates a reader.
   *
   * @param maxBytes maximum bytes of a command, with 32 bytes added for each argument
   * @param trusted whether the client needs no authentication
   */
  CommandReader(long maxBytes, boolean trusted) {
    this.maxBytes = maxBytes;
    this.trusted = trusted;
  }

  /** Sets whether the client has authenticated; until then, only short commands are read. */
  void trust(boolean authenticated) {
    trusted = authenticated;
  }

  /** Returns the command that was read, which is not changed afterwards. */
  List<byte[]> arguments() {
    return arguments;
  }

  /** Whether a command without any words, which is not answered, came before the one just read. */
  boolean hasPassedEmpty() {
    return passedEmpty;
  }

  /** Whether a part of a command has been read. */
  boolean isInside() {
    return !complete && (missing > 0 || !arguments.isEmpty());
  }

  /** Returns the memory that the command takes as far as it has arrived. */
  long held() {
    return bulk == NONE ? bytes : bytes - bulk + begun.length;
  }

  /**
   * Reads the next command, or what has arrived of it. What was read is consumed; the rest of an
   * incomplete line remains.
   *
   * @return whether a command is complete
   * @throws MalformedCommandException if the bytes are no command
   */
  boolean read(ByteBuf in) throws MalformedCommandException {
    if (complete) {
      begin();
    }
    byte[] window = WINDOW.get();
    int most = USUAL;
    while (!complete) {
      if (bulk != NONE) {
        if (!readRest(in)) {
          return false;
        }
      } else if (!in.isReadable()) {
        return false;
      } else if (missing == 0 && in.getByte(in.readerIndex()) != '*') {
        if (!readInline(in)) {
          return false;
        }
      } else {
        int length = Math.min(in.readableBytes(), most);
        in.getBytes(in.readerIndex(), window, 0, length);
        int read = read(window, length);
        in.skipBytes(read);
        if (read == 0 && length == in.readableBytes()) {
          return false;
        }
        long expected = read == 0 ? window.length : USUAL_ARGUMENT * missing;
        most = (int) Math.min(window.length, Math.max(USUAL, expected));
      }
    }
    return true;
  }

  /**
   * Reads lines and the arguments behind them, up to one of which only a part is there, or the end
   * of the command; returns the bytes read.
   */
  private int read(byte[] window, int end) throws MalformedCommandException {
    int at = 0;
    while (!complete && bulk == NONE && at < end && (missing > 0 || window[at] == '*')) {
      int from = line(window, at, end);
      if (from == NONE) {
        if (end - at > MAX_LINE) {
          String what = missing == 0 ? "mbulk" : "bulk";
          throw new MalformedCommandException("too big " + what + " count string");
        }
        break;
      }
      if (missing == 0) {
        beginArguments();
        at = from;
        continue;
      }
      beginArgument(window[at] & 0xFF);
      at = from;
      if (from + stated + 2 <= end) {
        int to = from + (int) stated;
        add(arguments.isEmpty() ? name(window, from, to) : Arrays.copyOfRange(window, from, to));
        at = to + 2;
      }
    }
    return at;
  }

  private void beginArguments() throws MalformedCommandException {
    if (stated > Integer.MAX_VALUE || stated == Long.MIN_VALUE) {
      throw new MalformedCommandException("invalid multibulk length");
    }
    if (stated > STRANGERS_ARGUMENTS && !trusted) {
      throw new MalformedCommandException("unauthenticated multibulk length");
    }
    missing = Math.max(0, stated);
    passedEmpty |= missing == 0;
  }

  /**
   * Begins an argument of the length just read.
   *
   * @param type the first byte of the line that states the length
   */
  private void beginArgument(int type) throws MalformedCommandException {
    if (type != '$') {
      throw new MalformedCommandException("expected '$', got '" + shown(type) + "'");
    }
    if (stated < 0 || stated > MAX_BULK) {
      throw new MalformedCommandException("invalid bulk length");
    }
    if (stated > STRANGERS_BULK && !trusted) {
      throw new MalformedCommandException("unauthenticated bulk length");
    }
    bytes += stated + OVERHEAD;
    if (bytes > maxBytes) {
      throw new MalformedCommandException(
          "the command is longer than " + maxBytes + " bytes, the limit set by --max-body");
    }
    bulk = stated;
  }

  private static String shown(int octet) {
    return octet == 0 ? " " : String.valueOf((char) octet); // a byte, and no line breaks
  }

  /** Returns a command's name, whose array tells the connection that it is the same command. */
  private byte[] name(byte[] window, int from, int to) {
    if (!Arrays.equals(window, from, to, lastName, 0, lastName.length)) {
      lastName = Arrays.copyOfRange(window, from, to);
    }
    return lastName;
  }

  /**
   * Reads the number that a line states behind its first byte, in the only form that Redis accepts.
   *
   * @return where the next line begins; {@link #NONE} if the line is incomplete
   */
  private int line(byte[] window, int from, int end) {
    int at = window[from] == '\r' ? from : from + 1;
    int last = Math.min(end, at + MOST_DIGITS);
    long number = 0;
    while (at < last && window[at] >= '0' && window[at] <= '9') {
      number = 10 * number + window[at++] - '0';
    }
    boolean isUsual = at > from + 1 && (window[from + 1] != '0' || at == from + 2);
    while (at < end && window[at] != '\r') {
      isUsual = false;
      at++;
    }
    if (at + 1 >= end) {
      return NONE;
    }
    stated = isUsual ? number : number(Arrays.copyOfRange(window, Math.min(from + 1, at), at));
    return at + 2;
  }

  private static long number(byte[] digits) {
    try {
      return Arguments.integer(digits);
    } catch (CommandException e) {
      return Long.MIN_VALUE;
    }
  }

  /**
   * Reads commands that differ from the one just read in their last argument alone, which is the
   * second, as long as such commands have arrived as a whole, and adds them to a round.
   *
   * @param step answers each
   * @return what the commands have {@link #held}
   */
  long readAlike(ByteBuf in, LookupRound round, LookupRound.KeyStep step) {
    if (!trusted || arguments.size() != 2 || arguments.get(0) != lastName) {
      return 0;
    }
    byte[] window = WINDOW.get();
    byte[] head = head();
    bytes = (long) lastName.length + OVERHEAD; // of each, before its key
    long held = 0;
    int most = USUAL_ALIKE;
    int read = in.readableBytes();
    while (read > 0 && in.isReadable() && !round.isFull()) {
      int end = Math.min(in.readableBytes(), most);
      in.getBytes(in.readerIndex(), window, 0, end);
      read = 0;
      while (!round.isFull()) {
        int from = isHead(head, window, read, end) ? line(window, read + head.length, end) : NONE;
        long size = bytes + stated + OVERHEAD;
        if (from == NONE || stated < 0 || stated > end - from - 2 || size > maxBytes) {
          break;
        }
        int to = from + (int) stated;
        round.addAlone(Arrays.copyOfRange(window, from, to), step);
        held += size;
        read = to + 2;
      }
      in.skipBytes(read);
      most = Math.min(4 * most, window.length);
    }
    return held;
  }

  private static boolean isHead(byte[] head, byte[] window, int from, int end) {
    int to = from + head.length;
    return to < end && window[to] == '$' && Arrays.equals(window, from, to, head, 0, head.length);
  }

  /** Returns the bytes of a command of two arguments up to the length of its second. */
  private byte[] head() {
    if (lastHeadName != lastName) {
      String name = new String(lastName, ISO_8859_1);
      lastHead = ("*2\r\n$" + lastName.length + "\r\n" + name + "\r\n").getBytes(ISO_8859_1);
      lastHeadName = lastName;
    }
    return lastHead;
  }

  private void begin() {
    arguments = new ArrayList<>(4);
    complete = false;
    passedEmpty = false;
    bytes = 0;
  }

  /** Reads what has arrived of an argument; returns whether it is complete. */
  private boolean readRest(ByteBuf in) {
    int whole = (int) bulk;
    int more = Math.min(in.readableBytes(), whole - filled);
    if (filled + more > begun.length) {
      // grows with what arrives, not with what was announced
      int capacity = (int) Math.min(whole, Math.max(filled + more, 2L * begun.length));
      begun = Arrays.copyOf(begun, capacity);
    }
    in.readBytes(begun, filled, more);
    filled += more;
    if (filled < whole || in.readableBytes() < 2) {
      return false;
    }
    in.skipBytes(2);
    add(begun.length == whole ? begun : Arrays.copyOf(begun, whole));
    filled = 0;
    begun = EMPTY;
    return true;
  }

  private void add(byte[] argument) {
    arguments.add(argument);
    missing--;
    bulk = NONE;
    complete = missing == 0;
  }

  /** Reads an inline command; returns false if the line is incomplete. */
  private boolean readInline(ByteBuf in) throws MalformedCommandException {
    int start = in.readerIndex();
    int end =
        in.forEachByte(start, Math.min(in.readableBytes(), MAX_LINE + 1), ByteProcessor.FIND_LF);
    if (end < 0) {
      if (in.readableBytes() > MAX_LINE) {
        throw new MalformedCommandException("too big inline request");
      }
      return false;
    }
    int length = end - start;
    if (length > 0 && in.getByte(end - 1) == '\r') {
      length--;
    }
    byte[] line = new byte[length];
    in.getBytes(start, line);
    in.readerIndex(end + 1);
    arguments = InlineWords.split(line);
    for (byte[] word : arguments) {
      bytes += word.length + OVERHEAD;
    }
    complete = !arguments.isEmpty();
    passedEmpty |= !complete;
    return true;
  }
}
