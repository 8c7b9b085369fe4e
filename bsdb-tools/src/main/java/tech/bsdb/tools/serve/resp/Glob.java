package tech.bsdb.tools.serve.resp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A pattern of {@code *}, {@code ?}, {@code [a-z]} and {@code \} escapes, as Redis matches it. */
final class Glob {
  private final byte[] pattern;

  Glob(byte[] pattern) {
    this.pattern = pattern;
  }

  /**
   * Returns the bytes that come before the last {@code *} of a pattern like {@code user:*}; else
   * null.
   */
  byte @Nullable [] literalPrefix() {
    byte[] literal = new byte[pattern.length];
    int length = 0;
    for (int p = 0; p < pattern.length; p++) {
      if (pattern[p] == '*') {
        return p == pattern.length - 1 ? Arrays.copyOf(literal, length) : null;
      }
      if (pattern[p] == '?' || pattern[p] == '[') {
        return null;
      }
      if (pattern[p] == '\\' && p + 1 < pattern.length) {
        p++;
      }
      literal[length++] = pattern[p];
    }
    return null;
  }

  /** Whether the whole text matches. Takes at most the product of both lengths. */
  boolean matches(byte[] text) {
    int here = 0;
    int p = 0;
    int star = -1;
    int marked = 0;
    while (here < text.length) {
      if (p < pattern.length && pattern[p] == '*') {
        star = p++;
        marked = here;
        continue;
      }
      int next = p < pattern.length ? matchOne(p, text[here]) : -1;
      if (next >= 0) {
        p = next;
        here++;
        continue;
      }
      if (star < 0) {
        return false;
      }
      p = star + 1;
      here = ++marked;
    }
    while (p < pattern.length && pattern[p] == '*') {
      p++;
    }
    return p == pattern.length;
  }

  /** Matches one byte with what stands at a place; returns where that ends, or else -1. */
  private int matchOne(int p, byte octet) {
    int literal = pattern[p] == '\\' && p + 1 < pattern.length ? p + 1 : p;
    return switch (pattern[p]) {
      case '?' -> p + 1;
      case '[' -> matchClass(p + 1, octet & 0xFF);
      default -> pattern[literal] == octet ? literal + 1 : -1;
    };
  }

  private int matchClass(int from, int octet) {
    int p = from;
    boolean not = p < pattern.length && pattern[p] == '^';
    if (not) {
      p++;
    }
    boolean found = false;
    while (p < pattern.length && pattern[p] != ']') {
      int low = pattern[p] & 0xFF;
      int high = low;
      if (low == '\\' && p + 1 < pattern.length) {
        low = pattern[++p] & 0xFF;
        high = low;
      } else if (p + 2 < pattern.length && pattern[p + 1] == '-') {
        p += 2;
        high = pattern[p] & 0xFF;
      }
      found |= octet >= Math.min(low, high) && octet <= Math.max(low, high);
      p++;
    }
    return found != not ? Math.min(p + 1, pattern.length) : -1;
  }
}
