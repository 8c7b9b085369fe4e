package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.text.GrowableBytes;

/**
 * Memory in which the connections of an event loop, one after the other, answer a few plain GETs:
 * the requests, and the answers one behind another as they go to the socket.
 */
final class PlainAnswers extends GrowableBytes {
  /** Bytes of answers at which no more are added. */
  private static final int FULL = 24 << 10;

  /** Values up to this size are copied behind their head, larger ones into the sent buffer. */
  private static final int COPIED = 4 << 10;

  private static final byte[] DIGITS = "0123456789abcdef".getBytes(ISO_8859_1);

  private static final FastThreadLocal<PlainAnswers> OF_LOOP =
      new FastThreadLocal<>() {
        @Override
        protected PlainAnswers initialValue() {
          return new PlainAnswers();
        }
      };

  private final byte[] requests = new byte[64 << 10];
  private byte[] date = {};
  private byte @Nullable [] large;
  private int present;
  private int absent;

  private PlainAnswers() {
    super("answers", 32 << 10);
  }

  /** Returns the memory of the event loop that calls. */
  static PlainAnswers ofLoop() {
    return OF_LOOP.get();
  }

  /** Starts again without answers. Those that follow have the current date. */
  void clear() {
    reset();
    date = ResponseHead.dateLine();
    large = null;
    present = 0;
    absent = 0;
  }

  /** Copies the beginning of what is readable to {@link #requests}; returns how much. */
  int read(ByteBuf in) {
    int count = Math.min(in.readableBytes(), requests.length);
    in.getBytes(in.readerIndex(), requests, 0, count);
    return count;
  }

  /** Returns the bytes of requests that were read last. */
  byte[] requests() {
    return requests;
  }

  /** Whether no more are to be added. */
  boolean isFull() {
    return large != null || length >= FULL;
  }

  /**
   * Looks up a key and adds the answer.
   *
   * @param memory what is held while the value is read
   * @return false if that fails or the value is too long, which the normal way will meet again
   */
  boolean add(Database database, byte[] key, PlainHeads heads, HeldMemory.Share memory) {
    byte[] value;
    try {
      value =
          heads.allFree()
              ? database.get(key)
              : database.get(key, bytes -> bytes <= heads.mostRead() && memory.reserve(bytes));
    } catch (IOException | RuntimeException | Error e) {
      return false;
    } finally {
      memory.settle(0); // what is sent is counted by the connection
    }
    long hash = Served.hash(key);
    if (value == null) {
      putHead(heads.absent(), heads.absence().length, hash);
      put(heads.absence());
      absent++;
      return true;
    }
    putHead(heads.present(), value.length, hash);
    if (value.length <= COPIED) {
      put(value);
    } else {
      large = value;
    }
    present++;
    return true;
  }

  private void putHead(PlainHeads.Head head, int bodyLength, long tag) {
    put(head.before());
    putNumber(bodyLength);
    put('\r');
    put('\n');
    put(date);
    put(head.middle());
    for (int shift = 60; shift >= 0; shift -= 4) {
      put(DIGITS[(int) (tag >>> shift) & 15]);
    }
    put(head.after());
  }

  /** Returns the answers in a buffer, which the caller releases. */
  ByteBuf toBuffer(ByteBufAllocator allocator) {
    byte[] rest = large;
    ByteBuf out = allocator.buffer(length + (rest == null ? 0 : rest.length));
    out.writeBytes(bytes, 0, length);
    return rest == null ? out : out.writeBytes(rest);
  }

  /** Returns the number of keys that were present. */
  int present() {
    return present;
  }

  /** Returns the number of keys that were absent. */
  int absent() {
    return absent;
  }
}
