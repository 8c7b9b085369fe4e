package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.GrowableBytes;

/**
 * Writes replies in RESP2 or RESP3 into an array, from which the caller takes them as buffers to
 * release. Not thread-safe.
 */
final class ReplyWriter {
  /** Bulk strings up to this length are copied into the array. */
  private static final int COPIED = 64 << 10;

  /** Before a bulk string, what is written becomes a part if it is longer than this. */
  private static final int LONG = 2 << 20;

  /** Bulk strings of less than this many bytes have heads that are known. */
  private static final int KNOWN_HEADS = 1024;

  private static final byte[] CRLF = {'\r', '\n'};
  private static final byte[] OK = "+OK\r\n".getBytes(US_ASCII);
  private static final byte[] NULL2 = "$-1\r\n".getBytes(US_ASCII);
  private static final byte[] NULL3 = "_\r\n".getBytes(US_ASCII);
  private static final byte[] NULL_ARRAY2 = "*-1\r\n".getBytes(US_ASCII);
  private static final byte[] TEXT = "txt:".getBytes(US_ASCII);
  private static final byte[] INVALIDATE_ALL =
      ">2\r\n$10\r\ninvalidate\r\n_\r\n".getBytes(US_ASCII);

  /** An array for each thread that no writer uses, so that connections at rest need none. */
  private static final FastThreadLocal<ArrayDeque<Text>> SPARE =
      new FastThreadLocal<>() {
        @Override
        protected ArrayDeque<Text> initialValue() {
          return new ArrayDeque<>(1);
        }
      };

  private final ByteBufAllocator allocator;
  private final List<ByteBuf> parts = new ArrayList<>();
  private @Nullable Text current;
  private int partsBytes;
  private int taken;
  private boolean resp3;

  /** What is being written. */
  private static final class Text extends GrowableBytes {
    /** The heads of bulk strings, each in the lowest bytes of a number, the first byte lowest. */
    private static final long[] HEADS = new long[KNOWN_HEADS];

    static {
      for (int length = 0; length < KNOWN_HEADS; length++) {
        byte[] head = Arrays.copyOf(("$" + length + "\r\n").getBytes(US_ASCII), Long.BYTES);
        HEADS[length] = (long) LONGS.get(head, 0);
      }
    }

    Text() {
      super("a reply", 1024);
    }

    /** Writes a bulk string whose head is known. */
    void bulk(byte[] source, int offset, int count) {
      reserve(count + 2L * Long.BYTES); // a head takes all eight bytes for a moment
      LONGS.set(bytes, length, HEADS[count]);
      int at = length + (count < 10 ? 4 : count < 100 ? 5 : count < 1000 ? 6 : 7);
      System.arraycopy(source, offset, bytes, at, count);
      bytes[at + count] = '\r';
      bytes[at + count + 1] = '\n';
      length = at + count + 2;
    }
  }

  ReplyWriter(ByteBufAllocator allocator) {
    this.allocator = allocator;
  }

  /** Sets whether replies are in RESP3. */
  void useResp3(boolean asResp3) {
    resp3 = asResp3;
  }

  private Text out() {
    Text text = current;
    if (text == null) {
      text = SPARE.get().poll();
      if (text == null) {
        text = new Text();
      }
      current = text;
    }
    return text;
  }

  /** Returns the number of bytes written and not taken. */
  int length() {
    Text text = current;
    return partsBytes + (text == null ? 0 : text.length());
  }

  /** Returns a number that changes when what was written is taken. */
  int taken() {
    return taken;
  }

  /** Removes what was written behind a length, and has not been {@link #taken} since. */
  void truncate(int length) {
    while (partsBytes > length) {
      ByteBuf last = parts.get(parts.size() - 1);
      int most = last.readableBytes();
      int less = Math.min(most, partsBytes - length);
      partsBytes -= less;
      if (less == most) {
        parts.remove(parts.size() - 1).release();
      } else {
        last.writerIndex(last.writerIndex() - less);
      }
    }
    out().truncate(Math.max(0, Math.min(out().length(), length - partsBytes)));
  }

  /** Gives away what was written, in order; the receiver releases it. */
  void takeTo(Consumer<ByteBuf> receiver) {
    endPart();
    parts.forEach(receiver);
    parts.clear();
    partsBytes = 0;
    taken++;
  }

  /** Makes a buffer of what is in the array, which other writers may use then. */
  private void endPart() {
    Text text = current;
    if (text == null) {
      return;
    }
    current = null;
    int length = text.length();
    if (length > 0) {
      parts.add(allocator.buffer(length, length).writeBytes(text.bytes(), 0, length));
      partsBytes += length;
    }
    ArrayDeque<Text> spare = SPARE.get();
    if (spare.isEmpty()) {
      text.reset();
      spare.add(text);
    }
  }

  void ok() {
    out().put(OK);
  }

  /** Writes a simple string without line breaks. */
  void simple(String text) {
    out().put('+');
    out().put(text.getBytes(UTF_8));
    out().put(CRLF);
  }

  /**
   * Writes an error.
   *
   * @param text begins with its code, such as {@code ERR}; each character is a byte, since errors
   *     repeat what clients sent; line breaks become blanks
   */
  void error(String text) {
    out().put('-');
    out().put(text.replace('\r', ' ').replace('\n', ' ').getBytes(ISO_8859_1));
    out().put(CRLF);
  }

  void integer(long value) {
    head(':', value);
  }

  /** Writes the reply for what does not exist. */
  void absent() {
    out().put(resp3 ? NULL3 : NULL2);
  }

  /** Writes the reply for an array that does not exist. */
  void absentArray() {
    out().put(resp3 ? NULL3 : NULL_ARRAY2);
  }

  /** Writes, between replies in RESP3, that nothing that the client knows of any key is valid. */
  void invalidateAll() {
    out().put(INVALIDATE_ALL);
  }

  /**
   * Writes, between replies in RESP3, that nothing that the client knows of these keys is valid.
   *
   * @param keys have arrays
   */
  void invalidate(Collection<ByteBuffer> keys) {
    out().put(INVALIDATE_ALL, 0, INVALIDATE_ALL.length - NULL3.length);
    head('*', keys.size());
    for (ByteBuffer key : keys) {
      bulk(key.array(), key.arrayOffset() + key.position(), key.remaining());
    }
  }

  void bulk(byte[] bytes) {
    bulk(bytes, 0, bytes.length);
  }

  void bulk(byte[] bytes, int offset, int length) {
    if (out().length() > LONG) {
      endPart();
    }
    if (length < KNOWN_HEADS) {
      out().bulk(bytes, offset, length);
    } else if (length <= COPIED) {
      head('$', length);
      out().put(bytes, offset, length);
      out().put(CRLF);
    } else {
      bulk(allocator.buffer(length, length).writeBytes(bytes, offset, length));
    }
  }

  /** Writes an array that belongs to the writer from now on, without a copy if it is long. */
  void bulkAlone(byte[] bytes) {
    if (bytes.length <= COPIED) {
      bulk(bytes);
    } else {
      bulk(Unpooled.wrappedBuffer(bytes));
    }
  }

  /** Writes a long bulk string as a part of its own. */
  private void bulk(ByteBuf bytes) {
    head('$', bytes.readableBytes());
    endPart();
    parts.add(bytes);
    partsBytes += bytes.readableBytes();
    out().put(CRLF);
  }

  void bulk(String text) {
    bulk(text.getBytes(UTF_8));
  }

  /** Writes a number, or a list or a map of values, or else a bulk string of bytes or text. */
  void value(Object value) {
    if (value instanceof Number number) {
      integer(number.longValue());
    } else if (value instanceof List<?> list) {
      array(list.size());
      list.forEach(this::value);
    } else if (value instanceof Map<?, ?> map) {
      map(map.size());
      map.forEach(this::entry);
    } else if (value instanceof byte[] bytes) {
      bulk(bytes);
    } else {
      bulk(value.toString());
    }
  }

  /** Writes a key and its {@link #value}, such as a part of a {@link #map}. */
  void entry(Object key, Object value) {
    value(key);
    value(value);
  }

  /** Writes a text for people; in RESP3 marked as such. */
  void verbatim(String text) {
    if (!resp3) {
      bulk(text);
      return;
    }
    byte[] bytes = text.getBytes(UTF_8);
    head('=', bytes.length + 4L);
    out().put(TEXT);
    out().put(bytes);
    out().put(CRLF);
  }

  /** Begins an array; its elements follow. */
  void array(long elements) {
    head('*', elements);
  }

  /** Begins a map; its keys and values follow, in turn. */
  void map(long entries) {
    if (resp3) {
      head('%', entries);
    } else {
      head('*', 2 * entries);
    }
  }

  /** Begins an array of single elements, or of pairs, which {@link #beginPair} begins. */
  void pairs(long elements, boolean ofTwo) {
    array(ofTwo && !resp3 ? 2 * elements : elements);
  }

  /** Begins an element of an array of single elements, or of pairs. */
  void beginPair(boolean ofTwo) {
    if (ofTwo && resp3) {
      array(2);
    }
  }

  /** Begins a set; its elements follow. */
  void set(long elements) {
    head(resp3 ? '~' : '*', elements);
  }

  private void head(char type, long value) {
    Text text = out();
    text.put(type);
    text.putNumber(value);
    text.put(CRLF);
  }
}
