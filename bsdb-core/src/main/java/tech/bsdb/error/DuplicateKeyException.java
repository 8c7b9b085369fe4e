package tech.bsdb.error;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Thrown when a build that rejects duplicates receives a key twice. */
public final class DuplicateKeyException extends IOException {
  private static final long serialVersionUID = 1L;

  private final byte[] key;
  private final long first;
  private final long second;

  /**
   * Creates an exception.
   *
   * @param key the key
   * @param first the number of the first record with the key, from 0, in insertion order
   * @param second the number of the next record with the key
   */
  public DuplicateKeyException(byte[] key, long first, long second) {
    super("duplicate key " + show(key) + " in records " + first + " and " + second);
    this.key = key.clone();
    this.first = first;
    this.second = second;
  }

  /** The key. */
  public byte[] key() {
    return key.clone();
  }

  /** The number of the first record with the key, from 0, in insertion order. */
  public long first() {
    return first;
  }

  /** The number of the second record with the key, from 0, in insertion order. */
  public long second() {
    return second;
  }

  /**
   * Formats a key for messages: quoted text if it is printable UTF-8, otherwise {@code 0x} and
   * hexadecimal digits. Long keys are truncated.
   */
  public static String show(byte[] key) {
    byte[] head = key.length > 128 ? Arrays.copyOf(key, 128) : key;
    String tail = key.length > 128 ? "... (" + key.length + " bytes)" : "";
    String text = new String(head, StandardCharsets.UTF_8);
    boolean clean = text.indexOf('\uFFFD') < 0 && text.chars().noneMatch(Character::isISOControl);
    return (clean ? "\"" + text + "\"" : "0x" + HexFormat.of().formatHex(head)) + tail;
  }
}
