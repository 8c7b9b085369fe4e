package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Collectors;

/** How a request encodes the bytes of a key. */
public enum KeyEncoding {
  /** Verbatim. */
  TEXT("is not text"),

  /** Two hexadecimal digits per byte, in either case. */
  HEX("is not hex: two digits per byte"),

  /** RFC 4648 section 5, whose alphabet ends in {@code -_}; the padding is optional. */
  BASE64URL("is not base64url: A-Z a-z 0-9 - _, whole bytes, correct padding or none");

  private static final int WRONG = -1;

  /** What is wrong with a key that is not in this encoding. */
  final String refusal;

  KeyEncoding(String refusal) {
    this.refusal = refusal;
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the encoding with the given name. */
  public static KeyEncoding of(String label) throws RequestRefusedException {
    for (KeyEncoding encoding : values()) {
      if (encoding.label().equals(label)) {
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
   * @param encoded must not be used afterwards
   * @throws RequestRefusedException with status 400 if it is not in this encoding
   */
  public byte[] decode(byte[] encoded) throws RequestRefusedException {
    int length = decodeInPlace(encoded, 0, encoded.length);
    if (length < 0) {
      throw new RequestRefusedException("the key " + refusal);
    }
    return length == encoded.length ? encoded : Arrays.copyOf(encoded, length);
  }

  /** Returns a key in this encoding, base64url without padding. */
  byte[] encode(byte[] key) {
    return switch (this) {
      case TEXT -> key;
      case HEX -> HexFormat.of().formatHex(key).getBytes(US_ASCII);
      case BASE64URL -> Base64.getUrlEncoder().withoutPadding().encode(key);
    };
  }

  /**
   * Decodes a key where it stands. Base64 is required as it would be encoded again, but for the
   * padding: the decoder also accepts bits behind the last byte that are not zero.
   *
   * @return where the key ends, or a negative number if it is not in this encoding
   */
  int decodeInPlace(byte[] bytes, int from, int to) {
    if (this == TEXT) {
      return to;
    }
    byte[] encoded = Arrays.copyOfRange(bytes, from, to);
    byte[] key;
    try {
      key =
          this == HEX
              ? HexFormat.of().parseHex(new String(encoded, ISO_8859_1))
              : Base64.getUrlDecoder().decode(encoded);
    } catch (IllegalArgumentException e) {
      return WRONG;
    }
    byte[] again = this == HEX ? encoded : encode(key);
    if (!Arrays.equals(encoded, 0, again.length, again, 0, again.length)) {
      return WRONG;
    }
    System.arraycopy(key, 0, bytes, from, key.length);
    return from + key.length;
  }
}
