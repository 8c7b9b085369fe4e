package tech.bsdb.lookup;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.FileKind;
import tech.bsdb.hash.Signature;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/**
 * Locates records by their signatures, in the packed layout: the signature gives a bin, the index
 * in memory gives the bin's pages, and the bin holds all records whose signatures lead to it. The
 * only read, at a place of {@link BinIndex}, goes to a data file. A filter in memory, if there is
 * one, saves it for most absent keys.
 */
public sealed class PackedLocator implements Locator permits CompressedBinLocator {
  private final long seed;
  private final BinIndex index;
  private final @Nullable SignatureFilter filter;
  private final PackedReader records;

  /**
   * Creates a locator, which closes the filter and the reader.
   *
   * @param filter rejects absent keys, or null to look up all
   */
  PackedLocator(long seed, BinIndex index, @Nullable SignatureFilter filter, PackedReader records) {
    this.seed = seed;
    this.index = index;
    this.filter = filter;
    this.records = records;
  }

  /** The index. */
  public BinIndex index() {
    return index;
  }

  @Override
  public @Nullable MemoryGet inMemory() {
    return filter != null || records.shown().contains(null)
        ? null
        : new PackedGet(seed, index, records);
  }

  @Override
  public int reads() {
    return 1;
  }

  @Override
  public FileKind file(int read) {
    return FileKind.DATA;
  }

  @Override
  public void sign(byte[] key, Signature signature) {
    signature.compute(key, 0, key.length, seed);
  }

  @Override
  public List<@Nullable ShownFile> shown() {
    return records.shown();
  }

  @Override
  public boolean touchesStart() {
    return true;
  }

  @Override
  public long touchStart(long high) {
    return index.touch(high);
  }

  @Override
  public long candidate(long high, long low) throws IOException {
    if (filter != null && !filter.mayHold(high, low)) {
      return ABSENT;
    }
    Touches.keep(index.touch(high));
    return index.place(high, low);
  }

  @Override
  public void locate(int read, long place, Extent extent) {
    records.locate(BinIndex.firstPage(place), BinIndex.pages(place), extent);
  }

  @Override
  public boolean fillsTwoLines() {
    return true;
  }

  @Override
  public void aim(int read, long place, Touches touches, int first) {
    records.aimEntry(BinIndex.firstPage(place), BinIndex.slot(place), touches, first);
  }

  @Override
  public boolean aimsTwice() {
    return true;
  }

  @Override
  public void aimAgain(long place, Touches touches, int first) {
    records.aimBin(BinIndex.firstPage(place), BinIndex.slot(place), touches, first);
  }

  @Override
  public long next(long place, Extent extent) {
    throw new IllegalStateException("a bin is read at once; there is no second read");
  }

  @Override
  public boolean holds(long place, Extent extent) {
    return BinIndex.pages(place) <= PageSource.MAX_RUN;
  }

  @Override
  public byte @Nullable [] value(
      long place, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    return records.value(
        BinIndex.firstPage(place),
        BinIndex.slot(place),
        index.starting(place),
        BinIndex.filterBitNumber(place),
        key,
        extent,
        values,
        scratch);
  }

  @Override
  public void close() throws IOException {
    try {
      records.close();
    } finally {
      if (filter != null) {
        filter.close();
      }
    }
  }
}
