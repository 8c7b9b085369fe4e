package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Window;

/**
 * Reads bytes that are spread over segments of the pages of a data file as one stream. Not
 * thread-safe.
 */
abstract class RecordCursor {
  /** Shows the current page. */
  Window window;

  /** The next byte, in bytes from the start of the current page. */
  int at;

  /** The end of the current segment in the page. */
  int end;

  RecordCursor(Window window) {
    this.window = window;
  }

  /**
   * Makes the next byte available, in the next segment if this one is used up, and returns where
   * the current page starts in the window's buffer.
   */
  abstract int load() throws IOException;

  /** Fails unless that many bytes can follow in the file. */
  abstract void expect(long bytes) throws CorruptDatabaseException;

  /** The byte offset in the file of the next byte. */
  abstract long position();

  /** Describes damage at a byte offset of the file. */
  abstract CorruptDatabaseException corrupt(long offset, String expected, String found);

  /** Reads the next byte, 0 to 255. */
  int next() throws IOException {
    int base = load();
    return window.buffer().get(base + at++) & 0xFF;
  }

  /** Reads the next two-byte number. */
  int nextShort() throws IOException {
    int low = next();
    return low | next() << 8;
  }

  /** Reads the next four-byte number. */
  int nextInt() throws IOException {
    int low = nextShort();
    return low | nextShort() << 16;
  }

  /**
   * Reads the next record's header, from which {@link RecordFrame#keyLength} and {@link
   * RecordFrame#valueLength} extract the lengths; or {@link RecordFrame#PADDING}.
   *
   * @throws CorruptDatabaseException if the bytes are not a header, or the file ends within it
   */
  long nextHeader() throws IOException {
    long start = position();
    int keyLength = next();
    int valueLength = nextShort();
    long header = RecordFrame.decode(keyLength, valueLength);
    if (header == RecordFrame.IS_WIDE) {
      keyLength = nextShort();
      valueLength = nextInt();
      header = RecordFrame.decodeWide(keyLength, valueLength);
    }
    if (header == RecordFrame.INVALID) {
      throw corrupt(
          start,
          "a record",
          "a key of "
              + keyLength
              + " bytes and a value of "
              + Integer.toUnsignedString(valueLength));
    }
    return header;
  }

  /** Reads the next LEB128 number. */
  long nextLeb128() throws IOException {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int part = next();
      value |= (long) (part & 0x7F) << shift;
      if (part < 0x80) {
        return value;
      }
    }
    throw corrupt(position(), "a number in LEB128", "more than nine bytes");
  }

  /** Copies the next bytes. */
  void read(byte[] target, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      int base = load();
      int part = Math.min(length - done, end - at);
      window.buffer().get(base + at, target, offset + done, part);
      at += part;
      done += part;
    }
  }

  /**
   * Takes the next bytes, which follow others of the current record, as a value.
   *
   * @return the array that holds it; see {@link Values#take}
   */
  byte[] take(int length, Values values) throws IOException {
    if (length > 0 && length <= end - at) { // no further page is needed
      int from = load() + at;
      at += length;
      return values.take(window.buffer(), from, length);
    }
    byte[] value = values.make(length);
    read(value, values.offset(), length);
    return value;
  }

  /** Whether the next bytes equal the key; moves past as many bytes in any case. */
  boolean matches(byte[] key) throws IOException {
    boolean same = true;
    int done = 0;
    while (done < key.length) {
      int base = load();
      ByteBuffer buffer = window.buffer();
      int part = Math.min(key.length - done, end - at);
      for (int i = 0; i < part && same; i++) {
        same = buffer.get(base + at + i) == key[done + i];
      }
      at += part;
      done += part;
    }
    return same;
  }
}
