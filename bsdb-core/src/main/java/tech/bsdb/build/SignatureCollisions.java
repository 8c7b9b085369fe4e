package tech.bsdb.build;

import java.io.IOException;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.BucketOverflowException;

/** The errors of builds whose keys were made to collide. Each advises another seed. */
public final class SignatureCollisions {
  private static final String OTHER_SEED =
      "build with another seed (--seed random, or BuildOptions.withSeed)";

  private SignatureCollisions() {}

  /** The error for two different keys with the same signature. */
  public static IOException between(byte[] key, byte[] other) {
    return new IOException(
        "the keys "
            + DuplicateKeyException.show(key)
            + " and "
            + DuplicateKeyException.show(other)
            + " have the same 128-bit signature; "
            + OTHER_SEED);
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
}
