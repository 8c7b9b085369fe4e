package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.index.SlotIndex;
import tech.bsdb.io.Extent;

/**
 * Looks up many keys in files that are in memory, stage by stage: all signatures, all slots, all
 * addresses, all records. Within a stage no key waits for another, so that the processor overlaps
 * many cache misses, which single lookups incur one after the other. Belongs to a {@link Session}.
 */
final class StagedLookups {
  /** Keys per run: few enough that what one stage touches is still cached in the next. */
  private static final int CHUNK = 128;

  private final LookupPath path;
  private final long[] highs = new long[CHUNK];
  private final long[] lows = new long[CHUNK];
  private final long[] slots = new long[CHUNK];
  private final long[] addresses = new long[CHUNK];

  StagedLookups(LookupPath path) {
    this.path = path;
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch batch, Session session) throws IOException {
    for (int from = 0; from < batch.size(); from += CHUNK) {
      run(batch, from, Math.min(CHUNK, batch.size() - from), session);
    }
  }

  private void run(KeyBatch batch, int from, int count, Session session) throws IOException {
    for (int i = 0; i < count; i++) {
      path.sign(batch.key(from + i), session.signature);
      highs[i] = session.signature.high;
      lows[i] = session.signature.low;
    }
    findSlots(path.hash(), highs, lows, slots, count);
    for (int i = 0; i < count; i++) {
      if (batch.key(from + i).length > RecordFrame.MAX_KEY) {
        slots[i] = HashFunction.ABSENT;
      }
    }
    touchIndex(path.index(), slots, count);
    if (!path.isApproximate()) {
      findAddresses(count, session.index);
      touchRecords(count);
    }
    for (int i = 0; i < count; i++) {
      batch.note(from + i, value(batch, from + i, i, session));
    }
  }

  /** Finds the slots of the first {@code count} signatures. */
  static void findSlots(HashFunction hash, long[] highs, long[] lows, long[] slots, int count)
      throws IOException {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += hash.touch(highs[i]);
    }
    keep(sum);
    for (int i = 0; i < count; i++) {
      slots[i] = hash.slot(highs[i], lows[i]);
    }
  }

  /** Uses a meaningless number, so that the loads behind it are not optimized away. */
  private static void keep(long sum) {
    if (sum == -1) {
      Thread.onSpinWait();
    }
  }

  /** Loads the index entries of the first {@code count} slots into the processor's caches. */
  static void touchIndex(SlotIndex index, long[] slots, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      if (slots[i] != HashFunction.ABSENT) {
        sum += index.touch(slots[i]);
      }
    }
    keep(sum);
  }

  private void findAddresses(int count, Extent extent) throws IOException {
    for (int i = 0; i < count; i++) {
      if (slots[i] != HashFunction.ABSENT) {
        path.index().locate(slots[i], extent);
        extent.read();
        addresses[i] = path.address(slots[i], extent);
      }
    }
  }

  private void touchRecords(int count) throws IOException {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      if (slots[i] != HashFunction.ABSENT) {
        sum += path.touchRecord(addresses[i]);
      }
    }
    keep(sum);
  }

  private byte @Nullable [] value(KeyBatch batch, int number, int i, Session session)
      throws IOException {
    if (slots[i] == HashFunction.ABSENT) {
      return null;
    }
    if (path.isApproximate()) {
      path.index().locate(slots[i], session.index);
      session.index.read();
      return path.shortValue(slots[i], session.index, batch.destination());
    }
    path.toRecord(addresses[i], session.data);
    session.data.read();
    byte[] key = batch.key(number);
    return path.record(addresses[i], key, session.data, batch.destination(), session.scratch);
  }
}
