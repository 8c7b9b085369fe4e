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
 * The steps of a lookup: key, signature, slot, index extent, address, data extent, value; in
 * approximate mode the index holds the value. The caller reads the extents between the steps: one
 * by one, many in one queue, or by touching mapped memory. Thread-safe; each thread supplies its
 * own extents and scratch.
 *
 * @param seed the seed of the signatures
 * @param hash maps a signature to a slot
 * @param index maps a slot to an address or a value
 * @param addresses the index of an exact database, otherwise null
 * @param shortValues the index of an approximate database, otherwise null
 * @param records the records of an exact database, otherwise null
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

  /** Returns the slot of a key, or {@link HashFunction#ABSENT}. */
  long slot(byte[] key, Signature signature) throws IOException {
    if (key.length > RecordFrame.MAX_KEY) {
      return HashFunction.ABSENT;
    }
    sign(key, signature);
    return hash.slot(signature.high, signature.low);
  }

  /** Performs the steps from the slot to the value, reading one extent after the other. */
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

  /**
   * Like {@link #value} if all pages it needs were read before, else {@link Lookup#NOT_IN_MEMORY}.
   */
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

  /** Returns the value in a slot whose page has been read, in approximate mode. */
  byte[] shortValue(long slot, Extent extent, Values values) throws IOException {
    ValueIndex approximate = require(shortValues);
    int length = approximate.length(slot, extent);
    byte[] value = values.make(length);
    approximate.value(slot, extent, value, values.offset(), length);
    return value;
  }

  /** Returns the address in a slot whose page has been read, in exact mode. */
  long address(long slot, Extent extent) {
    return require(addresses).address(slot, extent);
  }

  /** Points the extent at the pages of the record at an address. */
  void toRecord(long address, Extent extent) throws IOException {
    require(records).locate(address, extent);
  }

  /** Loads the start of a record into the processor's caches. */
  long touchRecord(long address) throws IOException {
    return require(records).touch(address);
  }

  /** Whether the extent, which has been read, holds the whole record. */
  boolean holdsRecord(long address, Extent extent) throws IOException {
    return require(records).holds(address, extent);
  }

  /** Returns the value of a record whose pages have been read, or null if its key differs. */
  byte @Nullable [] record(long address, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    return require(records).decode(address, key, extent, values, scratch);
  }

  private static <T> T require(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("this step belongs to the other mode");
    }
    return part;
  }
}
