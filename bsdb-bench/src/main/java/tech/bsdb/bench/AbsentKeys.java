package tech.bsdb.bench;

import java.io.IOException;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Keys that a database certainly does not have, as much like its own as can be.
 *
 * <p>A present key with random bytes behind it, one byte longer than the longest key of the
 * database, cannot be in it; nothing has to be looked up to know that, so that no page comes into
 * memory by it. Where the longest key is so long that this would make strange keys, a present key
 * is changed and looked up instead: what is not found is absent, in an approximate database too.
 */
final class AbsentKeys {
  /** How a key is looked up. */
  @FunctionalInterface
  interface Lookup {
    byte @Nullable [] get(byte[] key) throws IOException;
  }

  /** The most different absent keys; more would only take memory. */
  static final int MOST = 1_000_000;

  private static final int USUAL_KEY = 256;
  private static final int TRIES = 1_000;

  private AbsentKeys() {}

  /**
   * Makes absent keys.
   *
   * @param present keys to make them like
   * @param longestKey the length of the database's longest key
   * @throws IOException if the database cannot be read, or has every key that is tried
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
