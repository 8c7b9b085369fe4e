package tech.bsdb.tools.serve.resp;

import io.netty.buffer.ByteBuf;
import io.netty.util.ByteProcessor;
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
  private static final byte[] EMPTY = new byte[0];

  private final long maxBytes;
  private final KnownHead knownHead = new KnownHead();
  private final KnownLine knownCount = new KnownLine();
  private final KnownLine knownNameLength = new KnownLine();
  private final KnownLine knownLength = new KnownLine();
  private byte[][] arguments = new byte[8][];
  private byte[] lastName = EMPTY;
  private int count;
  private long missing;
  private long bulk = NONE;
  private int filled;
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
      if (count == 2 && trusted && knownHead.isNext(in)) {
        arguments[1] = knownHead.readKey(in); // the name, and the bytes, are as before
        return true;
      }
      begin();
    }
    int start = missing == 0 ? in.readerIndex() : NONE;
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
    if (count == 2) {
      learnHead(in, start);
    }
    return true;
  }

  /**
   * Remembers the head of the command just read.
   *
   * @param start where it begins, if it was read as a whole
   */
  private void learnHead(ByteBuf in, int start) {
    int last = arguments[1].length;
    if (start != NONE && arguments[0] == lastName) {
      knownHead.learn(in, start, in.readerIndex() - 2 - last - start, last);
    } else {
      knownHead.forget();
    }
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
    if (knownCount.isNext(in) && trusted) {
      in.skipBytes(knownCount.length());
      missing = knownCount.number();
      return true;
    }
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
    knownCount.learn(in, end + 2 - in.readerIndex(), missing);
    in.readerIndex(end + 2);
    return true;
  }

  /** Reads an argument, or what has arrived of it; returns whether it is complete. */
  private boolean readArgument(ByteBuf in) throws MalformedCommandException {
    if (bulk == NONE) {
      if (!readLength(in)) {
        return false;
      }
      if (count == 0 && in.readableBytes() >= bulk + 2 && isLastName(in)) {
        in.skipBytes((int) bulk + 2);
        add(lastName);
        return true;
      }
    }
    if (in.readableBytes() >= bulk + 2 && filled == 0) {
      byte[] argument = new byte[(int) bulk];
      in.readBytes(argument);
      in.skipBytes(2); // Redis does not look at them either
      if (count == 0) {
        lastName = argument;
      }
      add(argument);
      return true;
    }
    return readPiece(in);
  }

  private void add(byte[] argument) {
    if (count == arguments.length) {
      arguments = Arrays.copyOf(arguments, 2 * count);
    }
    arguments[count++] = argument;
    missing--;
    bulk = NONE;
  }

  /** Whether the name of the command is the previous command's, so that its array can be used. */
  private boolean isLastName(ByteBuf in) {
    int length = lastName.length;
    if (length != bulk) {
      return false;
    }
    int at = in.readerIndex();
    for (int i = 0; i < length; i++) {
      if (in.getByte(at + i) != lastName[i]) {
        return false;
      }
    }
    return true;
  }

  private boolean readLength(ByteBuf in) throws MalformedCommandException {
    KnownLine known = count == 0 ? knownNameLength : knownLength;
    if (known.isNext(in) && trusted) {
      expect(known.number());
      in.skipBytes(known.length());
      return true;
    }
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
    expect(stated);
    known.learn(in, end + 2 - in.readerIndex(), stated);
    in.readerIndex(end + 2);
    return true;
  }

  private void expect(long stated) throws MalformedCommandException {
    bytes += stated + OVERHEAD;
    if (bytes > maxBytes) {
      throw new MalformedCommandException(tooLong());
    }
    bulk = stated;
  }

  private String tooLong() {
    return "the command is longer than " + maxBytes + " bytes, the limit set by --max-body";
  }

  private static String shown(int octet) {
    return octet == 0 ? " " : String.valueOf((char) octet); // a byte, and no line breaks
  }

  /** Collects an argument that arrives in pieces; returns whether it is complete. */
  private boolean readPiece(ByteBuf in) {
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
    int end = -1;
    for (int i = from; i < from + most; i++) {
      if (in.getByte(i) == '\r') {
        end = i;
        break;
      }
    }
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
    boolean negative = from < to && in.getByte(from) == '-';
    int at = negative ? from + 1 : from;
    int digits = to - at;
    if (digits < 1 || digits > 18 || (in.getByte(at) == '0' && (digits > 1 || negative))) {
      return Long.MIN_VALUE;
    }
    long value = 0;
    for (int i = at; i < to; i++) {
      int digit = in.getByte(i) - '0';
      if (digit < 0 || digit > 9) {
        return Long.MIN_VALUE;
      }
      value = 10 * value + digit;
    }
    return negative ? -value : value;
  }

  /**
   * A short line that states a number, as it was last received: the next command most often states
   * the same, which one comparison of eight bytes finds out. Not thread-safe.
   */
  private static final class KnownLine {
    private static final int LONGEST = Long.BYTES;

    /** The line with its CR and LF in the lowest bytes, the first byte lowest. */
    private long line = -1;

    /** Covers the bytes of the line; 0 with a line that nothing equals if none is known. */
    private long mask;

    private int length;
    private long number;

    /** Whether the line comes next. */
    boolean isNext(ByteBuf in) {
      return in.readableBytes() >= LONGEST && (in.getLongLE(in.readerIndex()) & mask) == line;
    }

    /** The bytes of the line, with its CR and LF. */
    int length() {
      return length;
    }

    /** The number that the line states. */
    long number() {
      return number;
    }

    /** Remembers the next line, which is valid, if it is short. */
    void learn(ByteBuf in, int bytes, long stated) {
      if (bytes <= LONGEST && in.readableBytes() >= LONGEST) {
        mask = -1L >>> Long.SIZE - Byte.SIZE * bytes;
        line = in.getLongLE(in.readerIndex()) & mask;
        length = bytes;
        number = stated;
      }
    }
  }

  /**
   * All bytes before the last argument of a command of two, as they were last received: in a
   * pipeline, most commands differ only in their key, which three comparisons of eight bytes find
   * out. Not thread-safe.
   */
  private static final class KnownHead {
    private static final int LONGEST = 3 * Long.BYTES;

    private long first;
    private long second;
    private long third;
    private long thirdMask;
    private int length;
    private int keyLength;

    /** Whether a command with this head comes next, and all of it has arrived. */
    boolean isNext(ByteBuf in) {
      int known = length;
      int readable = in.readableBytes();
      if (known == 0 || readable < LONGEST || readable < known + keyLength + 2) {
        return false;
      }
      int at = in.readerIndex();
      return in.getLongLE(at) == first
          && in.getLongLE(at + Long.BYTES) == second
          && (in.getLongLE(at + 2 * Long.BYTES) & thirdMask) == third;
    }

    /** Consumes the command that comes next; returns its last argument. */
    byte[] readKey(ByteBuf in) {
      int at = in.readerIndex();
      byte[] key = new byte[keyLength];
      in.getBytes(at + length, key);
      in.readerIndex(at + length + keyLength + 2);
      return key;
    }

    /**
     * Remembers the head of a command that was read as a whole.
     *
     * @param start where the command begins
     * @param bytes the length of its head
     * @param last the length of its last argument
     */
    void learn(ByteBuf in, int start, int bytes, int last) {
      if (bytes <= 2 * Long.BYTES || bytes > LONGEST || in.writerIndex() - start < LONGEST) {
        length = 0;
        return;
      }
      first = in.getLongLE(start);
      second = in.getLongLE(start + Long.BYTES);
      thirdMask = -1L >>> Byte.SIZE * (LONGEST - bytes);
      third = in.getLongLE(start + 2 * Long.BYTES) & thirdMask;
      length = bytes;
      keyLength = last;
    }

    /** Forgets what was remembered. */
    void forget() {
      length = 0;
    }
  }
}
