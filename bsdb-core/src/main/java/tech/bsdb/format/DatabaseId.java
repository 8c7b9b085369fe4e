package tech.bsdb.format;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The 16-byte id stored in all files of a database, derived from its content and options.
 * Immutable.
 */
public final class DatabaseId {
  /** Length of an id in bytes. */
  public static final int LENGTH = 16;

  private final byte[] bytes;

  private DatabaseId(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Derives the id from a manifest: the first half of its SHA-256. */
  public static DatabaseId derive(byte[] manifest) {
    return new DatabaseId(Arrays.copyOf(ContentHash.sha256().digest(manifest), LENGTH));
  }

  /** Reads the id at {@code offset}. */
  public static DatabaseId read(byte[] bytes, int offset) {
    return new DatabaseId(Arrays.copyOfRange(bytes, offset, offset + LENGTH));
  }

  /**
   * Parses the text of an id.
   *
   * @param text 32 hexadecimal digits
   * @throws IllegalArgumentException if it is anything else
   */
  public static DatabaseId parse(String text) {
    byte[] bytes = HexFormat.of().parseHex(text);
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException("not a database id: " + text);
    }
    return new DatabaseId(bytes);
  }

  /** A copy of the 16 bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** The first eight hexadecimal digits, used in file names. */
  public String shortName() {
    return toString().substring(0, 8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DatabaseId id && Arrays.equals(bytes, id.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** 32 hexadecimal digits. */
  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}
