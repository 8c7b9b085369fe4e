package tech.bsdb.index;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Window;

/**
 * Maps bins to pages in the packed layout (FORMAT.md §12), in memory: 8 bits for each page and 32
 * for each group of 256 bins, about 0.22 bits a record of 48 bytes. Immutable and thread-safe.
 *
 * <p>Pages are numbered from 0 across all data files, in the order of their bins. A bin <em>starts
 * in</em> a page, and at most 256 bins do. For each group there is the page in which its first bin
 * starts. For each page there are the lower 8 bits of the number of the last bin that starts before
 * it. Within a group, these distinguish all pages, so a bin's page follows from counting the
 * group's pages with smaller numbers. This idea of an index on sorted signatures is that of PaCHash
 * (Kurpicz, Lehmann, Sanders, 2022) and SILT (Lim et al., 2011); the encoding is chosen for speed.
 */
public final class BinIndex {
  /** log2 of the number of bins in a group. */
  private static final int GROUP_BITS = 8;

  private static final int IN_GROUP = (1 << GROUP_BITS) - 1;

  /** Bits of a place that hold the number of pages of a bin, minus one. */
  private static final int RUN_BITS = 16;

  private static final int SLOT_BITS = 8;

  /** Bits of a place that tell which records of its bin can have the key. */
  private static final int DETAIL_BITS = 8;

  private static final int RUN_SHIFT = DETAIL_BITS;
  private static final int SLOT_SHIFT = RUN_SHIFT + RUN_BITS;
  private static final int PAGE_SHIFT = SLOT_SHIFT + SLOT_BITS;

  /** The most pages that a place can state, which are more than one read fetches. */
  public static final int MOST_PAGES = 1 << RUN_BITS;

  /** The most pages of all data files: the index of pages is one array. */
  private static final int MOST_OF_ALL = Integer.MAX_VALUE - 64;

  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
  private static final long EACH = 0x0101_0101_0101_0101L;

  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long bins;
  private final long pages;
  private final boolean spanning;
  private final int[] groups;
  private final byte[] before;

  /**
   * Creates an index.
   *
   * @param bins the number of bins, 1 to 2^38
   * @param pages the number of pages, 1 to 2^31 - 65
   * @param spanning whether a bin may start in the page where the one before it ends
   * @param groups for each group the page in which its first bin starts, and last the number of
   *     pages minus one
   * @param before for each page the lower 8 bits of the number of the last bin that starts before
   *     it; then, for the end, those of the last bin; then at least 8 more bytes
   */
  private BinIndex(long bins, long pages, boolean spanning, int[] groups, byte[] before) {
    this.bins = bins;
    this.pages = pages;
    this.spanning = spanning;
    this.groups = groups;
    this.before = before;
  }

  /** The identity of the index file in its database. */
  public static FileIdentity identity() {
    return new FileIdentity(FileKind.INDEX, 0);
  }

  /** The bin of a signature, given its first half, among {@code bins}. */
  public static long bin(long high, long bins) {
    return Math.multiplyHigh(high >>> 1, bins << 1);
  }

  /**
   * Prefetches what {@link #place} reads. The entry of a bin's page is near where it would be if
   * all pages had the same number of bins: in a database of 10 million records in the same cache
   * line or the next, so that place does not wait for one entry after the other.
   *
   * @param high the first half of a signature
   * @return a meaningless number that the caller must use, so that the loads are not optimized away
   */
  public long touch(long high) {
    return groups[(int) (bin(high, bins) >>> GROUP_BITS)] + (long) before[(int) bin(high, pages)];
  }

  /**
   * The part of its bin in which a signature lies, 0 to 255, given its first half: 256 equal parts,
   * in the order of signatures.
   */
  public static int part(long high, long bins) {
    return (int) ((high >>> 1) * (bins << 1) >>> Long.SIZE - Byte.SIZE);
  }

  /**
   * The place of a signature: the first page of its bin, the bin's number there, its pages, and the
   * number of the signature's bit in its filter.
   */
  public long place(long high, long low) {
    return placeOf(bin(high, bins)) | PackedPage.filterBitNumber(low);
  }

  /**
   * The place of a signature, given its first half, in compressed bins: with the {@link #part} of
   * the bin.
   */
  public long placeInPart(long high) {
    return placeOf(bin(high, bins)) | part(high, bins);
  }

  /** The bin of a signature, given its first half. */
  public long bin(long high) {
    return bin(high, bins);
  }

  /** The number of bins that start in the first page of a place, 1 to 256. */
  public int starting(long place) {
    return startingIn((int) firstPage(place));
  }

  /** The number of bins that start in the page in which a bin starts, 1 to 256. */
  public int startingIn(int page) {
    return (before[page + 1] - before[page] - 1 & IN_GROUP) + 1;
  }

  /** The number of a bin among those that start in its page, 0 to 255. */
  public int slot(long bin, int page) {
    return (int) bin - 1 - before[page] & IN_GROUP;
  }

  /** The place of a bin. */
  public long placeOf(long bin) {
    int page = page(bin);
    int slot = slot(bin, page);
    int run = slot + 1 < startingIn(page) ? 0 : run(bin, page);
    return (long) page << PAGE_SHIFT | (long) slot << SLOT_SHIFT | (long) run << RUN_SHIFT;
  }

  /** The page in which a bin starts. */
  public int page(long bin) {
    int group = (int) (bin >>> GROUP_BITS);
    int first = groups[group];
    int last = groups[group + 1];
    int wanted = (int) bin & IN_GROUP;
    int left = last - first;
    if (left <= 8) { // nearly always: no loop, which would have to be set up
      long mask = left == 0 ? 0 : -1L >>> Long.SIZE - (left << 3);
      return first + smaller((long) LONGS.get(before, first + 1), wanted, mask);
    }
    return left > 64 ? searched(first, last, wanted) : counted(first, last, wanted);
  }

  /** The last page after {@code first} whose number is below {@code wanted}, or {@code first}. */
  private int counted(int first, int last, int wanted) {
    int page = first;
    for (int at = first + 1; at <= last; at += 8) {
      int left = last - at + 1;
      long mask = left >= 8 ? -1 : (1L << (left << 3)) - 1;
      page += smaller((long) LONGS.get(before, at), wanted, mask);
    }
    return page;
  }

  /** Counts the unsigned bytes below {@code limit}, 0 to 255, among those of a mask. */
  private static int smaller(long bytes, int limit, long mask) {
    long limits = limit * EACH;
    long difference = (bytes | HIGH_BITS) - (limits & ~HIGH_BITS);
    long below = ~bytes & limits | ~(bytes ^ limits) & ~difference;
    return Long.bitCount(below & HIGH_BITS & mask);
  }

  /** The same, in few steps among many pages. */
  private int searched(int first, int last, int wanted) {
    int low = first;
    int high = last;
    while (low < high) {
      int middle = low + high + 1 >>> 1;
      if ((before[middle] & 0xFF) < wanted) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** The number of pages of the last bin that starts in a page, minus one. */
  private int run(long bin, int page) {
    long next = bin + 1 < bins ? page(bin + 1) : pages - (spanning ? 1 : 0);
    long run = next - page - (spanning ? 0 : 1);
    return (int) Math.max(0, Math.min(run, MOST_PAGES - 1));
  }

  /** The first page of a place. */
  public static long firstPage(long place) {
    return place >>> PAGE_SHIFT;
  }

  /** The number of a place's bin among those that start in its first page, 0 to 255. */
  public static int slot(long place) {
    return (int) (place >>> SLOT_SHIFT) & IN_GROUP;
  }

  /** The number of pages of a place, from its first page on. */
  public static int pages(long place) {
    return (int) (place >>> RUN_SHIFT & MOST_PAGES - 1) + 1;
  }

  /** The number of a place's bit in the filter of its bin, 0 to 3, or the part of the bin. */
  public static int detail(long place) {
    return (int) place & (1 << DETAIL_BITS) - 1;
  }

  /** The number of bins. */
  public long bins() {
    return bins;
  }

  /** The number of pages. */
  public long pages() {
    return pages;
  }

  /** Writes the index (FORMAT.md §12). */
  public void write(PageEncoder encoder) throws IOException {
    byte[] word = new byte[Integer.BYTES];
    for (int group : groups) {
      INTS.set(word, 0, group);
      encoder.put(word, 0, word.length);
    }
    encoder.put(before, 0, (int) pages);
    encoder.pad();
  }

  /** The number of pages of an index file, including header and footer. */
  public static long filePages(long bins, long pages) {
    long bytes = Integer.BYTES * (groups(bins) + 1) + pages;
    return (bytes + Page.PAYLOAD - 1) / Page.PAYLOAD + 2;
  }

  /** Bytes that an open index takes on the heap. */
  public static long heapBytes(long bins, long pages) {
    return Integer.BYTES * (groups(bins) + 1) + pages + 1 + Long.BYTES;
  }

  /** The most pages of all data files. */
  public static long mostPages() {
    return MOST_OF_ALL;
  }

  private static long groups(long bins) {
    return bins + IN_GROUP >>> GROUP_BITS;
  }

  /**
   * Reads an index and verifies that it can be one.
   *
   * @param file the pages of its file, closed by the caller
   * @param place names the file in messages
   * @param bins the number of bins
   * @param pages the number of pages of all data files, without headers and footers
   * @param spanning whether a bin may start in the page where the one before it ends
   */
  public static BinIndex read(
      CheckedPages file, PageCheck place, long bins, long pages, boolean spanning)
      throws IOException {
    if (file.pages() != filePages(bins, pages) || pages < 1 || pages > MOST_OF_ALL) {
      throw place.corrupt(
          0,
          "an index of " + filePages(bins, pages) + " pages for " + bins + " bins",
          file.pages() + " pages");
    }
    int[] groups = new int[Math.toIntExact(groups(bins) + 1)];
    byte[] before = new byte[(int) pages + 1 + Long.BYTES];
    Window window = new Window();
    long words = (long) Integer.BYTES * groups.length;
    for (long page = 1; page < file.pages() - 1; page++) {
      file.read(page, 1, window);
      for (int i = 0; i < Page.PAYLOAD; ) {
        long at = (page - 1) * Page.PAYLOAD + i;
        if (at < words) { // a page holds whole words
          groups[(int) (at / Integer.BYTES)] = window.buffer().getInt(window.offset() + i);
          i += Integer.BYTES;
        } else {
          int length = (int) Math.min(Page.PAYLOAD - i, words + pages - at);
          window.buffer().get(window.offset() + i, before, (int) (at - words), length);
          i = Page.PAYLOAD;
        }
      }
    }
    before[(int) pages] = (byte) (bins - 1);
    for (int i = 0; i < groups.length; i++) {
      // The first bin starts in the first page, and the entry after the groups is the last page.
      long least = i == 0 ? 0 : i == groups.length - 1 ? pages - 1 : groups[i - 1];
      long most = i == 0 ? 0 : pages - 1;
      if (groups[i] < least || groups[i] > most) {
        throw place.corrupt(
            Page.SIZE, "page " + least + " to " + most + " for group " + i, groups[i] + "");
      }
    }
    return new BinIndex(bins, pages, spanning, groups, before);
  }

  /** Collects the index of pages that are written from front to back. Not thread-safe. */
  public static final class Builder {
    private final long bins;
    private final boolean spanning;
    private final int[] groups;
    private byte[] before = new byte[1024];
    private int pages;
    private long started;

    /** Creates the builder of an index of {@code bins} bins. */
    public Builder(long bins, boolean spanning) {
      this.bins = bins;
      this.spanning = spanning;
      this.groups = new int[Math.toIntExact((bins + IN_GROUP >>> GROUP_BITS) + 1)];
    }

    /**
     * Adds the next page.
     *
     * @param starting the number of bins that start in it, 0 to {@link PackedPage#MOST_BINS}
     * @throws IllegalStateException if the data has more than 2^31 - 65 pages
     */
    public void add(int starting) {
      if (pages == before.length) {
        if (pages == MOST_OF_ALL) {
          throw new IllegalStateException("more than " + MOST_OF_ALL + " pages of packed records");
        }
        before = Arrays.copyOf(before, (int) Math.min(MOST_OF_ALL, 2L * before.length));
      }
      before[pages] = (byte) (started - 1);
      for (long at = started + IN_GROUP & ~IN_GROUP; at < started + starting; at += IN_GROUP + 1) {
        groups[(int) (at >>> GROUP_BITS)] = pages;
      }
      started += starting;
      pages++;
    }

    /** The number of pages added. */
    public int pages() {
      return pages;
    }

    /** Returns the index of all pages. */
    public BinIndex build() {
      if (started != bins) {
        throw new IllegalStateException(started + " of " + bins + " bins start in the pages");
      }
      groups[groups.length - 1] = pages - 1;
      byte[] all = Arrays.copyOf(before, pages + 1 + Long.BYTES);
      all[pages] = (byte) (bins - 1);
      return new BinIndex(bins, pages, spanning, groups, all);
    }
  }
}
