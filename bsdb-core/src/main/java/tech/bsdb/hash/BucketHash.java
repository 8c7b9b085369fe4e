package tech.bsdb.hash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/**
 * The minimal perfect hash function of Genuzio, Ottaviano and Vigna (SEA 2016) with checksum bits,
 * read from its mapped file (FORMAT.md §5). Opens in constant time regardless of size; all readers
 * and processes share the pages.
 *
 * <p>{@link HashBody} verifies the pages. Thread-safe.
 */
final class BucketHash implements HashFunction {
  private static final int RANK_MASK = (1 << BucketLayout.RANK_BITS) - 1;
  private static final long PAIRS = 0x5555555555555555L;

  private static final int LINE = 64;

  private final HashBody body;
  private final long keys;
  private final long buckets;
  private final int blockBytes;
  private final int vertexEnd;
  private final int checksumBits;
  private final long checksumMask;

  private BucketHash(BucketLayout layout, long keys, HashBody body) {
    this.body = body;
    this.keys = keys;
    this.buckets = layout.buckets();
    this.blockBytes = layout.blockWords() * Long.BYTES;
    this.vertexEnd = BucketLayout.CHECKSUM_START * Long.BYTES;
    this.checksumBits = layout.checksumBits();
    this.checksumMask = (1L << checksumBits) - 1;
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
  static BucketHash open(
      Path path, FileEntry entry, Facts facts, boolean verify, @Nullable LoadedEngine loader)
      throws IOException {
    BucketLayout layout = new BucketLayout(facts.hashBuckets(), facts.checksumBits());
    long keys = facts.records();
    PageCheck check = new PageCheck(path, entry.file());
    long pages = ChecksumTable.filePages(HashBody.pages(layout.words() * Long.BYTES));
    if (layout.buckets() < 1
        || keys < 0
        || layout.checksumBits() < 0
        || layout.checksumBits() > 32
        || pages != entry.pages()) {
      throw check.corrupt(
          0,
          "a hash function of " + pages + " pages for " + keys + " keys",
          entry.pages() + " pages");
    }
    return new BucketHash(layout, keys, HashBody.open(path, entry, check, verify, loader));
  }

  static int nonZeroPairs(long word) {
    return Long.bitCount((word | word >>> 1) & PAIRS);
  }

  /*
   * In a large function, the bucket's block is not in the processor's caches. All its lines are therefore requested at
   * once, before the first word is needed. No branch except the rejections depends on them, so the processor executes
   * ahead past the misses (measured at 10M keys, interleaved: 101 to 163 ns per slot, against 213 to 308 ns without
   * touching the lines, and the same with a loop for the rank; docs/decisions/0002).
   *
   * Keep it below 325 bytes of bytecode (BucketHashTest): HotSpot inlines no larger method, however hot
   * (FreqInlineSize).
   */
  @Override
  public long slot(long high, long low) throws IOException {
    long at = Page.SIZE + HashConstruction.bucket(high, buckets) * blockBytes;
    body.verify(at, at + blockBytes);
    ByteBuffer block = body.buffer(at);
    int base = ShownFile.offset(at);
    if (lines(block, base) == -1) {
      Thread.onSpinWait(); // keeps the loads from being optimized away; rarely or never runs
    }
    long word = block.getLong(base);
    long packed = Vertices.of(high, low, word & ~BucketLayout.SLOT_MASK);
    int vertices = base + BucketLayout.VERTEX_START * Long.BYTES;
    int sum =
        pair(block, vertices, Vertices.get(packed, 0))
            + pair(block, vertices, Vertices.get(packed, 1))
            + pair(block, vertices, Vertices.get(packed, 2));
    int vertex = Vertices.get(packed, sum % 3);
    long ranks = block.getLong(base + 8);
    int rank = rank(block, vertices, vertex, ranks);
    int deciding = deciding(base, vertices, vertex, rank);
    long decisive = block.getLong(deciding);
    if (decisive == 0 || (word | ranks) == 0) {
      refuseZeros(at, block, base);
    }
    if (checksumBits > 0
        && ((checksum(block, deciding, decisive, rank * checksumBits & 63) ^ low) & checksumMask)
            != 0) {
      return ABSENT;
    }
    long slot = (word & BucketLayout.SLOT_MASK) + rank;
    return slot < keys ? slot : ABSENT;
  }

  /**
   * Returns where the word that decides starts: of the checksum, or of the vertex where there are
   * no checksum bits. No block with keys has zeros there.
   */
  private int deciding(int base, int vertices, int vertex, int rank) {
    return checksumBits > 0
        ? base + vertexEnd + (rank * checksumBits >>> 6 << 3)
        : vertices + (vertex >>> 5 << 3);
  }

  @Override
  public void touch(long[] highs, long[] scratch, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      long at = Page.SIZE + HashConstruction.bucket(highs[i], buckets) * blockBytes;
      ByteBuffer block = body.buffer(at);
      int base = ShownFile.offset(at);
      sum += block.get(base) + lines(block, base);
    }
    Touches.keep(sum);
  }

  @Override
  public void candidates(long[] highs, long[] lows, long[] slots, long[] scratch, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      slots[i] = slot(highs[i], lows[i]);
    }
  }

  /** {@inheritDoc} The checksum is in the block and already compared. */
  @Override
  public void confirm(long[] highs, long[] lows, long[] slots, int from, int to) {}

  /** Loads each cache line of a block except the first. */
  private long lines(ByteBuffer block, int base) {
    long all = -1;
    for (int i = LINE; i < blockBytes; i += LINE) {
      all &= block.getLong(base + i);
    }
    return all;
  }

  /** The number of the bucket's keys before a vertex. */
  private static int rank(ByteBuffer block, int vertices, int vertex, long ranks) {
    int group = vertex >>> 7;
    int rank =
        (int) (ranks << BucketLayout.RANK_BITS >>> BucketLayout.RANK_BITS * group) & RANK_MASK;
    int from = vertices + (group << 5);
    int bits = (vertex & 127) << 1;
    return rank
        + nonZeroPairs(block.getLong(from) & lowest(Math.min(bits, 64)))
        + nonZeroPairs(block.getLong(from + 8) & lowest(Math.min(Math.max(bits - 64, 0), 64)))
        + nonZeroPairs(block.getLong(from + 16) & lowest(Math.min(Math.max(bits - 128, 0), 64)))
        + nonZeroPairs(block.getLong(from + 24) & lowest(Math.max(bits - 192, 0)));
  }

  /** A mask of the lowest 0 to 64 bits. */
  private static long lowest(int bits) {
    return (1L << (bits >>> 1) << bits - (bits >>> 1)) - 1;
  }

  /** The checksum bits of a slot, with other bits above them; their first word is at {@code at}. */
  private long checksum(ByteBuffer block, int at, long word, int shift) {
    long bits = word >>> shift;
    return shift + checksumBits > 64 ? bits | block.getLong(at + 8) << 64 - shift : bits;
  }

  /**
   * Fails if the pages of a block have become zero since they were verified. A reader sees zeros
   * when the file is being overwritten or has lost pages; they would turn present keys into absent
   * ones. An intact block has zeros in these places with negligible probability.
   */
  private void refuseZeros(long at, ByteBuffer block, int base) throws IOException {
    if (at == Page.SIZE) { // the first block may legitimately contain zeros if it has few keys
      long vertices = 0;
      for (int i = BucketLayout.VERTEX_START; i < BucketLayout.CHECKSUM_START; i++) {
        vertices |= block.getLong(base + i * Long.BYTES);
      }
      if (keys == 0 || vertices != 0) {
        return;
      }
    }
    body.verifyAgain(at, at + blockBytes);
  }

  private static int pair(ByteBuffer region, int base, int vertex) {
    return region.get(base + (vertex >>> 2)) >>> ((vertex & 3) << 1) & 3;
  }

  @Override
  public void close() {
    body.close();
  }
}
