package tech.bsdb.index;

/**
 * The shape of a filter file (FORMAT.md §12, Filter): where the bits of each group lie, and how
 * many pages they take.
 *
 * <pre>
 *   pages              content
 *   0                  header
 *   1..b               bits, in words of 64, 511 a page: for each group of 128 quotients
 *                        128 + n bits  for each quotient as many ones as it has records, and a zero
 *                        n * W bits    the remainders of the group's n records
 *   b+1..b+s           starts, 32 bits each, 1,023 a page: for each group the lower bits of the
 *                      number of records before it; then of the number of all records
 *   b+s+1              footer
 * </pre>
 *
 * @param bits the length of a remainder, W, 1 to 16
 * @param quotients the number of quotients, 1 to 2^37
 */
record FilterShape(int bits, long quotients) {
  /** log2 of the number of quotients in a group. */
  static final int GROUP_BITS = 7;

  /** Quotients in a group. */
  static final int IN_GROUP = 1 << GROUP_BITS;

  /** The entries that hold the bits. */
  static final SlotPages WORDS = new SlotPages(Long.BYTES);

  /** The entries that hold the starts. */
  static final SlotPages STARTS = new SlotPages(Integer.BYTES);

  /** Lowest bit of a signature's second half that belongs to the remainder. */
  private static final int REMAINDER_SHIFT = 16;

  /** The quotient of a signature, given its first half. */
  long quotient(long high) {
    return BinIndex.bin(high, quotients);
  }

  /** The remainder of a signature, given its second half. */
  int remainder(long low) {
    return (int) (low >>> REMAINDER_SHIFT) & (1 << bits) - 1;
  }

  /** The number of groups. */
  long groups() {
    return quotients + IN_GROUP - 1 >>> GROUP_BITS;
  }

  /** The position of the first bit of a group, or of the end. */
  long position(long group, long recordsBefore) {
    return (group << GROUP_BITS) + (1 + bits) * recordsBefore;
  }

  /** The first page of the starts. */
  long startsPage(long records) {
    return 1 + WORDS.pages(position(groups(), records) + Long.SIZE - 1 >>> 6);
  }

  /** The number of pages of the file, including header and footer. */
  long filePages(long records) {
    return startsPage(records) + STARTS.pages(groups() + 1) + 1;
  }
}
