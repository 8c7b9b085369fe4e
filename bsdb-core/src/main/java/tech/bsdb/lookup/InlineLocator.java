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

  /** Creates a locator, which closes its parts. */
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
  public int stages() {
    return SLOT_STAGES + 1;
  }

  @Override
  public void stage(int stage, Staged keys, int from, int to) throws IOException {
    if (stage < SLOT_STAGES) {
      slotStage(stage, keys, from, to);
      return;
    }
    Extent extent = keys.session.last;
    for (int i = from; i < to; i++) {
      byte[] key = keys.key(i);
      long slot = keys.places[i];
      byte[] value = null;
      if (slot != ABSENT && key.length <= RecordFrame.MAX_KEY) {
        index.locate(slot, extent);
        extent.read();
        value = value(slot, key, extent, keys.values(), keys.session.scratch);
      }
      keys.note(i, value);
    }
  }

  @Override
  public long next(long place, Extent extent) {
    throw new IllegalStateException("the value is in the index; there is no second read");
  }

  @Override
  public boolean holds(long place, Extent extent) {
    return true;
  }

  @Override
  public byte[] value(long place, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    int length = index.length(place, extent);
    return values.take(extent.window().buffer(), index.valueAt(place, extent), length);
  }

  @Override
  public void close() throws IOException {
    try (hash) {
      index.close();
    }
  }
}
