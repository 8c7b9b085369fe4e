package tech.bsdb.lookup;

import java.io.IOException;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.Extent;

/**
 * Locates values that lie in the index itself, in approximate mode: the hash function maps a
 * signature to a slot, and the index holds the beginning of the value in that slot. There are no
 * keys to compare, so an absent key may get another key's value. The only read, at a slot, goes to
 * the index.
 */
public final class InlineLocator extends HashedLocator {
  private final ValueIndex index;

  /** Creates a locator; the caller closes its parts. */
  InlineLocator(SignatureFunction function, HashFunction hash, ValueIndex index) {
    super(function, hash);
    this.index = index;
  }

  @Override
  public int reads() {
    return 1;
  }

  @Override
  public FileKind file(int read) {
    return FileKind.INDEX;
  }

  @Override
  public void locate(int read, long place, Extent extent) {
    index.locate(place, extent);
  }

  @Override
  void touchIndex(long[] slots, long[] scratch, int from, int to) {
    index.touch(slots, scratch, from, to);
  }

  @Override
  public void stage(int stage, Staged keys, int from, int to) throws IOException {
    if (stage != Staged.VALUES) {
      super.stage(stage, keys, from, to);
      return;
    }
    for (int i = from; i < to; i++) {
      if (keys.places[i] == ABSENT || keys.key(i).length > RecordFrame.MAX_KEY) {
        keys.note(i, null);
      } else {
        keys.read(this, i, keys.places[i]);
      }
    }
  }

  @Override
  public boolean holds(long place, Extent extent) {
    return true;
  }

  @Override
  public byte[] value(long place, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    int length = index.length(place, extent);
    return values.take(extent.buffer(), index.valueAt(place, extent), length);
  }
}
