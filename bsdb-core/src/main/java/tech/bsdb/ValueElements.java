package tech.bsdb;

import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What all values of a database are: vectors of the same length, such as embeddings, whose elements
 * are numbers of one type, stored one after another in little-endian byte order (FORMAT.md §6).
 *
 * @param type the type of an element
 * @param count the number of elements of a value, at least 1
 */
public record ValueElements(Type type, int count) {
  /** The type of an element. */
  public enum Type {
    /** IEEE 754 binary16. */
    F16(2),
    /** IEEE 754 binary32. */
    F32(4),
    /** IEEE 754 binary64. */
    F64(8),
    /** A signed byte. */
    I8(1),
    /** An unsigned byte. */
    U8(1),
    /** A signed number of 16 bits. */
    I16(2),
    /** A signed number of 32 bits. */
    I32(4),
    /** A signed number of 64 bits. */
    I64(8);

    private final int bytes;

    Type(int bytes) {
      this.bytes = bytes;
    }

    /** Bytes of an element. */
    public int bytes() {
      return bytes;
    }

    /** The name in manifests: {@code f32}. */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Fails with {@link IllegalArgumentException} if no value can have so many elements. */
  public ValueElements {
    Objects.requireNonNull(type, "type");
    BuildOptions.ranged("count", count, 1, RecordBatch.MAX_VALUE_LENGTH / type.bytes);
  }

  /** Bytes of a value. */
  public int bytes() {
    return type.bytes * count;
  }

  /**
   * Reads the text of {@link #toString}. A later release may know more types: of one that this
   * release does not know, the values are plain bytes.
   *
   * @return null if the type is unknown
   * @throws IllegalArgumentException if the text is not of this form
   */
  public static @Nullable ValueElements parse(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length != 2) {
      throw new IllegalArgumentException("not a type and a number of elements: " + text);
    }
    for (Type type : Type.values()) {
      if (type.id().equals(parts[0])) {
        return new ValueElements(type, Integer.parseInt(parts[1]));
      }
    }
    return null;
  }

  /** The type and the number of elements: {@code f32 384}. */
  @Override
  public String toString() {
    return type.id() + " " + count;
  }
}
