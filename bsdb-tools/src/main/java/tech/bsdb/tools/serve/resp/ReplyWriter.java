package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes replies in RESP2 or RESP3 into buffers, which the caller takes and releases. Not
 * thread-safe.
 */
final class ReplyWriter {
  /** Values up to this length are copied into the buffer. */
  private static final int COPIED = 64 << 10;

  private static final int INITIAL = 1024;

  /** Bulk strings up to this length are put together before they are written, in one step. */
  private static final int TOGETHER = 256;

  private static final byte[][] BULK_HEADS = new byte[1024][];
  private static final byte[] CRLF = {'\r', '\n'};
  private static final byte[] OK = "+OK\r\n".getBytes(US_ASCII);
  private static final byte[] NULL2 = "$-1\r\n".getBytes(US_ASCII);
  private static final byte[] NULL3 = "_\r\n".getBytes(US_ASCII);
  private static final byte[] NULL_ARRAY2 = "*-1\r\n".getBytes(US_ASCII);
  private static final byte[] INVALIDATE_ALL =
      ">2\r\n$10\r\ninvalidate\r\n_\r\n".getBytes(US_ASCII);

  static {
    for (int length = 0; length < BULK_HEADS.length; length++) {
      BULK_HEADS[length] = ("$" + length + "\r\n").getBytes(US_ASCII);
    }
  }

  private final ByteBufAllocator allocator;
  private final List<ByteBuf> parts = new ArrayList<>();
  private @Nullable ByteBuf current;
  private int partsBytes;
  private int number;
  private final byte[] together = new byte[TOGETHER + 16];
  private boolean resp3;

  ReplyWriter(ByteBufAllocator allocator) {
    this.allocator = allocator;
  }

  /** Sets whether replies are in RESP3. */
  void useResp3(boolean asResp3) {
    resp3 = asResp3;
  }

  private ByteBuf out() {
    ByteBuf buffer = current;
    if (buffer == null) {
      buffer = allocator.buffer(INITIAL);
      current = buffer;
    }
    return buffer;
  }

  /** Returns the number of bytes written and not taken. */
  int length() {
    ByteBuf buffer = current;
    return partsBytes + (buffer == null ? 0 : buffer.readableBytes());
  }

  /** Returns a number that changes when what was written can no longer be {@link #truncate}d. */
  int part() {
    return number;
  }

  /** Removes what was written behind a length, in the same {@link #part}. */
  void truncate(int length) {
    out().writerIndex(length - partsBytes);
  }

  /** Gives away what was written, in order; the receiver releases it. */
  void takeTo(Consumer<ByteBuf> receiver) {
    parts.forEach(receiver);
    parts.clear();
    partsBytes = 0;
    ByteBuf buffer = current;
    current = null;
    number++;
    if (buffer != null) {
      receiver.accept(buffer);
    }
  }

  void ok() {
    out().writeBytes(OK);
  }

  /** Writes a simple string without line breaks. */
  void simple(String text) {
    out().writeByte('+');
    out().writeCharSequence(text, UTF_8);
    out().writeBytes(CRLF);
  }

  /**
   * Writes an error.
   *
   * @param text begins with its code, such as {@code ERR}; each character is a byte, since errors
   *     repeat what clients sent; line breaks become blanks
   */
  void error(String text) {
    out().writeByte('-');
    out().writeCharSequence(text.replace('\r', ' ').replace('\n', ' '), ISO_8859_1);
    out().writeBytes(CRLF);
  }

  void integer(long value) {
    head(':', value);
  }

  /** Writes the reply for what does not exist. */
  void absent() {
    out().writeBytes(resp3 ? NULL3 : NULL2);
  }

  /** Writes the reply for an array that does not exist. */
  void absentArray() {
    out().writeBytes(resp3 ? NULL3 : NULL_ARRAY2);
  }

  /** Writes, between replies in RESP3, that nothing that the client knows of any key is valid. */
  void invalidateAll() {
    out().writeBytes(INVALIDATE_ALL);
  }

  /**
   * Writes, between replies in RESP3, that nothing that the client knows of these keys is valid.
   */
  void invalidate(Collection<ByteBuffer> keys) {
    out().writeBytes(INVALIDATE_ALL, 0, INVALIDATE_ALL.length - NULL3.length);
    head('*', keys.size());
    for (ByteBuffer key : keys) {
      head('$', key.remaining());
      out().writeBytes(key.duplicate());
      out().writeBytes(CRLF);
    }
  }

  void bulk(byte[] bytes) {
    bulk(bytes, 0, bytes.length);
  }

  void bulk(byte[] bytes, int offset, int length) {
    if (length <= TOGETHER) {
      byte[] head = BULK_HEADS[length];
      int end = head.length + length;
      System.arraycopy(head, 0, together, 0, head.length);
      System.arraycopy(bytes, offset, together, head.length, length);
      together[end] = '\r';
      together[end + 1] = '\n';
      out().writeBytes(together, 0, end + 2);
      return;
    }
    bulkHead(length);
    out().writeBytes(bytes, offset, length).writeBytes(CRLF);
  }

  /** Writes an array that belongs to the writer from now on, without a copy if it is long. */
  void bulkAlone(byte[] bytes) {
    if (bytes.length <= COPIED) {
      bulk(bytes);
      return;
    }
    bulkHead(bytes.length);
    parts.add(out());
    parts.add(Unpooled.wrappedBuffer(bytes));
    partsBytes = length() + bytes.length;
    current = null;
    number++;
    out().writeBytes(CRLF);
  }

  void bulk(String text) {
    bulk(text.getBytes(UTF_8));
  }

  /** Writes a name and what it stands for, such as a part of a {@link #map}. */
  void entry(String name, String value) {
    bulk(name);
    bulk(value);
  }

  /** Writes a name and the number that it stands for. */
  void entry(String name, long value) {
    bulk(name);
    integer(value);
  }

  /** Writes what precedes a bulk string of this length. */
  private void bulkHead(int length) {
    if (length < BULK_HEADS.length) {
      out().writeBytes(BULK_HEADS[length]);
    } else {
      head('$', length);
    }
  }

  /** Writes a text for people; in RESP3 marked as such. */
  void verbatim(String text) {
    if (!resp3) {
      bulk(text);
      return;
    }
    byte[] bytes = text.getBytes(UTF_8);
    head('=', bytes.length + 4L);
    out().writeCharSequence("txt:", US_ASCII);
    out().writeBytes(bytes);
    out().writeBytes(CRLF);
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
    out().writeByte(type);
    if (value >= 0 && value < 10) {
      out().writeByte('0' + (int) value);
    } else {
      out().writeCharSequence(Long.toString(value), US_ASCII);
    }
    out().writeBytes(CRLF);
  }
}
