package tech.bsdb.tools.serve.resp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A pattern of {@code *}, {@code ?}, {@code [a-z]} and {@code \} escapes, as Redis matches it. */
final class Glob {
  private final byte[] pattern;
  private int at;
  private boolean matched;

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

  /** Whether the whole text matches. Takes at most the product of both lengths. Not thread-safe. */
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
      if (p < pattern.length && matchesOne(p, text[here])) {
        p = at;
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

  /** Matches one byte with what stands at a place of the pattern, and notes where that ends. */
  private boolean matchesOne(int p, byte octet) {
    switch (pattern[p]) {
      case '?' -> {
        at = p + 1;
        return true;
      }
      case '[' -> {
        readClass(p + 1, octet & 0xFF);
        return matched;
      }
      case '\\' -> {
        int literal = p + 1 < pattern.length ? p + 1 : p;
        at = literal + 1;
        return pattern[literal] == octet;
      }
      default -> {
        at = p + 1;
        return pattern[p] == octet;
      }
    }
  }

  private void readClass(int from, int octet) {
    int p = from;
    boolean not = p < pattern.length && pattern[p] == '^';
    if (not) {
      p++;
    }
    boolean found = false;
    while (p < pattern.length && pattern[p] != ']') {
      if (pattern[p] == '\\' && p + 1 < pattern.length) {
        p++;
        found |= (pattern[p] & 0xFF) == octet;
      } else if (p + 2 < pattern.length && pattern[p + 1] == '-') {
        int low = Math.min(pattern[p] & 0xFF, pattern[p + 2] & 0xFF);
        int high = Math.max(pattern[p] & 0xFF, pattern[p + 2] & 0xFF);
        found |= octet >= low && octet <= high;
        p += 2;
      } else {
        found |= (pattern[p] & 0xFF) == octet;
      }
      p++;
    }
    at = Math.min(p + 1, pattern.length);
    matched = found != not;
  }
}
