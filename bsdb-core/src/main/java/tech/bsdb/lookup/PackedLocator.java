package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.CompressedBinReader;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.FileKind;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.SignatureFilter;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Touches;

/**
 * Locates records by their signatures, in the packed layout: the signature gives a bin, the index
 * in memory gives the bin's pages, and the bin holds all records whose signatures lead to it. The
 * only read, at a place of {@link BinIndex}, goes to a data file. A filter in memory, if there is
 * one, saves it for most absent keys. If the bins are compressed, the part of the bin in which the
 * signature lies tells the block that can have the record.
 */
public final class PackedLocator implements Locator {
  private final SignatureFunction function;
  private final BinIndex index;
  private final @Nullable SignatureFilter filter;
  private final PackedReader records;
  private final @Nullable CompressedBinReader compressed;

  /**
   * Creates a locator; the caller closes its parts.
   *
   * @param filter rejects absent keys, or null to look up all
   * @param compressed reads the records if the bins are compressed, otherwise null
   */
  PackedLocator(
      SignatureFunction function,
      BinIndex index,
      @Nullable SignatureFilter filter,
      PackedReader records,
      @Nullable CompressedBinReader compressed) {
    this.function = function;
    this.index = index;
    this.filter = filter;
    this.records = records;
    this.compressed = compressed;
  }

  /** The index. */
  public BinIndex index() {
    return index;
  }

  @Override
  public @Nullable MemoryGet inMemory() {
    return filter == null && compressed == null && records.isShown()
        ? new PackedGet(function, index, records)
        : null;
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
    function.sign(key, 0, key.length, signature);
  }

  @Override
  public long start(long high, long low) throws IOException {
    if (filter != null && !filter.mayHold(high, low)) {
      return ABSENT;
    }
    Touches.keep(index.touch(high));
    return compressed == null ? index.place(high, low) : index.placeInPart(high);
  }

  @Override
  public void locate(int read, long place, Extent extent) {
    records.locate(BinIndex.firstPage(place), BinIndex.pages(place), extent);
  }

  @Override
  public void stage(int stage, Staged keys, int from, int to) throws IOException {
    switch (stage) {
      case 0 -> {
        keys.sign(this, from, to);
        touchIndex(keys.highs, from, to);
      }
      case 1 -> readEntries(keys, from, to);
      case Staged.VALUES - 1 ->
          records.touchBins(
              keys.places,
              keys.entries,
              keys.lows,
              compressed == null,
              ABSENT,
              keys.scratch,
              from,
              to);
      case Staged.VALUES -> takeValues(keys, from, to);
      default -> {}
    }
  }

  private void touchIndex(long[] highs, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += index.touch(highs[i]);
    }
    Touches.keep(sum);
  }

  /** Finds the bins of keys, and reads their directory entries, which may not be verified. */
  private void readEntries(Staged keys, int from, int to) {
    long[] places = keys.places;
    for (int i = from; i < to; i++) {
      long bin = index.bin(keys.highs[i]);
      int page = index.page(bin);
      places[i] = records.place(page, index.slot(bin, page), index.startingIn(page));
    }
    records.readEntries(places, keys.entries, from, to);
  }

  /** Notes the values of keys. */
  private void takeValues(Staged keys, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      long place = keys.places[i];
      if (place == ABSENT) {
        keys.note(i, null);
        continue;
      }
      ByteBuffer page = compressed == null ? records.known(place) : null;
      if (page == null
          || !keys.isNoted(i, page, PackedReader.find(page, place, keys.lows[i], keys.key(i)))) {
        readBin(keys, i);
      }
    }
  }

  /** Notes the value of a key whose record may be anywhere in its bin. */
  private void readBin(Staged keys, int number) throws IOException {
    long place = start(keys.highs[number], keys.lows[number]);
    if (place == ABSENT) {
      keys.note(number, null);
    } else {
      keys.read(this, number, place);
    }
  }

  @Override
  public boolean holds(long place, Extent extent) {
    return BinIndex.pages(place) <= PageSource.MAX_RUN;
  }

  @Override
  public byte @Nullable [] value(
      long place, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    long page = BinIndex.firstPage(place);
    int slot = BinIndex.slot(place);
    int detail = BinIndex.detail(place);
    return compressed == null
        ? records.value(page, slot, index.starting(place), detail, key, extent, values, scratch)
        : compressed.value(page, slot, detail, key, extent, values, scratch);
  }
}
