package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.CompressedBinReader;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.io.Extent;

/**
 * Locates records in the packed layout whose bins are compressed. A place also holds the part of
 * the bin in which the signature lies, which tells the block that can have the record.
 */
public final class CompressedBinLocator extends PackedLocator {
  /*
   * A place: 8 bits for the part, 39 for the bin's first page and its number there, 16 for its pages minus one. That
   * number is capped: it only has to say whether the pages are more than one read fetches.
   */
  private static final int PART_SHIFT = 55;
  private static final int RUN_BITS = 16;
  private static final int MOST_RUN = (1 << RUN_BITS) - 1;
  private static final long BIN_MASK = (1L << PART_SHIFT) - 1;

  private final CompressedBinReader records;

  /** Creates a locator; the caller closes its parts. */
  CompressedBinLocator(
      SignatureFunction function,
      BinIndex index,
      @Nullable SignatureFilter filter,
      PackedReader pages,
      CompressedBinReader records) {
    super(function, index, filter, pages);
    this.records = records;
  }

  @Override
  public long start(long high, long low) throws IOException {
    long bin = super.start(high, low);
    if (bin == ABSENT) {
      return ABSENT;
    }
    long part = BinIndex.part(high, index().bins());
    long run = Math.min(MOST_RUN, BinIndex.pages(bin) - 1);
    return part << PART_SHIFT | BinIndex.bare(bin) << RUN_BITS | run;
  }

  /** The place of the bin in the index. */
  private static long bin(long place) {
    long bin = place & BIN_MASK;
    return BinIndex.withRun(bin >>> RUN_BITS, (int) bin & MOST_RUN);
  }

  @Override
  public void locate(int read, long place, Extent extent) {
    super.locate(read, bin(place), extent);
  }

  @Override
  boolean hasFilters() {
    return false;
  }

  @Override
  void takeValues(Staged keys, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      readBin(keys, i);
    }
  }

  @Override
  public @Nullable MemoryGet inMemory() {
    return null;
  }

  @Override
  public boolean holds(long place, Extent extent) {
    return super.holds(bin(place), extent);
  }

  @Override
  public byte @Nullable [] value(
      long place, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    long bin = bin(place);
    int part = (int) (place >>> PART_SHIFT);
    return records.value(
        BinIndex.firstPage(bin), BinIndex.slot(bin), part, key, extent, values, scratch);
  }
}
