package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.SlotIndex;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.Extent;

/**
 * The way of a lookup, in steps: key, signature, slot, extent of the index, address, extent of the
 * data, value; in approximate mode the index holds the value. Between the steps an extent is read,
 * in whatever way: one read after the other, many in one queue, or by touching mapped memory.
 * Thread-safe; each thread brings its own extents and scratch.
 *
 * @param seed of the signatures
 * @param hash signature to slot
 * @param index slot to address or value
 * @param addresses the index of an exact database, else null
 * @param shortValues the index of an approximate one, else null
 * @param records the records of an exact database, else null
 */
record LookupPath(
    long seed,
    HashFunction hash,
    SlotIndex index,
    @Nullable AddressIndex addresses,
    @Nullable ValueIndex shortValues,
    @Nullable RecordReader records) {

  static LookupPath exact(
      long seed, HashFunction hash, AddressIndex addresses, RecordReader records) {
    return new LookupPath(seed, hash, addresses, addresses, null, records);
  }

  static LookupPath approximate(long seed, HashFunction hash, ValueIndex values) {
    return new LookupPath(seed, hash, values, null, values, null);
  }

  /** Computes the signature of a key. */
  void sign(byte[] key, Signature signature) {
    signature.compute(key, 0, key.length, seed);
  }

  /** The slot of a key, or {@link HashFunction#ABSENT}. */
  long slot(byte[] key, Signature signature) throws IOException {
    if (key.length > RecordFrame.MAX_KEY) {
      return HashFunction.ABSENT;
    }
    sign(key, signature);
    return hash.slot(signature.high, signature.low);
  }

  /** All that is left, from the slot on, one read after the other. */
  byte @Nullable [] value(long slot, byte[] key, Session session, Values values)
      throws IOException {
    index.locate(slot, session.index);
    session.index.read();
    if (addresses == null || records == null) {
      return shortValue(slot, session.index, values);
    }
    long address = addresses.address(slot, session.index);
    records.locate(address, session.data);
    long pages = (long) session.data.count() * Page.SIZE;
    if (pages > Values.UNASKED) {
      values.reserve(pages);
    }
    session.data.read();
    return records.decode(address, key, session.data, values, session.scratch);
  }

  /** As {@link #value}, if all that it reads was read before; else says that it was not. */
  byte @Nullable [] valueIfTouched(long slot, byte[] key, Session session) throws IOException {
    index.locate(slot, session.index);
    if (!session.index.touched()) {
      return Lookup.NOT_IN_MEMORY;
    }
    session.index.read();
    if (addresses == null || records == null) {
      return shortValue(slot, session.index, session.values);
    }
    long address = addresses.address(slot, session.index);
    records.locate(address, session.data);
    if (!session.data.touched()) {
      return Lookup.NOT_IN_MEMORY;
    }
    session.data.read();
    if (!records.holds(address, session.data)) {
      return Lookup.NOT_IN_MEMORY;
    }
    return records.decode(address, key, session.data, session.values, session.scratch);
  }

  /** Whether the index holds the values. */
  boolean isApproximate() {
    return addresses == null;
  }

  /** In approximate mode, the value in a slot whose page was read. */
  byte[] shortValue(long slot, Extent extent, Values values) throws IOException {
    ValueIndex approximate = there(shortValues);
    int length = approximate.length(slot, extent);
    byte[] value = values.make(length);
    approximate.value(slot, extent, value, values.offset(), length);
    return value;
  }

  /** In exact mode, the address in a slot whose page was read. */
  long address(long slot, Extent extent) {
    return there(addresses).address(slot, extent);
  }

  /** Points at the pages of the record at an address. */
  void toRecord(long address, Extent extent) throws IOException {
    there(records).locate(address, extent);
  }

  /** Asks the memory for a record. */
  long touchRecord(long address) throws IOException {
    return there(records).touch(address);
  }

  /** Whether the extent, which was read, holds the whole record. */
  boolean holdsRecord(long address, Extent extent) throws IOException {
    return there(records).holds(address, extent);
  }

  /** The value of the record, whose pages were read, or null if it has another key. */
  byte @Nullable [] record(long address, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    return there(records).decode(address, key, extent, values, scratch);
  }

  private static <T> T there(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("a step of the other mode");
    }
    return part;
  }
}
