package tech.bsdb.write;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.BucketOverflowException;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** The errors of builds whose keys were made to collide. Each advises what helps. */
final class SignatureCollisions {
  private static final String OTHER_SEED =
      "build with another seed (--seed random, BuildOptions.withSeed, or the option seed of Spark)";

  private static final String PACKED =
      "another seed does not help: build the packed layout, which holds both (--layout packed,"
          + " Layout.PACKED, or the option layout of Spark), or leave one of the keys out";

  private SignatureCollisions() {}

  /** The error for two different keys with the same signature. */
  static IOException between(byte[] key, byte[] other, SignatureFunction function) {
    return new IOException(
        "the keys "
            + DuplicateKeyException.show(key)
            + " and "
            + DuplicateKeyException.show(other)
            + " have the same 128-bit signature"
            + (collideWithEverySeed(key, other, function)
                ? " with every seed; " + PACKED
                : "; " + OTHER_SEED));
  }

  /**
   * Whether two different keys have the same signature whatever the seed (FORMAT.md §9). With a
   * seed that nobody knew before, other keys do not collide.
   */
  private static boolean collideWithEverySeed(
      byte[] key, byte[] other, SignatureFunction function) {
    SignatureFunction unknown = function.withSeed(ThreadLocalRandom.current().nextLong());
    Signature one = new Signature();
    unknown.sign(key, 0, key.length, one);
    Signature two = new Signature();
    unknown.sign(other, 0, other.length, two);
    return one.high == two.high && one.low == two.low && !Arrays.equals(key, other);
  }

  /** The error for signatures of which too many fall into one bucket. */
  static IOException uneven(BucketOverflowException cause) {
    return new IOException(
        "the keys' signatures are not evenly distributed: "
            + cause.getMessage()
            + "; "
            + OTHER_SEED,
        cause);
  }

  /**
   * The records of the build, in the order in which they were added; unless they are stored in that
   * of their keys, which {@link KeyOrder} has found to be different then.
   */
  @FunctionalInterface
  interface Records {
    /** Starts a scan over all records, which the caller closes. */
    RecordScanner scan() throws IOException;
  }

  /**
   * Returns the error for two records with the same signature: it reports their key and the numbers
   * of the first two records with that key, or their two keys.
   *
   * @param pair the addresses of the records
   */
  static IOException find(
      DuplicateSignatureException pair, Records records, SignatureFunction function)
      throws IOException {
    byte @Nullable [] key = null;
    try (RecordScanner scanner = records.scan()) {
      while (scanner.next()) {
        if (scanner.address() == pair.first() || scanner.address() == pair.second()) {
          if (key == null) {
            key = scanner.key();
          } else if (!Arrays.equals(key, scanner.key())) {
            return between(key, scanner.key(), function);
          }
        }
      }
    }
    if (key != null) {
      try (RecordScanner scanner = records.scan()) {
        long first = -1;
        for (long number = 0; scanner.next(); number++) {
          if (Arrays.equals(key, scanner.key())) {
            if (first >= 0) {
              return new DuplicateKeyException(key, first, number);
            }
            first = number;
          }
        }
      }
    }
    return new IOException(
        "two records have the same signature, but rereading the records did not find them: "
            + pair.getMessage());
  }
}
