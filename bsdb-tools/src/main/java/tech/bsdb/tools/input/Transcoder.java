package tech.bsdb.tools.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Converts text in any character encoding to UTF-8.
 *
 * <p>Bytes that are not valid in the encoding are neither dropped nor replaced: each becomes three
 * bytes that are never valid UTF-8, {@code FF 8h 8l} with the two halves of the byte. Their line
 * therefore fails the same check as a bad line of a UTF-8 file, and {@link #restore} recovers the
 * original bytes.
 */
final class Transcoder extends InputStream {
  private static final int MARK = 0xFF;
  private static final int BYTE_ORDER_MARK = 0xFEFF;

  private final InputStream in;
  private final CharsetDecoder decoder;
  private final CharsetEncoder encoder;
  private final int unit;
  private final ByteBuffer encoded = ByteBuffer.allocate(1 << 15).limit(0);
  private final CharBuffer chars = CharBuffer.allocate(1 << 15);
  private final ByteBuffer utf8 = ByteBuffer.allocate(1 << 17).limit(0);
  private boolean started;
  private boolean ended;
  private boolean finished;

  Transcoder(InputStream in, Charset encoding) {
    this.in = in;
    this.decoder =
        encoding
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    this.encoder = StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPORT);
    this.unit = unitOf(encoding);
  }

  /** The size of a code unit in bytes if it is known; 0 to rely on the decoder. */
  private static int unitOf(Charset encoding) {
    String name = encoding.name().toUpperCase(Locale.ROOT);
    return name.contains("UTF-16") ? 2 : name.contains("UTF-32") ? 4 : 0;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] to, int from, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (!utf8.hasRemaining()) {
      if (finished) {
        return -1;
      }
      transcode();
    }
    int count = Math.min(length, utf8.remaining());
    utf8.get(to, from, count);
    return count;
  }

  private void transcode() throws IOException {
    if (!ended) {
      encoded.compact();
      int count = in.read(encoded.array(), encoded.position(), encoded.remaining());
      ended = count < 0;
      encoded.position(encoded.position() + Math.max(0, count)).flip();
    }
    utf8.clear();
    CoderResult result = decode();
    while (result.isError()) {
      // A UTF-16 decoder includes the unit after a lone surrogate, which may be a line end.
      int bad =
          Math.min(
              encoded.remaining(), unit == 0 ? result.length() : Math.min(unit, result.length()));
      for (int i = 0; i < bad; i++) {
        mark(encoded.get());
      }
      if (utf8.remaining() < utf8.capacity() / 2) {
        break;
      }
      result = decode();
    }
    finished = ended && result.isUnderflow() && decoder.flush(chars.clear()).isUnderflow();
    if (finished) {
      encodeChars();
    }
    utf8.flip();
  }

  /** Decodes until the bytes end, the room for characters is full, or invalid bytes follow. */
  private CoderResult decode() throws IOException {
    chars.clear().limit(Math.min(chars.capacity(), utf8.remaining() / 4));
    CoderResult result = decoder.decode(encoded, chars, ended);
    encodeChars();
    return result;
  }

  private void encodeChars() throws IOException {
    chars.flip();
    if (!started && chars.hasRemaining()) {
      started = true;
      if (chars.get(0) == BYTE_ORDER_MARK) {
        chars.get();
      }
    }
    while (!encoder.reset().encode(chars, utf8, /* endOfInput= */ true).isUnderflow()) {
      chars.get(); // a lone surrogate, which some decoders let through
      mark((byte) '?');
    }
  }

  private void mark(byte bad) {
    utf8.put((byte) MARK).put((byte) (0x80 | (bad >> 4 & 15))).put((byte) (0x80 | (bad & 15)));
  }

  /**
   * Restores the original bytes where invalid ones were marked in a range of the transcoded bytes.
   */
  static byte[] restore(byte[] bytes, int from, int to) {
    ByteBuffer restored = ByteBuffer.allocate(to - from);
    for (int at = from; at < to; at++) {
      if ((bytes[at] & 0xFF) == MARK && at + 2 < to) {
        restored.put((byte) ((bytes[at + 1] & 15) << 4 | (bytes[at + 2] & 15)));
        at += 2;
      } else {
        restored.put(bytes[at]);
      }
    }
    return Arrays.copyOf(restored.array(), restored.position());
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
