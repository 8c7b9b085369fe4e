package tech.bsdb.hash;

import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.format.Facts;

/**
 * The function that gives the keys of a database their signatures: an algorithm and a seed.
 * Databases whose functions are equal give a key the same signature. Immutable and thread-safe.
 */
public final class SignatureFunction {
  private final SignatureAlgorithm algorithm;
  private final long seed;
  private final @Nullable MumHash mum;

  private SignatureFunction(SignatureAlgorithm algorithm, long seed) {
    this.algorithm = algorithm;
    this.seed = seed;
    this.mum = algorithm == SignatureAlgorithm.MUM ? new MumHash(seed) : null;
  }

  /** An algorithm with a seed. */
  public static SignatureFunction of(SignatureAlgorithm algorithm, long seed) {
    return new SignatureFunction(algorithm, seed);
  }

  /** The function of a database. */
  public static SignatureFunction of(Facts facts) {
    return new SignatureFunction(facts.signature(), facts.hashSeed());
  }

  /** The function of the database that a build produces. */
  public static SignatureFunction of(BuildOptions options) {
    return new SignatureFunction(options.signature(), options.seed());
  }

  /** The same algorithm with another seed. */
  public SignatureFunction withSeed(long other) {
    return new SignatureFunction(algorithm, other);
  }

  /** The hash that {@link #sign} calls, for callers that need no place for its result; or null. */
  public @Nullable MumHash mum() {
    return mum;
  }

  /**
   * Computes the signature of a key.
   *
   * @param bytes the array that holds the key
   * @param offset where the key starts
   * @param length bytes of the key
   * @param to receives the signature
   * @throws IndexOutOfBoundsException if the key lies outside the array
   */
  public void sign(byte[] bytes, int offset, int length, Signature to) {
    if (mum != null) {
      mum.sign(bytes, offset, length, to);
    } else {
      to.compute(bytes, offset, length, seed);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SignatureFunction function
        && algorithm == function.algorithm
        && seed == function.seed;
  }

  @Override
  public int hashCode() {
    return 31 * algorithm.hashCode() + Long.hashCode(seed);
  }

  @Override
  public String toString() {
    return algorithm.id() + " with seed " + seed;
  }
}
