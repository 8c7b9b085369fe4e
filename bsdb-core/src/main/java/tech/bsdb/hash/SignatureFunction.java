package tech.bsdb.hash;

import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.format.Facts;

/**
 * The function that gives the keys of a database their signatures, with its seed. Databases whose
 * functions are equal give a key the same signature. Immutable and thread-safe.
 */
public final class SignatureFunction {
  private final long seed;

  private SignatureFunction(long seed) {
    this.seed = seed;
  }

  /** SpookyHash with a seed. */
  public static SignatureFunction spooky(long seed) {
    return new SignatureFunction(seed);
  }

  /** The function of a database. */
  public static SignatureFunction of(Facts facts) {
    return spooky(facts.hashSeed());
  }

  /** The function of the database that a build produces. */
  public static SignatureFunction of(BuildOptions options) {
    return spooky(options.seed());
  }

  /** The same function with another seed. */
  public SignatureFunction withSeed(long other) {
    return new SignatureFunction(other);
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
    to.compute(bytes, offset, length, seed);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SignatureFunction function && seed == function.seed;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(seed);
  }

  @Override
  public String toString() {
    return "seed " + seed;
  }
}
