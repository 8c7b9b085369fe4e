package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.serve.client.HeldMemory;

/**
 * Memory in which the connections of an event loop, one after the other, answer a few plain GETs:
 * the requests, and the answers one behind another as they go to the socket.
 */
final class PlainAnswers {
  /** Values up to this size are copied behind their head, larger ones into the sent buffer. */
  private static final int COPIED = 4 << 10;

  private static final FastThreadLocal<PlainAnswers> OF_LOOP =
      new FastThreadLocal<>() {
        @Override
        protected PlainAnswers initialValue() {
          return new PlainAnswers();
        }
      };

  private final byte[] requests = new byte[64 << 10];
  private final byte[] answers = new byte[32 << 10];
  private byte[] date = {};
  private int length;
  private byte @Nullable [] large;
  private int present;
  private int absent;

  private PlainAnswers() {}

  /** Returns the memory of the event loop that calls. */
  static PlainAnswers ofLoop() {
    return OF_LOOP.get();
  }

  /** Starts again without answers. Those that follow have the current date. */
  void clear() {
    date = ResponseHead.dateLine();
    length = 0;
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

  /** Whether the next answer may not fit. */
  boolean isFull(PlainHeads heads) {
    return large != null || length + heads.most() + COPIED > answers.length;
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
      byte[] body = heads.absence();
      append(body, heads.absent().write(answers, length, body.length, date, hash));
      absent++;
      return true;
    }
    int end = heads.present().write(answers, length, value.length, date, hash);
    if (value.length <= COPIED) {
      append(value, end);
    } else {
      large = value;
      length = end;
    }
    present++;
    return true;
  }

  private void append(byte[] body, int at) {
    System.arraycopy(body, 0, answers, at, body.length);
    length = at + body.length;
  }

  /** Returns the answers in a buffer, which the caller releases. */
  ByteBuf toBuffer(ByteBufAllocator allocator) {
    byte[] rest = large;
    ByteBuf out = allocator.buffer(length + (rest == null ? 0 : rest.length));
    out.writeBytes(answers, 0, length);
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
