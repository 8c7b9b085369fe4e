package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.stream.Collectors;
import tech.bsdb.tools.text.JsonEscapes;

/** How a request encodes the bytes of a key. */
public enum KeyEncoding {
  /** Verbatim. */
  TEXT("text"),

  /** Two hexadecimal digits per byte, in either case. */
  HEX("hex"),

  /** RFC 4648 section 5, whose alphabet ends in {@code -_}; the padding is optional. */
  BASE64URL("base64url");

  private static final int WRONG = -1;

  private final String label;

  KeyEncoding(String label) {
    this.label = label;
  }

  /** Returns the encoding's name in requests. */
  public String label() {
    return label;
  }

  /** Returns the encoding with the given name. */
  public static KeyEncoding of(String label) throws RequestRefusedException {
    for (KeyEncoding encoding : values()) {
      if (encoding.label.equals(label)) {
        return encoding;
      }
    }
    throw new RequestRefusedException(
        "key_encoding must be one of "
            + Arrays.stream(values()).map(KeyEncoding::label).collect(Collectors.joining(", ")));
  }

  /**
   * Decodes a key.
   *
   * @param bytes has the encoded key in {@code from} to {@code to - 1}
   * @throws RequestRefusedException with status 400 if it is not in this encoding
   */
  public byte[] decode(byte[] bytes, int from, int to) throws RequestRefusedException {
    byte[] key = Arrays.copyOfRange(bytes, from, to);
    int length = decode(key, 0, key.length, key, 0);
    if (length < 0) {
      throw new RequestRefusedException("the key " + refusal());
    }
    return length == key.length ? key : Arrays.copyOf(key, length);
  }

  /** Returns a key in this encoding, base64url without padding. */
  byte[] encode(byte[] bytes, int from, int length) {
    byte[] key = Arrays.copyOfRange(bytes, from, from + length);
    return switch (this) {
      case TEXT -> key;
      case HEX -> HexFormat.of().formatHex(key).getBytes(US_ASCII);
      case BASE64URL -> Base64.getUrlEncoder().withoutPadding().encode(key);
    };
  }

  /** Returns what is wrong with a key that is not in this encoding. */
  String refusal() {
    return switch (this) {
      case TEXT -> "is not text";
      case HEX -> "is not hex: two digits per byte";
      case BASE64URL -> "is not base64url: A-Z a-z 0-9 - _, whole bytes, correct padding or none";
    };
  }

  /**
   * Decodes a key into an array, which may be the source at the same offset: no byte is written
   * before it has been read.
   *
   * @return where the key ends, or a negative number if it is not in this encoding
   */
  int decode(byte[] bytes, int from, int to, byte[] target, int offset) {
    return switch (this) {
      case TEXT -> {
        System.arraycopy(bytes, from, target, offset, to - from);
        yield offset + to - from;
      }
      case HEX -> hex(bytes, from, to, target, offset);
      case BASE64URL -> base64(bytes, from, to, target, offset);
    };
  }

  // Every requested key passes through these decoders, which allocate nothing; HexFormat reads
  // characters, not bytes, and java.util.Base64 accepts bits behind the last byte that are not
  // zero.
  private static int hex(byte[] bytes, int from, int to, byte[] target, int offset) {
    if ((to - from) % 2 != 0) {
      return WRONG;
    }
    int out = offset;
    for (int at = from; at < to; at += 2) {
      int b = JsonEscapes.digit(bytes[at]) << 4 | JsonEscapes.digit(bytes[at + 1]);
      if (b < 0) {
        return WRONG;
      }
      target[out++] = (byte) b;
    }
    return out;
  }

  private static int base64(byte[] bytes, int from, int padded, byte[] target, int offset) {
    int to = padded;
    while (to > from && padded - to < 2 && bytes[to - 1] == '=') {
      to--;
    }
    int left = (to - from) % 4;
    if (left == 1 || (to < padded && left + (padded - to) != 4)) {
      return WRONG;
    }
    int out = offset;
    int bits = 0;
    int count = 0;
    for (int at = from; at < to; at++) {
      int digit = base64Digit(bytes[at]);
      if (digit < 0) {
        return WRONG;
      }
      bits = bits << 6 | digit;
      count += 6;
      if (count >= 8) {
        count -= 8;
        target[out++] = (byte) (bits >> count);
        bits &= (1 << count) - 1;
      }
    }
    return bits == 0 ? out : WRONG;
  }

  private static int base64Digit(byte character) {
    if (character >= 'A' && character <= 'Z') {
      return character - 'A';
    }
    if (character >= 'a' && character <= 'z') {
      return character - 'a' + 26;
    }
    if (character >= '0' && character <= '9') {
      return character - '0' + 52;
    }
    return character == '-' ? 62 : character == '_' ? 63 : WRONG;
  }
}
