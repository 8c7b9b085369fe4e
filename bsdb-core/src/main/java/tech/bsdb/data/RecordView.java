package tech.bsdb.data;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A record of a database, among bytes that hold its key and, unless it is long, its value. Not
 * thread-safe.
 */
public interface RecordView {
  /** Holds the key, followed by the value unless it is {@linkplain #isLong long}. */
  byte[] bytes();

  /** Where the key starts. */
  int keyFrom();

  /** The length of the key. */
  int keyLength();

  /** The length of the value. */
  int valueLength();

  /** The place of a long value, for {@link PageCursor#ofValue}. */
  long place();

  /** Whether the value is long, so that it has a {@link #place} and is not among the bytes. */
  default boolean isLong() {
    return valueLength() > RecordScanner.LONG_VALUE;
  }

  /** Where the value starts, unless it is long. */
  default int valueFrom() {
    return keyFrom() + keyLength();
  }

  /** A copy of the key. */
  default byte[] key() {
    return Arrays.copyOfRange(bytes(), keyFrom(), valueFrom());
  }

  /** The key, valid as long as the record. */
  default ByteBuffer keyBuffer() {
    return ByteBuffer.wrap(bytes(), keyFrom(), keyLength());
  }

  /** Whether both records have the same key. */
  default boolean hasKeyOf(RecordView other) {
    return Arrays.equals(
        bytes(), keyFrom(), valueFrom(), other.bytes(), other.keyFrom(), other.valueFrom());
  }
}
