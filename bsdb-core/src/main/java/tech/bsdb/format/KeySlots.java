package tech.bsdb.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The routing of keys to shards (FORMAT.md §14): a key has one of {@link #COUNT} slots, computed as
 * Redis Cluster does, and each shard holds the keys of a range of slots.
 *
 * <p>If a key contains {@code {...}} with at least one byte between the first opening and the next
 * closing brace, only these bytes count, so that such keys can be kept together.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">The
 *     Redis Cluster specification, "Key distribution model" and "Hash tags"</a>
 */
public final class KeySlots {
  /** The number of slots. */
  public static final int COUNT = 1 << 14;

  /** The name of this routing in manifests. */
  public static final String NAME = "crc16-slots";

  /** CRC-16/XMODEM: the polynomial of x^16 + x^12 + x^5 + 1, from 0, most significant bit first. */
  private static final int POLYNOMIAL = 0x1021;

  /** The number of bytes that a step takes. */
  private static final int STEP = Long.BYTES;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /*
   * One table for each byte of two steps ("slicing by eight", Kounavis and Berry 2005), so that the loads do not wait for
   * each other: the slot of a key of 8 to 16 bytes waits for one of them, not for 16 in turn.
   */
  private static final char[] T0 = table(16);
  private static final char[] T1 = table(15);
  private static final char[] T2 = table(14);
  private static final char[] T3 = table(13);
  private static final char[] T4 = table(12);
  private static final char[] T5 = table(11);
  private static final char[] T6 = table(10);
  private static final char[] T7 = table(9);
  private static final char[] T8 = table(8);
  private static final char[] T9 = table(7);
  private static final char[] T10 = table(6);
  private static final char[] T11 = table(5);
  private static final char[] T12 = table(4);
  private static final char[] T13 = table(3);
  private static final char[] T14 = table(2);
  private static final char[] T15 = table(1);

  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long BRACES = '{' * ONES;

  private KeySlots() {}

  /** The checksums of each byte value followed by {@code bytes} - 1 zeros. */
  private static char[] table(int bytes) {
    char[] table = new char[256];
    for (int i = 0; i < table.length; i++) {
      int crc = i << 8;
      for (int bit = 0; bit < 8 * bytes; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
      }
      table[i] = (char) crc;
    }
    return table;
  }

  /** The slot of a key, 0 to {@link #COUNT} - 1. */
  public static int of(byte[] key) {
    return of(key, 0, key.length);
  }

  /** The slot of the key in a range of bytes, 0 to {@link #COUNT} - 1. */
  public static int of(byte[] bytes, int from, int length) {
    int end = from + length;
    if (length >= STEP && length <= 2 * STEP) {
      long first = (long) LONGS.get(bytes, from);
      long last = (long) LONGS.get(bytes, end - STEP);
      if ((brace(first) | brace(last)) == 0) {
        // Before the last eight bytes come the other ones and, before those, zeros, which change
        // nothing.
        int half = Byte.SIZE / 2 * (2 * STEP - length);
        return (stepBefore(first << half << half) ^ step(last)) & COUNT - 1;
      }
    }
    if (mayHoldBrace(bytes, from, end)) {
      int open = indexOf((byte) '{', bytes, from, end);
      int close = indexOf((byte) '}', bytes, open + 1, end);
      if (close < end && close > open + 1) {
        return crc(bytes, open + 1, close) & COUNT - 1;
      }
    }
    return crc(bytes, from, end) & COUNT - 1;
  }

  /** Whether there is an opening brace; may also be true if the range is short. */
  private static boolean mayHoldBrace(byte[] bytes, int from, int end) {
    if (end - from < STEP) {
      return true;
    }
    long found = brace((long) LONGS.get(bytes, end - STEP));
    for (int at = from; at <= end - STEP; at += STEP) {
      found |= brace((long) LONGS.get(bytes, at));
    }
    return found != 0;
  }

  /**
   * Not 0 if one of eight bytes is an opening brace: then there is a zero byte in the difference.
   */
  private static long brace(long step) {
    long difference = step ^ BRACES;
    return difference - ONES & ~difference & ONES << 7;
  }

  /** The first position of a byte, or {@code end} or more. */
  private static int indexOf(byte wanted, byte[] bytes, int from, int end) {
    int at = from;
    while (at < end && bytes[at] != wanted) {
      at++;
    }
    return at;
  }

  private static int crc(byte[] bytes, int from, int end) {
    int crc = 0;
    int at = from;
    for (; at <= end - STEP; at += STEP) {
      crc = step((long) LONGS.get(bytes, at) ^ Character.reverseBytes((char) crc));
    }
    int left = end - at;
    if (left > 1 && end - from >= STEP) {
      // The bytes left as the last ones of a step; zeros before them change nothing.
      int zeros = Byte.SIZE * (STEP - left);
      long last = (long) LONGS.get(bytes, end - STEP) >>> zeros;
      return step((last ^ Character.reverseBytes((char) crc)) << zeros);
    }
    for (; at < end; at++) {
      crc = (crc << 8 ^ T15[crc >>> 8 ^ bytes[at] & 0xFF]) & 0xFFFF;
    }
    return crc;
  }

  /** The checksum of eight bytes. */
  private static int step(long bytes) {
    return T8[(int) bytes & 0xFF]
        ^ T9[(int) (bytes >>> 8) & 0xFF]
        ^ T10[(int) (bytes >>> 16) & 0xFF]
        ^ T11[(int) (bytes >>> 24) & 0xFF]
        ^ T12[(int) (bytes >>> 32) & 0xFF]
        ^ T13[(int) (bytes >>> 40) & 0xFF]
        ^ T14[(int) (bytes >>> 48) & 0xFF]
        ^ T15[(int) (bytes >>> 56)];
  }

  /** The checksum of eight bytes and eight zeros. */
  private static int stepBefore(long bytes) {
    return T0[(int) bytes & 0xFF]
        ^ T1[(int) (bytes >>> 8) & 0xFF]
        ^ T2[(int) (bytes >>> 16) & 0xFF]
        ^ T3[(int) (bytes >>> 24) & 0xFF]
        ^ T4[(int) (bytes >>> 32) & 0xFF]
        ^ T5[(int) (bytes >>> 40) & 0xFF]
        ^ T6[(int) (bytes >>> 48) & 0xFF]
        ^ T7[(int) (bytes >>> 56)];
  }

  /**
   * The number of the shard that holds a slot.
   *
   * @param shards the number of shards, 1 to {@link #COUNT}
   */
  public static int shard(int slot, int shards) {
    return slot * shards + shards - 1 >>> 14; // less than 2^28
  }

  /** The number of the shard that holds a key. */
  public static int shard(byte[] key, int shards) {
    return shard(of(key), shards);
  }

  /**
   * The first slot of a shard; its slots end before the first one of the next shard.
   *
   * @param shard 0 to {@code shards}, where {@code shards} gives {@link #COUNT}
   */
  public static int first(int shard, int shards) {
    return (int) ((long) shard * COUNT / shards);
  }

  /** The slots of a shard, for messages: "0 to 2047". */
  public static String range(int shard, int shards) {
    return first(shard, shards) + " to " + (first(shard + 1, shards) - 1);
  }
}
