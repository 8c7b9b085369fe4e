package tech.bsdb.lookup;

import java.io.IOException;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Touches;

/** Starts a lookup with a hash function: the place of the first read is the slot of the key. */
abstract class HashedLocator implements Locator {
  final long seed;

  /** The hash function, which the subclass closes. */
  final HashFunction hash;

  /** Creates a locator that starts with a hash function. */
  HashedLocator(long seed, HashFunction hash) {
    this.seed = seed;
    this.hash = hash;
  }

  @Override
  public void sign(byte[] key, Signature signature) {
    signature.compute(key, 0, key.length, seed);
  }

  @Override
  public void aimStart(long high, Touches touches, int first) {
    hash.aim(high, touches, first);
  }

  @Override
  public long candidate(long high, long low) throws IOException {
    return hash.candidate(high, low);
  }

  @Override
  public void aimCandidate(long candidate, long high, Touches touches, int first) {
    hash.aimCandidate(candidate, high, touches, first);
  }

  @Override
  public long confirm(long candidate, long high, long low) throws IOException {
    return hash.confirms(candidate, high, low) ? candidate : ABSENT;
  }
}
