package tech.bsdb.hash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.TouchedPages;

/**
 * The minimal perfect hash function of Genuzio, Ottaviano and Vigna (SEA 2016) with checksum bits,
 * read from its mapped file (FORMAT.md §5). Opens in constant time regardless of size; all readers
 * and processes share the pages.
 *
 * <p>Each page is verified on first touch against the checksum table that follows the function.
 * Thread-safe.
 */
final class BucketHash implements HashFunction {
  /** Checksums per page of the table. */
  static final int CHECKSUMS_PER_PAGE = Page.PAYLOAD / Integer.BYTES;

  private static final int RANK_MASK = (1 << BucketLayout.RANK_BITS) - 1;
  private static final long PAIRS = 0x5555555555555555L;

  private static final int LINE = 64;

  private final ShownFile file;
  private final PageCheck check;
  private final boolean verify;
  private final TouchedPages touched;
  private final long keys;
  private final long buckets;
  private final int blockBytes;
  private final int vertexEnd;
  private final int checksumBits;
  private final long checksumMask;
  private final long tablePage;

  private BucketHash(
      BucketLayout layout, long keys, ShownFile file, PageCheck check, boolean verify, long pages) {
    this.file = file;
    this.check = check;
    this.verify = verify;
    this.touched = new TouchedPages(pages);
    this.keys = keys;
    this.buckets = layout.buckets();
    this.blockBytes = layout.blockWords() * Long.BYTES;
    this.vertexEnd = BucketLayout.CHECKSUM_START * Long.BYTES;
    this.checksumBits = layout.checksumBits();
    this.checksumMask = (1L << checksumBits) - 1;
    this.tablePage = 1 + bodyPages(layout);
  }

  /**
   * Opens a function.
   *
   * @param path its file, whose frame has been verified
   * @param entry the file's entry in the manifest
   * @param buckets the number of buckets, from the manifest
   * @param keys the number of keys, from the manifest
   * @param checksumBits checksum bits per key, from the manifest
   * @param verify whether to verify pages, on first touch or while loading
   * @param loader loads the whole file; null to map it
   */
  static BucketHash open(
      Path path,
      FileEntry entry,
      long buckets,
      long keys,
      int checksumBits,
      boolean verify,
      @Nullable LoadedEngine loader)
      throws IOException {
    BucketLayout layout = new BucketLayout(buckets, checksumBits);
    PageCheck check = new PageCheck(path, entry.file());
    long pages = 2 + bodyPages(layout) + tablePages(layout);
    if (buckets < 1
        || keys < 0
        || checksumBits < 0
        || checksumBits > 32
        || pages != entry.pages()) {
      throw check.corrupt(
          0,
          "a hash function of " + pages + " pages for " + keys + " keys",
          entry.pages() + " pages");
    }
    if (loader == null) {
      ShownFile file = ShownFile.mapped(path, entry.length());
      return new BucketHash(layout, keys, file, check, verify, pages);
    }
    ShownFile file = loader.load(path, entry.length(), null);
    try {
      if (verify) {
        new BucketHash(layout, keys, file, check, true, pages).verifyAll(entry);
      }
      return new BucketHash(layout, keys, file, check, false, pages);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Verifies every page and the file's digest. */
  private void verifyAll(FileEntry entry) throws IOException {
    long digest = 0;
    for (long page = 1; page < entry.pages() - 1; page++) {
      long position = page << Page.SHIFT;
      int checksum =
          page < tablePage
              ? verifyPage(page)
              : check.check(file.buffer(position), ShownFile.offset(position), page);
      digest = PageEncoder.fold(digest, checksum);
    }
    check.checkDigest(entry, digest);
  }

  static long bodyPages(BucketLayout layout) {
    return (layout.words() * Long.BYTES + Page.SIZE - 1) / Page.SIZE;
  }

  static long tablePages(BucketLayout layout) {
    return (bodyPages(layout) + CHECKSUMS_PER_PAGE - 1) / CHECKSUMS_PER_PAGE;
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
    long at = Page.SIZE + BucketLayout.bucket(high, buckets) * blockBytes;
    verify(at, at + blockBytes);
    ByteBuffer block = file.buffer(at);
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
  public long touch(long high) {
    long at = Page.SIZE + BucketLayout.bucket(high, buckets) * blockBytes;
    ByteBuffer block = file.buffer(at);
    int base = ShownFile.offset(at);
    int sum = 0;
    for (int i = 0; i < blockBytes; i += LINE) {
      sum += block.get(base + i);
    }
    return sum;
  }

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
    for (long page = at >>> Page.SHIFT; page <= at + blockBytes - 1 >>> Page.SHIFT; page++) {
      verifyPage(page);
    }
  }

  private static int pair(ByteBuffer region, int base, int vertex) {
    return region.get(base + (vertex >>> 2)) >>> ((vertex & 3) << 1) & 3;
  }

  /** Verifies the one or two pages of a run of bytes. */
  private void verify(long from, long to) throws IOException {
    if (verify) {
      long page = from >>> Page.SHIFT;
      long last = to - 1 >>> Page.SHIFT;
      if (!touched.contains(page) || !touched.contains(last)) {
        for (; page <= last; page++) {
          if (!touched.contains(page)) {
            verifyPage(page);
          }
        }
      }
    }
  }

  private int verifyPage(long page) throws IOException {
    long table = tablePage + (page - 1) / CHECKSUMS_PER_PAGE;
    long at = table << Page.SHIFT;
    ByteBuffer checksums = file.buffer(at);
    if (!touched.contains(table)) {
      check.check(checksums, ShownFile.offset(at), table);
      touched.add(table);
    }
    int stored =
        checksums.getInt(
            ShownFile.offset(at) + (int) ((page - 1) % CHECKSUMS_PER_PAGE) * Integer.BYTES);
    long position = page << Page.SHIFT;
    check.checkAgainst(file.buffer(position), ShownFile.offset(position), Page.SIZE, page, stored);
    touched.add(page);
    return stored;
  }

  @Override
  public void close() {
    file.close();
  }
}
