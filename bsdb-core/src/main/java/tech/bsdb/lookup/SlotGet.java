package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.Found;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.Taking;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.MumHash;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.ShownFile;

/**
 * {@link MemoryGet} in a database of the blocked or compact layout: signature, slot, address,
 * record.
 */
final class SlotGet implements MemoryGet {
  private final SignatureFunction function;

  /** What signs short keys without an object for the result; null if the function has none. */
  private final @Nullable MumHash mum;

  private final HashFunction hash;
  private final AddressIndex index;
  private final RecordAddress addresses;
  private final CheckedPages[] files;

  /** Creates lookups in files that are all in memory. */
  SlotGet(SignatureFunction function, HashFunction hash, AddressIndex index, PlainReader records) {
    this.function = function;
    this.mum = function.mum();
    this.hash = hash;
    this.index = index;
    this.addresses = records.addresses();
    this.files = Arrays.stream(records.files()).map(DataFile::pages).toArray(CheckedPages[]::new);
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
    long slot = hash.slot(high, low);
    if (slot == HashFunction.ABSENT) {
      return null;
    }
    long entryAt = index.position(slot);
    ByteBuffer entries = index.pages().known(entryAt >>> Page.SHIFT);
    if (entries == null) {
      return taking.unread();
    }
    long address = entries.getLong(ShownFile.offset(entryAt));
    int file = RecordAddress.file(address);
    if (address < 0 || file >= files.length || addresses.detail(address) != 0) {
      return taking.unread();
    }
    CheckedPages pages = files[file];
    long position = addresses.position(address);
    long page = position >>> Page.SHIFT;
    int inPage = (int) position & Page.SIZE - 1;
    if (page < 1 || page >= pages.pages() - 1 || inPage >= Page.PAYLOAD) {
      return taking.unread();
    }
    ByteBuffer buffer = pages.known(page);
    if (buffer == null) {
      return taking.unread();
    }
    int pageAt = ShownFile.offset(page << Page.SHIFT);
    long found = PlainReader.find(buffer, pageAt, inPage, key);
    if (found < 0) {
      return found == Found.ABSENT ? null : taking.unread();
    }
    return taking.take(buffer, Found.offset(found), Found.length(found));
  }
}
