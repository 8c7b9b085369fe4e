package tech.bsdb.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.PageEncoder;

/**
 * Constructs functions of the kind "ptr": solves parts, each on its own, with {@link Pilots}.
 * Stateless.
 */
final class PtrConstruction implements HashConstruction {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final PtrLayout layout;
  private final long keys;

  /**
   * Plans a function.
   *
   * @param keys the number of keys to expect
   */
  PtrConstruction(PtrLayout layout, long keys) {
    this.layout = layout;
    this.keys = keys;
  }

  @Override
  public long buckets() {
    return layout.parts();
  }

  @Override
  public long filePages() {
    long blocks = layout.parts() * layout.blockBytes((int) (keys / layout.parts()));
    return ChecksumTable.filePages(HashBody.pages(blocks) + HashBody.pages(layout.tableBytes()));
  }

  @Override
  public long heapBytes() {
    return PtrHash.tableBytes(layout.parts());
  }

  @Override
  public Solution solve(long[] high, long[] low, int from, int size, long first)
      throws BucketOverflowException {
    if (size > Pilots.MAX_KEYS) {
      throw new BucketOverflowException(size, Pilots.MAX_KEYS);
    }
    Pilots found = Pilots.find(high, low, from, size, layout.parts());
    int[] remap = found.remap();
    int[] slots = found.assign(remap);
    byte[] block = new byte[Long.BYTES + layout.blockBytes(size)];
    LONGS.set(block, 0, first | (long) found.seed() << PtrLayout.SEED_SHIFT);
    int start = Long.BYTES;
    byte[] pilots = found.pilots();
    System.arraycopy(pilots, 0, block, start, pilots.length);
    putRemap(block, start + PtrLayout.remapStart(size), remap);
    if (layout.checksumBits() > 0) {
      putChecksums(block, start + PtrLayout.checksumStart(size), slots, low, from);
    }
    return new Solution(block, slots);
  }

  private static void putRemap(byte[] block, int start, int[] remap) {
    for (int i = 0; i < remap.length; i++) {
      SHORTS.set(block, start + i * Short.BYTES, (short) (remap[i] + 1));
    }
  }

  private void putChecksums(byte[] block, int start, int[] slots, long[] low, int from) {
    for (int i = 0; i < slots.length; i++) {
      putChecksum(block, start, (long) slots[i] * layout.checksumBits(), low[from + i]);
    }
  }

  /** Writes the lowest bits of a signature, byte by byte. */
  private void putChecksum(byte[] block, int start, long bit, long low) {
    int shift = (int) bit & 7;
    long bits = (low & (1L << layout.checksumBits()) - 1) << shift;
    for (int at = start + (int) (bit >>> 3); bits != 0; at++) {
      block[at] |= (byte) bits;
      bits >>>= 8;
    }
  }

  @Override
  public HashWriter writer(PageEncoder pages, long keys) {
    return new HashWriter(pages, Long.BYTES, layout.parts(), keys);
  }
}
