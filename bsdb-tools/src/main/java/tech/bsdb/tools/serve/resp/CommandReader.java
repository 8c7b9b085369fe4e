package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.buffer.ByteBuf;
import io.netty.util.ByteProcessor;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Arrays;
import java.util.List;

/**
 * Reads commands from the bytes that a connection receives: arrays of bulk strings, or inline
 * commands. A command may arrive in any number of pieces. Limits and errors are those of Redis 7,
 * except that a command as a whole is bounded, too. Not thread-safe.
 */
final class CommandReader implements Arguments {
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

  /** Most digits of a number that {@link #line} reads. */
  private static final int MOST_DIGITS = 6;

  /** Bytes that are looked at first for a command: as many as most commands have. */
  private static final int USUAL = 128;

  /** Bytes that are looked at for each argument that is missing. */
  private static final int USUAL_ARGUMENT = 64;

  private static final byte[] EMPTY = new byte[0];

  /** Where each thread looks at what was received. */
  private static final FastThreadLocal<byte[]> WINDOW =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[16 << 10];
        }
      };

  private final long maxBytes;
  private byte[][] arguments = new byte[8][];
  private byte[] lastName = EMPTY;

  /** What precedes the length of the last argument of a command of two. */
  private byte[] lastHead = EMPTY;

  private byte[] lastHeadName = EMPTY;
  private int count;
  private long missing;
  private long bulk = NONE;
  private int filled;

  /** The number of the line that was read last. */
  private int inLine;

  private long bytes;
  private boolean trusted;
  private boolean complete;

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

  @Override
  public int count() {
    return count;
  }

  @Override
  public byte[] argument(int number) {
    return arguments[number];
  }

  /** Returns copies of the references to all arguments. */
  List<byte[]> arguments() {
    return List.of(Arrays.copyOf(arguments, count));
  }

  /** Whether a part of a command has been read. */
  boolean isInside() {
    return !complete && (missing > 0 || count > 0);
  }

  /** Returns the memory that the command takes as far as it has arrived. */
  long held() {
    return bulk == NONE ? bytes : bytes - bulk + (filled == 0 ? 0 : arguments[count].length);
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
    if (trusted && bulk == NONE) {
      readUsual(in);
      if (complete) {
        return true;
      }
    }
    while (missing == 0) {
      if (!in.isReadable()) {
        return false;
      }
      boolean begun = in.getByte(in.readerIndex()) == '*' ? readCount(in) : readInline(in);
      if (!begun) {
        return false;
      }
      if (count > 0) {
        complete = true; // inline
        return true;
      }
    }
    while (missing > 0) {
      if (!readArgument(in)) {
        return false;
      }
    }
    complete = true;
    return true;
  }

  /**
   * Reads as much of a command as has arrived, out of an array, up to what is rare: pieces of
   * arguments, long ones, and whatever is no array of bulk strings, or not permitted.
   */
  private void readUsual(ByteBuf in) {
    byte[] window = WINDOW.get();
    int most = USUAL;
    do {
      int from = in.readerIndex();
      int length = Math.min(in.readableBytes(), most);
      in.getBytes(from, window, 0, length);
      int read = readUsual(window, length);
      if (read == 0) {
        return;
      }
      in.readerIndex(from + read);
      most = (int) Math.min(window.length, USUAL_ARGUMENT * missing);
    } while (missing > 0);
    complete = true;
  }

  /** Reads arguments that are complete, and before them their number; returns the bytes read. */
  private int readUsual(byte[] window, int end) {
    int at = 0;
    if (missing == 0) {
      int next = line(window, 0, end, '*');
      if (next < 0 || inLine == 0) {
        return 0;
      }
      missing = inLine;
      at = next;
    }
    while (missing > 0) {
      int from = line(window, at, end, '$');
      if (from < 0 || !isWhole(from, end)) {
        break;
      }
      if (count > 0) {
        add(Arrays.copyOfRange(window, from, from + inLine));
      } else {
        if (!Arrays.equals(window, from, from + inLine, lastName, 0, lastName.length)) {
          lastName = Arrays.copyOfRange(window, from, from + inLine);
        }
        add(lastName); // whose array tells the connection that it is the same command
      }
      bytes += inLine + OVERHEAD;
      at = from + inLine + 2;
    }
    return at;
  }

  /** Whether an argument of the length just read is there with its end, and permitted. */
  private boolean isWhole(int from, int end) {
    return from + inLine + 2 <= end && bytes + inLine + OVERHEAD <= maxBytes;
  }

  /**
   * Reads a line that states a number, if it is short, complete and in the form that it has most
   * often.
   *
   * @return where the next line begins; negative if there is no such line
   */
  private int line(byte[] window, int from, int end, char type) {
    if (end - from < 4 || window[from] != type) {
      return NONE;
    }
    int at = from + 1;
    int number = 0;
    int last = Math.min(end - 2, at + MOST_DIGITS);
    while (at < last && window[at] >= '0' && window[at] <= '9') {
      number = 10 * number + window[at++] - '0';
    }
    boolean isNumber = at > from + 1 && (window[from + 1] != '0' || at == from + 2);
    if (!isNumber || window[at] != '\r' || window[at + 1] != '\n') {
      return NONE;
    }
    inLine = number;
    return at + 2;
  }

  /**
   * Reads commands that differ from the one just read in their last argument alone, which is the
   * second, as long as such commands have arrived as a whole, and adds them to a round.
   *
   * @param step answers each
   * @return what the commands have {@link #held}
   */
  long readAlike(ByteBuf in, LookupRound round, LookupRound.KeyStep step) {
    if (!trusted || count != 2 || arguments[0] != lastName) {
      return 0;
    }
    byte[] window = WINDOW.get();
    byte[] head = head();
    bytes = (long) lastName.length + OVERHEAD; // of each, before its key
    long held = 0;
    int most = USUAL; // mostly, few follow if another one does not
    int read = in.readableBytes();
    while (read > 0 && in.isReadable() && !round.isFull()) {
      int end = Math.min(in.readableBytes(), most);
      in.getBytes(in.readerIndex(), window, 0, end);
      read = 0;
      while (!round.isFull()) {
        int from =
            isHead(head, window, read, end) ? line(window, read + head.length, end, '$') : NONE;
        if (from < 0 || !isWhole(from, end)) {
          break;
        }
        round.begin();
        round.add(Arrays.copyOfRange(window, from, from + inLine), step);
        held += bytes + inLine + OVERHEAD;
        read = from + inLine + 2;
      }
      in.skipBytes(read);
      most = Math.min(4 * most, window.length);
    }
    return held;
  }

  private static boolean isHead(byte[] head, byte[] window, int from, int end) {
    int to = from + head.length;
    return to < end && Arrays.equals(window, from, to, head, 0, head.length);
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
    if (count > 64) {
      arguments = new byte[8][];
    } else {
      Arrays.fill(arguments, 0, count, null);
    }
    complete = false;
    count = 0;
    bytes = 0;
  }

  /** Reads the number of arguments; returns false if the line is incomplete. */
  private boolean readCount(ByteBuf in) throws MalformedCommandException {
    int end = lineEnd(in, "too big mbulk count string");
    if (end < 0) {
      return false;
    }
    long stated = number(in, in.readerIndex() + 1, end);
    if (stated > Integer.MAX_VALUE || stated == Long.MIN_VALUE) {
      throw new MalformedCommandException("invalid multibulk length");
    }
    if (stated > STRANGERS_ARGUMENTS && !trusted) {
      throw new MalformedCommandException("unauthenticated multibulk length");
    }
    missing = Math.max(0, stated);
    in.readerIndex(end + 2);
    return true;
  }

  /** Reads an argument, or what has arrived of it; returns whether it is complete. */
  private boolean readArgument(ByteBuf in) throws MalformedCommandException {
    if (bulk == NONE && !readLength(in)) {
      return false;
    }
    if (count == arguments.length) {
      arguments = Arrays.copyOf(arguments, 2 * count);
    }
    int whole = (int) bulk;
    byte[] begun = filled == 0 ? EMPTY : arguments[count];
    int more = Math.min(in.readableBytes(), whole - filled);
    if (filled + more > begun.length) {
      // grows with what arrives, not with what was announced
      int capacity = (int) Math.min(whole, Math.max(filled + more, 2L * begun.length));
      begun = Arrays.copyOf(begun, capacity);
      arguments[count] = begun;
    }
    in.readBytes(begun, filled, more);
    filled += more;
    if (filled < whole || in.readableBytes() < 2) {
      return false;
    }
    in.skipBytes(2);
    filled = 0;
    byte[] argument = begun.length == whole ? begun : Arrays.copyOf(begun, whole);
    add(argument);
    return true;
  }

  private void add(byte[] argument) {
    if (count == arguments.length) {
      arguments = Arrays.copyOf(arguments, 2 * count);
    }
    arguments[count++] = argument;
    missing--;
    bulk = NONE;
  }

  private boolean readLength(ByteBuf in) throws MalformedCommandException {
    if (!in.isReadable()) {
      return false;
    }
    int end = lineEnd(in, "too big bulk count string");
    if (end < 0) {
      return false;
    }
    int first = in.getByte(in.readerIndex()) & 0xFF;
    if (first != '$') {
      throw new MalformedCommandException("expected '$', got '" + shown(first) + "'");
    }
    long stated = number(in, in.readerIndex() + 1, end);
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
    in.readerIndex(end + 2);
    return true;
  }

  private static String shown(int octet) {
    return octet == 0 ? " " : String.valueOf((char) octet); // a byte, and no line breaks
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
    List<byte[]> words = InlineWords.split(line);
    for (byte[] word : words) {
      bytes += word.length + OVERHEAD;
    }
    arguments = words.toArray(new byte[Math.max(8, words.size())][]);
    count = words.size();
    return true;
  }

  /**
   * Returns where a line ends: the index of its CR, if the LF is there, too; -1 if it is
   * incomplete.
   */
  private static int lineEnd(ByteBuf in, String tooLong) throws MalformedCommandException {
    int from = in.readerIndex();
    int most = Math.min(in.readableBytes(), MAX_LINE + 1);
    int end = in.forEachByte(from, most, ByteProcessor.FIND_CR);
    if (end < 0) {
      if (in.readableBytes() > MAX_LINE) {
        throw new MalformedCommandException(tooLong);
      }
      return -1;
    }
    return end + 1 < in.writerIndex() ? end : -1;
  }

  /** Returns a number in the only form that Redis accepts; {@code Long.MIN_VALUE} if it is none. */
  private static long number(ByteBuf in, int from, int to) {
    byte[] digits = new byte[to - from];
    in.getBytes(from, digits);
    try {
      return Arguments.integer(digits);
    } catch (CommandException e) {
      return Long.MIN_VALUE;
    }
  }
}
