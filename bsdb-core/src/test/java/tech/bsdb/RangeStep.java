package tech.bsdb;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * One step in the making of a range, and which keys it admits, decided without the range.
 *
 * @param kind what is done
 * @param bound the key given
 */
record RangeStep(Kind kind, byte[] bound) {
  /** What can be done with a range. */
  enum Kind {
    FROM,
    AFTER,
    TO,
    THROUGH,
    PREFIX
  }

  /** A random one; a prefix only as the first step of a range. */
  static RangeStep random(SplittableRandom random, byte[] bound, boolean first) {
    return new RangeStep(Kind.values()[random.nextInt(first ? 5 : 4)], bound);
  }

  /** The range after this step. */
  KeyRange narrow(KeyRange range) {
    return switch (kind) {
      case FROM -> range.from(bound);
      case AFTER -> range.after(bound);
      case TO -> range.to(bound);
      case THROUGH -> range.through(bound);
      case PREFIX -> KeyRange.prefix(bound);
    };
  }

  /** Whether a key can be in the range after this step. */
  boolean admits(byte[] key) {
    int compared = Arrays.compareUnsigned(key, bound);
    return switch (kind) {
      case FROM -> compared >= 0;
      case AFTER -> compared > 0;
      case TO -> compared < 0;
      case THROUGH -> compared <= 0;
      case PREFIX ->
          key.length >= bound.length && Arrays.equals(key, 0, bound.length, bound, 0, bound.length);
    };
  }
}
