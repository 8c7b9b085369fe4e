package tech.bsdb.lookup;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.FileKind;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/**
 * Locates values that lie in the index itself, in approximate mode: the hash function maps a
 * signature to a slot, and the index holds the beginning of the value in that slot. There are no
 * keys to compare, so an absent key may get another key's value. The only read, at a slot, goes to
 * the index.
 */
public final class InlineLocator extends HashedLocator {
  private final ValueIndex index;

  /** Creates a locator, which closes its parts. */
  InlineLocator(long seed, HashFunction hash, ValueIndex index) {
    super(seed, hash);
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
  public List<@Nullable ShownFile> shown() {
    return Arrays.asList(hash.shown(), index.shown());
  }

  @Override
  public boolean fillsTwoLines() {
    return false;
  }

  @Override
  public void aim(int read, long place, Touches touches, int first) {
    index.aim(place, touches, first + 1);
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
