package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Found;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.Taking;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.MumHash;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/** {@link MemoryGet} in a packed database that is not compressed: signature, bin, page, record. */
final class PackedGet implements MemoryGet {
  /** The most pages that stay in the caches, which a prefetch would only slow down: 16 MiB. */
  private static final long MOST_CACHED = 4096;

  private final SignatureFunction function;

  /** What signs short keys without an object for the result; null if the function has none. */
  private final @Nullable MumHash mum;

  private final BinIndex index;
  private final PackedReader records;

  /** The pages of the only data file; null if there are several. */
  private final @Nullable CheckedPages only;

  /** Whether to load early what is probably not in the cache. */
  private final boolean prefetches;

  /** Creates lookups in files that are all in memory. */
  PackedGet(SignatureFunction function, BinIndex index, PackedReader records) {
    this.function = function;
    this.mum = function.mum();
    this.index = index;
    this.records = records;
    this.only = records.only();
    this.prefetches = index.pages() > MOST_CACHED;
  }

  @Override
  public <T> @Nullable T get(byte[] key, Taking<T> taking) throws IOException {
    int length = key.length;
    long high;
    long low;
    if (mum != null && length <= MumHash.SHORT) {
      long first = MumHash.first(key, 0, length);
      long second = MumHash.second(key, 0, length);
      high = mum.high(first, second, length);
      low = mum.low(first, second, length);
    } else if (length <= RecordFrame.MAX_KEY) {
      Signature signature = new Signature();
      function.sign(key, 0, length, signature);
      high = signature.high;
      low = signature.low;
    } else {
      return null;
    }
    long bin = index.bin(high);
    if (prefetches) {
      Touches.keep(index.touch(high));
    }
    int page = index.page(bin);
    CheckedPages pages = only;
    long inFile = page + 1L;
    if (pages == null) {
      pages = records.file(page).pages();
      inFile = records.pageInFile(page);
    }
    ByteBuffer buffer = pages.known(inFile);
    if (buffer == null) {
      return taking.unread();
    }
    int at = ShownFile.offset(inFile << Page.SHIFT);
    int slot = index.slot(bin, page);
    int starting = index.startingIn(page);
    if (prefetches) {
      Touches.keep(PackedReader.touchLikely(buffer, at, slot, starting));
    }
    int filterBit = PackedPage.filterBitNumber(low);
    long found = PackedReader.find(buffer, at, slot, starting, filterBit, key);
    if (found < 0) {
      return found == Found.ABSENT ? null : taking.unread();
    }
    return taking.take(buffer, Found.offset(found), Found.length(found));
  }
}
