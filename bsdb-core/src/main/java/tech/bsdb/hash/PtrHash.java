package tech.bsdb.hash;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ShownFile;

/**
 * A minimal perfect hash function of the kind "ptr" with checksum bits, read from its mapped or
 * loaded file (FORMAT.md §13; {@link Pilots} explains it). All readers and processes share the
 * pages. The table of parts, 64 bytes for about 37,000 keys, is on the heap.
 *
 * <p>{@link HashBody} verifies the pages. Thread-safe.
 */
final class PtrHash implements HashFunction {
  /** Words per part of {@link #table}: a cache line. */
  private static final int WORDS = 8;

  private static final int FIRST = 0;
  private static final int POSITION = 1;
  private static final int MULTIPLIER = 2;
  private static final int SIZES = 3;
  private static final int REMAP = 4;
  private static final int CHECKSUMS = 5;

  /** Keys, slots and buckets of a part share a word. */
  private static final int SIZE_BITS = 20;

  private static final int SIZE_MASK = (1 << SIZE_BITS) - 1;

  private final HashBody body;
  private final PageCheck check;
  private final long keys;
  private final long parts;
  private final int checksumBits;
  private final long checksumMask;

  /**
   * For each part its first slot, multiplier and sizes, and where its block, its remapped slots and
   * its checksum bits start in the file.
   */
  private final long[] table;

  private PtrHash(PtrLayout layout, long keys, HashBody body, PageCheck check, long[] table) {
    this.body = body;
    this.check = check;
    this.keys = keys;
    this.parts = layout.parts();
    this.checksumBits = layout.checksumBits();
    this.checksumMask = (1L << checksumBits) - 1;
    this.table = table;
  }

  /** Bytes of the table on the heap. */
  static long tableBytes(long parts) {
    return parts * WORDS * Long.BYTES;
  }

  /**
   * Opens a function.
   *
   * @param path its file, whose frame has been verified
   * @param entry the file's entry in the manifest
   * @param facts the facts of the database
   * @param verify whether to verify pages, on first touch or while loading
   * @param loader loads the whole file; null to map it
   */
  static PtrHash open(
      Path path, FileEntry entry, Facts facts, boolean verify, @Nullable LoadedEngine loader)
      throws IOException {
    PtrLayout layout = new PtrLayout(facts.hashBuckets(), facts.checksumBits());
    long keys = facts.records();
    PageCheck check = new PageCheck(path, entry.file());
    long parts = layout.parts();
    long tablePages = HashBody.pages(layout.tableBytes());
    long tablePage = ChecksumTable.firstPage(entry.pages()) - tablePages;
    if (parts < 1
        || parts > PtrLayout.MAX_PARTS
        || Long.bitCount(parts) != 1
        || keys < 0
        || layout.checksumBits() < 0
        || layout.checksumBits() > 32
        || tablePage <= 1) {
      throw check.corrupt(
          0,
          "a hash function for " + keys + " keys in " + parts + " parts",
          entry.pages() + " pages");
    }
    HashBody body = HashBody.open(path, entry, check, verify, loader);
    try {
      long at = tablePage << Page.SHIFT;
      body.verify(at, at + layout.tableBytes());
      long[] table = table(body, at, layout, keys, check);
      long end = last(table, POSITION) + layout.blockBytes(keys(last(table, SIZES)));
      if (HashBody.pages(end - Page.SIZE) + 1 != tablePage) {
        throw check.corrupt(
            at, "blocks that end before page " + tablePage, "blocks that end at byte " + end);
      }
      return new PtrHash(layout, keys, body, check, table);
    } catch (IOException | RuntimeException e) {
      body.close();
      throw e;
    }
  }

  private static long last(long[] table, int word) {
    return table[table.length - WORDS + word];
  }

  private static long[] table(HashBody body, long at, PtrLayout layout, long keys, PageCheck check)
      throws IOException {
    int parts = (int) layout.parts();
    long[] table = new long[parts * WORDS];
    long position = Page.SIZE;
    for (int part = 0; part < parts; part++) {
      long word = word(body, at, part);
      long first = word & PtrLayout.SLOT_MASK;
      long next = part + 1 < parts ? word(body, at, part + 1) & PtrLayout.SLOT_MASK : keys;
      long size = next - first;
      if (size < 0 || size > Pilots.MAX_KEYS || part == 0 && first != 0) {
        throw check.corrupt(
            at + (long) part * Long.BYTES,
            "a part of at most " + Pilots.MAX_KEYS + " keys",
            "the slots " + first + " to " + next);
      }
      int count = (int) size;
      table[part * WORDS + FIRST] = first;
      table[part * WORDS + POSITION] = position;
      table[part * WORDS + MULTIPLIER] = Pilots.multiplier((int) (word >>> PtrLayout.SEED_SHIFT));
      table[part * WORDS + SIZES] =
          count
              | (long) Pilots.slots(count) << SIZE_BITS
              | (long) Pilots.buckets(count) << 2 * SIZE_BITS;
      table[part * WORDS + REMAP] = position + PtrLayout.remapStart(count);
      table[part * WORDS + CHECKSUMS] = position + PtrLayout.checksumStart(count);
      position += layout.blockBytes(count);
    }
    return table;
  }

  private static long word(HashBody body, long table, int part) {
    long at = table + (long) part * Long.BYTES;
    return body.buffer(at).getLong(ShownFile.offset(at));
  }

  private static int keys(long sizes) {
    return (int) sizes & SIZE_MASK;
  }

  private static int slots(long sizes) {
    return (int) (sizes >>> SIZE_BITS) & SIZE_MASK;
  }

  private static int buckets(long sizes) {
    return (int) (sizes >>> 2 * SIZE_BITS);
  }

  /** Where a part starts in the table. */
  private int part(long high) {
    return (int) HashConstruction.bucket(high, parts) * WORDS;
  }

  /** Where the pilot of a signature is in the file. */
  private long pilotAt(int part, long high) {
    return table[part + POSITION]
        + Pilots.bucket(Pilots.fraction(high, parts), buckets(table[part + SIZES]));
  }

  @Override
  public long slot(long high, long low) throws IOException {
    long candidate = candidate(high, low);
    return candidate != ABSENT && confirms(candidate, high, low) ? candidate : ABSENT;
  }

  /** The slot of a key if it is present, or {@link #ABSENT}. */
  private long candidate(long high, long low) throws IOException {
    int part = part(high);
    long at = pilotAt(part, high);
    body.verify(at, at + 1);
    int pilot = body.buffer(at).get(ShownFile.offset(at)) & 0xFF;
    if (pilot == 0) {
      throw zeroAt(at);
    }
    long sizes = table[part + SIZES];
    long hash = Pilots.hash(high, low, table[part + MULTIPLIER]);
    int slot = Pilots.slot(hash, pilot, slots(sizes));
    if (slot >= keys(sizes)) {
      slot = remapped(part, slot);
    }
    long candidate = table[part + FIRST] + slot;
    return candidate < keys ? candidate : ABSENT;
  }

  /** Replaces a slot beyond the keys of its part. */
  private int remapped(int part, int slot) throws IOException {
    int count = keys(table[part + SIZES]);
    long at = table[part + REMAP] + (long) (slot - count) * Short.BYTES;
    body.verify(at, at + Short.BYTES);
    int remapped = (body.buffer(at).getShort(ShownFile.offset(at)) & 0xFFFF) - 1;
    if (remapped < 0) {
      throw zeroAt(at);
    }
    if (remapped >= Math.max(1, count)) {
      throw check.corrupt(at, "a slot of " + count, String.valueOf(remapped));
    }
    return remapped;
  }

  /** Where the checksum bits of a slot start in the file. */
  private long checksumAt(int part, long relative) {
    return table[part + CHECKSUMS] + (relative * checksumBits >>> 3);
  }

  /** Whether the checksum bits of a key's {@link #candidate} slot are those of the key. */
  private boolean confirms(long candidate, long high, long low) throws IOException {
    if (checksumBits == 0) {
      return true;
    }
    int part = part(high);
    long relative = candidate - table[part + FIRST];
    long at = checksumAt(part, relative);
    body.verify(at, at + Long.BYTES);
    long word = body.buffer(at).getLong(ShownFile.offset(at));
    if (((word >>> (relative * checksumBits & 7) ^ low) & checksumMask) == 0) {
      return true;
    }
    refuseZeros(at);
    refuseZeros(at + (checksumBits + 6 >>> 3)); // not before the last bit
    return false;
  }

  /**
   * Fails if the page of a checksum has become zero since it was verified, which would make present
   * keys absent. An intact page has eight zeros in a row there with negligible probability.
   *
   * @param at a byte of the checksum
   */
  private void refuseZeros(long at) throws IOException {
    long aligned = at & -Long.BYTES;
    if (body.buffer(aligned).getLong(ShownFile.offset(aligned)) == 0) {
      body.verifyAgain(at, at + 1);
    }
  }

  @Override
  public void touch(long[] highs, long[] scratch, int from, int to) {
    for (int i = from; i < to; i++) {
      scratch[i - from] = pilotAt(part(highs[i]), highs[i]);
    }
    body.touch(scratch, to - from);
  }

  @Override
  public void candidates(long[] highs, long[] lows, long[] slots, long[] scratch, int from, int to)
      throws IOException {
    int count = 0;
    for (int i = from; i < to; i++) {
      long candidate = candidate(highs[i], lows[i]);
      slots[i] = candidate;
      if (candidate != ABSENT && checksumBits > 0) {
        int part = part(highs[i]);
        scratch[count++] = checksumAt(part, candidate - table[part + FIRST]);
      }
    }
    body.touch(scratch, count);
  }

  @Override
  public void confirm(long[] highs, long[] lows, long[] slots, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      if (slots[i] != ABSENT && !confirms(slots[i], highs[i], lows[i])) {
        slots[i] = ABSENT;
      }
    }
  }

  /** The error of a zero where a builder writes none. */
  private IOException zeroAt(long at) throws IOException {
    body.verifyAgain(at, at + 1);
    return check.corrupt(at, "a number above 0", "0");
  }

  @Override
  public void close() {
    body.close();
  }
}
