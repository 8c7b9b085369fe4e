package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The form of keys: the properties that all keys of a sample share.
 *
 * <p>The length is part of the form only for binary keys, hexadecimal digests and UUIDs. Numbers
 * and names of equal length may grow by a character; for them it is a change only if no key has the
 * old length.
 *
 * @param kind the narrowest kind that fits all keys
 * @param length the length that all of them share, or -1
 */
record KeyForm(Kind kind, int length) {
  private static final Pattern DECIMAL = Pattern.compile("[0-9]+");
  private static final Pattern HEXADECIMAL = Pattern.compile("([0-9a-fA-F]{2}){4,}");
  private static final Pattern UUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  /** Kinds of keys, the narrowest first. */
  enum Kind {
    DECIMAL("all decimal digits"),
    UUID("all UUIDs"),
    /** At least 8 digits: shorter words may look hexadecimal by chance. */
    HEXADECIMAL("all hexadecimal"),
    TEXT("UTF-8 text"),
    BINARY("all binary"),
    MIXED("bytes of any kind");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    private boolean has(byte[] key) {
      return switch (this) {
        case DECIMAL -> matches(KeyForm.DECIMAL, key);
        case UUID -> matches(KeyForm.UUID, key);
        case HEXADECIMAL -> matches(KeyForm.HEXADECIMAL, key);
        case TEXT -> isText(key);
        case BINARY -> !isText(key);
        case MIXED -> true;
      };
    }
  }

  /**
   * Determines the form of some keys.
   *
   * @param keys at least one
   */
  static KeyForm of(List<byte[]> keys) {
    Kind kind = Kind.MIXED;
    for (int i = Kind.values().length - 1; i >= 0; i--) {
      if (keys.stream().allMatch(Kind.values()[i]::has)) {
        kind = Kind.values()[i];
      }
    }
    int length = keys.get(0).length;
    return new KeyForm(kind, keys.stream().allMatch(key -> key.length == length) ? length : -1);
  }

  /** A key that does not fit this form, if there is one. */
  Optional<byte[]> misfit(List<byte[]> keys) {
    List<byte[]> others = new ArrayList<>(keys);
    others.removeIf(kind::has);
    if (others.isEmpty() && length >= 0) {
      others.addAll(keys);
      others.removeIf(key -> key.length == length);
      if (!lengthMatters() && others.size() < keys.size()) {
        return Optional.empty();
      }
    }
    return others.stream().findFirst();
  }

  private boolean lengthMatters() {
    return kind == Kind.UUID || kind == Kind.HEXADECIMAL || kind == Kind.BINARY;
  }

  /** The form in words. */
  String words() {
    return kind.words + (length < 0 ? "" : ", all of " + length + " bytes");
  }

  private static boolean matches(Pattern pattern, byte[] key) {
    return pattern.matcher(new String(key, US_ASCII)).matches();
  }

  /** Whether it is UTF-8 without control characters, which small binary numbers are full of. */
  private static boolean isText(byte[] key) {
    for (byte b : key) {
      if ((b >= 0 && b < 0x20 && b != '\t') || b == 0x7F) {
        return false;
      }
    }
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
