package tech.bsdb.tools.where;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A pattern of LIKE: {@code %} stands for any text, {@code _} for one character. Immutable. */
public final class LikePattern {
  /** What a pattern consists of, besides bytes. */
  private static final int ANY = -1;

  private static final int ONE = -2;

  private final int[] parts;
  private final int position;

  private LikePattern(int[] parts, int position) {
    this.parts = parts;
    this.position = position;
  }

  /**
   * Creates a pattern.
   *
   * @param escape the character that makes the next one an ordinary one; or -1
   * @param position where in the condition it is
   * @throws IllegalArgumentException if the escape character comes before another one
   */
  static LikePattern of(String text, int escape, int position) {
    List<Integer> parts = new ArrayList<>();
    int[] characters = text.codePoints().toArray();
    for (int i = 0; i < characters.length; i++) {
      int character = characters[i];
      if (character == escape) {
        i++;
        if (i == characters.length
            || (characters[i] != escape && characters[i] != '%' && characters[i] != '_')) {
          throw new IllegalArgumentException("the escape character must precede %, _ or itself");
        }
        character = characters[i];
      } else if (character == '%' || character == '_') {
        parts.add(character == '%' ? ANY : ONE);
        continue;
      }
      for (byte b : Character.toString(character).getBytes(UTF_8)) {
        parts.add(b & 0xFF);
      }
    }
    return new LikePattern(parts.stream().mapToInt(Integer::intValue).toArray(), position);
  }

  /** Returns where in the condition it is, from 0. */
  int position() {
    return position;
  }

  /** Returns the bytes with which each matching text begins. */
  public byte[] prefix() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < parts.length && parts[i] >= 0; i++) {
      bytes.write(parts[i]);
    }
    return bytes.toByteArray();
  }

  /** Whether text in UTF-8, which is in {@code from} to {@code to - 1}, matches. */
  boolean matches(byte[] text, int from, int to) {
    int at = from;
    int part = 0;
    int any = -1; // the part after the last % that was passed, and where its text may begin
    int begin = -1;
    while (at < to) {
      if (part < parts.length && parts[part] == ANY) {
        any = ++part;
        begin = at;
      } else if (part < parts.length && parts[part] == ONE) {
        at = next(text, at, to);
        part++;
      } else if (part < parts.length && parts[part] == (text[at] & 0xFF)) {
        at++;
        part++;
      } else if (any >= 0) {
        begin = next(text, begin, to);
        at = begin;
        part = any;
      } else {
        return false;
      }
    }
    while (part < parts.length && parts[part] == ANY) {
      part++;
    }
    return part == parts.length;
  }

  /** Returns where the next character begins. */
  private static int next(byte[] text, int at, int to) {
    int next = at + 1;
    while (next < to && (text[next] & 0xC0) == 0x80) {
      next++;
    }
    return next;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LikePattern pattern && Arrays.equals(parts, pattern.parts);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(parts);
  }
}
