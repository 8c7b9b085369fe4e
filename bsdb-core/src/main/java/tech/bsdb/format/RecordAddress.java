package tech.bsdb.format;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;

/**
 * A record's location in the data files, packed in 63 bits so that no address is negative
 * (FORMAT.md §3).
 *
 * <pre>
 * bits                  meaning
 * 63                    0
 * 56..62                data file number
 * detailBits..55        file offset in bytes of the record, or of the block that contains it
 * 0..detailBits-1       blocked and compact: pages that the record spans, minus one; all ones means
 *                       that many or more. Compressed: the record's offset in the decompressed block
 * </pre>
 */
public final class RecordAddress {
  /** Detail bits of a blocked or compact database. */
  public static final int SPAN_BITS = 8;

  /** The most pages that a blocked or compact address tells, minus one. */
  public static final int MOST_SPAN = (1 << SPAN_BITS) - 1;

  /** Bytes written to one data file before the writer moves on to the next. */
  public static final long STRIPE = 4L << 20;

  private static final int FILE_SHIFT = 56;

  private final int detailBits;
  private final long detailMask;
  private final long positionMask;

  /** Creates a packing with the given number of detail bits, 8 to 20. */
  public RecordAddress(int detailBits) {
    this.detailBits = Objects.checkIndex(detailBits, 21);
    this.detailMask = (1L << detailBits) - 1;
    this.positionMask = (1L << (FILE_SHIFT - detailBits)) - 1;
  }

  /** The packing for a layout, or for none, and a block size. */
  public static RecordAddress of(@Nullable Layout layout, int blockSize) {
    return new RecordAddress(
        layout == Layout.COMPRESSED
            ? Math.max(SPAN_BITS, 32 - Integer.numberOfLeadingZeros(blockSize - 1))
            : SPAN_BITS);
  }

  /** The largest byte offset an address can hold. */
  public long maxPosition() {
    return positionMask;
  }

  /** Packs an address; its parts must be in range. */
  public long pack(int file, long position, long detail) {
    Objects.checkIndex(file, 128);
    Objects.checkIndex(position, positionMask + 1);
    return (long) file << FILE_SHIFT | position << detailBits | Math.min(detail, detailMask);
  }

  /** The number of the data file. */
  public static int file(long address) {
    return (int) (address >>> FILE_SHIFT);
  }

  /** The byte offset in the file. */
  public long position(long address) {
    return address >>> detailBits & positionMask;
  }

  /** The data file and the page in it in one number, which is different for any two pages. */
  public long page(long address) {
    return address >>> detailBits + Page.SHIFT;
  }

  /** Pages minus one, or the offset within the block. */
  public int detail(long address) {
    return (int) (address & detailMask);
  }

  /**
   * Orders two addresses by when their records were written. Data files are written in turn, one
   * stripe each ({@link #STRIPE} bytes, FORMAT.md §4), so the addresses determine the order.
   */
  public int compare(long a, long b) {
    int byStripe = Long.compare(position(a) / STRIPE, position(b) / STRIPE);
    if (byStripe != 0) {
      return byStripe;
    }
    int byFile = Integer.compare(file(a), file(b));
    return byFile != 0 ? byFile : Long.compare(a, b);
  }
}
