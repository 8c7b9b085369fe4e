package tech.bsdb.bench;

import java.io.IOException;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Generates keys that a database certainly lacks but that resemble its own.
 *
 * <p>A present key extended by random bytes to one byte more than the longest key cannot be in the
 * database. This needs no lookup, so no page is read into memory. If the longest key is so long
 * that this would produce unusual keys, a present key is altered and looked up instead; a key that
 * is not found is absent, even in an approximate database.
 */
final class AbsentKeys {
  /** Looks up a key. */
  @FunctionalInterface
  interface Lookup {
    byte @Nullable [] get(byte[] key) throws IOException;
  }

  /** The maximum number of distinct absent keys; more would only take memory. */
  static final int MOST = 1_000_000;

  private static final int USUAL_KEY = 256;
  private static final int TRIES = 1_000;

  private AbsentKeys() {}

  /**
   * Generates absent keys.
   *
   * @param present keys that they should resemble
   * @param longestKey the length of the database's longest key
   * @throws IOException if the database cannot be read or has every key tried
   */
  static byte[][] like(byte[][] present, long longestKey, Lookup database, long seed)
      throws IOException {
    SplittableRandom random = new SplittableRandom(~seed);
    byte[][] absent = new byte[Math.min(MOST, present.length)][];
    for (int i = 0; i < absent.length; i++) {
      absent[i] =
          longestKey <= USUAL_KEY
              ? longer(present[i], (int) longestKey + 1, random)
              : changed(present[i], database, random);
    }
    return absent;
  }

  private static byte[] longer(byte[] key, int length, SplittableRandom random) {
    byte[] longer = new byte[length];
    int kept = Math.min(key.length, length - 1);
    System.arraycopy(key, 0, longer, 0, kept);
    randomize(longer, kept, random);
    return longer;
  }

  private static byte[] changed(byte[] key, Lookup database, SplittableRandom random)
      throws IOException {
    for (int tried = 0; tried < TRIES; tried++) {
      byte[] changed = new byte[Math.max(8, key.length)];
      System.arraycopy(key, 0, changed, 0, key.length);
      randomize(changed, changed.length - 8, random);
      if (database.get(changed) == null) {
        return changed;
      }
    }
    throw new IOException(
        "no absent keys found: the database gives a value for each of "
            + TRIES
            + " random keys (-cb 0 does that in approximate mode); leave --absent out");
  }

  private static void randomize(byte[] bytes, int from, SplittableRandom random) {
    for (int i = from; i < bytes.length; i++) {
      bytes[i] = (byte) random.nextInt(256);
    }
  }
}
