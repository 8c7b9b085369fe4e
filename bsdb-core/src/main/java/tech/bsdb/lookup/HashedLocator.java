package tech.bsdb.lookup;

import java.io.IOException;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** Starts a lookup with a hash function: the place of the first read is the slot of the key. */
abstract class HashedLocator implements Locator {
  final SignatureFunction function;

  final HashFunction hash;

  /** Creates a locator that starts with a hash function. */
  HashedLocator(SignatureFunction function, HashFunction hash) {
    this.function = function;
    this.hash = hash;
  }

  @Override
  public final void sign(byte[] key, Signature signature) {
    function.sign(key, 0, key.length, signature);
  }

  @Override
  public final long start(long high, long low) throws IOException {
    return hash.slot(high, low);
  }

  /** Touches the entries of the index for slots. */
  abstract void touchIndex(long[] slots, long[] scratch, int from, int to);

  /** Stages 0 to 2 find the slots of keys. */
  @Override
  public void stage(int stage, Staged keys, int from, int to) throws IOException {
    switch (stage) {
      case 0 -> {
        keys.sign(this, from, to);
        hash.touch(keys.highs, keys.scratch, from, to);
      }
      case 1 -> hash.candidates(keys.highs, keys.lows, keys.places, keys.scratch, from, to);
      case 2 -> {
        hash.confirm(keys.highs, keys.lows, keys.places, from, to);
        touchIndex(keys.places, keys.scratch, from, to);
      }
      default -> {}
    }
  }
}
