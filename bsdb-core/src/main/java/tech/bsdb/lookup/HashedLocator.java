package tech.bsdb.lookup;

import java.io.IOException;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** Starts a lookup with a hash function: the place of the first read is the slot of the key. */
abstract class HashedLocator implements Locator {
  /** The stages that find the slots of keys. */
  static final int SLOT_STAGES = 3;

  final SignatureFunction function;

  /** The hash function, which the subclass closes. */
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

  /** One of the {@link #SLOT_STAGES}. */
  final void slotStage(int stage, Staged keys, int from, int to) throws IOException {
    if (stage == 0) {
      keys.sign(this, from, to);
      hash.touch(keys.highs, keys.scratch, from, to);
    } else if (stage == 1) {
      hash.candidates(keys.highs, keys.lows, keys.places, keys.scratch, from, to);
    } else {
      hash.confirm(keys.highs, keys.lows, keys.places, from, to);
      touchIndex(keys.places, keys.scratch, from, to);
    }
  }
}
