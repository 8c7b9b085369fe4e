package tech.bsdb.lookup;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.PlacedRecords;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.FileKind;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/**
 * Locates records through their addresses, in the blocked, compact and compressed layouts: the hash
 * function maps a signature to a slot, the index maps the slot to an address, and the record is at
 * the address. The first read, at a slot, goes to the index; the second, at an address, to a data
 * file.
 */
public final class AddressedLocator extends HashedLocator {
  /** How many records a sample has, which is eight pages of the index. */
  private static final int SAMPLE = 4_088;

  private final AddressIndex index;
  private final RecordReader records;

  /** Creates a locator, which closes its parts. */
  AddressedLocator(long seed, HashFunction hash, AddressIndex index, RecordReader records) {
    super(seed, hash);
    this.index = index;
    this.records = records;
  }

  @Override
  public @Nullable MemoryGet inMemory() {
    return records instanceof PlainReader plain && !shown().contains(null)
        ? new SlotGet(seed, hash, index, plain)
        : null;
  }

  @Override
  public int reads() {
    return 2;
  }

  @Override
  public FileKind file(int read) {
    return read == 0 ? FileKind.INDEX : FileKind.DATA;
  }

  @Override
  public void locate(int read, long place, Extent extent) throws IOException {
    if (read == 0) {
      index.locate(place, extent);
    } else {
      records.locate(place, extent);
    }
  }

  @Override
  public List<@Nullable ShownFile> shown() {
    List<@Nullable ShownFile> shown = new ArrayList<>();
    shown.add(hash.shown());
    shown.add(index.shown());
    shown.addAll(records.shown());
    return shown;
  }

  @Override
  public boolean fillsTwoLines() {
    return true;
  }

  @Override
  public void aim(int read, long place, Touches touches, int first) throws IOException {
    if (read == 0) {
      index.aim(place, touches, first + 1);
    } else {
      records.aim(place, touches, first + 2);
    }
  }

  @Override
  public long next(long place, Extent extent) {
    return index.address(place, extent);
  }

  @Override
  public boolean holds(long place, Extent extent) throws IOException {
    return records.holds(place, extent);
  }

  @Override
  public byte @Nullable [] value(
      long place, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    return records.decode(place, key, extent, values, scratch);
  }

  /**
   * Reads the values of records at known places if they lie together; see {@link
   * RecordReader#readTogether}.
   */
  public boolean readTogether(PlacedRecords placed, boolean anyway, Extent extent, Scratch scratch)
      throws IOException {
    return records.readTogether(placed, anyway, extent, scratch);
  }

  /**
   * The addresses of some records, which are anywhere in the data files.
   *
   * @param records the number of records of the database
   */
  public long[] sample(long records, Extent extent) throws IOException {
    long[] addresses = new long[(int) Math.min(SAMPLE, records)];
    long page = -1;
    for (int slot = 0; slot < addresses.length; slot++) {
      index.locate(slot, extent);
      if (extent.first() != page) {
        extent.read();
        page = extent.first();
      }
      addresses[slot] = index.address(slot, extent);
    }
    return addresses;
  }

  /** Whether the index holds the given address in a slot; reads no record. */
  public boolean leadsTo(long slot, long address, Extent extent) throws IOException {
    if (slot == ABSENT) {
      return false;
    }
    index.locate(slot, extent);
    extent.read();
    return index.address(slot, extent) == address;
  }

  @Override
  public void close() throws IOException {
    try (hash;
        index) {
      records.close();
    }
  }
}
