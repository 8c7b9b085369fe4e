package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Page;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ShownFile;

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
  final RecordReader records;

  /** Creates a locator; the caller closes its parts. */
  AddressedLocator(
      SignatureFunction function, HashFunction hash, AddressIndex index, RecordReader records) {
    super(function, hash);
    this.index = index;
    this.records = records;
  }

  @Override
  public @Nullable MemoryGet inMemory() {
    return records instanceof PlainReader plain
            && index.pages().isShown()
            && Arrays.stream(records.files()).allMatch(file -> file.pages().isShown())
        ? new SlotGet(function, hash, index, plain)
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
  void touchIndex(long[] slots, long[] scratch, int from, int to) {
    index.touch(slots, scratch, from, to);
  }

  @Override
  public void stage(int stage, Staged keys, int from, int to) throws IOException {
    switch (stage) {
      case Staged.VALUES - 2 -> findAddresses(keys.places, from, to, keys.session.before);
      case Staged.VALUES - 1 -> records.touch(keys.places, keys.scratch, from, to);
      case Staged.VALUES -> takeValues(keys, from, to);
      default -> super.stage(stage, keys, from, to);
    }
  }

  /** Replaces slots by addresses. */
  private void findAddresses(long[] slots, int from, int to, Extent extent) throws IOException {
    for (int i = from; i < to; i++) {
      if (slots[i] != ABSENT) {
        long at = index.position(slots[i]);
        ByteBuffer known = index.pages().known(at >>> Page.SHIFT);
        long address;
        if (known != null) {
          address = known.getLong(ShownFile.offset(at));
        } else {
          index.locate(slots[i], extent);
          extent.read();
          address = index.address(slots[i], extent);
        }
        if (address < 0) {
          records.locate(address, extent); // which reports it
        }
        slots[i] = address;
      }
    }
  }

  private void takeValues(Staged keys, int from, int to) throws IOException {
    PlainReader plain = records instanceof PlainReader reader ? reader : null;
    for (int i = from; i < to; i++) {
      long address = keys.places[i];
      if (address == ABSENT) {
        keys.note(i, null);
        continue;
      }
      ByteBuffer page = plain == null ? null : plain.known(address);
      if (plain == null
          || page == null
          || !keys.isNoted(i, page, plain.find(page, address, keys.key(i)))) {
        keys.read(this, i, address);
      }
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

  /**
   * Finds the slots of keys, or {@link #ABSENT}, so that their cache misses overlap.
   *
   * @param scratch memory for as many numbers as there are keys
   */
  public void findSlots(long[] highs, long[] lows, long[] slots, long[] scratch, int count)
      throws IOException {
    hash.touch(highs, scratch, 0, count);
    hash.candidates(highs, lows, slots, scratch, 0, count);
    hash.confirm(highs, lows, slots, 0, count);
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
}
