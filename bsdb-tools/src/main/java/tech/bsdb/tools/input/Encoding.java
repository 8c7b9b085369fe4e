package tech.bsdb.tools.input;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;

/** Text encodings of bytes, for keys and values that may be binary. */
public enum Encoding {
  /** The text in UTF-8. */
  UTF8("utf8"),

  /** Two hexadecimal digits per byte, in either case. */
  HEX("hex"),

  /** RFC 4648 section 4; padding is optional. */
  BASE64("base64");

  private final String label;

  Encoding(String label) {
    this.label = label;
  }

  /** The name of the encoding for users. */
  public String label() {
    return label;
  }

  /**
   * Decodes a text to bytes.
   *
   * @throws IllegalArgumentException if the text is not in this encoding; the message shows it
   */
  public byte[] decode(String text) {
    try {
      return switch (this) {
        case UTF8 -> utf8(text);
        case HEX -> HexFormat.of().parseHex(text);
        case BASE64 -> Base64.getDecoder().decode(text);
      };
    } catch (IllegalArgumentException bad) {
      throw new IllegalArgumentException("\"" + text + "\" is not " + label, bad);
    }
  }

  /** Encodes bytes as text; with {@link #UTF8}, invalid UTF-8 becomes U+FFFD. */
  public String encode(byte[] bytes) {
    return switch (this) {
      case UTF8 -> new String(bytes, StandardCharsets.UTF_8);
      case HEX -> HexFormat.of().formatHex(bytes);
      case BASE64 -> Base64.getEncoder().encodeToString(bytes);
    };
  }

  private static byte[] utf8(String text) {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] exact = new byte[bytes.remaining()];
      bytes.get(exact);
      return exact;
    } catch (CharacterCodingException lone) {
      throw new IllegalArgumentException("lone surrogate", lone);
    }
  }
}
