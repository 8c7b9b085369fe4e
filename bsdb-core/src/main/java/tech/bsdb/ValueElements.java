package tech.bsdb;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What all values of a database are: vectors of the same length, such as embeddings, whose elements
 * are numbers of one type, stored one after another in little-endian byte order (FORMAT.md §6).
 *
 * @param type the type of an element
 * @param count the number of elements of a value, at least 1
 */
public record ValueElements(Type type, int count) {
  /** IEEE 754 numbers (F), signed (I) and unsigned integers (U), with their number of bits. */
  public enum Type {
    F16,
    F32,
    F64,
    I8,
    U8,
    I16,
    I32,
    I64;

    private final int bytes = Integer.parseInt(name().substring(1)) / Byte.SIZE;
  }

  /** Fails with {@link IllegalArgumentException} if no value can have this many elements. */
  public ValueElements {
    BuildOptions.ranged("count", count, 1, RecordBatch.MAX_VALUE_LENGTH / type.bytes);
  }

  /** Bytes of a value. */
  public int bytes() {
    return type.bytes * count;
  }

  /** Reads the text of {@link #toString}; null if there is none, or a later release's type. */
  public static @Nullable ValueElements parse(@Nullable String text) {
    if (text == null) {
      return null;
    }
    String[] parts = text.split(" ", -1);
    if (parts.length != 2) {
      throw new IllegalArgumentException("not a type and a number of elements: " + text);
    }
    for (Type type : Type.values()) {
      if (type.name().toLowerCase(Locale.ROOT).equals(parts[0])) {
        return new ValueElements(type, Integer.parseInt(parts[1]));
      }
    }
    return null;
  }

  /** The type and the number of elements, as manifests have them: {@code f32 384}. */
  @Override
  public String toString() {
    return type.name().toLowerCase(Locale.ROOT) + " " + count;
  }
}
